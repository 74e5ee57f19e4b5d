"""Whether a figure changes from one value to the next, told apart from its noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression

FEWEST = 3
ONE_SIDED = {
    80: (1.376, 1.061, 0.978, 0.941, 0.920, 0.906, 0.896, 0.889, 0.883, 0.879, 0.876, 0.873, 0.870, 0.868, 0.866),
    95: (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753),
}
"""Student's t by one-sided confidence in percent, for 1 to 15 degrees of freedom (any table of its quantiles)."""
NORMAL = {80: 0.842, 95: 1.645}


@dataclass(frozen=True)
class Trend:
    """A straight line through logarithms, by least squares: `slope` is their change from one value to the next,
    `error` its standard error with so many degrees of freedom."""

    slope: float
    error: float
    freedom: int

    def margin(self, percent: int) -> float:
        """How far below `slope` the true one may be, with that one-sided confidence; and how far above."""
        table = ONE_SIDED[percent]
        return self.error * (table[self.freedom - 1] if self.freedom <= len(table) else NORMAL[percent])


def trend(values: Sequence[float | None]) -> Trend | None:
    """Of three positive values or more, evenly spaced; None of fewer, or where one is missing."""
    known = [value for value in values if value and value > 0]
    if len(known) < max(FEWEST, len(values)):
        return None
    logs = [math.log(value) for value in known]
    count = len(logs)
    places = range(count)
    slope, first = linear_regression(places, logs)
    spread = count * (count * count - 1) / 12
    squares = sum((log - first - slope * place) ** 2 for place, log in zip(places, logs, strict=True))
    return Trend(slope, math.sqrt(squares / (count - 2) / spread), count - 2)
