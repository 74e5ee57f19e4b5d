"""What a run did second by second, from its raw files."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from loomlab.judge.series import Series, parse_result, select, value_at, without_resets
from loomlab.records.files import RunFiles
from loomlab.records.models import Run
from loomlab.report.folder import Experiment
from loomlab.report.palette import Look

BEFORE_S, AFTER_S = 10, 5
"""How much around the load is drawn, as far as samples reach."""
MOST_POINTS = 150
"""Of a run, so that 60 runs stay within a megabyte."""
PANELS = (
    ("throughput", "answered requests by the second they started in", "requests/s"),
    ("p50", "latency from when the tool sent the request, p50", "ms"),
    ("p99", "latency from when the tool sent the request, p99", "ms"),
    ("cpu", "CPU of the approach", "CPUs"),
    ("rss", "RSS of the approach", "MiB"),
    ("threads", "threads of the approach", ""),
)
Points = dict[int, float]


@dataclass(frozen=True)
class Course:
    """Values by second since the load began, by panel; `interior` and `loaded` are from and to in the same seconds."""

    run: Run
    panels: Mapping[str, Points]
    interior: tuple[float, float] | None
    loaded: tuple[float, float]


def course_of(experiment: Experiment, run: Run) -> Course | None:
    """None where the raw files do not tell when the load was."""
    tool = experiment.raw_json(run, "tool.json")
    try:
        began, ended = float(tool["started"]), float(tool["ended"])
    except (TypeError, KeyError, ValueError):
        return None
    files = experiment.raw[run.run]
    panels = _latencies(files, began) | _samples(
        experiment.raw_json(run, "metrics.json"), run.twin_of or run.approach, began, ended
    )
    panels = {name: points for name, points in panels.items() if points}
    if not panels:
        return None
    start = None if run.interior is None else run.interior.start - began
    interior = None if start is None or run.interior is None else (start, start + run.interior.seconds)
    return Course(run, panels, interior, (0.0, ended - began))


def _latencies(files: RunFiles, began: float) -> dict[str, Points]:
    """From raw/latency.hlog, a histogram a second; empty where there is none, or it is damaged."""
    path = files.raw / "latency.hlog"
    panels: dict[str, Points] = {"throughput": {}, "p50": {}, "p99": {}}
    if not path.exists():
        return panels
    try:
        reader = HistogramLogReader(str(path), HdrHistogram(1, 3_600_000_000, 3))
        while (one := reader.get_next_interval_histogram()) is not None:
            second = round(one.get_start_time_stamp() / 1000) - math.floor(began)
            panels["throughput"][second] = one.get_total_count()
            for name, percent in (("p50", 50), ("p99", 99)):
                panels[name][second] = _percentile_us(one, percent) / 1000
    except (OSError, ValueError, IndexError, TypeError, ArithmeticError):
        return {}
    return panels


def _percentile_us(histogram: Any, percent: float) -> float:
    """As HdrHistogram's own, whose walk over 40,000 counts takes Python a hundred times as long."""
    up_to = np.cumsum(np.ctypeslib.as_array(histogram.counts))
    index = int(np.searchsorted(up_to, histogram.get_target_count_at_percentile(percent)))
    return float(histogram.get_highest_equivalent_value(histogram.get_value_from_index(index)))


def _samples(record: Any, approach: str, began: float, ended: float) -> dict[str, Points]:
    try:
        found = parse_result(record["containers"])
    except (TypeError, KeyError, ValueError):
        return {}
    seconds = range(-BEFORE_S, math.ceil(ended - began) + AFTER_S)
    of_approach = {"service": approach}
    cpu = select(found, "container_cpu_usage_seconds_total", cpu="total", **of_approach)
    return {
        "cpu": _rates(cpu[0], began, seconds) if cpu else {},
        "rss": _gauge(found, "container_memory_rss", approach, began, seconds, 2**20),
        "threads": _gauge(found, "container_threads", approach, began, seconds, 1),
    }


def _rates(one: Series, began: float, seconds: range) -> Points:
    straight = without_resets(one.samples)
    points = {}
    for second in seconds:
        before, after = value_at(straight, began + second), value_at(straight, began + second + 1)
        if before is not None and after is not None:
            points[second] = after - before
    return points


def _gauge(found: list[Series], name: str, approach: str, began: float, seconds: range, divisor: float) -> Points:
    samples = [list(one.samples) for one in select(found, name, service=approach)]
    if not samples:
        return {}
    told = ((second, value_at(samples[0], began + second)) for second in seconds)
    return {second: value / divisor for second, value in told if value is not None}


def data_of(experiment: Experiment, looks: Mapping[str, Look]) -> dict[str, Any]:
    """What the page's script draws: groups of runs that lie over one another, on a grid of seconds that all share."""
    courses = [course for run in experiment.runs if (course := course_of(experiment, run)) is not None]
    longest = max((course.loaded[1] for course in courses), default=0.0) + BEFORE_S + AFTER_S
    step = max(1, math.ceil(longest / MOST_POINTS))
    loads = {at.cell: at.label for at in experiment.loads}
    groups: dict[tuple[int, int], list[Course]] = {}
    for course in courses:
        groups.setdefault((course.run.cell, course.run.repeat), []).append(course)
    order = [at.cell for at in experiment.loads]
    return {
        "panels": [{"key": key, "title": title, "unit": unit} for key, title, unit in PANELS],
        "groups": [
            {"label": f"{loads[cell]}, repeat {repeat}", "runs": [_drawn(one, step, looks) for one in group]}
            for (cell, repeat), group in sorted(
                groups.items(), key=lambda entry: (order.index(entry[0][0]), entry[0][1])
            )
        ],
    }


def _drawn(course: Course, step: int, looks: Mapping[str, Look]) -> dict[str, Any]:
    last = math.ceil(course.loaded[1]) + AFTER_S
    grid = range(-BEFORE_S, last, step)
    return {
        "name": course.run.run,
        "approach": course.run.approach,
        "colour": looks[course.run.approach].colour,
        "verdict": course.run.verdict,
        "from": grid.start,
        "step": step,
        "loaded": [round(each, 1) for each in course.loaded],
        "interior": None if course.interior is None else [round(each, 1) for each in course.interior],
        "panels": {key: [_at(points, second, step) for second in grid] for key, points in course.panels.items()},
    }


def _at(points: Points, second: int, step: int) -> float | None:
    """The mean over the step, with four digits that count; None where nothing was recorded."""
    within = [points[each] for each in range(second, second + step) if each in points]
    within = [value for value in within if math.isfinite(value)]
    if not within:
        return None
    value = float(f"{sum(within) / len(within):.4g}")
    return int(value) if value.is_integer() else value
