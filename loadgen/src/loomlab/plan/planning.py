"""From what the user asks for, and a host, to the order of runs; and that as the host's shell reads it."""

import math
import random
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from loomlab.basics import waves
from loomlab.basics.errors import HostError, UsageError
from loomlab.plan.capacity import LIVE_SET_S, OVERHEAD_S, START_S
from loomlab.plan.host import THREADS, Host, Lab, by_quota, size_of
from loomlab.plan.searching import SHARES
from loomlab.plan.subject import Model
from loomlab.plan.variables import VARIABLES, Asked
from loomlab.plan.work import SWEEP_REPEATS, Work, backend_pool, handover, wave_cpu_s, work_of
from loomlab.records.endpoints import delay_of
from loomlab.records.load import Load
from loomlab.records.models import Request
from loomlab.records.order import MOST_RUNS, Order, PlannedRun
from loomlab.tools.known import tool

FEWEST_REPEATS = 3  # for an interval
COMPILE_S, SETTLE_S, SETTLE_WAVES = 50, 25, 12
"""The warm-up's phases, seen on two CPUs; the second takes so long at least, or so many waves."""
TRIALS, MOST_TRIALS, AROUND_A_TRIAL_S, LONGEST_REST_S = 9, 24, 7, 60  # of a search for capacity
BACKEND_CAP_S = 30  # so long the backend's own warm-up may take, beside the first approach's start
FREE_MB = 512  # an hour of runs takes less; where a disk is full all the same, no finished run is lost
MOST_RECORDED = 100_000  # kinds of request, in all runs, that an order.json has room for
RECORDED = "JFR recorded it, which costs CPU"
AS_ASKED, OF_SIDES = ("tool", "scenario", "generators"), ("jdk", "gc", "http_client", "style")
"""What a run's request has as the user's variables have it, and as those of its side do."""


def plan(asked: Asked, host: Host, lab: Lab, stamp: str, model: Model | None = None) -> Order:
    """The order; `stamp` is the time, `model` as `work_of` has it. Raises UsageError or HostError."""
    work = work_of(asked, host, lab, model)
    asked, generator = work.asked, tool(work.asked.tool)
    together = 2 if work.pairs else 1
    size = size_of(asked.size, host, work.connections, lab.sizes, together, asked.cpus, apart=asked.apart)
    if asked.cpu_mode == "quota":
        size = by_quota(size, host)
    if work.loads[0].origin:  # the rest is left to what runs on this host beside the load generator
        size |= {"LOADGEN_CPUSET": size["MONITORING_CPUSET"], "LOADGEN_CPUS": "0"}
    pool, suspicion = backend_pool(work, host)
    if host.free_mb < FREE_MB:
        fact = f"results/ has {host.free_mb} MB free, and {FREE_MB} MB are needed"
        raise HostError(f"{fact}: delete old experiments (make prune), or free the disk.")
    loads = [f"r{load.rate_rps:.9g}" if load.rate_rps else f"c{load.connections}" for load in work.loads]
    runs = [*_runs(work, host, size, pool)]
    kinds = sum(len(run.request.load.targets) for run in runs)
    if len(runs) > MOST_RUNS or kinds > MOST_RECORDED:
        limits = f"{MOST_RUNS:,} and {MOST_RECORDED:,} are the most"
        cure = "use fewer loads or REPEATS, or fewer rows in REQUESTS_FILE"
        raise UsageError(f"That is {len(runs):,} runs with {kinds:,} kinds of request in all, and {limits}: {cure}.")
    words = [asked.verb] * asked.sweep + (
        [] if work.search else [asked.tool, loads[0], *(load[1:] for load in loads[1:][-1:])]
    )
    return Order(
        experiment=f"{stamp}-{asked.scenario or '-'.join(words)}",
        planned=stamp,
        seed=asked.seed,
        size=asked.size,
        settings=asked.settings
        | size
        | ({"LAB_DATABASE": "1"} if work.endpoint.database else {})
        | ({"GENERATORS": f"{asked.generators}"} if asked.generators > 1 else {}),
        host=host.model_dump(),
        note=" ".join(_notes(work)) or None,
        suspect=[*filter(None, (suspicion, RECORDED if asked.jfr else None))],
        scenario=work.scenario,
        asked=asked.given,
        benchmark=asked.benchmark,
        sweep=asked.sweep,
        tool_version=generator.version(lab.root),
        lab_sha256=lab.checksum,
        margin=asked.margin,
        limits=asked.limits,
        subject=work.subject,
        sides={name: side for name, (side, _) in work.sides.items()},
        colours={name: colour for name, colour in lab.colours.items() if name in work.approaches},
        runs=runs,
    )


