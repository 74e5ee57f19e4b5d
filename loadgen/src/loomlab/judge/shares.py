"""Where the time of a set of CPUs went: to the lab, to others, to interrupts, to other machines."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from loomlab.judge.series import MISSING_AFTER_S
from loomlab.records.models import HostSample

USER, NICE, SYSTEM, IRQ, SOFTIRQ, STEAL = 0, 1, 2, 5, 6, 7
"""Columns of /proc/stat (proc_stat(5))."""
COVERED, SHORTEST_S = 0.9, 1


@dataclass(frozen=True)
class CpuShares:
    """Of the set's time (0 to 1): `busy` without interrupts, `interrupts`, and `steal`, which the hypervisor gave to
    other machines; `cpu_seconds` are all that the set of `cpus` had."""

    busy: float
    interrupts: float
    steal: float
    cpu_seconds: float
    cpus: int

    @property
    def stolen_of_needed(self) -> float:
        """Of the time in which something ran on the set or should have run."""
        needed = self.busy + self.interrupts + self.steal
        return self.steal / needed if needed else 0.0


def shares_of(samples: Sequence[HostSample], cpus: set[str] | None, start: float, end: float) -> CpuShares | None:
    """From `start` to `end`, epoch seconds, interpolated between samples; None where these leave out over a tenth, or
    over three seconds at either end."""
    if not samples:
        return None
    asked_s = end - start
    start, end = max(start, samples[0].time), min(end, samples[-1].time)
    if end - start < max(COVERED * asked_s, SHORTEST_S):
        return None
    spent = [0.0] * (STEAL + 1)
    names = samples[0].cpus.keys() if cpus is None else cpus
    for name in names:
        first, last = _at(samples, name, start), _at(samples, name, end)
        if first is None or last is None:
            return None
        spent = [total + after - before for total, before, after in zip(spent, first, last, strict=True)]
    total = sum(spent)
    if total <= 0:
        return None
    return CpuShares(
        busy=(spent[USER] + spent[NICE] + spent[SYSTEM]) / total,
        interrupts=(spent[IRQ] + spent[SOFTIRQ]) / total,
        steal=spent[STEAL] / total,
        cpu_seconds=(end - start) * len(names),
        cpus=len(names),
    )


def moved(samples: Sequence[HostSample], names: set[str]) -> list[HostSample]:
    """The samples without those in which a CPU's counters stand as they did before, which says nothing of it."""
    kept: list[HostSample] = []
    for sample in samples:
        both = names & sample.cpus.keys() & kept[-1].cpus.keys() if kept else set()
        if all(sum(sample.cpus[name]) != sum(kept[-1].cpus[name]) for name in both):
            kept.append(sample)
    return kept


def _at(samples: Sequence[HostSample], name: str, time: float) -> list[float] | None:
    """The CPU's counters at that time; None beyond the samples that moved, and in a hole between them."""
    known = moved([sample for sample in samples if name in sample.cpus], {name})
    place = bisect_left(known, time, key=lambda sample: sample.time)
    if place < len(known) and known[place].time == time:
        return [float(value) for value in known[place].cpus[name]]
    if place in {0, len(known)}:
        return None
    before, after = known[place - 1], known[place]
    if after.time - before.time > MISSING_AFTER_S:
        return None
    part = (time - before.time) / (after.time - before.time)
    pairs = zip(before.cpus[name], after.cpus[name], strict=True)
    return [old + part * (new - old) for old, new in pairs]
