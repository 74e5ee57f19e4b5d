"""k6: its command line and what it leaves (read off its source, v1.8.1)."""

import json
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.files import read_json, write_json
from loomlab.records.load import Closed, Load, OpenRate, Users
from loomlab.records.requestlog import RequestLog
from loomlab.tools.k6_options import LONGEST_RATE_UNIT_S, load_file
from loomlab.tools.k6_samples import Requests, parse_requests, thin
from loomlab.tools.packed import packed_lines, packing
from loomlab.tools.tool import ToolReport

SCRIPT = Path(__file__).with_name("k6_load.js")
REMOTE_WRITE_VARIABLE = "K6_PROMETHEUS_RW_SERVER_URL"

_ERROR = re.compile(r'^time="[^"]*" level=(?:error|fatal|panic) msg=("(?:[^"\\]|\\.)*"|\S+)(.*)$', re.MULTILINE)
_CRASH = re.compile(r"^(?:panic|fatal error|runtime): .+$", re.MULTILINE)
_PLACE = re.compile(r" at \w+ \(file://.*\)$")
_K6 = re.compile(r'^(?:time="|\s+█ TOTAL RESULTS)', re.MULTILINE)


class K6:
    """Every kind of load, by one script (k6_load.js). A connection is a user of k6's.

    Latency begins when a request asks for a connection, as far as k6 tells (`k6_samples` has the cases); of one that
    got none k6 tells no latency, and its start is when it was given up. Go sends a GET again when a kept connection
    closes before a byte of the answer; such a request counts once. Stopped by SIGINT, k6 leaves out what is in flight.
    With `K6_PROMETHEUS_RW_SERVER_URL` set it sends its figures there, too, while it runs.
    """

    name = "k6"
    discards = False
    stops_by_time = True
    quotas = False
    most_requests = sys.maxsize
    resolution_ms = 1e-3
    done_query = (
        'sum by (outcome) (label_replace(label_replace(k6_http_reqs_total, "outcome", "failed", "", ""), '
        '"outcome", "ok", "status", "2.."))'
    )

    def check(self, load: Load) -> None:
        match load.shape:
            case Closed(requests) if requests < load.connections:
                raise UsageError(
                    f"k6 wants at least as many requests as connections, got {requests} for {load.connections}: "
                    "raise REQUESTS."
                )
            case OpenRate(steps):
                lowest_rps = min(step.rate_rps for step in steps)
                if lowest_rps < 1 / LONGEST_RATE_UNIT_S:
                    raise UsageError(
                        f"k6's rate must be at least one request in {LONGEST_RATE_UNIT_S} s, got {lowest_rps}/s: "
                        "raise RATE."
                    )
            case Users(stages):
                users = max(stage.users for stage in stages)
                if not 1 <= users <= load.connections:
                    raise UsageError(
                        f"k6 needs at least one user, each with a connection, got {users} users for {load.connections} "
                        "connections: raise CONCURRENCY or correct the stages."
                    )

    def command(self, load: Load, raw: Path, stem: str) -> list[str]:
        options = _options(raw, stem).resolve()
        write_json(options, load_file(load))
        live = ("--out", "experimental-prometheus-rw") if os.environ.get(REMOTE_WRITE_VARIABLE) else ()
        return [
            *("k6", "run", "--quiet", "--no-color", "--no-usage-report"),
            *("--address", ""),
            *("--include-system-env-vars=false", "--env", f"LOAD={options}"),
            *("--summary-export", str(_summary(raw, stem))),
            *("--out", f"csv=fileName={_samples(raw, stem)},timeFormat=unix_micro"),
            *live,
            str(SCRIPT),
        ]

    def output(self, raw: Path, stem: str) -> Path:
        return raw / f"{stem}.txt"

    def finish(self, raw: Path, stem: str) -> None:
        """The samples stay when they cannot be thinned."""
        samples, packed = _samples(raw, stem), _packed(raw, stem)
        if not samples.exists():
            return
        with suppress(ParseError):
            with samples.open("rb") as lines, packing(packed) as rows:
                rows.writelines(thin(lines))
            samples.unlink()

    def report(self, raw: Path, stem: str) -> ToolReport:
        said = self.output(raw, stem).read_text(errors="replace")
        requests = _requests(raw, stem)
        summary = _summary(raw, stem)
        words = last_words(said)
        if not summary.exists():
            return ToolReport(
                completed=requests.answered if requests else None, aborted=words or "k6 ended without a report"
            )
        counts = parse_summary(summary.read_bytes())
        attempted = counts.get("http_reqs", 0)
        if requests and requests.count != attempted:
            raise ParseError(
                f"k6 counted {attempted} requests, but its samples hold {requests.count}: some are lost; measure again."
            )
        return ToolReport(
            completed=attempted - requests.failed if requests else None,
            attempted=attempted,
            failed=requests.failed if requests else None,
            non_2xx=requests.non_2xx if requests else None,
            dropped=counts.get("dropped_iterations", 0) if keeps_a_rate(read_json(_options(raw, stem))) else 0,
            received_bytes=counts.get("data_received"),
            duration_s=requests.duration_s if requests else None,
            aborted=None if attempted else words or "k6 sent no request",
        )

    def requests(self, raw: Path, stem: str, floor_ms: int) -> RequestLog | None:  # noqa: ARG002 - k6 says what failed
        requests = _requests(raw, stem)
        return requests.log if requests else None


