"""The loads of a warm-up's bursts: waves before a closed load, a rate before an open one."""

import math
from dataclasses import replace

from loomlab.records.load import Closed, Load, OpenRate, RateStep, Users

FEWEST_CONNECTIONS = FEWEST_RPS = 10
"""That a burst keeps busy, or sends a second, so that it has a throughput to speak of."""


def busy_connections(load: Load, answer_s: float) -> int:
    """As many as the load will keep busy at its height when an answer takes `answer_s`; at least ten, where there are
    as many."""
    shape = load.shape
    if isinstance(shape, OpenRate):
        busy = max(step.rate_rps for step in shape.steps) * answer_s
    elif isinstance(shape, Users):
        think_s = sum(shape.think_s) / 2
        most = max(stage.users for stage in shape.stages)
        busy = most * answer_s / (answer_s + think_s) if think_s else most
    else:
        busy = load.connections
    return min(max(math.ceil(busy), FEWEST_CONNECTIONS), load.connections)


def settled_rps(shape: OpenRate, connections: int, answer_s: float, carried_rps: float) -> float:
    """The highest rate of the load, of a ladder no more than `carried_rps`: what pools keep from requests that queue
    would be there in its lower steps, too. Ten at least, where as many are carried; and no more than so many
    connections carry when an answer takes `answer_s`."""
    highest_rps = max(step.rate_rps for step in shape.steps)
    if len(shape.steps) > 1:
        highest_rps = min(highest_rps, carried_rps)
    offered_rps = max(highest_rps, min(FEWEST_RPS, carried_rps))
    return min(offered_rps, connections / answer_s) if answer_s else offered_rps


def at_rate(load: Load, rate_rps: float, lasts_s: float) -> Load:
    return replace(load, shape=OpenRate((RateStep(round(rate_rps, 3), max(round(lasts_s), 1)),)))


def burst_of(load: Load, connections: int, waves: int, latency_ms: float, limit_s: float) -> Load:
    """A burst of this load that keeps `connections` busy for so many waves of `latency_ms`. A closed load takes them in
    whole waves, and is told to stop after `limit_s`. Under a rate, requests arrive one by one, which takes other code
    and more CPU time; so its bursts are rates, too, on all of its connections, and no longer than `limit_s`."""
    if isinstance(load.shape, OpenRate):
        return at_rate(load, 1000 * connections / max(latency_ms, 1), min(waves * latency_ms / 1000, limit_s))
    shape = Closed(requests=waves * connections, duration_s=max(int(limit_s), 1))
    return replace(load, connections=connections, shape=shape)
