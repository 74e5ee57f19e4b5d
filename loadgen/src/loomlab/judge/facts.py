"""A run's raw files, read."""

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from loomlab.judge.metrics import Metrics
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import Endpoint, endpoint_of
from loomlab.records.files import RunFiles, read_json, read_record
from loomlab.records.measured import BackendDelays
from loomlab.records.memory import MemoryLog
from loomlab.records.models import Container, HostLog, Request, ToolRun
from loomlab.records.warmup import Warmup
from loomlab.tools.known import tool
from loomlab.tools.tool import Tool

INSPECTED = TypeAdapter(tuple[Container])


@dataclass(frozen=True)
class Facts:
    """What a run's raw files say; None: there is no such file, or `container` holds no state. Times are epoch seconds;
    `start` and `end` are the tool's, or both when the measurement began; `floors_ms` the shortest times that requests
    of each kind can wait."""

    files: RunFiles
    request: Request
    endpoint: Endpoint
    floors_ms: list[float]
    driver: Tool
    process: ToolRun | None
    start: float
    end: float
    warmup: Warmup | None
    metrics: Metrics
    host: HostLog
    about: Any
    container: Container | None
    delays: BackendDelays | None
    memory: MemoryLog | None

    def cpu_seconds(self, first: float, last: float) -> float | None:
        """The approach's CPU time between two times."""
        return self.metrics.cpu_seconds(self.request.approach, first, last)

    def network_growth(self, counter: str) -> int | None:
        """Growth over the run of a counter of the load generator's network namespace."""
        before, after = self.host.network_before.get(counter), self.host.network_after.get(counter)
        return None if before is None or after is None else after - before


def facts_of(files: RunFiles, request: Request) -> Facts:
    """The facts of a run; raises ParseError for a file that holds something else."""
    process, delay = read_record(files.tool, ToolRun), delay_of(request.delay)
    endpoints = [endpoint_of(target.target, delay) for target in request.load.targets]
    return Facts(
        files=files,
        request=request,
        endpoint=endpoints[0],
        floors_ms=[endpoint.floor_ms for endpoint in endpoints],
        driver=tool(request.tool),
        process=process,
        start=process.started if process else request.started,
        end=process.ended if process else request.started,
        warmup=read_record(files.warmup, Warmup),
        metrics=Metrics(read_json(files.metrics), request.approach),
        host=read_record(files.host, HostLog) or HostLog(samples=[], network_before={}, network_after={}),
        about=read_json(files.about),
        container=_container(read_json(files.container)),
        delays=read_record(files.backend, BackendDelays),
        memory=read_record(files.memory, MemoryLog),
    )


def _container(inspected: Any) -> Container | None:
    """The one container that `docker inspect` told of; None where it told of no state."""
    try:
        return INSPECTED.validate_python(inspected)[0]
    except ValidationError:
        return None
