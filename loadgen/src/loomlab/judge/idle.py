"""How many connections of a closed load had requests that were answered."""

import math

from loomlab.records.models import Interior
from loomlab.records.requestlog import RequestLog

KEPT_SHARE, ROUNDED = 0.8, 1e-9


def busy_connections(log: RequestLog, window: Interior) -> float | None:
    """Their number in the window, None where that has no whole wave; an upper bound.

    A connection that waits for one answer after another has started as many requests as there were whole waves, or one
    more. The window is shortened by up to a fifth, to where it is least above a whole number of them.
    """
    seconds, first = math.floor(window.seconds), math.floor(window.start)
    requests, took_s = [0] * seconds, [0.0] * seconds
    for start_s, latency_ms in zip(log.start_s, log.latency_ms, strict=True):
        second = math.floor(start_s) - first
        if 0 <= second < seconds:
            requests[second] += 1
            took_s[second] += latency_ms / 1000
    fits: list[tuple[float, float]] = []
    for length_s in range(math.ceil(KEPT_SHARE * seconds), seconds + 1):
        started, busy_s = sum(requests[:length_s]), sum(took_s[:length_s])
        waves = length_s * started / busy_s if busy_s else 0.0
        if whole := math.floor(waves + ROUNDED):
            fits.append((waves / whole, started / whole))
    return min(fits)[1] if fits else None
