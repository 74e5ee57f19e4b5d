"""Where a search for capacity starts and ends, and what each process is loaded at after it."""

import math
import random

from loomlab.basics.errors import UsageError
from loomlab.plan.capacity import BUSY_LIMIT, Room, most_of
from loomlab.plan.variables import Asked
from loomlab.records.capacity import ABOVE, LONGEST_TRIAL_S, PERCENT, Objective, Search
from loomlab.records.endpoints import Delay, Endpoint, answer_ms
from loomlab.records.load import OpenRate, RateStep
from loomlab.tools.known import tool

SHARES = (1.0, 0.5, 0.8, 1.1)  # of capacity: the search itself, and what each process is loaded at after it
TRIAL_S, SHORTEST_TRIAL_S, AT_SHARE_S = 10, 5, 20
START_SHARE, REACH = 0.4, 2  # of what the approach's CPU is likely to carry: where a search starts, and ends
IN_FLIGHT_SPARE = 1.5  # connections, for each request that is in flight while the objective is met
FEWEST_CONNECTIONS = 100
DRAWS = 10_000  # of answers, which tell a percentile of the delays
WITHOUT_LATENCY_S = 4  # that requests are taken to be in flight at most where the objective does not say


def searched(asked: Asked, room: Room, endpoint: Endpoint, delay: Delay) -> Search:
    """Raises UsageError for an objective that no answer meets, or no trial can tell."""
    for one in asked.objectives:
        least_ms = _least_ms(one, endpoint, delay)
        if one.of_latency and one.below <= least_ms + endpoint.work_ms:
            fact = f"SLO={one.name}<{one.below:g}ms cannot be met, because the delays alone make it {least_ms:.0f} ms"
            raise UsageError(f"{fact}: use for instance {one.name}<{math.ceil(1.3 * least_ms)}ms.")
    if asked.duration_s and asked.duration_s < SHORTEST_TRIAL_S:
        fact = f"DURATION={asked.duration_s}s is too short for a trial"
        raise UsageError(f"{fact}: use {TRIAL_S}s, or leave it out.")
    longest_s = min((one.below / 1000 for one in asked.objectives if one.of_latency), default=WITHOUT_LATENCY_S)
    held_s = max(IN_FLIGHT_SPARE * longest_s, 2 * answer_ms(endpoint, delay) / 1000)
    rates_rps, connections = most_of(tool(asked.tool), room, endpoint.work_ms, endpoint.connections_held)
    service_rps, generator_rps = (rate / BUSY_LIMIT for rate in rates_rps.values())
    reach_rps = min(connections.values()) / _planned_s(held_s)
    most_rps = min(REACH * service_rps, generator_rps, reach_rps)
    fewest_rps = max((ABOVE / (1 - PERCENT[one.figure] / 100) / LONGEST_TRIAL_S for one in _tails(asked)), default=0)
    if fewest_rps > most_rps:
        name = max(_tails(asked), key=lambda one: PERCENT[one.figure]).name
        fact = f"SLO has {name}, which a trial of {LONGEST_TRIAL_S} s tells from {fewest_rps:.0f} requests/s on"
        raise UsageError(f"{fact}, and this host is likely to hold fewer: use a lower percentile.")
    return Search(
        objectives=asked.objectives,
        start_rps=min(START_SHARE * service_rps, reach_rps),
        most_rps=most_rps,
        held_s=held_s,
        trial_s=asked.duration_s or TRIAL_S,
    )


def search_shapes(search: Search) -> list[tuple[int, OpenRate]]:
    """Connections and load of the search, and at the shares: those of the highest rate, for which pools have room."""
    seconds = [search.trial_s] + [AT_SHARE_S] * len(SHARES[1:])
    most = max(FEWEST_CONNECTIONS, math.ceil(search.most_rps * _planned_s(search.held_s)))
    return [(most, OpenRate((RateStep(search.most_rps, lasts_s),))) for lasts_s in seconds]


def _least_ms(objective: Objective, endpoint: Endpoint, delay: Delay) -> float:
    """What the figure is where an answer takes no longer than its waits for the backend, one after another."""
    percent = PERCENT.get(objective.figure)
    if percent is None or not endpoint.waits_as_configured:
        return answer_ms(endpoint, delay)
    draw = random.Random(1)  # noqa: S311 - no secret
    answers_ms = sorted(sum(delay.drawn_ms(draw) for _ in range(endpoint.rounds)) for _ in range(DRAWS))
    return answers_ms[math.ceil(DRAWS * percent / 100) - 1]


def _planned_s(held_s: float) -> float:
    """How long requests are in flight at most: those that pile up while more is offered than is held, too."""
    return held_s + (max(SHARES) - 1) * max(SHARES) * AT_SHARE_S


def _tails(asked: Asked) -> list[Objective]:
    return [one for one in asked.objectives if one.figure in PERCENT]