def command_of(order: Order) -> str:
    """The command that makes the experiment again, in the same order; it sets variables of the lab and no other."""
    asked = order.asked | {"SEED": str(order.seed)}
    settings = (f"{name}={shlex.quote(value)}" for name, value in asked.items() if name in VARIABLES)
    return " ".join(["make", order.verb, *settings])


def _notes(work: Work) -> Iterator[str]:
    """What to tell before anything starts: first what a valid run needs and a closed load cannot have."""
    asked, wave_s, longest_s = work.asked, work.answer_ms / 1000, work.asked.duration_s or waves.LONGEST_RUN_S
    interior_s = max(0.0, longest_s - waves.ROUNDED_S - 2 * wave_s)
    wanted_s = max(waves.FEWEST_WAVES * wave_s, waves.SHORTEST_INTERIOR_S)
    fewest, enough = waves.FEWEST_WAVES + 2, waves.WAVES
    free = work.free and not work.pairs
    if free and interior_s < wanted_s:
        what = "DURATION={}s" if asked.duration_s else "The longest that a run lasts without DURATION, {} s,"
        yield (
            f"{what.format(longest_s)} is too short for a valid run: without its first and last wave {interior_s:g} s "
            f"are left, and {wanted_s:g} s are needed; use DURATION={waves.fitting_duration_s(wave_s)}s or longer."
        )
    elif free and asked.requests and asked.requests < fewest * work.connections:
        if work.answer_ms >= 1:
            enough = max(enough, math.ceil(1000 * waves.SHORTEST_RUN_S / work.answer_ms))
        yield (
            f"REQUESTS={asked.requests} is too few for a valid run: without the first and the last one "
            f"{waves.FEWEST_WAVES} waves of {work.connections} are needed; use REQUESTS={enough * work.connections} or "
            "more."
        )
    if asked.sweep and work.repeats < FEWEST_REPEATS:
        fact = f"REPEATS={work.repeats} gives no interval: use REPEATS={FEWEST_REPEATS} or more"
        yield f"{fact}, and REPEATS={SWEEP_REPEATS} or more for one that is not coarse."
    if work.foreign:
        yield from _notes_of_foreign(work)
    delay = delay_of(work.delay)
    if work.search and work.endpoint.waits_as_configured and delay.floor_ms == delay.mean_ms:
        fact = f"Every call waits DELAY={work.delay} ms, so that requests may fall in step and queue beside an idle CPU"
        yield f"{fact}: DELAY=uniform:200:400 is more like a service."
    if work.why_alone:
        yield f"Each approach is measured alone, because {work.why_alone}."
    if asked.sweep and len(work.subjects) == 1 and not work.search and not work.loads[0].origin:
        yield f"APPROACH={work.approaches[0]} is compared with nothing: name a second one, or use AA=1."


def _notes_of_foreign(work: Work) -> Iterator[str]:
    """Of a service of the user's."""
    if len({(target.target, target.method, target.body) for target in work.loads[0].targets}) == 1:
        yield "Every request is the same, so the service may answer from a cache: REQUESTS_FILE has others."
    if work.subject and work.subject.told:
        yield f"{work.subject.service} runs as your Compose file has it: {', '.join(work.subject.told)}."
    if origin := work.loads[0].origin:
        yield f"{origin} is not run by the lab: only what its answers show is measured."


