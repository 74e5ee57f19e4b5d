"""Student's t for paired differences, Holm's words, and the margin; elementwise on arrays of numpy."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from loomlab.statistics.comparison import CONFIDENCE, ERROR_RATE, FEWEST_BLOCKS

type Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Estimates:
    """Of each set of differences: mean (NaN without a block), half width of its interval (NaN with fewer than three
    blocks), two-sided p value of the mean being 0 (1 with fewer than three)."""

    blocks: NDArray[np.int64]
    mean: Numbers
    deviation: Numbers
    half_width: Numbers
    p_value: Numbers


def estimates(differences: ArrayLike) -> Estimates:
    """Of differences of logarithms; the last axis holds the blocks, NaN for a block that does not count. Student's
    paired t (Biometrika 6, 1908)."""
    values = np.asarray(differences, dtype=float)
    counts = np.isfinite(values)
    blocks = counts.sum(axis=-1)
    mean = np.where(counts, values, 0).sum(axis=-1) / np.where(blocks > 0, blocks, np.nan)
    squares = (np.where(counts, values - mean[..., None], 0) ** 2).sum(axis=-1)
    deviation = np.sqrt(squares / np.where(blocks >= FEWEST_BLOCKS, blocks - 1, np.nan))
    return Estimates(blocks, mean, deviation, half_width(deviation, blocks), p_value(mean, deviation, blocks))


def half_width(deviation: ArrayLike, blocks: ArrayLike, confidence: float = CONFIDENCE) -> Numbers:
    """Of the interval of a mean of so many differences with that standard deviation."""
    count = np.asarray(blocks)
    quantile: Numbers = stdtrit(count - 1, (1 + confidence) / 2)
    width: Numbers = quantile * np.asarray(deviation) / np.sqrt(count)
    return width


def p_value(mean: Numbers, deviation: Numbers, blocks: ArrayLike) -> Numbers:
    """Two-sided, of the true mean being 0; where nothing varies it is 0, or 1 if all differences are 0."""
    count = np.asarray(blocks)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.abs(mean) / (deviation / np.sqrt(count))
        found: Numbers = 2 * stdtr(count - 1, -statistic)
    return np.where(np.isnan(found), 1.0, found)


def holm(p_values: Numbers) -> Numbers:
    """Adjusted for each other along the last axis (Holm, Scandinavian Journal of Statistics 6, 1979): the smallest
    times their number, the next times one less, and none below the one before."""
    order = np.argsort(p_values, axis=-1)
    rising = np.take_along_axis(p_values, order, axis=-1) * np.arange(p_values.shape[-1], 0, -1)
    adjusted = np.minimum(np.maximum.accumulate(rising, axis=-1), 1)
    return np.take_along_axis(adjusted, np.argsort(order, axis=-1), axis=-1)


def within(found: Estimates, margin: float) -> NDArray[np.bool_]:
    """Whether the interval lies within the margin, which is two one-sided tests at 2.5 % each (Schuirmann, Journal of
    Pharmacokinetics and Biopharmaceutics 15, 1987)."""
    inside: NDArray[np.bool_] = np.abs(found.mean) + found.half_width <= np.log1p(margin)
    return inside


def words(found: Estimates, p_holm: Numbers, margin: float) -> NDArray[np.str_]:
    """*no difference* within the margin; else what Holm allows to say."""
    resolved = p_holm < ERROR_RATE
    choices = [within(found, margin), resolved & (found.mean < 0), resolved & (found.mean > 0)]
    chosen: NDArray[np.str_] = np.select(choices, ["no difference", "lower", "higher"], "not resolved")
    return chosen


def blocks_needed(deviation: float, margin: float, declared: int) -> int:
    """The fewest with which nothing is left unresolved if differences go on to have that standard deviation: the
    interval's half width and that at Holm's strictest level together are no more than the margin, so that a mean too
    far from 0 for *no difference* is far enough for *lower* or *higher*. It has the form of a t-test's sample size,
    (t + t)² (s/δ)², with t for its own degrees of freedom (NIST/SEMATECH e-Handbook, 7.2.2.2)."""
    strictest = 1 - ERROR_RATE / declared

    def enough(blocks: int) -> bool:
        widths = half_width(deviation, blocks) + half_width(deviation, blocks, strictest)
        return bool(widths <= np.log1p(margin))

    many = FEWEST_BLOCKS
    while not enough(many):
        many *= 2
    return bisect_left(range(many), True, lo=FEWEST_BLOCKS, key=enough)
