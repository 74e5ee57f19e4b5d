"""Whether the ratio of a pair still moved within its blocks, told apart from noise by all of them."""

import math
from collections.abc import Sequence

from loomlab.answer.loads import counting
from loomlab.basics.format import percent
from loomlab.basics.grouping import grouped
from loomlab.records.models import Run
from loomlab.statistics.comparison import FEWEST_BLOCKS

SHIFT_LIMIT = 0.04  # from the first half of the slices to the second: it moves the block's ratio by half of that


def shift_doubts(runs: Sequence[Run]) -> dict[str, str]:
    """A sentence for each run of a pair whose ratio moved by more than that, beyond chance at 95 %, by its name."""
    from loomlab.statistics.student import estimates  # noqa: PLC0415 - most commands need no scipy, which loads slowly

    doubts: dict[str, str] = {}
    known = [run for run in counting(runs) if run.partner and run.ratio_shift is not None]
    for (_, a, b), own in grouped(known, lambda run: (run.cell, *run.pair)).items():
        shifts = [run.ratio_shift for run in own if run.approach == a and run.ratio_shift is not None]
        if len(shifts) < FEWEST_BLOCKS:
            continue
        found = estimates(shifts)
        mean, half = float(found.mean), float(found.half_width)
        if abs(mean) > max(half, SHIFT_LIMIT):
            low, high = (percent(math.expm1(mean + end)) for end in (-half, half))
            over = f"95 % interval {low} to {high}, {len(shifts)} blocks; the limit is {percent(SHIFT_LIMIT)}"
            text = (
                f"CPU per request of {a} ÷ {b}'s changed by {percent(math.expm1(mean))} from the first half of the "
                f"slices to the second ({over}): one of them was probably not warm yet; use a longer DURATION, or "
                "DESIGN=alone."
            )
            doubts |= {run.run: text for run in own}
    return doubts
