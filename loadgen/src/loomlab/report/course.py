"""What a run did second by second, from its raw files."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
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
    loaded = experiment.loaded(run)
    if loaded is None:
        return None
    began, ended = loaded
    files = experiment.raw[run.run]
    panels = _latencies(files, began) | _samples(
        experiment.raw_json(run, "metrics.json"), run.twin_of or run.approach, began, ended
    )
    panels = {name: points for name, points in panels.items() if points}
    if not panels:
        return None
    return Course(run, panels, _interior(run, began), (0.0, ended - began))


def _interior(run: Run, began: float) -> tuple[float, float] | None:
    if run.interior is None:
        return None
    start, end = run.interior.start - began, run.interior.start + run.interior.seconds - began
    return (start, end) if math.isfinite(start) and math.isfinite(end) else None


def _latencies(files: RunFiles, began: float) -> dict[str, Points]:
    found = by_second(files.raw / "latency.hlog", began, (50, 99))
    return {"throughput" if name == "count" else name: points for name, points in found.items() if name != "max"}


def by_second(log: Path, began: float, percents: Sequence[int]) -> dict[str, Points]:
    """Of a histogram log: how many there were (`count`), percentiles (`p50`) and `max` in ms, by the second since the
    load began; empty where there is no such file, or it is damaged."""
    if not log.exists():
        return {}
    panels: dict[str, Points] = {"count": {}, **{f"p{percent}": {} for percent in percents}, "max": {}}
    try:
        reader = HistogramLogReader(str(log), HdrHistogram(1, 3_600_000_000, 3))
        while (one := reader.get_next_interval_histogram()) is not None:
            second = round(one.get_start_time_stamp() / 1000) - math.floor(began)
            panels["count"][second] = one.get_total_count()
            panels["max"][second] = one.get_max_value() / 1000
            for percent in percents:
                panels[f"p{percent}"][second] = _percentile_us(one, percent) / 1000
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
    cpu = select(found, "container_cpu_usage_seconds_total", cpu="total", service=approach)
    rss = gauge(select(found, "container_memory_rss", service=approach)[:1], began, seconds)
    return {
        "cpu": rates(cpu[0].samples, began, seconds) if cpu else {},
        "rss": {second: value / 2**20 for second, value in rss.items()},
        "threads": gauge(select(found, "container_threads", service=approach)[:1], began, seconds),
    }


def rates(samples: Sequence[tuple[float, float]], began: float, seconds: range) -> Points:
    """Of a counter, by the second since the load began."""
    straight = without_resets(samples)
    points = {}
    for second in seconds:
        before, after = value_at(straight, began + second), value_at(straight, began + second + 1)
        if before is not None and after is not None:
            points[second] = after - before
    return points


def gauge(series: Iterable[Series], began: float, seconds: range) -> Points:
    """The sum of all that have a value then."""
    samples = [list(one.samples) for one in series]
    points = {}
    for second in seconds:
        values = [value for one in samples if (value := value_at(one, began + second)) is not None]
        if values:
            points[second] = sum(values)
    return points


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
