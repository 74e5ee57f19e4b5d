"""From a run's raw files to run.json: figures and verdict; a pure function of the files."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loomlab.basics.cpus import parse_cpu_list
from loomlab.basics.errors import ParseError, UsageError
from loomlab.judge import verdict
from loomlab.judge.busy import busiest_thread_full_share, full_share
from loomlab.judge.episodes import episode_of, steps_of
from loomlab.judge.evidence import Evidence
from loomlab.judge.halves import Parts
from loomlab.judge.interior import InteriorFigures, figures_of
from loomlab.judge.metrics import Metrics
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import Endpoint, endpoint_of
from loomlab.records.files import RunFiles, checksum, read_json, read_record, write_json
from loomlab.records.load import Closed, OpenRate
from loomlab.records.models import (
    BackendDelays,
    Episode,
    Halves,
    HostLog,
    Interior,
    Latency,
    Request,
    Run,
    Step,
    ToolRun,
    Warmup,
    WarmupDigest,
)
from loomlab.records.requestlog import RequestLog, latency_figures, silent_gaps
from loomlab.run.process import STALL_S
from loomlab.tools.known import tool
from loomlab.tools.tool import Tool, ToolReport


@dataclass(frozen=True)
class Outcome:
    """What the tool did: its report, per-request data, and how many requests came to an end, and how."""

    report: ToolReport
    log: RequestLog | None
    failure: str | None
    attempted: int | None
    errors: int | None


def judge_run(run_dir: Path) -> Run:
    """Writes run.json and returns it; raises UsageError when `run_dir` is not a run."""
    files = RunFiles(run_dir)
    request = read_record(files.request, Request)
    if request is None:
        raise UsageError(f"{run_dir} is not a run: it has no raw/request.json; name a folder below runs/.")
    run = _judge(files, request)
    write_json(files.run, run)
    return run


def _judge(files: RunFiles, request: Request) -> Run:
    driver = tool(request.tool)
    process = read_record(files.tool, ToolRun)
    warmup = read_record(files.warmup, Warmup)
    metrics = Metrics(read_json(files.metrics), request.approach)
    load = request.load
    endpoint = endpoint_of(request.endpoint, delay_of(request.delay))
    start, end = (process.started, process.ended) if process else (request.started, request.started)
    outcome = _outcome(files, endpoint, driver, process, metrics)
    took_s = outcome.report.duration_s
    log_end = start + took_s if took_s is not None else end
    figures = figures_of(outcome.log, load, start, log_end) if outcome.log else None
    steps, episodes = _stretches(request, outcome.log, start)
    evidence = _evidence(
        files, request, endpoint, driver, outcome, figures, steps, metrics, warmup, start, end, log_end
    )
    level, reasons = verdict.judge(evidence)
    window = figures.window if figures else None
    return Run(
        run=files.run_dir.resolve().name,
        approach=request.approach,
        tool=request.tool,
        scenario=request.scenario,
        cell=request.cell,
        endpoint=request.endpoint,
        load=load,
        concurrency=load.connections,
        rate=load.rate_rps,
        repeat=request.repeat,
        jdk=request.jdk,
        gc_name=request.gc,
        http_client=request.http_client,
        delay=request.delay,
        requests=outcome.attempted,
        errors=outcome.errors,
        failures=dict(outcome.log.failures) if outcome.log else {},
        failed_latency_ms=latency_figures(outcome.log.failed_latency_ms) if outcome.log else Latency(),
        dropped=outcome.report.dropped,
        started_rps=figures.started_rps if figures else None,
        duration_s=took_s if took_s is not None or process is None else end - start,
        throughput_rps=figures.throughput_rps if figures and not steps else None,
        latency_ms=figures.latency if figures and not steps else Latency(),
        **_resources(request, metrics, window, outcome.attempted, start, end),
        throttled_ratio=evidence.throttled_ratio,
        keepalive_requests=outcome.report.keepalive_requests,
        waves=figures.waves if figures else None,
        little_ratio=figures.little_ratio if figures else None,
        gc=metrics.gc(start, end),
        jit_cpu_seconds=metrics.jit_cpu_seconds(start, end),
        cpu_fall=evidence.cpu_fall,
        latency_fall=evidence.latency_fall,
        backend_lateness_mean_ms=evidence.backend_lateness_mean_ms,
        backend_lateness_p99_ms=evidence.backend_lateness_p99_ms,
        virtual_threads_pinned=metrics.virtual_threads_pinned(start, end),
        connections_opened=evidence.connections_opened,
        backend_requests_per_request=evidence.backend_requests_per_request,
        backend_connections_opened=_whole(evidence.backend_connections_opened),
        response_bytes_per_request=_ratio(outcome.report.received_bytes, _answered(outcome)),
        steps=steps,
        episodes=episodes,
        interior=window,
        start_s=request.start_s,
        warmup=warmup and digest(warmup),
        started=_iso(request.started),
        finished=_iso(end) if request.finished else None,
        verdict=level,
        reasons=reasons,
        raw_sha256=checksum(files.raw),
    )


def _stretches(request: Request, log: RequestLog | None, start: float) -> tuple[list[Step], list[Episode]]:
    if log is None:
        return [], []
    shape = request.load.shape
    steps = steps_of(log, shape) if isinstance(shape, OpenRate) else []
    return steps, [episode_of(log, hang, start) for hang in request.hangs]


def _outcome(files: RunFiles, endpoint: Endpoint, driver: Tool, process: ToolRun | None, metrics: Metrics) -> Outcome:
    if process is None:
        return Outcome(ToolReport(), None, None, None, None)
    log: RequestLog | None = None
    broken: str | None = None
    report = ToolReport()
    try:
        report = driver.report(files.raw, driver.name)
        log = driver.requests(files.raw, driver.name, endpoint.floor_ms)
    except (OSError, ParseError) as error:
        broken = f"What {driver.name} wrote cannot be read: {error}"
    failure = broken or _tool_failure(driver.name, process, report)
    if report.attempted is None:
        counted = [
            report.completed,
            metrics.served_requests(endpoint.label, process.started, process.ended),
        ]
        return Outcome(report, log, failure, max((one for one in counted if one is not None), default=None), None)
    non_2xx = report.non_2xx or 0
    unanswered = max((log.unanswered if log else 0) - non_2xx, report.failed or 0)
    return Outcome(report, log, failure, report.attempted, min(unanswered + non_2xx, report.attempted))


def _tool_failure(name: str, process: ToolRun, report: ToolReport) -> str | None:
    if process.stopped_by == "stall":
        return (
            f"{name} read nothing for {STALL_S:.0f} s (the limit) and was stopped: the figures are of the time before."
        )
    if process.stopped_by == "hard cap":
        return f"{name} was stopped at its hard cap, {process.ended - process.started:.0f} s after its start."
    if process.killed or report.duration_s is None:
        return f"{name} ended without a report (exit code {process.exit_code}): {report.aborted or 'killed'}."
    return None


def _resources(
    request: Request, metrics: Metrics, window: Interior | None, attempted: int | None, start: float, end: float
) -> dict[str, float | None]:
    """CPU on the interior (without one, the whole run); memory and threads over the whole run. RSS is null under ZGC:
    its heap is shared memory, which the kernel does not count as RSS."""
    approach = request.approach
    first, last, requests = start, end, attempted
    if window:
        first, last, requests = window.start, window.start + window.seconds, window.requests

    def per_request(service: str) -> float | None:
        seconds = metrics.cpu_seconds(service, first, last)
        return 1000 * seconds / requests if seconds is not None and requests else None

    return {
        "cpu_seconds": metrics.cpu_seconds(approach, first, last),
        "cpu_ms_per_request": per_request(approach),
        "backend_cpu_ms_per_request": per_request("backend"),
        "generator_cpu_ms_per_request": per_request("loadgen"),
        "rss_max_bytes": None if request.gc == "zgc" else metrics.rss_max_bytes(start, end),
        "vsz_max_bytes": metrics.vsz_max_bytes(start, end),
        "threads_max": metrics.threads_max(start, end),
    }


def _evidence(
    files: RunFiles,
    request: Request,
    endpoint: Endpoint,
    driver: Tool,
    outcome: Outcome,
    figures: InteriorFigures | None,
    steps: list[Step],
    metrics: Metrics,
    warmup: Warmup | None,
    start: float,
    end: float,
    log_end: float,
) -> Evidence:
    host = read_record(files.host, HostLog) or HostLog(samples=[], network_before={}, network_after={})
    whole = latency_figures(outcome.log.latency_ms) if outcome.log else Latency()
    longest_silence_s, silent_end_s = silent_gaps(outcome.log, log_end) if outcome.log else (0, 0)
    container = read_json(files.container)
    busy = verdict.BUSY_CPU
    about = read_json(files.about)
    span, counted = (start, end), outcome.attempted
    if figures:
        span = (figures.window.start, figures.window.start + figures.window.seconds)
        counted = figures.window.requests
    backend = _backend_limits(request, endpoint, host, metrics, start, end, span)
    cpu_fall, latency_fall = _falls(request, outcome.log, figures, metrics)
    jit_s, cpu_s = metrics.jit_cpu_seconds(start, end), metrics.cpu_seconds(request.approach, start, end)
    gc = metrics.gc(start, end)
    load, shape = request.load, request.load.shape
    return Evidence(
        concurrency=load.connections,
        delay_asked=delay_of(request.delay).text if endpoint.waits_as_configured else None,
        backend_delays=read_record(files.backend, BackendDelays),
        backend_calls=endpoint.backend_calls,
        closed_model=load.closed_model,
        steady=not steps and isinstance(shape, Closed | OpenRate) and not request.hangs,
        tool=driver.name,
        offered_rps=load.rate_rps,
        started_rps=figures.started_rps if figures else None,
        dropped=outcome.report.dropped,
        missed_steps=tuple(step.offered_rps for step in steps if not step.held),
        held_steps=tuple(step.offered_rps for step in steps if step.held),
        finished=request.finished,
        tool_failure=outcome.failure,
        attempted=outcome.attempted,
        errors=outcome.errors,
        container_known=container is not None,
        container_failure=container_failure(container, start),
        process_restarts=metrics.process_restarts(start, end),
        oom_kills=metrics.oom_kills(start, end),
        generator_cpus_full=full_share(host.samples, parse_cpu_list(request.generator_cpus), busy),
        generator_thread_full=busiest_thread_full_share(host.samples, busy),
        generator_quota_full=metrics.quota_full_share("loadgen", start, end, busy),
        **backend,
        little_ratio=figures.little_ratio if figures else None,
        metrics_missing_ratio=metrics.missing_ratio(start, end),
        silent_end_s=silent_end_s if driver.discards else 0,
        longest_silence_s=longest_silence_s,
        p50_ms=whole.p50,
        mean_ms=figures.latency.mean if figures else None,
        p99_ms=figures.latency.p99 if figures else None,
        max_ms=whole.max,
        gc_share=gc.share,
        gc_cpu_share=gc.cpu_share,
        throttled_ratio=metrics.throttled_ratio(start, end),
        syn_retransmits=_growth(host, "TCPSynRetrans"),
        whole_run=bool(figures and figures.window.whole_run),
        interior_s=figures.window.seconds if figures and not figures.window.whole_run else None,
        waves=figures.waves if figures else None,
        warmup=warmup,
        cpu_fall=cpu_fall,
        latency_fall=latency_fall,
        jit_cpu_share=jit_s / cpu_s if jit_s is not None and cpu_s else None,
        cold=warmup is not None and not warmup.bursts,
        backend_pool=backend_pool(about),
        platform_threads=platform_threads(about),
        connections_opened=_growth(host, "ActiveOpens"),
        backend_requests_per_request=_ratio(metrics.backend_growth("backend_requests_total", *span), counted),
        counted_requests=counted,
        backend_connections_opened=metrics.backend_growth("backend_connections_total", start, end),
        keepalive_requests=outcome.report.keepalive_requests,
        completed=outcome.report.completed,
    )


def digest(warmup: Warmup) -> WarmupDigest:
    return WarmupDigest(
        bursts=len(warmup.bursts),
        duration_s=warmup.duration_s,
        compiling_s=warmup.compiling_s,
        capped=warmup.capped,
        failed=warmup.failed,
    )


def _falls(
    request: Request, log: RequestLog | None, figures: InteriorFigures | None, metrics: Metrics
) -> tuple[Halves | None, Halves | None]:
    """Of CPU per request and of mean latency, where the load is the same throughout."""
    shape = request.load.shape
    steady = isinstance(shape, Closed) or (isinstance(shape, OpenRate) and len(shape.steps) == 1)
    if log is None or figures is None or not figures.latency.mean or not steady or request.hangs:
        return None, None
    parts = Parts(log, figures.window, figures.latency.mean / 1000)
    connections = request.load.connections if isinstance(shape, Closed) else None

    def cpu_seconds(first: float, last: float) -> float | None:
        return metrics.cpu_seconds(request.approach, first, last)

    return parts.cpu_fall(connections, cpu_seconds), parts.latency_fall()


def _backend_limits(
    request: Request,
    endpoint: Endpoint,
    host: HostLog,
    metrics: Metrics,
    start: float,
    end: float,
    span: tuple[float, float],
) -> dict[str, float | None]:
    """How near the backend was to its limits; nothing where no request asks it. Lateness is of the span that latency is
    taken on, up to the backend's first hang: after it, all that waited is due at once."""
    if not endpoint.backend_calls:
        return {}
    calm_until = min([span[1], *(start + hang.at_s for hang in request.hangs)])
    busy = verdict.BUSY_CPU
    return {
        "backend_cpus_full": full_share(host.samples, parse_cpu_list(request.backend_cpus), busy),
        "backend_quota_full": metrics.quota_full_share("backend", start, end, busy),
        "backend_loop_full": metrics.backend_loop_full_share(start, end, busy),
        "backend_lateness_mean_ms": metrics.backend_lateness_mean_ms(span[0], calm_until),
        "backend_lateness_p99_ms": metrics.backend_lateness_p99_ms(span[0], calm_until),
    }


