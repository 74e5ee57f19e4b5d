"""Warms an approach up by short bursts with pauses (C2 gets CPU in the pauses) until the bursts are alike."""

import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from loomlab import prometheus
from loomlab.errors import ParseError
from loomlab.load import Closed, Load, OpenRate, Users
from loomlab.models import Burst, ToolRun, Warmup
from loomlab.process import run_tool
from loomlab.progress import Progress
from loomlab.requestlog import latency_figures
from loomlab.stop import Stop
from loomlab.tools import Tool, ToolReport

THROUGHPUT_LIMIT = 0.05
"""Judged by mean latency: in a closed loop throughput is connections ÷ latency, while the count of a burst of few waves
is off by up to a wave."""
CPU_LIMIT = 0.10
JIT_LIMIT = 0.05
"""Compilers' time ÷ CPU time of the last three bursts; C2 has been seen to take 22 % after flat bursts."""
FALL_LIMIT = 0.03
"""Three bursts that fall one after another by more than this in all are a trend, however close they are."""
ENOUGH_REQUESTS = 10_000
"""Twice HotSpot's Tier4InvocationThreshold: before, code that runs once a request cannot have been seen by C2."""
SHORTEST_BURST_S, LONGEST_BURST_S = 5, 20
COLD_BURSTS = 2
WAVES_PER_BURST, FEWEST_WAVES = 5, 2
BURST_LIMIT_S = 60
REQUESTS_PER_BURST, REQUESTS_PER_COLD_BURST = 2_000, 4_000
"""Fewer, and the CPU of scrapes and collections hides that of the requests."""
PAUSE_S = 1.5
FEWEST_CONNECTIONS = 10
CPU_METRIC = "process_cpu_time_ns_total"

INFLIGHT_METRIC = "lab_inflight_requests"
JIT_METRIC = "jvm_compilation_time_ms_total"
LONGEST_DRAIN_S = 120
"""A burst that its limit cuts off leaves up to one request a connection behind; a pinned carrier serves 200 of them in
a minute."""


def flat(values: list[float | None], limit: float) -> bool:
    """Whether the last bursts are alike: three within `limit` (spread ÷ mean) that do not fall steadily, or the
    median of the last three within half of `limit` of the median of the three before (single bursts are noisy)."""
    last = [value for value in values[-3:] if value]
    if len(last) < 3:
        return False
    falling = last[0] > last[1] > last[2] and (last[0] - last[2]) / last[0] > FALL_LIMIT
    if not falling and (max(last) - min(last)) / (sum(last) / 3) <= limit:
        return True
    before = [value for value in values[-6:-3] if value]
    return len(before) == 3 and abs(median(last) / median(before) - 1) <= limit / 2


def warm(bursts: list[Burst]) -> bool:
    """Whether the bursts so far show a warm approach: enough requests, throughput and CPU per request flat, compilers
    at rest."""
    return (
        sum(burst.requests or 0 for burst in bursts) >= ENOUGH_REQUESTS
        and flat([burst.mean_latency_ms for burst in bursts], THROUGHPUT_LIMIT)
        and flat([burst.cpu_ms_per_request for burst in bursts], CPU_LIMIT)
        and compiled(bursts[-3:])
    )


def compiled(bursts: list[Burst]) -> bool:
    """Whether the compilers took no more than 5 % of the bursts' CPU; without figures they accuse nobody."""
    known = [(burst.jit_s, burst.cpu_s) for burst in bursts if burst.jit_s is not None and burst.cpu_s]
    return sum(jit for jit, _ in known) <= JIT_LIMIT * sum(cpu for _, cpu in known)


def burst_seconds(concurrency: int, response_floor_s: float, bursts: list[Burst]) -> int:
    """5 to 20 seconds: five waves (and the one in which ab tries its first connection alone) and 2,000 requests, as far
    as the last burst tells; two short bursts come first, whose cold latency would make the others too long."""
    if len(bursts) < COLD_BURSTS:
        return math.ceil(SHORTEST_BURST_S + response_floor_s)
    last = bursts[-1]
    wave_s = max(response_floor_s, (last.mean_latency_ms or 0) / 1000)
    rate = last.throughput_rps or concurrency / max(wave_s, 0.001)
    wanted = max(SHORTEST_BURST_S, (WAVES_PER_BURST + 1) * wave_s, REQUESTS_PER_BURST / rate)
    return math.ceil(min(wanted, LONGEST_BURST_S))


def burst_requests(concurrency: int, seconds: int, response_floor_s: float, bursts: list[Burst]) -> int:
    """Whole waves that take some `seconds`. A burst ends with its last answer, not by the clock: a client that leaves
    early makes a reactive approach break off its backend connections, and the next load would pay for new ones."""
    cold = len(bursts) < COLD_BURSTS or not bursts[-1].throughput_rps
    best_rps = concurrency / max(response_floor_s, 0.001)
    wanted = min(seconds * best_rps, REQUESTS_PER_COLD_BURST) if cold else seconds * (bursts[-1].throughput_rps or 0)
    return max(FEWEST_WAVES, round(wanted / concurrency)) * concurrency