def _runs(work: Work, host: Host, size: dict[str, str], pool: int) -> Iterator[PlannedRun]:
    """Block by block, every approach once, in an order drawn from the seed, so that drift favours no load."""
    asked, draw = work.asked, random.Random(work.asked.seed)  # noqa: S311 - an order, no secret
    cap_s = asked.warmup_cap_s or default_cap_s(work.connections, work.answer_ms)
    same: dict[str, Any] = {name: getattr(asked, name) for name in AS_ASKED} | {
        "delay": work.delay,
        "foreign": work.foreign,
        "generator_cpus": size["LOADGEN_CPUSET"],
        "backend_cpus": size["BACKEND_CPUSET"],
        "approach_cpus": size["APPROACH_CPUSET"],
        "quota_cpus": int(size["APPROACH_CPUS"]) if asked.cpu_mode == "quota" else None,
        "monitoring_cpus": size["MONITORING_CPUSET"],
        "hangs": work.hangs,
        "warmup_cap_s": cap_s,
        "fit_duration": (fitted := work.free and asked.duration_s is None),
        "fit_requests": work.free and asked.requests is None,
    }
    number = 0
    for block, runs in enumerate(_blocks(work, draw), 1):
        most = max(work.loads[cell - 1].connections for _, cell, *_ in runs)
        settings = {
            "PLATFORM_THREADS": str(asked.platform_threads or asked.limit or min(most, THREADS)),
            "POOL": str(min(most * work.endpoint.at_once + handover(host.cpus), pool)),
        }
        for repeat, cell, name, partner in runs:
            number += 1
            load, own = work.loads[cell - 1], work.sides[name][1] if work.sides else asked
            approach, _, side = (name, "", None) if name in work.approaches else name.rpartition("-")
            origin = load.origin or f"http://{name}:{work.foreign.port if work.foreign else 8080}"
            request = Request(
                **same, **{name: None if work.foreign else getattr(own, name) for name in OF_SIDES},
                pool_asked=own.pool is not None,
                approach=approach, side=side, partner=partner, cell=cell, repeat=repeat,
                search=work.search if cell == 1 else None, capacity_share=SHARES[cell - 1] if work.search else None,
                slices=waves.SLICES if partner else 0, load=replace(load, origin=origin),
            )  # fmt: skip
            times = _seconds(work, load, host, cap_s, fitted=fitted)
            yield PlannedRun(run=f"{number}-{name}", block=block, settings=settings, request=request, **times)


def _blocks(work: Work, draw: random.Random) -> Iterator[list[tuple[int, int, str, str | None]]]:
    """Repeat, load, approach and partner of each run, block by block, in an order that is drawn. Of a pair, a block has
    all loads, from the smallest on, and which side begins alternates."""
    cells = sorted(range(1, len(work.loads) + 1), key=lambda cell: work.loads[cell - 1].connections)
    for repeat in range(1, work.repeats + 1):
        for pair in draw.sample(work.pairs, len(work.pairs)):
            sides = pair if (repeat + work.asked.seed) % 2 else pair[::-1]
            yield [(repeat, cell, *side) for cell in cells for side in (sides, sides[::-1])]
        for name in draw.sample(work.subjects, len(work.subjects)) if work.search else ():  # all of one process
            yield [(repeat, cell, name, None) for cell in cells]
        for cell in () if work.pairs or work.search else range(1, len(work.loads) + 1):
            yield [(repeat, cell, name, None) for name in draw.sample(work.subjects, len(work.subjects))]


def default_cap_s(connections: int, answer_ms: float) -> int:
    """Two minutes, a second for every 50 connections, and ten for every second of an answer beyond the first."""
    return 120 + connections // 50 + int(max(0.0, answer_ms - 1000) / 100)


def _seconds(work: Work, load: Load, host: Host, cap_s: int, *, fitted: bool) -> dict[str, int]:
    """How long a run takes with all around it, and at most; `fitted`: the lab chooses the duration."""
    cpu_s = wave_cpu_s(work, load, host)
    wave_s = max(work.answer_ms / 1000, cpu_s)
    lasts_s = most_s = load.shape.duration_s
    if fitted:
        lasts_s, most_s = waves.chosen_duration_s(wave_s), waves.LONGEST_RUN_S
    warmup_s = min(cap_s, COMPILE_S + max(SETTLE_S, int(SETTLE_WAVES * wave_s)))
    expected_s = START_S + OVERHEAD_S + warmup_s + lasts_s
    longest_s = START_S + 2 * OVERHEAD_S + cap_s + most_s
    if work.search:
        in_process_s = 0 if load is not work.loads[0] else START_S + warmup_s
        each_s = lasts_s + AROUND_A_TRIAL_S
        expected_s = in_process_s + (TRIALS * each_s if in_process_s else each_s)
        longest_s = 2 * in_process_s + (MOST_TRIALS if in_process_s else 1) * (each_s + LONGEST_REST_S)
    if work.pairs:
        slice_s = max(waves.SLICE_WAVES * wave_s, waves.SHORTEST_SLICE_S if fitted else lasts_s / waves.SLICES)
        slice_s += waves.RAMP_S
        every_s = (waves.SLICES + waves.LEFT_OUT) * slice_s
        lasts_s, most_s = math.ceil(every_s), math.ceil(3 * every_s)
        loads = len(work.loads)  # of one process
        expected_s = (START_S + min(cap_s, COMPILE_S)) // loads + lasts_s
        longest_s = (START_S + 2 * OVERHEAD_S + cap_s) // loads + most_s
    if waves.has_warmup(cap_s) and not (work.search and load is not work.loads[0]):
        expected_s += LIVE_SET_S + int(2 * cpu_s)
        longest_s += waves.most_live_set_s(load.connections, work.answer_ms / 1000)
    return {"expected_s": expected_s, "longest_s": longest_s}


