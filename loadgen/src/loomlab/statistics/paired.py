"""Compares approaches within blocks."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np

from loomlab.records.contrasts import BlockEffect, Comparison
from loomlab.statistics.comparison import FEWEST_FINE_BLOCKS, ComparedFigure, Observation, Pair
from loomlab.statistics.sentences import sentence
from loomlab.statistics.student import Estimates, blocks_likely, blocks_needed, estimates, holm, within, words

LOST_LIMIT = 0.1
"""Of the runs of a side: if more were left out for causes of their own and have no figure, nothing is said. Without the
dearest tenth of one side the mean of ten blocks is off by 0.14 of their deviation, a fifth of the interval's half."""

type TornBlocks = Mapping[tuple[str, int], str]
"""Why a block counts for no pair, by load and block."""


def compare(
    figure: ComparedFigure,
    observations: Iterable[Observation],
    declared: Sequence[Pair],
    exploratory: Sequence[Pair] = (),
    torn: TornBlocks | None = None,
) -> list[Comparison]:
    """Of the pairs in their order, those declared first; the words of these hold for all of them together. A block
    counts for a pair if each of the two has one run in it, with a figure, which has to be above 0 for a ratio. A word
    is said only if it is the same with the runs that were left out for causes of their own, and if hardly any of these
    has no figure: what a dear run brings about itself must not choose among runs."""
    spoilt = torn or {}
    runs = [one for one in observations if (one.load, one.block) not in spoilt]
    of_all_tries = [one if one.left_out is None else replace(one, value=one.left_out) for one in runs]
    counted = _compare(figure, runs, declared, exploratory, spoilt)
    every = _compare(figure, of_all_tries, declared, exploratory, spoilt) if runs != of_all_tries else counted
    comparisons = [_unless_swayed(*both, runs) for both in zip(counted, every, strict=True)]
    return [one.model_copy(update={"sentence": sentence(figure, one)}) for one in comparisons]


def _compare(
    figure: ComparedFigure,
    runs: Sequence[Observation],
    declared: Sequence[Pair],
    exploratory: Sequence[Pair],
    torn: TornBlocks,
) -> list[Comparison]:
    blocks: dict[str, dict[int, list[Observation]]] = {}
    for run in runs:
        blocks.setdefault(run.load, {}).setdefault(run.block, []).append(run)
    found = [_exploratory(figure, pair, blocks.get(pair.load, {}), torn) for pair in (*declared, *exploratory)]
    p_holm = holm(np.array([float(estimated.p_value) for _, estimated in found[: len(declared)]]))
    worded = [_worded(*one, len(declared), float(p)) for one, p in zip(found, p_holm, strict=False)]
    return worded + [comparison for comparison, _ in found[len(declared) :]]


def _exploratory(
    figure: ComparedFigure, pair: Pair, blocks: Mapping[int, Sequence[Observation]], torn: TornBlocks
) -> tuple[Comparison, Estimates]:
    """Of differences of the figures, of ratios of their logarithms. Lower bounds have no margin: where they are near
    each other, what they bound need not be."""
    dropped = {block: why for (load, block), why in torn.items() if load == pair.load}
    counted: dict[int, tuple[Observation, Observation]] = {}
    for number, block in sorted(blocks.items()):
        a, b = ([one for one in block if one.approach == name] for name in (pair.a, pair.b))
        faults = [fault for name, own in ((pair.a, a), (pair.b, b)) if (fault := _fault(figure, name, own))]
        if a and b and not faults:
            counted[number] = a[0], b[0]
        elif a or b:
            dropped[number] = "; ".join(faults)
    differences = [_scaled(figure, a) - _scaled(figure, b) for a, b in counted.values()]
    rounding = fmean([_rounding(figure, a) + _rounding(figure, b) for a, b in counted.values()] or [0.0])
    found = estimates(differences, rounding)
    mean, half_width = float(found.mean), float(found.half_width)
    known = not math.isnan(half_width)
    lower_bounds = any(one.lower_bound for both in counted.values() for one in both)
    margin = None if lower_bounds else figure.margin
    return Comparison(
        a=pair.a,
        b=pair.b,
        kind=pair.kind,
        unit=figure.unit,
        figure=figure.name,
        cell=pair.cell,
        load=pair.load,
        margin=margin,
        blocks=[
            BlockEffect(block=block, effect=_effect(figure, difference), suspect=a.suspect or b.suspect)
            for (block, (a, b)), difference in zip(counted.items(), differences, strict=True)
        ],
        dropped=[f"block {block} ({why})" for block, why in sorted(dropped.items())],
        effect=_effect(figure, mean) if counted else None,
        low=_effect(figure, mean - half_width) if known else None,
        high=_effect(figure, mean + half_width) if known else None,
        coarse=known and len(counted) < FEWEST_FINE_BLOCKS,
        p_value=float(found.p_value) if known else None,
        within_margin=margin is not None and bool(within(found, margin)),
        lower_bounds=lower_bounds,
    ), found


