"""What a scenario needs and how much of it a host can hold."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, Context
from pathlib import Path

from loomlab.basics.grouping import parse_cpu_list
from loomlab.plan.host import APPROACH_FILES, GENERATOR_FILES, PORTS, THREADS, Host, memory_mb_of, size_of
from loomlab.plan.scenarios import Scenario
from loomlab.records.load import Closed, OpenRate, Users
from loomlab.tools.known import tool
from loomlab.tools.tool import Tool

APPROACH_MS, BACKEND_MS = 0.5, 0.1
"""CPU of one request: warm approaches took 0.16 to 0.33 ms (docs/reference/scenarios.md), half cold ones more."""
BUSY_LIMIT = 0.5  # of each CPU: above, waits for a CPU show in the latencies
START_S, OVERHEAD_S = 12, 10  # an approach's start, and what the lab adds to warm-up and load, seen on two CPUs
TYPICAL_WARM_UP_S = 75
LIVE_SET_S = 6  # for what waiting requests hold: collections, and requests that wait; beside it the CPU of two waves
SCENARIO_CONNECTIONS = 60_000  # of the largest one


@dataclass(frozen=True)
class Room:
    approach_cpus: int
    generator_cpus: int
    shared: bool  # the backend has the generator's CPUs, too
    generator_memory_mb: int
    open_files: int


def room_of(host: Host, size_name: str, sizes: Path, *, apart: bool = False) -> Room:
    """What a host of that size gives loads that are yet to be fitted to it; `apart` as `size_of` has it."""
    size = size_of(size_name, host, SCENARIO_CONNECTIONS, sizes, apart=apart)
    cpus = [parse_cpu_list(size[f"{part}_CPUSET"]) or set() for part in ("APPROACH", "BACKEND", "LOADGEN")]
    approach, backend, generator = cpus
    shared = not apart and (not backend or bool(backend & generator))
    memory_mb = memory_mb_of(size["LOADGEN_MEMORY"])
    return Room(len(approach) or 1, len(generator) or 1, shared, memory_mb, host.open_files)


@dataclass(frozen=True)
class Need:
    """What a scenario takes at full size, for all of its approaches and repeats."""

    connections: int  # the most at once
    backend_connections: int  # the most of one request
    rate_rps: float
    work_ms: float  # CPU that a request asks for
    minutes: float
    open_files: int  # those of one process


def need_of(scenario: Scenario) -> Need:
    endpoints, loads = scenario.endpoints, list(scenario.shapes())
    answer_s = max(sum(endpoint.mean_ms for endpoint in endpoints) / len(endpoints) / 1000, 0.001)
    rates_rps: list[float] = []
    seconds = 0.0
    for connections, shape in loads:
        lasts_s: float = shape.duration_s
        match shape:
            case OpenRate(steps):
                rates_rps += [step.rate_rps for step in steps]
            case Users():
                rates_rps.append(shape.most / (answer_s + sum(shape.think_s) / 2))
            case Closed():
                rates_rps.append(connections / answer_s)
                lasts_s = min(lasts_s, shape.requests / connections * answer_s)
        seconds += START_S + TYPICAL_WARM_UP_S + OVERHEAD_S + LIVE_SET_S + lasts_s
    most, held = max(connections for connections, _ in loads), max(one.connections_held for one in endpoints)
    return Need(
        connections=most,
        backend_connections=held,
        open_files=most * (1 + held) + APPROACH_FILES,
        rate_rps=max(rates_rps),
        work_ms=sum(endpoint.work_ms for endpoint in endpoints) / len(endpoints),
        minutes=len(scenario.approaches) * scenario.repeats * seconds / 60,
    )


def largest_scale(scenario: Scenario, room: Room) -> tuple[float, str | None]:
    """The largest factor up to 1, of two figures, at which the room is not what limits the runs; and what would."""
    need = need_of(scenario)
    rates_rps, connections = most_of(tool(scenario.tool), room, need.work_ms, need.backend_connections)
    if any(name.endswith("-platform") for name in scenario.approaches):  # a thread a request, and one a call at once
        connections["threads"] = THREADS / (1 + need.backend_connections if need.backend_connections > 1 else 1)
    shares = {limit: most / need.rate_rps for limit, most in rates_rps.items()}
    shares |= {limit: most / need.connections for limit, most in connections.items()}
    limit, share = min(shares.items(), key=lambda pair: pair[1])
    return (1.0, None) if share >= 1 else (rounded_down(share, 2), limit)


def most_of(
    tool: Tool, room: Room, work_ms: float, backend_connections: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Requests a second, and connections, beyond which the room would be the limit, by what would."""
    generator_ms = tool.cpu_ms_per_request + (BACKEND_MS if room.shared else 0)
    rates_rps = {
        "the approach's CPU": room.approach_cpus * BUSY_LIMIT * 1000 / (APPROACH_MS + work_ms),
        f"{tool.name}'s CPU": min(room.generator_cpus, tool.most_cpus) * BUSY_LIMIT * 1000 / generator_ms,
    }
    files = max(room.open_files - APPROACH_FILES, 1) / (1 + backend_connections)
    connections = {
        "open files": min(files, max(room.open_files - GENERATOR_FILES, 1)),
        "the ports of one address": (PORTS - GENERATOR_FILES) / max(backend_connections, 1),
    }
    if tool.memory_mb_per_connection:
        connections[f"the memory of {tool.name}"] = room.generator_memory_mb / tool.memory_mb_per_connection
    return rates_rps, connections


def rounded_down(number: float, figures: int) -> float:
    return float(Context(prec=figures, rounding=ROUND_DOWN).create_decimal(repr(number)))
