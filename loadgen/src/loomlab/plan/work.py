"""What all approaches are to do: as the user's own variables describe it, or a scenario."""

from dataclasses import dataclass, field

from loomlab.basics.errors import UsageError
from loomlab.basics.waves import LONGEST_RUN_S
from loomlab.plan.capacity import Room, largest_scale, most_of, room_of, rounded_down
from loomlab.plan.host import Host
from loomlab.plan.lab import Lab
from loomlab.plan.scenarios import hangs_of, load_scenario, loads_of, side_by_side
from loomlab.plan.seconds import OPEN_RUN_S
from loomlab.plan.variables import Asked
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import Endpoint, answer_ms, completed, endpoint_of
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target
from loomlab.records.models import Hang, SideBySide
from loomlab.tools.known import tool
from loomlab.tools.tool import Tool

TIMEOUT_S = 30
"""The same for every tool; after so long a silence ab gives up and discards everything."""
SWEEP_REPEATS = 5
"""The fewest for an interval that is not called coarse."""
IN_FLIGHT_FACTOR, FEWEST_FOR_RATE = 4, 100
"""Connections for a rate: as many as it keeps busy, times this, and at least so many."""
RUNGS = (16, 4, 1)
"""A ladder's connections: what the host holds, divided by these."""
MOST_RUNG = 20_000
"""The most that the published experiments with ab have, whatever the tool."""


@dataclass(frozen=True)
class Work:
    asked: Asked
    """What the user asks for, completed by the scenario."""
    loads: list[Load]
    """One after another."""
    approaches: list[str]
    repeats: int
    hangs: list[Hang] = field(default_factory=list)
    side_by_side: SideBySide | None = None

    @property
    def connections(self) -> int:
        """The most of a load."""
        return max(load.connections for load in self.loads)

    @property
    def endpoint(self) -> Endpoint:
        """That of the first kind of request."""
        return endpoint_of(self.loads[0].targets[0].target, delay_of(self.asked.delay))

    @property
    def answer_ms(self) -> float:
        return answer_ms(self.endpoint, delay_of(self.asked.delay))

    @property
    def free(self) -> bool:
        """Whether the lab may set duration and requests that were not asked for."""
        return self.side_by_side is None and self.loads[0].closed_model

    @property
    def subjects(self) -> list[tuple[str, bool]]:
        """What a block holds: each approach, and whether it is the first one's twin."""
        twin = [(self.approaches[0], True)] if self.asked.aa else []
        return [(name, False) for name in self.approaches] + twin


def work_of(asked: Asked, host: Host, lab: Lab) -> Work:
    """The work; raises UsageError for what the lab, or a scenario, does not have."""
    work = _of_scenario(asked, host, lab, asked.scenario) if asked.scenario else _of_variables(asked, host, lab)
    if asked.style == "idiomatic" and (others := [name for name in work.approaches if name not in lab.idiomatic]):
        cure = f"use STYLE=lean, or APPROACH={','.join(lab.idiomatic)}"
        raise UsageError(f"STYLE=idiomatic does not exist for {others[0]}: {cure}.")
    if asked.style == "idiomatic" and asked.http_client != "default":
        raise UsageError(
            f"HTTP_CLIENT={asked.http_client} does not go with STYLE=idiomatic, where each approach has its own "
            "client: use HTTP_CLIENT=default, or STYLE=lean."
        )
    return work


def _of_variables(asked: Asked, host: Host, lab: Lab) -> Work:
    delay = delay_of(asked.delay)
    target = completed(asked.endpoint, delay)
    endpoint = endpoint_of(target, delay)
    answer, connections = answer_ms(endpoint, delay), asked.connections
    shapes: list[tuple[int, Shape]] = []
    for rate in asked.rates_rps:
        busy = int(IN_FLIGHT_FACTOR * (int(rate) + 1) * answer / 1000)
        shape = OpenRate((RateStep(rate, asked.duration_s or OPEN_RUN_S),))
        shapes.append((connections[0] if connections else max(FEWEST_FOR_RATE, busy), shape))
    if not shapes:
        connections = connections or ladder(tool(asked.tool), room_of(host, asked.size, lab.sizes), endpoint, answer)
        shapes += [(each, Closed(asked.requests or each, asked.duration_s or LONGEST_RUN_S)) for each in connections]
    targets = (Target(target, "GET", endpoint.headers),)
    return Work(
        asked=asked,
        loads=[Load("", targets, connections, shape, TIMEOUT_S) for connections, shape in shapes],
        approaches=lab.named(asked.approach or "headline"),
        repeats=asked.repeats or (SWEEP_REPEATS if asked.sweep else 1),
    )


def ladder(generator: Tool, room: Room, endpoint: Endpoint, answer_ms: float) -> list[int]:
    """Connections, of one figure, up to the most at which the host is not what limits the runs, as `SCALE=auto` has
    it."""
    rates_rps, connections = most_of(generator, room, endpoint.work_ms, endpoint.connections_held)
    most = min(*connections.values(), min(rates_rps.values()) * answer_ms / 1000, MOST_RUNG)
    return sorted({int(rounded_down(max(int(most / rung), 1), 1)) for rung in RUNGS})


def _of_scenario(asked: Asked, host: Host, lab: Lab, name: str) -> Work:
    scenario = load_scenario(lab.scenarios, name)
    for approach in scenario.approaches:
        if approach not in lab.approaches:
            raise UsageError(f"{name}.yaml names {approach}: use names of {', '.join(lab.approaches)}.")
    if asked.scale == "auto":
        factor, _ = largest_scale(scenario, room_of(host, asked.size, lab.sizes))
    else:
        factor = float(asked.scale)
    completing = {
        "tool": scenario.tool,
        "delay": scenario.delay,
        "platform_threads": asked.platform_threads or scenario.platform_threads,
        "jdk": asked.given.get("JDK") or f"{scenario.jdk}",
    }
    return Work(
        asked=asked.model_copy(update=completing),
        loads=loads_of(scenario, lab.scenarios, factor, asked.duration_s),
        approaches=lab.named(asked.approach) if asked.approach else list(scenario.approaches),
        repeats=asked.repeats or scenario.repeats,
        hangs=hangs_of(scenario, asked.duration_s),
        side_by_side=side_by_side(name, scenario, factor, asked.duration_s),
    )
