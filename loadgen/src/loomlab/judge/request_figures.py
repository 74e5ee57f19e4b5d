"""What the requests show: figures of the interior, steps, episodes, silences, and whether it still got faster."""

import math
from dataclasses import dataclass
from typing import Any

from loomlab.judge.episodes import episode_of, steps_of
from loomlab.judge.facts import Facts
from loomlab.judge.halves import Parts
from loomlab.judge.interior import InteriorFigures, figures_of, window_figures
from loomlab.judge.limits import LAG_LIMIT, RESOLVED_LAG_MS, SLOW_P50S
from loomlab.judge.outcome import Outcome
from loomlab.records.load import Closed, OpenRate
from loomlab.records.measured import Halves
from loomlab.records.models import Interior, Latency, Step
from loomlab.records.requestlog import RequestLog, latency_figures, silences, silent_end_s


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
        return spent / self.requests if spent is not None and self.requests and self.one_load else None


def request_figures(facts: Facts, outcome: Outcome) -> tuple[dict[str, Any], Counted]:
    """Fields of Run, and what other figures are taken on; without requests of which each has data, of the whole run."""
    log, load, shape = outcome.log, facts.request.load, facts.request.load.shape
    if log is None:
        nothing = {"latency_ms": Latency(), "interior": None, "counted_requests": outcome.requests}
        return nothing, Counted(facts.start, facts.end, outcome.requests)
    duration_s = outcome.report.duration_s
    end = facts.end if duration_s is None else facts.start + duration_s
    driver = facts.driver
    figures = figures_of(log, load, facts.start, end, quotas=driver.quotas, drains=not driver.discards)
    window = figures.window if figures else None
    steps = steps_of(log, shape, facts.cpu_seconds, facts.start) if isinstance(shape, OpenRate) else []
    span = (window.start, window.start + window.seconds) if window else (facts.start, facts.end)
    counted = Counted(*span, figures.requests if figures else outcome.requests, one_load=not steps)
    p50_ms = latency_figures(log.from_due_ms).p50
    evaluated = _evaluated(log, window) if window else (facts.start, end)
    lag_ms, lagged_p99_ms = _most_lagged(log, figures, steps)
    cpu_fall, latency_fall = _falls(facts, log, figures)
    fields: dict[str, Any] = {
        "latency_ms": Latency(),
        "interior": window,
        "whole_run": bool(window and window.whole_run),
        "interior_s": window.seconds if window and not window.whole_run else None,
        "evaluated_s": window.seconds if window else None,
        "counted_requests": counted.requests,
        "missed_steps": tuple(step.offered_rps for step in steps if not step.held),
        "missed_because": tuple(step.missed or "" for step in steps if not step.held),
        "held_steps": tuple(step.offered_rps for step in steps if step.held),
        "steps": steps,
        "episodes": [episode_of(log, hang, facts.start) for hang in facts.request.hangs],
        "worst_start_lag_p99_ms": lag_ms,
        "lagged_p99_ms": lagged_p99_ms,
        "cpu_fall": cpu_fall,
        "latency_fall": latency_fall,
        "p50_ms": p50_ms,
        "silences_s": tuple(silences(log, *evaluated) if len(log) else ()),
        "slow_ms": tuple(_slow_ms(log, *evaluated, SLOW_P50S * max(p50_ms or 0, *facts.floors_ms))),
        "silent_end_s": silent_end_s(log, end) if driver.discards else 0,
    }
    if figures:
        fields |= {
            "mean_ms": figures.latency.mean,
            "p99_ms": figures.answered_p99_ms,
            "waves": figures.waves,
            "little_ratio": figures.little_ratio,
            "rounding": log.rounded_ms / 2 / (figures.latency.mean or 1),
        }
    if figures and not steps:
        fields |= {
            "started_rps": figures.started_rps,
            "throughput_rps": figures.throughput_rps,
            "latency_ms": figures.latency,
            "latency_from_start_ms": figures.latency_from_start,
            "start_lag_p99_ms": figures.start_lag_p99_ms,
        }
    return fields, counted


def _most_lagged(
    log: RequestLog, figures: InteriorFigures | None, steps: list[Step]
) -> tuple[float | None, float | None]:
    """The lag of starts at p99 and the p99 of answers; of several rates, of the step that held whose starts lagged most
    for its latency."""
    windows = [figures] if figures and not steps else []
    windows += [window_figures(log, int(step.start), int(step.start + step.seconds)) for step in steps if step.held]
    lags = [(figures.start_lag_p99_ms, figures.answered_p99_ms) for figures in windows]
    return max(
        lags, key=lambda lag: (lag[0] or 0) / max(LAG_LIMIT * (lag[1] or 0), RESOLVED_LAG_MS), default=(None, None)
    )


def _evaluated(log: RequestLog, window: Interior) -> tuple[float, float]:
    """Start and end of a window; a whole run begins with its first request, for which a tool may take seconds."""
    late = window.whole_run and len(log.starts_s)
    first = max(window.start, float(log.starts_s.min())) if late else window.start
    return first, first + window.seconds


def _slow_ms(log: RequestLog, first: float, last: float, limit_ms: float) -> list[float]:
    """What answers and failures that started between two times took, where it is more than the limit. ab rounds starts
    down to whole seconds, so the first time is rounded down, too."""
    latencies_ms = log.between(math.floor(first), last).latencies_ms
    return [float(latency_ms) for latency_ms in latencies_ms[latencies_ms > limit_ms]]


def _falls(facts: Facts, log: RequestLog, figures: InteriorFigures | None) -> tuple[Halves | None, Halves | None]:
    """Of CPU per request and of mean latency, where the load is the same throughout."""
    request, shape = facts.request, facts.request.load.shape
    closed = isinstance(shape, Closed)
    steady = closed or (isinstance(shape, OpenRate) and len(shape.steps) == 1)
    if figures is None or not figures.latency.mean or not steady or request.hangs:
        return None, None
    window = figures.window
    if figures.recorded_s:
        window = window.model_copy(update={"seconds": figures.recorded_s})
    parts = Parts(log, window, figures.latency.mean / 1000 if closed else 0)
    return parts.cpu_fall(request.load.connections if closed else None, facts.cpu_seconds), parts.latency_fall()
