"""What Compose's containers take, as Docker's engine tells it, with the names and labels that cAdvisor gives it."""

import http.client
import json
import re
import signal
import socket
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
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
COUNTERS = (CPU, "container_cpu_cfs_periods", "container_cpu_cfs_throttled_periods")
type Family = CounterMetricFamily | GaugeMetricFamily


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

    def collect(self) -> Iterator[Family]:
        """Raises CannotMeasureError where the engine does not answer."""
        families: dict[str, Family] = {}
        running = [container["Id"] for container in ask(self._engine, RUNNING)]
        last_stats = None
        for container_id in running:
            try:
                stats = ask(self._engine, f"/containers/{container_id}/stats?stream=false&one-shot=true")
                details = ask(self._engine, f"/containers/{container_id}/json")
                labels, figures = labels_of(details), figures_of(stats, details)
            except (CannotMeasureError, KeyError):  # it has ended meanwhile
                continue
            _add(families, labels, figures, stats["read"])
            last_stats = stats
        if last_stats:
            _add(families, HOST, self._of_host(last_stats), last_stats["read"])
        yield from families.values()

    def _of_host(self, stats: Any) -> dict[str, float | None]:
        memory_kib = dict(re.findall(r"^(\w+): +(\d+) kB$", self._meminfo.read_text(encoding="ascii"), re.MULTILINE))
        total, available = (1024 * int(memory_kib[name]) for name in ("MemTotal", "MemAvailable"))
        spent_ns = stats["cpu_stats"].get("system_cpu_usage")
        return {
            CPU: spent_ns / NANO if spent_ns else None,
            "container_memory_working_set_bytes": total - available,
            "container_spec_memory_limit_bytes": total,
        }


def _add(families: dict[str, Family], labels: Sequence[str], figures: Mapping[str, float | None], read: str) -> None:
    """Puts the figures of one container into the families; None: the engine does not tell."""
    for name, value in figures.items():
        if value is not None:
            more = {"cpu": "total"} if name == CPU else {}
            kind: type[Family] = CounterMetricFamily if name in COUNTERS else GaugeMetricFamily
            family = families.setdefault(name, kind(name, "As cAdvisor tells it", labels=(*LABELS, *more)))
            family.add_metric((*labels, *more.values()), value, timestamp=_epoch_s(read))


def labels_of(details: Any) -> tuple[str, ...]:
    """Values of LABELS."""
    config = details["Config"]
    services = (config["Labels"].get(label, "") for label in (PROJECT, SERVICE))
    return f"/docker/{details['Id']}", details["Name"].removeprefix("/"), config["Image"], *services


def figures_of(stats: Any, details: Any) -> dict[str, float | None]:
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
        "container_spec_memory_limit_bytes": limits.get("Memory"),
        **(quota if quota_us > 0 else {}),
    }


def _epoch_s(iso: str) -> float:
    return datetime.fromisoformat(iso).timestamp()


def ask(engine: Path, target: str) -> Any:
    """The engine's answer; raises CannotMeasureError where there is none."""
    try:
        with socket.socket(socket.AF_UNIX) as connected:
            connected.settimeout(TIMEOUT_S)
            connected.connect(str(engine))
            connection = http.client.HTTPConnection("localhost")
            connection.sock = connected
            connection.request("GET", target)
            answer = connection.getresponse()
            body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise CannotMeasureError(f"The engine does not answer at {engine}: {error}.") from error
    if answer.status != http.HTTPStatus.OK:
        raise CannotMeasureError(f"The engine answered {answer.status} to {target.partition('?')[0]}.")
    return json.loads(body)
