"""The part of a run that counts: after the connect wave, before the last wave drains (design, section 6)."""

import math
from collections import Counter
from dataclasses import dataclass

from loomlab.records.load import Closed, Load, OpenRate
from loomlab.records.models import Interior, Latency
from loomlab.records.requestlog import RequestLog, latency_figures, percentile

FEWEST_SECONDS = 3
KEPT_SHARE, WAVE_ERROR = 0.8, 0.01


@dataclass(frozen=True)
class InteriorFigures:
    """Figures of the requests that started in `window`; `little_ratio` is throughput × mean latency ÷ concurrency
    (1 in a closed loop that is always full) and `waves` the window in mean latencies, None where the load is no closed
    one or the window a whole run; `started_rps` counts failed requests, too, None for a closed load."""

    window: Interior
    throughput_rps: float
    latency: Latency
    little_ratio: float | None = None
    waves: float | None = None
    started_rps: float | None = None


def figures_of(log: RequestLog, load: Load, started: float, ended: float) -> InteriorFigures | None:
    """The figures that suit the load's shape: of a full closed loop and of rates on their interior, of users who come
    and go on the whole run. None without an answer."""
    if isinstance(load.shape, Closed):
        return interior_figures(log, load.connections, started, ended)
    if isinstance(load.shape, OpenRate):
        return open_figures(log, started, ended)
    return _whole_run(log, started, ended) if log else None


def open_figures(log: RequestLog, started: float, ended: float) -> InteriorFigures | None:
    """From the second by which the first second's requests have surely ended, up to the last second in which requests
    started throughout; every request that started in it has an entry."""
    if not log:
        return None
    starts = [*log.start_s, *log.failed_start_s]
    begun = min(starts)
    first_ones = [ms for start, ms in zip(log.start_s, log.latency_ms, strict=True) if start <= begun + 1]
    first = begun + 1 + math.ceil(percentile(sorted(first_ones), 99) / 1000) if first_ones else begun + 1
    last = max(starts)
    if last - first < FEWEST_SECONDS:
        return _whole_run(log, started, ended)
    return window_figures(log, first, last)


def window_figures(log: RequestLog, first: int, last: int) -> InteriorFigures:
    """Of the requests that started from `first` up to before `last`, epoch seconds."""
    seconds = last - first
    latencies = _latencies(log, first, last)
    failed = sum(first <= start < last for start in log.failed_start_s)
    return InteriorFigures(
        Interior(start=first, seconds=seconds, requests=len(latencies), whole_run=False),
        len(latencies) / seconds,
        latency_figures(latencies),
        started_rps=(len(latencies) + failed) / seconds,
    )


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
                math.ceil((start * 1000 + 999 + latency) / 1000)
                for start, latency in zip(log.start_s, log.latency_ms, strict=True)
                if start <= second
            )
    return None


def interior_figures(log: RequestLog, concurrency: int, started: float, ended: float) -> InteriorFigures | None:
    """Figures between whole-second boundaries, at which starts rounded down to seconds are counted exactly.

    Requests in flight at the end are missing from the log, so the window ends p99 before `ended`: all but 1 % of
    what started up to then is in the log. Its length is that of whole waves, see `whole_waves`. Falls back to
    the whole run when fewer than 3 s remain; None without data.
    """
    if not log:
        return None
    first = connect_wave_end(log, concurrency)
    last = math.floor(ended - percentile(sorted(log.latency_ms), 99) / 1000)
    if first is None or last - first < FEWEST_SECONDS:
        return _whole_run(log, started, ended)
    latencies = _latencies(log, first, last)
    if not latencies:
        return _whole_run(log, started, ended)
    seconds = whole_waves(last - first, sum(latencies) / len(latencies) / 1000)
    latencies = _latencies(log, first, first + seconds)
    busy_s = sum(latencies) / 1000
    return InteriorFigures(
        Interior(start=first, seconds=seconds, requests=len(latencies), whole_run=False),
        len(latencies) / seconds,
        latency_figures(latencies),
        busy_s / seconds / concurrency,
        seconds / (busy_s / len(latencies)) if busy_s else None,
    )


def whole_waves(longest_s: int, wave_s: float) -> int:
    """Of the whole seconds from 80 % of `longest_s` on, the most that are whole waves to within 1 % of their number; if
    none are, those that come nearest.

    Connections that stay in step send in waves, one mean latency apart; a window of 16.6 waves counts 16 or 17 of them,
    and would show a throughput no server could have.
    """
    if wave_s <= 0:
        return longest_s
    candidates = range(longest_s, math.ceil(KEPT_SHARE * longest_s) - 1, -1)

    def error(seconds: int) -> float:
        return abs(math.remainder(seconds, wave_s)) / seconds

    return next((seconds for seconds in candidates if error(seconds) <= WAVE_ERROR), min(candidates, key=error))


def _latencies(log: RequestLog, first: int, last: int) -> list[float]:
    return [latency for start, latency in zip(log.start_s, log.latency_ms, strict=True) if first <= start < last]


def _whole_run(log: RequestLog, started: float, ended: float) -> InteriorFigures:
    seconds = max(ended - started, 0.001)
    return InteriorFigures(
        Interior(start=started, seconds=seconds, requests=len(log), whole_run=True),
        len(log) / seconds,
        latency_figures(log.latency_ms),
    )
