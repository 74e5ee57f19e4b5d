"""How much of the time CPUs and threads were at their limit, by the samples of raw/host.json."""

import itertools

from loomlab.records.models import HostSample


def full_share(samples: list[HostSample], cpus: set[str] | None, threshold: float) -> float | None:
    """Share of the sampled time in which every CPU of the set was busy to `threshold` (0 to 1) or more.

    Idle and iowait are not busy, steal is. None without samples of these CPUs.
    """
    verdicts: list[tuple[float, bool]] = []
    for before, after in itertools.pairwise(samples):
        names = after.cpus.keys() if cpus is None else cpus
        busy = [_busy(before.cpus[name], after.cpus[name]) for name in names if name in before.cpus.keys() & after.cpus]
        if busy:
            verdicts.append((after.time - before.time, min(busy) >= threshold))
    return _share(verdicts)


def _share(verdicts: list[tuple[float, bool]]) -> float | None:
    """Of the time, not of the samples: a busy host takes them late."""
    whole_s = sum(length_s for length_s, _ in verdicts)
    return sum(length_s for length_s, full in verdicts if full) / whole_s if whole_s > 0 else None


def _busy(before: list[int], after: list[int]) -> float:
    spent = [new - old for old, new in zip(before, after, strict=True)]
    total = sum(spent)
    return 1 - (spent[3] + spent[4]) / total if total > 0 else 0.0


def busiest_thread_full_share(samples: list[HostSample], threshold: float) -> float | None:
    """Share of the sampled time in which one thread of the tool used `threshold` of a CPU or more."""
    verdicts: list[tuple[float, bool]] = []
    for before, after in itertools.pairwise(samples):
        shares = [
            (after.tool_threads[thread] - spent) / (after.time - before.time)
            for thread, spent in before.tool_threads.items()
            if thread in after.tool_threads and after.time > before.time
        ]
        if shares:
            verdicts.append((after.time - before.time, max(shares) >= threshold))
    return _share(verdicts)
