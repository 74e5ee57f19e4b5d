"""Compares approaches within blocks."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np

from loomlab.statistics.comparison import (
    BlockRatio,
    Comparison,
    Dropped,
    Figure,
    Interval,
    Observation,
    Pair,
    Word,
)
from loomlab.statistics.student import blocks_needed, estimates, holm, words

type Block = Mapping[str, Sequence[Observation]]
"""Its runs, by approach."""


def compare(
    figure: Figure, observations: Iterable[Observation], declared: Sequence[Pair], exploratory: Sequence[Pair] = ()
) -> list[Comparison]:
    """Of the pairs in their order, those declared first; the words of these hold for all of them together. A block
    counts for a pair if each of the two has one run in it, with a figure above 0."""
    loads = _by_load(observations)
    parts = [_differences(pair, loads.get(pair.load, {})) for pair in (*declared, *exploratory)]
    p_values = [float(estimates([*differences.values()]).p_value) for differences, _ in parts[: len(declared)]]
    adjusted = holm(np.array(p_values))
    words_for = [
        _comparison(figure, pair, *part, declared=len(declared), p_holm=float(p_holm))
        for pair, part, p_holm in zip(declared, parts, adjusted, strict=False)
    ]
    others = zip(exploratory, parts[len(declared) :], strict=True)
    return words_for + [_comparison(figure, pair, *part, declared=None, p_holm=None) for pair, part in others]


def _by_load(observations: Iterable[Observation]) -> dict[str, dict[int, dict[str, list[Observation]]]]:
    loads: dict[str, dict[int, dict[str, list[Observation]]]] = {}
    for one in observations:
        block = loads.setdefault(one.load, {}).setdefault(one.block, {})
        block.setdefault(one.approach, []).append(one)
    return loads


def _differences(pair: Pair, blocks: Mapping[int, Block]) -> tuple[dict[int, float], tuple[Dropped, ...]]:
    """Of the logarithms, by block; and the blocks that have none, with what spoils them."""
    differences: dict[int, float] = {}
    dropped: list[Dropped] = []
    for number, block in sorted(blocks.items()):
        if pair.a not in block and pair.b not in block:
            continue
        a, b = (_logarithm(name, block.get(name, ())) for name in (pair.a, pair.b))
        if isinstance(a, float) and isinstance(b, float):
            differences[number] = a - b
        else:
            dropped.append(Dropped(number, "; ".join(one for one in (a, b) if isinstance(one, str))))
    return differences, tuple(dropped)


def _logarithm(approach: str, runs: Sequence[Observation]) -> float | str:
    """Of its figure in a block; or what spoils that."""
    if len(runs) != 1:
        return f"{approach} has {len(runs) or 'no'} run{'s' if runs else ''}"
    value = runs[0].value
    if value is None:
        return f"{approach}: {runs[0].reason or 'not measured'}"
    return math.log(value) if 0 < value < math.inf else f"{approach}: {value:g} is no figure above 0"


def _comparison(
    figure: Figure,
    pair: Pair,
    differences: Mapping[int, float],
    dropped: tuple[Dropped, ...],
    *,
    declared: int | None,
    p_holm: float | None,
) -> Comparison:
    found = estimates([*differences.values()])
    known = not math.isnan(found.half_width)
    word = cast(Word, "exploratory" if p_holm is None else str(words(found, np.array(p_holm), figure.margin)))
    needed = None
    if declared and known and word == "not resolved":
        needed = blocks_needed(float(found.deviation), figure.margin, declared)
    return Comparison(
        figure=figure,
        pair=pair,
        declared=declared,
        ratios=tuple(BlockRatio(block, _ratio(difference)) for block, difference in differences.items()),
        dropped=dropped,
        ratio=_ratio(float(found.mean)) if differences else None,
        interval=_interval(float(found.mean), float(found.half_width)) if known else None,
        p_value=float(found.p_value) if known else None,
        p_holm=p_holm if known else None,
        word=word,
        blocks_needed=needed,
    )


def _interval(mean: float, half_width: float) -> Interval:
    return Interval(_ratio(mean - half_width), _ratio(mean + half_width))


def _ratio(difference: float) -> float:
    """Infinite where no number is large enough."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.exp(difference))
