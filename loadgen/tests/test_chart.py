"""What the report draws: differences, ranges, distributions, and what a run did when."""

import gzip
import math
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from markupsafe import Markup

from loomlab.answer.figures import CPU, MEMORY
from loomlab.answer.loads import load_groups
from loomlab.records.files import RunFiles
from loomlab.records.load import OpenRate, RateStep
from loomlab.records.models import Latency, Run, Verdict
from loomlab.report import chart
from loomlab.report import page as report
from loomlab.report.chart import Drawing, Look, course_of, looks
from loomlab.report.experiment import Experiment, effect_cell, read_experiment
from loomlab.report.page import write_report
from report_folder import HEAPS, LOAD, NAMES, NEGATIVE, at_loads, edit, experiment_of, folder_of, holding, run_of

SVG = "{http://www.w3.org/2000/svg}"


def dots(drawing: Drawing | None) -> list[tuple[float, float, str]]:
    """Place and style of each dot, but for the legend's and for ticks."""
    assert drawing is not None
    whole = ElementTree.fromstring(drawing.svg)  # noqa: S314 - just made
    axes = next(one for one in whole.iter(f"{SVG}g") if one.get("id") == "axes_1")
    marks = [one.attrib for one in axes.iter(f"{SVG}use") if "stroke-width: 0.9" in one.attrib["style"]]
    return [(float(mark["x"]), float(mark["y"]), mark["style"]) for mark in marks]


def lines_of(drawing: Drawing | None, style: str) -> list[tuple[float, float]]:
    """How far each line with that in its style reaches from left to right; a band has no style of its own."""
    assert drawing is not None
    whole = ElementTree.fromstring(drawing.svg)  # noqa: S314 - just made
    paths = [path.attrib["d"] for path in whole.iter(f"{SVG}path") if style in path.get("style", "a band")]
    places = [[float(x) for x in re.findall(r"[ML] (\S+) ", path)] for path in paths]
    return [(min(xs), max(xs)) for xs in places]


def test_a_stroke_is_at_the_mean_of_the_runs_that_count() -> None:
    verdicts: list[Verdict] = ["valid", "valid", "invalid"]
    costs = zip((1.0, 1.2, 3.0), verdicts, strict=True)
    runs = [run_of(NAMES[0], block, cpu_ms_per_request=cost, verdict=one) for block, (cost, one) in enumerate(costs, 1)]
    drawn = chart.repeats(CPU, load_groups(runs)[0], looks([NAMES[0]], {}, {}))
    low, high, _ = sorted(x for x, *_ in dots(drawn))

    assert [low < left == right < high for left, right in lines_of(drawn, "stroke-width: 1.6")] == [True]
    assert ["stroke: var(--invalid" in style and "fill: #" not in style for *_, style in dots(drawn)].count(True) == 1


def test_an_invalid_run_is_in_no_line_of_means() -> None:
    def at(cell: int, **changes: Any) -> Run:
        """At so many connections, at which a request takes as much CPU."""
        own: dict[str, Any] = {"cell": cell, "run": f"{cell}-x", "load": replace(LOAD, connections=cell)}
        own |= {"cpu_ms_per_request": cell, "latency_ms": Latency(p50=900, p99=990)}
        return run_of(NAMES[0], **own | changes)

    runs = [at(1), at(2)]
    spoilt = at(1, run="9-x", cpu_ms_per_request=1.5, verdict="invalid", latency_ms=Latency(p50=9000, p99=9900))

    def lines(runs: list[Run]) -> list[list[str]]:
        loads, look = load_groups(runs), looks([NAMES[0]], {}, {})
        drawn = [chart.over_load(CPU, loads, look), chart.distribution(loads[0], look)]
        return [re.findall(r'd="([^"]+)"[^>]+stroke-width: 1.3', one.svg if one else "") for one in drawn]

    assert lines([*runs, spoilt]) == lines(runs)
    assert all(lines(runs))


@pytest.mark.parametrize(
    ("costs", "places"),
    [((1.0, 1.01), (0.45, 0.55)), ((1.0, 2.0), (0.05, 0.95)), ((1.0, 4.0), (0.24, 0.96)), ((-4.0, 4.0), (0.05, 0.95))],
)
def test_a_scale_shows_differences_and_no_chance_and_begins_at_0_where_they_go_far_down(
    costs: tuple[float, float], places: tuple[float, float]
) -> None:
    runs = [run_of(NAMES[0], repeat, cpu_ms_per_request=cost) for repeat, cost in enumerate(costs, 1)]
    drawn = chart.repeats(CPU, load_groups(runs)[0], looks([NAMES[0]], {}, {}))
    frame = [x for line in lines_of(drawn, "miter; stroke-linecap: square") for x in line]
    low, high = min(frame), max(frame)

    assert [(x - low) / (high - low) for x, *_ in dots(drawn)] == pytest.approx(places, abs=0.03)


