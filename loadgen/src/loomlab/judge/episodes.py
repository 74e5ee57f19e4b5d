"""What an open-model run shows step by step, and how a run recovers from a hang of the backend."""

import math
from statistics import median

import numpy as np

from loomlab.basics.words import percent
from loomlab.judge.halves import CpuSeconds, Parts
from loomlab.judge.interior import OF_ONE_LOAD, InteriorFigures, window_figures
from loomlab.judge.limits import ERROR_LIMIT, GROWTH_LIMIT, LONGEST_LAG_MS, RATE_LIMIT
from loomlab.judge.series import ratio
from loomlab.records.load import OpenRate
from loomlab.records.models import Episode, Hang, Step
from loomlab.records.requestlog import RequestLog, by_seconds

SETTLE_S = 2
"""Of a step's beginning; starts are known to the second."""
BACK_LIMIT = 1.2
BACK_FOR_S = 3


def steps_of(log: RequestLog, shape: OpenRate, cpu_seconds: CpuSeconds, started: float) -> list[Step]:
    """One entry per step; empty for a single rate. `started` is when the run began: where no request has a known start,
    its steps count from then."""
    if len(shape.steps) < 2:
        return []
    steps = []
    begin = math.floor(log.starts_s.min() if len(log.starts_s) else started)
    for step in shape.steps:
        first, last = begin + SETTLE_S, begin + step.duration_s - 1
        steps.append(_step(log, step.rate_rps, first, last, cpu_seconds(first, last)))
        begin += step.duration_s
    return steps


def _step(log: RequestLog, rate_rps: float, first: int, last: int, cpu_s: float | None) -> Step:
    figures = window_figures(log, first, last, rate_rps)
    errors = len(log.between(first, last).failed_start_s) + figures.unplaced
    missed = _missed(log, rate_rps, figures, errors)
    return Step(
        offered_rps=rate_rps,
        errors=errors,
        cpu_ms_per_request=ratio(cpu_s and 1000 * cpu_s, figures.window.requests),
        start=first,
        seconds=last - first,
        held=missed is None,
        missed=missed,
        **{name: getattr(figures, name) for name in OF_ONE_LOAD},
    )


def _missed(log: RequestLog, rate_rps: float, figures: InteriorFigures, errors: int) -> str | None:
    """Why the step did not hold."""
    seconds, started_rps, lag_ms = figures.window.seconds, figures.started_rps or 0.0, figures.start_lag_p99_ms or 0
    if abs(started_rps - rate_rps) > max(RATE_LIMIT * rate_rps, 1 / seconds):
        return f"{started_rps:.0f}/s were started"
    if errors > ERROR_LIMIT * max(round(started_rps * seconds), 1):
        return f"{errors} errors"
    if lag_ms > LONGEST_LAG_MS:
        return f"requests started {lag_ms / 1000:.1f} s late"
    growth = Parts(log, figures.window, wave_s=0, shortest_part_s=1).latency_fall()
    if growth and -growth.fall > max(GROWTH_LIMIT, growth.margin):
        return f"latency grew by {percent(-growth.fall)}"
    return None


def episode_of(log: RequestLog, hang: Hang, started: float) -> Episode:
    """Of a run that began at `started`, epoch seconds; requests count by the second they started in."""
    begin, end = started + hang.at_s, started + hang.at_s + hang.duration_s
    by_second = by_seconds(log.start_s, log.from_due_ms)
    medians = {second: float(np.median(latencies)) for second, latencies in by_second.items()}
    calm = [value for second, value in medians.items() if second < math.floor(begin) - 1]
    before = median(calm) if calm else None
    during = [float(latencies.max()) for second, latencies in by_second.items() if begin - 1 <= second <= end]
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
