"""From what the user asks for, and a host, to the order of an experiment's runs."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from loomlab.plan.host import THREADS, Host, size_of
from loomlab.plan.lab import Lab
from loomlab.plan.limits import backend_pool, check_answer, check_space, handover
from loomlab.plan.seconds import default_cap_s, run_seconds, too_short
from loomlab.plan.variables import Asked
from loomlab.plan.work import SWEEP_REPEATS, Work, work_of
from loomlab.records.models import Request
from loomlab.records.order import Order, PlannedRun
from loomlab.tools.known import tool

FEWEST_REPEATS = 3
"""For an interval."""
AS_ASKED = ("tool", "scenario", "delay", "jdk", "gc", "http_client", "style", "warmup_load_s")
"""What a run's request has as the user's variables have it."""


def plan(asked: Asked, host: Host, lab: Lab, stamp: str) -> Order:
    """The order; `stamp` is the time, as folders of experiments begin. Raises UsageError or HostError for what cannot
    be run."""
    work = work_of(asked, host, lab)
    asked = work.asked
    generator = tool(asked.tool)
    for load in work.loads:
        generator.check(load)
    check_answer(work)
    size = size_of(asked.size, host, work.connections, lab.sizes)
    pool, suspicion = backend_pool(work, host)
    check_space(work, host, generator)
    return Order(
        experiment=f"{stamp}-{_name(work)}",
        planned=stamp,
        seed=asked.seed,
        size=asked.size,
        settings=asked.settings | size,
        host=host.model_dump(),
        note=" ".join(_notes(work)) or None,
        suspect=[suspicion] if suspicion else [],
        scenario=work.side_by_side,
        asked=asked.given,
        paper=asked.paper,
        sweep=asked.sweep,
        tool_version=generator.version(lab.root),
        lab_sha256=lab.checksum,
        margin=asked.margin,
        colours={name: colour for name, colour in lab.colours.items() if name in work.approaches},
        runs=list(_runs(work, host, size, pool)),
    )


def _notes(work: Work) -> Iterator[str]:
    """What to tell before anything starts."""
    asked = work.asked
    if work.free and (short := too_short(asked.duration_s, asked.requests, work.connections, work.answer_ms)):
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
    loads = [f"r{load.rate_rps:.9g}" if load.rate_rps else f"c{load.connections}" for load in work.loads]
    return "-".join(["sweep"] * asked.sweep + [asked.tool, loads[0]] + [load[1:] for load in loads[1:][-1:]])


def _runs(work: Work, host: Host, size: dict[str, str], pool: int) -> Iterator[PlannedRun]:
    """Repeat by repeat and load by load, every approach once, in an order drawn from the seed: so what drifts does not
    become a difference between loads."""
    asked, draw = work.asked, random.Random(work.asked.seed)  # noqa: S311 - an order, no secret
    cap_s = asked.warmup_cap_s or default_cap_s(work.connections, work.answer_ms)
    fit_duration = work.free and asked.duration_s is None
    same: dict[str, Any] = {name: getattr(asked, name) for name in AS_ASKED} | {
        "generator_cpus": size["LOADGEN_CPUSET"],
        "backend_cpus": size["BACKEND_CPUSET"],
        "approach_cpus": size["APPROACH_CPUSET"],
        "monitoring_cpus": size["MONITORING_CPUSET"],
        "hangs": work.hangs,
        "warmup_cap_s": cap_s,
        "fit_duration": fit_duration,
        "fit_requests": work.free and asked.requests is None,
    }
    number = 0
    blocks = [(repeat, cell) for repeat in range(1, work.repeats + 1) for cell in range(1, len(work.loads) + 1)]
    for block, (repeat, cell) in enumerate(blocks, 1):
        load = work.loads[cell - 1]
        seconds = run_seconds(load, work.endpoint, work.answer_ms, host.cpus, cap_s, fitted=fit_duration)
        settings = {
            "PLATFORM_THREADS": str(asked.platform_threads or min(load.connections, THREADS)),
            "BACKEND_CONNECTIONS": str(min(load.connections * work.endpoint.at_once + handover(host.cpus), pool)),
        }
        for approach, twin in draw.sample(work.subjects, len(work.subjects)):
            number += 1
            target = replace(load, origin=f"http://{approach}:8080")
            request = Request(approach=approach, twin=twin, load=target, cell=cell, repeat=repeat, **same)
            yield PlannedRun(
                run=f"{number}-{request.name}",
                block=block,
                expected_s=seconds.expected,
                longest_s=seconds.longest,
                settings=settings,
                request=request,
            )
