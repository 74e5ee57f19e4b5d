"""What a run did second by second, from its raw files."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loomlab.basics.errors import ParseError, UsageError
from loomlab.judge.series import Series, parse_result, select, value_at, without_resets
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import endpoint_of
from loomlab.records.files import RunFiles
from loomlab.records.models import Run
from loomlab.records.requestlog import by_seconds, percentile
from loomlab.report.folder import Experiment
from loomlab.tools.known import tool
from loomlab.tools.tool import requests_of

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
    panels = _latencies(files, run, began) | _samples(
        experiment.raw_json(run, "metrics.json"), run.twin_of or run.approach, began, ended
    )
    panels = {name: points for name, points in panels.items() if points}
    if not panels:
        return None
    return Course(run, panels, (0.0, ended - began))


def _latencies(files: RunFiles, run: Run, began: float) -> dict[str, Points]:
    """What the answered requests of each second show; nothing of a tool without per-request data."""
    try:
        log = requests_of(files, tool(run.tool), endpoint_of(run.endpoint, delay_of(run.delay)).floor_ms)
    except (OSError, ParseError, UsageError):
        log = None
    panels: dict[str, Points] = {"throughput": {}, "p50": {}, "p99": {}}
    for second, latencies_ms in (by_seconds(log.start_s, log.latency_ms) if log else {}).items():
        ordered, place = np.sort(latencies_ms), second - math.floor(began)
        panels["throughput"][place] = len(ordered)
        panels["p50"][place], panels["p99"][place] = percentile(ordered, 50), percentile(ordered, 99)
    return panels


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
