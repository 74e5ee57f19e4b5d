"""The first phase of a warm-up: enough requests for the compilers, and enough CPU left for them."""

from collections.abc import Sequence

from loomlab.records.warmup import ENOUGH_REQUESTS, REST_CORES, Burst, requests_of

BUSY_TARGET = 0.5
"""Of the approach's CPUs, for the requests alone."""
CROWDED = 0.8
"""Of the approach's CPUs: where its requests take more, compilers without CPU time may be crowded out, not at rest."""
HEADROOM = 1.25
"""Connections of a rate, for each that its requests keep busy. With more, requests pile up in cold bursts and at
pauses, and pools keep for the whole run what they opened for them."""
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
    busy = last.request_cores / cpus
    change = min(max(busy / BUSY_TARGET, 1 / FASTEST_CHANGE), FASTEST_CHANGE)
    worked_ms = last.mean_latency_ms - wait_ms
    return min(max(round(last.mean_latency_ms * change - worked_ms), 1), LONGEST_WAIT_MS)


def burst_waves(latency_ms: float, burst_s: float = BURST_S) -> int:
    """As many as take so many seconds, and two at least."""
    return max(BURST_WAVES, round(1000 * burst_s / max(latency_ms, 1)))


def at_rest(bursts: Sequence[Burst], cpus: float) -> bool:
    """Whether the compilers have done their work: after enough requests, the same number for every approach, they
    hardly took CPU in the last burst, although its requests left them some. By their CPU time: elapsed time would
    penalise an approach that crowds them out."""
    last = bursts[-1]
    if requests_of(bursts) < ENOUGH_REQUESTS or last.jit_cores > REST_CORES:
        return False
    return last.request_cores <= CROWDED * cpus
