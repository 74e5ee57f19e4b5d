"""What a sweep in slices is likely to show, before it is made."""

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, variance

from loomlab.basics.errors import ParseError
from loomlab.records.contrasts import BlockEffect
from loomlab.records.files import read_record
from loomlab.records.models import Summary
from loomlab.records.order import Order
from loomlab.statistics.comparison import CPU_PER_REQUEST, FEWEST_BLOCKS

BLOCK_DEVIATION = 0.034  # of a block's log ratio of CPU per request: the first sweep of benchmarks/slices.jsonl
MOST_SWEEPS = 10  # the newest, that tell what the host shows


def block_deviation(results: Path, cpu_model: object) -> float | None:
    """The standard deviation of a block's log ratio in earlier sweeps in slices on such CPUs; None without one."""
    found: list[float] = []
    for path in sorted(results.glob("*-sweep-*/summary.json"), reverse=True):
        try:
            summary = read_record(path, Summary)
        except (OSError, ParseError):
            continue
        if summary and summary.environment.get("cpu_model") == cpu_model and any(run.partner for run in summary.runs):
            found += [
                variance(math.log(block.effect) for block in one.blocks)
                for contrast in summary.contrasts
                for one in contrast.comparisons
                if one.figure == CPU_PER_REQUEST.name and len(one.blocks) >= FEWEST_BLOCKS and _sane(one.blocks)
            ]
        if len(found) >= MOST_SWEEPS:
            break
    return math.sqrt(fmean(found)) if found else None


def _sane(blocks: Sequence[BlockEffect]) -> bool:
    """A folder of results may be a stranger's."""
    return all(0 < block.effect < math.inf for block in blocks)


def expectation(order: Order, results: Path) -> str | None:
    """How wide intervals will be, in a sentence; None of an order without pairs, or with too few blocks."""
    from loomlab.statistics.student import half_width  # noqa: PLC0415 - most commands need no scipy, which loads slowly

    blocks = max(run.request.repeat for run in order.runs)
    if not order.runs[0].request.partner or blocks < FEWEST_BLOCKS:
        return None
    known = block_deviation(results, order.host.get("cpu_model"))
    percent = 100 * math.expm1(float(half_width(known or BLOCK_DEVIATION, blocks)))
    basis = "earlier sweeps on such a CPU" if known else "one sweep of tomcat-virtual against itself on a 2-CPU host"
    return f"With {blocks} blocks expect intervals of CPU per request of about ± {percent:.1f} % (from {basis})."
