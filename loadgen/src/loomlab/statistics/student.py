"""Student's t for paired differences, Holm's words, and the margin; elementwise on arrays of numpy."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv, ndtr, stdtr, stdtrit

from loomlab.basics.format import NEAREST
from loomlab.statistics.comparison import CONFIDENCE, ERROR_RATE, FEWEST_BLOCKS, POWER

type Numbers = NDArray[np.float64]
SLICES = (np.arange(200) + 0.5) / 200  # middles of equally likely parts of a distribution


@dataclass(frozen=True)
class Estimates:
    blocks: NDArray[np.int64]
    mean: Numbers  # NaN without a block
    deviation: Numbers
    half_width: Numbers  # of the mean's interval; NaN with fewer than three blocks
    p_value: Numbers
    """Two-sided, of the mean being 0; 1 with fewer than three blocks; where nothing varies 0, or 1 of 0."""
    rounding: float = 0.0


def estimates(differences: ArrayLike, rounding: float = 0.0) -> Estimates:
    """Of differences of logarithms; the last axis holds the blocks, NaN for a block that does not count. Student's
    paired t (Biometrika 6, 1908). `rounding`: how far off their mean may be because figures are rounded; the interval
    is wider by as much on either side, and the p value is of the mean that is nearest to 0."""
    values = np.asarray(differences, dtype=float)
    counts = np.isfinite(values)
    blocks = counts.sum(axis=-1)
    mean = np.where(counts, values, 0).sum(axis=-1) / np.where(blocks > 0, blocks, np.nan)
    squares = (np.where(counts, values - mean[..., None], 0) ** 2).sum(axis=-1)
    deviation = np.sqrt(squares / np.where(blocks >= FEWEST_BLOCKS, blocks - 1, np.nan))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.maximum(np.abs(mean) - rounding, 0) / (deviation / np.sqrt(blocks))
        both_sides = 2 * stdtr(blocks - 1, -statistic)
    p_value = np.where(np.isnan(both_sides), 1.0, both_sides)
    return Estimates(blocks, mean, deviation, half_width(deviation, blocks) + rounding, p_value, rounding)


def half_width(deviation: ArrayLike, blocks: ArrayLike, confidence: ArrayLike = CONFIDENCE) -> Numbers:
    """Of the interval of a mean of so many differences with that standard deviation."""
    count = np.asarray(blocks)
    width: Numbers = stdtrit(count - 1, (1 + np.asarray(confidence)) / 2) * np.asarray(deviation) / np.sqrt(count)
    return width


def holm(p_values: Numbers) -> Numbers:
    """Adjusted for each other along the last axis (Holm, Scandinavian Journal of Statistics 6, 1979)."""
    order = np.argsort(p_values, axis=-1)
    rising = np.take_along_axis(p_values, order, axis=-1) * np.arange(p_values.shape[-1], 0, -1)
    adjusted = np.minimum(np.maximum.accumulate(rising, axis=-1), 1)
    return np.take_along_axis(adjusted, np.argsort(order, axis=-1), axis=-1)


def within(estimated: Estimates, margin: float) -> NDArray[np.bool_]:
    """Whether the interval lies within the margin: two one-sided tests at 2.5 % each (Schuirmann 1987)."""
    inside: NDArray[np.bool_] = np.abs(estimated.mean) + estimated.half_width < np.log1p(margin) - NEAREST
    return inside


def words(estimated: Estimates, p_holm: Numbers, margin: float | None) -> NDArray[np.str_]:
    """*lower* or *higher* where Holm allows it; else, within the margin, *no difference* if equality is in it, too."""
    resolved, inside = p_holm < ERROR_RATE, np.False_ if margin is None else within(estimated, margin)
    even = np.abs(estimated.mean) <= estimated.half_width
    choices = [resolved & (estimated.mean < 0), resolved & (estimated.mean > 0), inside & even, inside]
    chosen: NDArray[np.str_] = np.select(choices, ["lower", "higher", "no difference", "equivalent"], "not significant")
    return chosen


def blocks_likely(estimated: Estimates, margin: float, declared: int) -> int:
    """The fewest, above those made, with which a word has the probability `POWER`, if the estimates are the truth."""
    mean, deviation = float(estimated.mean), float(estimated.deviation)
    least = most = int(estimated.blocks) + 1

    def enough(blocks: int) -> bool:
        return power(mean, deviation, blocks, margin, declared) >= POWER

    while not enough(most):
        most *= 2
    return bisect_left(range(most), True, lo=least, key=enough)


def chance_within(limit: float, deviation: float, blocks: int) -> float:
    """Probability that the interval of a mean that is truly 0 lies on this side of the limit, of whatever sign."""
    free = blocks - 1
    halves = half_width(deviation * np.sqrt(2 * gammaincinv(free / 2, SLICES) / free), blocks)
    return float(ndtr((abs(limit) - halves) / (deviation / np.sqrt(blocks))).mean())


def power(mean: float, deviation: float, blocks: int, margin: float, declared: int) -> float:
    """Probability that the t-test rejects at Holm's strictest level, or the interval lies within the margin."""
    free = blocks - 1
    deviations = deviation * np.sqrt(2 * gammaincinv(free / 2, SLICES) / free)
    far = half_width(deviations, blocks, 1 - ERROR_RATE / declared)
    near = np.maximum(np.log1p(margin) - half_width(deviations, blocks), 0)
    limits, error = np.stack([far, near]), deviation / np.sqrt(blocks)
    nearer = ndtr((limits - mean) / error) - ndtr((-limits - mean) / error)
    return float(1 - np.maximum(nearer[0] - nearer[1], 0).mean())
