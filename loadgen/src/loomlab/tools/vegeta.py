"""vegeta: its command line and what it leaves (read off its source, v12.13.0)."""

import csv
import io
import re
import subprocess
import sys
import threading
from array import array
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.files import write_text
from loomlab.records.load import Load, OpenRate, RateStep
from loomlab.records.requestlog import RequestLog
from loomlab.tools.gohttp import is_success, reason
from loomlab.tools.packed import pack, packed_lines, packing
from loomlab.tools.tool import ToolReport

REQUEST_COLUMNS = ("timestamp_ns", "latency_ns", "status", "error")
METRICS_PORT = 8880
FIRST_WORKERS = 100
"""vegeta starts more, up to as many as there may be connections, as soon as all are busy."""
LONGEST_RATE_UNIT_S = 1000
FINISH_LIMIT_S = 300.0
"""For each of four passes over the results; all four over 600,000 requests took 11 s."""
NS_PER_S, NS_PER_MS = 1_000_000_000, 1_000_000

_CLOCK = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d ")
_DONE = 'label_replace(sum(request_seconds_count{{job="vegeta",status{match}"2.."}}), "outcome", "{outcome}", "", "")'


class Vegeta:
    """`-max-body 0` reads bodies but keeps them out of the results, so bytes are not known; `-redirects -1` follows
    none. With all workers busy vegeta starts requests late, and leaves out what is late at the end: the rate missed
    shows in the starts alone. Latency begins when a worker takes the request on, before it has a connection. Go sends a
    GET again when a kept connection closes before a byte of the answer; such a request counts once.

    Of the exporter's figures only the histogram by status counts: its `request_fail_count` stays 0, and has a series
    for each error's text, ports included."""

    name = "vegeta"
    discards = False
    stops_by_time = True
    quotas = False
    most_requests = sys.maxsize
    resolution_ms = 1e-6
    done_query = f"{_DONE.format(match='=~', outcome='ok')} or {_DONE.format(match='!~', outcome='failed')}"

    def check(self, load: Load) -> None:
        step = _step(load)
        if len(load.targets) > 1:
            raise UsageError(f"vegeta sends one kind of request here, but {len(load.targets)} were asked for: use k6.")
        if step.rate_rps < 1 / LONGEST_RATE_UNIT_S:
            raise UsageError(
                f"vegeta's rate must be at least one request in {LONGEST_RATE_UNIT_S} s, got {step.rate_rps}/s: "
                "raise RATE."
            )

    def command(self, load: Load, raw: Path, stem: str) -> list[str]:
        step = _step(load)
        target = load.targets[0]
        body = (f"@{target.body}",) if target.body else ()
        targets = raw / f"{stem}-targets.txt"
        targets.write_text("\n".join((f"{target.method} {load.url}", *target.headers, *body)) + "\n", encoding="utf-8")
        return [
            *("vegeta", "attack"),
            *("-rate", rate(step.rate_rps)),
            *("-duration", f"{step.duration_s}s"),
            *("-timeout", f"{load.timeout_s}s"),
            *("-connections", str(load.connections)),
            *("-max-connections", str(load.connections)),
            *("-workers", str(min(load.connections, FIRST_WORKERS))),
            *("-max-workers", str(load.connections)),
            "-keepalive=true",
            *("-redirects", "-1"),
            *("-max-body", "0"),
            *("-prometheus-addr", f"0.0.0.0:{METRICS_PORT}"),
            *("-targets", str(targets)),
            *("-output", str(_results(raw, stem))),
        ]

    def output(self, raw: Path, stem: str) -> Path:
        return raw / f"{stem}.txt"

    def finish(self, raw: Path, stem: str) -> None:
        """vegeta's two reports, its plot, the thinned requests, and its results, compressed; what went wrong goes to
        `<stem>-finish.txt`."""
        results = _results(raw, stem)
        if not results.exists():
            return
        passes = (
            ("report", "-type=json", raw / f"{stem}-report.json"),
            ("report", "-type=text", raw / f"{stem}-report.txt"),
            ("plot", f"-title={stem}", raw / f"{stem}-plot.html"),
        )
        wrong = [_thin(results, _packed(raw, stem)), *(_pass(results, *one) for one in passes)]
        notes = [note for note in wrong if note]
        if notes:
            write_text(raw / f"{stem}-finish.txt", "\n".join(notes) + "\n")
        pack(results, results.with_name(f"{results.name}.gz"))

    def report(self, raw: Path, stem: str) -> ToolReport:
        path = raw / f"{stem}-report.json"
        if path.exists():
            return parse_report(path.read_bytes())
        said = self.output(raw, stem).read_text(errors="replace").split("\n")
        with suppress(FileNotFoundError):
            said[:0] = (raw / f"{stem}-finish.txt").read_text(errors="replace").split("\n")[:1]
        words = next((_said(line) for line in reversed(said) if line.strip()), "it said nothing")
        return ToolReport(aborted=f"vegeta left no usable results: {words}")

    def requests(self, raw: Path, stem: str, floor_ms: int) -> RequestLog | None:  # noqa: ARG002 - vegeta says what failed
        path = _packed(raw, stem)
        if not path.exists():
            return None
        log, report = parse_requests(packed_lines(path)), raw / f"{stem}-report.json"
        rows = len(log) + len(log.failed_start_s)
        if report.exists() and (counted := parse_report(report.read_bytes()).attempted) != rows:
            raise ParseError(f"vegeta counts {counted} requests, but its rows hold {rows}: measure again.")
        return log


