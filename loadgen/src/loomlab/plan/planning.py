"""From a request and a host to the order of an experiment's runs."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loomlab.basics.errors import HostError, UsageError
from loomlab.basics.waves import LONGEST_RUN_S
from loomlab.plan.host import Host
from loomlab.plan.lab import Lab
from loomlab.plan.levels import levels_of, rate_text
from loomlab.plan.limits import THREADS, Pool, check_answer, check_load, handover, pool_of
from loomlab.plan.scenarios.capacity import largest_scale, room_of
from loomlab.plan.scenarios.cells import Scaling, hangs_of, loads_of
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.scenarios.sidebyside import side_by_side
from loomlab.plan.seconds import OPEN_RUN_S, REQUEST_CPU_MS, RunSeconds, default_cap_s, run_seconds, too_few, too_short
from loomlab.plan.sizes import Size, size_of
from loomlab.plan.space import check_space
from loomlab.plan.variables import Asked
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import Endpoint, answer_ms, completed, endpoint_of
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target
from loomlab.records.models import Hang, Request, SideBySide
from loomlab.records.order import Order, PlannedRun
from loomlab.tools.known import tool

TIMEOUT_S = 30
"""The same for every tool; after so long a silence ab gives up and discards everything."""
FEWEST_REPEATS, SWEEP_REPEATS = 3, 5
"""For an interval, and for one that is not called coarse."""
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
    work = _of_scenario(asked, host, lab) if asked.scenario else _of_load(asked, host, lab)
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
    check_space(
        host.free_mb, work.tool, work.loads, work.repeats * len(_subjects(asked, work)), answer, counted=counted
    )
    cap_s = default_cap_s(work.connections, answer) if asked.warmup_cap_s is None else asked.warmup_cap_s
    closed = isinstance(work.loads[0].shape, Closed)
    lasts_s = asked.duration_s if work.side_by_side is None else max(load.shape.duration_s for load in work.loads)
    request_cpu_ms = REQUEST_CPU_MS + work.endpoint.work_ms
    seconds = [
        run_seconds(load.connections, answer, request_cpu_ms, host.cpus, cap_s, lasts_s, open_model=not closed)
        for load in work.loads
    ]
    return Order(
        experiment=f"{stamp}-{_name(asked, work)}",
        planned=stamp,
        seed=asked.seed,
        size=asked.size,
        settings=asked.settings | {"JDK": str(work.jdk), "DELAY": work.delay, "SEED": str(asked.seed)} | size,
        host=host.model_dump(),
        expected_s=max(one.expected for one in seconds),
        longest_s=max(one.longest for one in seconds),
        note=" ".join([*left_out, *_notes(asked, work, answer)]) or None,
        suspect=[pool.suspicion] if pool.suspicion else [],
        scenario=work.side_by_side,
        asked=asked.given,
        paper=asked.paper,
        left_out=left_out,
        sweep=asked.sweep,
        tool_version=tool(work.tool).version(lab.root),
        lab_sha256=lab.checksum,
        margin=asked.margin,
        colours={name: colour for name, colour in lab.colours.items() if name in work.approaches},
        runs=list(_runs(asked, work, size, pool, cap_s, handover(host.cpus), seconds)),
    )


def _whose(asked: Asked) -> str | None:
    """What the connections follow from, where they were not asked for."""
    if asked.scenario:
        return f"NAME={asked.scenario}"
    return f"RATE={rate_text(asked.rates_rps[-1])}" if asked.rates_rps and not asked.connections else None


def _notes(asked: Asked, work: Work, answer: float) -> Iterator[str]:
    """What to tell before anything starts."""
    if work.side_by_side is None and work.loads[0].closed_model:
        short = too_short(asked.duration_s, answer) or too_few(asked.requests, work.connections, answer)
        if short:
            yield short
    if asked.sweep and work.repeats < FEWEST_REPEATS:
        yield (
            f"REPEATS={work.repeats} gives no interval: use REPEATS={FEWEST_REPEATS} or more, and "
            f"REPEATS={SWEEP_REPEATS} or more for one that is not coarse."
        )
    if asked.sweep and len(work.approaches) == 1 and not asked.twin:
        yield f"APPROACH={work.approaches[0]} is compared with nothing: name a second one, or use AA=1."


def _pool(asked: Asked, work: Work, host: Host) -> Pool:
    answer = answer_ms(work.endpoint, delay_of(work.delay))
    wait_ms = answer if work.endpoint.backend_calls else 0
    return pool_of(host, work.connections, asked.backend_connections, wait_ms, _whose(asked), work.endpoint.at_once)


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
                f"STYLE={style} does not exist for {approach}: use STYLE=lean, or APPROACH={','.join(idiomatic)}."
            )
    if client != "default":
        raise UsageError(
            f"HTTP_CLIENT={client} does not go with STYLE={style}, where each approach has its own client: "
            "use HTTP_CLIENT=default, or STYLE=lean."
        )


def _of_load(asked: Asked, host: Host, lab: Lab) -> Work:
    delay = delay_of(asked.delay)
    target = completed(asked.endpoint, delay)
    endpoint = endpoint_of(target, delay)
    answer = answer_ms(endpoint, delay)
    loads = []
    for level in levels_of(asked, endpoint, answer, lambda: room_of(host, _size(asked, host, lab))):
        check_load(asked.tool, level.connections, asked.requests)
        shape: Closed | OpenRate = (
            OpenRate((RateStep(level.rate_rps, asked.duration_s or OPEN_RUN_S),))
            if level.rate_rps
            else Closed(asked.requests or level.connections, asked.duration_s or LONGEST_RUN_S)
        )
        loads.append(Load("", (Target(target, "GET", endpoint.headers),), level.connections, shape, TIMEOUT_S))
    return Work(
        tool=asked.tool,
        loads=loads,
        delay=asked.delay,
        approaches=lab.named(asked.approach or "headline"),
        repeats=asked.repeats or (SWEEP_REPEATS if asked.sweep else 1),
        jdk=asked.jdk or int(lab.defaults["JDK"]),
        threads=None,
        hangs=[],
    )


def _size(asked: Asked, host: Host, lab: Lab) -> Size:
    """For loads that are yet to be fitted to the host."""
    return size_of(asked.size, host, SCENARIO_CONNECTIONS, lab.sizes)


def _of_scenario(asked: Asked, host: Host, lab: Lab) -> Work:
    name = asked.scenario or ""
    scenario = load_scenario(lab.scenarios, name)
    for approach in scenario.approaches:
        if approach not in lab.approaches:
            raise UsageError(f"{name}.yaml names {approach}: use names of {', '.join(lab.approaches)}.")
    factor = float(asked.scale) if asked.scale != "auto" else None
    if factor is None:
        factor = largest_scale(scenario, room_of(host, _size(asked, host, lab)), lab.scenarios)[0]
    scaling = Scaling(factor, asked.duration_s)
    return Work(
        tool=scenario.tool,
        loads=loads_of(scenario, scaling, lab.scenarios),
        delay=scenario.delay,
        approaches=lab.named(asked.approach) if asked.approach else list(scenario.approaches),
        repeats=asked.repeats or scenario.repeats,
        jdk=asked.jdk or scenario.jdk,
        threads=scenario.platform_threads,
        hangs=hangs_of(scenario, scaling),
        side_by_side=side_by_side(name, scenario, scaling, lab.scenarios),
    )


def _name(asked: Asked, work: Work) -> str:
    if asked.scenario:
        return asked.scenario
    loads = [f"r{rate_text(load.rate_rps)}" if load.rate_rps else f"c{load.connections}" for load in work.loads]
    ends = dict.fromkeys((loads[0], loads[-1][1:] if len(loads) > 1 else loads[0]))
    return "-".join([*([asked.verb] if asked.sweep else []), asked.tool, *ends])


def _runs(
    asked: Asked, work: Work, size: Size, pool: Pool, cap_s: int, spare: int, seconds: list[RunSeconds]
) -> Iterator[PlannedRun]:
    """Repeat by repeat and load by load, every approach once, in an order drawn from the seed: so what drifts does not
    become a difference between loads."""
    draw = random.Random(asked.seed)  # noqa: S311 - an order, no secret
    subjects = _subjects(asked, work)
    number = block = 0
    for repeat in range(1, work.repeats + 1):
        for cell, (load, takes) in enumerate(zip(work.loads, seconds, strict=True), 1):
            block += 1
            for approach, twin in draw.sample(subjects, len(subjects)):
                number += 1
                request = _request(asked, work, size, cap_s, approach, repeat, cell, load)
                request.twin = twin
                threads = asked.platform_threads or work.threads or min(load.connections, THREADS)
                wanted = load.connections * work.endpoint.at_once + spare
                yield PlannedRun(
                    run=f"{number}-{request.name}",
                    block=block,
                    expected_s=takes.expected,
                    longest_s=takes.longest,
                    settings={
                        "PLATFORM_THREADS": str(threads),
                        "BACKEND_CONNECTIONS": str(min(wanted, pool.connections)),
                    },
                    request=request,
                )


def _subjects(asked: Asked, work: Work) -> list[tuple[str, bool]]:
    """What a block holds: each approach, and whether it is the first one's twin."""
    return [(name, False) for name in work.approaches] + ([(work.approaches[0], True)] if asked.twin else [])


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
