"""What containers take, as Docker's engine tells it and cAdvisor names it; and whether a page tells what one does."""

import json
import os
import platform
import re
import signal
import socket
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector
from pydantic_core import from_json

from loomlab.basics.errors import CannotMeasureError, HostError
from loomlab.plan.host import this_host
from loomlab.records.raw import CPU_MODES
from loomlab.run.process import CLOCK_TICKS, PROC, cpu_jiffies
from loomlab.run.prometheus import Connection, LimitedSocket, UnreachableError, answered, asked, samples_of

PROJECT, SERVICE = "com.docker.compose.project", "com.docker.compose.service"
COMPOSE = {name: f"container_label_{name.replace('.', '_')}" for name in (PROJECT, SERVICE)}
"""Labels of the engine, and as cAdvisor names them."""
RUNNING = "/containers/json?filters=" + urllib.parse.quote(json.dumps({"label": [PROJECT]}))
TIMEOUT_S = 5.0
NANO = 1e9
DEFAULT_PERIOD_US = 100_000  # of CPU quotas that are given in CPUs (NanoCpus)
CPU = "container_cpu_usage_seconds_total"  # cAdvisor tells this by CPU, too; the lab has the total only
RSS, THREADS = "container_memory_rss", "container_threads"
PAUSE_S, CAP_S = 0.5, 15
NODE_PORT = 8081  # not the page that Prometheus asks each second
THREAD_LIMITS = {"vm/max_map_count": 2, "kernel/pid_max": 1, "kernel/threads-max": 1}
"""What a Java thread takes of each."""
type Reading = tuple[dict[str, str], dict[str, float], float]
"""Labels, figures, and when they were read."""


