"""How the time of CPUs and threads was spent, from the samples of /proc that were taken during a run."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from loomlab.judge.limits import BUSY_CPU, BUSY_SECONDS_LIMIT, METRICS_MISSING_LIMIT
from loomlab.judge.series import MISSING_AFTER_S, missing_share
from loomlab.records.models import HostSample
from loomlab.records.requestlog import Numbers
from loomlab.run.hoststat import IDLE, IOWAIT, IRQ, NICE, SOFTIRQ, STEAL, SYSTEM, USER

COVERED, SHORTEST_S = 0.9, 1

type Stretch = tuple[float, float]  # seconds between two samples, and the share of them (0 to 1) that was used


def full_share(stretches: Sequence[Stretch]) -> float | None:
    """Share of the time in which 95 % or more was used; None where that depends on the inside of long stretches."""
    length_s, used = np.array(stretches, dtype=np.float64).reshape(-1, 2).T
    if length_s.sum() <= 0:
        return None
    spread = np.where((used < BUSY_CPU) & (length_s > MISSING_AFTER_S), used, np.maximum(used - 1, 0))
    share = length_s[used >= BUSY_CPU].sum() / length_s.sum()
    hidden = (length_s * spread).sum() / BUSY_CPU / length_s.sum()
    return None if share <= BUSY_SECONDS_LIMIT < share + hidden else float(share)


def cpus_full_share(samples: Sequence[HostSample], cpus: set[str] | None) -> float | None:
    """As `full_share`, of every CPU of the set (None: of the host); idle and iowait are not busy, steal is."""
    times, counters = _moved(samples, cpus)
    spent = np.diff(counters, axis=0)
    busy = 1 - (spent[..., IDLE] + spent[..., IOWAIT]) / spent.sum(axis=2)
    return full_share([*zip(np.diff(times), busy.min(axis=1, initial=1), strict=True)])


def busiest_thread_full_share(samples: Sequence[HostSample]) -> float | None:
    """Share of the time in which one thread of the tool used a whole CPU; None as `full_share`."""
    stretches: list[Stretch] = []
    for before, after in itertools.pairwise(samples):
        both = before.tool_threads.keys() & after.tool_threads.keys()
        length_s = after.time - before.time
        if both and length_s > 0:
            used_s = max(after.tool_threads[thread] - before.tool_threads[thread] for thread in both)
            stretches.append((length_s, used_s / length_s))
    return full_share(stretches)


class CpuShares(NamedTuple):
    """Where the time of a set of `cpus` went, as shares of it, and the `cpu_seconds` that it had."""

    busy: float  # without interrupts
    interrupts: float
    steal: float  # what the hypervisor gave to other machines
    cpu_seconds: float
    cpus: int


def shares_of(samples: Sequence[HostSample], cpus: set[str] | None, spans: Sequence[Stretch]) -> CpuShares | None:
    """Shares of some stretches of time together; None where they are not known of one."""
    known = [shares for span in spans if (shares := _shares_of(samples, cpus, *span))]
    if len(known) < len(spans) or not known:
        return None
    weights = [one.cpu_seconds for one in known]
    busy, interrupts, steal = (
        float(np.average(column, weights=weights)) for column in np.array([one[:3] for one in known]).T
    )
    return CpuShares(busy, interrupts, steal, sum(weights), known[0].cpus)


def _shares_of(samples: Sequence[HostSample], cpus: set[str] | None, start: float, end: float) -> CpuShares | None:
    """Shares between two times; None where samples leave out over a tenth, or over three seconds at either end."""
    times, counters = _moved(samples, cpus)
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


def _moved(samples: Sequence[HostSample], cpus: set[str] | None) -> tuple[Numbers, Numbers]:
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


def cpu_waits_ms(samples: Sequence[HostSample], spans: Sequence[Stretch]) -> tuple[float | None, float | None]:
    """Of the tool's threads, a turn: mean, and mean of the worst hundredth of the seconds; None with many holes."""
    waits: list[tuple[float, float]] = []
    for start, end in spans:
        inside = [sample for sample in samples if start <= sample.time <= end and sample.tool_waits]
        if not inside or missing_share([sample.time for sample in inside], start, end) > METRICS_MISSING_LIMIT:
            return None, None
        begun, waited_s, turns = inside[0].time, 0.0, 0
        for before, after in itertools.pairwise(inside):
            old, new = before.tool_waits or {}, after.tool_waits or {}
            both = old.keys() & new.keys()
            waited_s += sum(new[name][0] - old[name][0] for name in both)
            turns += sum(new[name][1] - old[name][1] for name in both)
            if turns:
                waits.append((waited_s / turns, after.time - begun))
                begun, waited_s, turns = after.time, 0.0, 0
    if not waits:
        return None, None
    waits_s, lengths_s = np.array(sorted(waits)).T
    counted_s = lengths_s.sum()
    better_s = np.cumsum(lengths_s) - lengths_s
    worst_s = np.clip(better_s + lengths_s - 0.99 * counted_s, 0, lengths_s)
    mean_s, worst = np.average(waits_s, weights=lengths_s), np.average(waits_s, weights=worst_s)
    return float(1000 * mean_s), float(1000 * worst)
