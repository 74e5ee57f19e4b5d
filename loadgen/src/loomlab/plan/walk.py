"""What the host's shell reads of an order, lines of words without spaces; and what a reader is told of it."""

import math
from collections.abc import Iterator, Sequence

from loomlab.basics.waves import SHORTEST_WARMUP_S
from loomlab.plan.seconds import RunSeconds
from loomlab.records.order import Order, PlannedRun

BACKEND_CAP_S = 30
"""So long the backend's own warm-up may take, beside the first approach's start."""


def lines_of(order: Order) -> Iterator[str]:
    """KEY=VALUE lines for all runs, then a line `run FOLDER APPROACH KEY=VALUE...` for each run that is to be made.
    Times are until the last one ends."""
    left = seconds_of(order, order.runs)
    yield f"LAB_EXPERIMENT={order.experiment}"
    yield f"EXPECTED_S={left.expected}"
    yield f"LONGEST_S={left.longest}"
    cap_s = round(order.runs[0].request.warmup_cap_s)
    yield f"BACKEND_WARMUP_S={min(cap_s, BACKEND_CAP_S) if cap_s > SHORTEST_WARMUP_S else 0}"
    yield f"NOTE={order.note or ''}"
    yield from (f"{key}={value}" for key, value in order.settings.items())
    for run in order.runs:
        if run.state == "planned":
            yield line_of(order, run)


def line_of(order: Order, run: PlannedRun) -> str:
    left = seconds_of(order, order.runs[order.runs.index(run) :])
    settings = run.settings | {"EXPECTED_S": str(left.expected), "LONGEST_S": str(left.longest)}
    return " ".join(["run", run.run, run.request.approach, *(f"{key}={value}" for key, value in settings.items())])


def seconds_of(order: Order, runs: Sequence[PlannedRun]) -> RunSeconds:
    """Of those that are yet to be made, in all."""
    planned = [run for run in runs if run.state == "planned"]
    return RunSeconds(
        expected=sum(order.expected_s if run.expected_s is None else run.expected_s for run in planned),
        longest=sum(order.longest_s if run.longest_s is None else run.longest_s for run in planned),
    )


def told_of(order: Order) -> Iterator[str]:
    """How long it takes, and a line a block with its runs in their order; blocks are counted at each load, as in the
    report."""
    seconds = seconds_of(order, order.runs)
    expected, longest = (math.ceil(each / 60) for each in (seconds.expected, seconds.longest))
    yield f"{order.experiment}: {len(order.runs)} runs, about {expected} min, {longest} at most"
    if order.note:
        yield f"note: {order.note}"
    yield from (f"every run is suspect: {suspicion}" for suspicion in order.suspect)
    blocks: dict[int, list[PlannedRun]] = {}
    for run in order.runs:
        blocks.setdefault(run.block, []).append(run)
    for block in blocks.values():
        names = ", ".join(run.request.name for run in block)
        yield f"block {block[0].request.repeat} at {block[0].request.load.label}: {names}"
    yield f"SEED={order.seed} gives this order again. Nothing was started."