def rate(rate_rps: float) -> str:
    """As vegeta takes it, a whole number of requests in whole seconds: 12.5/s is 25/2s."""
    fraction = Fraction(rate_rps).limit_denominator(LONGEST_RATE_UNIT_S)
    return f"{fraction.numerator}/{fraction.denominator}s"


def _step(load: Load) -> RateStep:
    if not isinstance(load.shape, OpenRate):
        raise UsageError("vegeta offers only a rate, but a closed load or users were asked for: use ab, hey or k6.")
    if len(load.shape.steps) != 1:
        raise UsageError(f"vegeta keeps one rate, but {len(load.shape.steps)} steps were asked for: use k6.")
    return load.shape.steps[0]


def _results(raw: Path, stem: str) -> Path:
    return raw / f"{stem}.bin"


def _packed(raw: Path, stem: str) -> Path:
    return raw / f"{stem}-requests.csv.gz"


def _said(line: str) -> str:
    """Without the clock vegeta puts before its last words."""
    return _CLOCK.sub("", line.strip())


def _pass(results: Path, verb: str, option: str, made: Path) -> str | None:
    """Writes `made`; what went wrong, if anything."""
    command = ["vegeta", verb, option, "-output", str(made), str(results)]
    try:
        # A session of its own: on Ctrl-C vegeta would report what it has read by then as if it were all.
        done = subprocess.run(  # noqa: S603 - no shell
            command,
            check=False,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=FINISH_LIMIT_S,
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        wrong = str(error)
    else:
        if done.returncode == 0:
            return None
        wrong = _said(done.stderr)
    made.unlink(missing_ok=True)
    return f"vegeta {verb} {option} failed: {wrong}"


def _thin(results: Path, packed: Path) -> str | None:
    """Writes `packed`, as far as the results can be read; what went wrong, if anything."""
    command = ["vegeta", "encode", "-to", "csv", str(results)]
    try:
        with subprocess.Popen(  # noqa: S603 - no shell
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        ) as process:
            killer = threading.Timer(FINISH_LIMIT_S, process.kill)
            killer.start()
            try:
                assert process.stdout is not None and process.stderr is not None
                count = _pack(process.stdout, packed)
                wrong = _said(process.stderr.read())
            finally:
                killer.cancel()
                process.kill()
    except (OSError, csv.Error) as error:
        return f"vegeta encode failed: {error}"
    if count == 0:
        packed.unlink()
    return f"vegeta encode failed: {wrong or 'it was killed'}" if process.returncode else None


def _pack(encoded: Iterable[str], packed: Path) -> int:
    """How many requests were written; vegeta's columns are timestamp, status, latency, bytes out, bytes in, error..."""
    count = 0
    with packing(packed) as rows, io.TextIOWrapper(rows, encoding="utf-8", newline="") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(REQUEST_COLUMNS)
        for row in csv.reader(encoded):
            if len(row) > 5:
                writer.writerow((row[0], row[2], row[1], row[5]))
                count += 1
    return count


class _Report(BaseModel):
    requests: int = Field(ge=0)
    duration: int = Field(ge=0)
    wait: int
    status_codes: dict[int, int]


def parse_report(text: bytes | str) -> ToolReport:
    """`vegeta report -type=json`; its times are ns, and status 0 means no answer."""
    try:
        said = _Report.model_validate_json(text)
    except ValidationError as error:
        raise ParseError(
            f"This is not vegeta's report ({error.error_count()} fields differ): measure again."
        ) from error
    failed = said.status_codes.get(0, 0)
    return ToolReport(
        completed=said.requests - failed,
        attempted=said.requests,
        failed=failed,
        non_2xx=sum(count for status, count in said.status_codes.items() if status and not is_success(status)),
        duration_s=(said.duration + said.wait) / NS_PER_S,
    )


def parse_requests(lines: Iterable[str]) -> RequestLog:
    """The thinned requests; raises ParseError for anything else."""
    start_s, failed_start_s = array("d"), array("d")
    latency_ms, failed_latency_ms = array("d"), array("d")
    failures = Counter[str]()
    try:
        rows = csv.reader(lines)
        if tuple(next(rows, ())) != REQUEST_COLUMNS:
            raise ParseError("These are not vegeta's requests: the first line does not name the columns.")
        for started_ns, took_ns, status_text, error in rows:
            status = int(status_text)
            answered = is_success(status)
            (start_s if answered else failed_start_s).append(int(started_ns) / NS_PER_S)
            (latency_ms if answered else failed_latency_ms).append(int(took_ns) / NS_PER_MS)
            if not answered:
                failures[str(status) if status else reason(error)] += 1
    except (ValueError, OverflowError, csv.Error) as error:
        raise ParseError(f"Request {len(start_s) + len(failed_start_s) + 1} of vegeta's is broken: {error}.") from error
    return RequestLog(
        start_s, latency_ms, failed_start_s=failed_start_s, failed_latency_ms=failed_latency_ms, failures=failures
    )
