"""From a request and a host to the order of an experiment's runs."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loomlab.basics.errors import HostError, UsageError
from loomlab.basics.waves import LONGEST_RUN_S
from loomlab.plan.asked import Asked
from loomlab.plan.host import Host
from loomlab.plan.lab import Lab
from loomlab.plan.limits import THREADS, Pool, check_answer, check_load, handover, pool_of
from loomlab.plan.scenarios.capacity import largest_scale, room_of
from loomlab.plan.scenarios.cells import Scaling, hangs_of, loads_of
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.scenarios.sidebyside import side_by_side
from loomlab.plan.seconds import OPEN_RUN_S, REQUEST_CPU_MS, default_cap_s, run_seconds, too_short
from loomlab.plan.sizes import Size, size_of
from loomlab.plan.space import check_space
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import Endpoint, answer_ms, completed, endpoint_of
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target
from loomlab.records.models import Hang, Request, SideBySide
from loomlab.records.order import Order, PlannedRun
from loomlab.tools.known import tool

TIMEOUT_S = 30
"""The same for every tool; after so long a silence ab gives up and discards everything."""
IN_FLIGHT_FACTOR, FEWEST_FOR_RATE = 4, 100
"""Connections for a rate: as many as it keeps busy, times this, and at least so many."""
SCENARIO_CONNECTIONS = 60_000
"""For the sizes of the host that a scenario is scaled to: those of the largest one."""


@dataclass(frozen=True)
class Work:
    """What all approaches are to do: the loads, one after another; `threads` where they are not as many as
    connections."""

    tool: str
    loads: list[Load]
    delay: str
    approaches: list[str]
    repeats: int
    jdk: int
    cap_s: int | None
    threads: int | None
    hangs: list[Hang]
    side_by_side: SideBySide | None = None

    @property
    def connections(self) -> int:
        return max(load.connections for load in self.loads)

    @property
    def endpoint(self) -> Endpoint:
        """Of the first kind of request."""
        return endpoint_of(self.loads[0].targets[0].target, delay_of(self.delay))


def plan(asked: Asked, host: Host, lab: Lab, stamp: str) -> Order:
    """`stamp` is the time, as folders of experiments begin. Raises UsageError or HostError for what cannot be run."""
    work = _of_scenario(asked, host, lab) if asked.scenario else _of_load(asked, lab)
    _check_style(asked.settings, work.approaches, lab.idiomatic)
    left_out: list[str] = []
    if asked.paper:
        work, left_out = _held(asked, work, host)
    answer = answer_ms(work.endpoint, delay_of(work.delay))
    check_answer(work.loads[0].targets[0].target, work.delay, answer)
    for load in work.loads:
        tool(work.tool).check(load)
    size = size_of(asked.size, host, work.connections, lab.sizes)
    pool = _pool(asked, work, host)
    counted = asked.scenario is not None or asked.requests is not None
    check_space(host.free_mb, work.tool, work.loads, work.repeats * len(work.approaches), answer, counted=counted)
    caps_s = (asked.warmup_cap_s, work.cap_s, default_cap_s(work.connections, answer))
    cap_s = next(one for one in caps_s if one is not None)
    closed = isinstance(work.loads[0].shape, Closed)
    lasts_s = asked.duration_s if work.side_by_side is None else max(load.shape.duration_s for load in work.loads)
    request_cpu_ms = REQUEST_CPU_MS + work.endpoint.work_ms
    seconds = run_seconds(work.connections, answer, request_cpu_ms, host.cpus, cap_s, lasts_s, open_model=not closed)
    return Order(
        experiment=f"{stamp}-{_name(asked, work)}",
        planned=stamp,
        seed=asked.seed,
        size=asked.size,
        settings=asked.settings | {"JDK": str(work.jdk), "DELAY": work.delay, "SEED": str(asked.seed)} | size,
        host=host.model_dump(),
        expected_s=seconds.expected,
        longest_s=seconds.longest,
        note=" ".join(left_out)
        or (too_short(asked.duration_s, answer) if closed and work.side_by_side is None else None),
        suspect=[pool.suspicion] if pool.suspicion else [],
        scenario=work.side_by_side,
        paper=asked.paper,
        left_out=left_out,
        colours={name: colour for name, colour in lab.colours.items() if name in work.approaches},
        runs=list(_runs(asked, work, size, pool, cap_s, handover(host.cpus))),
    )


def _pool(asked: Asked, work: Work, host: Host) -> Pool:
    answer = answer_ms(work.endpoint, delay_of(work.delay))
    wait_ms = answer if work.endpoint.backend_calls else 0
    return pool_of(host, work.connections, asked.backend_connections, wait_ms, asked.scenario, work.endpoint.at_once)


def _held(asked: Asked, work: Work, host: Host) -> tuple[Work, list[str]]:
    """Without the loads that the host cannot hold, and why it cannot. Raises HostError where it holds none."""
    held: list[Load] = []
    left_out: list[str] = []
    for load in work.loads:
        try:
            _pool(asked, replace(work, loads=[load]), host)
            held.append(load)
        except HostError as error:
            left_out.append(f"Left out: {error}")
    if not held:
        raise HostError(left_out[0].removeprefix("Left out: "))
    return replace(work, loads=held), left_out


def _check_style(settings: Mapping[str, str], approaches: Iterable[str], idiomatic: Sequence[str]) -> None:
    """Only some approaches are written in the idiomatic style, each for its own client."""
    style, client = settings["STYLE"], settings["HTTP_CLIENT"]
    if style != "idiomatic":
        return
    for approach in approaches:
        if approach not in idiomatic:
            raise UsageError(
                f"STYLE={style} is nothing that {approach} has: use STYLE=lean, or APPROACH={','.join(idiomatic)}."
            )
    if client != "default":
        raise UsageError(
            f"HTTP_CLIENT={client} does not go with STYLE={style}, in which each approach has its own client: "
            "use HTTP_CLIENT=default, or STYLE=lean."
        )


def _of_load(asked: Asked, lab: Lab) -> Work:
    delay = delay_of(asked.delay)
    target = completed(asked.endpoint, delay)
    endpoint = endpoint_of(target, delay)
    answer = answer_ms(endpoint, delay)
    connections = _connections(asked, answer)
    check_load(asked.tool, connections, asked.requests)
    if asked.rate_rps:
        shape: Closed | OpenRate = OpenRate((RateStep(asked.rate_rps, asked.duration_s or OPEN_RUN_S),))
    else:
        shape = Closed(asked.requests or connections, asked.duration_s or LONGEST_RUN_S)
    return Work(
        tool=asked.tool,
        loads=[Load("", (Target(target, "GET", endpoint.headers),), connections, shape, TIMEOUT_S)],
        delay=asked.delay,
        approaches=asked.approaches or lab.headline,
        repeats=asked.repeats or 1,
        jdk=asked.jdk or int(lab.defaults["JDK"]),
        cap_s=None,
        threads=None,
        hangs=[],
    )


def _connections(asked: Asked, answer: float) -> int:
    """A rate gets connections to spare where none are asked for. vegeta has nothing but rates, ab and hey have none."""
    name, rate = asked.tool, asked.rate_rps
    if name == "vegeta" and rate is None:
        raise UsageError("RATE is not set: use for instance make run-vegeta RATE=500.")
    if name in {"ab", "hey"} and rate is not None:
        raise UsageError(
            f"RATE={rate_text(rate)} is nothing that {name} can offer: use make run-vegeta or make run-k6."
        )
    if rate is not None and asked.requests is not None:
        raise UsageError(f"REQUESTS={asked.requests} does not go with RATE={rate_text(rate)}: use DURATION.")
    if asked.connections is not None:
        return asked.connections
    if rate is None:
        raise UsageError(f"CONCURRENCY is not set: use for instance make run-{name} CONCURRENCY=1000.")
    return max(FEWEST_FOR_RATE, int((int(rate) + 1) * IN_FLIGHT_FACTOR * answer) // 1000)


def _of_scenario(asked: Asked, host: Host, lab: Lab) -> Work:
    name = asked.scenario or ""
    scenario = load_scenario(lab.scenarios, name)
    for approach in scenario.approaches:
        if approach not in lab.approaches:
            raise UsageError(f"{name}.yaml names {approach}: use names of {', '.join(lab.approaches)}.")
    factor = float(asked.scale) if asked.scale != "auto" else None
    if factor is None:
        size = size_of(asked.size, host, SCENARIO_CONNECTIONS, lab.sizes)
        factor = largest_scale(scenario, room_of(host, size), lab.scenarios)[0]
    scaling = Scaling(factor, asked.duration_s)
    return Work(
        tool=scenario.tool,
        loads=loads_of(scenario, scaling, lab.scenarios),
        delay=scenario.delay,
        approaches=asked.approaches or list(scenario.approaches),
        repeats=asked.repeats or scenario.repeats,
        jdk=asked.jdk or scenario.jdk,
        cap_s=None if scenario.warm_up is None else round(scenario.warm_up),
        threads=scenario.platform_threads,
        hangs=hangs_of(scenario, scaling),
        side_by_side=side_by_side(name, scenario, scaling, lab.scenarios),
    )


def rate_text(rate_rps: float) -> str:
    """With its three decimals at most."""
    return f"{rate_rps:.3f}".rstrip("0").rstrip(".")


def _name(asked: Asked, work: Work) -> str:
    if asked.scenario:
        return asked.scenario
    return f"{asked.tool}-r{rate_text(asked.rate_rps)}" if asked.rate_rps else f"{asked.tool}-c{work.connections}"


def _runs(asked: Asked, work: Work, size: Size, pool: Pool, cap_s: int, spare: int) -> Iterator[PlannedRun]:
    """Repeat by repeat and load by load, every approach once, in an order drawn from the seed."""
    draw = random.Random(asked.seed)  # noqa: S311 - an order, no secret
    number = block = 0
    for repeat in range(1, work.repeats + 1):
        for cell, load in enumerate(work.loads, 1):
            block += 1
            for approach in draw.sample(work.approaches, len(work.approaches)):
                number += 1
                threads = asked.platform_threads or work.threads or min(load.connections, THREADS)
                wanted = load.connections * work.endpoint.at_once + spare
                yield PlannedRun(
                    run=f"{number}-{approach}",
                    block=block,
                    settings={
                        "PLATFORM_THREADS": str(threads),
                        "BACKEND_CONNECTIONS": str(min(wanted, pool.connections)),
                    },
                    request=_request(asked, work, size, cap_s, approach, repeat, cell, load),
                )


def _request(
    asked: Asked, work: Work, size: Size, cap_s: int, approach: str, repeat: int, cell: int, load: Load
) -> Request:
    free = work.side_by_side is None and load.closed_model
    return Request(
        tool=work.tool,
        approach=approach,
        load=replace(load, origin=f"http://{approach}:8080"),
        delay=work.delay,
        hangs=work.hangs,
        scenario=asked.scenario,
        cell=cell,
        repeat=repeat,
        jdk=work.jdk,
        gc=asked.settings["GC"],
        http_client=asked.settings["HTTP_CLIENT"],
        style=asked.settings["STYLE"],
        generator_cpus=size["LOADGEN_CPUSET"],
        backend_cpus=size["BACKEND_CPUSET"],
        approach_cpus=size["APPROACH_CPUSET"],
        monitoring_cpus=size["MONITORING_CPUSET"],
        warmup_cap_s=cap_s,
        warmup_load_s=asked.warmup_load_s,
        fit_duration=free and asked.duration_s is None,
        fit_requests=free and asked.requests is None,
    )
