"""Per-request data, whatever the tool: when each answered request started and how long it took."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from loomlab.records.models import Latency

type Numbers = NDArray[np.float64]
LEVELS = {"p50": 50, "p66": 66, "p75": 75, "p80": 80, "p90": 90, "p95": 95, "p98": 98, "p99": 99, "p99_9": 99.9}
"""Percentiles, by their names in `Latency`."""
_column = partial(np.empty, 0)


@dataclass(frozen=True, eq=False)
class RequestLog:
    """One entry per answered request, in any order; of failed ones as far as the tool tells (ab: only without 2xx)."""

    start_s: Numbers = field(default_factory=_column)  # epoch seconds, as exact as the tool tells them (ab: whole ones)
    latency_ms: Numbers = field(default_factory=_column)  # from the start
    unanswered: int = 0  # the connection closed before a byte of the answer; nothing more is known
    failed_start_s: Numbers = field(default_factory=_column)
    failed_latency_ms: Numbers = field(default_factory=_column)
    failures: Mapping[str, int] = field(default_factory=dict)  # the failed ones by reason
    doubtful: int = 0  # at most so many answers have bodies that may not be whole
    lag_ms: Numbers = field(default_factory=_column)  # start after it was due; empty of a tool to which nothing is due
    failed_lag_ms: Numbers = field(default_factory=_column)
    target: Numbers = field(default_factory=_column)  # its place among the load's; empty of a tool that does not tell
    failed_target: Numbers = field(default_factory=_column)
    unmarked: int = 0  # answered ones that failed, the tool does not tell which
    unsent: int = 0  # due and never started
    rounded_ms: float = 0  # latencies are told to so much (0: exactly)

    def __post_init__(self) -> None:
        for name in COLUMNS:
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))

    def __len__(self) -> int:
        return len(self.start_s)

    @classmethod
    def merged(cls, logs: "Sequence[RequestLog]") -> "RequestLog":
        """All that several load generators sent: figures of them are of pooled requests, never means of percentiles."""
        if len(logs) == 1:
            return logs[0]
        counts = ("unanswered", "doubtful", "unmarked", "unsent")
        joined: dict[str, Any] = {name: np.concatenate([getattr(log, name) for log in logs]) for name in COLUMNS}
        joined |= {name: sum(getattr(log, name) for log in logs) for name in counts}
        failures = sum((Counter(log.failures) for log in logs), Counter[str]())
        return replace(logs[0], **joined, failures=failures)

    @property
    def untimed(self) -> int:
        """How many requests of the whole run failed of which the tool does not tell when."""
        return max(self.unanswered, sum(self.failures.values()) - len(self.failed_start_s), 0)

    @property
    def starts_s(self) -> Numbers:
        return np.concatenate([self.start_s, self.failed_start_s])

    @property
    def latencies_ms(self) -> Numbers:
        return np.concatenate([self.latency_ms, self.failed_latency_ms])

    @property
    def from_due_ms(self) -> Numbers:
        """What users wait: latency from when the request was due; where nothing was, from when it started."""
        return self.latency_ms + self.lag_ms if len(self.lag_ms) else self.latency_ms

    def within(self, first: float, last: float) -> NDArray[np.bool_]:
        return (first <= self.start_s) & (self.start_s < last)

    def between(self, first: float, last: float) -> "RequestLog":
        """Those that started from `first` up to before `last`, with what is known of requests one by one."""
        return self.where(self.within(first, last), (first <= self.failed_start_s) & (self.failed_start_s < last))

    def where(self, answered: NDArray[np.bool_], failed: NDArray[np.bool_]) -> "RequestLog":
        """Those of the answered and of the failed ones, with what is known of requests one by one."""
        known = [name for name in COLUMNS if len(getattr(self, name))]
        return replace(self, **{name: getattr(self, name)[failed if "failed" in name else answered] for name in known})


COLUMNS = [each.name for each in fields(RequestLog) if each.default_factory is _column]


def rank(count: int, percent: float) -> int:
    """Nearest rank, from 1: the smallest that at least `percent` % of `count` ranks do not exceed."""
    return max(math.ceil(count * Fraction(str(percent)) / 100), 1)


def percentile(ordered: Sequence[float] | Numbers, percent: float) -> float:
    return float(ordered[rank(len(ordered), percent) - 1])


def latency_figures(latency_ms: ArrayLike) -> Latency:
    """Mean, sample standard deviation and nearest-rank percentiles of just these, in ms; all None for no request."""
    ordered = np.sort(np.asarray(latency_ms, dtype=np.float64))
    count = len(ordered)
    if not count:
        return Latency()
    return Latency(
        min=float(ordered[0]),
        mean=float(ordered.mean()),
        stdev=float(ordered.std(ddof=1)) if count > 1 else None,
        max=float(ordered[-1]),
        **{name: percentile(ordered, percent) for name, percent in LEVELS.items()},
    )


def by_seconds(start_s: Numbers, values: Numbers) -> dict[int, Numbers]:
    """The values of the requests that started in each second, in order of the seconds."""
    order = np.argsort(start_s, kind="stable")
    seconds, first = np.unique(np.floor(start_s[order]), return_index=True)
    return dict(zip(seconds.astype(int).tolist(), np.split(values[order], first)[1:], strict=True))


def _quiet(log: RequestLog, first: int, last: int) -> NDArray[np.bool_]:
    """Of each second, whether surely no answer came in it: one whose start is known to the second may be in two."""
    earliest_ms = np.floor(log.start_s) * 1000 + log.latency_ms
    answered = np.concatenate([earliest_ms // 1000, (earliest_ms + 999) // 1000]).astype(np.int64)
    return np.isin(np.arange(first, last), answered, invert=True)


def silences(log: RequestLog, first: float, last: float) -> list[int]:
    """How long each silence between two times was, in whole seconds in which surely no answer came."""
    quiet = _quiet(log, math.ceil(first), math.floor(last))
    edges = np.flatnonzero(np.diff(quiet, prepend=False, append=False))
    return [int(length) for length in edges[1::2] - edges[::2]]


def silent_end_s(log: RequestLog, end: float) -> int:
    """The silence that the run ended with, not broken by answers of the last two seconds, which end a tool's run."""
    if not len(log):
        return 0
    quiet = _quiet(log, math.floor(log.start_s.min()), int(end) - 1)
    return len(quiet) if quiet.all() else int(np.argmin(quiet[::-1]))
