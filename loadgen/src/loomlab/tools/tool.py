"""What a load generator is, and what all of them share."""

import gzip
import re
import shutil
import sys
import warnings
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.files import whole
from loomlab.records.load import Closed, Load
from loomlab.records.requestlog import RequestLog

LONGEST_REASON = 60
MOST_REASONS = 100
MOST_PACKED, MOST_BYTES, MOST_ROWS = 2**26, 2**28, 5_000_000
"""Of a file of requests, packed and not: ab's of 20,000 connections that wait 0.9 s has 230 MB after 210 s, that of a
service that answers 75,000 requests a second 160 MB after 35 s."""
PART = 2**24  # bytes whose numbers are read at a time
MOST_SAID = 2**24
_REQUEST = re.compile(r'^\w+ "[^"]*": ')
_ADDRESSES = re.compile(r"\b(?:read|write|dial) tcp \S+: ")
_REASONS = {
    "no address": r"lookup |no such host",
    "time-out": r"deadline exceeded|Client\.Timeout|i/o timeout|timed out",
    "connection refused": "connection refused",
    "connection reset": "connection reset",
    "answer cut short": "unexpected EOF",
    "connection closed": "EOF|broken pipe|server closed idle connection",
}
"""The first that fits counts."""


@dataclass(frozen=True)
class ToolReport:
    """What a tool said of its run; None: it did not say."""

    completed: int | None = None
    attempted: int | None = None  # succeeded, failed or had another status; without what was in flight at the end
    failed: int | None = None  # each failed request once, without `non_2xx`
    non_2xx: int | None = None
    dropped: int | None = None  # requests that the tool should have started and did not
    keepalive_requests: int | None = None
    received_bytes: int | None = None
    duration_s: float | None = None  # from the first request to the last answer
    aborted: str | None = None  # the tool's own reason for giving up, or for ending early
    rows: int | None = None  # how many requests its file of requests must hold
    failures: Mapping[str, int] = field(default_factory=dict)  # requests of which there is no row, by reason

    @classmethod
    def merged(cls, reports: "Sequence[ToolReport]") -> "ToolReport":
        """Of several load generators: sums of what all of them said, and how long all of them went on."""
        if len(reports) == 1:
            return reports[0]

        def told(name: str) -> list[Any] | None:
            values = [getattr(report, name) for report in reports]
            return None if None in values else values

        counts = "completed attempted failed non_2xx dropped keepalive_requests received_bytes rows"
        return cls(
            **{name: sum(values) for name in counts.split() if (values := told(name))},
            duration_s=min(told("duration_s") or [None]),
            failures=sum((Counter(report.failures) for report in reports), Counter()),
        )


