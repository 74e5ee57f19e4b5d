"""What the report is made of: comparisons, sentences, tables, doubts, charts, and what a run did when."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from loomlab.answer.figures import CPU, MEMORY, P99, THREADS, Figure
from loomlab.answer.loads import load_groups
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.plan.planning import plan
from loomlab.records.contrasts import Comparison, Contrast
from loomlab.records.files import RunFiles
from loomlab.records.models import Latency, Run
from loomlab.report import chart
from loomlab.report.chart import Drawing, course_of, looks
from loomlab.report.experiment import Experiment, csv_of, effect_cell, groups_of, read_experiment, table_of
from loomlab.report.opening import caveats_of, opening_of
from loomlab.statistics.comparison import CPU_PER_REQUEST
from ordered import STAMP, TWO_CPUS, asked_for, lab_in
from report_folder import HEAPS, NAMES, NEGATIVE, PAIR, edit, experiment_of, folder_of, holding, run_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("results"), loads=(500, 2000), repeats=4)


@pytest.fixture(scope="module")
def experiment(folder: Path) -> Experiment:
    return read_experiment(folder)


def with_runs(experiment: Experiment, runs: list[Run]) -> Experiment:
    summary = experiment.summary.model_copy(update={"runs": runs})
    return replace(experiment, summary=summary, loads=load_groups(runs))


def controlled(experiment: Experiment, figure: Figure = CPU) -> list[Comparison]:
    return [comparison for comparison in experiment.comparisons(figure) if comparison.kind == "controlled"]


def test_the_report_and_the_summary_say_the_same_of_controlled_contrasts(experiment: Experiment) -> None:
    summed_up = {
        (contrast.kind, one.load, one.sentence, one.effect, one.p_holm)
        for contrast in experiment.summary.contrasts
        for one in contrast.comparisons
        if (contrast.kind, one.figure) == ("controlled", CPU_PER_REQUEST.name)
    }

    assert len(summed_up) == 4
    assert summed_up == {
        (comparison.kind, comparison.load, comparison.sentence, comparison.effect, comparison.p_holm)
        for comparison in experiment.comparisons(CPU)
    }


def test_what_was_declared_is_found_or_not_significant(experiment: Experiment) -> None:
    opening, declared = opening_of(experiment), controlled(experiment)
    found = [one for one in declared if one.word != "not significant"]

    assert len(declared) == 4
    assert {one.sentence for one in found} <= {*opening.found}
    for one in declared:
        named = f"CPU per request of {one.a} ÷ {one.b} at {one.load}"
        assert (named in (opening.unclear or "")) is (one not in found)


def test_a_pair_stands_together_and_below_it_what_it_shows(experiment: Experiment) -> None:
    groups = groups_of(experiment, [CPU, MEMORY, THREADS, P99])

    assert [(group.load.amount, *(row.approach for row in group.rows)) for group in groups] == [
        (load, *names) for load in (500, 2000) for names in (PAIR, ("virtual-netty", "webflux-netty"))
    ]
    assert [[one and one.figure for one in group.effects] for group in groups] == [
        ["CPU per request", "memory per in-flight request", None, "p99 latency"]
    ] * 4


def test_an_approach_stands_in_each_of_its_pairs_and_those_without_a_pair_together(experiment: Experiment) -> None:
    def groups(contrasts: list[Contrast]) -> list[int]:
        summary = experiment.summary.model_copy(update={"contrasts": contrasts})
        return [len(group.rows) for group in groups_of(replace(experiment, summary=summary), [CPU])]

    controlled = [one.model_copy(update={"kind": "controlled"}) for one in experiment.summary.contrasts]

    assert groups([]) == [4] * 2
    assert groups(controlled) == [2] * 6 * 2
    assert groups(controlled[:1]) == [2, 2] * 2


def test_an_invalid_run_spoils_its_block_is_listed_and_is_a_hollow_dot(experiment: Experiment) -> None:
    spoilt = next(run for run in experiment.runs if run.approach == "tomcat-virtual" and run.cell == 1).run
    runs = [run.model_copy(update={"verdict": "invalid"}) if run.run == spoilt else run for run in experiment.runs]
    known = with_runs(experiment, runs)
    drawn = dots(chart.repeats(CPU, known.loads[0], looks(experiment.approaches, {}, {})))

    assert sorted(len(one.blocks) for one in controlled(known)) == [3, 4, 4, 4]
    assert any(f"tomcat-virtual: run {spoilt} is invalid" in line for line in caveats_of(known).dropped)
    assert len(drawn) == 16
    assert sum("stroke: var(--invalid" in style and "fill: #" not in style for *_, style in drawn) == 1


def test_a_twin_shows_the_labs_own_floor_and_is_compared_with_nothing_else(tmp_path: Path) -> None:
    experiment = read_experiment(folder_of(tmp_path, PAIR, repeats=3, twin=True))
    kinds = [comparison.kind for comparison in experiment.comparisons(CPU)]
    twin = next(run for run in experiment.runs if run.twin_of)

    assert (kinds[0], {*kinds[1:]}) == ("controlled", {"same"})
    (floor,) = [one for one in opening_of(experiment).more if one.startswith("One approach against itself")]
    assert "exploratory" in floor
    course = course_of(twin, experiment.raw[twin.run])
    assert course is not None
    assert {"cpu", "rss", "threads"} <= course.panels.keys()


@pytest.mark.parametrize(
    ("heaps", "cell"),
    [
        (HEAPS, ("−61 KiB", "−63 to −59")),
        ({"tomcat-virtual": (8, 9), "tomcat-platform": (7, 7)}, ("+1.5 KiB", None)),
        ({"tomcat-virtual": (), "tomcat-platform": (7, 7)}, None),
    ],
)
def test_a_cell_has_the_difference_with_its_unit_which_no_margin_is_of(
    heaps: Mapping[str, tuple[int, ...]], cell: tuple[str, str | None] | None
) -> None:
    comparisons = holding(heaps, margin=0.3).comparisons(MEMORY)

    assert [effect_cell(one) for one in comparisons] == ([cell] if cell else [])
    assert not any(one.margin or one.within_margin for one in comparisons)


@pytest.mark.parametrize(("errors", "told"), [(0, False), (80, True)])
def test_a_tail_that_hangs_on_runs_that_were_left_out_has_no_effect_on_the_page(errors: int, told: bool) -> None:
    runs = [run_of("tomcat-platform", repeat, latency_ms=Latency(p99=1000), errors=0) for repeat in range(1, 6)]
    for repeat in range(1, 6):
        p99, failed = (880, 0) if repeat < 4 else (None, errors)
        runs.append(run_of("tomcat-virtual", repeat, latency_ms=Latency(p99=p99), errors=failed))
    (comparison,) = experiment_of(runs).comparisons(P99)
    effect, interval = effect_cell(comparison)

    assert len(comparison.blocks) == 3
    assert (effect == "not known", interval is None) == (told, told)


def test_the_tables_have_the_mean_and_the_range() -> None:
    rows = holding(NEGATIVE).rows

    assert csv_of(rows, [MEMORY]).splitlines() == [
        "load,unit,approach,valid,suspect,invalid,live_kib_per_request,live_kib_per_request_lowest,"
        "live_kib_per_request_highest",
        "2000,connections,tomcat-platform,3,0,0,62.0,60.0,63.0",
        "2000,connections,tomcat-virtual,3,0,0,-6.0,-30.0,10.0",
    ]
    assert table_of(rows, [MEMORY])[2:] == [
        "| 2,000 connections | tomcat-platform | 62 (60 to 63) | 3 valid |",
        "| 2,000 connections | tomcat-virtual | -6.00 (-30 to 10) | 3 valid |",
    ]


def test_stand_ins_are_a_doubt_of_the_whole(experiment: Experiment) -> None:
    assert STAND_IN_NOTE in caveats_of(experiment).whole


def test_a_plan_records_the_colours_of_its_approaches(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    lab.colours = {"tomcat-virtual": "#D5630B", "jetty-virtual": "#B37305"}

    assert plan(asked_for(approaches=["tomcat-virtual"]), TWO_CPUS, lab, STAMP).colours == {"tomcat-virtual": "#D5630B"}


def dots(drawing: Drawing | None) -> list[tuple[float, float, str]]:
    """Place and style of each dot, but for the legend's and for ticks."""
    assert drawing is not None
    whole = ElementTree.fromstring(drawing.svg)  # noqa: S314 - just made
    axes = next(one for one in whole.iter(f"{SVG}g") if one.get("id") == "axes_1")
    marks = [one.attrib for one in axes.iter(f"{SVG}use") if "stroke-width: 0.9" in one.attrib["style"]]
    return [(float(mark["x"]), float(mark["y"]), mark["style"]) for mark in marks]


