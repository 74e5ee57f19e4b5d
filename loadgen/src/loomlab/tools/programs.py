"""The lab's own load generators: `lab-rates` (in Go, by vegeta's library), and `lab-users` (loadgen/users in Rust)."""

import re
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field

from loomlab.records.files import read_record, write_json
from loomlab.records.load import Closed, Load, OpenRate, Users, UserStage
from loomlab.records.requestlog import RequestLog
from loomlab.tools.tool import Tool, ToolReport, numbers, reason, reasons

COLUMNS = "due_ns,start_ns,latency_ns,target,status,bytes,error"
"""Epoch ns due and started, ns to the last byte, which request of the load, status (0: none), length of the body, and
why there is no answer."""
_UNANSWERED = re.compile(rb",0,0,([^,\n]+)\n")
METRICS_PORT = 8880
NS_PER_S, NS_PER_MS = 1_000_000_000, 1_000_000
Count = Annotated[int, Field(ge=0, lt=2**63)]


class Counts(BaseModel):
    """`<tool>-report.json`."""

    requests: Count
    without_answer: Count
    not_2xx: Count
    unsent: Count = 0
    bytes: Count | None = None
    first_start_ns: Count | None
    last_end_ns: Count


class Program(Tool):
    """A program that writes a row a request, and a report at its end. Latency begins before there is a connection."""

    program: str
    tells_unended = True
    resolution_ms = 1e-6
    columns = COLUMNS
    earlier_columns = COLUMNS.replace("target,", "")

    @abstractmethod
    def settings(self, load: Load, ramp_s: int) -> dict[str, Any]:
        """What the load file holds beside the requests and their time-out."""

    def command(self, load: Load, raw: Path, *, ramp_s: int = 0, in_slices: bool = False) -> list[str]:
        requests = [
            {
                "method": target.method,
                "target": target.target,
                "headers": [[part.strip() for part in header.split(":", 1)] for header in target.headers],
                "body": str(target.body.resolve()) if target.body else None,
            }
            for target in load.targets
        ]
        load_file = raw / f"{self.name}-load.json"
        more = {"origin": load.origin, "timeout_ms": load.timeout_s * 1000, "requests": requests}
        write_json(load_file, self.settings(load, ramp_s) | more | ({"in_slices": True} if in_slices else {}))
        return [self.program, str(load_file), str(self.rows(raw)), str(raw / f"{self.name}-report.json")]

    def report(self, raw: Path) -> ToolReport:
        path = raw / f"{self.name}-report.json"
        if (counts := read_record(path, Counts)) is None:
            said = self.said(raw).strip().splitlines()
            return ToolReport(aborted=said[-1] if said else f"{self.program} ended without a report")
        duration_ns = counts.last_end_ns - (counts.first_start_ns or counts.last_end_ns)
        return ToolReport(
            completed=counts.requests - counts.without_answer,
            attempted=counts.requests,
            failed=counts.without_answer,
            non_2xx=counts.not_2xx,
            dropped=counts.unsent,
            received_bytes=counts.bytes,
            duration_s=duration_ns / NS_PER_S,
            aborted=None if counts.requests else "it sent no request",
            rows=counts.requests,
        )

    def read(self, rows: bytes, raw: Path, floor_ms: int) -> RequestLog:  # noqa: ARG002
        """A line without its end, which a killed program leaves, is left out."""
        rows = rows[: rows.rfind(b"\n") + 1]
        told = ((match[1].decode(errors="replace"), 1) for match in _UNANSWERED.finditer(rows))
        failures = reasons(told if b",0,0," in rows else ())
        rows, unanswered = _UNANSWERED.sub(rb",0,0,\n", rows) if failures else rows, failures.total()
        tells_target = rows[: rows.find(b"\n")].count(b",") == COLUMNS.count(",")
        due_ns, start_ns, latency_ns, *target, status, _ = numbers(rows, 5 + tells_target, ",", np.int64)
        answered = status // 100 == 2
        start_s = start_ns // NS_PER_S + start_ns % NS_PER_S / NS_PER_S
        latency_ms, lag_ms = latency_ns / NS_PER_MS, (start_ns - due_ns) / NS_PER_MS
        failures += reasons(zip(*np.unique(status[~answered & (status > 0)], return_counts=True), strict=True))
        failures[reason("")] += int((status == 0).sum()) - unanswered
        return RequestLog(
            start_s[answered],
            latency_ms[answered],
            failed_start_s=start_s[~answered],
            failed_latency_ms=latency_ms[~answered],
            failures=+failures,
            lag_ms=lag_ms[answered],
            failed_lag_ms=lag_ms[~answered],
            **({"target": target[0][answered], "failed_target": target[0][~answered]} if tells_target else {}),
        )


class Vegeta(Program):
    """Requests start when due, dealt out in turn, late with all connections busy; over a second at the end: unsent."""

    name = "vegeta"
    program = "lab-rates"
    shapes = ("open-rate",)
    instead = "ab, hey or users"
    cpu_ms_per_request = 0.2
    counter: str | None = 'request_seconds_count{job="vegeta"}'

    def settings(self, load: Load, ramp_s: int) -> dict[str, Any]:  # noqa: ARG002
        assert isinstance(load.shape, OpenRate)
        return {
            "connections": load.connections,
            "metrics_port": METRICS_PORT if self.counter else 0,
            "steps": [{"rate_rps": step.rate_rps, "seconds": step.duration_s} for step in load.shape.steps],
        }


class LabUsers(Program):
    """Each user or busy connection connects with its first request; what is in flight at the end is waited for."""

    name = "users"
    program = "lab-users"
    shapes = ("closed", "users")
    keeps_open = True
    instead = "vegeta"
    cpu_ms_per_request = 0.12
    memory_mb_per_connection = 0.03
    pins = "loadgen/users/Cargo.toml"
    pin = r'^version = "(\S+)"'

    def problems(self, load: Load) -> Iterator[str]:
        yield from super().problems(load)
        if isinstance(load.shape, Users) and load.shape.most < (kinds := len(load.targets)):
            yield f"needs a user for each of {kinds} kinds of requests, got {load.shape.most}: raise SCALE"

    def settings(self, load: Load, ramp_s: int) -> dict[str, Any]:
        shape, most_requests = load.shape, self.max_requests
        if isinstance(shape, Closed):
            most_requests = shape.requests
            shape = Users((UserStage(load.connections, ramp_s), UserStage(load.connections, shape.duration_s - ramp_s)))
        assert isinstance(shape, Users)
        return {
            "stages": [{"users": stage.users, "seconds": stage.duration_s} for stage in shape.stages],
            "think_seconds": shape.think_s,
            "most_requests": most_requests,
            "dealt_to_requests": isinstance(load.shape, Closed),
        }
