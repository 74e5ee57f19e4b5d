"""One measurement: warm-up, the measured run, and everything about it as raw files."""

import math
import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from loomlab.basics.errors import CannotMeasureError, UsageError
from loomlab.basics.waves import chosen_duration_s
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import endpoint_of
from loomlab.records.files import RunFiles, read_json, read_record, write_json
from loomlab.records.load import Closed, Load
from loomlab.records.measured import BackendDelays
from loomlab.records.models import HostLog, Request, ToolRun
from loomlab.records.warmup import Warmup
from loomlab.run import hoststat
from loomlab.run.backend import Behaviour, Hangs
from loomlab.run.collect import collect, wait_for_samples
from loomlab.run.live import LiveFigures, LiveProgress
from loomlab.run.liveset import Waiting, live_set
from loomlab.run.management import memory_of, reset_peaks
from loomlab.run.probe import probe
from loomlab.run.process import STALL_S, run_tool
from loomlab.run.progress import Progress
from loomlab.run.prometheus import Prometheus, UnreachableError, get_json
from loomlab.run.stop import Stop
from loomlab.run.warmup import settling
from loomlab.run.warmup.process import process_of
from loomlab.run.warmup.warmer import Subject, Warmer
from loomlab.tools.tool import Tool

HARD_CAP_MARGIN_S = 15.0
SPARE_DESCRIPTORS = 64
PROBE_MARGIN_S = 30.0
SPARE_REQUESTS = 2
"""So many times those that fit the duration: it is what ends the run."""


