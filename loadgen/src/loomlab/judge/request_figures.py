"""What the requests show: figures of the interior, steps, episodes, silences, and whether it still got faster."""

import math
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from loomlab.basics.words import percent
from loomlab.judge import limits
from loomlab.judge.facts import Facts
from loomlab.judge.halves import CpuSeconds, Parts
from loomlab.judge.interior import OF_ONE_LOAD, InteriorFigures, figures_of, window_figures
from loomlab.judge.series import ratio
from loomlab.records.load import Closed, OpenRate
from loomlab.records.measured import Halves
from loomlab.records.models import Episode, Hang, Latency, Step
from loomlab.records.requestlog import RequestLog, by_seconds, latency_figures, silences, silent_end_s

SETTLE_S = 2
"""Of a step's beginning; starts are known to the second."""
BACK_LIMIT = 1.2
BACK_FOR_S = 3


@dataclass(frozen=True)
class Counted:
    """What figures per request are of: the `requests` from `start` to `end`, epoch seconds, which are the interior's,
    or the run's where there is none; `one_load`: the load is no ladder of rates, whose figures are those of its
    steps."""

    start: float
    end: float
    requests: float | None
    one_load: bool = True

    @property
    def span(self) -> tuple[float, float]:
        return self.start, self.end

    def per_request(self, spent: float | None) -> float | None:
        """What one request took of something; None where that is not known."""
        return ratio(spent, self.requests) if self.one_load else None


def request_figures(
    facts: Facts, log: RequestLog | None, requests: int | None, duration_s: float | None
) -> tuple[dict[str, Any], Counted]:
    """Fields of Run, and what other figures are taken on; without requests of which each has data, of the whole run:
    so many, in that time."""
    driver, load, shape = facts.driver, facts.request.load, facts.request.load.shape
    counted = Counted(facts.start, facts.end, requests)
    fields: dict[str, Any] = {"latency_ms": Latency(), "interior": None, "counted_requests": counted.requests}
    if log is None:
        return fields, counted
    end = facts.start + (duration_s or 0)
    steps = steps_of(log, shape, facts.cpu_seconds, facts.start) if isinstance(shape, OpenRate) else []
    p50_ms = latency_figures(log.from_due_ms).p50
    first, last = facts.start, end
    figures = figures_of(log, load, facts.start, end, quotas=driver.quotas, drains=not driver.discards)
    if figures:
        window = figures.window
        first, last = window.start, window.start + window.seconds
        counted = Counted(first, last, figures.requests, one_load=not steps)
        if window.whole_run and len(log.starts_s):  # begins with its first request, for which a tool may take seconds
            first = max(first, float(log.starts_s.min()))
            last = first + window.seconds
        fields |= {
            "interior": window,
            "whole_run": window.whole_run,
            "interior_s": None if window.whole_run else window.seconds,
            "evaluated_s": window.seconds,
            "counted_requests": counted.requests,
            "mean_ms": figures.latency_ms.mean,
            "p99_ms": figures.answered_p99_ms,
            "waves": figures.waves,
            "little_ratio": figures.little_ratio,
            "rounding": log.rounded_ms / 2 / (figures.latency_ms.mean or 1),
            "worst_start_lag_p99_ms": figures.start_lag_p99_ms,
            "lagged_p99_ms": figures.answered_p99_ms,
            **_falls(facts, log, figures),
        }
    if figures and not steps:
        fields |= {name: getattr(figures, name) for name in OF_ONE_LOAD}
    held, missed = [step for step in steps if step.held], [step for step in steps if not step.held]
    if steps:  # that one which held and whose starts lagged most for its latency
        windows = [window_figures(log, int(step.start), int(step.start + step.seconds)) for step in held]
        lags = [(window.start_lag_p99_ms, window.answered_p99_ms) for window in windows]
        most = max(lags, key=_lag_of_limit, default=(None, None))
        fields |= {"worst_start_lag_p99_ms": most[0], "lagged_p99_ms": most[1]}
    slow_ms = limits.SLOW_P50S * max(p50_ms or 0, *facts.floors_ms)
    # ab rounds starts down to whole seconds.
    waited_ms = log.between(math.floor(first), last).latencies_ms
    return fields | {
        "missed_steps": tuple(step.offered_rps for step in missed),
        "missed_because": tuple(step.missed or "" for step in missed),
        "held_steps": tuple(step.offered_rps for step in held),
        "steps": steps,
        "episodes": [episode_of(log, hang, facts.start) for hang in facts.request.hangs],
        "p50_ms": p50_ms,
        "silences_s": tuple(silences(log, first, last) if len(log) else ()),
        "slow_ms": tuple(waited_ms[waited_ms > slow_ms].tolist()),
        "silent_end_s": silent_end_s(log, end) if driver.discards else 0,
    }, counted


def _lag_of_limit(lag: tuple[float | None, float | None]) -> float:
    """A lag of starts at p99, with the p99 of answers, as a multiple of its limit."""
    return (lag[0] or 0) / max(limits.LAG_LIMIT * (lag[1] or 0), limits.RESOLVED_LAG_MS)


def _falls(facts: Facts, log: RequestLog, figures: InteriorFigures) -> dict[str, Halves | None]:
    """Of CPU per request and of mean latency, where the load is the same throughout."""
    request, shape = facts.request, facts.request.load.shape
    closed = isinstance(shape, Closed)
    steady = closed or (isinstance(shape, OpenRate) and len(shape.steps) == 1)
    if not figures.latency_ms.mean or not steady or request.hangs:
        return {}
    seconds = figures.recorded_s or figures.window.seconds
    window = figures.window.model_copy(update={"seconds": seconds})
    parts = Parts(log, window, figures.latency_ms.mean / 1000 if closed else 0)
    connections = request.load.connections if closed else None
    return {"cpu_fall": parts.cpu_fall(connections, facts.cpu_seconds), "latency_fall": parts.latency_fall()}


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
    if abs(started_rps - rate_rps) > max(limits.RATE_LIMIT * rate_rps, 1 / seconds):
        return f"{started_rps:.0f}/s were started"
    if errors > limits.ERROR_LIMIT * max(round(started_rps * seconds), 1):
        return f"{errors} errors"
    if lag_ms > limits.LONGEST_LAG_MS:
        return f"requests started {lag_ms / 1000:.1f} s late"
    growth = Parts(log, figures.window, wave_s=0, shortest_part_s=1).latency_fall()
    if growth and -growth.fall > max(limits.GROWTH_LIMIT, growth.margin):
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
