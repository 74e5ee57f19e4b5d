"""A made-up approach with its backend and clock, and what warms it up: what it costs is a formula, time is its own."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from loads import load_of
from loomlab.records.endpoints import Delay, delay_of, endpoint_of
from loomlab.records.load import Closed, Load, OpenRate, Shape
from loomlab.records.raw import Burst, BurstPhase, Warmup
from loomlab.run.console import Progress, Stop
from loomlab.run.management import Backend, Process, Waits
from loomlab.run.process import Bursts
from loomlab.run.prometheus import UnreachableError
from loomlab.run.warmer import Warmer
from loomlab.tools.ab import Ab

CONNECT_S = 0.1
MS_300 = delay_of("300")


@dataclass
class Approach:
    """`cost_ms` is a request's CPU by the number of requests served before it; compilers have `jit_s` of work that
    comes with the first 15,000 requests, and take `trickle` of a core ever after; `growth` is what memory grows by in a
    burst."""

    cost_ms: Callable[[int], float] = lambda served: 0.25 + 2 * 0.9 ** (served / 500)
    jit_s: float = 14
    trickle: float = 0.02
    growth: float = 0.0
    cpus: float = 1
    answers: bool = True
    tells_jit: bool = True
    backend_answers: bool = True
    delay: Delay = MS_300
    now_s: float = 0.0
    served: int = 0
    jit_cpu_s: float = 0.0
    rss_bytes: float = 1e9
    sent: list[Load] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    most_in_flight: float = 0.0  # under a rate

    def process(self) -> Process:
        return Process(cpu_s=0, jit_cpu_s=0 if self.tells_jit else None, cpus=self.cpus)

    def serve(self, phase: BurstPhase, load: Load, wait_ms: int) -> Burst:
        assert isinstance(load.shape, Closed | OpenRate)
        self.sent.append(load)
        requests = load.shape.requests
        burst = Burst(
            phase=phase, start=self.now_s, duration_s=1, wait_ms=wait_ms, requests=0, errors=requests,
            mean_latency_ms=None,
        )  # fmt: skip
        if not self.answers:
            self.now_s += 1
            return burst
        cost_ms = self.cost_ms(self.served)
        waited_ms = endpoint_of(load.targets[0].target, self.delay).mean_ms
        if isinstance(load.shape, OpenRate):
            served = self.cpus * 1000 * load.shape.duration_s / cost_ms
            waiting = (load.rate_rps or 0) * waited_ms / 1000
            queued = min(max(requests - served, 0), max(load.connections - waiting, 0))
            requests = int(min(requests, served + queued))
            self.most_in_flight = max(self.most_in_flight, waiting + queued)
            latency_ms = waited_ms + cost_ms * (1 + queued / 2 / self.cpus)
            taken_s = load.shape.duration_s + (waited_ms + cost_ms * (1 + queued / self.cpus)) / 1000
        else:
            latency_ms = max(waited_ms, load.connections * cost_ms) + cost_ms
            taken_s = requests / load.connections * latency_ms / 1000
        self.served += requests
        due_s = self.jit_s * min(self.served / 15_000, 1)
        compiled_s = max(min(due_s - self.jit_cpu_s, 0.5 * taken_s), 0) + self.trickle * taken_s
        self.jit_s += self.trickle * taken_s
        self.jit_cpu_s += compiled_s
        self.rss_bytes *= 1 + self.growth
        self.now_s += taken_s + CONNECT_S
        cpu_s = requests * cost_ms / 1000 + compiled_s
        return burst.model_copy(
            update={
                "duration_s": taken_s, "requests": requests, "errors": 0, "mean_latency_ms": latency_ms, "cpu_s": cpu_s,
                "cpu_ms_per_request": 1000 * cpu_s / requests, "jit_cpu_s": compiled_s if self.tells_jit else None,
                "rss_bytes": self.rss_bytes,
            }
        )  # fmt: skip

    def behave(self, delay: int | str, **lease: int) -> None:
        if not self.backend_answers:
            raise UnreachableError("http://backend did not answer")
        self.told.append("lend" if lease else f"set {delay}")
        self.delay = delay_of(str(delay))


def warmed(
    approach: Approach,
    connections: int = 1000,
    *targets: str,
    cap_s: float = 140,
    shape: Shape = Closed(1, 60),  # noqa: B008 - it is frozen
    stop: Stop | None = None,
    stream: io.StringIO | None = None,
    settles: bool = True,
    **warmer: Any,
) -> Warmup:
    """What its warm-up was."""

    class Served(Bursts):
        def run(self, phase: BurstPhase, load: Load, wait_ms: int, _: object) -> Burst:
            return approach.serve(phase, load, wait_ms)

    load = load_of(shape, connections, *targets)
    port, progress = cast("Backend", approach), Progress(stream or io.StringIO())
    waits = Waits(endpoint_of(load.targets[0].target, approach.delay), approach.delay, port, progress)
    bursts = Served(Ab(), port, stop or Stop(), clock=lambda: approach.now_s)
    return Warmer(bursts, waits, load, cap_s, **warmer).run(settles=settles)


def phase(warmup: Warmup, name: str) -> list[Burst]:
    return [burst for burst in warmup.bursts if burst.phase == name]


def sent_in(approach: Approach, warmup: Warmup, name: str) -> list[Load]:
    """The loads of that phase."""
    return [load for load, burst in zip(approach.sent, warmup.bursts, strict=True) if burst.phase == name]
