"""How late requests of an open model started: a tool that falls behind makes up for it, and its rate shows nothing."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from loomlab.records.load import OpenRate
from loomlab.records.requestlog import RequestLog

AGREED_S = 1e-6
"""Two times are the same to within a microsecond, which is what k6 tells."""


def with_lags(log: RequestLog, shape: OpenRate, dropped: int) -> RequestLog:
    """The log, each of whose requests knows how long after it was due it started.

    The schedule is laid so that no request started before it was due and one did at that very time; all lags are off by
    the least. Of a tool that leaves requests out meanwhile (`dropped`, and those it gave up without saying when they
    started) it is not known which: the first start is taken for punctual, and each other one for the latest that was
    due and can be meant, a lower bound.
    """
    starts = [*log.start_s, *log.failed_start_s]
    if not starts:
        return log
    order = sorted(range(len(starts)), key=starts.__getitem__)
    lags_ms = [0.0] * len(starts)
    for place, lag_s in zip(order, start_lags_s([starts[place] for place in order], shape, dropped), strict=True):
        lags_ms[place] = round(1000 * lag_s, 3)
    return replace(log, lag_ms=lags_ms[: len(log.start_s)], failed_lag_ms=lags_ms[len(log.start_s) :])


def start_lags_s(starts: Sequence[float], shape: OpenRate, dropped: int) -> list[float]:
    """Of starts in ascending order, epoch seconds."""
    due = list(_due(shape, len(starts) + dropped))
    if not dropped:
        begun = min(start - offset for start, offset in zip(starts, due, strict=True))
        return [start - begun - offset for start, offset in zip(starts, due, strict=True)]
    begun = starts[0] - due[0]
    lags = []
    latest = len(due)
    for place in range(len(starts) - 1, -1, -1):
        meant = bisect_right(due, starts[place] - begun + AGREED_S) - 1
        latest = max(min(latest - 1, meant), place)
        lags.append(max(starts[place] - begun - due[latest], 0.0))
    return lags[::-1]


def _due(shape: OpenRate, count: int) -> Iterator[float]:
    """Seconds from the beginning at which requests are due, so many of them: what a tool starts beyond its schedule
    goes on at the last rate."""
    step_begins_s = accrued = 0.0
    yielded = 0
    for step in shape.steps:
        accrues = accrued + step.rate_rps * step.duration_s
        whole = math.floor(accrues + AGREED_S)
        for number in range(1, whole + 1):
            if yielded == count:
                return
            yield step_begins_s + (number - accrued) / step.rate_rps
            yielded += 1
        accrued = accrues - whole
        step_begins_s += step.duration_s
    last = shape.steps[-1]
    while yielded < count:
        accrued -= 1
        yield step_begins_s - accrued / last.rate_rps
        yielded += 1