def _options(raw: Path, stem: str) -> Path:
    return raw / f"{stem}-options.json"


def _summary(raw: Path, stem: str) -> Path:
    return raw / f"{stem}-summary.json"


def _samples(raw: Path, stem: str) -> Path:
    return raw / f"{stem}-samples.csv"


def _packed(raw: Path, stem: str) -> Path:
    return raw / f"{stem}-requests.csv.gz"


def _requests(raw: Path, stem: str) -> Requests | None:
    packed = _packed(raw, stem)
    return parse_requests(packed_lines(packed)) if packed.exists() else None


def last_words(said: str) -> str | None:
    """The last error k6 told of itself, or how it crashed, in one line; None when it told of none. That an output could
    not be written is no error of k6's. Raises ParseError for text that is not k6's."""
    crash = _CRASH.search(said)
    if crash:
        return crash[0]
    errors = [match[1] for match in _ERROR.finditer(said) if " output=" not in match[2]]
    if errors:
        lines = _unquoted(errors[-1]).splitlines()
        return _PLACE.sub("", " ".join(line.strip() for line in lines if not line.startswith("\tat "))) or None
    if said.strip() and not _K6.search(said):
        raise ParseError("This is not k6's output: neither its log nor its summary is in it.")
    return None


def _unquoted(message: str) -> str:
    try:
        return str(json.loads(message))
    except ValueError:
        return message.strip('"')


class _Metric(BaseModel):
    count: float = 0


class _Summary(BaseModel):
    metrics: dict[str, _Metric]


def parse_summary(text: bytes | str) -> dict[str, int]:
    """The counts in k6's `--summary-export`, by metric; raises ParseError for another file."""
    try:
        metrics = _Summary.model_validate_json(text).metrics
        return {name: int(metric.count) for name, metric in metrics.items()}
    except (ValidationError, ValueError, OverflowError) as error:
        raise ParseError("This is not k6's summary: it lacks `metrics` with their counts: measure again.") from error


def keeps_a_rate(options: Any) -> bool:
    """Whether what k6 counts as dropped should have been started; what a closed load's time limit kept from being
    started it counts, too. Raises ParseError when these are not options that `command` writes."""
    try:
        scenarios = options["options"]["scenarios"].values()
        return any(scenario["executor"].endswith("-arrival-rate") for scenario in scenarios)
    except (AttributeError, KeyError, TypeError) as error:
        raise ParseError("The options k6 was started with are missing or damaged: measure again.") from error
