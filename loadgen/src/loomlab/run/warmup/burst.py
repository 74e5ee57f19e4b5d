"""One warm-up load by the tool, and what it cost the process that served it."""

import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from loomlab.basics.errors import ParseError
from loomlab.records.load import Load
from loomlab.records.models import ToolRun
from loomlab.records.requestlog import latency_figures
from loomlab.records.warmup import Burst, BurstPhase
from loomlab.run.process import run_tool
from loomlab.run.stop import Stop
from loomlab.run.warmup.process import Process, ReadProcess, growth
from loomlab.tools.tool import Tool, ToolReport

DRAIN_TICK_S = 0.2
LONGEST_DRAIN_S = 120
"""A burst that its limit cuts off leaves up to one request a connection behind; one pinned carrier serves 200 of them,
of 300 ms each, in a minute."""
STEM = "burst"


class Bursts:
    """Runs bursts: loads that end with their last answer, not by the clock. A client that leaves early makes a reactive
    approach break off its backend connections, and the next load would pay for new ones."""

    def __init__(
        self,
        tool: Tool,
        process: ReadProcess,
        stall_s: float,
        stop: Stop,
        longest_drain_s: float = LONGEST_DRAIN_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tool = tool
        self._process = process
        self._stall_s = stall_s
        self._stop = stop
        self._longest_drain_s = longest_drain_s
        self._clock = clock

    def run(self, phase: BurstPhase, load: Load, wait_ms: int, show: Callable[[], None]) -> Burst:
        """`wait_ms` is what a request waits at least."""
        with tempfile.TemporaryDirectory() as folder:
            raw = Path(folder)
            before = self._process()
            run, _ = run_tool(
                self._tool.command(load, raw, STEM),
                self._tool.output(raw, STEM),
                load.shape.duration_s + load.timeout_s + self._stall_s,
                self._stall_s if self._tool.discards else math.inf,
                self._stop,
                lambda *_: show(),
            )
            self.drain(self._longest_drain_s)
            after = self._process()
            self._tool.finish(raw, STEM)
            return self._record(phase, raw, run, wait_ms, before, after)

    def drain(self, longest_s: float) -> None:
        """Waits for what a load left behind, lest it be served in the next one."""
        deadline = self._clock() + longest_s
        while self._process().inflight and self._clock() < deadline and not self._stop.requested:
            self._stop.pause(DRAIN_TICK_S)

    def _record(
        self, phase: BurstPhase, raw: Path, run: ToolRun, wait_ms: int, before: Process, after: Process
    ) -> Burst:
        try:
            report = self._tool.report(raw, STEM)
            log = self._tool.requests(raw, STEM, wait_ms)
        except (OSError, ParseError):
            report, log = ToolReport(), None
        done = None if report.completed is None else report.completed - (log.unanswered if log else 0)
        errors = None if report.failed is None else report.failed + (report.non_2xx or 0)
        if done is not None and errors is not None and errors >= done:
            done = 0
        seconds = report.duration_s or run.ended - run.started
        cpu_s = growth(before.cpu_s, after.cpu_s)
        return Burst(
            phase=phase,
            start=run.started,
            duration_s=seconds,
            wait_ms=wait_ms,
            requests=done,
            errors=errors,
            throughput_rps=done / seconds if done and seconds else None,
            mean_latency_ms=latency_figures(log.latency_ms).mean if log else None,
            received_bytes_per_request=report.received_bytes / done if done and report.received_bytes else None,
            cpu_ms_per_request=1000 * cpu_s / done if done and cpu_s is not None else None,
            cpu_s=cpu_s,
            jit_cpu_s=growth(before.jit_cpu_s, after.jit_cpu_s),
            gc_cpu_s=growth(before.gc_cpu_s, after.gc_cpu_s),
            rss_bytes=after.rss_bytes,
        )
