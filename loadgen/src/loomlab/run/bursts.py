"""One load of a warm-up by the tool: its shape, and what it cost the process that served it."""

import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from loomlab.basics.errors import ParseError
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Users
from loomlab.records.requestlog import latency_figures
from loomlab.records.warmup import Burst, BurstPhase
from loomlab.run.console import Stop
from loomlab.run.management import Management
from loomlab.run.process import STALL_S, run_tool
from loomlab.tools.tool import Tool, ToolReport

FEWEST_CONNECTIONS = 10  # that a burst keeps busy, so that it has a throughput to speak of
DRAIN_TICK_S = 0.2
LONGEST_DRAIN_S = 120  # one pinned carrier serves 200 requests of 300 ms in a minute


def busy_connections(load: Load, answer_s: float) -> int:
    """As many as the load keeps busy at its height when an answer takes `answer_s`; ten at least, or all."""
    shape = load.shape
    busy: float = load.connections
    if isinstance(shape, OpenRate):
        busy = max(step.rate_rps for step in shape.steps) * answer_s
    elif isinstance(shape, Users):
        think_s = sum(shape.think_s) / 2
        busy = shape.most * answer_s / (answer_s + think_s) if think_s else shape.most
    return min(max(math.ceil(busy), FEWEST_CONNECTIONS), load.connections)


def at_rate(load: Load, rate_rps: float, lasts_s: float) -> Load:
    return replace(load, shape=OpenRate((RateStep(round(rate_rps, 3), max(round(lasts_s), 1)),)))


def burst_of(load: Load, connections: int, waves: int, latency_ms: float, limit_s: float) -> Load:
    """A burst of it that keeps `connections` busy for so many whole waves of `latency_ms`; of a rate on all of them."""
    if isinstance(load.shape, OpenRate):
        return at_rate(load, 1000 * connections / max(latency_ms, 1), min(waves * latency_ms / 1000, limit_s))
    shape = Closed(requests=waves * connections, duration_s=max(int(limit_s), 1))
    return replace(load, connections=connections, shape=shape)


@dataclass(frozen=True)
class Bursts:
    """Loads that end with their last answer: cut off by the clock, reactive approaches break their connections off."""

    tool: Tool
    approach: Management
    stop: Stop
    longest_drain_s: float = LONGEST_DRAIN_S
    clock: Callable[[], float] = time.monotonic

    def run(self, phase: BurstPhase, load: Load, wait_ms: int, show: Callable[[], None]) -> Burst:
        """`wait_ms` is what a request waits at least."""
        with tempfile.TemporaryDirectory() as folder:
            raw = Path(folder)
            before = self.approach.process()
            run, _ = run_tool(
                self.tool.command(load, raw),
                self.tool.output(raw),
                load.shape.duration_s + load.timeout_s + STALL_S,
                STALL_S if self.tool.discards else math.inf,
                self.stop,
                lambda _: show(),
            )
            self.drain(self.longest_drain_s)
            after = self.approach.process()
            self.tool.finish(raw)
            try:
                report, log = self.tool.report(raw), self.tool.requests(raw, wait_ms)
            except (OSError, ParseError):
                report, log = ToolReport(), None
        done = None if report.completed is None else report.completed - (0 if log is None else log.unanswered)
        errors = None if report.failed is None else report.failed + (report.non_2xx or 0)
        if done is not None and errors is not None and errors >= done:
            done = 0
        seconds = report.duration_s or run.ended - run.started
        spent_s = {
            name: getattr(after, name) - getattr(before, name)
            for name in ("cpu_s", "jit_cpu_s")
            if None not in {getattr(before, name), getattr(after, name)}
        }
        return Burst(
            phase=phase,
            start=run.started,
            duration_s=seconds,
            wait_ms=wait_ms,
            requests=done,
            errors=errors,
            mean_latency_ms=latency_figures(log.latency_ms).mean if log is not None else None,
            cpu_ms_per_request=1000 * spent_s["cpu_s"] / done if done and "cpu_s" in spent_s else None,
            rss_bytes=after.rss_bytes,
            **spent_s,
        )

    def drain(self, longest_s: float) -> None:
        """Waits for what a load left behind, lest it be served in the next one."""
        deadline = self.clock() + longest_s
        while self.approach.process().inflight and self.clock() < deadline and not self.stop.requested:
            self.stop.pause(DRAIN_TICK_S)
