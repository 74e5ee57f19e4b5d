"""From what the user asks for, and a host, to the order of an experiment's runs."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from loomlab.basics.errors import HostError, UsageError
from loomlab.basics.waves import LONGEST_RUN_S
from loomlab.plan.host import Host, Size, size_of
from loomlab.plan.lab import Lab
from loomlab.plan.limits import THREADS, Pool, check_answer, check_space, handover, pool_of
from loomlab.plan.scenarios.capacity import Room, largest_scale, most_of, room_of
from loomlab.plan.scenarios.model import load_scenario
from loomlab.plan.scenarios.scaling import Scaling, hangs_of, loads_of, side_by_side
from loomlab.plan.seconds import RunSeconds, default_cap_s, run_seconds, too_few, too_short
from loomlab.plan.variables import Asked
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import Endpoint, answer_ms, completed, endpoint_of
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target
from loomlab.records.models import Hang, Request, SideBySide
from loomlab.records.order import Order, PlannedRun
from loomlab.tools.known import tool
from loomlab.tools.tool import Tool

TIMEOUT_S = 30
"""The same for every tool; after so long a silence ab gives up and discards everything."""
OPEN_RUN_S = 60
FEWEST_REPEATS, SWEEP_REPEATS = 3, 5
"""For an interval, and for one that is not called coarse."""
IN_FLIGHT_FACTOR, FEWEST_FOR_RATE = 4, 100
"""Connections for a rate: as many as it keeps busy, times this, and at least so many."""
RUNGS = (16, 4, 1)
"""A ladder's connections: what the host holds, divided by these."""
MOST_RUNG = 20_000
"""The most that the published experiments with ab have, whatever the tool."""


@dataclass(frozen=True)
class Work:
    """What all approaches are to do."""

    asked: Asked
    """What the user asks for, completed by the scenario."""
    loads: list[Load]
    """One after another."""
    approaches: list[str]
    repeats: int
    jdk: int
    hangs: list[Hang]
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
        twin = [(self.approaches[0], True)] if self.asked.twin else []
        return [(name, False) for name in self.approaches] + twin


def plan(asked: Asked, host: Host, lab: Lab, stamp: str) -> Order:
    """The order; `stamp` is the time, as folders of experiments begin. Raises UsageError or HostError for what cannot
    be run."""
    work = _scenario_work(asked, host, lab) if asked.scenario else _load_work(asked, host, lab)
    asked = work.asked
    generator = tool(asked.tool)
    for load in work.loads:
        generator.check(load)
    _check_style(work, lab)
    left_out: list[str] = []
    if asked.paper:
        work, left_out = _without_too_large(host, work)
    check_answer(work.loads[0].targets[0].target, asked.delay, work.answer_ms)
    size = size_of(asked.size, host, work.connections, lab.sizes)
    pool = _pool(work, host)
    counted = asked.scenario is not None or asked.requests is not None
    runs_of_each = work.repeats * len(work.subjects)
    check_space(host.free_mb, generator, work.loads, runs_of_each, work.answer_ms, counted=counted)
    cap_s = default_cap_s(work.connections, work.answer_ms) if asked.warmup_cap_s is None else asked.warmup_cap_s
    fitted = work.free and asked.duration_s is None
    seconds = [
        run_seconds(load, work.answer_ms, work.endpoint.work_ms, host.cpus, cap_s, fitted=fitted) for load in work.loads
    ]
    return Order(
        experiment=f"{stamp}-{_name(work)}",
        planned=stamp,
        seed=asked.seed,
        size=asked.size,
        settings=asked.settings | {"JDK": str(work.jdk), "DELAY": asked.delay, "SEED": str(asked.seed)} | size,
        host=host.model_dump(),
        expected_s=max(run.expected for run in seconds),
        longest_s=max(run.longest for run in seconds),
        note=" ".join([*left_out, *_notes(work)]) or None,
        suspect=[pool.suspicion] if pool.suspicion else [],
        scenario=work.side_by_side,
        asked=asked.given,
        paper=asked.paper,
        left_out=left_out,
        sweep=asked.sweep,
        tool_version=generator.version(lab.root),
        lab_sha256=lab.checksum,
        margin=asked.margin,
        colours={name: colour for name, colour in lab.colours.items() if name in work.approaches},
        runs=list(_runs(work, size, pool, cap_s, handover(host.cpus), seconds)),
    )


