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

BEFORE_S, AFTER_S = 10, 5
"""How much around the load is drawn, as far as samples reach."""
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
    """Values by second since the load began, by panel; `loaded` are from and to in the same seconds."""

    run: Run
    panels: Mapping[str, Points]
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
    return Course(run, panels, (0.0, ended - began))


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