def test_blocks_that_are_all_far_to_one_side_are_on_the_scale() -> None:
    drawn = chart.effects(CPU, experiment_of(at_loads([0.3, 0.3])).comparisons(CPU), looks(NAMES, {}, {}))
    left = min(x for line in lines_of(drawn, "miter; stroke-linecap: square") for x in line)

    assert [x > left for x, *_ in dots(drawn)] == [True, True]


def test_a_percentile_that_a_repeat_lacks_is_not_drawn_and_the_band_has_every_repeat() -> None:
    def drawn(*latencies: Latency) -> Drawing | None:
        runs = [run_of(NAMES[0], repeat, latency_ms=latency) for repeat, latency in enumerate(latencies, 1)]
        return chart.distribution(load_groups(runs)[0], looks([NAMES[0]], {}, {}))

    whole = Latency(p50=900, p90=950, p99=990)
    low, other = whole.model_copy(update={"p50": 800.0}), whole.model_copy(update={"p99": None})
    (_, all_of_them), (_, two) = (lines_of(drawn(whole, one), "stroke-width: 1.3")[0] for one in (low, other))

    assert two < all_of_them
    svg = (drawn(whole, low) or Drawing("", Markup())).svg
    band = re.search(r'FillBetween.*?d="M (\S+) (\S+) \nL (\S+) (\S+)', svg, re.DOTALL)
    assert band and abs(float(band[2]) - float(band[4])) > 20


def test_the_interval_lies_about_the_mean_and_the_margin_about_equality() -> None:
    costs = (0.8, 0.84, 0.78, 0.82, 0.81)
    (comparison,) = experiment_of(at_loads(costs)).comparisons(CPU)
    drawn = chart.effects(CPU, [comparison], looks(NAMES, {}, {}))
    ((low, high),) = lines_of(drawn, "stroke-width: 4")
    ((mean, _),) = lines_of(drawn, "stroke-width: 1.6")
    assert len({x for x, *_ in dots(drawn)}) == len(costs)
    ((even, _),) = lines_of(drawn, "dasharray")
    ((least, most),) = lines_of(drawn, "a band")

    assert low < mean < high < even
    assert mean == pytest.approx((low + high) / 2, abs=0.01)
    assert even == pytest.approx((least + most) / 2, abs=0.01)
    assert drawn is not None
    assert f">{effect_cell(comparison)[0]}</text>" in drawn.svg
    label = next(text for text in re.findall(">([^<]+)</text>", drawn.svg) if "←" in text)
    assert label.index("less") < label.index("more")


def test_a_block_with_a_suspect_run_is_a_hollow_dot() -> None:
    runs = at_loads([1.0] * 3)
    runs[0] = runs[0].model_copy(update={"verdict": "suspect"})
    drawn = chart.effects(CPU, experiment_of(runs).comparisons(CPU), looks(NAMES, {}, {}))

    assert sum("fill: #" not in style for *_, style in dots(drawn)) == 1


def test_rows_stand_in_the_order_of_names_from_the_top() -> None:
    look = looks([*NAMES][::-1], {NAMES[0]: "#123456"}, {})
    drawn = dots(chart.repeats(CPU, experiment_of(at_loads([1.0])).loads[0], look))
    assert "#123456" in max(drawn, key=lambda dot: dot[1])[2]


def test_an_approach_has_the_colour_of_its_plan_and_the_shape_of_its_server() -> None:
    known, other = looks(["a", "b"], {"a": "#123456"}, {"a": "jetty", "b": "other"}).values()
    assert known == Look("#123456", "s", "■", "-.")
    assert (other.colour, other.marker) == (chart.OTHER_COLOURS[0], chart.OTHER_SHAPES[0][0])


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


@pytest.mark.parametrize("heaps", [HEAPS, NEGATIVE, {"tomcat-virtual": (-3, -3), "tomcat-platform": (-3, -3)}])
def test_every_dot_is_drawn_on_both_sides_of_0(heaps: Mapping[str, tuple[int, ...]]) -> None:
    experiment = holding(heaps)
    look, (at,) = looks(experiment.approaches, {}, {}), experiment.loads
    difference = chart.effects(MEMORY, experiment.comparisons(MEMORY), look)
    other = load_groups([run.model_copy(update={"cell": 2, "run": f"9{run.run}"}) for run in experiment.runs])
    double = replace(other[0], amount=4000)

    repeats = len(heaps["tomcat-virtual"])
    over = chart.over_load(MEMORY, [at, double], look)
    for drawing, count in ((chart.repeats(MEMORY, at, look), 2), (difference, 1), (over, 4)):
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
    assert 0.9 * (run.rss_max_bytes or 0) < 2**20 * at_5s["rss"] <= (run.rss_max_bytes or 0)
    assert course.load[1] - course.load[0] < course.panels["rss"][0][-1] <= course.load[1] - course.load[0] + 5
    drawn = chart.courses(experiment.loads[0], [course], {run.approach: Look("#123456", "o")})
    assert sum(left == right for left, right in lines_of(drawn[0], "dasharray")) == 2  # load's beginning and end
    assert at_5s["cpu"] == pytest.approx(0.13, abs=0.1)
    seconds, _ = course.panels["cpu"]
    assert -10 <= seconds[0] < -6
    assert seconds[-1] > 57
    assert np.diff(seconds).max() < 3