def export_containers(
    engine: Annotated[Path, typer.Option(help="The engine's socket.")] = Path("/var/run/docker.sock"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the page is served.")] = 8080,
    node: Annotated[
        bool, typer.Option("--node", help="Tell what the CPUs do that this may run on, and what it is.")
    ] = False,
) -> None:
    """Serve CPU, memory and threads of Compose's containers as cAdvisor does, as the engine tells them."""
    registry = CollectorRegistry()
    registry.register(ContainerFigures(engine))
    if node:
        registry.register(NodeCpus())
        told = CollectorRegistry()
        told.register(ToldNode(engine))
        start_http_server(NODE_PORT, registry=told)
    start_http_server(port, registry=registry)
    signal.pause()


class ContainerFigures(Collector):
    """Asks the engine when it is asked itself, and stamps figures with the time of the engine's reading."""

    def __init__(self, engine: Path, meminfo: Path = Path("/proc/meminfo")) -> None:
        self._engine = engine
        self._meminfo = meminfo

    def collect(self) -> Iterator[Metric]:
        """Raises CannotMeasureError where the engine does not answer."""
        meminfo, host = self._meminfo.read_text(encoding="ascii"), list[Reading]()
        readings: list[Reading] = []
        for container in ask(self._engine, RUNNING):
            with suppress(Exception):  # it has ended meanwhile, or the answer is not of the engine's API
                stats = ask(self._engine, f"/containers/{container['Id']}/stats?stream=false&one-shot=true")
                details = ask(self._engine, f"/containers/{container['Id']}/json")
                name, image = details["Name"].removeprefix("/"), details["Config"]["Image"]
                own = {label: details["Config"]["Labels"].get(key, "") for key, label in COMPOSE.items()}
                labels = {"id": f"/docker/{details['Id']}", "name": name, "image": image} | own
                read_s = datetime.fromisoformat(stats["read"]).timestamp()
                readings.append((labels, _known(container_figures(stats, details)), read_s))
                host = [({"id": "/"}, _known(host_figures(stats, meminfo)), read_s)]
        metrics: dict[str, Metric] = {}
        for labels, figures, read_s in (*readings, *host):
            for name, value in figures.items():
                metric = metrics.setdefault(name, Metric(name, "As cAdvisor tells it", "unknown"))
                metric.add_sample(name, labels | ({"cpu": "total"} if name == CPU else {}), value, timestamp=read_s)
        yield from metrics.values()


class NodeCpus(Collector):
    """`host_cpu_seconds_total` by CPU and mode, of the CPUs that this may run on."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc

    def collect(self) -> Iterator[Metric]:
        spent = CounterMetricFamily("host_cpu_seconds", "As /proc/stat has it", labels=["cpu", "mode"])
        now = time.time()
        for cpu, jiffies in cpu_jiffies(self._proc).items():
            if int(cpu) in os.sched_getaffinity(0):
                for mode, value in zip(CPU_MODES, jiffies, strict=True):
                    spent.add_metric([cpu, mode], value / CLOCK_TICKS, timestamp=now)
        yield spent


class ToldNode(Collector):
    """`lab_node_info`, with the IDs of the engine's images, and `lab_node_clock_seconds`, which is read last."""

    def __init__(self, engine: Path, root: Path = Path("/")) -> None:
        self._engine, self._root = engine, root

    def collect(self) -> Iterator[Metric]:
        host, kernel = this_host(self._root, self._root), self._root / "proc/sys"
        mtus = [int(file.read_text()) for file in self._root.glob("sys/class/net/*/mtu") if file.parent.name != "lo"]
        facts = {
            "name": os.environ.get("NODE", ""),
            "kernel": platform.release(),
            "cpu_model": host.cpu_model or "",
            "governor": host.governor or "",
            "open_files": host.open_files,
            "threads": min(int((kernel / name).read_text()) // each for name, each in THREAD_LIMITS.items()),
            "mtu": min(mtus, default=0),
            "image_ids": " ".join(image["Id"] for image in ask(self._engine, "/images/json")),
        }
        yield InfoMetricFamily("lab_node", "What it is", {name: str(value) for name, value in facts.items()})
        yield GaugeMetricFamily("lab_node_clock_seconds", "Its time", time.time())


def container_figures(stats: Any, details: Any) -> dict[str, float | None]:
    """A container's (the API's ContainerStats; memory by cgroup 1 or 2, without mapped files and kernel memory)."""
    cpu, memory, limits = stats["cpu_stats"], stats.get("memory_stats") or {}, details["HostConfig"]
    kinds, throttling = memory.get("stats") or {}, cpu.get("throttling_data") or {}
    quota_us = limits.get("CpuQuota") or round((limits.get("NanoCpus") or 0) / NANO * DEFAULT_PERIOD_US)
    quota = {
        "container_cpu_cfs_periods_total": throttling.get("periods"),
        "container_cpu_cfs_throttled_periods_total": throttling.get("throttled_periods"),
        "container_spec_cpu_quota": quota_us,
        "container_spec_cpu_period": limits.get("CpuPeriod") or DEFAULT_PERIOD_US,
    }
    return {
        CPU: cpu["cpu_usage"]["total_usage"] / NANO,
        RSS: kinds.get("anon", kinds.get("total_rss")),
        THREADS: (stats.get("pids_stats") or {}).get("current"),
        "container_start_time_seconds": int(datetime.fromisoformat(details["State"]["StartedAt"]).timestamp()),
        "container_spec_memory_limit_bytes": limits.get("Memory"),
        **(quota if quota_us > 0 else {}),
    }


def host_figures(stats: Any, meminfo: str) -> dict[str, float | None]:
    """The host's, which is the root cgroup; its CPU time stands in the figures of any container."""
    total, available = (1024 * int(kib) for kib in re.findall(r"(?m)^Mem(?:Total|Available): +(\d+) kB$", meminfo))
    spent_ns = stats["cpu_stats"].get("system_cpu_usage")
    return {
        CPU: spent_ns / NANO if spent_ns else None,
        "container_memory_working_set_bytes": total - available,
        "container_spec_memory_limit_bytes": total,
    }


def _known(figures: dict[str, float | None]) -> dict[str, float]:
    return {name: float(value) for name, value in figures.items() if value is not None}


def ask(engine: Path, target: str) -> Any:
    """The engine's answer; raises CannotMeasureError where there is none."""
    connection = Connection("http://localhost", TIMEOUT_S)
    try:
        with LimitedSocket(socket.AF_UNIX) as connection.sock:
            connection.sock.allow(TIMEOUT_S)
            connection.sock.connect(str(engine))
            return from_json(asked(connection, target))
    except (OSError, ValueError, UnreachableError) as error:
        raise CannotMeasureError(f"The engine does not answer at {engine}: {error}.") from error


def sees_containers(url: Annotated[str, typer.Argument(help="A page of container metrics.")]) -> None:
    """Say whether the page tells CPU, RSS and threads of the container that this runs in."""
    deadline, container, lacks = time.monotonic() + CAP_S, socket.gethostname(), ""
    while time.monotonic() < deadline:
        try:
            figures = page_figures(answered(url), container)
        except UnreachableError as error:
            lacks = f"The page of container metrics cannot be read: {error}."
        else:
            if all(figures.get(name, 0) > 0 for name in (CPU, RSS, THREADS)):
                print("CPU, RSS and threads of a container arrive.")  # noqa: T201
                return
            lacks = f"The page of container metrics tells {figures or 'nothing'} of this container."
        time.sleep(PAUSE_S)
    raise HostError(lacks)


def page_figures(page: str, container: str) -> dict[str, float]:
    """Of the container whose ID begins so, by metric; raises UnreachableError for another page."""
    return {
        sample.name: sample.value
        for sample in samples_of(page)
        # the ID, or a systemd scope's name
        if sample.name in {CPU, RSS, THREADS}
        and sample.labels.get("id", "").rpartition("/")[2].removeprefix("docker-").startswith(container)
    }
