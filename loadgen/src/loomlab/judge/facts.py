"""A run's raw files, read."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

from loomlab.judge.metrics import Metrics
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import endpoint_of
from loomlab.records.files import RunFiles, read_json, read_record
from loomlab.records.measured import BackendDelays
from loomlab.records.memory import MemoryLog
from loomlab.records.models import Container, HostLog, Request, ToolRun
from loomlab.records.warmup import Warmup
from loomlab.tools.known import tool

INSPECTED = TypeAdapter(tuple[Container])


class Facts:
    """What a run's raw files say; None: there is no such file, or `container` holds no state. Times are epoch seconds;
    `start` and `end` are the tool's, or both when the measurement began; `floors_ms` the shortest times that requests
    of each kind can wait."""

    def __init__(self, files: RunFiles, request: Request) -> None:
        """Raises ParseError for a file that holds something else."""
        self.files = files
        self.request = request
        endpoints = [endpoint_of(target.target, delay_of(request.delay)) for target in request.load.targets]
        self.endpoint = endpoints[0]
        self.floors_ms = [endpoint.floor_ms for endpoint in endpoints]
        self.driver = tool(request.tool)
        self.process = read_record(files.tool, ToolRun)
        self.start = self.process.started if self.process else request.started
        self.end = self.process.ended if self.process else request.started
        self.warmup = read_record(files.warmup, Warmup)
        self.metrics = Metrics(read_json(files.metrics), request.approach)
        self.host = read_record(files.host, HostLog) or HostLog(samples=[], network_before={}, network_after={})
        self.about = read_json(files.about)
        self.container = _container(read_json(files.container))
        self.delays = read_record(files.backend, BackendDelays)
        self.memory = read_record(files.memory, MemoryLog)

    def cpu_seconds(self, first: float, last: float) -> float | None:
        """The approach's CPU time between two times."""
        return self.metrics.cpu_seconds(self.request.approach, first, last)

    def network_growth(self, counter: str) -> int | None:
        """Growth over the run of a counter of the load generator's network namespace."""
        before, after = self.host.network_before.get(counter), self.host.network_after.get(counter)
        return None if before is None or after is None else after - before


def _container(inspected: Any) -> Container | None:
    """The one container that `docker inspect` told of; None where it told of no state."""
    try:
        return INSPECTED.validate_python(inspected)[0]
    except ValidationError:
        return None
