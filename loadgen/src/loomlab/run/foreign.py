"""A service of the user's: what it tells of itself by a page of Micrometer's, and what its container's counter does."""

import re
import time
from contextlib import suppress

from loomlab.basics.errors import HostError
from loomlab.records.models import Foreign
from loomlab.records.raw import MemoryAnswer
from loomlab.run.console import Stop
from loomlab.run.management import Management, Process, exposed_values
from loomlab.run.prometheus import UnreachableError, answered, samples_of

CONTAINERS = "http://cadvisor:8080/metrics?max_age=0s"
CPU = "container_cpu_usage_seconds_total"
LABEL = "container_label_com_docker_compose"
LONGEST_START_S, LOOK_EVERY_S = 120, 0.2


class ForeignService(Management):
    """Needs nothing of it but an answer on its port."""

    def __init__(self, host: str, foreign: Foreign, containers: str = CONTAINERS) -> None:
        super().__init__(host, foreign.port)
        self._host, self._foreign, self._containers = host, foreign, containers
        labels = {"project": "loom-lab", "service": host}
        wanted = "".join(rf'(?=.*[{{,]{LABEL}_{name}="{re.escape(value)}"[,}}])' for name, value in labels.items())
        self._own = re.compile(CPU + wanted)
        self._pages = [f"http://{host}:{foreign.metrics_port}{foreign.metrics}"] if foreign.metrics else []

    def wait_until_ready(self, stop: Stop) -> None:
        """Returns once it is, and tells its figures; raises HostError where it never becomes so."""
        urls, said = [f"{self.origin}{self._foreign.ready}", *self._pages], ""
        deadline = time.monotonic() + LONGEST_START_S
        while time.monotonic() < deadline and not stop.requested:
            try:
                for url in urls:
                    answered(url)
            except UnreachableError as error:
                said = str(error)
                stop.pause(LOOK_EVERY_S)
            else:
                return
        if not stop.requested:
            cure = f"see raw/{self._host}.log, and check PORT, READY and METRICS"
            raise HostError(f"{self._host} was not ready within {LONGEST_START_S} s ({said}): {cure}.")

    def process(self) -> Process:
        """The CPU time of its container; of its own page, Micrometer's time of compilers, which elapsed."""
        with suppress(UnreachableError):
            told = exposed_values(answered(self._pages[0])) if self._pages else {}
            lines = [line for line in answered(self._containers).splitlines() if self._own.match(line)]
            every = samples_of("\n".join([*lines, ""]))
            totals = [one.value for one in every if one.labels.get("cpu", "total") == "total"]
            compiling_ms = told.get("jvm_compilation_time_ms_total")
            return Process(
                cpu_s=max(totals, default=None),
                jit_cpu_s=None if compiling_ms is None else compiling_ms / 1000,
                cpus=told.get("system_cpu_count"),
            )
        return Process()

    def memory(self) -> MemoryAnswer:
        now = time.time()
        return MemoryAnswer(asked=now, answered=now, error="a service of the user's does not tell its memory")

    def reset_peaks(self) -> bool:
        return False
