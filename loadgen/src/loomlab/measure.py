"""One measurement: warm-up, the measured run, and everything about it as raw files."""

import resource
from pathlib import Path
from typing import Any

from loomlab import hoststat
from loomlab.collect import collect, wait_for_samples
from loomlab.endpoints import endpoint_of
from loomlab.errors import CannotMeasureError
from loomlab.models import HostLog, HostSample, Request, Warmup
from loomlab.probe import probe
from loomlab.process import STALL_S, run_tool
from loomlab.progress import Progress
from loomlab.prometheus import Prometheus, UnreachableError, get_json
from loomlab.raw import RunFiles, write_json
from loomlab.stop import Stop
from loomlab.tools import Load, Tool
from loomlab.warmup import Warmer, process_of

SILENCE_LIMIT_S = 30
"""After so long without an answer ab gives up and discards everything."""
HARD_CAP_MARGIN_S = 15.0
SPARE_DESCRIPTORS = 64
PROBE_MARGIN_S = 30.0


def check_descriptors(concurrency: int) -> None:
    """Raises CannotMeasureError when the open-files limit does not cover the connections."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    needed = concurrency + SPARE_DESCRIPTORS
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise CannotMeasureError(
            f"{concurrency} connections need {needed} open files, the load generator may open {limit}: "
            "lower CONCURRENCY or raise the host's hard limit."
        )


def measure(request: Request, tool: Tool, run_dir: Path, prometheus_url: str, stop: Stop, progress: Progress) -> bool:
    """Leaves raw/ in `run_dir`; True when it came to its end, False when it was stopped."""
    files = RunFiles(run_dir)
    files.raw.mkdir(parents=True, exist_ok=True)
    endpoint = endpoint_of(request.endpoint, request.delay_ms)
    load = Load(
        url=f"http://{request.approach}:8080{request.endpoint}",
        concurrency=request.concurrency,
        requests=request.requests,
        duration_s=request.duration_s,
        silence_limit_s=SILENCE_LIMIT_S,
        headers=endpoint.headers,
    )
    write_json(files.request, request)
    check_descriptors(request.concurrency)
    timeout_s = endpoint.floor_ms / 1000 + PROBE_MARGIN_S
    write_json(files.probe, probe(request.approach, 8080, request.endpoint, endpoint.headers, timeout_s))
    write_json(files.about, _about(request.approach, progress))
    warmup = _warm_up(request, tool, load, stop, progress)
    write_json(files.warmup, warmup)
    if not stop.requested:
        started, ended = _run(request, tool, load, files, warmup, stop, progress)
        _collect(request.approach, prometheus_url, started, ended, files, stop, progress)
    if stop.requested:
        return False
    write_json(files.request, request.model_copy(update={"finished": True}))
    return True


def _about(approach: str, progress: Progress) -> dict[str, Any]:
    try:
        about = get_json(f"http://{approach}:8080/about")
    except UnreachableError as error:
        progress.say(f"The effective configuration is unknown: {error}.")
        return {"error": str(error)}
    return about if isinstance(about, dict) else {"error": "/about did not answer an object"}


def _warm_up(request: Request, tool: Tool, load: Load, stop: Stop, progress: Progress) -> Warmup:
    floor_ms = endpoint_of(request.endpoint, request.delay_ms).floor_ms
    warmer = Warmer(tool, load, floor_ms, process_of(request.approach))
    warmup = warmer.run(request.warmup_cap_s, STALL_S, stop, progress)
    if warmup.failed:
        progress.say("The warm-up got no answer: measuring anyway, so that the run can be judged.")
    elif warmup.capped:
        progress.say(f"The warm-up ended at its cap of {request.warmup_cap_s:.0f} s: the approach may be half cold.")
    return warmup


def _run(
    request: Request, tool: Tool, load: Load, files: RunFiles, warmup: Warmup, stop: Stop, progress: Progress
) -> tuple[float, float]:
    before = hoststat.network_counters()
    run, samples = run_tool(
        tool.command(load, files.raw, tool.name),
        tool.output(files.raw, tool.name),
        request.duration_s + SILENCE_LIMIT_S + HARD_CAP_MARGIN_S,
        STALL_S,
        stop,
        LiveRate(request, warmup, progress).show,
    )
    write_json(files.tool, run)
    network_after = hoststat.network_counters()
    write_json(files.host, HostLog(samples=samples, network_before=before, network_after=network_after))
    tool.pack(files.raw, tool.name)
    return run.started, run.ended


def _collect(
    approach: str, url: str, started: float, ended: float, files: RunFiles, stop: Stop, progress: Progress
) -> None:
    progress.show("collect", None, None, "waiting for the last samples")
    prometheus = Prometheus(url)
    wait_for_samples(prometheus, approach, ended, stop)
    metrics = collect(prometheus, approach, started, ended)
    write_json(files.metrics, metrics)
    if metrics["error"]:
        progress.say(f"Metrics are missing: {metrics['error']}.")


class LiveRate:
    """Progress of the measured run: answers so far, estimated from the bytes the tool has read and the size of an
    answer in the warm-up."""

    def __init__(self, request: Request, warmup: Warmup, progress: Progress) -> None:
        self._request = request
        self._progress = progress
        sizes = [burst.received_bytes_per_request for burst in warmup.bursts if burst.received_bytes_per_request]
        self._answer_bytes = sizes[-1] if sizes else None
        self._first: tuple[float, int] | None = None

    def show(self, sample: HostSample, elapsed_s: float) -> None:
        share = 100 * min(elapsed_s / self._request.duration_s, 1)
        self._progress.show("measure", share, self._request.duration_s - elapsed_s, self._text(sample))

    def _text(self, sample: HostSample) -> str:
        read = sample.tool_read_bytes
        if read is None or self._answer_bytes is None:
            return "requests so far: unknown"
        if self._first is None:
            self._first = (sample.time, read)
            return "first answers"
        since, before = self._first
        done = (read - before) / self._answer_bytes
        return f"about {done:,.0f} requests, {done / (sample.time - since):,.0f}/s (estimated from bytes read)"