def _load_work(asked: Asked, host: Host, lab: Lab) -> Work:
    """What the user's own variables describe."""
    delay = delay_of(asked.delay)
    target = completed(asked.endpoint, delay)
    endpoint = endpoint_of(target, delay)
    answer = answer_ms(endpoint, delay)
    shapes: list[tuple[int, Shape]] = []
    if asked.rates_rps:
        _check_rates(asked)
        for rate in asked.rates_rps:
            shape = OpenRate((RateStep(rate, asked.duration_s or OPEN_RUN_S),))
            shapes.append((asked.connections[0] if asked.connections else _connections_for(rate, answer), shape))
    else:
        connections = asked.connections
        if not connections and asked.sweep:
            connections = ladder(tool(asked.tool), room_of(host, asked.size, lab.sizes), endpoint, answer)
        shapes += [(each, Closed(asked.requests or each, asked.duration_s or LONGEST_RUN_S)) for each in connections]
    if not shapes:
        raise UsageError(
            "Neither CONCURRENCY nor RATE is set: use for instance make run-ab CONCURRENCY=1000, or make run-vegeta "
            "RATE=500."
        )
    targets = (Target(target, "GET", endpoint.headers),)
    return Work(
        asked=asked,
        loads=[Load("", targets, connections, shape, TIMEOUT_S) for connections, shape in shapes],
        approaches=lab.named(asked.approach or "headline"),
        repeats=asked.repeats or (SWEEP_REPEATS if asked.sweep else 1),
        jdk=int(asked.jdk or lab.defaults["JDK"]),
        hangs=[],
    )


def _check_rates(asked: Asked) -> None:
    rates = ",".join(map(rate_text, asked.rates_rps))
    if asked.requests is not None:
        raise UsageError(f"REQUESTS={asked.requests} does not go with RATE={rates}: use DURATION.")
    if len(asked.connections) > 1:
        listed = ",".join(map(str, asked.connections))
        raise UsageError(f"CONCURRENCY={listed} does not go with RATE={rates}: use one number, or leave it out.")


def _connections_for(rate_rps: float, answer_ms: float) -> int:
    """As many connections as the rate keeps busy, and some to spare."""
    return max(FEWEST_FOR_RATE, int(IN_FLIGHT_FACTOR * (int(rate_rps) + 1) * answer_ms / 1000))


def ladder(generator: Tool, room: Room, endpoint: Endpoint, answer_ms: float) -> list[int]:
    """Connections, of one figure, up to the most at which the host is not what limits the runs, as `SCALE=auto` has
    it."""
    rates_rps, connections = most_of(generator, room, endpoint.work_ms, endpoint.connections_held)
    most = min(*connections.values(), min(rates_rps.values()) * answer_ms / 1000, MOST_RUNG)
    digits = [str(max(int(most / rung), 1)) for rung in RUNGS]
    return sorted({int(number[0].ljust(len(number), "0")) for number in digits})


def rate_text(rate_rps: float) -> str:
    """The rate with its three decimals at most."""
    return f"{rate_rps:.3f}".rstrip("0").rstrip(".")


def _scenario_work(asked: Asked, host: Host, lab: Lab) -> Work:
    name = asked.scenario or ""
    scenario = load_scenario(lab.scenarios, name)
    for approach in scenario.approaches:
        if approach not in lab.approaches:
            raise UsageError(f"{name}.yaml names {approach}: use names of {', '.join(lab.approaches)}.")
    if asked.scale == "auto":
        factor, _ = largest_scale(scenario, room_of(host, asked.size, lab.sizes), lab.scenarios)
    else:
        factor = float(asked.scale)
    scaling = Scaling(factor, asked.duration_s)
    threads = asked.platform_threads or scenario.platform_threads
    completing = {"tool": scenario.tool, "delay": scenario.delay, "platform_threads": threads}
    return Work(
        asked=asked.model_copy(update=completing),
        loads=loads_of(scenario, scaling, lab.scenarios),
        approaches=lab.named(asked.approach) if asked.approach else list(scenario.approaches),
        repeats=asked.repeats or scenario.repeats,
        jdk=int(asked.jdk or scenario.jdk),
        hangs=hangs_of(scenario, scaling),
        side_by_side=side_by_side(name, scenario, scaling, lab.scenarios),
    )


def _check_style(work: Work, lab: Lab) -> None:
    """Only some approaches are written in the idiomatic style, each for its own client."""
    if work.asked.style != "idiomatic":
        return
    for approach in work.approaches:
        if approach not in lab.idiomatic:
            raise UsageError(
                f"STYLE=idiomatic does not exist for {approach}: use STYLE=lean, or APPROACH={','.join(lab.idiomatic)}."
            )
    if work.asked.http_client != "default":
        raise UsageError(
            f"HTTP_CLIENT={work.asked.http_client} does not go with STYLE=idiomatic, where each approach has its own "
            "client: use HTTP_CLIENT=default, or STYLE=lean."
        )


