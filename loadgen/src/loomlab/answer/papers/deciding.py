"""What the values of blocks say of a claim's limits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from loomlab.answer.papers.model import Limits, RatioTest, Test, ValueTest
from loomlab.statistics.comparison import FEWEST_BLOCKS

MOST_BLOCKS = 30
"""More than these nobody makes to decide a claim."""


@dataclass(frozen=True)
class Decided:
    """`holds` is None where it is undecided; the ends are those of the interval at 95 %, or least and most
    where each block is held against the limits."""

    holds: bool | None
    why: str
    centre: float
    low: float
    high: float


def decided(test: Test, values: Sequence[float]) -> Decided:
    """Of three blocks at least."""
    if isinstance(test, ValueTest) and test.in_every_block:
        return _in_every_block(test, values)
    return _by_interval(test, values, ratio=isinstance(test, RatioTest))


def _in_every_block(test: Limits, values: Sequence[float]) -> Decided:
    held = sum(map(test.hold, values))
    ends = fmean(values), min(values), max(values)
    if held in {0, len(values)}:
        return Decided(held > 0, f"so it is in {'every' if held else 'no'} block, from least to most", *ends)
    return Decided(None, f"so it is in {held} of {len(values)} blocks, from least to most", *ends)


def _by_interval(test: Limits, values: Sequence[float], *, ratio: bool) -> Decided:
    """Of ratios, by their logarithms. An interval that reaches a limit, or over it, decides nothing."""
    from loomlab.statistics.student import estimates  # noqa: PLC0415 - most commands need no scipy, which loads slowly

    found = estimates([math.log(value) for value in values] if ratio else values)
    mean, half = float(found.mean), float(found.half_width)
    ends = [mean, mean - half, mean + half]
    centre, low, high = map(math.exp, ends) if ratio else ends
    if test.hold(low) and test.hold(high):
        return Decided(holds=True, why="the whole interval is within the limits", centre=centre, low=low, high=high)
    if (test.above is not None and high < test.above) or (test.below is not None and low > test.below):
        return Decided(holds=False, why="the whole interval is beyond the limit", centre=centre, low=low, high=high)
    crossed = [limit for limit in (test.above, test.below) if limit is not None and low <= limit <= high]
    gaps = [abs(mean - (math.log(limit) if ratio else limit)) for limit in crossed if limit > 0 or not ratio]
    more = _more(float(found.deviation), min(gaps, default=0.0))
    return Decided(None, f"the interval reaches over the limit; {more}", centre, low, high)


def _more(deviation: float, gap: float) -> str:
    """Told as if centre and spread stayed what they are, which nobody knows."""
    from loomlab.statistics.student import half_width  # noqa: PLC0415 - as above

    counts = range(FEWEST_BLOCKS, MOST_BLOCKS + 1)
    wanted = next((count for count in counts if float(half_width(deviation, count)) < gap), None)
    if wanted is None:
        return f"{MOST_BLOCKS} blocks like these would not decide it"
    return f"about {wanted} blocks like these would decide it"
