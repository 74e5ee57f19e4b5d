"""How much of the time CPUs and threads were at their limit."""

import itertools
from collections.abc import Sequence

from loomlab.judge.limits import BUSY_CPU, BUSY_SECONDS_LIMIT
from loomlab.judge.series import MISSING_AFTER_S
from loomlab.judge.shares import moved
from loomlab.records.models import HostSample

Stretch = tuple[float, float]
"""Seconds between two samples, and the share of them (0 to 1) that was used."""


def full_share(stretches: Sequence[Stretch]) -> float | None:
    """Share of the time in which 95 % or more was used; of the time, not of the samples: a busy host takes them late.

    None without a stretch, and where it decides whether the share is over the limit how the use of a stretch of over
    three seconds was spread, or when what was used beyond a stretch's length was: its counter had stood still.
    """
    whole_s = sum(length_s for length_s, _ in stretches)
    if whole_s <= 0:
        return None
    full_s = sum(length_s for length_s, used in stretches if used >= BUSY_CPU)
    hidden_s = sum(
        length_s * used / BUSY_CPU for length_s, used in stretches if used < BUSY_CPU and length_s > MISSING_AFTER_S
    ) + sum(length_s * (used - 1) / BUSY_CPU for length_s, used in stretches if used > 1)
    share = full_s / whole_s
    return None if share <= BUSY_SECONDS_LIMIT < share + hidden_s / whole_s else share


def cpus_full_share(samples: Sequence[HostSample], cpus: set[str] | None) -> float | None:
    """Of the time in which every CPU of the set was full. Idle and iowait are not busy, steal is. None without samples
    of these CPUs that moved, and as `full_share`."""
    stretches: list[Stretch] = []
    names = {name for sample in samples for name in sample.cpus} if cpus is None else cpus
    for before, after in itertools.pairwise(moved(samples, names)):
        both = names & before.cpus.keys() & after.cpus.keys()
        busy = [_busy(before.cpus[name], after.cpus[name]) for name in both]
        if busy:
            stretches.append((after.time - before.time, min(busy)))
    return full_share(stretches)


def _busy(before: list[int], after: list[int]) -> float:
    spent = [new - old for old, new in zip(before, after, strict=True)]
    total = sum(spent)
    return 1 - (spent[3] + spent[4]) / total if total > 0 else 0.0


def busiest_thread_full_share(samples: Sequence[HostSample]) -> float | None:
    """Of the time in which one thread of the tool used a whole CPU; None as `full_share`."""
    stretches: list[Stretch] = []
    for before, after in itertools.pairwise(samples):
        shares = [
            (after.tool_threads[thread] - spent) / (after.time - before.time)
            for thread, spent in before.tool_threads.items()
            if thread in after.tool_threads and after.time > before.time
        ]
        if shares:
            stretches.append((after.time - before.time, max(shares)))
    return full_share(stretches)
