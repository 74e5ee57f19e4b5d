"""One measurement: warm-up, the measured run, and everything about it as raw files."""

import math
import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from loomlab import hoststat
from loomlab.backend import Hangs
from loomlab.collect import collect, wait_for_samples
from loomlab.delay import delay_of
from loomlab.endpoints import Endpoint, endpoint_of
from loomlab.errors import CannotMeasureError
from loomlab.histograms import write_histograms
from loomlab.live import LiveFigures, LiveProgress
from loomlab.load import Closed, Load
from loomlab.models import HostLog, Request, ToolRun, Warmup
from loomlab.probe import probe
from loomlab.process import STALL_S, run_tool
from loomlab.progress import Progress
from loomlab.prometheus import Prometheus, UnreachableError, get_json
from loomlab.raw import RunFiles, write_json
from loomlab.stop import Stop
from loomlab.tools import Tool
from loomlab.warmup import Warmer, process_of, warmup_connections

HARD_CAP_MARGIN_S = 15.0
SPARE_DESCRIPTORS = 64
PROBE_MARGIN_S = 30.0


def check_descriptors(connections: int) -> None:
    """Raises CannotMeasureError when the open-files limit does not cover the connections."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    needed = connections + SPARE_DESCRIPTORS
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise CannotMeasureError(
            f"{connections} connections need {needed} open files, the load generator may open {limit}: "
            "lower CONCURRENCY or raise the host's hard limit."
        )


def measure(request: Request, tool: Tool, run_dir: Path, prometheus_url: str, stop: Stop, progress: Progress) -> bool:
    """Leaves raw/ in `run_dir`; True when it came to its end, False when it was stopped."""
    began = time.time()
    files = RunFiles(run_dir)
    files.raw.mkdir(parents=True, exist_ok=True)
    endpoint = endpoint_of(request.endpoint, delay_of(request.delay))
    write_json(files.request, request)
    check_descriptors(request.load.connections)
    timeout_s = endpoint.floor_ms / 1000 + PROBE_MARGIN_S
    headers = request.load.targets[0].headers
    write_json(files.probe, probe(request.approach, 8080, request.endpoint, headers, timeout_s))
    write_json(files.about, _about(request.approach, progress))
    live = LiveFigures(request, run_dir, progress)
    live.phase("warm-up")
    warmup = _warm_up(request, tool, endpoint, stop, progress)
    write_json(files.warmup, warmup)
    wait_for_samples(Prometheus(prometheus_url), request.approach, began, stop)
    if not stop.requested:
        live.phase("measure")
        run = _run(request, tool, files, warmup, prometheus_url, stop, progress)
        live.phase("collect")
        _collect(request.approach, prometheus_url, run, files, stop, progress)
        write_histograms(files, tool, endpoint.floor_ms)
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


def _warm_up(request: Request, tool: Tool, endpoint: Endpoint, stop: Stop, progress: Progress) -> Warmup:
    connections = warmup_connections(request.load, endpoint.mean_ms / 1000)
    load = replace(request.load, connections=connections)
    warmer = Warmer(tool, load, endpoint.floor_ms, process_of(request.approach))
    warmup = warmer.run(request.warmup_cap_s, STALL_S, stop, progress)
    if warmup.failed:
        progress.say("The warm-up got no answer: measuring anyway, so that the run can be judged.")
    elif warmup.capped:
        progress.say(f"The warm-up ended at its cap of {request.warmup_cap_s:.0f} s: the approach may be half cold.")
    return warmup


def fitted(load: Load, tool: Tool, warmup: Warmup) -> Load:
    """The load with as many requests as fit its duration, as far as the warm-up tells, where the tool cannot stop by
    time."""
    rates = [burst.throughput_rps for burst in warmup.bursts if burst.throughput_rps]
    if tool.stops_by_time or not isinstance(load.shape, Closed) or not rates:
        return load
    waves = max(math.floor(load.shape.duration_s * rates[-1] / load.connections), 1)
    requests = min(waves * load.connections, load.shape.requests)
    return replace(load, shape=replace(load.shape, requests=requests))


def _run(
    request: Request, tool: Tool, files: RunFiles, warmup: Warmup, prometheus_url: str, stop: Stop, progress: Progress
) -> ToolRun:
    load = fitted(request.load, tool, warmup)
    shown = LiveProgress(request.approach, load, tool, prometheus_url, progress)
    before = hoststat.network_counters()
    with Hangs(request.hangs, progress):
        run, samples = run_tool(
            tool.command(load, files.raw, tool.name),
            tool.output(files.raw, tool.name),
            load.shape.duration_s + load.timeout_s + HARD_CAP_MARGIN_S,
            STALL_S if tool.discards else math.inf,
            stop,
            shown.show,
        )
    write_json(files.tool, run)
    network_after = hoststat.network_counters()
    write_json(files.host, HostLog(samples=samples, network_before=before, network_after=network_after))
    tool.finish(files.raw, tool.name)
    return run


def _collect(approach: str, prometheus_url: str, run: ToolRun, files: RunFiles, stop: Stop, progress: Progress) -> None:
    progress.show("collect", None, None, "waiting for the last samples")
    prometheus = Prometheus(prometheus_url)
    wait_for_samples(prometheus, approach, run.ended, stop)
    metrics = collect(prometheus, approach, run.started, run.ended)
    write_json(files.metrics, metrics)
    if metrics["error"]:
        progress.say(f"Metrics are missing: {metrics['error']}.")
