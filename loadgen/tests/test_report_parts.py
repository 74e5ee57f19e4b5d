"""What the report is made of: figures, loads, scales, comparisons, sentences, the command."""

import json
import math
import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loomlab.report.curves import distribution, over_load
from loomlab.report.dots import dots, effect_rows
from loomlab.report.svg import scale_of, tag
from loomlab.report.timeline import Phase, phases_of, timeline

from loomlab.answer.figures import CPU, FIGURES, P99, WAITING, number, spread
from loomlab.answer.loads import loads_of
from loomlab.plan.planning import plan
from loomlab.records.memory import LiveBytes
from loomlab.records.models import Run
from loomlab.report.comparisons import comparisons
from loomlab.report.course import MOST_POINTS, data_of
from loomlab.report.doubts import doubts_of
from loomlab.report.folder import Experiment, read_experiment
from loomlab.report.opening import opening_of
from loomlab.report.palette import OTHERS, looks
from loomlab.report.table import markdown_of, rows_of
from loomlab.statistics.comparison import CPU_PER_REQUEST
from ordered import STAMP, TWO_CPUS, asked_for, lab_in
from report_folder import folder_of
from test_comparisons import STOLEN

PAIR = ("tomcat-platform", "tomcat-virtual")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("results"), loads=(500, 2000), repeats=4, raw=True)


@pytest.fixture(scope="module")
def experiment(folder: Path) -> Experiment:
    return read_experiment(folder)


def edited(folder: Path, to: Path, **changes: dict[str, Any]) -> Experiment:
    """A copy with other fields in some runs."""
    copy = shutil.copytree(folder, to / folder.name)
    for name, change in changes.items():
        path = copy / "summary.json"
        told = json.loads(path.read_text())
        for run in told["runs"]:
            if run["run"].partition("-")[0] == name.removeprefix("run"):
                run.update(change)
        path.write_text(json.dumps(told))
    return read_experiment(copy)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0, "0"), (29.0, "29"), (0.48731, "0.487"), (0.00123, "0.00123"), (12.34, "12.3"), (123.4, "123"),
        (1234.5, "1,234"), (1e-9, "0.000000"),
    ],
)  # fmt: skip
def test_numbers_have_three_digits_that_count(value: float | None, text: str) -> None:
    assert number(value) == text


def test_the_centre_is_the_geometric_mean(experiment: Experiment) -> None:
    at = experiment.loads[0]
    runs = at.of("tomcat-virtual")
    found = spread(CPU, runs)

    assert found is not None
    assert found.centre == pytest.approx(math.exp(sum(math.log(run.cpu_ms_per_request or 0) for run in runs) / 4))
    assert (found.lowest, found.highest, found.count) == (
        min(run.cpu_ms_per_request or 0 for run in runs),
        max(run.cpu_ms_per_request or 0 for run in runs),
        4,
    )


def test_loads_are_told_apart_and_stand_smallest_first(experiment: Experiment) -> None:
    assert [at.label for at in experiment.loads] == ["500 connections", "2,000 connections"]
    same = [run.model_copy(update={"load": experiment.runs[0].load}) for run in experiment.runs]
    assert [at.label for at in loads_of(same)] == ["500 connections (load 1)", "500 connections (load 2)"]


def test_colours_are_the_recorded_ones_and_others_never_collide() -> None:
    found = looks(["a", "b", "c"], {"a": OTHERS[0], "b": "red;}", "x": "#000000"})

    assert found["a"].colour == OTHERS[0]
    assert {found["b"].colour, found["c"].colour} == {OTHERS[1], OTHERS[2]}
    assert len({one.shape for one in found.values()}) == 3


def test_a_plan_records_the_colours_of_its_approaches(tmp_path: Path) -> None:
    lab = lab_in(tmp_path / "lab")
    lab.colours = {"tomcat-virtual": "#E69F00", "jetty-virtual": "#F0E442"}

    order = plan(asked_for(approaches=["tomcat-virtual"]), TWO_CPUS, lab, STAMP)

    assert order.colours == {"tomcat-virtual": "#E69F00"}


@given(
    st.lists(st.floats(min_value=1e-6, max_value=1e9), min_size=1, max_size=20),
    st.booleans(),
    st.booleans(),
)
def test_a_scale_holds_its_values_and_has_ticks_within(values: list[float], log: bool, zero: bool) -> None:
    scale = scale_of(values, 10, 400, log=log, zero=zero and not log)

    assert all(10 <= scale.at(value) <= 400.001 for value in values)
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= 12
    assert all(9.99 <= scale.at(tick) <= 400.01 for tick in ticks)


def test_text_and_attributes_are_escaped() -> None:
    made = tag("text", "<b>&", class_='x" onload="y')

    assert ElementTree.fromstring(made).attrib == {"class": 'x" onload="y'}  # noqa: S314 - just made
    assert "<b>" not in made


