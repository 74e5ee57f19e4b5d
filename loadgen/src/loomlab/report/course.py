"""What a run did second by second, by its raw files."""

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from loomlab.basics.errors import LoomlabError
from loomlab.judge.series import parse_result, select, without_resets
from loomlab.records.endpoints import delay_of, endpoint_of
from loomlab.records.files import RunFiles, read_json, read_record
from loomlab.records.models import Run, ToolRun
from loomlab.records.requestlog import Numbers, by_seconds, percentile
from loomlab.tools.known import tool
from loomlab.tools.tool import requests_of

BEFORE_S, AFTER_S = 10, 5  # how much around the load is drawn, as far as samples reach
PANELS = (
    ("throughput", "answered requests by the second they started in", "requests/s"),
    ("p50", "latency from when the tool sent the request, p50", "ms"),
    ("p99", "latency from when the tool sent the request, p99", "ms"),
    ("cpu", "CPU of the approach", "CPUs"),
    ("rss", "RSS of the approach", "MiB"),
    ("threads", "threads of the approach", ""),
)
type Points = tuple[Numbers, Numbers]
"""Seconds since the load began, and values, which are NaN where samples do not reach."""
type Stretch = tuple[float, float]  # its start and its end, in epoch seconds


@dataclass(frozen=True)
class Course:
    """A run over time."""

    run: Run
    load: Stretch
    panels: dict[str, Points]  # second by second


def course_of(run: Run, files: RunFiles | None) -> Course | None:
    """As far as the raw files tell; None without them."""
    process = read_record(files.tool, ToolRun) if files else None
    if not (files and process):
        return None
    load = (process.started, process.ended)
    return Course(run, load, _latencies(run, files, load[0]) | _samples(run, files, *load))


def _latencies(run: Run, files: RunFiles, began: float) -> dict[str, Points]:
    """What the answered requests of each second show; nothing of a tool that left no requests, or broken ones."""
    log = None
    with suppress(OSError, LoomlabError):
        log = requests_of(files, tool(run.tool), endpoint_of(run.endpoint, delay_of(run.delay)).floor_ms)
    if not log:
        return {}
    by_second = by_seconds(log.start_s, log.latency_ms)
    seconds = np.array([*by_second], dtype=np.float64) - math.floor(began)
    groups = [np.sort(latencies_ms) for latencies_ms in by_second.values()]
    return {
        "throughput": (seconds, np.array([len(group) for group in groups])),
        "p50": (seconds, np.array([percentile(group, 50) for group in groups])),
        "p99": (seconds, np.array([percentile(group, 99) for group in groups])),
    }


def _samples(run: Run, files: RunFiles, began: float, ended: float) -> dict[str, Points]:
    """What was sampled of the approach's container, interpolated to whole seconds as far as samples reach."""
    recorded = parse_result((read_json(files.metrics) or {}).get("containers", []))
    seconds = np.arange(-BEFORE_S, math.ceil(ended - began) + AFTER_S + 1, dtype=np.float64)

    def values_of(name: str, **labels: str) -> Numbers:
        own = select(recorded, f"container_{name}", service=(not run.partner and run.twin_of) or run.approach, **labels)
        samples = own[0].samples if own else ()
        values = without_resets(samples) if name.endswith("_total") else samples
        known: Numbers = np.array(values or [(math.inf, math.nan)])
        return np.interp(began + seconds, known[:, 0], known[:, 1], left=math.nan, right=math.nan)

    panels = {
        "cpu": np.diff(values_of("cpu_usage_seconds_total", cpu="total")),
        "rss": values_of("memory_rss")[:-1] / 2**20,
        "threads": values_of("threads")[:-1],
    }
    return {name: (seconds[:-1], values) for name, values in panels.items() if np.isfinite(values).any()}
