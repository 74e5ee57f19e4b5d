"""How long the threads of the load generator were ready and had no CPU: what an answer waits to be seen."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loomlab.judge.limits import METRICS_MISSING_LIMIT
from loomlab.judge.series import missing_share
from loomlab.records.models import HostSample


@dataclass(frozen=True)
class Waits:
    """In ms, each second counted alike, for a tool that gets no CPU has few turns: the mean of what a turn waited, and
    what it waited on average in the worst hundredth of the seconds. None where nothing was recorded."""

    mean_ms: float | None = None
    p99_ms: float | None = None


def told(samples: Sequence[HostSample]) -> bool:
    """Whether this kernel tells of waits."""
    return any(sample.tool_waits for sample in samples)


def waits_of(samples: Sequence[HostSample], start: float, end: float) -> Waits:
    """From `start` to `end`, epoch seconds; nothing where over a tenth of it is in holes between the samples."""
    inside = [sample for sample in samples if start <= sample.time <= end and sample.tool_waits]
    seconds = sorted(_turns(inside))
    counted_s = sum(length_s for _, length_s in seconds)
    if not counted_s or missing_share([sample.time for sample in inside], start, end) > METRICS_MISSING_LIMIT:
        return Waits()
    mean_s = sum(wait_s * length_s for wait_s, length_s in seconds) / counted_s
    worst, left_s = 0.0, counted_s / 100
    for wait_s, length_s in reversed(seconds):
        worst += wait_s * min(length_s, left_s)
        left_s -= min(length_s, left_s)
    return Waits(1000 * mean_s, 1000 * worst / (counted_s / 100))


def _turns(samples: Sequence[HostSample]) -> Iterator[tuple[float, float]]:
    """(mean wait of a turn, length) of each stretch between samples in which there was a turn."""
    begun = waited_s = 0.0
    turns = 0
    for before, after in itertools.pairwise(samples):
        begun = begun or before.time
        more_s, more = _grown(before, after)
        waited_s, turns = waited_s + more_s, turns + more
        if turns:
            yield waited_s / turns, after.time - begun
            begun, waited_s, turns = 0.0, 0.0, 0


def _grown(before: HostSample, after: HostSample) -> tuple[float, int]:
    """Of the threads that were there at both ends."""
    old, new = before.tool_waits or {}, after.tool_waits or {}
    both = old.keys() & new.keys()
    return sum(new[name][0] - old[name][0] for name in both), sum(new[name][1] - old[name][1] for name in both)
