"""What a scenario needs and how much of it a host can hold."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, Context
from pathlib import Path

from loomlab.plan.scenarios.cells import Scaling, endpoints_of, loads_of
from loomlab.plan.scenarios.model import Scenario
from loomlab.records.load import Closed, Load, OpenRate, Users

APPROACH_MS, BACKEND_MS = 0.5, 0.1
"""CPU of one request: warm approaches took 0.16 to 0.33 ms (docs/cost-per-request.md), half cold ones more."""
GENERATOR_MS = {"ab": 0.05, "hey": 0.15, "vegeta": 0.3, "k6": 0.4}
"""Of the whole container, at some 1,000 requests a second (docs/scenarios.md, "Scale")."""
BUSY_LIMIT = 0.5
"""Of each CPU: above, waits for a CPU show in the latencies."""
APPROACH_FILES, GENERATOR_FILES = 500, 64
PORTS = 64_511
"""1024 to 65535 of one address, which the containers are given."""
THREADS = 32_000
"""Linux' default vm.max_map_count leaves room for so many."""
K6_USER_MB = 0.3
OVERHEAD_S = 22
"""An approach's start and what the lab adds to warm-up and load, as in bin/plan."""
TYPICAL_WARM_UP_S = 75


@dataclass(frozen=True)
class Host:
    """`approach_cpus` and `generator_cpus` are numbers of CPUs; the backend shares the generator's where `shared`."""

    approach_cpus: int
    generator_cpus: int
    shared: bool
    generator_memory_mb: int
    open_files: int


@dataclass(frozen=True)
class Need:
    """Of one scenario at full size: the most connections at once, open files of one process, requests a second, and
    minutes in all."""

    connections: int
    open_files: int
    rate_rps: float
    minutes: float


def need_of(scenario: Scenario, folder: Path, scaling: Scaling | None = None) -> Need:
    """For all approaches and repeats of the scenario."""
    endpoints = endpoints_of(scenario)
    answer_s = max(sum(one.mean_ms for one in endpoints) / len(endpoints) / 1000, 0.001)
    calls_backend = any(one.backend_calls for one in endpoints)
    loads = loads_of(scenario, scaling or Scaling(), folder)
    connections = max(load.connections for load in loads)
    warm_up_s = TYPICAL_WARM_UP_S if scenario.warm_up is None else scenario.warm_up
    runs = len(scenario.approaches) * scenario.repeats
    seconds = runs * sum(lasts_s(load, answer_s) + warm_up_s + OVERHEAD_S for load in loads)
    return Need(
        connections=connections,
        open_files=connections * (2 if calls_backend else 1) + APPROACH_FILES,
        rate_rps=max(_rate_rps(load, answer_s) for load in loads),
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


def largest_scale(scenario: Scenario, host: Host, folder: Path) -> tuple[float, str | None]:
    """The largest factor up to 1, of two figures, at which the host is not what limits the runs; and what would."""
    need = need_of(scenario, folder)
    sharing_ms = BACKEND_MS if host.shared else 0.0
    rates = {
        "the approach's CPU": host.approach_cpus * BUSY_LIMIT * 1000 / APPROACH_MS,
        f"{scenario.tool}'s CPU": host.generator_cpus * BUSY_LIMIT * 1000 / (GENERATOR_MS[scenario.tool] + sharing_ms),
    }
    files = max(host.open_files - APPROACH_FILES, 1) * need.connections / (need.open_files - APPROACH_FILES)
    connections = {
        "open files": min(files, max(host.open_files - GENERATOR_FILES, 1)),
        "the ports of one address": PORTS - GENERATOR_FILES,
    }
    if any(name.endswith("-platform") for name in scenario.approaches):
        connections["threads"] = THREADS
    if scenario.tool == "k6":
        connections["k6's memory"] = host.generator_memory_mb / K6_USER_MB
    shares = {what: most / need.rate_rps for what, most in rates.items()}
    shares |= {what: most / need.connections for what, most in connections.items()}
    what, share = min(shares.items(), key=lambda pair: pair[1])
    return (1.0, None) if share >= 1 else (two_figures(share), what)


def two_figures(share: float) -> float:
    """Rounded down to two significant figures."""
    return float(Context(prec=2, rounding=ROUND_DOWN).create_decimal(repr(share)))