def test_text_of_charts_stays_text() -> None:
    axes = chart.new_axes(1)
    axes.set_title("<b>&")

    drawing = chart.drawing(axes, 'x" onload="y')

    assert ElementTree.fromstring(drawing.svg).attrib["aria-label"] == 'x" onload="y'  # noqa: S314 - just made
    assert "<b>" not in drawing.svg


def test_what_was_not_measured_is_not_drawn(experiment: Experiment) -> None:
    look, (first, _) = looks(experiment.approaches, {}, {}), experiment.loads

    assert chart.repeats(MEMORY, first, look) is None
    assert chart.effects(MEMORY, experiment.comparisons(MEMORY, first.label), look) is None
    assert chart.over_load(MEMORY, experiment.loads, look) is None
    assert chart.over_load(CPU, [first], look) is None
    assert chart.distribution(load_groups([run_of(NAMES[0], p50=None)])[0], look) is None
    assert course_of(experiment.runs[0], None) is None


def test_every_block_is_a_dot_at_its_ratio(experiment: Experiment) -> None:
    comparisons = experiment.comparisons(CPU, "500 connections")[:1]
    drawn = [x for x, *_ in dots(chart.effects(CPU, comparisons, looks(experiment.approaches, {}, {})))]
    effects = [block.effect for block in comparisons[0].blocks]

    assert len(drawn) == 4
    assert np.argsort(drawn).tolist() == np.argsort(effects).tolist()


