"""k6's samples (its csv output, v1.8.1), thinned to a row a request, and what those rows say."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from loomlab.basics.errors import ParseError
from loomlab.records.requestlog import RequestLog
from loomlab.tools.gohttp import is_success

SAMPLE_COLUMNS = b"metric_name,timestamp,metric_value,error_code,method,name,status,extra_tags,metadata\n"
REQUEST_COLUMNS = b"start_us,latency_us,status,error_code,method,name\n"
_PARTS = (b"http_req_duration,", b"http_req_blocked,", b"http_req_connecting,", b"http_req_sending,")
"""A request's samples that tell how long it took, in k6's order."""

US_PER_S, US_PER_MS = 1_000_000, 1_000
_REASONS = {
    1050: "time-out",
    1100: "no address",
    1101: "no address",
    1201: "connection closed",
    1211: "time-out",
    1212: "connection refused",
    1220: "connection reset",
}
"""By k6's error codes (lib/netext/httpext/error_codes.go)."""


def thin(samples: Iterable[bytes]) -> Iterator[bytes]:
    """The rows of the requests, below a line that names their columns; raises ParseError for what k6 does not write.

    A request's samples follow one another, all at the time of its end. A line without its end, which a killed k6
    leaves, is left out. A request that was never written took 0 ms, for all that k6 tells.
    """
    lines = iter(samples)
    if next(lines, b"") != SAMPLE_COLUMNS:
        raise ParseError("These are not k6's samples: the first line does not name the columns.")
    yield REQUEST_COLUMNS
    suffixes: dict[bytes, bytes] = {}
    parts: list[bytes] = []
    for line in lines:
        if not (line.startswith(_PARTS) and line.endswith(b"\n")):
            continue
        if line.startswith(_PARTS[0]):
            parts = []
        parts.append(line)
        if line.startswith(_PARTS[-1]):
            try:
                yield _request(parts, suffixes)
            except (ValueError, OverflowError) as error:
                raise ParseError(f"These are no samples of one request of k6's: {parts!r}.") from error


def _request(parts: Sequence[bytes], suffixes: dict[bytes, bytes]) -> bytes:
    if not all(part.startswith(name) for part, name in zip(parts, _PARTS, strict=True)):
        raise ValueError
    timed = [_timed(part) for part in parts]
    [(end_us, tags)] = {moment for moment, _ in timed}
    if tags not in suffixes:
        suffixes[tags] = _suffix(tags)
    latency_us = round(_latency_ms(*(time_ms for _, time_ms in timed)) * US_PER_MS)
    return b"%d,%d,%b" % (int(end_us) - latency_us, latency_us, suffixes[tags])


def _timed(part: bytes) -> tuple[tuple[bytes, bytes], float]:
    _, end_us, value, tags = part.split(b",", 3)
    return (end_us, tags), float(value)


def _latency_ms(duration_ms: float, blocked_ms: float, connecting_ms: float, sending_ms: float) -> float:
    """From when a request asked for a connection, to its end; 0 of one that was never written: k6 tells no start of it.

    `http_req_blocked` ends when the request gets its connection, and `http_req_duration` begins when the connection is
    there (lib/netext/httpext/tracer.go). For a kept one that is the same moment. A new one is there earlier, and both
    count the time in between, which k6 does not tell: the latency is a lower bound, short by the time to write the
    request or by the time to look up the address, whichever is less. Where Go sends a request again, because its kept
    connection was closed, the wait for the next one is within sending, and that within the duration. k6 does not tell
    such a request from another, so a wait that is no longer than sending is taken to be within it.
    """
    if duration_ms == 0:
        return 0
    if connecting_ms > 0:
        return max(blocked_ms + duration_ms - sending_ms, connecting_ms + duration_ms)
    return duration_ms if blocked_ms <= sending_ms else blocked_ms + duration_ms


def _suffix(tags: bytes) -> bytes:
    error_code, method, rest = tags.split(b",", 2)
    name, status, _, _ = rest.rsplit(b",", 3)
    return b",".join((status, error_code, method, name)) + b"\n"


class Span:
    """From the first start to the last end of what it is told of, in µs of the epoch."""

    def __init__(self) -> None:
        self._first_us: int | None = None
        self._last_us = 0

    def add(self, start_us: int, end_us: int) -> None:
        self._first_us = start_us if self._first_us is None else min(start_us, self._first_us)
        self._last_us = max(end_us, self._last_us)

    @property
    def seconds(self) -> float | None:
        return None if self._first_us is None else (self._last_us - self._first_us) / US_PER_S


class Requests:
    """What the rows say: `log`, and counts. One that failed and took no time at all was never written; when it was
    started k6 does not tell, for its sample is of when k6 gave it up: it is counted, and has no entry in the log."""

    def __init__(self) -> None:
        self.start_s, self.failed_start_s = array("d"), array("d")
        self.latency_ms, self.failed_latency_ms = array("d"), array("d")
        self.failures = Counter[str]()
        self.count = self.failed = self.non_2xx = 0
        self._known, self._given_up = Span(), Span()

    def add(self, start_us: int, latency_us: int, status: int, error_code: str) -> None:
        """Status 0: no answer."""
        self.count += 1
        answered = is_success(status)
        known = answered or latency_us > 0
        (self._known if known else self._given_up).add(start_us, start_us + latency_us)
        if known:
            (self.start_s if answered else self.failed_start_s).append(start_us / US_PER_S)
            (self.latency_ms if answered else self.failed_latency_ms).append(latency_us / US_PER_MS)
        if not answered:
            self.failures[str(status) if status else _reason(error_code)] += 1
            self.failed += status == 0
            self.non_2xx += status != 0

    @property
    def answered(self) -> int:
        return len(self.start_s) + self.non_2xx

    @property
    def duration_s(self) -> float | None:
        """From the first start to the last end that are known; where none is, of those that k6 gave up."""
        return self._given_up.seconds if self._known.seconds is None else self._known.seconds

    @property
    def log(self) -> RequestLog:
        return RequestLog(
            self.start_s,
            self.latency_ms,
            failed_start_s=self.failed_start_s,
            failed_latency_ms=self.failed_latency_ms,
            failures=self.failures,
        )


def _reason(error_code: str) -> str:
    code = int(error_code)
    return _REASONS.get(code, f"k6 error {code}")


def parse_requests(lines: Iterable[str]) -> Requests:
    """The thinned rows; raises ParseError for anything else."""
    rows = iter(lines)
    if next(rows, "") != REQUEST_COLUMNS.decode():
        raise ParseError("These are not k6's requests: the first line does not name the columns.")
    requests = Requests()
    for number, row in enumerate(rows, start=2):
        try:
            start_us, latency_us, status, error_code, _, _ = row.split(",", 5)
            requests.add(int(start_us), int(latency_us), int(status), error_code)
        except (ValueError, OverflowError) as error:
            raise ParseError(f"Line {number} of k6's requests is not a request: {row[:80]!r}.") from error
    return requests
