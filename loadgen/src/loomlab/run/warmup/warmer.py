"""The warm-up of an approach: until its compilers are at rest, then the load itself until it is steady."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import fmean

from loomlab.basics.waves import SHORTEST_WARMUP_S
from loomlab.records.delay import Delay
from loomlab.records.endpoints import endpoint_of, with_work
from loomlab.records.load import Load, OpenRate
from loomlab.records.warmup import Burst, BurstPhase, Warmup
from loomlab.run.backend import Behaviour
from loomlab.run.process import STALL_S
from loomlab.run.progress import Progress
from loomlab.run.prometheus import UnreachableError
from loomlab.run.stop import Stop
from loomlab.run.waits import Waits
from loomlab.run.warmup import compiling, settling
from loomlab.run.warmup.burst import Bursts
from loomlab.run.warmup.process import ReadProcess
from loomlab.run.warmup.shapes import FEWEST_CONNECTIONS, at_rate, burst_of, busy_connections, settled_rps
from loomlab.tools.tool import Tool

COMPILE_SHARE = 0.6
"""Of the cap: what is left after it is for the load itself."""
LEAST_WORK_MICROS = 1
"""Not 0: a branch that is never taken is compiled to a trap."""
BURST_LIMIT_S = 45
"""Shorter than the lease of the backend's delay, which is the longest that the backend grants."""


@dataclass(frozen=True)
class Subject:
    """What is warmed up: the load as it will be measured, the backend's delay in it, how to read the process, about how
    much CPU a request takes at first, and how long bursts of the first phase are."""

    load: Load
    delay: Delay
    process: ReadProcess
    cold_cost_ms: float = compiling.COLD_COST_MS
    compile_burst_s: float = compiling.BURST_S


