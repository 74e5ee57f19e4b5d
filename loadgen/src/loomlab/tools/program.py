"""The lab's own load generators, `lab-rates` and `lab-users`: what they are told, and what they leave."""

import sys
from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from loomlab.basics.errors import ParseError
from loomlab.records.files import write_json
from loomlab.records.load import Load, Target
from loomlab.records.requestlog import RequestLog
from loomlab.tools.gohttp import is_success, reason
from loomlab.tools.packed import pack, packed_lines
from loomlab.tools.tool import ToolReport

COLUMNS = "due_ns,start_ns,latency_ns,status,bytes,error\n"
"""Of a request: epoch ns at which it was due and at which it started, ns to the last byte of its answer, status (0: no
answer) and the length of the body, and why there is no answer."""
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
        log = parse_rows(packed_lines(_packed(raw, stem)))
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


def parse_rows(lines: Iterable[str]) -> RequestLog:
    """The requests; raises ParseError for anything else. A line without its end, which a killed program leaves, is left
    out."""
    rows = iter(lines)
    if next(rows, COLUMNS) != COLUMNS:
        raise ParseError("These are not requests of rates or users: the first line does not name the columns.")
    starts, latencies, lags = (array("d"), array("d")), (array("d"), array("d")), (array("d"), array("d"))
    failures = Counter[str]()
    for number, row in enumerate(rows, start=2):
        if not row.endswith("\n"):
            break
        try:
            due_ns, start_ns, latency_ns, status_text, _, error = row.rstrip("\n").split(",")
            status = int(status_text)
            failed = not is_success(status)
            starts[failed].append(int(start_ns) / NS_PER_S)
            latencies[failed].append(int(latency_ns) / NS_PER_MS)
            lags[failed].append((int(start_ns) - int(due_ns)) / NS_PER_MS)
        except (ValueError, OverflowError) as problem:
            raise ParseError(f"Line {number} is not a request: {row[:80]!r}.") from problem
        if failed:
            failures[str(status) if status else reason(error)] += 1
    return RequestLog(
        starts[False],
        latencies[False],
        failed_start_s=starts[True],
        failed_latency_ms=latencies[True],
        failures=failures,
        lag_ms=lags[False],
        failed_lag_ms=lags[True],
    )
