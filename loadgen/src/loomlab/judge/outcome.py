"""What the tool did: its report, its requests, and how many of them came to an end, and how."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from loomlab.basics.errors import ParseError
from loomlab.judge.facts import Facts
from loomlab.records.models import ToolRun
from loomlab.records.requestlog import RequestLog, latency_figures
from loomlab.run.process import STALL_S
from loomlab.tools.tool import ToolReport, requests_of

AROUND_S = 2
"""Between the lab's clock readings and the tool's; some tools round starts to a second."""


@dataclass(frozen=True)
class Outcome:
    """What is known of the tool's work; `duration_s` is None where the tool did not run."""

    report: ToolReport = field(default_factory=ToolReport)
    log: RequestLog | None = None
    failure: str | None = None
    requests: int | None = None
    errors: int | None = None
    duration_s: float | None = None

    def figures(self) -> dict[str, Any]:
        """Fields of Run."""
        log, report = self.log or RequestLog(), self.report
        answered = None if report.completed is None else report.completed - log.unanswered
        return {
            "tool_failure": self.failure,
            "requests": self.requests,
            "errors": self.errors,
            "doubtful": log.doubtful,
            "completed": report.completed,
            "dropped": report.dropped,
            "keepalive_requests": report.keepalive_requests,
            "failures": dict(log.failures),
            "failed_latency_ms": latency_figures(log.failed_latency_ms),
            "duration_s": self.duration_s,
            "response_bytes_per_request": report.received_bytes / answered
            if report.received_bytes is not None and answered
            else None,
        }


def outcome_of(facts: Facts) -> Outcome:
    """The outcome of a run; of a tool whose report cannot be read, what else is known."""
    process, driver = facts.process, facts.driver
    if process is None:
        return Outcome()
    log, report, unread = None, ToolReport(), None
    try:
        log = _checked_requests(requests_of(facts.files, driver, facts.endpoint.floor_ms), process)
        report = _checked_report(driver.report(facts.files.raw), log, process)
    except (OSError, ParseError) as error:
        unread = f"What {driver.name} wrote cannot be read: {error}"
    duration_s = process.ended - process.started if report.duration_s is None else report.duration_s
    failure = unread or _failure(driver.name, process, report)
    if report.attempted is None:
        served = facts.metrics.served_requests(facts.endpoint.label, process.started, process.ended)
        counts = [count for count in (report.completed, served) if count is not None]
        return Outcome(report, log, failure, max(counts, default=None), None, duration_s)
    logged = log or RequestLog()
    unanswered = max(logged.unanswered - (report.non_2xx or 0), report.failed or 0)
    errors = max(unanswered + (report.non_2xx or 0), sum(logged.failures.values()))
    errors = min(errors, report.attempted)
    if log is not None:
        unmarked = max(errors - len(log.failed_start_s) - log.untimed, 0)
        log = replace(log, unmarked=unmarked, unsent=report.dropped or 0)
    return Outcome(report, log, failure, report.attempted, errors, duration_s)


def _checked_requests(log: RequestLog | None, process: ToolRun) -> RequestLog | None:
    """The requests; raises ParseError where a request began before the tool did, or ended after it."""
    if log is None:
        return None
    first, last = process.started - AROUND_S, process.ended + AROUND_S
    starts_s, latencies_ms = log.starts_s, log.latencies_ms
    inside = (latencies_ms >= 0) & (first <= starts_s) & (starts_s + latencies_ms / 1000 <= last)
    if not inside.all():
        odd = int(np.flatnonzero(~inside)[0])
        raise ParseError(
            f"a request of {latencies_ms[odd]:,.0f} ms at {starts_s[odd]:.3f} is not within the run, which lasted "
            f"from {process.started:.3f} to {process.ended:.3f}: measure again."
        )
    return log


def _checked_report(report: ToolReport, log: RequestLog | None, process: ToolRun) -> ToolReport:
    """The report; raises ParseError where it tells of more time than the process had, or of less than its requests."""
    if report.duration_s is None:
        return report
    span_s = 0.0
    if log is not None and len(log.starts_s):
        span_s = float((log.starts_s + log.latencies_ms / 1000).max() - log.starts_s.min())
    if not span_s - AROUND_S <= report.duration_s <= process.ended - process.started + AROUND_S:
        raise ParseError(
            f"its report tells of {report.duration_s:,.1f} s, but its requests took {span_s:,.1f} s and its process "
            f"{process.ended - process.started:,.1f} s: measure again."
        )
    return report


def _failure(name: str, process: ToolRun, report: ToolReport) -> str | None:
    """Why the tool left no figures, or only some."""
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
