"""Per-request data, whatever the tool: when each answered request started and how long it took."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from loomlab.records.models import Latency

LEVELS = {"p50": 50, "p66": 66, "p75": 75, "p80": 80, "p90": 90, "p95": 95, "p98": 98, "p99": 99, "p99_9": 99.9}
"""Percentiles, by their names in `Latency`."""


@dataclass(frozen=True)
class RequestLog:
    """One entry per answered request, in any order; of the failed ones, one entry each in the `failed_` fields as far
    as the tool tells (ab lists answers other than 2xx among the answered).

    `start_s` is the epoch second of the start, as exact as the tool tells it (ab rounds it down to whole ones);
    `latency_ms` begins there. `lag_ms` is how long after it was due each answered request started, and
    `failed_lag_ms` each failed one; empty of a tool to which nothing is ever due. `unanswered` counts requests
    whose connection closed before a byte of the answer, of which nothing more is known; `failures` are the failed ones
    by reason. `unmarked` of the answered failed, the tool does not tell which; `unsent` were due and never started. At
    most so many answers are `doubtful`: their bodies may not be whole. Latencies are told to `rounded_ms` (0: exactly).
    """

    start_s: Sequence[float]
    latency_ms: Sequence[float]
    unanswered: int = 0
    failed_start_s: Sequence[float] = ()
    failed_latency_ms: Sequence[float] = ()
    failures: Mapping[str, int] = field(default_factory=dict)
    doubtful: int = 0
    lag_ms: Sequence[float] = ()
    failed_lag_ms: Sequence[float] = ()
    unmarked: int = 0
    unsent: int = 0
    rounded_ms: float = 0

    def __len__(self) -> int:
        return len(self.start_s)

    @property
    def untimed(self) -> int:
        """How many requests of the whole run failed of which the tool does not tell when."""
        return max(self.unanswered, sum(self.failures.values()) - len(self.failed_start_s), 0)

    @property
    def from_due_ms(self) -> Sequence[float]:
        """What users wait: latency from when the request was due; where nothing was, from when it started."""
        if not self.lag_ms:
            return self.latency_ms
        return [latency + lag for latency, lag in zip(self.latency_ms, self.lag_ms, strict=True)]

    def within(self, first: float, last: float, values: Sequence[float]) -> list[float]:
        """Of the answered requests that started from `first` up to before `last`, the values."""
        return [value for start, value in zip(self.start_s, values, strict=True) if first <= start < last]

    def between(self, first: float, last: float) -> "RequestLog":
        """Those that started from `first` up to before `last`, with what is known of requests one by one."""
        failed = [place for place, start in enumerate(self.failed_start_s) if first <= start < last]
        return replace(
            self,
            start_s=self.within(first, last, self.start_s),
            latency_ms=self.within(first, last, self.latency_ms),
            lag_ms=self.within(first, last, self.lag_ms) if self.lag_ms else (),
            failed_start_s=[self.failed_start_s[place] for place in failed],
            failed_latency_ms=[self.failed_latency_ms[place] for place in failed],
            failed_lag_ms=[self.failed_lag_ms[place] for place in failed] if self.failed_lag_ms else (),
        )


def rank(count: int, percent: float) -> int:
    """Nearest rank, from 1: the smallest that at least `percent` % of `count` ranks do not exceed."""
    return max(math.ceil(count * Fraction(str(percent)) / 100), 1)


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The value of `ordered` (ascending) at the nearest rank."""
    return ordered[rank(len(ordered), percent) - 1]


def latency_figures(latency_ms: Sequence[float]) -> Latency:
    """Mean, sample standard deviation and nearest-rank percentiles of just these, in ms; all None for no request."""
    if not latency_ms:
        return Latency()
    ordered = sorted(latency_ms)
    count = len(ordered)
    total = sum(ordered)
    squares = sum(value * value for value in ordered)
    variance = (squares - total * total / count) / (count - 1) if count > 1 else None
    return Latency(
        min=ordered[0],
        mean=total / count,
        stdev=None if variance is None else max(variance, 0.0) ** 0.5,
        max=ordered[-1],
        **{name: percentile(ordered, percent) for name, percent in LEVELS.items()},
    )


def _answered(log: RequestLog) -> set[int]:
    """Seconds in which an answer may have come: some starts are known to the second only, so an answer is taken to fill
    both seconds it may be in."""
    answered: set[int] = set()
    for start_s, latency_ms in zip(log.start_s, log.latency_ms, strict=True):
        earliest_ms = math.floor(start_s) * 1000 + latency_ms
        answered.add(int(earliest_ms // 1000))
        answered.add(int((earliest_ms + 999) // 1000))
    return answered


def silences(log: RequestLog, first: float, last: float) -> list[int]:
    """How long each silence between two times was, in whole seconds in which surely no answer came."""
    answered = _answered(log)
    found, current = [], 0
    for second in range(math.ceil(first), math.floor(last)):
        if second not in answered:
            current += 1
        elif current:
            found.append(current)
            current = 0
    return [*found, current] if current else found


def silent_end_s(log: RequestLog, end: float) -> int:
    """The silence that the run ended with. A tool with a time limit ends at the first event after it, so answers of the
    last two seconds before `end` do not break it."""
    if not log:
        return 0
    answered = _answered(log)
    trailing = 0
    for second in range(int(end) - 2, math.floor(min(log.start_s)) - 1, -1):
        if second in answered:
            break
        trailing += 1
    return trailing
