"""The warm-up of an approach: until its compilers are at rest, then the load itself until it is steady."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import fmean

from loomlab.basics.waves import SHORTEST_WARMUP_S
from loomlab.records.delay import Delay
from loomlab.records.endpoints import endpoint_of, with_work
from loomlab.records.load import Load, OpenRate
from loomlab.records.warmup import Burst, BurstPhase, Warmup
from loomlab.run.backend import Backend, Waits
from loomlab.run.console import Progress, Stop
from loomlab.run.management import ReadProcess
from loomlab.run.prometheus import UnreachableError
from loomlab.run.warmup import warm
from loomlab.run.warmup.bursts import FEWEST_CONNECTIONS, Bursts, at_rate, burst_of, busy_connections, settled_rps
from loomlab.tools.tool import Tool

COMPILE_SHARE = 0.6
"""Of the cap: what is left after it is for the load itself."""
COLD_COST_MS = 2.0
"""CPU that a request to an approach takes at first."""
COMPILE_BURST_S, FEWEST_COMPILE_WAVES = 5, 2
SETTLE_BURST_S, FEWEST_SETTLE_WAVES = 4, 1
BURST_LIMIT_S = 45
"""Shorter than the lease of the backend's delay, which is the longest that the backend grants."""
HEADROOM = 1.25
"""Connections of a rate, for each that its requests keep busy. With more, requests pile up in cold bursts and at
pauses, and pools keep for the whole run what they opened for them."""
MOST_CONNECTIONS = 500
"""With more, cold bursts of two waves would take a minute and starve the compilers; the code that runs is the same."""
LEAST_WORK_MICROS = 1
"""Not 0: a branch that is never taken is compiled to a trap."""
PHASE_WORDS: dict[BurstPhase, str] = {"compile": "compilers at work", "settle": "settling"}


