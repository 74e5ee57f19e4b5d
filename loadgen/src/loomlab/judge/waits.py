"""How long the threads of the load generator were ready and had no CPU: what an answer waits to be seen."""

import itertools
from collections.abc import Sequence

from loomlab.records.models import HostSample


def waits_ms(samples: Sequence[HostSample], start: float, end: float) -> tuple[float | None, float | None]:
    """(mean, p99) of the wait for a CPU, in ms: that of all, and the mean of a second beyond which no more than 1 % of
    them lay. From `start` to `end`, epoch seconds; None where the kernel tells nothing."""
    seconds = [
        _grown(before, after)
        for before, after in itertools.pairwise(samples)
        if start <= before.time and after.time <= end and before.tool_waits and after.tool_waits
    ]
    counted = sorted((waited_s / slices, slices) for waited_s, slices in seconds if slices)
    total = sum(slices for _, slices in counted)
    if not total:
        return None, None
    mean_s = sum(mean * slices for mean, slices in counted) / total
    seen = 0
    for mean, slices in counted:
        seen += slices
        if seen >= 0.99 * total:
            return 1000 * mean_s, 1000 * mean
    return 1000 * mean_s, 1000 * counted[-1][0]


def _grown(before: HostSample, after: HostSample) -> tuple[float, int]:
    """Of the threads that were there at both ends."""
    old, new = before.tool_waits or {}, after.tool_waits or {}
    both = old.keys() & new.keys()
    return sum(new[name][0] - old[name][0] for name in both), sum(new[name][1] - old[name][1] for name in both)