def warmup_connections(load: Load, answer_s: float) -> int:
    """As many as the load will keep busy at its height when an answer takes `answer_s`; at least ten, so that a burst
    has a throughput to speak of."""
    shape = load.shape
    if isinstance(shape, OpenRate):
        busy = max(step.rate_rps for step in shape.steps) * answer_s
    elif isinstance(shape, Users):
        think_s = sum(shape.think_s) / 2
        most = max(stage.users for stage in shape.stages)
        busy = most * answer_s / (answer_s + think_s) if think_s else most
    else:
        busy = load.connections
    return min(max(math.ceil(busy), FEWEST_CONNECTIONS), load.connections)


@dataclass(frozen=True)
class Process:
    """What the approach's process says of itself: cumulative CPU seconds, cumulative seconds that its compilers were at
    work (elapsed, so more than their CPU where they waited for one), unfinished requests. None: it does not tell."""

    cpu_s: float | None = None
    jit_s: float | None = None
    inflight: float | None = None


def process_of(approach: str) -> Callable[[], Process]:
    """Reads the process from its own metrics page."""

    def read() -> Process:
        try:
            page = prometheus.get_text(f"http://{approach}:8081/actuator/prometheus")
        except prometheus.UnreachableError:
            return Process()
        cpu_ns = prometheus.exposed_value(page, CPU_METRIC)
        jit_ms = prometheus.exposed_value(page, JIT_METRIC)
        return Process(
            None if cpu_ns is None else cpu_ns / 1e9,
            None if jit_ms is None else jit_ms / 1e3,
            prometheus.exposed_value(page, INFLIGHT_METRIC),
        )

    return read


class Warmer:
    """Runs the bursts, closed loads of the tool's warmer, and reads the approach's process before and after each."""

    def __init__(self, tool: Tool, load: Load, floor_ms: int, process: Callable[[], Process]) -> None:
        self._tool = tool.warmer
        self._load = load
        self._floor_ms = floor_ms
        self._process = process

    def run(self, cap_s: float, stall_s: float, stop: Stop, progress: Progress) -> Warmup:
        """Bursts until `warm`, or `cap_s` is used up, or one fails entirely."""
        began = time.monotonic()
        bursts: list[Burst] = []
        capped = failed = False
        while not (stop.requested or failed or warm(bursts)):
            left_s = int(cap_s - (time.monotonic() - began))
            wanted_s = burst_seconds(self._load.connections, self._floor_ms / 1000, bursts)
            if not bursts:
                wanted_s = max(min(wanted_s, left_s), SHORTEST_BURST_S)
            if left_s < wanted_s:
                capped = True
                break
            requests = burst_requests(self._load.connections, wanted_s, self._floor_ms / 1000, bursts)
            limit_s = min(max(left_s, SHORTEST_BURST_S), BURST_LIMIT_S)
            burst = self._burst(requests, limit_s, stall_s, stop, progress, began, cap_s, len(bursts) + 1)
            bursts.append(burst)
            failed = not burst.requests or (burst.errors or 0) >= burst.requests
            stop.pause(PAUSE_S)
            self.drain(stop)
        return Warmup(cap_s=cap_s, capped=capped, failed=failed, duration_s=time.monotonic() - began, bursts=bursts)

    def drain(self, stop: Stop) -> None:
        """Waits for what the burst left behind, lest it be served in the next burst or the measured run."""
        deadline = time.monotonic() + LONGEST_DRAIN_S
        while self._process().inflight and time.monotonic() < deadline and not stop.requested:
            stop.pause(PAUSE_S / 3)

    def _burst(
        self,
        requests: int,
        limit_s: int,
        stall_s: float,
        stop: Stop,
        progress: Progress,
        began: float,
        cap_s: float,
        number: int,
    ) -> Burst:
        load = replace(self._load, shape=Closed(requests=requests, duration_s=limit_s))

        def show(*_: object) -> None:
            elapsed = time.monotonic() - began
            progress.show(
                "warm-up",
                100 * elapsed / cap_s,
                cap_s - elapsed,
                f"burst {number}, at most {cap_s:.0f} s in all",
            )

        with tempfile.TemporaryDirectory() as folder:
            raw = Path(folder)
            output = self._tool.output(raw, "burst")
            before = self._process()
            run, _ = run_tool(
                self._tool.command(load, raw, "burst"),
                output,
                limit_s + load.timeout_s + stall_s,
                stall_s,
                stop,
                show,
            )
            after = self._process()
            self._tool.finish(raw, "burst")
            spent = Process(_growth(before.cpu_s, after.cpu_s), _growth(before.jit_s, after.jit_s))
            return self._record(raw, run, spent)

    def _record(self, raw: Path, run: ToolRun, spent: Process) -> Burst:
        try:
            report = self._tool.report(raw, "burst")
            log = self._tool.requests(raw, "burst", self._floor_ms)
        except (OSError, ParseError):
            report, log = ToolReport(), None
        done = None if report.completed is None else report.completed - (log.unanswered if log else 0)
        errors = None if report.failed is None else report.failed + (report.non_2xx or 0)
        return Burst(
            start=run.started,
            duration_s=report.duration_s or run.ended - run.started,
            requests=done if errors is None or report.completed != errors else 0,
            errors=errors,
            throughput_rps=done / report.duration_s if done and report.duration_s else None,
            mean_latency_ms=latency_figures(log.latency_ms).mean if log else None,
            received_bytes_per_request=report.received_bytes / done if done and report.received_bytes else None,
            cpu_ms_per_request=1000 * spent.cpu_s / done if done and spent.cpu_s is not None else None,
            cpu_s=spent.cpu_s,
            jit_s=spent.jit_s,
        )


def _growth(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
