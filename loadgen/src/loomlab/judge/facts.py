"""A run's raw files, read, and what they say of the tool: how many requests came to an end, and how."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from loomlab.basics.errors import ParseError
from loomlab.judge.limits import SEE_LOG
from loomlab.judge.metrics import Metrics
from loomlab.judge.series import ratio
from loomlab.records.endpoints import delay_of, endpoint_of
from loomlab.records.files import HOST, TOOL, RunFiles, read_json, read_record
from loomlab.records.load import Closed
from loomlab.records.measured import BackendDelays, Sight
from loomlab.records.models import Container, HostLog, Request, ToolRun
from loomlab.records.raw import MemoryLog, MetricsLog, SliceLog, Warmup
from loomlab.records.requestlog import RequestLog, latency_figures
from loomlab.run.process import STALL_S
from loomlab.tools import several
from loomlab.tools.known import tool
from loomlab.tools.tool import ToolReport

INSPECTED = TypeAdapter(tuple[Container])
LONGEST_S = 7 * 86_400  # of a run: some figures are made second by second


class Facts:
    """What a run's raw files say; None: there is no such file. `start` and `end` are the tool's, epoch seconds."""

    def __init__(self, files: RunFiles, request: Request) -> None:
        """Raises ParseError for a file that holds something else."""
        self.files = files
        self.request = request
        endpoints = [endpoint_of(target.target, delay_of(request.delay)) for target in request.load.targets]
        self.endpoint = endpoints[0]
        self.floors_ms = [endpoint.floor_ms for endpoint in endpoints]
        one_load = isinstance(request.load.shape, Closed) or request.load.rate_rps is not None
        self.steady = one_load and not request.hangs
        self.driver = tool(request.tool)
        folders = several.folders_of(files.raw)
        self.processes = [read_record(folder / TOOL, ToolRun) for folder in folders]
        known = [process for process in self.processes if process]
        self.start = min((process.started for process in known), default=request.started)
        self.end = max((process.ended for process in known), default=request.started)
        every_s = 1 / (request.load.rate_rps or math.inf)  # by so much each is to begin after the one before
        begun = [process.started - place * every_s for place, process in enumerate(known)]
        self.apart = None
        if begun and request.generators > 1:  # fewer where there are fewer connections
            self.apart = ratio(max(begun) - min(begun), self.end - self.start)
        self.warmup = read_record(files.warmup, Warmup)
        self.metrics = Metrics(read_record(files.metrics, MetricsLog), request.name)
        nothing = HostLog(samples=[], network_before={}, network_after={})
        self.hosts = [read_record(folder / HOST, HostLog) or nothing for folder in folders]
        self.host = self.hosts[0]
        of_users: Sight = "jvm" if self.metrics.of_jvm else "container"
        self.sight: Sight = "answers" if request.outside else of_users if request.foreign else "lab"
        self.about = read_json(files.about)
        try:
            self.container: Container | None = INSPECTED.validate_python(read_json(files.container))[0]
        except (ValidationError, ParseError):  # the host's shell writes it, which syncs nothing
            self.container = None
        self.delays = read_record(files.backend, BackendDelays)
        self.slices = read_record(files.slices, SliceLog)
        self.memory = read_record(files.memory, MemoryLog)
        idle = self.memory.idle if self.memory else None
        self.last_answer = idle.answered if idle and idle.answer and self.slices else math.inf
        if request.capacity_share:
            self.last_answer = self.end


def tool_figures(facts: Facts) -> tuple[dict[str, Any], RequestLog | None]:
    """Fields of Run, and the requests; of a tool whose report cannot be read, what else is known."""
    driver, raw = facts.driver, facts.files.raw
    if facts.processes[0] is None:
        return {"requests": None, "duration_s": None}, None
    log, report, failure = None, ToolReport(), None
    try:
        reports = [driver.report(folder) for folder in several.folders_of(raw)]
        report, log = ToolReport.merged(reports), several.requests_of(driver, raw, facts.endpoint.floor_ms)
        _check_times(facts, report, log)
        failure = next(_failures(facts, reports), None)
    except (OSError, ParseError) as error:
        log, report = None, ToolReport()
        failure = f"What {driver.name} wrote cannot be read: {error}"
    logged = RequestLog() if log is None else log  # one without answers is false
    requests, errors = report.attempted, None
    if requests is not None:
        other_status = report.non_2xx or 0
        unanswered = max(logged.unanswered - other_status, report.failed or 0)
        errors = min(max(unanswered + other_status, sum(logged.failures.values())), requests)
        unmarked = max(errors - len(logged.failed_start_s) - logged.untimed, 0)
        log = None if log is None else replace(log, unmarked=unmarked, unsent=report.dropped or 0)
    return {
        "tool_failure": failure,
        "requests": report.completed if requests is None else requests,
        "errors": errors,
        "doubtful": logged.doubtful,
        "dropped": report.dropped,
        "keepalive_requests": report.keepalive_requests,
        "failures": dict(logged.failures),
        "failed_latency_ms": latency_figures(logged.failed_latency_ms),
        "duration_s": facts.end - facts.start if report.duration_s is None else report.duration_s,
        "response_bytes_per_request": ratio(report.received_bytes, (report.completed or 0) - logged.unanswered),
    }, log


def _check_times(facts: Facts, report: ToolReport, log: RequestLog | None) -> None:
    """Raises ParseError where the times of a run are farther apart than any run lasts."""
    slices = facts.slices.slices if facts.slices else ()
    ends = [facts.start, facts.end, facts.start + (report.duration_s or 0)]
    ends += [end for one in slices for end in (one.started, one.ended)]
    if np.ptp(np.concatenate([ends, () if log is None else log.starts_s])) > LONGEST_S:
        raise ParseError("the times of the run are more than a week apart: measure again.")


def _failures(facts: Facts, reports: Sequence[ToolReport]) -> Iterator[str]:
    """Of the load generators whose tools did not end well."""
    for number, (process, report) in enumerate(zip(facts.processes, reports, strict=True), 1):
        name = facts.driver.name + (f" of load generator {number}" if len(reports) > 1 else "")
        if process is None:
            continue
        if process.stopped_by == "stall":
            fact = f"{name} read nothing for {STALL_S:.0f} s (the limit) and was stopped"
            yield f"{fact}: the figures cover the time before; use a lower load."
        elif process.stopped_by == "hard cap":
            yield f"{name} was stopped at its hard cap of {process.ended - process.started:.0f} s: use a lower load."
        elif process.stopped_by == "slice":
            yield "A slice of this pair did not end in time, or its load generator died: see the logs in raw/."
        elif process.killed or report.duration_s is None:
            why = f"{report.aborted or 'killed':.300}"
            yield f"{name} ended without a report (exit code {process.exit_code}): {why}; {SEE_LOG}."
        elif process.exit_code and not process.stopped_by:
            yield f"{name} failed (exit code {process.exit_code}), so its report may lack a part: measure again."
