"""The part of a run that counts: after the connect wave, before the last wave drains (design, section 6)."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from loomlab.records.load import Closed, Load, OpenRate
from loomlab.records.models import Interior, Latency
from loomlab.records.requestlog import RequestLog, latency_figures, percentile

FEWEST_SECONDS = 3
KEPT_SHARE, WAVE_ERROR = 0.8, 0.01
IDLE_SHARE = 0.01
TAIL_LAG_LIMIT = 0.05


@dataclass(frozen=True)
class InteriorFigures:
    """Figures of the requests that started in `window`; `little_ratio` is throughput × mean latency ÷ concurrency
    (1 in a closed loop that is always full) and `waves` the window in mean latencies, None where the load is no closed
    one or the window a whole run; `started_rps` counts failed requests, too, None for a closed load. In an open model
    `latency` begins when a request was due, and the lag of starts behind that is told of failed ones, too."""

    window: Interior
    throughput_rps: float
    latency: Latency
    latency_from_start: Latency | None = None
    start_lag_p99_ms: float | None = None
    little_ratio: float | None = None
    waves: float | None = None
    started_rps: float | None = None


def figures_of(
    log: RequestLog, load: Load, started: float, ended: float, *, quotas: bool = False, drains: bool = False
) -> InteriorFigures | None:
    """The figures that suit the load's shape: of a full closed loop and of rates on their interior, of users who come
    and go from their first request to their last answer. `quotas`: each connection of a closed loop has requests of its
    own, and is idle when they are done; `drains`: the tool waits for its last answers and starts nothing meanwhile.
    None without an answer."""
    if isinstance(load.shape, Closed):
        full_until = last_full_second(log, load.connections, ended) if quotas else ended
        return interior_figures(log, load.connections, started, full_until, drains=drains)
    if isinstance(load.shape, OpenRate):
        return open_figures(log, started, ended)
    return _from_first_to_last(log) if log else None


def last_full_second(log: RequestLog, concurrency: int, ended: float) -> float:
    """The last second at which all connections but a hundredth were busy; `ended` where none is found."""
    starts = sorted([*log.start_s, *log.failed_start_s])
    took_ms = [*log.latency_ms, *log.failed_latency_ms]
    ends = sorted(start + took / 1000 for start, took in zip([*log.start_s, *log.failed_start_s], took_ms, strict=True))
    full = concurrency - max(IDLE_SHARE * concurrency, 1)
    for second in range(math.floor(ended), math.floor(starts[0]) if starts else 0, -1):
        if bisect_right(starts, second) - bisect_right(ends, second) >= full:
            return float(second)
    return ended


def open_figures(log: RequestLog, started: float, ended: float) -> InteriorFigures | None:
    """From the second by which the first second's requests have surely ended, up to the last second in which requests
    started throughout; every request that started in it has an entry."""
    if not log:
        return None
    starts = [*log.start_s, *log.failed_start_s]
    begun = math.floor(min(starts))
    first_ones = log.within(begun, begun + 2, log.latency_ms)
    first = begun + 1 + math.ceil(percentile(sorted(first_ones), 99) / 1000) if first_ones else begun + 1
    last = math.floor(max(starts))
    if last - first < FEWEST_SECONDS:
        return _whole_run(log, started, ended)
    return window_figures(log, first, last)


def window_figures(log: RequestLog, first: int, last: int) -> InteriorFigures:
    """Of the requests that started from `first` up to before `last`, epoch seconds."""
    seconds = last - first
    latencies = log.within(first, last, log.from_due_ms)
    failed = _failed(log, first, last)
    lags = _lags(log, first, last)
    return InteriorFigures(
        Interior(start=first, seconds=seconds, requests=len(latencies), whole_run=False),
        len(latencies) / seconds,
        _without_doubtful_tail(latency_figures(latencies), len(latencies), failed + log.untimed, lags),
        latency_from_start=latency_figures(log.within(first, last, log.latency_ms)) if lags else None,
        start_lag_p99_ms=percentile(sorted(lags), 99) if lags else None,
        started_rps=(len(latencies) + failed) / seconds,
    )


def _without_doubtful_tail(latency: Latency, answered: int, failed: int, lags_ms: Sequence[float]) -> Latency:
    """Without p99.9 where one request in a thousand failed, whose latency is in no figure, or where starts lag so much
    that it is the tool's."""
    tail = latency.p99_9
    lagged = bool(lags_ms) and tail is not None and percentile(sorted(lags_ms), 99.9) > TAIL_LAG_LIMIT * tail
    doubtful = lagged or failed > (answered + failed) / 1000
    return latency.model_copy(update={"p99_9": None}) if doubtful else latency


