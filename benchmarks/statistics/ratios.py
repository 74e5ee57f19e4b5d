"""Puts intervals into the tables of benchmarks."""

import json
import math
import sys
from collections.abc import Sequence

from loomlab.statistics.student import estimates


def ratios() -> None:
    """Prints the texts of stdin, a JSON object a line: {0}, {1}, … of `text` stand for the lists of `ratios`, of which
    the geometric mean is told and, from three on, its 95 % interval; – where there are none."""
    for line in sys.stdin:
        told = json.loads(line)
        print(told["text"].format(*map(_ratio, told["ratios"])))


def _ratio(values: Sequence[float]) -> str:
    if not values:
        return "–"
    found = estimates([math.log(value) for value in values])
    mean, half = float(found.mean), float(found.half_width)
    ends = "" if math.isnan(half) else f" [{math.exp(mean - half):.3f}, {math.exp(mean + half):.3f}]"
    return f"{math.exp(mean):.3f}{ends}"


if __name__ == "__main__":
    ratios()
