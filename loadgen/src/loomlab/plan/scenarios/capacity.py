"""What a scenario needs and how much of it a host can hold."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, Context
from pathlib import Path

from loomlab.basics.cpus import parse_cpu_list
from loomlab.basics.errors import UsageError
from loomlab.plan.host import MOST_FILES, Host
from loomlab.plan.limits import APPROACH_FILES, GENERATOR_FILES, PORTS, THREADS
from loomlab.plan.scenarios.cells import Scaling, endpoints_of, loads_of
from loomlab.plan.scenarios.model import Scenario
from loomlab.plan.seconds import LIVE_SET_S, OVERHEAD_S, START_S
from loomlab.plan.sizes import Size, auto_size, memory_mb_of
from loomlab.records.load import Closed, Load, OpenRate, Users

APPROACH_MS, BACKEND_MS = 0.5, 0.1
"""CPU of one request: warm approaches took 0.16 to 0.33 ms (docs/scenarios.md), half cold ones more."""
GENERATOR_MS = {"ab": 0.05, "hey": 0.15, "vegeta": 0.2, "users": 0.12}
"""Of the whole container, at some 1,000 requests a second (docs/scenarios.md, "Scale")."""
BUSY_LIMIT = 0.5
"""Of each CPU: above, waits for a CPU show in the latencies."""
USER_MB = 0.03
APPROACH_PARTS, LOADGEN_PARTS = 2, 4
"""SIZE=auto gives the approach half of the memory, the load generator a quarter."""
MOST_CPUS = 1024
TYPICAL_WARM_UP_S = 75


@dataclass(frozen=True)
class Room:
    """`approach_cpus` and `generator_cpus` are numbers of CPUs; the backend shares the generator's where `shared`."""

    approach_cpus: int
    generator_cpus: int
    shared: bool
    generator_memory_mb: int
    open_files: int


def room_of(host: Host, size: Size) -> Room:
    """What a host of that size gives a scenario."""
    approach, backend, generator = (
        parse_cpu_list(size[f"{part}_CPUSET"]) or set() for part in ("APPROACH", "BACKEND", "LOADGEN")
    )
    return Room(
        approach_cpus=len(approach) or 1,
        generator_cpus=len(generator) or 1,
        shared=not backend or bool(backend & generator),
        generator_memory_mb=memory_mb_of(size["LOADGEN_MEMORY"]),
        open_files=host.open_files,
    )


@dataclass(frozen=True)
class Need:
    """Of one scenario at full size: the most connections at once, the most of one request to the backend, open files of
    one process, requests a second, CPU that a request asks for, and minutes in all."""

    connections: int
    backend_connections: int
    open_files: int
    rate_rps: float
    work_ms: float
    minutes: float

    @property
    def platform_threads(self) -> int:
        """Of one request: its own, and one a call where several are made at once."""
        return 1 + self.backend_connections if self.backend_connections > 1 else 1


def need_of(scenario: Scenario, folder: Path, scaling: Scaling | None = None) -> Need:
    """For all approaches and repeats of the scenario."""
    endpoints = endpoints_of(scenario)
    answer_s = max(sum(one.mean_ms for one in endpoints) / len(endpoints) / 1000, 0.001)
    backend_connections = max(one.at_once if one.backend_calls else 0 for one in endpoints)
    loads = loads_of(scenario, scaling or Scaling(), folder)
    connections = max(load.connections for load in loads)
    runs = len(scenario.approaches) * scenario.repeats
    around_s = START_S + TYPICAL_WARM_UP_S + OVERHEAD_S + LIVE_SET_S
    seconds = runs * sum(lasts_s(load, answer_s) + around_s for load in loads)
    return Need(
        connections=connections,
        backend_connections=backend_connections,
        open_files=connections * (1 + backend_connections) + APPROACH_FILES,
        rate_rps=max(_rate_rps(load, answer_s) for load in loads),
        work_ms=sum(one.work_ms for one in endpoints) / len(endpoints),
        minutes=seconds / 60,
    )


