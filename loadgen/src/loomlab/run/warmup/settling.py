"""The second phase of a warm-up: the load itself, until what it costs no longer changes."""

import math
from collections.abc import Sequence
from statistics import fmean

from loomlab.basics.trend import trend
from loomlab.records.warmup import Burst

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
BURST_S = 4


def burst_waves(latency_ms: float) -> int:
    """As many as some four seconds hold, and one at least."""
    return max(1, round(1000 * BURST_S / max(latency_ms, 1)))


def changing(bursts: Sequence[Burst]) -> str | None:
    """What still changes, or None when latency, CPU per request (without the compilers, whose work has a phase of its
    own) and memory are steady over the last bursts, four to six: at 80 % confidence the first two fall by no more than
    3 % from one burst to the next, and memory rises by no more than 15 %. The more bursts, the smaller the
    trend that noise can hide or feign."""
    if len(bursts) < FIRST_ONES + FEWEST_BURSTS:
        return "there were too few bursts to tell"
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
            return f"{what} still fell by {_told(-math.expm1(line.slope), most)}"
    if memory and (most := math.expm1(memory.slope + memory.margin(CONFIDENCE))) > MEMORY_LIMIT:
        return f"memory still grew by {_told(math.expm1(memory.slope), most)}"
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


def _told(change: float, most: float) -> str:
    return f"{100 * change:.1f} % (± {100 * (most - change):.1f} %) from one burst to the next"