def shell_lines(order: Order, expected: str = "") -> Iterator[str]:
    """KEY=VALUE lines for all runs, then the line of each run that is to be made. Times are until the last one ends."""
    expected_s, longest_s = seconds_left(order.runs)
    cap_s = round(order.runs[0].request.warmup_cap_s)
    yield f"LAB_EXPERIMENT={order.experiment}"
    yield f"EXPECTED_S={expected_s}"
    yield f"LONGEST_S={longest_s}"
    warms = waves.has_warmup(cap_s) and not order.outside
    yield f"BACKEND_WARMUP_S={min(cap_s, BACKEND_CAP_S) if warms else 0}"
    yield f"NOTE={' '.join(filter(None, (order.note, expected)))}"
    yield from (f"{key}={value}" for key, value in order.settings.items())
    approaches = [run.request.approach for run in order.runs if not run.request.foreign]
    yield f"APPROACHES={','.join(dict.fromkeys(approaches))}"
    if order.subject:
        yield f"SUBJECT={order.subject.service}"
        yield f"COMPANIONS={','.join(order.subject.companions)}"
    if order.recorded:
        yield "RECORDED=1"
    if others := {side.settings["JDK"] for side in order.sides.values() if "JDK" in side.settings}:
        yield f"OTHER_JDKS={','.join(sorted(others))}"
    planned = [run for run in order.runs if run.state == "planned"]
    for _, runs in groupby(planned, key=lambda run: run.block if run.request.in_one_process else run.run):
        yield shell_line(order, *runs)


def shell_line(order: Order, *runs: PlannedRun) -> str:
    """`run FOLDER SERVICE KEY=VALUE...`; of pairs, those of a block with commas between them."""
    expected_s, longest_s = seconds_left(order.runs[order.runs.index(runs[0]) :])
    settings = runs[0].settings | {"EXPECTED_S": f"{expected_s}", "LONGEST_S": f"{longest_s}"}
    folders, services = ",".join(run.run for run in runs), ",".join(run.request.name for run in runs)
    return " ".join(["run", folders, services, *(f"{key}={value}" for key, value in settings.items())])


def seconds_left(runs: Sequence[PlannedRun]) -> tuple[int, int]:
    """What those of the runs take in all that are yet to be made, and how long at most."""
    planned = [run for run in runs if run.state == "planned"]
    return sum(run.expected_s for run in planned), sum(run.longest_s for run in planned)


def description(order: Order, expected: str = "") -> Iterator[str]:
    """How long it takes and what it will show, and a line a block with its runs in their order."""
    likely, longest = (math.ceil(seconds / 60) for seconds in seconds_left(order.runs))
    yield f"{order.experiment}: {len(order.runs)} runs, about {likely} min, {longest} at most"
    yield from (expected,) if expected else ()
    if order.note:
        yield f"note: {order.note}"
    yield from (f"every run is suspect: {suspicion}" for suspicion in order.suspect)
    for _, runs in groupby(order.runs, key=lambda run: run.block):
        block = [run.request for run in runs]
        loads = " and ".join(dict.fromkeys(request.load.label for request in block))
        yield f"block {block[0].repeat} at {loads}: {', '.join(dict.fromkeys(request.name for request in block))}"
    yield f"SEED={order.seed} gives this order again. Nothing was started."