def test_an_approach_that_waited_for_the_lab_did_not_take_that_long_to_start(experiment: Experiment) -> None:
    run = experiment.runs[0].model_copy(
        update={"started": "2026-11-20T10:00:20+00:00", "start_s": 6.0, "waited_s": 14.0}
    )
    began = datetime.fromisoformat(run.started).timestamp()

    assert phases_of(run, None)[0] == Phase("start", began - 20, began - 14)


def test_every_drawing_is_well_formed(experiment: Experiment) -> None:
    look = looks(experiment.approaches, {})
    drawn = [dots(figure, at, look) for figure in FIGURES for at in experiment.loads]
    drawn += [over_load(figure, experiment.loads, look) for figure in FIGURES]
    drawn += [distribution(at, look) for at in experiment.loads]
    held = [one for one in comparisons(experiment, CPU) if one.found.pair.load == experiment.loads[0].label]
    drawn += [timeline(experiment), effect_rows(CPU, held, look)]
    made = [plot for plot in drawn if plot is not None]

    assert len(made) > 20
    for plot in made:
        whole = ElementTree.fromstring(plot)  # noqa: S314 - just made
        assert whole.attrib["aria-label"]
        assert "nan" not in plot


def test_what_was_not_measured_is_not_drawn(experiment: Experiment) -> None:
    look = looks(experiment.approaches, {})

    assert dots(WAITING, experiment.loads[0], look) is None
    assert over_load(WAITING, experiment.loads, look) is None
    assert over_load(CPU, experiment.loads[:1], look) is None


def test_a_ratio_is_over_platform_threads_whoever_began(experiment: Experiment) -> None:
    found = comparisons(experiment, CPU)
    first = next(one.found for one in found if set(PAIR) == {one.found.pair.a, one.found.pair.b})

    assert (first.pair.a, first.pair.b) == ("tomcat-virtual", "tomcat-platform")
    assert first.effect == pytest.approx(0.8, rel=0.05)
    for one in first.effects:
        here = {
            run.approach: run.cpu_ms_per_request or 0 for run in experiment.loads[0].runs if run.repeat == one.block
        }
        assert one.effect == pytest.approx(here["tomcat-virtual"] / here["tomcat-platform"])


def test_only_controlled_contrasts_of_the_primary_figure_have_words(experiment: Experiment) -> None:
    of_cpu, of_p99 = comparisons(experiment, CPU), comparisons(experiment, P99)

    assert {one.found.word == "exploratory" for one in of_cpu if one.kind == "controlled"} == {False}
    assert {one.found.word for one in of_cpu if one.kind != "controlled"} == {"exploratory"}
    assert {one.found.word for one in of_p99} == {"exploratory"}
    assert {one.found.declared for one in of_cpu if one.kind == "controlled"} == {4}


def test_the_report_and_the_summary_say_the_same(experiment: Experiment) -> None:
    held = {(one.found.pair.a, one.found.pair.b, one.found.pair.load): one for one in comparisons(experiment, CPU)}
    summed = [
        (contrast, one)
        for contrast in experiment.summary.contrasts
        for one in contrast.comparisons
        if one.figure == CPU_PER_REQUEST.name
    ]

    assert len(summed) == len(held) == 12
    for contrast, one in summed:
        mine = held[contrast.a, contrast.b, one.load]
        assert (mine.sentence, mine.kind) == (one.sentence, contrast.kind)
        assert mine.found.effect == pytest.approx(one.ratio)
        assert mine.found.p_holm == pytest.approx(one.p_holm)


def test_an_invalid_run_spoils_its_block_and_is_listed(folder: Path, tmp_path: Path) -> None:
    number_of = next(
        run.name.partition("-")[0] for run in sorted((folder / "runs").iterdir()) if run.name.endswith("tomcat-virtual")
    )
    experiment = edited(folder, tmp_path, **{f"run{number_of}": {"verdict": "invalid"}})

    held = [one for one in comparisons(experiment, CPU) if one.found.dropped and one.kind == "controlled"]

    assert [one.found.blocks for one in held] == [3]
    assert any(
        f"tomcat-virtual: run {number_of}-tomcat-virtual is invalid" in line for line in doubts_of(experiment).dropped
    )
    assert sum(one.found.blocks for one in comparisons(experiment, CPU) if one.kind == "controlled") == 15


def test_a_run_that_was_made_again_counts_once_by_its_next_try(experiment: Experiment) -> None:
    first = next(run for run in experiment.runs if run.approach == "tomcat-virtual")
    again = first.model_copy(update={"run": f"{first.run}-try-2"})
    dear = {"verdict": "invalid", "rules": [STOLEN], "cpu_ms_per_request": 9.0}
    runs = [first.model_copy(update=dear) if run is first else run for run in experiment.runs] + [again]
    summary = experiment.summary.model_copy(update={"runs": runs})

    both = Experiment(experiment.name, summary, experiment.order, loads_of(runs))

    found = [replace(one.found, made_again=(0, 0)) for one in comparisons(both, CPU)]
    assert found == [one.found for one in comparisons(experiment, CPU)]
    assert [row.spreads for row in rows_of(both)] == [row.spreads for row in rows_of(experiment)]


