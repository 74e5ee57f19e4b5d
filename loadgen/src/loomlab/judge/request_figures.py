"""What the requests show: figures of the interior, steps, episodes, silences, and whether it still got faster."""

import math
from dataclasses import dataclass, replace
from typing import Any

from loomlab.judge.episodes import episode_of, steps_of
from loomlab.judge.facts import Facts
from loomlab.judge.halves import Parts
from loomlab.judge.interior import InteriorFigures, figures_of, window_figures
from loomlab.judge.limits import LAG_LIMIT, RESOLVED_LAG_MS, SLOW_P50S
from loomlab.judge.outcome import Outcome
from loomlab.records.evidence import Halves
from loomlab.records.load import Closed, OpenRate
from loomlab.records.models import Episode, Interior, Latency, Step
from loomlab.records.requestlog import RequestLog, latency_figures, silences, silent_end_s


@dataclass(frozen=True)
class Lagged:
    """At p99: how late requests started, and how long the answered ones took."""

    lag_ms: float | None
    p99_ms: float | None


@dataclass(frozen=True)
class RequestFigures:
    """`figures` are None where no request has data of its own; by a share `rounding` their mean latency may be off."""

    figures: InteriorFigures | None
    whole: Latency
    steps: list[Step]
    episodes: list[Episode]
    cpu_fall: Halves | None
    latency_fall: Halves | None
    silences_s: list[int]
    slow_ms: list[float]
    silent_end_s: int
    lagged: Lagged | None = None
    rounding: float = 0.0

    def span(self, facts: Facts) -> tuple[float, float]:
        """Start and end of the interior; of the run where there is none."""
        if self.figures is None:
            return facts.start, facts.end
        window = self.figures.window
        return window.start, window.start + window.seconds

    def counted(self, outcome: Outcome) -> float | None:
        """The requests of that span, which figures per request are of."""
        return self.figures.requests if self.figures else outcome.attempted

    def evidence(self, outcome: Outcome) -> dict[str, Any]:
        """Fields of Evidence."""
        figures, lagged = self.figures, self.lagged
        window = figures.window if figures else None
        return {
            "throughput_rps": figures.throughput_rps if figures else None,
            "started_rps": figures.started_rps if figures else None,
            "missed_steps": tuple(step.offered_rps for step in self.steps if not step.held),
            "missed_because": tuple(step.missed or "" for step in self.steps if not step.held),
            "held_steps": tuple(step.offered_rps for step in self.steps if step.held),
            "little_ratio": figures.little_ratio if figures else None,
            "rounding": self.rounding,
            "silent_end_s": self.silent_end_s,
            "silences_s": tuple(self.silences_s),
            "slow_ms": tuple(self.slow_ms),
            "p50_ms": self.whole.p50,
            "mean_ms": figures.latency.mean if figures else None,
            "p99_ms": figures.answered_p99_ms if figures else None,
            "start_lag_p99_ms": lagged.lag_ms if lagged else None,
            "lagged_p99_ms": lagged.p99_ms if lagged else None,
            "whole_run": bool(window and window.whole_run),
            "interior_s": window.seconds if window and not window.whole_run else None,
            "evaluated_s": window.seconds if window else None,
            "waves": figures.waves if figures else None,
            "counted_requests": self.counted(outcome),
            "cpu_fall": self.cpu_fall,
            "latency_fall": self.latency_fall,
        }

    def published(self) -> dict[str, Any]:
        """Fields of run.json; a run of several rates has no throughput and no latency of its own."""
        figures = self.figures
        one = figures if not self.steps else None
        return {
            "started_rps": one.started_rps if one else None,
            "throughput_rps": one.throughput_rps if one else None,
            "latency_ms": one.latency if one else Latency(),
            "latency_from_start_ms": one.latency_from_start if one else None,
            "start_lag_p99_ms": one.start_lag_p99_ms if one else None,
            "waves": figures.waves if figures else None,
            "little_ratio": figures.little_ratio if figures else None,
            "cpu_fall": self.cpu_fall,
            "latency_fall": self.latency_fall,
            "steps": self.steps,
            "episodes": self.episodes,
            "interior": figures.window if figures else None,
        }


