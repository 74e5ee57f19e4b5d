"""The part of a run that counts: after the connect wave, before the last wave drains (design, section 6)."""

import math
from collections import Counter
from dataclasses import dataclass

from loomlab.models import Interior, Latency
from loomlab.requestlog import RequestLog, latency_figures, percentile

SHORTEST_INTERIOR_S = 3


@dataclass(frozen=True)
class InteriorFigures:
    """Figures of the requests that started in `window`; `little_ratio` is throughput × mean latency ÷ concurrency
    (1 in a closed loop that is always full) and `waves` the window in mean latencies, None for a whole run."""

    window: Interior
    throughput_rps: float
    latency: Latency
    little_ratio: float | None
    waves: float | None


def connect_wave_end(log: RequestLog, concurrency: int) -> int | None:
    """The first whole second by which the first request of every connection has surely ended.

    The log does not name connections: all requests that started up to the second in which the C-th one did include
    every connection's first. None when fewer than C requests were answered.
    """
    starts = Counter(log.start_s)
    seen = 0
    for second in sorted(starts):
        seen += starts[second]
        if seen >= concurrency:
            return max(
                -(-(start * 1000 + 999 + latency) // 1000)
                for start, latency in zip(log.start_s, log.latency_ms, strict=True)
                if start <= second
            )
    return None


def interior_figures(log: RequestLog, concurrency: int, started: float, ended: float) -> InteriorFigures | None:
    """Figures between whole-second boundaries, at which starts rounded down to seconds are counted exactly.

    Requests in flight at the end are missing from the log, so the window ends p99 before `ended`: all but 1 % of
    what started up to then is in the log. Falls back to the whole run when fewer than 3 s remain; None without data.
    """
    if not log:
        return None
    first = connect_wave_end(log, concurrency)
    last = math.floor(ended - percentile(sorted(log.latency_ms), 99) / 1000)
    if first is None or last - first < SHORTEST_INTERIOR_S:
        return _whole_run(log, started, ended)
    latencies = [latency for start, latency in zip(log.start_s, log.latency_ms, strict=True) if first <= start < last]
    if not latencies:
        return _whole_run(log, started, ended)
    seconds = last - first
    busy_s = sum(latencies) / 1000
    return InteriorFigures(
        Interior(start=first, seconds=seconds, requests=len(latencies), whole_run=False),
        len(latencies) / seconds,
        latency_figures(latencies),
        busy_s / seconds / concurrency,
        seconds / (busy_s / len(latencies)) if busy_s else None,
    )


def _whole_run(log: RequestLog, started: float, ended: float) -> InteriorFigures:
    seconds = max(ended - started, 0.001)
    return InteriorFigures(
        Interior(start=started, seconds=seconds, requests=len(log), whole_run=True),
        len(log) / seconds,
        latency_figures(log.latency_ms),
        None,
        None,
    )
