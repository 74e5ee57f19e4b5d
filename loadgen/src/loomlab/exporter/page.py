"""The containers' figures as a page of metrics, with the names and labels that cAdvisor gives them."""

from collections.abc import Iterator
from pathlib import Path

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from loomlab.basics.errors import CannotMeasureError
from loomlab.exporter.engine import Container, Engine, Usage

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
CPU = "container_cpu_usage_seconds"
"""cAdvisor tells this by CPU, too; the lab has the total only."""


class ContainerFigures(Collector):
    """Asks the engine when it is asked itself, and stamps figures with the time of the engine's reading."""

    def __init__(self, engine: Engine, meminfo: Path = MEMINFO) -> None:
        self._engine = engine
        self._meminfo = meminfo
        self._known: dict[str, Container] = {}
        self._spent: dict[str, float] = {}

    def collect(self) -> Iterator[Metric]:
        families = _families()
        running = self._engine.running()
        self._known = {one: told for one, told in self._known.items() if one in running}
        newest: Usage | None = None
        for container_id in running:
            try:
                usage = self._engine.usage(container_id)
                container = self._container(container_id, usage)
            except (CannotMeasureError, KeyError, ValueError):  # it has ended meanwhile
                continue
            newest = usage
            labels = (f"/docker/{container_id}", container.name, container.image, container.project, container.service)
            _add(families, labels, _figures(container, usage), usage.at)
        if newest is not None:
            self._add_host(families, newest)
        yield from families.values()

    def _container(self, container_id: str, usage: Usage) -> Container:
        """Asked once for each start: a container that is started again keeps its ID, and its CPU time begins anew."""
        known = self._known.get(container_id)
        if known is None or usage.cpu_seconds < self._spent.get(container_id, 0):
            known = self._known[container_id] = self._engine.container(container_id)
        self._spent[container_id] = usage.cpu_seconds
        return known

    def _add_host(self, families: dict[str, Metric], usage: Usage) -> None:
        memory = dict(line.split(":", 1) for line in self._meminfo.read_text(encoding="ascii").splitlines())
        total, available = (1024 * int(memory[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
        figures: dict[str, float | None] = {
            CPU: usage.host_cpu_seconds,
            "container_memory_working_set_bytes": total - available,
            "container_spec_memory_limit_bytes": total,
        }
        _add(families, HOST, figures, usage.at)


def _families() -> dict[str, Metric]:
    families: dict[str, Metric] = {}
    for name, text in COUNTERS.items():
        families[name] = CounterMetricFamily(name, text, labels=(*LABELS, *(["cpu"] if name == CPU else [])))
    for name, text in GAUGES.items():
        families[name] = GaugeMetricFamily(name, text, labels=LABELS)
    return families


def _figures(container: Container, usage: Usage) -> dict[str, float | None]:
    limited = container.quota_us is not None
    return {
        CPU: usage.cpu_seconds,
        "container_memory_rss": usage.anonymous_bytes,
        "container_threads": usage.threads,
        "container_start_time_seconds": int(container.started),
        "container_cpu_cfs_periods": usage.periods if limited else None,
        "container_cpu_cfs_throttled_periods": usage.throttled_periods if limited else None,
        "container_spec_cpu_quota": container.quota_us,
        "container_spec_cpu_period": container.period_us,
        "container_spec_memory_limit_bytes": usage.memory_limit_bytes,
    }


def _add(families: dict[str, Metric], labels: tuple[str, ...], figures: dict[str, float | None], at: float) -> None:
    for name, value in figures.items():
        if value is not None:
            own = dict(zip(LABELS, labels, strict=True)) | ({"cpu": "total"} if name == CPU else {})
            families[name].add_sample(name + ("_total" if name in COUNTERS else ""), own, value, at)
