"""The lab's own load generators, `lab-rates` and `lab-users`: what they are told, and what they leave."""

import re
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from loomlab.basics.errors import ParseError
from loomlab.records.files import write_json
from loomlab.records.load import Load, Target
from loomlab.records.requestlog import RequestLog
from loomlab.tools.gohttp import reason
from loomlab.tools.packed import columns_of, pack, packed_bytes, rows_below
from loomlab.tools.tool import ToolReport

COLUMNS = "due_ns,start_ns,latency_ns,status,bytes,error\n"
"""Of a request: epoch ns at which it was due and at which it started, ns to the last byte of its answer, status (0: no
answer) and the length of the body, and why there is no answer."""
_WHY = re.compile(rb",0,0,([^,\n]+)\n")
"""Of a row without an answer."""
NS_PER_S, NS_PER_MS = 1_000_000_000, 1_000_000
MS_PER_S = 1000


class Program(ABC):
    """A program that writes a row a request while it runs, and a report once all requests have ended. Latency begins
    when a request starts, before it has a connection; redirects are not followed."""

    name: str
    program: str
    discards = False
    stops_by_time = True
    quotas = False
    tells_unended = True
    most_requests = sys.maxsize
    resolution_ms = 1e-6

    @abstractmethod
    def check(self, load: Load) -> None: ...

    @abstractmethod
    def told(self, load: Load) -> Mapping[str, Any]:
        """What the load file holds beside the requests and their time-out."""

    def command(self, load: Load, raw: Path, stem: str) -> list[str]:
        asked = raw / f"{stem}-load.json"
        requests = [_request(target) for target in load.targets]
        write_json(asked, {**self.told(load), "timeout_ms": load.timeout_s * MS_PER_S, "requests": requests})
        return [self.program, str(asked), str(_rows(raw, stem)), str(_report(raw, stem))]

    def output(self, raw: Path, stem: str) -> Path:
        return raw / f"{stem}.txt"

    def finish(self, raw: Path, stem: str) -> None:
        rows = _rows(raw, stem)
        if rows.exists():
            pack(rows, _packed(raw, stem))

    def report(self, raw: Path, stem: str) -> ToolReport:
        path = _report(raw, stem)
        if path.exists():
            return parse_report(path.read_bytes())
        said = self.output(raw, stem).read_text(errors="replace").strip().splitlines()
        return ToolReport(aborted=said[-1] if said else f"{self.program} ended without a report")

    def requests(self, raw: Path, stem: str, floor_ms: int) -> RequestLog | None:  # noqa: ARG002 - the rows say what failed
        if not _packed(raw, stem).exists():
            return None
        log = parse_rows(packed_bytes(_packed(raw, stem)))
        rows, path = len(log) + len(log.failed_start_s), _report(raw, stem)
        if path.exists() and (counted := parse_report(path.read_bytes()).attempted) != rows:
            raise ParseError(f"{self.program} counts {counted} requests, but its rows hold {rows}: measure again.")
        return log


def _request(target: Target) -> dict[str, Any]:
    headers = [header.split(":", 1) for header in target.headers]
    return {
        "method": target.method,
        "target": target.target,
        "headers": [(name.strip(), value.strip()) for name, value in headers],
        "body": str(target.body.resolve()) if target.body else None,
    }


def _rows(raw: Path, stem: str) -> Path:
    return raw / f"{stem}-requests.csv"


def _packed(raw: Path, stem: str) -> Path:
    return raw / f"{stem}-requests.csv.gz"


def _report(raw: Path, stem: str) -> Path:
    return raw / f"{stem}-report.json"


Count = Annotated[int, Field(ge=0, lt=1 << 63)]


class _Report(BaseModel):
    requests: Count
    without_answer: Count
    not_2xx: Count
    unsent: Count = 0
    bytes: Count | None = None
    first_start_ns: Count | None
    last_end_ns: Count


def parse_report(text: bytes | str) -> ToolReport:
    """The counts; raises ParseError for another file."""
    try:
        said = _Report.model_validate_json(text)
    except ValidationError as error:
        raise ParseError(
            f"This is not the report of a run ({error.error_count()} fields differ): measure again."
        ) from error
    took_ns = said.last_end_ns - (said.first_start_ns or said.last_end_ns)
    if took_ns < 0 or said.requests < said.without_answer + said.not_2xx:
        raise ParseError("This report of a run contradicts itself: measure again.")
    return ToolReport(
        completed=said.requests - said.without_answer,
        attempted=said.requests,
        failed=said.without_answer,
        non_2xx=said.not_2xx,
        dropped=said.unsent,
        received_bytes=said.bytes,
        duration_s=took_ns / NS_PER_S,
        aborted=None if said.requests else "it sent no request",
    )


def parse_rows(text: bytes) -> RequestLog:
    """The requests; raises ParseError for anything else. A line without its end, which a killed program leaves, is left
    out."""
    rows = rows_below(text or COLUMNS.encode(), COLUMNS.strip(), "requests of rates or users")
    rows = rows[: rows.rfind(b"\n") + 1]
    reasons = [found[1].decode(errors="replace") for found in _WHY.finditer(rows)] if b",0,0," in rows else []
    told = columns_of(_WHY.sub(rb",0,0,\n", rows) if reasons else rows, 5, ",", np.int64, "the file of requests")
    due_ns, start_ns, latency_ns, status, _ = told.T
    answered = status // 100 == 2
    start_s = start_ns // NS_PER_S + start_ns % NS_PER_S / NS_PER_S
    latency_ms, lag_ms = latency_ns / NS_PER_MS, (start_ns - due_ns) / NS_PER_MS
    failures = Counter(map(reason, reasons)) + Counter(str(one) for one in status[~answered & (status > 0)])
    failures[reason("")] += int((status == 0).sum()) - len(reasons)
    return RequestLog(
        start_s[answered],
        latency_ms[answered],
        failed_start_s=start_s[~answered],
        failed_latency_ms=latency_ms[~answered],
        failures=+failures,
        lag_ms=lag_ms[answered],
        failed_lag_ms=lag_ms[~answered],
    )
