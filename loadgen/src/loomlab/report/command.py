"""The command that makes an experiment again."""

import random
import shlex
from collections.abc import Callable, Iterator

from loomlab.plan.levels import rate_text
from loomlab.plan.limits import THREADS, handover, room_for_pool
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import endpoint_of
from loomlab.records.load import Closed, OpenRate
from loomlab.records.models import Request
from loomlab.records.order import Order

UNSAID = {"ERROR_SHARE": "0", "SAVE_MOVIES": "false", "HTTP_CLIENT": "default", "STYLE": "lean"}
"""Settings that go without saying where they have these values."""


def command_of(order: Order) -> str:
    """With every setting that it depends on, so that other defaults do not change it."""
    verb = "scenario" if order.scenario else "sweep" if order.sweep else f"run-{order.runs[0].request.tool}"
    return " ".join(["make", verb, *(f"{name}={shlex.quote(value)}" for name, value in _variables(order))])


def _variables(order: Order) -> Iterator[tuple[str, str]]:
    request = order.runs[0].request
    if order.scenario:
        yield "NAME", order.scenario.name
        yield "SCALE", f"{order.scenario.scale:g}"
        yield "DURATION", f"{request.load.shape.duration_s}s"
    else:
        if order.sweep:
            yield "TOOL", request.tool
        yield from _loads(order)
        yield "ENDPOINT", request.endpoint
        yield "DELAY", request.delay
    yield "APPROACH", ",".join(_approaches(order))
    yield "REPEATS", str(max(run.request.repeat for run in order.runs))
    yield "SEED", str(order.seed)
    if any(run.request.twin for run in order.runs):
        yield "AA", "1"
    if order.margin is not None:
        yield "MARGIN", f"{order.margin:g}"
    yield "SIZE", order.size
    for name in ("JDK", "GC", "HTTP_CLIENT", "STYLE", "ERROR_SHARE", "SAVE_MOVIES"):
        value = order.settings.get(name)
        if value is not None and value != UNSAID.get(name):
            yield name, value
    yield "WARMUP_CAP", f"{request.warmup_cap_s:g}"
    for name, usual in (("PLATFORM_THREADS", _usual_threads), ("BACKEND_CONNECTIONS", _usual_pool)):
        asked = _asked(order, name, usual)
        if asked is not None:
            yield name, asked


def _loads(order: Order) -> Iterator[tuple[str, str]]:
    """A rate of several has connections of its own where none were asked for."""
    request = order.runs[0].request
    loads = {run.request.cell: run.request.load for run in order.runs}.values()
    rates = [rate_text(load.rate_rps) for load in loads if load.rate_rps is not None]
    connections = dict.fromkeys(str(load.connections) for load in loads)
    if not rates or len(connections) == 1:
        yield "CONCURRENCY", ",".join(connections)
    match request.load.shape:
        case OpenRate(steps=(step, *_)):
            yield "RATE", ",".join(rates)
            yield "DURATION", f"{step.duration_s}s"
        case Closed(requests=requests, duration_s=duration_s):
            if not request.fit_duration:
                yield "DURATION", f"{duration_s}s"
            if not request.fit_requests:
                yield "REQUESTS", str(requests)


def _asked(order: Order, name: str, usual: Callable[[Order, Request], int]) -> str | None:
    """What was asked for, where it made the setting of a run another than the usual one."""
    told = [
        (int(value), usual(order, run.request))
        for run in order.runs
        if (value := run.settings.get(name, "")).isdecimal()
    ]
    return str(max(value for value, _ in told)) if any(value != expected for value, expected in told) else None


def _usual_threads(_: Order, request: Request) -> int:
    return min(request.load.connections, THREADS)


def _usual_pool(order: Order, request: Request) -> int:
    """As many as requests can hold, or what open files and ports of the host leave."""
    at_once = endpoint_of(request.endpoint, delay_of(request.delay)).at_once
    wanted = request.load.connections * at_once + handover(order.host["cpus"])
    most = max(run.request.load.connections for run in order.runs)
    return min(wanted, room_for_pool(order.host["open_files"], most))


def _approaches(order: Order) -> list[str]:
    """As they were listed: the seed drew the first block's order from that, a twin and no further tries among them."""
    first = {run.request.name: run.request for run in order.runs if run.block == order.runs[0].block}
    drawn = random.Random(order.seed).sample(range(len(first)), len(first))  # noqa: S311 - an order, no secret
    listed = sorted(zip(drawn, first.values(), strict=True), key=lambda one: one[0])
    return [request.approach for _, request in listed if not request.twin]
