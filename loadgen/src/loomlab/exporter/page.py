"""The containers' figures as a page of metrics, with the names and labels that cAdvisor gives them."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from loomlab.basics.errors import CannotMeasureError
from loomlab.exporter.engine import Container, Engine
from loomlab.exporter.trees import Tree, Usage

MEMINFO = Path("/proc/meminfo")
LABELS = (
    "id",
    "name",
    "image",
    "container_label_com_docker_compose_project",
    "container_label_com_docker_compose_service",
)
HOST = ("/", "", "", "", "")
"""The root cgroup's labels: it is the host."""
COUNTERS = {
    "container_cpu_usage_seconds": "CPU time",
    "container_cpu_cfs_periods": "Periods of the CPU quota that have passed",
    "container_cpu_cfs_throttled_periods": "Periods of the CPU quota that throttled",
    "container_oom_events": "Kills for memory",
}
GAUGES = {
    "container_memory_rss": "Anonymous memory, bytes",
    "container_threads": "Threads",
    "container_start_time_seconds": "When it started, epoch seconds",
    "container_spec_cpu_quota": "CPU time in each period, microseconds",
    "container_spec_cpu_period": "Length of a period, microseconds",
    "container_memory_working_set_bytes": "Memory in use that cannot be taken back at once",
    "container_spec_memory_limit_bytes": "Memory it may use",
}
OF_ONE_CPU = "container_cpu_usage_seconds"
"""cAdvisor tells this by CPU, too; the lab has the total only."""


class ContainerFigures(Collector):
    """Reads every cgroup when it is asked, and stamps its figures with the time of the reading."""

    def __init__(self, tree: Tree, engine: Engine, meminfo: Path = MEMINFO) -> None:
        self._tree = tree
        self._engine = engine
        self._meminfo = meminfo
        self._paths: dict[str, str] = {}
        self._started: dict[tuple[str, int], float] = {}

    def collect(self) -> Iterator[Metric]:
        families = _families()
        for container in self._containers():
            self._tell(families, container)
        self._tell_host(families)
        yield from families.values()

    def _containers(self) -> list[Container]:
        """Those that run and have a cgroup; forgets those that are gone."""
        running = {one.id: one for one in self._engine.containers()}
        self._paths = {one: path for one, path in self._paths.items() if one in running}
        if running.keys() - self._paths:
            self._paths |= self._tree.find()
        self._started = {one: start for one, start in self._started.items() if one[0] in running}
        return [one for one in running.values() if one.id in self._paths]

    def _tell(self, families: dict[str, Metric], container: Container) -> None:
        try:
            usage = self._tree.usage(self._paths[container.id])
            started = self._started_s(container.id, usage.inode)
        except (OSError, CannotMeasureError):  # it has ended meanwhile
            self._paths.pop(container.id, None)
            return
        labels = (usage.path, container.name, container.image, container.project, container.service)
        _add(families, labels, _figures(usage) | {"container_start_time_seconds": int(started)})

    def _started_s(self, container_id: str, inode: int) -> float:
        """Asks the engine once for each cgroup: a container that is started again keeps its ID and gets a new one."""
        if (container_id, inode) not in self._started:
            self._started[container_id, inode] = self._engine.started(container_id)
        return self._started[container_id, inode]

    def _tell_host(self, families: dict[str, Metric]) -> None:
        memory = dict(line.split(":", 1) for line in self._meminfo.read_text(encoding="ascii").splitlines())
        total, available = (1024 * int(memory[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
        figures = {
            OF_ONE_CPU: self._tree.host_cpu_seconds(),
            "container_memory_working_set_bytes": total - available,
            "container_spec_memory_limit_bytes": total,
        }
        _add(families, HOST, figures)


def _families() -> dict[str, Metric]:
    families: dict[str, Metric] = {}
    for name, text in COUNTERS.items():
        families[name] = CounterMetricFamily(name, text, labels=(*LABELS, *(["cpu"] if name == OF_ONE_CPU else [])))
    for name, text in GAUGES.items():
        families[name] = GaugeMetricFamily(name, text, labels=LABELS)
    return families


def _figures(usage: Usage) -> dict[str, float | None]:
    quota = usage.quota
    return {
        OF_ONE_CPU: usage.cpu_seconds,
        "container_memory_rss": usage.anonymous_bytes,
        "container_threads": usage.threads,
        "container_oom_events": usage.oom_kills,
        "container_cpu_cfs_periods": quota.periods if quota else None,
        "container_cpu_cfs_throttled_periods": quota.throttled_periods if quota else None,
        "container_spec_cpu_quota": quota.quota_us if quota else None,
        "container_spec_cpu_period": quota.period_us if quota else None,
        "container_spec_memory_limit_bytes": usage.memory_limit_bytes,
    }


def _add(families: dict[str, Metric], labels: tuple[str, ...], figures: Mapping[str, float | None]) -> None:
    now = time.time()
    for name, value in figures.items():
        if value is None:
            continue
        own = dict(zip(LABELS, labels, strict=True)) | ({"cpu": "total"} if name == OF_ONE_CPU else {})
        families[name].add_sample(name + ("_total" if name in COUNTERS else ""), own, value, now)
