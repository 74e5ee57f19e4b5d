"""Fetches what Prometheus stored about a run (raw/metrics.json)."""

import json
import math
import time
from typing import Any

from loomlab.run.prometheus import Prometheus, UnreachableError
from loomlab.run.stop import Stop

PADDING_S = 10.0
"""Samples before and after the run, so that counters can be interpolated at its ends."""
WAIT_S = 10.0
PIECE_S = 300.0
TRY_AGAIN_S = (1.0, 2.0, 5.0)
CONTAINER_METRICS = (
    "cpu_usage_seconds_total",
    "cpu_cfs_periods_total",
    "cpu_cfs_throttled_periods_total",
    "memory_rss",
    "threads",
    "oom_events_total",
    "start_time_seconds",
    "spec_cpu_quota",
    "spec_cpu_period",
)
OWN_METRICS = "(lab|backend|jvm|process)_.*"


def wait_for_samples(prometheus: Prometheus, approach: str, past: float, stop: Stop) -> None:
    """Returns when the containers of approach, backend and load generator and the processes of the first two have a
    sample past that Unix time, or after 10 s."""
    wanted = {
        *(("container_cpu_usage_seconds_total", service) for service in (approach, "backend", "loadgen")),
        ("process_start_time_seconds", approach),
        ("process_start_time_seconds", "backend"),
    }
    names = "|".join(sorted({name for name, _ in wanted}))
    expression = f'{{__name__=~"{names}",service=~"{approach}|backend|loadgen"}}[30s]'
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline and not stop.requested:
        try:
            result = prometheus.query(expression, time.time())
        except UnreachableError:
            result = []
        sampled = {
            (entry["metric"].get("__name__"), entry["metric"].get("service"))
            for entry in result
            if float(entry["values"][-1][0]) > past
        }
        if wanted <= sampled:
            return
        stop.pause(0.5)


def collect(prometheus: Prometheus, approach: str, start: float, end: float) -> dict[str, Any]:
    """Raw samples from 10 s before the run to 20 s after it, or up to now; `error` says why there are none."""
    now = min(time.time(), end + 2 * PADDING_S)
    names = "|".join(CONTAINER_METRICS)
    selectors = {
        "containers": f'{{__name__=~"container_({names})",service=~"{approach}|backend|loadgen|prometheus|cadvisor"}}',
        "approach": f'{{__name__=~"{OWN_METRICS}",service="{approach}"}}',
        "backend": f'{{__name__=~"{OWN_METRICS}",service="backend"}}',
    }
    record: dict[str, Any] = {"start": start, "end": end, "fetched": now, "error": None}
    for name, selector in selectors.items():
        try:
            record[name] = _samples(prometheus, selector, start - PADDING_S, now)
        except UnreachableError as error:
            record[name] = []
            record["error"] = str(error)
    return record


def _samples(prometheus: Prometheus, selector: str, start: float, end: float) -> list[dict[str, Any]]:
    """In pieces that Prometheus can answer in time, however long the run was."""
    series: dict[str, dict[str, Any]] = {}
    pieces = max(math.ceil((end - start) / PIECE_S), 1)
    for piece in range(pieces):
        until = end - (pieces - 1 - piece) * PIECE_S
        length_s = math.ceil(min(PIECE_S, until - start))
        for one in _asked(prometheus, f"{selector}[{length_s}s]", until):
            known = series.setdefault(
                json.dumps(one["metric"], sort_keys=True), {"metric": one["metric"], "values": []}
            )
            last = known["values"][-1][0] if known["values"] else -math.inf
            known["values"] += [value for value in one["values"] if value[0] > last]
    return list(series.values())


def _asked(prometheus: Prometheus, expression: str, at: float) -> list[dict[str, Any]]:
    """Tries again, for a busy host's Prometheus may be late once."""
    for pause_s in TRY_AGAIN_S:
        try:
            return prometheus.query(expression, at)
        except UnreachableError:
            time.sleep(pause_s)
    return prometheus.query(expression, at)
