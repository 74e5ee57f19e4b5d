"""The loads that a request asks for: one, or those of a sweep."""

from collections.abc import Callable
from dataclasses import dataclass

from loomlab.basics.errors import UsageError
from loomlab.plan.limits import AB_CONNECTIONS
from loomlab.plan.scenarios.capacity import Room, most_of
from loomlab.plan.variables import Asked
from loomlab.records.endpoints import Endpoint

IN_FLIGHT_FACTOR, FEWEST_FOR_RATE = 4, 100
"""Connections for a rate: as many as it keeps busy, times this, and at least so many."""
RUNGS = (16, 4, 1)
"""A ladder's connections: what the host holds, divided by these."""


@dataclass(frozen=True)
class Level:
    """`rate_rps` is None in the closed model."""

    connections: int
    rate_rps: float | None = None


def levels_of(asked: Asked, endpoint: Endpoint, answer_ms: float, room: Callable[[], Room]) -> list[Level]:
    """One, or several of a sweep, which has a ladder that fits `room` where none are asked for. Raises UsageError for
    what the tool cannot offer."""
    _check(asked)
    if asked.rates_rps:
        given = asked.connections[0] if asked.connections else None
        return [Level(given or _for_rate(rate, answer_ms), rate) for rate in asked.rates_rps]
    if asked.connections:
        return [Level(connections) for connections in asked.connections]
    if not asked.sweep:
        raise UsageError(f"CONCURRENCY is not set: use for instance make run-{asked.tool} CONCURRENCY=1000.")
    return [Level(connections) for connections in ladder(asked.tool, room(), endpoint, answer_ms)]


def _check(asked: Asked) -> None:
    """vegeta has nothing but rates, the others have none."""
    name, rates = asked.tool, ",".join(map(rate_text, asked.rates_rps))
    if name == "vegeta" and not rates:
        verb = "sweep RATE=100,200" if asked.sweep else "run-vegeta RATE=500"
        raise UsageError(f"RATE is not set: use for instance make {verb}.")
    if name != "vegeta" and rates:
        cure = "TOOL=vegeta" if asked.sweep else "make run-vegeta"
        raise UsageError(f"RATE={rates} does not go with {name}: use {cure}.")
    if rates and asked.requests is not None:
        raise UsageError(f"REQUESTS={asked.requests} does not go with RATE={rates}: use DURATION.")
    if rates and len(asked.connections) > 1:
        listed = ",".join(map(str, asked.connections))
        raise UsageError(f"CONCURRENCY={listed} does not go with RATE={rates}: use one number, or leave it out.")


def _for_rate(rate_rps: float, answer_ms: float) -> int:
    """With connections to spare."""
    return max(FEWEST_FOR_RATE, int((int(rate_rps) + 1) * IN_FLIGHT_FACTOR * answer_ms) // 1000)


def ladder(tool: str, room: Room, endpoint: Endpoint, answer_ms: float) -> list[int]:
    """Connections, up to the most at which the host is not what limits the runs, as `SCALE=auto` has it."""
    rates_rps, connections = most_of(tool, room, endpoint.work_ms, endpoint.at_once if endpoint.backend_calls else 0)
    most = min(*connections.values(), min(rates_rps.values()) * answer_ms / 1000, AB_CONNECTIONS)
    return sorted({_rounded(most / rung) for rung in RUNGS})


def _rounded(number: float) -> int:
    """Down to one figure."""
    whole = str(max(int(number), 1))
    return int(whole[0].ljust(len(whole), "0"))


def rate_text(rate_rps: float) -> str:
    """With its three decimals at most."""
    return f"{rate_rps:.3f}".rstrip("0").rstrip(".")
