"""Puts intervals into the tables of benchmarks."""

import json
import math
import sys
from collections.abc import Sequence

from scipy.stats import binomtest

from loomlab.statistics.comparison import CONFIDENCE
from loomlab.statistics.student import estimates


def ratios() -> None:
    """Prints the texts of stdin, a JSON object a line: {0}, {1}, … of `text` stand for the lists of `ratios`, then for
    the pairs of `shares`, if there are any. Of ratios their geometric mean is told and, from three on, its 95 %
    interval; – where there are none. Of a share, how many of how many, with an exact 95 % interval (Clopper and
    Pearson 1934)."""
    for line in sys.stdin:
        told = json.loads(line)
        values = [_ratio(values) for values in told["ratios"]]
        print(told["text"].format(*values, *(_share(*pair) for pair in told.get("shares", []))))


def _ratio(values: Sequence[float]) -> str:
    if not values:
        return "–"
    found = estimates([math.log(value) for value in values])
    mean, half = float(found.mean), float(found.half_width)
    ends = "" if math.isnan(half) else f" [{math.exp(mean - half):.3f}, {math.exp(mean + half):.3f}]"
    return f"{math.exp(mean):.3f}{ends}"


def _share(count: int, of: int) -> str:
    if not of:
        return "–"
    ends = binomtest(count, of).proportion_ci(CONFIDENCE, method="exact")
    return f"{count} of {of} [{100 * ends.low:.0f} to {100 * ends.high:.0f} %]"


if __name__ == "__main__":
    ratios()