def _without_too_large(host: Host, work: Work) -> tuple[Work, list[str]]:
    """The work without the loads that the host cannot hold, and why it cannot. Raises HostError where it holds none."""
    loads: list[Load] = []
    left_out: list[str] = []
    for load in work.loads:
        try:
            _pool(replace(work, loads=[load]), host)
            loads.append(load)
        except HostError as error:
            left_out.append(f"Left out: {error}")
            if len(left_out) == len(work.loads):
                raise
    return replace(work, loads=loads), left_out


def _pool(work: Work, host: Host) -> Pool:
    asked, whose = work.asked, None
    if asked.scenario:
        whose = f"NAME={asked.scenario}"
    elif asked.rates_rps and not asked.connections:
        whose = f"RATE={rate_text(asked.rates_rps[-1])}"
    wait_ms = work.answer_ms if work.endpoint.backend_calls else 0
    return pool_of(host, work.connections, asked.backend_connections, wait_ms, whose, work.endpoint.at_once)


def _notes(work: Work) -> Iterator[str]:
    """What to tell before anything starts."""
    asked = work.asked
    if work.free:
        short = too_short(asked.duration_s, work.answer_ms)
        short = short or too_few(asked.requests, work.connections, work.answer_ms)
        if short:
            yield short
    if asked.sweep and work.repeats < FEWEST_REPEATS:
        yield (
            f"REPEATS={work.repeats} gives no interval: use REPEATS={FEWEST_REPEATS} or more, and "
            f"REPEATS={SWEEP_REPEATS} or more for one that is not coarse."
        )
    if asked.sweep and len(work.subjects) == 1:
        yield f"APPROACH={work.approaches[0]} is compared with nothing: name a second one, or use AA=1."


def _name(work: Work) -> str:
    """The name of the experiment, after its time."""
    asked = work.asked
    if asked.scenario:
        return asked.scenario
    loads = [f"r{rate_text(load.rate_rps)}" if load.rate_rps else f"c{load.connections}" for load in work.loads]
    last = [loads[-1][1:]] if len(loads) > 1 else []
    return "-".join([*(["sweep"] if asked.sweep else []), asked.tool, loads[0], *last])


def _runs(
    work: Work, size: Size, pool: Pool, cap_s: int, spare: int, seconds: list[RunSeconds]
) -> Iterator[PlannedRun]:
    """Repeat by repeat and load by load, every approach once, in an order drawn from the seed: so what drifts does not
    become a difference between loads."""
    asked, draw = work.asked, random.Random(work.asked.seed)  # noqa: S311 - an order, no secret
    number = block = 0
    for repeat in range(1, work.repeats + 1):
        for cell, (load, takes) in enumerate(zip(work.loads, seconds, strict=True), 1):
            block += 1
            threads = asked.platform_threads or min(load.connections, THREADS)
            backend_connections = min(load.connections * work.endpoint.at_once + spare, pool.connections)
            for approach, twin in draw.sample(work.subjects, len(work.subjects)):
                number += 1
                request = Request(
                    tool=asked.tool,
                    approach=approach,
                    twin=twin,
                    load=replace(load, origin=f"http://{approach}:8080"),
                    delay=asked.delay,
                    hangs=work.hangs,
                    scenario=asked.scenario,
                    cell=cell,
                    repeat=repeat,
                    jdk=work.jdk,
                    gc=asked.gc,
                    http_client=asked.http_client,
                    style=asked.style,
                    generator_cpus=size["LOADGEN_CPUSET"],
                    backend_cpus=size["BACKEND_CPUSET"],
                    approach_cpus=size["APPROACH_CPUSET"],
                    monitoring_cpus=size["MONITORING_CPUSET"],
                    warmup_cap_s=cap_s,
                    warmup_load_s=asked.warmup_load_s,
                    fit_duration=work.free and asked.duration_s is None,
                    fit_requests=work.free and asked.requests is None,
                )
                yield PlannedRun(
                    run=f"{number}-{request.name}",
                    block=block,
                    expected_s=takes.expected,
                    longest_s=takes.longest,
                    settings={
                        "PLATFORM_THREADS": str(threads),
                        "BACKEND_CONNECTIONS": str(backend_connections),
                    },
                    request=request,
                )
