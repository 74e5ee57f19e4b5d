"""Whether a comparison's word hangs on which runs were left out."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from loomlab.statistics.comparison import Comparison, Figure, Observation, Pair, Word
from loomlab.statistics.paired import compare

LOST_LIMIT = 0.1
"""Of the runs of a side: if more were left out for causes of their own and have no figure, nothing is said. Without the
dearest tenth of one side the mean of ten blocks is off by 0.14 of their deviation, a fifth of the interval's half."""


def agreed(said: NDArray[np.str_], of_all_tries: NDArray[np.str_]) -> NDArray[np.str_]:
    """The words of the runs that count, where those of all tries are the same: what a dear run brings about itself must
    not choose among runs."""
    return np.where(said == of_all_tries, said, "not resolved")


def compare_tries(
    figure: Figure, observations: Iterable[Observation], declared: Sequence[Pair], exploratory: Sequence[Pair] = ()
) -> list[Comparison]:
    """As `compare`, of the runs that count; a word is said only if it is the same with those that were left out for
    causes of their own, and if hardly any of these has no figure."""
    runs = list(observations)
    of_all_tries = [one if one.left_out is None else replace(one, value=one.left_out) for one in runs]
    counted = compare(figure, runs, declared, exploratory)
    every = compare(figure, of_all_tries, declared, exploratory) if runs != of_all_tries else counted
    return [_told(one, other, runs) for one, other in zip(counted, every, strict=True)]


def _told(counted: Comparison, every: Comparison, runs: Sequence[Observation]) -> Comparison:
    pair = counted.pair
    sides = [[one for one in runs if (one.approach, one.load) == (name, pair.load)] for name in (pair.a, pair.b)]
    again_a, again_b = (sum(one.made_again for one in side) for side in sides)
    out_a, out_b = (sum(one.lost or one.left_out is not None for one in side) for side in sides)
    lost = any(sum(one.lost for one in side) > LOST_LIMIT * len(side) for side in sides)
    told = replace(counted, made_again=(again_a, again_b), left_out=(out_a, out_b))
    says = _says(counted)
    if says is None or (says == _says(every) and not lost):
        return told
    other = "not resolved" if lost and counted.word != "exploratory" else every.word
    word = cast(Word, str(agreed(np.array(counted.word), np.array(other))))
    return replace(told, word=word, within_margin=False, blocks_needed=None, blocks_likely=None, swayed=True)


def _says(found: Comparison) -> str | tuple[bool, bool] | None:
    """The word; of what is exploratory whether it is within the margin, or on which side of equality, without an
    interval where its mean is. None: nothing."""
    if found.word != "exploratory":
        return None if found.word == "not resolved" else found.word
    if found.interval is None:
        return None if found.effect is None else (False, found.effect > found.figure.even)
    if not (found.within_margin or found.apart):
        return None
    return found.within_margin, found.apart and found.interval.low > found.figure.even