def _failed(log: RequestLog, first: float, last: float) -> int:
    return sum(first <= start < last for start in log.failed_start_s)


def _lags(log: RequestLog, first: float, last: float) -> list[float]:
    if not log.lag_ms:
        return []
    failed = zip(log.failed_start_s, log.failed_lag_ms, strict=True)
    return log.within(first, last, log.lag_ms) + [lag for start, lag in failed if first <= start < last]


def connect_wave_end(log: RequestLog, concurrency: int) -> int | None:
    """The first whole second by which the first request of every connection has surely ended.

    The log does not name connections: all requests that started up to the second in which the C-th one did include
    every connection's first. None when fewer than C requests were answered.
    """
    starts = Counter(map(math.floor, log.start_s))
    seen = 0
    for second in sorted(starts):
        seen += starts[second]
        if seen >= concurrency:
            return max(
                math.ceil((math.floor(start) * 1000 + 999 + latency) / 1000)
                for start, latency in zip(log.start_s, log.latency_ms, strict=True)
                if start < second + 1
            )
    return None


def interior_figures(
    log: RequestLog, concurrency: int, started: float, ended: float, *, drains: bool = False
) -> InteriorFigures | None:
    """Figures between whole-second boundaries, at which starts rounded down to seconds are counted exactly.

    Requests in flight at the end may be missing from the log, so the window ends p99 before `ended`: all but 1 % of
    what started up to then is in the log. A tool that waits for its last answers starts none meanwhile, so it ends with
    the last start, too. Its length is that of whole waves, see `whole_waves`. Falls back to
    the whole run when fewer than 3 s remain; None without data.
    """
    if not log:
        return None
    first = connect_wave_end(log, concurrency)
    last = math.floor(ended - percentile(sorted(log.latency_ms), 99) / 1000)
    if drains:
        last = min(last, math.floor(max(log.start_s)))
    if first is None or last - first < FEWEST_SECONDS:
        return _whole_run(log, started, ended)
    latencies = log.within(first, last, log.latency_ms)
    if not latencies:
        return _whole_run(log, started, ended)
    seconds = whole_waves(last - first, sum(latencies) / len(latencies) / 1000)
    latencies = log.within(first, first + seconds, log.latency_ms)
    busy_s = sum(latencies) / 1000
    return InteriorFigures(
        Interior(start=first, seconds=seconds, requests=len(latencies), whole_run=False),
        len(latencies) / seconds,
        _without_doubtful_tail(
            latency_figures(latencies), len(latencies), _failed(log, first, first + seconds) + log.untimed, ()
        ),
        little_ratio=busy_s / seconds / concurrency,
        waves=seconds / (busy_s / len(latencies)) if busy_s else None,
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


def _from_first_to_last(log: RequestLog) -> InteriorFigures:
    """A tool may take seconds until it has its users, and again until it ends."""
    first = min([*log.start_s, *log.failed_start_s])
    last = max(start + latency / 1000 for start, latency in zip(log.start_s, log.latency_ms, strict=True))
    return _whole_run(log, first, last)


def _whole_run(log: RequestLog, started: float, ended: float) -> InteriorFigures:
    seconds = max(ended - started, 0.001)
    return InteriorFigures(
        Interior(start=started, seconds=seconds, requests=len(log), whole_run=True),
        len(log) / seconds,
        _without_doubtful_tail(
            latency_figures(log.from_due_ms), len(log), len(log.failed_start_s) + log.untimed, log.lag_ms
        ),
        latency_from_start=latency_figures(log.latency_ms) if log.lag_ms else None,
        start_lag_p99_ms=percentile(sorted([*log.lag_ms, *log.failed_lag_ms]), 99) if log.lag_ms else None,
    )
