"""The report's charts, and what a run did when."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import HEAPS, NAMES, NEGATIVE, holding, run_of
from loomlab.answer.figures import CPU, WAITING
from loomlab.answer.loads import loads_of
from loomlab.plan.planning import plan
from loomlab.records.files import RunFiles
from loomlab.report import chart, plots
from loomlab.report.chart import MOST_TICKS, OTHERS, Drawing, looks
from loomlab.report.course import course_of, load_of, phases_of
from loomlab.report.folder import Experiment, read_experiment
from ordered import STAMP, TWO_CPUS, asked_for, lab_in
from report_folder import edit, folder_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("results"), loads=(500, 2000), repeats=4)


@pytest.fixture(scope="module")
def experiment(folder: Path) -> Experiment:
    return read_experiment(folder)


def test_colours_are_the_recorded_ones_and_others_never_collide() -> None:
    found = looks(["a", "b", "c"], {"a": OTHERS[0].lower(), "b": "red;}", "x": "#000000"})

    assert [found[name].colour for name in "abc"] == list(OTHERS[:3])
    assert len({(one.marker, one.sign) for one in found.values()}) == 3


def test_a_plan_records_the_colours_of_its_approaches(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    lab.colours = {"tomcat-virtual": "#E69F00", "jetty-virtual": "#F0E442"}

    assert plan(asked_for(approaches=["tomcat-virtual"]), TWO_CPUS, lab, STAMP).colours == {"tomcat-virtual": "#E69F00"}


def dots(drawing: Drawing | None) -> list[tuple[float, float, str]]:
    """Place and style of each dot, but for the legend's and for ticks."""
    assert drawing is not None
    whole = ElementTree.fromstring(drawing.svg)  # noqa: S314 - just made
    axes = next(one for one in whole.iter(f"{SVG}g") if one.get("id") == "axes_1")
    marks = [one.attrib for one in axes.iter(f"{SVG}use") if "stroke-width: 0.7" in one.attrib["style"]]
    return [(float(mark["x"]), float(mark["y"]), mark["style"]) for mark in marks]


def test_text_of_charts_stays_text() -> None:
    axes = chart.axes(1)
    axes.set_title("<b>&")

    drawing = chart.drawing(axes, 'x" onload="y')

    assert ElementTree.fromstring(drawing.svg).attrib["aria-label"] == 'x" onload="y'  # noqa: S314 - just made
    assert "<b>" not in drawing.svg


def test_what_was_not_measured_is_not_drawn(experiment: Experiment) -> None:
    look, (first, _) = looks(experiment.approaches, {}), experiment.loads

    assert plots.repeats(WAITING, first, look) is None
    assert plots.effects(WAITING, experiment.comparisons(WAITING, first.label), look) is None
    assert plots.over_load(WAITING, experiment.loads, look) is None
    assert plots.over_load(CPU, [first], look) is None
    assert plots.distribution(loads_of([run_of(NAMES[0], p50=None)])[0], look) is None
    assert plots.timeline({}) is None


def test_every_repeat_is_a_dot_and_an_invalid_one_is_hollow(experiment: Experiment) -> None:
    spoilt = experiment.loads[0].runs[0].run
    runs = [run.model_copy(update={"verdict": "invalid"}) if run.run == spoilt else run for run in experiment.runs]
    drawn = dots(plots.repeats(CPU, loads_of(runs)[0], looks(experiment.approaches, {})))

    assert len(drawn) == 16
    assert sum("stroke: #b3261e" in style and "fill: #" not in style for *_, style in drawn) == 1


def test_every_block_is_a_dot_at_its_ratio(experiment: Experiment) -> None:
    comparisons = experiment.comparisons(CPU, "500 connections")[:1]
    drawn = [x for x, *_ in dots(plots.effects(CPU, comparisons, looks(experiment.approaches, {})))]
    effects = [block.effect for block in comparisons[0].blocks]

    assert len(drawn) == 4
    assert np.argsort(drawn).tolist() == np.argsort(effects).tolist()


@pytest.mark.parametrize("heaps", [HEAPS, NEGATIVE, {"tomcat-virtual": (-3, -3), "tomcat-platform": (-3, -3)}])
def test_every_dot_is_drawn_on_both_sides_of_0(heaps: Mapping[str, tuple[int, ...]]) -> None:
    experiment = holding(heaps)
    look, (at,) = looks(experiment.approaches, {}), experiment.loads
    difference = plots.effects(WAITING, experiment.comparisons(WAITING), look)
    other = loads_of([run.model_copy(update={"cell": 2, "run": f"9{run.run}"}) for run in experiment.runs])
    double = replace(other[0], amount=4000)

    repeats = len(heaps["tomcat-virtual"])
    for drawing, count in (
        (plots.repeats(WAITING, at, look), 2),
        (difference, 1),
        (plots.over_load(WAITING, [at, double], look), 4),
    ):
        drawn = dots(drawing)
        assert len(drawn) == count * repeats
        assert all(0 <= x <= 360 and 0 <= y <= 216 for x, y, _ in drawn)
    assert difference is not None
    assert "differences in KiB of held by a waiting request at 2,000 connections" in difference.title


@given(st.floats(0.001, 0.999), st.floats(1.001, 1000))
def test_ticks_of_ratios_are_within_their_scale_and_1_is_one(low: float, high: float) -> None:
    axes = chart.axes(1)
    axes.set_xscale("log")
    axes.set_xlim(low, high)

    chart.ratio_ticks(axes)

    ticks = axes.get_xticks()
    assert 1 in ticks
    assert len(ticks) <= MOST_TICKS + 1
    assert all(low <= tick <= high for tick in ticks)


def test_an_approach_that_waited_for_the_lab_did_not_take_that_long_to_start() -> None:
    run = run_of(NAMES[0], started="2026-11-20T10:00:20+00:00", start_s=6.0, waited_s=14.0)
    began = datetime.fromisoformat(run.started).timestamp()

    assert phases_of(run, None)["start"] == (began - 20, began - 14)


def test_the_phases_of_a_run_follow_one_another(experiment: Experiment) -> None:
    run = experiment.runs[0]
    load = load_of(experiment.raw[run.run])
    phases = phases_of(run, load)

    assert [*phases] == ["start", "compile", "settle", "edge", "interior"]
    assert phases["edge"] == load
    assert phases["compile"][1] == phases["settle"][0]
    assert phases["settle"][1] == phases["edge"][0] < phases["interior"][0] < phases["interior"][1]
    assert [*phases_of(run.model_copy(update={"interior": None}), None)][-1] == "settle"


def test_the_seconds_of_a_run_are_those_of_its_requests_and_samples(experiment: Experiment) -> None:
    run = experiment.runs[0]
    course = course_of(run, experiment.raw[run.run])

    assert course is not None
    assert course.lasted_s == pytest.approx(60.9, abs=0.05)
    at_5s = {name: values[seconds == 5] for name, (seconds, values) in course.panels.items()}
    assert (at_5s["throughput"], at_5s["p50"], at_5s["p99"]) == (100, 905, 1100)
    assert at_5s["cpu"] == pytest.approx(0.13, abs=0.1)
    seconds, cpu = course.panels["cpu"]
    assert seconds[0] == -10
    assert seconds[-1] > course.lasted_s - 2
    assert np.isfinite(cpu).all()


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
    assert (course.panels["cpu"][1] >= 0).all()
