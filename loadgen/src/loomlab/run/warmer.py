"""The warm-up of an approach: until its compilers are at rest, then the load itself until what it costs is steady."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from loomlab.basics.trend import trend
from loomlab.basics.waves import SHORTEST_WARMUP_S
from loomlab.records.endpoints import NO_DELAY, endpoint_of, with_work
from loomlab.records.load import Load, OpenRate
from loomlab.records.raw import ENOUGH_REQUESTS, REST_CORES, Burst, BurstPhase, Warmup
from loomlab.run.management import Waits
from loomlab.run.process import FEWEST_CONNECTIONS, Bursts, at_rate, burst_of, busy_connections
from loomlab.run.prometheus import UnreachableError

COMPILE_SHARE = 0.6  # of the cap: what is left after it is for the load itself
COLD_COST_MS = 2.0  # CPU that a request to an approach takes at first
COMPILE_BURST_S, FEWEST_COMPILE_WAVES = 5, 2
SETTLE_BURST_S, FEWEST_SETTLE_WAVES, FEWEST_RPS = 4, 1, 10
BURST_LIMIT_S = 45  # shorter than the lease of the backend's delay, which is the longest that the backend grants
HEADROOM = 1.25  # connections of a rate, for each busy one: with more, pools keep what cold bursts piled up
MOST_CONNECTIONS = 500
"""With more, cold bursts of two waves would take a minute and starve the compilers; the code that runs is the same."""
LEAST_WORK_MICROS = 1  # not 0: a branch that is never taken is compiled to a trap
PHASE_WORDS: dict[BurstPhase, str] = {"compile": "compilers at work", "settle": "settling"}
UNKNOWN_MS = 200  # what an answer is taken to last before one has come
BUSY_TARGET = 0.5  # of the approach's CPUs, for the requests alone, while its compilers are at work
SHARED_TARGET, FULL = 0.7, 0.97  # for requests and compilers together, where their CPU time is not told apart
CROWDED = 0.8
"""Of the approach's CPUs: where its requests take more, compilers without CPU time may be crowded out, not at rest."""
LONGEST_WAIT_MS, FASTEST_CHANGE = 6_000, 3.0
CHANGE_LIMIT = 0.03  # from one burst to the next, of latency and of CPU per request
MEMORY_LIMIT = 0.15  # a heap that fills for the first time costs page faults: 5 % of the CPU where 3.5 GB grow so
CONFIDENCE = 80  # in percent, one-sided
FIRST_ONES = 1  # bursts that do not count: threads start, pools fill, and what only this load does is compiled
FEWEST_BURSTS, MOST_BURSTS = 4, 6
COURSE_LIMIT = 0.10
"""Of latency and CPU over the later half of a warm-up whose compilers tell nothing: code gets cheaper at any time."""