def check_descriptors(connections: int) -> None:
    """Raises CannotMeasureError when the open-files limit does not cover the connections."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    needed = connections + SPARE_DESCRIPTORS
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise CannotMeasureError(
            f"{connections} connections need {needed} open files, but the load generator may open only {limit}: "
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
    ask_memory = memory_of(f"http://{request.approach}:8081")
    memory_before = ask_memory()
    timeout_s = endpoint.floor_ms / 1000 + PROBE_MARGIN_S
    headers = request.load.targets[0].headers
    write_json(files.probe, probe(request.approach, 8080, request.endpoint, headers, timeout_s))
    about = _about(request.approach, progress)
    write_json(files.about, about)
    live = LiveFigures(request, run_dir, progress)
    live.phase("warm-up")
    behaviour = Behaviour()
    warmup = _warm_up(request, tool, behaviour, stop, progress)
    write_json(files.warmup, warmup)
    request = request.model_copy(update={"load": fitted(request, tool, warmup, endpoint.mean_ms)})
    write_json(files.request, request)
    wait_for_samples(Prometheus(prometheus_url), request.approach, began, stop)
    if not stop.requested:
        run = _run(request, tool, files, behaviour, live, prometheus_url, stop, progress)
        _collect(request.approach, prometheus_url, run, files, stop, progress)
    if not stop.requested:
        waiting = Waiting(request, about, ask_memory, behaviour)
        write_json(files.memory, live_set(waiting, memory_before, warmup, stop, progress))
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


def _warm_up(request: Request, tool: Tool, behaviour: Behaviour, stop: Stop, progress: Progress) -> Warmup:
    subject = Subject(request.load, delay_of(request.delay), process_of(request.approach))
    cap_s = request.warmup_load_s or request.warmup_cap_s
    warmer = Warmer(tool, subject, behaviour, cap_s, stop, progress)
    warmup = warmer.load_itself() if request.warmup_load_s else warmer.run()
    if warmup.failed:
        progress.say("The warm-up got no answer: measuring anyway, so that the run can be judged.")
    elif warmup.capped:
        progress.say(f"The warm-up was cut short by its cap of {request.warmup_cap_s:.0f} s: {warmup.cause}.")
    return warmup


def fitted(request: Request, tool: Tool, warmup: Warmup, answer_ms: float) -> Load:
    """The load as it is measured: with the duration and the requests that were left to the lab, and, where the tool
    cannot stop by time, with as many requests as fit. By the latency that the warm-up ended with, else `answer_ms`."""
    load, shape = request.load, request.load.shape
    if not isinstance(shape, Closed):
        return load
    settled = [burst for burst in warmup.bursts if burst.phase == "settle"]
    latency_s = (settling.latency_ms(settled) or max(answer_ms, 1)) / 1000
    duration_s = chosen_duration_s(latency_s) if request.fit_duration else shape.duration_s
    waves = max(math.floor(duration_s / latency_s), 1)
    fitting = waves * load.connections
    if tool.stops_by_time:
        requests = SPARE_REQUESTS * fitting if request.fit_requests else shape.requests
    else:
        wanted = fitting if request.fit_requests else min(fitting, shape.requests) if settled else shape.requests
        requests = min(wanted, tool.most_requests // load.connections * load.connections)
    return replace(load, shape=replace(shape, requests=requests, duration_s=duration_s))


def _run(
    request: Request,
    tool: Tool,
    files: RunFiles,
    behaviour: Behaviour,
    live: LiveFigures,
    prometheus_url: str,
    stop: Stop,
    progress: Progress,
) -> ToolRun:
    """The measured phase is told for as long as the tool runs: what is drawn of it is of nothing else."""
    load = request.load
    shown = LiveProgress(request.approach, load, tool, prometheus_url, progress)
    delay_before = _told_delay(behaviour)
    peaks_reset = reset_peaks(f"http://{request.approach}:8081")
    before = hoststat.network_counters()
    with Hangs(request.hangs, progress, behaviour):
        live.phase("measure")
        run, samples = run_tool(
            tool.command(load, files.raw, tool.name),
            tool.output(files.raw, tool.name),
            load.shape.duration_s + load.timeout_s + _margin_s(load.shape.duration_s, tool),
            STALL_S if tool.discards else math.inf,
            stop,
            shown.show,
        )
        live.phase("collect")
    write_json(files.tool, run)
    network_after = hoststat.network_counters()
    write_json(
        files.host,
        HostLog(
            samples=samples,
            network_before=before,
            network_after=network_after,
            peaks_reset=peaks_reset,
            boot_id=hoststat.boot_id(),
        ),
    )
    write_json(files.backend, BackendDelays(before=delay_before, after=_told_delay(behaviour)))
    tool.finish(files.raw, tool.name)
    return run


def _margin_s(duration_s: int, tool: Tool) -> float:
    """What a run may take beyond its duration: one that ends by its requests is as much longer as it is slower than the
    warm-up."""
    return HARD_CAP_MARGIN_S if tool.stops_by_time else max(HARD_CAP_MARGIN_S, duration_s / 2)


def _told_delay(behaviour: Behaviour) -> str | None:
    try:
        return behaviour.delay().text
    except UnreachableError:
        return None


def collect_again(run_dir: Path, prometheus_url: str) -> None:
    """Replaces raw/metrics.json by what Prometheus has now; raises UsageError for what is no run, and
    CannotMeasureError where that is less than what the file holds."""
    files = RunFiles(run_dir)
    request, run = read_record(files.request, Request), read_record(files.tool, ToolRun)
    if request is None or run is None:
        raise UsageError(f"{run_dir} is not a run that was measured: name a folder below runs/.")
    metrics = collect(Prometheus(prometheus_url), request.approach, run.started, run.ended)
    have, had = _samples(metrics), _samples(read_json(files.metrics) or {})
    if metrics["error"] or have < max(had, 1):
        raise CannotMeasureError(
            f"Prometheus has {have} samples of {run_dir.name}, fewer than the {max(had, 1)} that are needed "
            f"({metrics['error'] or 'the others are gone'}): it keeps 15 days at most, and make clean deletes all."
        )
    write_json(files.metrics, metrics)


def _samples(metrics: dict[str, Any]) -> int:
    return sum(len(one["values"]) for part in ("containers", "approach", "backend") for one in metrics.get(part, []))


def _collect(approach: str, prometheus_url: str, run: ToolRun, files: RunFiles, stop: Stop, progress: Progress) -> None:
    progress.show("collect", None, None, "waiting for the last samples")
    prometheus = Prometheus(prometheus_url)
    wait_for_samples(prometheus, approach, run.ended, stop)
    metrics = collect(prometheus, approach, run.started, run.ended)
    write_json(files.metrics, metrics)
    if metrics["error"]:
        progress.say(f"Metrics are missing: {metrics['error']}.")
