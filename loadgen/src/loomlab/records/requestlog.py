"""Per-request data, whatever the tool: when each answered request started and how long it took."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loomlab.records.models import Latency

PERCENTILES = (50, 66, 75, 80, 90, 95, 98, 99)


@dataclass(frozen=True)
class RequestLog:
    """One entry per answered request, in any order; of the failed ones, one entry each in the `failed_` fields as far
    as the tool tells (ab lists answers other than 2xx among the answered).

    `start_s` is the epoch second of the start, rounded down (all that ab tells); `unanswered` counts
    requests whose connection closed before a byte of the answer, of which nothing more is known; `failures` are the
    failed ones by reason.
    """

    start_s: Sequence[int]
    latency_ms: Sequence[float]
    unanswered: int = 0
    failed_start_s: Sequence[int] = ()
    failed_latency_ms: Sequence[float] = ()
    failures: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.start_s)


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Nearest rank: the smallest value that at least `percent` % of `ordered` (ascending) do not exceed."""
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(int(rank), 1) - 1]


def latency_figures(latency_ms: Sequence[float]) -> Latency:
    """Mean, sample standard deviation and nearest-rank percentiles, in ms; all None for no request."""
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
        **{f"p{percent}": percentile(ordered, percent) for percent in PERCENTILES},
    )


def silent_gaps(log: RequestLog, end: float) -> tuple[int, int]:
    """(the longest silence anywhere, the silence the run ended with), in whole seconds in which surely no
    answer came: starts are known to the second only, so an answer is taken to fill both seconds it may be in.

    A tool with a time limit ends at the first event after it, so answers of the last two seconds before `end`
    do not break the silence the run ended with.
    """
    if not log:
        return 0, 0
    answered: set[int] = set()
    for start_s, latency_ms in zip(log.start_s, log.latency_ms, strict=True):
        earliest_ms = start_s * 1000 + latency_ms
        answered.add(int(earliest_ms // 1000))
        answered.add(int((earliest_ms + 999) // 1000))
    first = min(log.start_s)
    last = int(end)
    longest = current = 0
    for second in range(first, last):
        current = 0 if second in answered else current + 1
        longest = max(longest, current)
    trailing = 0
    for second in range(last - 2, first - 1, -1):
        if second in answered:
            break
        trailing += 1
    return longest, trailing