class Tool(ABC):
    """A load generator: what it can do and costs, its command line, and how its files, named after it, are read."""

    name: str
    shapes: tuple[str, ...]  # kinds of load that it offers
    instead: str  # what to use for the other kinds
    one_target = False  # it sends one kind of request only
    http = "1.1"  # the version that it speaks
    checks_certificates = True
    max_connections = sys.maxsize
    max_requests = sys.maxsize  # in one run
    cpu_ms_per_request: float  # of its whole container, at some 1,000 requests a second (docs/reference/scenarios.md)
    most_cpus = sys.maxsize  # that it can keep busy
    memory_mb_per_connection = 0.0
    keeps_open = False  # it can keep connections between loads
    discards = False  # it loses what is in flight at its end, and everything after a long silence
    stops_by_time = True
    quotas = False  # each connection has a number of requests of its own, and idles when they are done
    tells_unended = False  # of requests that never ended, so that none is missing where a connection dies
    resolution_ms: float  # to whose multiples it rounds latencies
    counter: str | None = None  # PromQL for the requests that have ended, by `status`, in its own live figures
    suffix = "csv"  # of its file of requests
    columns: str  # the first line of that
    earlier_columns = ""  # the same, as it was once
    pins = "loadgen/tools/go.mod"  # the file that has its version
    pin = r"^\s+\S+/{name}(?:/v\d+)? (v\S+)"  # finds the version there

    def check(self, load: Load) -> None:
        if problem := next(self.problems(load), None):
            raise UsageError(f"{self.name} {problem}.")

    def problems(self, load: Load) -> Iterator[str]:
        """What of the load the tool cannot do, each with its cure; what follows one may be wrong because of it."""
        shape, connections = load.shape, load.connections
        if shape.kind not in self.shapes:
            yield f"offers only loads of the kind {' or '.join(self.shapes)}, not {shape.kind}: use {self.instead}"
        if load.origin.startswith("https:") and not self.checks_certificates:
            yield "does not check certificates: use users, or vegeta with RATE"
        if self.one_target and any("${" in header for header in load.targets[0].headers):
            yield "shows headers in the list of processes, and some have variables: use users or vegeta"
        if len(load.targets) > 1 and self.one_target:
            yield f"sends one kind of request, but {len(load.targets)} were asked for: use users"
        if connections > (most := self.max_connections):
            cure = f"use CONCURRENCY={most} or less, or more GENERATORS"
            yield f"opens at most {most} connections, not {connections}: {cure}"
        if isinstance(shape, Closed) and shape.requests < connections:
            yield f"needs a request for each of {connections} connections, got {shape.requests}: raise REQUESTS"
        if isinstance(shape, Closed) and shape.requests > self.max_requests:
            most = self.max_requests
            yield f"keeps the times of {most} requests, not of {shape.requests}: use REQUESTS={most} or less"

    @abstractmethod
    def command(self, load: Load, raw: Path, *, ramp_s: int = 0, in_slices: bool = False) -> list[str]:
        """Writes the files it needs. Connections begin evenly within the ramp, if it can; slices begin when told to."""

    def version(self, checkout: Path) -> str | None:
        """What the image is built with, by the checkout's pins; None where that is not known."""
        pins, pin = checkout / self.pins, self.pin.replace("{name}", self.name)
        match = re.search(pin, pins.read_text(encoding="utf-8"), re.MULTILINE) if pins.exists() else None
        return match and match[1]

    def output(self, raw: Path) -> Path:
        return raw / f"{self.name}.txt"

    def said(self, raw: Path) -> str:
        """The beginning of its output, of which a tool's own report is a small part."""
        with self.output(raw).open("rb") as source:
            return source.read(MOST_SAID).decode(errors="replace")

    def rows(self, raw: Path, packed: str = "") -> Path:
        """The file of requests, as the tool writes it; with `.gz`, as it is kept."""
        return raw / f"{self.name}-requests.{self.suffix}{packed}"

    def finish(self, raw: Path) -> None:
        """Packs what the tool left; does not raise for what it failed to leave."""
        rows = self.rows(raw)
        if rows.exists():
            with rows.open("rb") as log, whole(self.rows(raw, ".gz")) as sink, gzip.GzipFile("", "wb", 6, sink) as gz:
                shutil.copyfileobj(log, gz, 1 << 20)
            rows.unlink()

    @abstractmethod
    def report(self, raw: Path) -> ToolReport:
        """What the tool said; raises ParseError for what is not the tool's, OSError for what cannot be read."""

    def requests(self, raw: Path, floor_ms: int) -> RequestLog | None:
        """Per-request data, None without any; raises as `report`, and ParseError where the tool counted others."""
        packed = self.rows(raw, ".gz")
        if not packed.exists():
            return None
        counted, fact = self.report(raw).rows, f"{packed.name} has lines that are no requests, or was cut off"
        try:
            source = zlib.decompressobj(wbits=31)
            with packed.open("rb") as content:
                head, _, rows = source.decompress(content.read(MOST_PACKED), MOST_BYTES).partition(b"\n")
            is_whole = source.eof and rows.count(b"\n") <= MOST_ROWS
            log = self.read(rows if is_whole else b"", raw, floor_ms)
        except (zlib.error, ValueError, DeprecationWarning) as error:
            raise ParseError(f"{fact} ({error}): measure again.") from error
        if not is_whole:
            raise ParseError(
                f"{fact}, or has over {MOST_ROWS:,} lines or {MOST_BYTES:,} bytes: measure a shorter time."
            )
        if (head or rows) and head.decode(errors="replace") not in {self.columns, self.earlier_columns or self.columns}:
            raise ParseError(f"This is not {self.name}'s file of requests: the first line does not name the columns.")
        known = len(log.starts_s) + log.unanswered
        if counted not in {None, known}:
            raise ParseError(f"{self.name} counts {counted} requests, but its rows hold {known}: measure again.")
        return log

    @abstractmethod
    def read(self, rows: bytes, raw: Path, floor_ms: int) -> RequestLog:
        """The lines below the columns' names; raises ParseError or ValueError for what are no requests."""


def numbers(rows: bytes, count: int, separator: str, dtype: DTypeLike) -> NDArray[np.generic]:
    """The columns of lines with so many numbers; raises ValueError or DeprecationWarning for lines of another kind."""
    values, begin, done = np.empty((rows.count(b"\n"), count), dtype=dtype), 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        while begin < len(rows):
            end = rows.find(b"\n", begin + PART) + 1 or len(rows)
            part = rows[begin:end]
            read = np.fromstring(part.rstrip(b",\n"), dtype=dtype, sep=separator).reshape(part.count(b"\n"), count)
            values[done : done + len(read)] = read
            begin, done = end, done + len(read)
    if not np.isfinite(values).all():
        raise ValueError("not finite")
    return values.T


def reasons(errors: Iterable[tuple[object, int]]) -> Counter[str]:
    """How often each kind of error occurred, but for those beyond so many kinds, which are one."""
    found = Counter[str]()
    for error, count in errors:
        kind = reason(str(error))
        found[kind if kind in found or len(found) < MOST_REASONS else "another reason"] += int(count)
    return found


def reason(error: str) -> str:
    """The kind of an error of Go's net/http or of the lab's own tool, else its first characters without addresses."""
    text = _REQUEST.sub("", error)
    kind = next((kind for kind, words in _REASONS.items() if re.search(words, text)), None)
    return kind or _ADDRESSES.sub("", text).strip()[:LONGEST_REASON] or "no reason given"
