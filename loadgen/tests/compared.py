"""Observations of two approaches, block by block, and what becomes of them."""

from collections.abc import Sequence
from typing import Any

from loomlab.records.contrasts import Comparison
from loomlab.statistics.comparison import CPU_PER_REQUEST, ComparedFigure, Observation, Pair
from loomlab.statistics.paired import compare

LOAD = "2,000 connections"
PAIR = Pair("virtual", "platform", LOAD)
BASE = (0.30, 0.25, 0.28, 0.31, 0.26)
LESS = (0.240, 0.204, 0.220, 0.250, 0.206)  # by a fifth
SLIGHT = (0.25, 0.24, 0.23, 0.29, 0.23)
SPREAD = (0.30, 0.20, 0.33, 0.25, 0.28)


def observed(approach: str, values: Sequence[float | None], load: str = LOAD, **changes: Any) -> list[Observation]:
    """One run in each block, from block 1 on."""
    return [Observation(block, approach, load, value, **changes) for block, value in enumerate(values, 1)]


def only(figure: ComparedFigure, runs: Sequence[Observation], declared: bool = True, pair: Pair = PAIR) -> Comparison:
    """What becomes of the only contrast."""
    (found,) = compare(figure, runs, [pair] if declared else [], [] if declared else [pair])
    return found


def compared(
    a: Sequence[float | None],
    b: Sequence[float | None] = BASE,
    figure: ComparedFigure = CPU_PER_REQUEST,
    declared: bool = True,
    pair: Pair = PAIR,
    **changes: Any,
) -> Comparison:
    """Of these figures of a and b; `changes` are of every observation."""
    runs = [*observed(pair.a, a, pair.load, **changes), *observed(pair.b, b, pair.load, **changes)]
    return only(figure, runs, declared, pair)


def one_of_many(values: Sequence[float] = SLIGHT) -> Comparison:
    """The first of nine contrasts."""
    load = "500 connections"
    runs = [*observed("virtual", values), *observed("platform", BASE)]
    runs += [*observed("virtual", BASE, load), *observed("platform", SPREAD, load)]
    return compare(CPU_PER_REQUEST, runs, [PAIR, *[Pair("virtual", "platform", load)] * 8])[0]