@dataclass
class Warmer:
    """Warms a process up by bursts of the tool, within `cap_s` for both phases together."""

    tool: Tool
    load: Load  # as it will be measured
    delay: Delay  # the backend's
    process: ReadProcess
    backend: Backend
    cap_s: float
    stop: Stop
    progress: Progress
    cold_cost_ms: float = COLD_COST_MS
    compile_burst_s: float = COMPILE_BURST_S
    clock: Callable[[], float] = time.monotonic
    _done: list[Burst] = field(default_factory=list, init=False)
    _cpus: float = field(default=1.0, init=False)

    def __post_init__(self) -> None:
        load = self.load
        endpoints = [endpoint_of(target.target, self.delay) for target in load.targets]
        self._endpoint = endpoints[0]
        self._connections = busy_connections(load, max(endpoint.mean_ms for endpoint in endpoints) / 1000)
        self._asked_ms = fmean(endpoint.work_ms for endpoint in endpoints)
        self._rated = isinstance(load.shape, OpenRate)
        self._waits = Waits(self._endpoint, self.delay, self.backend, self.progress)
        self._bursts = Bursts(self.tool, self.process, self.stop)
        self._began = self.clock()

    def run(self) -> Warmup:
        """Both phases; after a burst without an answer, or a stop, what there is."""
        self._began = self.clock()
        compiled = self.compile(COMPILE_SHARE * self.cap_s)
        compiling_s = self._elapsed_s()
        changing = self._settle() if self._going() else warm.TOO_FEW_BURSTS
        return self._warmup(compiled, changing, compiling_s)

    def load_itself(self) -> Warmup:
        """The load itself until the cap: what a warm-up is held against."""
        while self._going() and self._left_s() > 0:
            self._burst("settle", self._settling_burst(self._endpoint.mean_ms, BURST_LIMIT_S), self._endpoint.floor_ms)
        return self._warmup(compiled=None, changing=None, compiling_s=0)

    def compile(self, limit_s: float) -> bool | None:
        """Whether the compilers came to rest within the limit; None where the process does not tell what they take, or
        the backend does not take another delay."""
        process = self.process()
        cpus = self._cpus = process.cpus or 1
        if process.jit_cpu_s is None or process.cpu_s is None:
            self.progress.say("The JIT compilers' CPU time is unknown: the warm-up runs only the load itself.")
            return None
        connections = min(max(self._connections, FEWEST_CONNECTIONS), MOST_CONNECTIONS)
        wait_ms = warm.first_wait_ms(connections, cpus, self.cold_cost_ms)
        if not self._endpoint.waits_as_configured and not self._rated:
            wait_ms = min(wait_ms, round(self._endpoint.mean_ms))  # a pinned carrier serves them one by one
        latency_ms = float(wait_ms)
        spared = self._spared(connections)
        done: list[Burst] = []
        try:
            while self._going() and limit_s - self._elapsed_s() >= SHORTEST_WARMUP_S:
                waves = warm.waves_within(self.compile_burst_s, latency_ms, FEWEST_COMPILE_WAVES)
                left_s = self._limited_s(limit_s - self._elapsed_s())
                load = burst_of(spared, connections, waves, latency_ms, left_s)
                each_ms = round(wait_ms / max(self._endpoint.rounds, 1))
                last = self._burst("compile", self._waits.stretched(load, each_ms), wait_ms)
                done.append(last)
                if warm.at_rest(done, cpus):
                    return True
                if self._rated:  # its latency includes the time in a queue, which says nothing of the next burst
                    last = last.model_copy(update={"mean_latency_ms": wait_ms})
                following_ms = warm.next_wait_ms(last, wait_ms, cpus)
                latency_ms = (last.mean_latency_ms or wait_ms) + following_ms - wait_ms
                wait_ms = following_ms
        except UnreachableError as error:
            self.progress.say(f"The backend's delay cannot be changed for the warm-up: {error}.")
            return None
        finally:
            self._waits.restore()
        return False

    def _spared(self, busy: int) -> Load:
        """The load with hardly any CPU work, on hardly more connections than these."""
        targets = tuple(with_work(target, LEAST_WORK_MICROS) for target in self.load.targets)
        return replace(self.load, targets=targets, connections=min(math.ceil(HEADROOM * busy), self.load.connections))

    def _settle(self) -> str | None:
        """What still changed when the cap was reached, None if nothing did."""
        bursts: list[Burst] = []
        expected_ms = max(self._endpoint.mean_ms, self._work_ms())
        while self._going() and (changing := warm.changing(bursts)):
            waves = warm.waves_within(SETTLE_BURST_S, expected_ms, FEWEST_SETTLE_WAVES)
            wanted_s = max(SHORTEST_WARMUP_S, waves * expected_ms / 1000)
            if self._left_s() < (wanted_s if self._done else SHORTEST_WARMUP_S):
                return changing
            load = self._settling_burst(expected_ms, self._left_s())
            bursts.append(self._burst("settle", load, self._endpoint.floor_ms))
            expected_ms = bursts[-1].mean_latency_ms or expected_ms
        return warm.changing(bursts)

    def _settling_burst(self, expected_ms: float, left_s: float) -> Load:
        load, limit_s = self.load, self._limited_s(left_s)
        if isinstance(load.shape, OpenRate):
            answer_s = self._endpoint.mean_ms / 1000
            rate_rps = settled_rps(load.shape, load.connections, answer_s, self._carried_rps())
            return at_rate(load, rate_rps, min(max(answer_s, SETTLE_BURST_S), limit_s))
        waves = warm.waves_within(SETTLE_BURST_S, expected_ms, FEWEST_SETTLE_WAVES)
        return burst_of(load, self._connections, waves, expected_ms, limit_s)

    def _work_ms(self) -> float:
        """What a wave of all connections takes at least, by the CPU per request of a burst without the work."""
        cost_ms = self._asked_ms + ((self._done[-1].cpu_ms_per_request or 0) if self._done else 0)
        return self._connections * cost_ms / self._cpus

    def _carried_rps(self) -> float:
        """What the approach's CPUs carry without a queue, by the CPU per request at the end of the first phase."""
        compiled = [burst for burst in self._done if burst.phase == "compile"]
        cost_ms = self._asked_ms + ((warm.cpu_ms_without_jit(compiled[-1]) or 0) if compiled else 0)
        return 1000 * warm.CROWDED * self._cpus / cost_ms if cost_ms else math.inf

    @staticmethod
    def _limited_s(left_s: float) -> float:
        return min(max(left_s, SHORTEST_WARMUP_S), BURST_LIMIT_S)

    def _burst(self, phase: BurstPhase, load: Load, wait_ms: int) -> Burst:
        number = len(self._done) + 1

        def show() -> None:
            left = f"{max(self._left_s(), 0):.0f} s left at most"
            self.progress.show("warm-up", None, None, f"{PHASE_WORDS[phase]}, burst {number}; {left}")

        self._done.append(self._bursts.run(phase, load, wait_ms, show))
        return self._done[-1]

    def _warmup(self, compiled: bool | None, changing: str | None, compiling_s: float) -> Warmup:
        return Warmup(
            cap_s=self.cap_s,
            compiled=compiled,
            changing=changing,
            failed=self._failed(),
            duration_s=self._elapsed_s(),
            compiling_s=compiling_s,
            bursts=self._done,
        )

    def _going(self) -> bool:
        return not self.stop.requested and not self._failed()

    def _failed(self) -> bool:
        return bool(self._done) and not self._done[-1].requests

    def _elapsed_s(self) -> float:
        return self.clock() - self._began

    def _left_s(self) -> float:
        return self.cap_s - self._elapsed_s()