@pytest.mark.parametrize(("partner", "edge", "hole"), [(None, 60, 0), ("other", 100, math.nan)])
def test_a_second_without_an_answer_counts_but_not_between_the_slices_of_a_pair(
    swept: Path, tmp_path: Path, partner: str | None, edge: float, hole: float
) -> None:
    """From second 20 to 30; a second's throughput is that of the five around it."""
    copy = shutil.copytree(swept, tmp_path / swept.name)
    run = read_experiment(copy).runs[0]
    files = RunFiles(copy / "runs" / run.run)
    packed = files.raw / "ab-requests.tsv.gz"
    rows = gzip.decompress(packed.read_bytes()).splitlines(keepends=True)
    packed.write_bytes(gzip.compress(b"".join([*rows[:2001], *rows[3001:]])))

    def restart(record: Any) -> None:
        values = record["containers"][0]["values"]
        values[20:] = [[time, str(place)] for place, (time, _) in enumerate(values[20:])]

    edit(files.metrics, restart)

    course = course_of(run.model_copy(update={"partner": partner, "twin_of": partner}), files)

    assert course is not None
    seconds, values = course.panels["throughput"]
    assert (seconds[0], seconds[-1]) == (0, 59)
    assert values[[10, 19, 25]].tolist() == pytest.approx([100, edge, hole], nan_ok=True)
    assert np.nanmin(course.panels["cpu"][1]) >= 0  # of a pair, a twin has a container of its own


@pytest.mark.parametrize("name", ["_x", "$a$", "$\\foo$"])
def test_a_strangers_name_is_text_in_charts_and_stops_none(name: str) -> None:
    runs = [run_of(name, repeat, run=f"{repeat}-x", latency_ms=Latency(p50=900, p99=990)) for repeat in (1, 2)]
    load, look = load_groups(runs)[0], looks([name], {}, {})

    for drawn in (chart.repeats(CPU, load, look), chart.distribution(load, look)):
        assert drawn is not None
        assert f">{name}</text>" in drawn.svg


def test_loads_of_two_units_are_on_no_scale_together() -> None:
    rate = replace(LOAD, shape=OpenRate((RateStep(100, 60),)))
    runs = [run_of(NAMES[0]), run_of(NAMES[0], 2, cell=2, run="8-x", load=rate)]
    assert chart.over_load(CPU, load_groups(runs), looks([NAMES[0]], {}, {})) is None


def test_the_seconds_are_of_the_middle_run_that_counts_at_the_largest_load(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts: dict[float, Verdict] = {3.0: "valid", 0.1: "invalid", 1.0: "valid", 2.0: "suspect", 0.2: "invalid"}
    runs = [
        run_of(
            name, repeat, cell=cell, run=f"{cell}{repeat}-{name}", load=replace(LOAD, connections=cell),
            cpu_ms_per_request=cost, verdict=verdict if name == NAMES[0] else "invalid",
        )
        for cell in (1, 2)
        for name in NAMES
        for repeat, (cost, verdict) in enumerate(verdicts.items(), 1)
    ]  # fmt: skip
    monkeypatch.setattr(report, "course_of", lambda run, _: run)
    monkeypatch.setattr(chart, "courses", lambda load, every, _: [load, *every])

    chosen: list[Any] = [*report._courses(experiment_of(runs), {})]
    assert chosen[0].amount == 2
    assert [(run.approach, run.cpu_ms_per_request) for run in chosen[1:]] == [(NAMES[1], 1.0), (NAMES[0], 2.0)]


def test_a_twin_has_the_colour_of_its_approach_and_a_shape_of_its_own(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, NAMES, repeats=1, twin=True)
    edit(folder / "order.json", lambda order: order.update(colours={NAMES[0]: "#123456", NAMES[1]: "#654321"}))

    keys = re.findall(r'style="color:(#\w+)">(.)</span> ([\w-]+)<', write_report(folder).read_text())
    look = {name: (colour, sign) for colour, sign, name in keys}
    twin = next(name for name in look if name.endswith("-twin"))

    (colour, sign), (of_own, own_sign) = look[twin], look[twin.removesuffix("-twin")]
    assert colour == of_own in {"#123456", "#654321"}
    assert sign != own_sign == "●"
