"""What an open-model run shows step by step, and how a run recovers from a hang of the backend."""

import math
from collections import defaultdict
from statistics import median

from loomlab.judge.interior import window_figures
from loomlab.judge.limits import ERROR_LIMIT, RATE_LIMIT
from loomlab.records.load import OpenRate
from loomlab.records.models import Episode, Hang, Step
from loomlab.records.requestlog import RequestLog

SETTLE_S = 2
"""Of a step's beginning; starts are known to the second."""
BACK_LIMIT = 1.2
BACK_FOR_S = 3


def steps_of(log: RequestLog, shape: OpenRate) -> list[Step]:
    """One entry per step that is long enough to be seen; empty for a single rate."""
    starts = [*log.start_s, *log.failed_start_s]
    if len(shape.steps) < 2 or not starts:
        return []
    found = []
    begin = min(starts)
    for step in shape.steps:
        first, last = begin + SETTLE_S, begin + step.duration_s - 1
        begin += step.duration_s
        if last <= first:
            continue
        figures = window_figures(log, first, last)
        errors = sum(first <= start < last for start in log.failed_start_s)
        started_rps = figures.started_rps or 0.0
        begun = round(started_rps * (last - first))
        reached = abs(started_rps - step.rate_rps) <= RATE_LIMIT * step.rate_rps
        found.append(
            Step(
                offered_rps=step.rate_rps,
                started_rps=started_rps,
                throughput_rps=figures.throughput_rps,
                errors=errors,
                latency_ms=figures.latency,
                start=first,
                seconds=last - first,
                held=reached and errors <= ERROR_LIMIT * max(begun, 1),
            )
        )
    return found


def episode_of(log: RequestLog, hang: Hang, started: float) -> Episode:
    """Of a run that began at `started`, epoch seconds; requests count by the second they started in."""
    begin, end = started + hang.at_s, started + hang.at_s + hang.duration_s
    by_second: dict[int, list[float]] = defaultdict(list)
    for start, latency in zip(log.start_s, log.latency_ms, strict=True):
        by_second[start].append(latency)
    medians = {second: median(latencies) for second, latencies in by_second.items()}
    calm = [value for second, value in medians.items() if second < math.floor(begin) - 1]
    before = median(calm) if calm else None
    during = [max(latencies) for second, latencies in by_second.items() if begin - 1 <= second <= end]
    return Episode(
        start=begin,
        end=end,
        before_p50_ms=before,
        worst_ms=max(during, default=None),
        recovery_s=None if before is None else _recovery_s(medians, end, BACK_LIMIT * before),
    )


def _recovery_s(medians: dict[int, float], end: float, limit_ms: float) -> float | None:
    """The first of three seconds on end whose median is within the limit."""
    for second in sorted(second for second in medians if second >= math.floor(end)):
        if all(medians.get(second + later, math.inf) <= limit_ms for later in range(BACK_FOR_S)):
            return max(second - end, 0.0)
    return None
