"""hey: its command line and what it prints (read off its source, v0.1.5)."""

import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field

from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.files import read_record, write_json, write_text
from loomlab.records.load import Closed, Load
from loomlab.records.record import EpochSeconds, Record
from loomlab.records.requestlog import RequestLog
from loomlab.tools.gohttp import is_success, reason
from loomlab.tools.packed import columns_of, packed_bytes, packing, rows_below
from loomlab.tools.tool import ToolReport

MAX_REQUESTS = 1_000_000
"""hey keeps the times of so many answers and forgets those of the others."""
REQUEST_COLUMNS = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
TEMPLATE = f"""
Summary:
  Requests:	{{{{ .NumRes }}}}
  Total:	{{{{ printf "%.6f" .Total.Seconds }}}} secs
  Requests/sec:	{{{{ formatNumber .Rps }}}}
  Fastest:	{{{{ formatNumber .Fastest }}}} secs
  Average:	{{{{ formatNumber .Average }}}} secs
  Slowest:	{{{{ formatNumber .Slowest }}}} secs

Latency distribution, of all answers:{{{{ range .LatencyDistribution }}}}
  {{{{ .Percentage }}}}% in {{{{ formatNumber .Latency }}}} secs{{{{ end }}}}

Status code distribution:{{{{ range $status, $count := .StatusCodeDist }}}}
  [{{{{ $status }}}}]	{{{{ $count }}}} responses{{{{ end }}}}

Error distribution:{{{{ range $error, $count := .ErrorDist }}}}
  [{{{{ $count }}}}]	{{{{ printf "%q" $error }}}}{{{{ end }}}}

{REQUEST_COLUMNS}{{{{ range $i, $latency := .Lats }}}}
{{{{ printf "%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%d,%.6f" $latency (index $.ConnLats $i) (index $.DnsLats $i) \
(index $.ReqLats $i) (index $.DelayLats $i) (index $.ResLats $i) (index $.StatusCodes $i) (index $.Offsets $i) }}}}\
{{{{ end }}}}"""
"""hey's `-o` takes a Go template, of which `csv` is one: its columns, with microseconds, below a summary."""

_REQUESTS = re.compile(r"^  Requests:\t([0-9]{1,12})$", re.MULTILINE)
_TOTAL = re.compile(r"^  Total:\t([0-9]{1,9}\.[0-9]{6}) secs$", re.MULTILINE)
_STATUS = re.compile(r"^  \[([0-9]{3})\]\t([0-9]{1,12}) responses$", re.MULTILINE)
_ERROR = re.compile(r'^  \[([0-9]{1,12})\]\t"(.*)"$', re.MULTILINE)
_ROW = re.compile(
    r"^([0-9]{1,9}\.[0-9]{6}),(-?[0-9]{1,9}\.[0-9]{6})(?:,-?[0-9]{1,9}\.[0-9]{6}){4},([0-9]{3}),([0-9]{1,9}\.[0-9]{6})$"
)
_LAST_WORDS = re.compile(
    r"^(?:Usage: hey |panic: |fatal error: |runtime: |open .+: |parse |could not parse )", re.MULTILINE
)


class Started(Record):
    """`<stem>-load.json`: `requests` hey sends unless it is stopped, on so many connections, each for `timeout_s` at
    most; epoch seconds just before it was started."""

    requests: int = Field(ge=0)
    connections: int = Field(ge=1)
    timeout_s: float = Field(gt=0)
    started: EpochSeconds


class Hey:
    """hey tells starts in seconds since its own; the epoch second of that is taken in `command`, some ms early.

    It keeps 500 idle connections at most: what is idle beyond that, at one moment, is closed and opened again (its rows
    show dials). Go sends a GET again when a kept connection closes before a byte of the answer; such a request counts
    once. An answer whose body is cut or stalls is a good one to hey, and its "Total data" is what the headers promised;
    but Go closes such a connection, and the next request dials."""

    name = "hey"
    discards = False
    stops_by_time = False
    quotas = True
    tells_unended = False
    most_requests = MAX_REQUESTS
    resolution_ms = 1e-3
    done_query = None

    def check(self, load: Load) -> None:
        requests = _closed(load).requests
        if len(load.targets) > 1:
            raise UsageError(f"hey sends one kind of request, but {len(load.targets)} were asked for: use users.")
        if requests < load.connections:
            raise UsageError(
                f"hey wants at least as many requests as connections, got {requests} for {load.connections}: "
                "raise REQUESTS."
            )
        if requests > MAX_REQUESTS:
            raise UsageError(
                f"hey keeps the times of {MAX_REQUESTS} requests, but {requests} were asked for: lower REQUESTS."
            )

    def command(self, load: Load, raw: Path, stem: str) -> list[str]:
        """Without `-z`: the caller stops hey at its time limit, and it then waits for what is in flight."""
        requests = _closed(load).requests
        target = load.targets[0]
        # The same number for each connection: hey leaves the remainder out.
        sent = requests // load.connections * load.connections
        told = Started(requests=sent, connections=load.connections, timeout_s=load.timeout_s, started=time.time())
        write_json(_load_file(raw, stem), told)
        return [
            *("hey", "-disable-redirects"),
            *("-n", str(requests)),
            *("-c", str(load.connections)),
            *("-t", str(load.timeout_s)),
            *("-o", TEMPLATE),
            *("-m", target.method),
            *(word for header in target.headers for word in ("-H", header)),
            *(("-D", str(target.body)) if target.body else ()),
            load.url,
        ]

    def output(self, raw: Path, stem: str) -> Path:
        return raw / f"{stem}.txt"

    def finish(self, raw: Path, stem: str) -> None:
        """Moves the rows to `<stem>-requests.csv.gz`; the summary, and whatever else is there, stays."""
        output = self.output(raw, stem)
        if output.exists():
            _split(output, _packed(raw, stem))

    def report(self, raw: Path, stem: str) -> ToolReport:
        started = read_record(_load_file(raw, stem), Started)
        return parse_report(self.output(raw, stem).read_text(errors="replace"), started.requests if started else None)

    def requests(self, raw: Path, stem: str, floor_ms: int) -> RequestLog | None:  # noqa: ARG002 - no row lacks an answer
        path = _packed(raw, stem)
        if not path.exists():
            return None
        started = read_record(_load_file(raw, stem), Started)
        summary = parse_summary(self.output(raw, stem).read_text(errors="replace"))
        if started is None or summary is None:
            raise ParseError(f"{path.name} lacks hey's summary or {_load_file(raw, stem).name}: measure again.")
        return parse_requests(packed_bytes(path), started, summary)


