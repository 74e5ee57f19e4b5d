"""When an approach is warm: its compilers are at rest, and then the load itself no longer changes what it costs."""

import math
from collections.abc import Sequence
from statistics import fmean

from loomlab.basics.trend import trend
from loomlab.records.warmup import ENOUGH_REQUESTS, REST_CORES, Burst, requests_of

BUSY_TARGET = 0.5
"""Of the approach's CPUs, for the requests alone, while its compilers are at work."""
CROWDED = 0.8
"""Of the approach's CPUs: where its requests take more, compilers without CPU time may be crowded out, not at rest."""
LONGEST_WAIT_MS, FASTEST_CHANGE = 6_000, 3.0
CHANGE_LIMIT = 0.03
"""From one burst to the next, of latency and of CPU per request."""
MEMORY_LIMIT = 0.15
"""A heap that fills for the first time costs a page fault for each 4 KiB, of some 2.5 us on the 2-CPU host of
docs/methodology.md: 5 % of a burst's CPU where 3.5 GB grow so fast."""
CONFIDENCE = 80
"""In percent, one-sided."""
FIRST_ONES = 1
"""Bursts that do not count: threads start, pools fill, and what only this load does is compiled."""
FEWEST_BURSTS, MOST_BURSTS = 4, 6
TOO_FEW_BURSTS = "there were too few bursts to tell"


def first_wait_ms(connections: int, cpus: float, cold_cost_ms: float) -> int:
    """What a request waits in all, so that cold requests on these connections take the CPU they should."""
    return min(round(connections * cold_cost_ms / (BUSY_TARGET * cpus)), LONGEST_WAIT_MS)


def next_wait_ms(last: Burst, wait_ms: int, cpus: float) -> int:
    """After a burst whose requests waited `wait_ms`: with as many of them in flight, CPU goes with the inverse of the
    latency."""
    if not last.mean_latency_ms or last.cpu_s is None or not last.duration_s:
        return wait_ms
    busy = last.request_cores / cpus
    change = min(max(busy / BUSY_TARGET, 1 / FASTEST_CHANGE), FASTEST_CHANGE)
    worked_ms = last.mean_latency_ms - wait_ms
    return min(max(round(last.mean_latency_ms * change - worked_ms), 1), LONGEST_WAIT_MS)


def waves_within(seconds: float, latency_ms: float, fewest: int) -> int:
    """As many as take so many seconds, and `fewest` at least."""
    return max(fewest, round(1000 * seconds / max(latency_ms, 1)))


def at_rest(bursts: Sequence[Burst], cpus: float) -> bool:
    """Whether the compilers have done their work: after enough requests, the same number for every approach, they
    hardly took CPU in the last burst, although its requests left them some. By their CPU time: elapsed time would
    penalise an approach that crowds them out."""
    last = bursts[-1]
    if requests_of(bursts) < ENOUGH_REQUESTS or last.jit_cores > REST_CORES:
        return False
    return last.request_cores <= CROWDED * cpus


def changing(bursts: Sequence[Burst]) -> str | None:
    """What still changes, or None when latency, CPU per request (without the compilers, whose work has a phase of its
    own) and memory are steady over the last bursts, four to six: at 80 % confidence the first two fall by no more than
    3 % from one burst to the next, and memory rises by no more than 15 %. The more bursts, the smaller the
    trend that noise can hide or feign."""
    if len(bursts) < FIRST_ONES + FEWEST_BURSTS:
        return TOO_FEW_BURSTS
    bursts = bursts[FIRST_ONES:][-MOST_BURSTS:]
    figures = [
        [burst.mean_latency_ms for burst in bursts],
        [cpu_ms_without_jit(burst) for burst in bursts],
        [burst.rss_bytes for burst in bursts],
    ]
    if any(any(values) and not all(values) for values in figures):
        return "the cost of some bursts is not known"
    latency, cpu, memory = map(trend, figures)
    for what, line in (("latency", latency), ("CPU per request", cpu)):
        if line and (most := -math.expm1(line.slope - line.margin(CONFIDENCE))) > CHANGE_LIMIT:
            return f"{what} still fell by {_each_burst(-math.expm1(line.slope), most)}"
    if memory and (most := math.expm1(memory.slope + memory.margin(CONFIDENCE))) > MEMORY_LIMIT:
        return f"memory still grew by {_each_burst(math.expm1(memory.slope), most)}"
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


def _each_burst(change: float, most: float) -> str:
    return f"{100 * change:.1f} % (± {100 * (most - change):.1f} %) from one burst to the next"
