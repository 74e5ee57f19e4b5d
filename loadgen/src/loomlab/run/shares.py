"""Where the time of CPUs went, by samples of /proc/stat. Times are epoch seconds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from loomlab.records.models import HostSample
from loomlab.records.requestlog import Numbers
from loomlab.run.process import IRQ, NICE, SOFTIRQ, STEAL, SYSTEM, USER

STOLEN_LIMIT = 0.05  # of the time in which an approach's CPUs were needed
MISSING_AFTER_S = 3.0
"""A gap between samples longer than this is missing data: three of the scrapes, which come once a second."""
COVERED, SHORTEST_S = 0.9, 1
type Span = tuple[float, float]  # its start and its end


class CpuShares(NamedTuple):
    """Where the time of a set of `cpus` went, as shares of it, and the `cpu_seconds` that it had."""

    busy: float  # without interrupts
    interrupts: float
    steal: float  # what the hypervisor gave to other machines
    cpu_seconds: float
    cpus: int

    @property
    def needed(self) -> float:
        return self.busy + self.interrupts + self.steal

    @property
    def stolen_of_needed(self) -> float:
        return self.steal / self.needed if self.needed else 0.0


def shares_of(samples: Sequence[HostSample], cpus: set[str] | None, spans: Sequence[Span]) -> CpuShares | None:
    """Shares of some stretches of time together; None where they are not known of one."""
    known = [shares for span in spans if (shares := _shares_of(samples, cpus, *span))]
    if len(known) < len(spans) or not known:
        return None
    weights = [one.cpu_seconds for one in known]
    busy, interrupts, steal = np.average([one[:3] for one in known], axis=0, weights=weights).tolist()
    return CpuShares(busy, interrupts, steal, sum(weights), known[0].cpus)


def _shares_of(samples: Sequence[HostSample], cpus: set[str] | None, start: float, end: float) -> CpuShares | None:
    """Shares between two times; None where samples leave out over a tenth, or over three seconds at either end."""
    times, counters = moved(samples, cpus)
    if not len(times):
        return None
    first_s, last_s = max(start, samples[0].time), min(end, samples[-1].time)
    if last_s - first_s < max(COVERED * (end - start), SHORTEST_S):
        return None
    for time in (first_s, last_s):
        after = int(np.searchsorted(times, time))
        in_hole = 0 < after < len(times) and times[after] != time and times[after] - times[after - 1] > MISSING_AFTER_S
        if in_hole or not times[0] <= time <= times[-1]:
            return None
    spent = np.array([np.diff(np.interp((first_s, last_s), times, column))[0] for column in counters.sum(axis=1).T])
    if spent.sum() <= 0:
        return None
    share = (spent / spent.sum()).tolist()
    return CpuShares(
        busy=share[USER] + share[NICE] + share[SYSTEM],
        interrupts=share[IRQ] + share[SOFTIRQ],
        steal=share[STEAL],
        cpu_seconds=(last_s - first_s) * counters.shape[1],
        cpus=counters.shape[1],
    )


def moved(samples: Sequence[HostSample], cpus: set[str] | None) -> tuple[Numbers, Numbers]:
    """Times, and counters by time, CPU and column, of the samples in which those of each CPU of the set moved."""
    names = [*(samples[0].cpus if cpus is None and samples else cpus or ())]
    known = [sample for sample in samples if names and sample.cpus.keys() >= {*names}]
    counters = np.array([[sample.cpus[name] for name in names] for sample in known], dtype=np.float64)
    counters = counters.reshape(len(known), len(names), STEAL + 1)
    moved: list[int] = []
    for place, spent in enumerate(totals := counters.sum(axis=2)):
        if not moved or (spent != totals[moved[-1]]).all():
            moved.append(place)
    return np.array([sample.time for sample in known])[moved], counters[moved]