class Warmer:
    """Warms one subject up by bursts of the tool, within `cap_s` for both phases together."""

    def __init__(
        self,
        tool: Tool,
        subject: Subject,
        behaviour: Behaviour,
        cap_s: float,
        stop: Stop,
        progress: Progress,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._subject = subject
        endpoints = [endpoint_of(one.target, subject.delay) for one in subject.load.targets]
        self._endpoint = endpoints[0]
        self._connections = busy_connections(subject.load, max(one.mean_ms for one in endpoints) / 1000)
        self._asked_ms = fmean(one.work_ms for one in endpoints)
        self._rated = isinstance(subject.load.shape, OpenRate)
        self._waits = Waits(self._endpoint, subject.delay, behaviour, progress)
        self._cap_s = cap_s
        self._stop = stop
        self._progress = progress
        self._bursts = Bursts(tool, subject.process, STALL_S, stop)
        self._done: list[Burst] = []
        self._clock = clock
        self._began = clock()
        self._cpus = 1.0

    def run(self) -> Warmup:
        """Both phases; after a burst without an answer, or a stop, what there is."""
        self._began = self._clock()
        compiled = self.compile(COMPILE_SHARE * self._cap_s)
        compiling_s = self._elapsed_s()
        changing = self._settle() if self._going() else "there were too few bursts to tell"
        return self._warmup(compiled, changing, compiling_s)

    def load_itself(self) -> Warmup:
        """The load itself until the cap: what a warm-up is held against."""
        while self._going() and self._left_s() > 0:
            self._burst("settle", self._settling_burst(self._endpoint.mean_ms, BURST_LIMIT_S), self._endpoint.floor_ms)
        return self._warmup(compiled=None, changing=None, compiling_s=0)

    def compile(self, limit_s: float) -> bool | None:
        """Whether the compilers came to rest within the limit; None where the process does not tell what they take, or
        the backend does not take another delay."""
        process = self._subject.process()
        cpus = self._cpus = process.cpus or 1
        if process.jit_cpu_s is None or process.cpu_s is None:
            self._progress.say("The JIT compilers' CPU time is unknown: the warm-up runs only the load itself.")
            return None
        connections = min(max(self._connections, FEWEST_CONNECTIONS), compiling.MOST_CONNECTIONS)
        wait_ms = compiling.first_wait_ms(connections, cpus, self._subject.cold_cost_ms)
        if not self._endpoint.waits_as_configured and not self._rated:
            wait_ms = min(wait_ms, round(self._endpoint.mean_ms))  # a pinned carrier serves them one by one
        latency_ms = float(wait_ms)
        spared = self._spared(connections)
        done: list[Burst] = []
        try:
            while self._going() and limit_s - self._elapsed_s() >= SHORTEST_WARMUP_S:
                waves = compiling.burst_waves(latency_ms, self._subject.compile_burst_s)
                left_s = self._limited_s(limit_s - self._elapsed_s())
                load = burst_of(spared, connections, waves, latency_ms, left_s)
                each_ms = round(wait_ms / max(self._endpoint.rounds, 1))
                last = self._burst("compile", self._waits.stretched(load, each_ms), wait_ms)
                done.append(last)
                if compiling.at_rest(done, cpus):
                    return True
                # Under a rate, latency includes the time in a queue, which says nothing of the next burst.
                told = last.model_copy(update={"mean_latency_ms": wait_ms}) if self._rated else last
                following_ms = compiling.next_wait_ms(told, wait_ms, cpus)
                latency_ms = (told.mean_latency_ms or wait_ms) + following_ms - wait_ms
                wait_ms = following_ms
        except UnreachableError as error:
            self._progress.say(f"The backend's delay cannot be changed for the warm-up: {error}.")
            return None
        finally:
            self._waits.restore()
        return False

    def _spared(self, busy: int) -> Load:
        """The load with hardly any CPU work, on hardly more connections than these."""
        load = self._subject.load
        targets = tuple(with_work(target, LEAST_WORK_MICROS) for target in load.targets)
        connections = min(math.ceil(compiling.HEADROOM * busy), load.connections)
        return replace(load, targets=targets, connections=connections)

    def _settle(self) -> str | None:
        """What still changed when the cap was reached, None if nothing did."""
        bursts: list[Burst] = []
        expected_ms = max(self._endpoint.mean_ms, self._work_ms())
        while self._going() and (changing := settling.changing(bursts)):
            wanted_s = max(SHORTEST_WARMUP_S, settling.burst_waves(expected_ms) * expected_ms / 1000)
            if self._left_s() < (wanted_s if self._done else SHORTEST_WARMUP_S):
                return changing
            load = self._settling_burst(expected_ms, self._left_s())
            bursts.append(self._burst("settle", load, self._endpoint.floor_ms))
            expected_ms = bursts[-1].mean_latency_ms or expected_ms
        return settling.changing(bursts)

    def _warmup(self, compiled: bool | None, changing: str | None, compiling_s: float) -> Warmup:
        return Warmup(
            cap_s=self._cap_s,
            compiled=compiled,
            changing=changing,
            failed=self._failed(),
            duration_s=self._elapsed_s(),
            compiling_s=compiling_s,
            bursts=self._done,
        )

    def _work_ms(self) -> float:
        """What a wave of all connections takes at least, by the CPU per request of a burst without the work."""
        cost_ms = self._asked_ms + ((self._done[-1].cpu_ms_per_request or 0) if self._done else 0)
        return self._connections * cost_ms / self._cpus

    def _carried_rps(self) -> float:
        """What the approach's CPUs carry without a queue, by the CPU per request at the end of the first phase."""
        compiled = [burst for burst in self._done if burst.phase == "compile"]
        cost_ms = self._asked_ms + ((settling.cpu_ms_without_jit(compiled[-1]) or 0) if compiled else 0)
        return 1000 * compiling.CROWDED * self._cpus / cost_ms if cost_ms else math.inf

    def _settling_burst(self, expected_ms: float, left_s: float) -> Load:
        load = self._subject.load
        if isinstance(load.shape, OpenRate):
            answer_s = self._endpoint.mean_ms / 1000
            rate_rps = settled_rps(load.shape, load.connections, answer_s, self._carried_rps())
            return at_rate(load, rate_rps, min(max(answer_s, settling.BURST_S), self._limited_s(left_s)))
        return burst_of(
            load, self._connections, settling.burst_waves(expected_ms), expected_ms, self._limited_s(left_s)
        )

    @staticmethod
    def _limited_s(left_s: float) -> float:
        return min(max(left_s, SHORTEST_WARMUP_S), BURST_LIMIT_S)

    def _burst(self, phase: BurstPhase, load: Load, wait_ms: int) -> Burst:
        number = len(self._done) + 1

        def show() -> None:
            elapsed_s = self._elapsed_s()
            self._progress.show(
                "warm-up",
                None,
                None,
                f"{WORDS[phase]}, burst {number}; {max(self._cap_s - elapsed_s, 0):.0f} s left at most",
            )

        burst = self._bursts.run(phase, load, wait_ms, show)
        self._done.append(burst)
        return burst

    def _going(self) -> bool:
        return not self._stop.requested and not self._failed()

    def _failed(self) -> bool:
        return bool(self._done) and not self._done[-1].requests

    def _elapsed_s(self) -> float:
        return self._clock() - self._began

    def _left_s(self) -> float:
        return self._cap_s - self._elapsed_s()


WORDS = {"compile": "compilers at work", "settle": "settling"}
