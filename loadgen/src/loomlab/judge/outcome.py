"""What the tool did: its report, per-request data, and how many requests came to an end, and how."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from loomlab.basics.errors import ParseError
from loomlab.judge.facts import Facts
from loomlab.records.models import Latency, ToolRun
from loomlab.records.requestlog import RequestLog, latency_figures
from loomlab.run.process import STALL_S
from loomlab.tools.tool import ToolReport, requests_of

AROUND_S = 2
"""Between the lab's clock readings and the tool's; some tools round starts to a second."""


@dataclass(frozen=True)
class Outcome:
    """`took_s` is None where the tool did not run."""

    report: ToolReport
    log: RequestLog | None
    failure: str | None
    attempted: int | None
    errors: int | None
    took_s: float | None

    @property
    def answered(self) -> int | None:
        completed = self.report.completed
        return completed if completed is None or self.log is None else completed - self.log.unanswered

    @property
    def unmarked(self) -> int:
        """Answers in the log that failed, of a tool that does not tell which: at most so many."""
        known = 0 if self.log is None else len(self.log.failed_start_s) + self.log.untimed
        return max((self.errors or 0) - known, 0)

    def evidence(self) -> dict[str, Any]:
        """Fields of Evidence."""
        return {
            "tool_failure": self.failure,
            "attempted": self.attempted,
            "errors": self.errors,
            "doubtful": 0 if self.log is None else self.log.doubtful,
            "completed": self.report.completed,
            "dropped": self.report.dropped,
            "keepalive_requests": self.report.keepalive_requests,
        }

    def published(self) -> dict[str, Any]:
        """Fields of run.json."""
        received, answered = self.report.received_bytes, self.answered
        return {
            "requests": self.attempted,
            "errors": self.errors,
            "failures": dict(self.log.failures) if self.log is not None else {},
            "failed_latency_ms": Latency() if self.log is None else latency_figures(self.log.failed_latency_ms),
            "dropped": self.report.dropped,
            "duration_s": self.took_s,
            "keepalive_requests": self.report.keepalive_requests,
            "response_bytes_per_request": received / answered if received is not None and answered else None,
        }


def outcome_of(facts: Facts) -> Outcome:
    """Of a tool whose report cannot be read, what else is known."""
    process, driver, raw = facts.process, facts.driver, facts.files.raw
    if process is None:
        return Outcome(ToolReport(), None, None, None, None, None)
    log: RequestLog | None = None
    broken: str | None = None
    report = ToolReport()
    try:
        log = _of_run(requests_of(facts.files, driver, facts.endpoint.floor_ms), process)
        report = _of_its_time(driver.report(raw), log, process)
    except (OSError, ParseError) as error:
        broken = f"What {driver.name} wrote cannot be read: {error}"
    failure = broken or _failure(driver.name, process, report)
    took_s = process.ended - process.started if report.duration_s is None else report.duration_s
    if report.attempted is None:
        served = facts.metrics.served_requests(facts.endpoint.label, process.started, process.ended)
        counted = [one for one in (report.completed, served) if one is not None]
        return Outcome(report, log, failure, max(counted, default=None), None, took_s)
    non_2xx = report.non_2xx or 0
    unanswered = max((0 if log is None else log.unanswered) - non_2xx, report.failed or 0)
    logged = 0 if log is None else sum(log.failures.values())
    errors = min(max(unanswered + non_2xx, logged), report.attempted)
    return Outcome(report, log, failure, report.attempted, errors, took_s)


def _of_run(log: RequestLog | None, process: ToolRun) -> RequestLog | None:
    """Raises ParseError where a request began before the tool did, or ended after it."""
    if log is None:
        return None
    first, last = process.started - AROUND_S, process.ended + AROUND_S
    starts_s, latencies_ms = log.starts_s, log.latencies_ms
    inside = (latencies_ms >= 0) & (first <= starts_s) & (starts_s + latencies_ms / 1000 <= last)
    if not inside.all():
        place = int(np.flatnonzero(~inside)[0])
        raise ParseError(
            f"a request of {latencies_ms[place]:,.0f} ms at {starts_s[place]:.3f} is not within the run, which lasted "
            f"from {process.started:.3f} to {process.ended:.3f}: measure again."
        )
    return log


def _of_its_time(report: ToolReport, log: RequestLog | None, process: ToolRun) -> ToolReport:
    """Raises ParseError where the tool says that it took longer than its process, or shorter than its requests."""
    took_s = report.duration_s
    if took_s is None:
        return report
    span_s = 0.0
    if log is not None and len(log.starts_s):
        span_s = float((log.starts_s + log.latencies_ms / 1000).max() - log.starts_s.min())
    if span_s - AROUND_S <= took_s <= process.ended - process.started + AROUND_S:
        return report
    raise ParseError(
        f"its report tells of {took_s:,.1f} s, but its requests took {span_s:,.1f} s and its process "
        f"{process.ended - process.started:,.1f} s: measure again."
    )


def _failure(name: str, process: ToolRun, report: ToolReport) -> str | None:
    if process.stopped_by == "stall":
        return (
            f"{name} read nothing for {STALL_S:.0f} s (the limit) and was stopped: the figures cover the time before."
        )
    if process.stopped_by == "hard cap":
        return f"{name} was stopped at its hard cap, {process.ended - process.started:.0f} s after its start."
    if process.killed or report.duration_s is None:
        return f"{name} ended without a report (exit code {process.exit_code}): {report.aborted or 'killed'}."
    if process.exit_code and not process.stopped_by:
        return f"{name} failed (exit code {process.exit_code}), so its report may lack a part: measure again."
    return None
