"""Fetches what Prometheus stored about a run (raw/metrics.json)."""

import math
import time
from typing import Any

from loomlab.run.prometheus import Prometheus, UnreachableError
from loomlab.run.stop import Stop

PADDING_S = 10.0
"""Samples before and after the run, so that counters can be interpolated at its ends."""
WAIT_S = 10.0
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
    """Returns when the approach's container and process and the backend's process have a sample past that Unix time, or
    after 10 s."""
    wanted = {
        ("container_cpu_usage_seconds_total", approach),
        ("process_start_time_seconds", approach),
        ("process_start_time_seconds", "backend"),
    }
    names = "|".join(sorted({name for name, _ in wanted}))
    expression = f'{{__name__=~"{names}",service=~"{approach}|backend"}}[30s]'
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
    """Raw samples from 10 s before the run up to now; `error` says why there are none."""
    now = time.time()
    window = math.ceil(now - start + PADDING_S)
    names = "|".join(CONTAINER_METRICS)
    expressions = {
        "containers": f'{{__name__=~"container_({names})",service=~"{approach}|backend|loadgen"}}[{window}s]',
        "approach": f'{{__name__=~"{OWN_METRICS}",service="{approach}"}}[{window}s]',
        "backend": f'{{__name__=~"{OWN_METRICS}",service="backend"}}[{window}s]',
    }
    record: dict[str, Any] = {"start": start, "end": end, "fetched": now, "error": None}
    for name, expression in expressions.items():
        try:
            record[name] = prometheus.query(expression, now)
        except UnreachableError as error:
            record[name] = []
            record["error"] = str(error)
    return record