def container_failure(inspected: Any, started: float) -> str | None:
    """Why `docker inspect` of the container under test (an array of one) invalidates a run begun at `started`."""
    try:
        container = inspected[0]
        state = container["State"]
    except (TypeError, KeyError, IndexError):
        return None
    if state.get("OOMKilled"):
        killed = "A process of the container" if state.get("Running") else "The container"
        return f"{killed} under test was killed for memory: raise its limit."
    if container.get("RestartCount"):
        return f"The container under test restarted {container['RestartCount']} times (the limit is 0)."
    if state.get("Running") is False:
        return f"The container under test had ended (exit code {state.get('ExitCode')}) when the run was over."
    begun = datetime.fromisoformat(state["StartedAt"]).timestamp() if state.get("StartedAt") else 0.0
    if begun > started:
        return f"The container under test was started {begun - started:.1f} s after the run began."
    return None


def backend_pool(about: Any) -> int | None:
    """The most backend connections to one address, from GET /about."""
    try:
        limit = about["outbound"]["max_connections_per_route"]
    except (TypeError, KeyError):
        return None
    return limit if isinstance(limit, int) else None


def platform_threads(about: Any) -> int | None:
    """The most worker threads, where they are platform threads, from GET /about."""
    try:
        limit = about["inbound"]["max_threads"] if about["concurrency"] == "platform-threads" else None
    except (TypeError, KeyError):
        return None
    return limit if isinstance(limit, int) else None


def _answered(outcome: Outcome) -> int | None:
    completed, log = outcome.report.completed, outcome.log
    return completed if completed is None or log is None else completed - log.unanswered


def _ratio(figure: float | None, count: int | None) -> float | None:
    return figure / count if figure is not None and count else None


def _whole(figure: float | None) -> int | None:
    return None if figure is None else round(figure)


def _growth(host: HostLog, counter: str) -> int | None:
    if counter not in host.network_before or counter not in host.network_after:
        return None
    return host.network_after[counter] - host.network_before[counter]


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