def request_figures(facts: Facts, outcome: Outcome) -> RequestFigures:
    """Of a run whose requests have data of their own; nothing of another one."""
    request = facts.request
    if outcome.log is None:
        return RequestFigures(None, Latency(), [], [], None, None, [], [], 0)
    log = replace(outcome.log, unmarked=outcome.unmarked, unsent=outcome.report.dropped or 0)
    took_s = outcome.report.duration_s
    end = facts.end if took_s is None else facts.start + took_s
    figures = figures_of(
        log, request.load, facts.start, end, quotas=facts.driver.quotas, drains=not facts.driver.discards
    )
    whole = latency_figures(log.from_due_ms)
    window = figures.window if figures else None
    span = _evaluated(log, window) if window else (facts.start, end)
    cpu_fall, latency_fall = _falls(facts, log, figures)
    shape = request.load.shape

    def cpu_seconds(first: float, last: float) -> float | None:
        return facts.metrics.cpu_seconds(request.approach, first, last)

    steps = steps_of(log, shape, cpu_seconds, facts.start) if isinstance(shape, OpenRate) else []
    return RequestFigures(
        figures=figures,
        whole=whole,
        steps=steps,
        episodes=[episode_of(log, hang, facts.start) for hang in request.hangs],
        cpu_fall=cpu_fall,
        latency_fall=latency_fall,
        silences_s=silences(log, *span) if len(log) else [],
        slow_ms=_slow_ms(log, *span, SLOW_P50S * max(whole.p50 or 0, *facts.floors_ms)),
        silent_end_s=silent_end_s(log, end) if facts.driver.discards else 0,
        lagged=_most_lagged(log, figures, steps),
        rounding=log.rounded_ms / 2 / (figures.latency.mean or 1) if figures else 0.0,
    )


def _most_lagged(log: RequestLog, figures: InteriorFigures | None, steps: list[Step]) -> Lagged | None:
    """Of several rates, the step that held whose starts lagged most, by its latency."""
    if not steps:
        return Lagged(figures.start_lag_p99_ms, figures.answered_p99_ms) if figures else None
    found = [window_figures(log, int(step.start), int(step.start + step.seconds)) for step in steps if step.held]
    held = [Lagged(one.start_lag_p99_ms, one.answered_p99_ms) for one in found]
    return max(
        held, key=lambda one: (one.lag_ms or 0) / max(LAG_LIMIT * (one.p99_ms or 0), RESOLVED_LAG_MS), default=None
    )


def _evaluated(log: RequestLog, window: Interior) -> tuple[float, float]:
    """Start and end of a window; a whole run begins with its first request, for which a tool may take seconds."""
    late = window.whole_run and len(log.starts_s)
    first = max(window.start, float(log.starts_s.min())) if late else window.start
    return first, first + window.seconds


def _slow_ms(log: RequestLog, first: float, last: float, limit_ms: float) -> list[float]:
    """What answers and failures that started between two times took, where it is more than the limit. ab rounds starts
    down to whole seconds, so the first time is rounded down, too."""
    took = log.between(math.floor(first), last).latencies_ms
    slow: list[float] = took[took > limit_ms].tolist()
    return slow


def _falls(facts: Facts, log: RequestLog, figures: InteriorFigures | None) -> tuple[Halves | None, Halves | None]:
    """Of CPU per request and of mean latency, where the load is the same throughout."""
    request, shape = facts.request, facts.request.load.shape
    steady = isinstance(shape, Closed) or (isinstance(shape, OpenRate) and len(shape.steps) == 1)
    if figures is None or not figures.latency.mean or not steady or request.hangs:
        return None, None
    window = figures.window
    if figures.recorded_s:
        window = window.model_copy(update={"seconds": figures.recorded_s})
    parts = Parts(log, window, figures.latency.mean / 1000 if isinstance(shape, Closed) else 0)
    connections = request.load.connections if isinstance(shape, Closed) else None

    def cpu_seconds(first: float, last: float) -> float | None:
        return facts.metrics.cpu_seconds(request.approach, first, last)

    return parts.cpu_fall(connections, cpu_seconds), parts.latency_fall()
