"""Apache Bench: its command line and what it prints and writes (read off its source, support/ab.c of httpd 2.4)."""

import re
import shutil
import string
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from loomlab.records.load import Closed, Load
from loomlab.records.requestlog import RequestLog
from loomlab.tools.tool import Tool, ToolReport, numbers

REQUEST_COLUMNS = "starttime\tseconds\tctime\tdtime\tttime\twait"
DATE_WORDS = (string.ascii_letters + ":").encode()
"""Without them, the date in the first column is three numbers: day, time and year."""
_COUNT = re.compile(r"^(\w[\w -]+):\s+(\d{1,15})(?: bytes)?$", re.MULTILINE)
_DURATION = re.compile(r"^Time taken for tests:\s+(\d{1,15}(?:\.\d+)?) seconds$", re.MULTILINE)
_KINDS = r"^\s+\(Connect: N, Receive: N, Length: N, Exceptions: N\)$"
_FAILURES = re.compile(_KINDS.replace("N", r"(\d{1,15})"), re.MULTILINE)
_PROGRESS = re.compile(r"^(?:Completed|Finished|Total of) (\d{1,15}) requests(?: completed)?\s*$", re.MULTILINE)
_ABORT = re.compile(r"^(?:ab: .+|\w+(?:\(\))?(?: for [^:\n]+)?: .+ \(\d+\)|Test aborted after .+)$", re.MULTILINE)


class Ab(Tool):
    """`-n` comes after `-t`, which sets it to 50,000; at its end ab discards what is in flight; `-l`: lengths vary."""

    name = "ab"
    shapes = ("closed",)
    instead = "vegeta or users"
    one_target = True
    http = "1.0"
    checks_certificates = False  # it sets no verification (ab.c, httpd 2.4)
    max_connections = 20_000
    cpu_ms_per_request = 0.05
    most_cpus = 1
    discards = True
    resolution_ms = 1.0
    suffix = "tsv"
    columns = REQUEST_COLUMNS

    def problems(self, load: Load) -> Iterator[str]:
        yield from super().problems(load)
        if load.targets[0].method != "GET":
            yield f"sends only GET requests here, not {load.targets[0].method}: use hey or users"

    def command(self, load: Load, raw: Path, **_: int) -> list[str]:
        assert isinstance(load.shape, Closed)
        return [
            *("ab", "-k", "-l", "-r", "-s", str(load.timeout_s), "-t", str(load.shape.duration_s)),
            *("-n", str(load.shape.requests), "-c", str(load.connections), "-g", str(self.rows(raw))),
            *(word for header in load.targets[0].headers for word in ("-H", header)),
            load.origin + load.targets[0].target,
        ]

    def version(self, checkout: Path) -> str | None:  # noqa: ARG002 - it is the distribution's
        """Of the one that is installed, as it says itself."""
        path = shutil.which("ab")
        said = subprocess.run([path, "-V"], capture_output=True, text=True, check=False).stdout if path else ""  # noqa: S603
        match = re.search(r"Version (\S+)", said)
        return match and match[1]

    def report(self, raw: Path) -> ToolReport:
        """A reset counts as Receive, often as Exceptions, too, and as complete: only other failures add to `attempted`.
        Without a report, the last progress line has the number of completed ones."""
        text = self.said(raw)
        counts = {name: int(number) for name, number in _COUNT.findall(text)}
        completed, duration_s = counts.get("Complete requests"), _DURATION.search(text)
        if completed is None or duration_s is None:
            completed = max(map(int, _PROGRESS.findall(text)), default=None)
            return ToolReport(completed=completed, aborted=(_ABORT.findall(text) or ["ab ended without a report"])[-1])
        failures = _FAILURES.search(text)
        connect, receive, length, exceptions = map(int, failures.groups()) if failures else (0, 0, 0, 0)
        surplus_exceptions = max(exceptions - receive, 0)
        return ToolReport(
            completed=completed,
            attempted=completed + connect + surplus_exceptions,
            failed=connect + receive + length + surplus_exceptions + counts.get("Write errors", 0),
            non_2xx=counts.get("Non-2xx responses", 0),
            keepalive_requests=counts.get("Keep-Alive requests"),
            received_bytes=counts.get("Total transferred"),
            duration_s=float(duration_s[1]),
            rows=completed,
        )

    def read(self, rows: bytes, raw: Path, floor_ms: int) -> RequestLog:  # noqa: ARG002
        """The `-g` file rounds to seconds and ms; where answers take `floor_ms` > 1, a row with a wait of 0 is none."""
        _, _, _, seconds, _, _, total, waited = numbers(rows.translate(None, DATE_WORDS), 8, " ", np.int64)
        answered = (waited != 0) | (floor_ms <= 1)
        return RequestLog(seconds[answered], total[answered], int((~answered).sum()), rounded_ms=1)