def _worded(comparison: Comparison, found: Estimates, declared: int, p_holm: float) -> Comparison:
    """As one of so many that were declared; without a margin it stays exploratory."""
    margin, known = comparison.margin, comparison.interval is not None
    changes: dict[str, Any] = {"declared": declared, "p_holm": p_holm if known else None}
    if margin is not None:
        changes["word"] = word = str(words(found, np.array(p_holm), margin))
        if word == "not resolved" and known and not found.rounding:
            needed = blocks_needed(float(found.deviation), margin, declared)
            changes |= {"blocks_needed": needed, "blocks_likely": min(blocks_likely(found, margin, declared), needed)}
    return comparison.model_copy(update=changes)


def _fault(figure: ComparedFigure, approach: str, runs: Sequence[Observation]) -> str | None:
    """What spoils the approach's figure in a block."""
    if len(runs) != 1:
        return f"{approach} has {len(runs) or 'no'} run{'s' if runs else ''}"
    value = runs[0].value
    if value is None:
        return f"{approach}: {runs[0].reason or 'not measured'}"
    if figure.unit is not None:
        return None if math.isfinite(value) else f"{approach}: {value:g} is no figure"
    return None if 0 < value < math.inf else f"{approach}: {value:g} is no figure above 0"


def _scaled(figure: ComparedFigure, one: Observation) -> float:
    """As differences are taken of it."""
    value = one.value or 0.0
    return value if figure.unit is not None else math.log(value)


def _rounding(figure: ComparedFigure, one: Observation) -> float:
    """How far that may be off at most."""
    value, half = one.value or 0.0, one.resolution / 2
    if figure.unit is not None:
        return half
    return -math.log1p(-half / value) if half < value else math.inf


def _effect(figure: ComparedFigure, difference: float) -> float:
    """A ratio is infinite where no number is large enough."""
    if figure.unit is not None:
        return difference
    with np.errstate(over="ignore", under="ignore"):
        return float(np.exp(difference))


def _unless_swayed(counted: Comparison, every: Comparison, runs: Sequence[Observation]) -> Comparison:
    """The comparison of the runs that count, where all tries say the same."""
    at_load = [run for run in runs if run.load == counted.load]
    a, b = ([run for run in at_load if run.approach == name] for name in (counted.a, counted.b))
    comparison = counted.model_copy(
        update={
            "made_again": tuple(sum(run.made_again for run in side) for side in (a, b)),
            "left_out": tuple(sum(run.lost or run.left_out is not None for run in side) for side in (a, b)),
        }
    )
    lost = any(sum(run.lost for run in side) > LOST_LIMIT * len(side) for side in (a, b))
    says = _says(counted)
    if says is None or (says == _says(every) and not lost):
        return comparison
    word = "exploratory" if counted.word == "exploratory" else "not resolved"
    silent = {"word": word, "within_margin": False, "blocks_needed": None, "blocks_likely": None, "swayed": True}
    return comparison.model_copy(update=silent)


def _says(comparison: Comparison) -> str | tuple[bool, bool] | None:
    """The word; of what is exploratory whether it is within the margin, or on which side of equality, without an
    interval where its mean is. None: nothing."""
    if comparison.word != "exploratory":
        return None if comparison.word == "not resolved" else comparison.word
    if comparison.interval is None:
        return None if comparison.effect is None else (False, comparison.effect > comparison.even)
    if not (comparison.within_margin or comparison.apart):
        return None
    return comparison.within_margin, comparison.apart and comparison.interval.low > comparison.even
