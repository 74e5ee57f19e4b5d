"""What Compose's containers take, as Docker's engine tells it, with the names and labels that cAdvisor gives it."""

import http.client
import json
import math
import signal
import socket
import urllib.parse
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from loomlab.basics.errors import CannotMeasureError

PROJECT, SERVICE = "com.docker.compose.project", "com.docker.compose.service"
RUNNING = "/containers/json?filters=" + urllib.parse.quote(json.dumps({"label": [PROJECT]}))
TIMEOUT_S = 5.0
NANO = 1e9
DEFAULT_PERIOD_US = 100_000
"""Of CPU quotas that are given in CPUs (NanoCpus)."""
LABELS = ("id", "name", "image", *(f"container_label_{label.replace('.', '_')}" for label in (PROJECT, SERVICE)))
HOST = ("/", "", "", "", "")
"""The root cgroup's labels: it is the host."""
CPU = "container_cpu_usage_seconds"
"""cAdvisor tells this by CPU, too; the lab has the total only."""
type Family = CounterMetricFamily | GaugeMetricFamily
METRICS: dict[str, tuple[type[Family], str]] = {
    CPU: (CounterMetricFamily, "CPU time"),
    "container_cpu_cfs_periods": (CounterMetricFamily, "Periods of the CPU quota that have passed"),
    "container_cpu_cfs_throttled_periods": (CounterMetricFamily, "Periods of the CPU quota that throttled"),
    "container_memory_rss": (GaugeMetricFamily, "Anonymous memory, bytes"),
    "container_threads": (GaugeMetricFamily, "Threads"),
    "container_start_time_seconds": (GaugeMetricFamily, "When it started, epoch seconds"),
    "container_spec_cpu_quota": (GaugeMetricFamily, "CPU time in each period, microseconds"),
    "container_spec_cpu_period": (GaugeMetricFamily, "Length of a period, microseconds"),
    "container_memory_working_set_bytes": (GaugeMetricFamily, "Memory in use that cannot be taken back at once"),
    "container_spec_memory_limit_bytes": (GaugeMetricFamily, "Memory it may use"),
}
type Figures = dict[str, float | None]
"""By the metric; None: the engine does not tell."""


def export_containers(
    engine: Annotated[Path, typer.Option(help="The engine's socket.")] = Path("/var/run/docker.sock"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the page is served.")] = 8080,
) -> None:
    """Serve CPU, memory and threads of Compose's containers as cAdvisor does, as the engine tells them."""
    registry = CollectorRegistry()
    registry.register(ContainerFigures(engine))
    start_http_server(port, registry=registry)
    signal.pause()


class ContainerFigures(Collector):
    """Asks the engine when it is asked itself, and stamps figures with the time of the engine's reading."""

    def __init__(self, engine: Path, meminfo: Path = Path("/proc/meminfo")) -> None:
        self._engine = engine
        self._meminfo = meminfo
        self._inspected: dict[str, tuple[int, Any]] = {}
        """CPU time when each container was last asked for, and what the engine told of it when it had started."""

    def collect(self) -> Iterator[Family]:
        """Raises CannotMeasureError where the engine does not answer."""
        families = {
            name: kind(name, text, labels=(*LABELS, "cpu") if name == CPU else LABELS)
            for name, (kind, text) in METRICS.items()
        }
        running = [container["Id"] for container in ask(self._engine, RUNNING)]
        self._inspected = {name: known for name, known in self._inspected.items() if name in running}
        host: tuple[Figures, str] | None = None
        for container_id in running:
            try:
                stats = ask(self._engine, f"/containers/{container_id}/stats?stream=false&one-shot=true")
                details = self._details(container_id, stats["cpu_stats"]["cpu_usage"]["total_usage"])
                labels, figures = labels_of(details), figures_of(stats, details)
            except (CannotMeasureError, KeyError):  # it has ended meanwhile
                continue
            _add(families, labels, figures, stats["read"])
            host = self._of_host(stats), stats["read"]
        if host:
            _add(families, HOST, *host)
        yield from families.values()

    def _details(self, container_id: str, spent_ns: int) -> Any:
        """Asked for at each start: a container that is started again keeps its ID, and its CPU time begins anew."""
        known_ns, details = self._inspected.get(container_id, (math.inf, None))
        if spent_ns < known_ns:
            details = ask(self._engine, f"/containers/{container_id}/json")
        self._inspected[container_id] = spent_ns, details
        return details

    def _of_host(self, stats: Any) -> Figures:
        memory = dict(line.split(":", 1) for line in self._meminfo.read_text(encoding="ascii").splitlines())
        total, available = (1024 * int(memory[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
        spent_ns = stats["cpu_stats"].get("system_cpu_usage")
        return {
            CPU: spent_ns / NANO if spent_ns else None,
            "container_memory_working_set_bytes": total - available,
            "container_spec_memory_limit_bytes": total,
        }


def _add(families: dict[str, Family], labels: Sequence[str], figures: Figures, read: str) -> None:
    for name, value in figures.items():
        if value is not None:
            own = (*labels, "total") if name == CPU else labels
            families[name].add_metric(own, value, timestamp=_epoch_s(read))


def labels_of(details: Any) -> tuple[str, ...]:
    config = details["Config"]
    services = (config["Labels"].get(label, "") for label in (PROJECT, SERVICE))
    return f"/docker/{details['Id']}", details["Name"].removeprefix("/"), config["Image"], *services


def figures_of(stats: Any, details: Any) -> Figures:
    """Up to now (ContainerStats of the engine's API; memory as cgroup 1 or 2 names it, without mapped files and kernel
    memory)."""
    cpu, memory, limits = stats["cpu_stats"], stats.get("memory_stats") or {}, details["HostConfig"]
    kinds, throttling = memory.get("stats") or {}, cpu.get("throttling_data") or {}
    quota_us = limits.get("CpuQuota") or round((limits.get("NanoCpus") or 0) / NANO * DEFAULT_PERIOD_US)
    quota = {
        "container_cpu_cfs_periods": throttling.get("periods"),
        "container_cpu_cfs_throttled_periods": throttling.get("throttled_periods"),
        "container_spec_cpu_quota": quota_us,
        "container_spec_cpu_period": limits.get("CpuPeriod") or DEFAULT_PERIOD_US,
    }
    return {
        CPU: cpu["cpu_usage"]["total_usage"] / NANO,
        "container_memory_rss": kinds.get("anon", kinds.get("total_rss")),
        "container_threads": (stats.get("pids_stats") or {}).get("current"),
        "container_start_time_seconds": int(_epoch_s(details["State"]["StartedAt"])),
        "container_spec_memory_limit_bytes": memory.get("limit"),
        **(quota if quota_us > 0 else {}),
    }


def _epoch_s(iso: str) -> float:
    return datetime.fromisoformat(iso).timestamp()


def ask(engine: Path, target: str) -> Any:
    """The engine's answer; raises CannotMeasureError where there is none."""
    connection = UnixConnection(engine)
    try:
        connection.request("GET", target)
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise CannotMeasureError(f"The engine does not answer at {engine}: {error}.") from error
    finally:
        connection.close()
    if answer.status // 100 != 2:
        raise CannotMeasureError(f"The engine answered {answer.status} to {target.partition('?')[0]}.")
    return json.loads(body)


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(TIMEOUT_S)
        self.sock.connect(str(self._path))
