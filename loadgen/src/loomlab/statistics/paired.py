"""Compares approaches within blocks."""

import math
from collections.abc import Iterable, Mapping, Sequence
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
from loomlab.statistics.student import Estimates, blocks_needed, estimates, holm, within, words

type Block = Mapping[str, Sequence[Observation]]
"""Its runs, by approach."""


def compare(
    figure: Figure, observations: Iterable[Observation], declared: Sequence[Pair], exploratory: Sequence[Pair] = ()
) -> list[Comparison]:
    """Of the pairs in their order, those declared first; the words of these hold for all of them together. A block
    counts for a pair if each of the two has one run in it, with a figure, which has to be above 0 for a ratio."""
    loads = _by_load(observations)
    parts = [_differences(figure, pair, loads.get(pair.load, {})) for pair in (*declared, *exploratory)]
    p_values = [float(estimates([*differences.values()]).p_value) for differences, _ in parts[: len(declared)]]
    adjusted = holm(np.array(p_values))
    family = [(len(declared), float(p_holm)) for p_holm in adjusted] + [(None, None)] * len(exploratory)
    return [
        _comparison(figure, pair, *part, _suspect(pair, loads.get(pair.load, {})), declared=number, p_holm=p_holm)
        for pair, part, (number, p_holm) in zip((*declared, *exploratory), parts, family, strict=True)
    ]


def _suspect(pair: Pair, blocks: Mapping[int, Block]) -> frozenset[int]:
    """The blocks in which a run of the pair is."""
    return frozenset(
        number
        for number, block in blocks.items()
        if any(one.suspect for name in (pair.a, pair.b) for one in block.get(name, ()))
    )


def _by_load(observations: Iterable[Observation]) -> dict[str, dict[int, dict[str, list[Observation]]]]:
    loads: dict[str, dict[int, dict[str, list[Observation]]]] = {}
    for one in observations:
        block = loads.setdefault(one.load, {}).setdefault(one.block, {})
        block.setdefault(one.approach, []).append(one)
    return loads


def _differences(
    figure: Figure, pair: Pair, blocks: Mapping[int, Block]
) -> tuple[dict[int, float], tuple[Dropped, ...]]:
    """Of the figures, of ratios of their logarithms, by block; and the blocks that have none, with what spoils them."""
    differences: dict[int, float] = {}
    dropped: list[Dropped] = []
    for number, block in sorted(blocks.items()):
        if pair.a not in block and pair.b not in block:
            continue
        a, b = (_placed(figure, name, block.get(name, ())) for name in (pair.a, pair.b))
        if isinstance(a, float) and isinstance(b, float):
            differences[number] = a - b
        else:
            dropped.append(Dropped(number, "; ".join(one for one in (a, b) if isinstance(one, str))))
    return differences, tuple(dropped)


def _placed(figure: Figure, approach: str, runs: Sequence[Observation]) -> float | str:
    """Its figure in a block, or the logarithm; or what spoils that."""
    if len(runs) != 1:
        return f"{approach} has {len(runs) or 'no'} run{'s' if runs else ''}"
    value = runs[0].value
    if value is None:
        return f"{approach}: {runs[0].reason or 'not measured'}"
    if figure.unit is not None:
        return float(value) if math.isfinite(value) else f"{approach}: {value:g} is no figure"
    return math.log(value) if 0 < value < math.inf else f"{approach}: {value:g} is no figure above 0"


def _comparison(
    figure: Figure,
    pair: Pair,
    differences: Mapping[int, float],
    dropped: tuple[Dropped, ...],
    suspect: frozenset[int],
    *,
    declared: int | None,
    p_holm: float | None,
) -> Comparison:
    found = estimates([*differences.values()])
    known = not math.isnan(found.half_width)
    word = _word(found, p_holm, figure.margin)
    needed = None
    if figure.margin is not None and declared and known and word == "not resolved":
        needed = blocks_needed(float(found.deviation), figure.margin, declared)
    return Comparison(
        figure=figure,
        pair=pair,
        declared=declared,
        effects=tuple(
            BlockEffect(block, _effect(figure, difference), block in suspect)
            for block, difference in differences.items()
        ),
        dropped=dropped,
        effect=_effect(figure, float(found.mean)) if differences else None,
        interval=_interval(figure, float(found.mean), float(found.half_width)) if known else None,
        p_value=float(found.p_value) if known else None,
        p_holm=p_holm if known else None,
        word=word,
        within=figure.margin is not None and bool(within(found, figure.margin)),
        blocks_needed=needed,
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