@pytest.mark.parametrize("heaps", [HEAPS, NEGATIVE, {"tomcat-virtual": (-3, -3), "tomcat-platform": (-3, -3)}])
def test_every_dot_is_drawn_on_both_sides_of_0(heaps: Mapping[str, tuple[int, ...]]) -> None:
    experiment = holding(heaps)
    look, (at,) = looks(experiment.approaches, {}, {}), experiment.loads
    difference = chart.effects(MEMORY, experiment.comparisons(MEMORY), look)
    other = load_groups([run.model_copy(update={"cell": 2, "run": f"9{run.run}"}) for run in experiment.runs])
    double = replace(other[0], amount=4000)

    repeats = len(heaps["tomcat-virtual"])
    for drawing, count in (
        (chart.repeats(MEMORY, at, look), 2),
        (difference, 1),
        (chart.over_load(MEMORY, [at, double], look), 4),
    ):
        drawn = dots(drawing)
        assert len(drawn) == count * repeats
        assert all(0 <= x <= 360 and 0 <= y <= 216 for x, y, _ in drawn)
    assert difference is not None
    assert difference.file == "memory-per-in-flight-request-compared.svg"


def test_the_seconds_of_a_run_are_those_of_its_requests_and_samples(experiment: Experiment) -> None:
    run = experiment.runs[0]
    course = course_of(run, experiment.raw[run.run])

    assert course is not None
    assert course.load[1] - course.load[0] == pytest.approx(60.9, abs=0.05)
    at_5s = {name: values[np.abs(seconds - 5).argmin()] for name, (seconds, values) in course.panels.items()}
    assert (at_5s["throughput"], at_5s["p50"], at_5s["p99"]) == (100, 905, 1100)
    assert at_5s["cpu"] == pytest.approx(0.13, abs=0.1)
    seconds, _ = course.panels["cpu"]
    assert -10 <= seconds[0] < -6
    assert seconds[-1] > 57
    assert np.diff(seconds).max() < 3


def test_a_counter_that_began_anew_does_not_fall(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / folder.name)
    run = read_experiment(copy).runs[0]
    files = RunFiles(copy / "runs" / run.run)

    def restart(record: Any) -> None:
        values = record["containers"][0]["values"]
        values[20:] = [[time, str(place)] for place, (time, _) in enumerate(values[20:])]

    edit(files.metrics, restart)

    course = course_of(run, files)
    assert course is not None
    assert np.nanmin(course.panels["cpu"][1]) >= 0