def lasts_s(load: Load, answer_s: float) -> float:
    """How long the load takes when each answer takes `answer_s`."""
    if isinstance(load.shape, Closed):
        return min(load.shape.duration_s, load.shape.requests / load.connections * answer_s)
    return load.shape.duration_s


def _rate_rps(load: Load, answer_s: float) -> float:
    match load.shape:
        case OpenRate():
            return max(step.rate_rps for step in load.shape.steps)
        case Users():
            return max(stage.users for stage in load.shape.stages) / (answer_s + sum(load.shape.think_s) / 2)
        case _:
            return load.connections / answer_s


def largest_scale(scenario: Scenario, room: Room, folder: Path) -> tuple[float, str | None]:
    """The largest factor up to 1, of two figures, at which the room is not what limits the runs; and what would."""
    need = need_of(scenario, folder)
    rates, connections = most_of(scenario.tool, room, need.work_ms, need.backend_connections)
    if any(name.endswith("-platform") for name in scenario.approaches):
        connections["threads"] = THREADS / need.platform_threads
    shares = {what: most / need.rate_rps for what, most in rates.items()}
    shares |= {what: most / need.connections for what, most in connections.items()}
    what, share = min(shares.items(), key=lambda pair: pair[1])
    return (1.0, None) if share >= 1 else (two_figures(share), what)


def most_of(
    tool: str, room: Room, work_ms: float, backend_connections: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Requests a second, and connections, beyond which the room would be the limit, by what would. `work_ms` is the CPU
    that a request asks for, `backend_connections` how many it holds at once."""
    sharing_ms = BACKEND_MS if room.shared else 0.0
    rates_rps = {
        "the approach's CPU": room.approach_cpus * BUSY_LIMIT * 1000 / (APPROACH_MS + work_ms),
        f"{tool}'s CPU": room.generator_cpus * BUSY_LIMIT * 1000 / (GENERATOR_MS[tool] + sharing_ms),
    }
    files = max(room.open_files - APPROACH_FILES, 1) / (1 + backend_connections)
    connections = {
        "open files": min(files, max(room.open_files - GENERATOR_FILES, 1)),
        "the ports of one address": (PORTS - GENERATOR_FILES) / max(backend_connections, 1),
    }
    if tool == "users":
        connections["users' memory"] = room.generator_memory_mb / USER_MB
    return rates_rps, connections


@dataclass(frozen=True)
class FullSize:
    """The smallest host, of an even number of CPUs, on which SCALE=auto is 1."""

    cpus: int
    memory_gib: int
    open_files: int

    def __str__(self) -> str:
        return f"{self.cpus} CPUs, {self.memory_gib} GiB and {self.open_files:,} open files"


def full_size(scenario: Scenario, folder: Path) -> FullSize:
    """What the scenario takes at SCALE=1 with SIZE=auto, by the CPU that requests were measured to take."""
    need = need_of(scenario, folder)
    approach, loadgen = _memory_mb(scenario, need.connections)
    memory_mb = max(APPROACH_PARTS * approach, LOADGEN_PARTS * loadgen)
    for cpus in range(2, MOST_CPUS + 1, 2):
        host = Host(
            cpus=cpus, memory_mb=memory_mb, open_files=MOST_FILES, cpu_order=list(range(cpus)), free_mb=MOST_FILES
        )
        if largest_scale(scenario, room_of(host, auto_size(host, need.connections)), folder)[1] is None:
            return FullSize(cpus, -(-memory_mb // 1024), need.open_files)
    raise UsageError(f"No host of up to {MOST_CPUS} CPUs holds {scenario.title!r}: use SCALE=auto.")


def _memory_mb(scenario: Scenario, connections: int) -> tuple[int, int]:
    """Of approach and load generator."""
    users = round(USER_MB * connections) + 1 if scenario.tool == "users" else 0
    return 1024 + connections // 2, max(1024, users)


def two_figures(share: float) -> float:
    """Rounded down to two significant figures."""
    return float(Context(prec=2, rounding=ROUND_DOWN).create_decimal(repr(share)))
