"""hey: its command line and what it prints (read off its source, v0.1.5)."""

import re
import time
from collections import Counter
from pathlib import Path

import numpy as np
from pydantic import Field

from loomlab.basics.errors import ParseError
from loomlab.records.files import Record, read_record, whole, write_json
from loomlab.records.load import Closed, Load
from loomlab.records.requestlog import RequestLog
from loomlab.tools.tool import Tool, ToolReport, numbers, reasons

START_FILE = "hey-load.json"
REQUEST_COLUMNS = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
TEMPLATE = """
  Requests:	{{ .NumRes }}
  Total:	{{ printf "%.6f" .Total.Seconds }} secs{{ range $status, $count := .StatusCodeDist }}
  [{{ $status }}]	{{ $count }} responses{{ end }}{{ range $error, $count := .ErrorDist }}
  [{{ $count }}]	{{ printf "%q" $error }}{{ end }}

COLUMNS{{ range $i, $latency := .Lats }}
{{ printf "%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%d,%.6f" $latency (index $.ConnLats $i) (index $.DnsLats $i) \
(index $.ReqLats $i) (index $.DelayLats $i) (index $.ResLats $i) (index $.StatusCodes $i) (index $.Offsets $i) }}\
{{ end }}""".replace("COLUMNS", REQUEST_COLUMNS)
"""hey's `-o` takes a Go template, of which `csv` is one: its columns, with microseconds, below what it counted."""
_REQUESTS = re.compile(r"^  Requests:\t([0-9]{1,12})$", re.MULTILINE)
_TOTAL = re.compile(r"^  Total:\t([0-9]{1,9}\.[0-9]{6}) secs$", re.MULTILINE)
_STATUS = re.compile(r"^  \[([0-9]{3})\]\t([0-9]{1,12}) responses$", re.MULTILINE)
_ERROR = re.compile(r'^  \[([0-9]{1,12})\]\t"(.*)"$', re.MULTILINE)
_HEAD = re.compile(b"^" + re.escape(REQUEST_COLUMNS.encode()) + b"$", re.MULTILINE)
_ROWS = re.compile(
    _HEAD.pattern + rb"\n?|^[0-9]{1,9}\.[0-9]{6}(?:,-?[0-9]{1,9}\.[0-9]{6}){5},[0-9]{3},[0-9]{1,9}\.[0-9]{6}$\n?",
    re.MULTILINE,
)


class Started(Record):
    """START_FILE: what hey was started with."""

    requests: int = Field(ge=0, description="That it sends unless it is stopped")
    connections: int = Field(ge=1)
    timeout_s: float = Field(gt=0, description="Of each request")
    started: float = Field(ge=0, description="Just before its start")


class Hey(Tool):
    """The lab stops it at its time limit; it then waits for what is in flight. What is cut shows as another dial."""

    name = "hey"
    shapes = ("closed",)
    instead = "vegeta or users"
    one_target = True
    checks_certificates = False  # InsecureSkipVerify (requester.go)
    max_requests = 1_000_000  # whose times it keeps; it forgets those of others
    cpu_ms_per_request = 0.15
    stops_by_time = False
    quotas = True
    resolution_ms = 1e-3
    columns = REQUEST_COLUMNS

    def command(self, load: Load, raw: Path, **_: int) -> list[str]:
        assert isinstance(load.shape, Closed)
        target = load.targets[0]
        # The same number for each connection: hey leaves the remainder out.
        sent = load.shape.requests // load.connections * load.connections
        started = Started(requests=sent, connections=load.connections, timeout_s=load.timeout_s, started=time.time())
        write_json(raw / START_FILE, started)
        return [
            *("hey", "-disable-redirects", "-n", str(load.shape.requests), "-c", str(load.connections)),
            *("-t", str(load.timeout_s), "-o", TEMPLATE, "-m", target.method),
            *(word for header in target.headers for word in ("-H", header)),
            *(("-D", str(target.body)) if target.body else ()),
            load.origin + target.target,
        ]

    def finish(self, raw: Path) -> None:
        """Moves the rows to a file of their own; the summary, and whatever else is there, stays."""
        output = self.output(raw)
        text = output.read_bytes() if output.exists() else b""
        if _HEAD.search(text):
            with whole(self.rows(raw)) as rows:
                rows.writelines(match[0] for match in _ROWS.finditer(text))
            with whole(output) as others:
                others.write(_ROWS.sub(b"", text))
        super().finish(raw)

    def report(self, raw: Path) -> ToolReport:
        """hey prints nothing before its end."""
        text = self.said(raw)
        attempts, total_s = _REQUESTS.search(text), _TOTAL.search(text)
        if attempts is None or total_s is None:
            return ToolReport(aborted=text.strip().partition("\n")[0] or "hey ended without a report")
        failures = reasons((error.replace('\\"', '"'), int(count)) for count, error in _ERROR.findall(text))
        answers = Counter({status: int(count) for status, count in _STATUS.findall(text)})
        attempted, completed = int(attempts[1]), answers.total()
        started = read_record(raw / START_FILE, Started)
        wanted = started.requests if started else attempted
        return ToolReport(
            completed=completed,
            attempted=attempted,
            failed=attempted - completed,
            non_2xx=sum(count for status, count in answers.items() if not status.startswith("2")),
            duration_s=float(total_s[1]),
            aborted=f"hey was stopped before its {wanted} requests were done" if attempted < wanted else None,
            rows=completed,
            failures=failures,
        )

    def read(self, rows: bytes, raw: Path, floor_ms: int) -> RequestLog:  # noqa: ARG002
        """A row is an answer, unless it took as long as the time-out; other requests without one have no row."""
        started, report = read_record(raw / START_FILE, Started), self.report(raw)
        if started is None or report.completed is None:
            raise ParseError(f"hey's rows lack its summary or {START_FILE}: measure again.")
        latency_s, dial_s, _, _, _, _, status, offset_s = numbers(rows.replace(b"\n", b",\n"), 8, ",", np.float64)
        timed_out = latency_s >= started.timeout_s
        answered = (status // 100 == 2) & ~timed_out
        codes = zip(*np.unique(status[~answered & ~timed_out], return_counts=True), strict=True)
        failures = Counter(report.failures) + reasons((int(code), count) for code, count in codes)
        failures["time-out"] += int(timed_out.sum())
        start_s = started.started + offset_s
        return RequestLog(
            start_s[answered],
            1000 * latency_s[answered],
            failed_start_s=start_s[~answered],
            failed_latency_ms=1000 * latency_s[~answered],
            failures=+failures,
            doubtful=max(int((dial_s > 0).sum()) - started.connections, 0),
        )
