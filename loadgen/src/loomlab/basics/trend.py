"""Whether a figure changes from one value to the next, told apart from its noise."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

FEWEST = 3


class Trend(NamedTuple):
    """A straight line through logarithms by least squares: change a value, its standard error, its freedom."""

    slope: float
    error: float
    freedom: int

    def margin(self, percent: int) -> float:
        """How far below `slope` the true one may be, with that one-sided confidence; and how far above."""
        return float(self.error * stdtrit(self.freedom, percent / 100))


def trend(values: Sequence[float | None]) -> Trend | None:
    """The trend of three positive values or more, evenly spaced; None of fewer, or where one is missing."""
    known = [value for value in values if value and value > 0]
    if len(known) < max(FEWEST, len(values)):
        return None
    (slope, _), covariance = np.polyfit(range(len(known)), np.log(known), 1, cov=True)
    return Trend(float(slope), math.sqrt(covariance[0, 0]), len(known) - 2)
