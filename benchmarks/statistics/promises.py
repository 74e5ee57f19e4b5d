"""How often intervals and words hold what they promise, in experiments whose truth is known."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from worlds import CONTRASTS, HOSTILE, WORLDS, Drawn, World, experiments

from loomlab.statistics.comparison import CONFIDENCE, CPU_MARGIN, ERROR_RATE
from loomlab.statistics.student import Estimates, Numbers, estimates, holm, within, words

SIZES, BOOTSTRAPPED = (3, 5, 10), (3, 5)
"""Blocks of an experiment; and with which the percentile bootstrap is looked at, too."""
LOOKS = ([5], [5, 10], [*range(3, 6)], [*range(3, 9)], [*range(3, 13)])
"""After which numbers of blocks an experiment is looked at, and ended once the interval excludes equality."""
FALSE_NO_DIFFERENCE = (1 - CONFIDENCE) / 2
DIFFERS = 0.80
"""The ratio with which *lower* is the right word."""
MARGIN = CPU_MARGIN
MONTE_CARLO_ERRORS = 2


@dataclass(frozen=True)
class Rates:
    """Shares, of `draws` experiments and all of their contrasts. `coverage`: of the intervals there were, those that
    hold the true ratio; `half_width`: their median, as a share; `family_error`: experiments without a difference in
    which a contrast is called lower or higher; `false_no_difference`: contrasts exactly the margin apart whose interval
    is within it; `lower`: said of one contrast of 0.8 among equals; `no_difference`: said of equals."""

    draws: int
    coverage: float
    half_width: float
    family_error: float
    false_no_difference: float
    lower: float
    no_difference: float

    @property
    def missed(self) -> list[str]:
        """Which promises are missed by more than two Monte Carlo errors of so many draws, in percentage points."""
        misses = (
            ("coverage", CONFIDENCE - self.coverage, CONFIDENCE),
            ("false words", self.family_error - ERROR_RATE, ERROR_RATE),
            ("false no difference", self.false_no_difference - FALSE_NO_DIFFERENCE, FALSE_NO_DIFFERENCE),
        )
        return [
            f"{name} by {100 * miss:.1f}"
            for name, miss, promise in misses
            if miss > MONTE_CARLO_ERRORS * monte_carlo_error(promise, self.draws)
        ]


@dataclass(frozen=True)
class Row:
    world: World
    blocks: int
    rates: Rates


def monte_carlo_error(share: float, draws: int) -> float:
    """Standard error of a share of so many draws."""
    return math.sqrt(share * (1 - share) / draws)


def rows(draws: int, seed: int) -> Iterator[Row]:
    """Every world at 3, 5 and 10 blocks, those in which the promise should hold first."""
    for place, world in enumerate((*WORLDS, *HOSTILE)):
        for blocks in SIZES:
            random = np.random.default_rng([seed, place, blocks])
            yield Row(world, blocks, rates(experiments(world, draws, blocks, random)))


def rates(equal: Drawn) -> Rates:
    """Of experiments whose contrasts are all equal; they are then moved apart."""
    found, said = _judged(equal)
    at_margin, said_there = _judged(equal.moved(1 + MARGIN))
    known = np.isfinite(found.half_width)
    covered = np.abs(found.mean) <= found.half_width
    return Rates(
        draws=len(said),
        coverage=float(covered[known].mean()),
        half_width=math.expm1(float(np.median(found.half_width[known]))),
        family_error=float(np.isin(said, ("lower", "higher")).any(axis=-1).mean()),
        false_no_difference=float((within(at_margin, MARGIN) & (said_there != "not significant")).mean()),
        lower=float((_judged(first_moved(equal, DIFFERS))[1][:, 0] == "lower").mean()),
        no_difference=float((said == "no difference").mean()),
    )


def first_moved(equal: Drawn, ratio: float) -> Drawn:
    """The first contrast has that ratio, the others are as they were."""
    return equal.moved([ratio] + [1.0] * (CONTRASTS - 1))


def _judged(drawn: Drawn) -> tuple[Estimates, NDArray[np.str_]]:
    """As the lab does it: the intervals are of the runs that count, the words of all tries, too."""
    found, every = estimates(drawn.counted), estimates(drawn.of_all_tries)
    said, of_all_tries = (words(one, holm(one.p_value), MARGIN) for one in (found, every))
    return found, np.where(said == of_all_tries, said, "not significant")


def looking(draws: int, seed: int, looks: Sequence[int]) -> float:
    """The share of experiments of equals, in the first world, in which the interval of a contrast excludes equality at
    one of these numbers of blocks at least."""
    random = np.random.default_rng([seed, 0, max(looks)])
    equal = experiments(WORLDS[0], draws, max(looks), random).counted[:, 0]
    excluded = [estimates(equal[:, :blocks]).p_value < ERROR_RATE for blocks in looks]
    return float(np.any(excluded, axis=0).mean())


def bootstrap_coverage(draws: int, blocks: int, seed: int) -> float:
    """Of the percentile bootstrap's intervals, in the first world."""
    random = np.random.default_rng([seed, 0, blocks])
    low, high = percentile_bootstrap(experiments(WORLDS[0], draws, blocks, random).counted[:, 0])
    return float(((low <= 0) & (high >= 0)).mean())


def percentile_bootstrap(values: Numbers) -> tuple[Numbers, Numbers]:
    """The 95 % interval of each row's mean: quantiles of the means of all its resamples, each with its probability
    (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13)."""
    size = values.shape[-1]
    resamples = [np.bincount(drawn, minlength=size) for drawn in combinations_with_replacement(range(size), size)]
    weights = np.array([_ways(counts.tolist()) for counts in resamples]) / size**size
    means = values @ np.array(resamples).T / size
    order = np.argsort(means, axis=-1)
    below = np.cumsum(weights[order], axis=-1)
    rising = np.take_along_axis(means, order, axis=-1)
    tail = (1 - CONFIDENCE) / 2
    low, high = (np.sum(below < share, axis=-1, keepdims=True) for share in (tail, 1 - tail))
    return np.take_along_axis(rising, low, axis=-1)[..., 0], np.take_along_axis(rising, high, axis=-1)[..., 0]


def _ways(counts: list[int]) -> int:
    """How many resamples draw each value so often."""
    return math.factorial(sum(counts)) // math.prod(math.factorial(count) for count in counts)
