"""Observations of two approaches, block by block."""

from collections.abc import Sequence

from loomlab.statistics.comparison import CPU_PER_REQUEST, Comparison, Figure, Observation, Pair
from loomlab.statistics.paired import compare

LOAD = "2,000 connections"
PAIR = Pair("virtual", "platform", LOAD)


def observed(approach: str, values: Sequence[float | None], load: str = LOAD) -> list[Observation]:
    """One run in each block, from block 1 on."""
    return [Observation(block, approach, load, value) for block, value in enumerate(values, 1)]


def compared(
    a: Sequence[float | None], b: Sequence[float | None], figure: Figure = CPU_PER_REQUEST, pair: Pair = PAIR
) -> Comparison:
    """The only declared contrast."""
    (only,) = compare(figure, [*observed(pair.a, a, pair.load), *observed(pair.b, b, pair.load)], [pair])
    return only