def _closed(load: Load) -> Closed:
    if not isinstance(load.shape, Closed):
        raise UsageError("hey knows no rate and no ramp here, only a closed load: use vegeta or users.")
    return load.shape


def _packed(raw: Path, stem: str) -> Path:
    return raw / f"{stem}-requests.csv.gz"


def _load_file(raw: Path, stem: str) -> Path:
    return raw / f"{stem}-load.json"


def _split(output: Path, packed: Path) -> None:
    kept: list[str] = []
    with output.open(encoding="utf-8", errors="replace") as lines:
        if not any(map(_names_columns, lines)):
            return
        lines.seek(0)
        with packing(packed) as rows:
            for line in lines:
                if _names_columns(line) or _ROW.match(line):
                    rows.write(line.encode("ascii"))
                else:
                    kept.append(line)
    write_text(output, "".join(kept))


def _names_columns(line: str) -> bool:
    return line.rstrip("\n") == REQUEST_COLUMNS


@dataclass(frozen=True)
class Summary:
    """`requests` ended within `duration_s`; answers by `statuses`, the others by reason in `errors`."""

    requests: int
    duration_s: float
    statuses: Mapping[int, int]
    errors: Mapping[str, int]


def parse_summary(text: str) -> Summary | None:
    """What stands above the rows, None where it is missing; raises ParseError when its counts do not add up."""
    requests, total = _REQUESTS.search(text), _TOTAL.search(text)
    if requests is None or total is None:
        return None
    statuses, errors = Counter[int](), Counter[str]()
    for match in _STATUS.finditer(text):
        statuses[int(match[1])] += int(match[2])
    for match in _ERROR.finditer(text):
        errors[reason(match[2].replace('\\"', '"'))] += int(match[1])
    if statuses.total() + errors.total() != int(requests[1]):
        raise ParseError(
            f"hey's summary is damaged: of {requests[1]} requests it lists {statuses.total()} answers and "
            f"{errors.total()} errors: measure again."
        )
    return Summary(int(requests[1]), float(total[1]), statuses, errors)


def parse_report(text: str, wanted: int | None) -> ToolReport:
    """What hey printed, as a report; `wanted` is how many requests it was to send (None: unknown). hey prints nothing
    before its end."""
    summary = parse_summary(text)
    if summary is None:
        return _without_summary(text)
    stopped = wanted is not None and summary.requests < wanted
    return ToolReport(
        completed=sum(summary.statuses.values()),
        attempted=summary.requests,
        failed=sum(summary.errors.values()),
        non_2xx=sum(count for status, count in summary.statuses.items() if not is_success(status)),
        duration_s=summary.duration_s,
        aborted=f"hey was stopped before its {wanted} requests were done" if stopped else None,
    )


def _without_summary(text: str) -> ToolReport:
    if not text.strip():
        return ToolReport(aborted="hey ended without a report")
    if not _LAST_WORDS.search(text):
        raise ParseError("This is not hey's output: neither its summary nor an error of it is in it.")
    return ToolReport(aborted=text.strip().splitlines()[0])


def parse_requests(text: bytes, started: Started, summary: Summary) -> RequestLog:
    """hey's rows. A row is an answer, unless it took as long as the time-out; of other requests without one only their
    number and reasons are known. Raises ParseError for other rows, and when there are not as many as the summary
    counts."""
    rows = rows_below(text, REQUEST_COLUMNS, "hey's rows")
    told = columns_of(rows.replace(b"\n", b",\n"), 8, ",", np.float64, "hey's file of requests")
    took_s, dial_s, status, offset_s = told[:, 0], told[:, 1], told[:, 6], told[:, 7]
    timed_out = took_s >= started.timeout_s
    answered = (status // 100 == 2) & ~timed_out
    failures = Counter(summary.errors) + Counter(str(int(one)) for one in status[~answered & ~timed_out])
    failures["time-out"] += int(timed_out.sum())
    counted = sum(summary.statuses.values())
    if len(told) != counted:
        raise ParseError(f"hey counts {counted} answers, but its rows hold {len(told)}: measure again.")
    start_s = started.started + offset_s
    return RequestLog(
        start_s[answered],
        1000 * took_s[answered],
        failed_start_s=start_s[~answered],
        failed_latency_ms=1000 * took_s[~answered],
        failures=+failures,
        doubtful=max(int((dial_s > 0).sum()) - started.connections, 0),
    )