@dataclass
class Warmer:
    """Warms a process up by bursts of the tool, within `cap_s` for both phases together."""

    bursts: Bursts
    waits: Waits
    load: Load  # as it will be measured
    cap_s: float
    cold_cost_ms: float = COLD_COST_MS
    compile_burst_s: float = COMPILE_BURST_S

    def __post_init__(self) -> None:
        endpoints = [endpoint_of(target.target, self.waits.delay) for target in self.load.targets]
        self._endpoint = self.waits.endpoint
        self._fixed_waits = self.waits.delay.text == NO_DELAY or self._endpoint.database
        self._connections = busy_connections(self.load, max(endpoint.mean_ms for endpoint in endpoints) / 1000)
        self._asked_ms = fmean(endpoint.work_ms for endpoint in endpoints)
        self._done: list[Burst] = []
        self._cpus = 1.0
        self._unsteady: str | None = None
        self._began = self.bursts.clock()

    def run(self, *, settles: bool = True) -> Warmup:
        """Both phases, or only the first if there is one; after a burst without an answer, or a stop, what there is."""
        compiled = self.compile(COMPILE_SHARE * self.cap_s if settles else self.cap_s)
        compiling_s = self.cap_s - self._left_s()
        needed = compiled is None and not self._fixed_waits
        changing = self._settle() if settles or needed else None
        return Warmup(
            cap_s=self.cap_s,
            compiled=compiled,
            changing=changing or self._unsteady,
            failed=bool(self._done) and not self._done[-1].requests,
            duration_s=self.cap_s - self._left_s(),
            compiling_s=compiling_s,
            bursts=self._done,
        )

    def compile(self, limit_s: float) -> bool | None:
        """Whether the compilers came to rest in time; None where nothing tells, or the backend takes no other delay."""
        process = self.bursts.approach.process()
        cpus = self._cpus = process.cpus or 1
        told = {process.jit_cpu_s, process.compiling_s} != {None} and process.cpu_s is not None
        if self._fixed_waits:
            return self._compile_as_it_waits(self.cap_s - limit_s, told=told)
        if not told:
            self.waits.progress.say("The JIT compilers' CPU time is unknown: the warm-up runs only the load itself.")
            return None
        connections = min(max(self._connections, FEWEST_CONNECTIONS), MOST_CONNECTIONS)
        targets = tuple(with_work(target, LEAST_WORK_MICROS) for target in self.load.targets)
        sockets = min(math.ceil(HEADROOM * connections), self.load.connections)
        spared = replace(self.load, targets=targets, connections=sockets)
        wait_ms = min(round(connections * self.cold_cost_ms / (BUSY_TARGET * cpus)), LONGEST_WAIT_MS)
        rated = isinstance(self.load.shape, OpenRate)
        if not self._endpoint.waits_as_configured and not rated:
            wait_ms = min(wait_ms, round(self._endpoint.mean_ms))  # a pinned carrier serves them one by one
        latency_ms = float(wait_ms)
        kept_s = self.cap_s - limit_s
        try:
            while self._going() and (left_s := self._left_s() - kept_s) >= SHORTEST_WARMUP_S:
                waves = waves_within(self.compile_burst_s, latency_ms, FEWEST_COMPILE_WAVES)
                load = burst_of(spared, connections, waves, latency_ms, min(left_s, BURST_LIMIT_S))
                each_ms = round(wait_ms / max(self._endpoint.rounds, 1))
                last = self._burst("compile", self.waits.stretched(load, each_ms), wait_ms)
                if at_rest(self._done, cpus):
                    return True
                if rated:  # its latency includes the time in a queue, which says nothing of the next burst
                    last = last.model_copy(update={"mean_latency_ms": wait_ms})
                following_ms = next_wait_ms(last, wait_ms, cpus)
                latency_ms = (last.mean_latency_ms or wait_ms) + following_ms - wait_ms
                wait_ms = following_ms
        except UnreachableError as error:
            self.waits.progress.say(f"The backend's delay cannot be changed for the warm-up: {error}.")
            return None
        finally:
            self.waits.restore()
        return False

    def _compile_as_it_waits(self, kept_s: float, *, told: bool) -> bool | None:
        """As `compile`, by requests whose waits the lab cannot change: on as many connections, or at such a rate, as
        leave compilers some of the CPUs. Where they tell nothing, until what requests cost is steady."""
        shape, level, latency_ms = self.load.shape, float(self._connections), float(UNKNOWN_MS)
        if isinstance(shape, OpenRate):
            level = max(step.rate_rps for step in shape.steps)
        while self._going() and (left_s := self._left_s() - kept_s) >= SHORTEST_WARMUP_S:
            if isinstance(shape, OpenRate):
                level = min(level, 1000 * self.load.connections / max(latency_ms, 1))
                load = at_rate(self.load, level, min(self.compile_burst_s, left_s))
            else:
                level = min(max(level, 1), MOST_CONNECTIONS, self.load.connections)
                waves = waves_within(self.compile_burst_s, latency_ms, FEWEST_COMPILE_WAVES)
                load = burst_of(self.load, int(level), waves, latency_ms, min(left_s, BURST_LIMIT_S))
            last = self._burst("compile", load, 0)
            if told and at_rest(self._done, self._cpus):
                return True
            self._unsteady = None if told else describe_course(self._done, self._cpus)
            if not told and not self._unsteady:
                return None
            full = FULL * self._cpus < last.request_cores < math.inf
            level /= 2 if full else busy_share(last, self._cpus, SHARED_TARGET)
            latency_ms = last.mean_latency_ms or latency_ms
        return False if told else None

    def _settle(self) -> str | None:
        """What still changed when the cap was reached, None if nothing did."""
        bursts: list[Burst] = []
        # a wave of all connections takes no less than what its requests cost, by a burst without the work.
        cost_ms = self._asked_ms + ((self._done[-1].cpu_ms_per_request or 0) if self._done else 0)
        expected_ms = max(self._endpoint.mean_ms, self._connections * cost_ms / self._cpus) or UNKNOWN_MS
        while self._going() and describe_change(bursts):
            waves = waves_within(SETTLE_BURST_S, expected_ms, FEWEST_SETTLE_WAVES)
            wanted_s = max(SHORTEST_WARMUP_S, waves * expected_ms / 1000)
            if self._left_s() < (wanted_s if self._done else SHORTEST_WARMUP_S):
                break
            bursts.append(self._settling_burst(expected_ms, min(self._left_s(), BURST_LIMIT_S)))
            expected_ms = bursts[-1].mean_latency_ms or expected_ms
        return describe_change(bursts)

    def _settling_burst(self, expected_ms: float, limit_s: float) -> Burst:
        load = self.load
        if isinstance(load.shape, OpenRate):
            answer_s = self._endpoint.mean_ms / 1000
            load = at_rate(load, self._settled_rps(load.shape, answer_s), min(max(answer_s, SETTLE_BURST_S), limit_s))
        else:
            waves = waves_within(SETTLE_BURST_S, expected_ms, FEWEST_SETTLE_WAVES)
            load = burst_of(load, self._connections, waves, expected_ms, limit_s)
        return self._burst("settle", load, self._endpoint.floor_ms)

    def _settled_rps(self, shape: OpenRate, answer_s: float) -> float:
        """The highest rate, ten at least; of a ladder what CPUs carry, lest pools keep a queue's for lower steps."""
        compiled = [burst for burst in self._done if burst.phase == "compile"]
        cost_ms = self._asked_ms + ((cpu_ms_without_jit(compiled[-1]) or 0) if compiled else 0)
        carried_rps = 1000 * CROWDED * self._cpus / cost_ms if cost_ms else math.inf
        highest_rps = max(step.rate_rps for step in shape.steps)
        if len(shape.steps) > 1:
            highest_rps = min(highest_rps, carried_rps)
        offered_rps = max(highest_rps, min(FEWEST_RPS, carried_rps))
        return min(offered_rps, self.load.connections / answer_s) if answer_s else offered_rps

    def _burst(self, phase: BurstPhase, load: Load, wait_ms: int) -> Burst:
        what = f"{PHASE_WORDS[phase]}, burst {len(self._done) + 1}"

        def show() -> None:
            self.waits.progress.show("warm-up", f"{what}; {max(self._left_s(), 0):.0f} s left at most")

        self._done.append(self.bursts.run(phase, load, wait_ms, show))
        return self._done[-1]

    def _going(self) -> bool:
        return not self.bursts.stop.requested and all(burst.requests for burst in self._done)

    def _left_s(self) -> float:
        return self.cap_s - (self.bursts.clock() - self._began)


