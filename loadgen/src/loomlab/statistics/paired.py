"""Compares approaches within blocks."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import cast

import numpy as np

from loomlab.statistics.comparison import (
    BlockEffect,
    Comparison,
    Dropped,
    Figure,
    Interval,
    Observation,
    Pair,
    Word,
)
from loomlab.statistics.student import Estimates, blocks_likely, blocks_needed, estimates, holm, within, words

type Block = Mapping[str, Sequence[Observation]]
"""Its runs, by approach."""


def compare(
    figure: Figure, observations: Iterable[Observation], declared: Sequence[Pair], exploratory: Sequence[Pair] = ()
) -> list[Comparison]:
    """Of the pairs in their order, those declared first; the words of these hold for all of them together. A block
    counts for a pair if each of the two has one run in it, with a figure, which has to be above 0 for a ratio."""
    loads = _by_load(observations)
    parts = [_paired(figure, pair, loads.get(pair.load, {})) for pair in (*declared, *exploratory)]
    adjusted = holm(np.array([float(part.found.p_value) for part in parts[: len(declared)]]))
    family = [(len(declared), float(p_holm)) for p_holm in adjusted] + [(None, None)] * len(exploratory)
    return [
        _comparison(pair, part, declared=number, p_holm=p_holm)
        for pair, part, (number, p_holm) in zip((*declared, *exploratory), parts, family, strict=True)
    ]


@dataclass(frozen=True)
class _Paired:
    """The blocks of a pair. `differences` are of the figures, of ratios of their logarithms, by block; `rounding` is
    how far off their mean may be because figures were rounded."""

    figure: Figure
    differences: Mapping[int, float]
    dropped: tuple[Dropped, ...]
    suspect: frozenset[int]
    rounding: float
    found: Estimates
    lower_bounds: bool


def _by_load(observations: Iterable[Observation]) -> dict[str, dict[int, dict[str, list[Observation]]]]:
    loads: dict[str, dict[int, dict[str, list[Observation]]]] = {}
    for one in observations:
        block = loads.setdefault(one.load, {}).setdefault(one.block, {})
        block.setdefault(one.approach, []).append(one)
    return loads


def _paired(figure: Figure, pair: Pair, blocks: Mapping[int, Block]) -> _Paired:
    """Lower bounds have no margin: where they are near each other, what they bound need not be."""
    counted: dict[int, tuple[Observation, Observation]] = {}
    dropped: list[Dropped] = []
    for number, block in sorted(blocks.items()):
        runs = {name: block.get(name, ()) for name in (pair.a, pair.b)}
        if not any(runs.values()):
            continue
        faults = [fault for name, own in runs.items() if (fault := _fault(figure, name, own))]
        if faults:
            dropped.append(Dropped(number, "; ".join(faults)))
        else:
            counted[number] = runs[pair.a][0], runs[pair.b][0]
    differences = {number: _scaled(figure, a) - _scaled(figure, b) for number, (a, b) in counted.items()}
    rounding = fmean([_rounding(figure, a) + _rounding(figure, b) for a, b in counted.values()] or [0.0])
    lower_bounds = any(one.lower_bound for both in counted.values() for one in both)
    return _Paired(
        figure=replace(figure, margin=None) if lower_bounds else figure,
        differences=differences,
        dropped=tuple(dropped),
        suspect=frozenset(number for number, (a, b) in counted.items() if a.suspect or b.suspect),
        rounding=rounding,
        found=estimates([*differences.values()], rounding),
        lower_bounds=lower_bounds,
    )


def _fault(figure: Figure, approach: str, runs: Sequence[Observation]) -> str | None:
    """What spoils the approach's figure in a block."""
    if len(runs) != 1:
        return f"{approach} has {len(runs) or 'no'} run{'s' if runs else ''}"
    value = runs[0].value
    if value is None:
        return f"{approach}: {runs[0].reason or 'not measured'}"
    if figure.unit is not None:
        return None if math.isfinite(value) else f"{approach}: {value:g} is no figure"
    return None if 0 < value < math.inf else f"{approach}: {value:g} is no figure above 0"


def _scaled(figure: Figure, one: Observation) -> float:
    """As differences are taken of it."""
    value = one.value or 0.0
    return value if figure.unit is not None else math.log(value)


def _rounding(figure: Figure, one: Observation) -> float:
    """How far that may be off at most."""
    value, half = one.value or 0.0, one.resolution / 2
    if figure.unit is not None:
        return half
    return -math.log1p(-half / value) if half < value else math.inf


def _comparison(pair: Pair, part: _Paired, *, declared: int | None, p_holm: float | None) -> Comparison:
    figure, found = part.figure, part.found
    known = not math.isnan(found.half_width)
    word = _word(found, p_holm, figure.margin)
    needed, likely = None, None
    if figure.margin is not None and declared and known and word == "not resolved" and not part.rounding:
        needed = blocks_needed(float(found.deviation), figure.margin, declared)
        likely = min(blocks_likely(found, figure.margin, declared), needed)
    return Comparison(
        figure=figure,
        pair=pair,
        declared=declared,
        effects=tuple(
            BlockEffect(block, _effect(figure, difference), block in part.suspect)
            for block, difference in part.differences.items()
        ),
        dropped=part.dropped,
        effect=_effect(figure, float(found.mean)) if part.differences else None,
        interval=_interval(figure, float(found.mean), float(found.half_width)) if known else None,
        p_value=float(found.p_value) if known else None,
        p_holm=p_holm if known else None,
        word=word,
        within_margin=figure.margin is not None and bool(within(found, figure.margin)),
        blocks_needed=needed,
        blocks_likely=likely,
        lower_bounds=part.lower_bounds,
    )


def _word(found: Estimates, p_holm: float | None, margin: float | None) -> Word:
    if p_holm is None or margin is None:
        return "exploratory"
    return cast(Word, str(words(found, np.array(p_holm), margin)))


def _interval(figure: Figure, mean: float, half_width: float) -> Interval:
    return Interval(_effect(figure, mean - half_width), _effect(figure, mean + half_width))


def _effect(figure: Figure, difference: float) -> float:
    """The ratio is infinite where no number is large enough."""
    if figure.unit is not None:
        return difference
    with np.errstate(over="ignore", under="ignore"):
        return float(np.exp(difference))