def test_an_approach_whose_runs_at_a_load_are_all_invalid_is_not_compared_there_and_says_so(
    folder: Path, tmp_path: Path
) -> None:
    spoilt = [run for run in read_experiment(folder).loads[0].runs if run.approach == "tomcat-virtual"]
    changes = {f"run{run.run.partition('-')[0]}": {"verdict": "invalid"} for run in spoilt}

    answers = opening_of(edited(folder, tmp_path, **changes)).answers

    assert (
        "Not compared at 500 connections: no block has the CPU per request of both tomcat-virtual and tomcat-platform; "
        "the blocks left out say why."
    ) in answers
    assert len(answers) == 4


def test_the_sentences_name_the_figures_they_are_of(experiment: Experiment) -> None:
    answers = opening_of(experiment).answers

    assert len(answers) == 4
    for held, answer in zip(
        (one for one in comparisons(experiment, CPU) if one.kind == "controlled"), answers, strict=True
    ):
        assert held.found.effect is not None
        assert held.found.pair.a in answer
        assert held.found.pair.load in answer
        assert f"{abs(1 - held.found.effect) * 100:.0f} %" in answer or held.found.word in answer.lower()


def test_what_needs_more_blocks_than_there_may_be_says_what_else_helps(experiment: Experiment) -> None:
    told = (
        "REPEATS=100 is the most; where more blocks are needed, a quieter host, a longer DURATION or a larger MARGIN "
        "makes do with fewer."
    )

    def costing(*costs: float) -> Experiment:
        """Of tomcat-virtual, in its repeats; of the others 1."""
        own = {("tomcat-virtual", repeat): cost for repeat, cost in enumerate(costs, 1)}
        runs = [
            run.model_copy(update={"cpu_ms_per_request": own.get((run.approach, run.repeat), 1.0)})
            for run in experiment.runs
        ]
        summary = experiment.summary.model_copy(update={"runs": runs})
        return Experiment(experiment.name, summary, None, loads_of(runs))

    clear = costing(1.2, 2.0, 3.3)
    assert told in opening_of(costing(10.0, 0.1, 1.0)).more
    assert max(held.found.blocks_needed or 0 for held in comparisons(clear, CPU)) > 100
    assert told not in opening_of(clear).more
    assert told not in opening_of(experiment).more


def test_a_twin_shows_the_labs_own_floor_and_is_compared_with_nothing_else(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, ("tomcat-virtual", "tomcat-platform"), repeats=3, twin=True)
    experiment = read_experiment(folder)
    found = [(held.kind, held.found.pair.a, held.found.pair.b) for held in comparisons(experiment, CPU)]

    assert found == [
        ("controlled", "tomcat-virtual", "tomcat-platform"),
        ("same", "tomcat-virtual", "tomcat-virtual-twin"),
    ]
    (floor,) = [one for one in opening_of(experiment).more if one.startswith("One approach against itself")]
    assert "the lab's own noise floor. Exploratory: at 1,000 connections tomcat-virtual needs " in floor
    groups = data_of(experiment, looks(experiment.approaches, {}))["groups"]
    twin = next(run for run in groups[0]["runs"] if run["approach"] == "tomcat-virtual-twin")
    assert [value for value in twin["panels"]["cpu"] if value is not None]


def test_waiting_memory_is_told_where_it_was_measured(experiment: Experiment) -> None:
    def measured(run: Run) -> Run:
        heap = 78_000 if "platform" in run.approach else 18_000
        held = LiveBytes(heap=heap + len(run.run), stacks_off_heap=1_500, kernel=500)
        return run.model_copy(update={"live_bytes_per_request": held})

    runs = [measured(run) for run in experiment.runs]
    summary = experiment.summary.model_construct(**dict(experiment.summary) | {"runs": runs})
    known = Experiment(experiment.name, summary, experiment.order, loads_of(runs))

    assert any("a waiting request of tomcat-virtual holds " in one for one in opening_of(known).more)
    assert "78.1" in " ".join(markdown_of(rows_of(known), [WAITING]))


def test_waiting_memory_of_which_a_part_is_unknown_is_not_told() -> None:
    assert LiveBytes(heap=1, stacks_off_heap=2, kernel=4).total == 7
    for missing in ("heap", "stacks_off_heap", "kernel"):
        assert LiveBytes(heap=1, stacks_off_heap=2, kernel=4).model_copy(update={missing: None}).total is None


def test_the_seconds_of_long_runs_are_thinned_out(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / folder.name)
    for path in (copy / "runs").glob("*/raw/tool.json"):
        told = json.loads(path.read_text())
        path.write_text(json.dumps(told | {"ended": told["ended"] + 600}))
    experiment = read_experiment(copy)

    (first, *_) = data_of(experiment, looks(experiment.approaches, {}))["groups"]

    assert {run["step"] for run in first["runs"]} == {5}
    assert all(len(points) <= MOST_POINTS for run in first["runs"] for points in run["panels"].values())
