"""A run's raw files, read."""

import json
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


def container_of(inspected: Any) -> Container | None:
    """The state of the one container that `docker inspect` told of; None where it told of something else."""
    try:
        return INSPECTED.validate_json(json.dumps(inspected), strict=True)[0]
    except ValidationError:
        return None


@dataclass(frozen=True)
class Facts:
    """What a run's raw files say; None: there is no such file, or `container` holds no state."""

    files: RunFiles
    request: Request
    endpoint: Endpoint
    driver: Tool
    process: ToolRun | None
    warmup: Warmup | None
    metrics: Metrics
    host: HostLog
    about: Any
    container: Container | None
    delays: BackendDelays | None
    memory: MemoryLog | None

    @property
    def floors_ms(self) -> list[float]:
        """The shortest time that a request of each kind can wait."""
        delay = delay_of(self.request.delay)
        return [endpoint_of(target.target, delay).floor_ms for target in self.request.load.targets]

    @property
    def start(self) -> float:
        """Epoch seconds; of a run whose tool did not start, when the measurement began."""
        return self.process.started if self.process else self.request.started

    @property
    def end(self) -> float:
        """Epoch seconds; the start, where the tool did not start."""
        return self.process.ended if self.process else self.request.started

    def cpu_seconds(self, first: float, last: float) -> float | None:
        """The approach's CPU time between two times."""
        return self.metrics.cpu_seconds(self.request.approach, first, last)

    def network_growth(self, counter: str) -> int | None:
        """Growth over the run of a counter of the load generator's network namespace."""
        before, after = self.host.network_before, self.host.network_after
        return after[counter] - before[counter] if counter in before and counter in after else None


def facts_of(files: RunFiles, request: Request) -> Facts:
    """The facts of a run; raises ParseError for a file that holds something else."""
    return Facts(
        files=files,
        request=request,
        endpoint=endpoint_of(request.endpoint, delay_of(request.delay)),
        driver=tool(request.tool),
        process=read_record(files.tool, ToolRun),
        warmup=read_record(files.warmup, Warmup),
        metrics=Metrics(read_json(files.metrics), request.approach),
        host=read_record(files.host, HostLog) or HostLog(samples=[], network_before={}, network_after={}),
        about=read_json(files.about),
        container=container_of(read_json(files.container)),
        delays=read_record(files.backend, BackendDelays),
        memory=read_record(files.memory, MemoryLog),
    )
