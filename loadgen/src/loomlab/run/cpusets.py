"""What the CPUs of the lab's parts do while a run goes, as metrics."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from loomlab.basics.cpus import parse_cpu_list
from loomlab.run.hoststat import CLOCK_TICKS, PROC, parse_cpus

COLUMNS: Mapping[str, tuple[int, ...]] = {"idle": (3, 4), "busy": (0, 1, 2), "stolen": (7,)}
"""Of the jiffies of a CPU in /proc/stat (proc_stat(5)): idle with waiting for disks, busy without interrupts."""


class CpuSets(Collector):
    """`lab_available_cpus` and, of these CPUs since the host's start, whoever used them, `lab_idle_cpu_seconds_total`,
    `lab_busy_cpu_seconds_total` and `lab_stolen_cpu_seconds_total` (which the hypervisor gave to other machines), by
    `role`: load generator, backend, and approach where its CPUs are nobody else's."""

    def __init__(
        self, backend_cpus: str, approach_cpus: str, monitoring_cpus: str | None = None, proc: Path = PROC
    ) -> None:
        self._stat = proc / "stat"
        every = set(self._cpus())
        own = {str(cpu) for cpu in os.sched_getaffinity(0)}
        self._sets = {"loadgen": own, "backend": parse_cpu_list(backend_cpus) or every}
        approach = parse_cpu_list(approach_cpus) or every
        watching = set() if monitoring_cpus is None else parse_cpu_list(monitoring_cpus) or every
        if not approach & (own | self._sets["backend"] | watching):
            self._sets["approach"] = approach
        self._spent_s = {(role, what): 0.0 for role in self._sets for what in COLUMNS}

    def collect(self) -> Iterator[Metric]:
        """The kernel's own counters may fall a little; these do not."""
        cpus = self._cpus()
        count = GaugeMetricFamily("lab_available_cpus", "CPUs that the role may run on", labels=["role"])
        for role, members in self._sets.items():
            count.add_metric([role], len(members))
        yield count
        for what, columns in COLUMNS.items():
            spent = CounterMetricFamily(f"lab_{what}_cpu_seconds", f"{what} time of these CPUs", labels=["role"])
            for role, members in self._sets.items():
                jiffies = sum(cpus[cpu][column] for cpu in members & cpus.keys() for column in columns)
                self._spent_s[role, what] = max(self._spent_s[role, what], jiffies / CLOCK_TICKS)
                spent.add_metric([role], self._spent_s[role, what])
            yield spent

    def _cpus(self) -> dict[str, list[int]]:
        return parse_cpus(self._stat.read_text(encoding="ascii"))