def next_wait_ms(last: Burst, wait_ms: int, cpus: float) -> int:
    """After a burst whose requests waited `wait_ms`: CPU goes with the inverse of the latency."""
    if not last.mean_latency_ms:
        return wait_ms
    worked_ms = last.mean_latency_ms - wait_ms
    return min(max(round(last.mean_latency_ms * busy_share(last, cpus) - worked_ms), 1), LONGEST_WAIT_MS)


def busy_share(last: Burst, cpus: float, target: float = BUSY_TARGET) -> float:
    """CPU that its requests took, as a share of what they should, within a third and three; 1 where it is not known."""
    if math.isinf(last.request_cores):
        return 1.0
    return min(max(last.request_cores / cpus / target, 1 / FASTEST_CHANGE), FASTEST_CHANGE)


def waves_within(seconds: float, latency_ms: float, fewest: int) -> int:
    return max(fewest, round(1000 * seconds / max(latency_ms, 1)))


def at_rest(bursts: Sequence[Burst], cpus: float) -> bool:
    """Whether the compilers, after enough requests, hardly took CPU time in the last burst, which left them some."""
    last = bursts[-1]
    rests = sum(burst.requests or 0 for burst in bursts) >= ENOUGH_REQUESTS and last.jit_cores <= REST_CORES
    return rests and last.request_cores <= CROWDED * cpus


def describe_course(bursts: Sequence[Burst], cpus: float) -> str | None:
    """What still changes over the later half of the bursts, which may last as long as the load to come, but for those
    that left compilers too little CPU."""
    crowded = (one.cpu_s is not None and one.request_cores > CROWDED * cpus for one in bursts)
    after = max((place for place, is_crowded in enumerate(crowded, 1) if is_crowded), default=0)
    later = bursts[max(after, len(bursts) // 2) :]
    return _change(later, COURSE_LIMIT / max(len(later) - 1, 1))


def describe_change(bursts: Sequence[Burst]) -> str | None:
    """What still changes over the last four to six bursts, by latency, CPU per request or memory at 80 % confidence."""
    return _change(bursts[FIRST_ONES:][-MOST_BURSTS:], CHANGE_LIMIT)


def _change(bursts: Sequence[Burst], most: float) -> str | None:
    if len(bursts) < FEWEST_BURSTS:
        return "there were too few bursts to tell"
    courses = (
        ("latency still fell", -1, most, [burst.mean_latency_ms for burst in bursts]),
        ("CPU per request still fell", -1, most, [cpu_ms_without_jit(burst) for burst in bursts]),
        ("memory still grew", 1, MEMORY_LIMIT, [burst.rss_bytes for burst in bursts]),
    )
    if any(any(values) and not all(values) for *_, values in courses):
        return "the cost of some bursts is not known"
    for what, sign, limit, values in courses:
        if line := trend(values):
            change, worst = (sign * math.expm1(line.slope + sign * by) for by in (0, line.margin(CONFIDENCE)))
            if worst > limit:
                return f"{what} by {100 * change:.1f} % (± {100 * (worst - change):.1f} %) from one burst to the next"
    return None


def latency_ms(bursts: Sequence[Burst]) -> float | None:
    """The mean of the last bursts' mean latencies; None without an answer."""
    known = [burst.mean_latency_ms for burst in bursts[-FEWEST_BURSTS:] if burst.mean_latency_ms]
    return fmean(known) if known else None


def cpu_ms_without_jit(burst: Burst) -> float | None:
    """CPU per request, in ms, less what the compilers took; None where nothing is left."""
    if burst.cpu_s is None or not burst.requests:
        return None
    return max(1000 * (burst.cpu_s - (burst.jit_cpu_s or 0)) / burst.requests, 0) or None
