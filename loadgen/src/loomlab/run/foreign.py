"""A service of the user's: what it tells of itself by a page of Micrometer's, and what its container's counter does; or
nothing of one that the lab does not run."""

import re
import time
from contextlib import suppress
from pathlib import Path

from loomlab.basics.errors import HostError
from loomlab.records.models import Foreign
from loomlab.records.raw import MemoryAnswer
from loomlab.run.console import Stop
from loomlab.run.management import Management, Process, exposed_values
from loomlab.run.prometheus import UnreachableError, answered, samples_of

CONTAINERS = "http://cadvisor:8080/metrics?max_age=0s"
CPU, MEMORY, TOTAL = "container_cpu_usage_seconds_total", "container_memory_rss", "total"
LABEL = "container_label_com_docker_compose"
LONGEST_START_S, LOOK_EVERY_S = 120, 0.2
PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
UNREACHED = "check TARGET, and CA_FILE for https; to Docker Desktop, this host's loopback is host.docker.internal"


class Target(Management):
    """A service that the lab does not run. Nothing is asked of it but what it is loaded with, and READY."""

    def __init__(self, origin: str, ready: str | None, connections: int = 1) -> None:
        self.origin, self._ready, self._connections = origin, ready, connections

    def wait_until_ready(self, stop: Stop) -> None:  # noqa: ARG002 - it runs, or does not
        """Raises HostError where it does not answer 2xx, or this host has too few ports for so many connections."""
        first, last = map(int, PORTS.read_text(encoding="ascii").split())
        if self._connections > (ports := last - first + 1):
            cure = "raise net.ipv4.ip_local_port_range, or use a lower CONCURRENCY"
            raise HostError(f"{self._connections} connections need more than this host's {ports} ports: {cure}.")
        try:
            if self._ready:
                answered(f"{self.origin}{self._ready}")
        except UnreachableError as error:
            raise HostError(f"{error}: {UNREACHED}.") from error

    def process(self) -> Process:
        return Process()

    def memory(self) -> MemoryAnswer:
        now = time.time()
        return MemoryAnswer(asked=now, answered=now, error="a service of the user's does not tell its memory")

    def reset_peaks(self) -> bool:
        return False


class ForeignService(Target):
    """Needs nothing of it but an answer on its port."""

    def __init__(self, host: str, foreign: Foreign, cpus: float | None = None, containers: str = CONTAINERS) -> None:
        """`cpus` are those it has."""
        super().__init__(f"http://{host}:{foreign.port}", foreign.ready)
        self._host, self._cpus, self._containers = host, cpus, containers
        labels = {"project": "loom-lab", "service": host}
        wanted = "".join(rf'(?=.*[{{,]{LABEL}_{name}="{re.escape(value)}"[,}}])' for name, value in labels.items())
        self._own = re.compile(f"({CPU}|{MEMORY})" + wanted)
        self._page = f"http://{host}:{foreign.metrics_port}{foreign.metrics}" if foreign.metrics else None

    def wait_until_ready(self, stop: Stop) -> None:
        """Returns once it is, and tells its figures; raises HostError where it never becomes so."""
        said = ""
        deadline = time.monotonic() + LONGEST_START_S
        while time.monotonic() < deadline and not stop.requested:
            try:
                answered(f"{self.origin}{self._ready}")
                self._told()
            except UnreachableError as error:
                said = str(error)
                stop.pause(LOOK_EVERY_S)
            else:
                return
        if not stop.requested:
            cure = f"see raw/{self._host}.log, and check PORT, READY and METRICS"
            raise HostError(f"{self._host} was not ready within {LONGEST_START_S} s ({said}): {cure}.")

    def process(self) -> Process:
        """What its container's counter tells, and Micrometer, if it has a page of it."""
        told, counted = dict[str, float](), dict[str, float]()
        with suppress(UnreachableError):
            told = self._told()
        with suppress(UnreachableError):
            lines = [line for line in answered(self._containers).splitlines() if self._own.match(line)]
            for one in samples_of("\n".join([*lines, ""])):
                if one.labels.get("cpu", TOTAL) == TOTAL:
                    counted[one.name] = max(one.value, counted.get(one.name, one.value))
        compiling_ms = told.get("jvm_compilation_time_ms_total")
        return Process(
            cpu_s=counted.get(CPU),
            compiling_s=None if compiling_ms is None else compiling_ms / 1000,
            rss_bytes=counted.get(MEMORY),
            threads=told.get("jvm_threads_live_threads"),
            cpus=self._cpus,
        )

    def _told(self) -> dict[str, float]:
        """By its page of metrics; raises UnreachableError for one that is none."""
        return exposed_values(answered(self._page)) if self._page else {}
