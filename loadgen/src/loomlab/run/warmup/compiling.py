"""The first phase of a warm-up: enough requests for the compilers, and enough CPU left for them."""

import math
from collections.abc import Sequence

from loomlab.records.warmup import ENOUGH_REQUESTS, Burst, requests_of

BUSY_TARGET = 0.5
"""Of the approach's CPUs, for the requests alone."""
REST_CORES = 0.05
"""CPU that compilers take of one core once they are at rest: what trickles on was 0.01 to 0.04 in every approach."""
MOST_CONNECTIONS = 500
"""With more, cold bursts of two waves would take a minute and starve the compilers; the code that runs is the same."""
BURST_S = 5
COLD_COST_MS = 2.0
"""CPU that a request to an approach takes at first."""
LONGEST_WAIT_MS, FASTEST_CHANGE = 6_000, 3.0
BURST_WAVES = 2


def first_wait_ms(connections: int, cpus: float, cold_cost_ms: float = COLD_COST_MS) -> int:
    """What a request waits in all, so that cold requests on these connections take the CPU they should."""
    return min(round(connections * cold_cost_ms / (BUSY_TARGET * cpus)), LONGEST_WAIT_MS)


def next_wait_ms(last: Burst, wait_ms: int, cpus: float) -> int:
    """After a burst whose requests waited `wait_ms`: with as many of them in flight, CPU goes with the inverse of the
    latency."""
    if not last.mean_latency_ms or last.cpu_s is None or not last.duration_s:
        return wait_ms
    busy = (last.cpu_s - (last.jit_cpu_s or 0)) / last.duration_s / cpus
    change = min(max(busy / BUSY_TARGET, 1 / FASTEST_CHANGE), FASTEST_CHANGE)
    worked_ms = last.mean_latency_ms - wait_ms
    return min(max(round(last.mean_latency_ms * change - worked_ms), 1), LONGEST_WAIT_MS)


def burst_waves(latency_ms: float) -> int:
    """As many as take some five seconds, and two at least."""
    return max(BURST_WAVES, round(1000 * BURST_S / max(latency_ms, 1)))


def at_rest(bursts: Sequence[Burst]) -> bool:
    """Whether the compilers have done their work: after enough requests, the same number for every approach, they
    hardly took CPU in the last burst. By their CPU time: elapsed time would penalise an approach that crowds them
    out."""
    if requests_of(bursts) < ENOUGH_REQUESTS:
        return False
    return jit_cores(bursts[-1]) <= REST_CORES


def jit_cores(burst: Burst) -> float:
    """CPU seconds a second that the compilers took; infinite where it is not known."""
    return math.inf if burst.jit_cpu_s is None or not burst.duration_s else burst.jit_cpu_s / burst.duration_s
