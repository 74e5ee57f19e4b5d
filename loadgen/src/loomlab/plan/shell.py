"""An order as the host's shell reads it, lines of words without spaces, and as a reader does."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from loomlab.basics.waves import has_warmup
from loomlab.records.order import Order, PlannedRun

BACKEND_CAP_S = 30
"""So long the backend's own warm-up may take, beside the first approach's start."""


def shell_lines(order: Order) -> Iterator[str]:
    """KEY=VALUE lines for all runs, then the line of each run that is to be made. Times are until the last one ends."""
    expected_s, longest_s = seconds_left(order.runs)
    cap_s = round(order.runs[0].request.warmup_cap_s)
    yield f"LAB_EXPERIMENT={order.experiment}"
    yield f"EXPECTED_S={expected_s}"
    yield f"LONGEST_S={longest_s}"
    yield f"BACKEND_WARMUP_S={min(cap_s, BACKEND_CAP_S) if has_warmup(cap_s) else 0}"
    yield f"NOTE={order.note or ''}"
    yield from (f"{key}={value}" for key, value in order.settings.items())
    yield from (shell_line(order, run) for run in order.runs if run.state == "planned")


def shell_line(order: Order, run: PlannedRun) -> str:
    """`run FOLDER APPROACH KEY=VALUE...`"""
    expected_s, longest_s = seconds_left(order.runs[order.runs.index(run) :])
    settings = run.settings | {"EXPECTED_S": f"{expected_s}", "LONGEST_S": f"{longest_s}"}
    return " ".join(["run", run.run, run.request.approach, *(f"{key}={value}" for key, value in settings.items())])


def seconds_left(runs: Sequence[PlannedRun]) -> tuple[int, int]:
    """What those of the runs take in all that are yet to be made, and how long at most."""
    planned = [run for run in runs if run.state == "planned"]
    return sum(run.expected_s for run in planned), sum(run.longest_s for run in planned)


def description(order: Order) -> Iterator[str]:
    """How long it takes, and a line a block with its runs in their order; blocks are counted at each load, as in the
    report."""
    expected, longest = (math.ceil(seconds / 60) for seconds in seconds_left(order.runs))
    yield f"{order.experiment}: {len(order.runs)} runs, about {expected} min, {longest} at most"
    if order.note:
        yield f"note: {order.note}"
    yield from (f"every run is suspect: {suspicion}" for suspicion in order.suspect)
    for _, runs in groupby(order.runs, key=lambda run: run.block):
        block = [run.request for run in runs]
        yield f"block {block[0].repeat} at {block[0].load.label}: {', '.join(request.name for request in block)}"
    yield f"SEED={order.seed} gives this order again. Nothing was started."
