"""Apache Bench: its command line and what it prints and writes (read off its source, support/ab.c of httpd 2.4)."""

import re
import sys
from pathlib import Path

import numpy as np

from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.load import Closed, Load
from loomlab.records.requestlog import RequestLog
from loomlab.tools.packed import columns_of, pack, packed_bytes, rows_below
from loomlab.tools.tool import ToolReport

MAX_CONCURRENCY = 20_000
DATE_LENGTH = len("Thu Jan  1 00:00:00 1970")
REQUEST_COLUMNS = "starttime\tseconds\tctime\tdtime\tttime\twait"

_COUNT = {
    "completed": re.compile(r"^Complete requests:\s+(\d+)$", re.MULTILINE),
    "write_errors": re.compile(r"^Write errors:\s+(\d+)$", re.MULTILINE),
    "non_2xx": re.compile(r"^Non-2xx responses:\s+(\d+)$", re.MULTILINE),
    "keepalive": re.compile(r"^Keep-Alive requests:\s+(\d+)$", re.MULTILINE),
    "received": re.compile(r"^Total transferred:\s+(\d+) bytes$", re.MULTILINE),
}
_DURATION = re.compile(r"^Time taken for tests:\s+(\d+(?:\.\d+)?) seconds$", re.MULTILINE)
_FAILURES = re.compile(r"^\s+\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)$", re.MULTILINE)
_PROGRESS = re.compile(r"^(?:Completed|Finished|Total of) (\d+) requests(?: completed)?\s*$", re.MULTILINE)
_ABORT = re.compile(r"^(?:ab: .+|\w+(?:\(\))?(?: for [^:]+)?: .+ \(\d+\)|Test aborted after .+)$", re.MULTILINE)
_BANNER = re.compile(r"^(?:This is ApacheBench|Benchmarking )", re.MULTILINE)


class Ab:
    """`-n` comes after `-t`, which would set it to 50,000; `-l` because answers vary in length; `-r` goes on after
    a reset. With `-t` ab ends at the first event after the limit and discards what is in flight."""

    name = "ab"
    discards = True
    stops_by_time = True
    quotas = False
    tells_unended = False
    most_requests = sys.maxsize
    resolution_ms = 1.0
    done_query = None

    def check(self, load: Load) -> None:
        if load.connections > MAX_CONCURRENCY:
            raise UsageError(
                f"ab opens at most {MAX_CONCURRENCY} connections, not {load.connections}: lower CONCURRENCY."
            )
        requests = _closed(load).requests
        if requests < load.connections:
            raise UsageError(
                f"ab wants at least as many requests as connections, got {requests} for {load.connections}: "
                "raise REQUESTS."
            )
        if len(load.targets) > 1 or load.targets[0].method != "GET":
            raise UsageError("ab sends one kind of GET request here, but others were asked for: use users.")

    def command(self, load: Load, raw: Path, stem: str) -> list[str]:
        shape = _closed(load)
        return [
            *("ab", "-k", "-l", "-r"),
            *("-s", str(load.timeout_s)),
            *("-t", str(shape.duration_s)),
            *("-n", str(shape.requests)),
            *("-c", str(load.connections)),
            *("-g", str(raw / f"{stem}-requests.tsv")),
            *(word for header in load.targets[0].headers for word in ("-H", header)),
            load.url,
        ]

    def output(self, raw: Path, stem: str) -> Path:
        return raw / f"{stem}.txt"

    def finish(self, raw: Path, stem: str) -> None:
        plain = raw / f"{stem}-requests.tsv"
        if plain.exists():
            pack(plain, _packed(raw, stem))

    def report(self, raw: Path, stem: str) -> ToolReport:
        return parse_report(self.output(raw, stem).read_text(errors="replace"))

    def requests(self, raw: Path, stem: str, floor_ms: int) -> RequestLog | None:
        path = _packed(raw, stem)
        if not path.exists():
            return None
        log, report = parse_requests(packed_bytes(path), floor_ms), self.report(raw, stem)
        rows = len(log) + log.unanswered
        if report.duration_s is not None and report.completed != rows:
            raise ParseError(f"ab counts {report.completed} requests, but its rows hold {rows}: measure again.")
        return log


def _closed(load: Load) -> Closed:
    if not isinstance(load.shape, Closed):
        raise UsageError("ab knows no rate and no ramp, only a closed load: use vegeta or users.")
    return load.shape


def _packed(raw: Path, stem: str) -> Path:
    return raw / f"{stem}-requests.tsv.gz"


def parse_report(text: str) -> ToolReport:
    """What ab printed, as a report.

    A reset counts as Receive and often as Exceptions too, while the request still counts as complete: `failed` takes
    it once, and only failures without a completed request (Connect, surplus Exceptions) add to `attempted`.
    Without its report, only the number of completed requests is known, from the last progress line.
    """
    counts = {name: int(match[1]) for name, pattern in _COUNT.items() if (match := pattern.search(text))}
    duration = _DURATION.search(text)
    if "completed" not in counts or duration is None:
        return _without_report(text)
    failures = _FAILURES.search(text)
    connect, receive, length, exceptions = map(int, failures.groups()) if failures else (0, 0, 0, 0)
    surplus_exceptions = max(exceptions - receive, 0)
    return ToolReport(
        completed=counts["completed"],
        attempted=counts["completed"] + connect + surplus_exceptions,
        failed=connect + receive + length + surplus_exceptions + counts.get("write_errors", 0),
        non_2xx=counts.get("non_2xx", 0),
        keepalive_requests=counts.get("keepalive"),
        received_bytes=counts.get("received"),
        duration_s=float(duration[1]),
    )


def _without_report(text: str) -> ToolReport:
    if not _BANNER.search(text) and not _ABORT.search(text):
        raise ParseError("This is not ab's output: neither its banner nor a report is in it.")
    progress = [int(match[1]) for match in _PROGRESS.finditer(text)]
    last_words = [match[0] for match in _ABORT.finditer(text)]
    return ToolReport(
        completed=max(progress, default=None),
        aborted=last_words[-1] if last_words else "ab ended without a report",
    )


def parse_requests(text: bytes, floor_ms: int) -> RequestLog:
    """ab's `-g` file: whole epoch seconds of the start, and ms, each rounded.

    A connection that closes before a byte of the answer leaves a row too, with a wait of 0 ms; where the answer takes
    `floor_ms` > 1 at least, such rows are not answers. Raises ParseError for anything but such rows.
    """
    rows = columns_of(
        _without_dates(rows_below(text, REQUEST_COLUMNS, "ab's -g file")), 5, "\t", np.int64, "ab's -g file"
    )
    seconds, _, _, total, waited = rows.T
    answered = waited != 0 if floor_ms > 1 else np.ones(len(rows), dtype=bool)
    return RequestLog(seconds[answered], total[answered], int((~answered).sum()), rounded_ms=1)


def _without_dates(rows: bytes) -> bytes:
    """The rows without their first column, the date, which has the same length in all of them."""
    told = np.frombuffer(rows, dtype=np.uint8)
    begins = np.concatenate([[0], np.flatnonzero(told == ord("\n"))[:-1] + 1]) if len(told) else np.empty(0, dtype=int)
    if len(begins) and (begins[-1] + DATE_LENGTH >= len(told) or (told[begins + DATE_LENGTH] != ord("\t")).any()):
        raise ParseError("ab's -g file has lines that are no requests: measure again.")
    kept = np.ones(len(told), dtype=bool)
    for offset in range(DATE_LENGTH + 1):
        kept[begins + offset] = False
    return told[kept].tobytes()
