"""What an open-model run shows step by step, and how a run recovers from a hang of the backend."""

import math
from collections.abc import Callable
from statistics import median

import numpy as np

from loomlab.basics.words import percent
from loomlab.judge.halves import Parts
from loomlab.judge.interior import InteriorFigures, window_figures
from loomlab.judge.limits import ERROR_LIMIT, GROWTH_LIMIT, LONGEST_LAG_MS, RATE_LIMIT
from loomlab.records.load import OpenRate, RateStep
from loomlab.records.models import Episode, Hang, Step
from loomlab.records.requestlog import RequestLog, by_seconds

SETTLE_S = 2
"""Of a step's beginning; starts are known to the second."""
BACK_LIMIT = 1.2
BACK_FOR_S = 3


CpuSeconds = Callable[[float, float], float | None]


def steps_of(log: RequestLog, shape: OpenRate, cpu_seconds: CpuSeconds, started: float) -> list[Step]:
    """One entry per step; empty for a single rate. `cpu_seconds` are the approach's between two times, `started` is
    when the run began: where no request has a known start, its steps count from then."""
    if len(shape.steps) < 2:
        return []
    steps = []
    begin = math.floor(log.starts_s.min() if len(log.starts_s) else started)
    for step in shape.steps:
        steps.append(_step(log, step, begin + SETTLE_S, begin + step.duration_s - 1, cpu_seconds))
        begin += step.duration_s
    return steps


def _step(log: RequestLog, step: RateStep, first: int, last: int, cpu_seconds: CpuSeconds) -> Step:
    last = max(last, first + 1)
    figures = window_figures(log, first, last, step.rate_rps)
    errors = len(log.between(first, last).failed_start_s) + figures.unplaced
    started_rps = figures.started_rps or 0.0
    missed = _missed(step, started_rps, errors, figures, log)
    spent_s = cpu_seconds(first, last)
    answered = figures.window.requests
    return Step(
        offered_rps=step.rate_rps,
        started_rps=started_rps,
        throughput_rps=figures.throughput_rps,
        errors=errors,
        latency_ms=figures.latency,
        latency_from_start_ms=figures.latency_from_start,
        start_lag_p99_ms=figures.start_lag_p99_ms,
        cpu_ms_per_request=1000 * spent_s / answered if spent_s is not None and answered else None,
        start=first,
        seconds=last - first,
        held=missed is None,
        missed=missed,
    )


def _missed(step: RateStep, started_rps: float, errors: int, figures: InteriorFigures, log: RequestLog) -> str | None:
    """Why the step did not hold."""
    if abs(started_rps - step.rate_rps) > max(RATE_LIMIT * step.rate_rps, 1 / figures.window.seconds):
        return f"{started_rps:.0f}/s were started"
    if errors > ERROR_LIMIT * max(round(started_rps * figures.window.seconds), 1):
        return f"{errors} errors"
    if (figures.start_lag_p99_ms or 0) > LONGEST_LAG_MS:
        return f"requests started {(figures.start_lag_p99_ms or 0) / 1000:.1f} s late"
    growth = Parts(log, figures.window, wave_s=0, shortest_part_s=1).latency_fall()
    if growth and -growth.fall > GROWTH_LIMIT and -growth.fall > growth.margin:
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
