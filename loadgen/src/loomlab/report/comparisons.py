"""The comparisons that the page shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from loomlab.answer.comparisons import Held, compared
from loomlab.answer.figures import UNKNOWN, Figure, number, ratio_text
from loomlab.report.folder import Experiment
from loomlab.statistics.comparison import Comparison, Pair
from loomlab.statistics.comparison import Figure as Compared

MOST_STACK_PAIRS = 6
"""Of more, none is shown."""


def comparisons(experiment: Experiment, figure: Figure, most_stacks: float = MOST_STACK_PAIRS) -> list[Held]:
    """Controlled contrasts first, each at every load that has both approaches; of more stacks than that, none, and
    before all blocks are made that were declared, none at all."""
    if figure.compared is None or experiment.early:
        return []
    summary = experiment.summary
    stacks = [one for one in summary.contrasts if one.kind in {"stack", "unknown"}]
    shown = [one for one in summary.contrasts if len(stacks) <= most_stacks or one not in stacks]
    return compared(figure.compared, figure.of, shown, experiment.loads, summary.margin)


@dataclass(frozen=True)
class Cell:
    """Of one figure: the ratio or the difference, its interval where there is one, and the blocks it rests on."""

    title: str
    effect: str
    interval: str | None
    blocks: int


@dataclass(frozen=True)
class PairRow:
    """One contrast at one load, by every figure that approaches are compared by; `of_primary` has its word."""

    pair: Pair
    kind: str
    of_primary: Comparison
    cells: list[Cell]


def pair_rows(experiment: Experiment, figures: Sequence[Figure]) -> list[PairRow]:
    found = {figure.key: comparisons(experiment, figure) for figure in figures}
    primary = next(figure for figure in figures if figure.primary)
    return [
        PairRow(
            held.found.pair,
            held.kind,
            held.found,
            [_cell(figure.title, found[figure.key][place].found) for figure in figures],
        )
        for place, held in enumerate(found[primary.key])
    ]


def _cell(title: str, found: Comparison) -> Cell:
    if found.swayed and found.word == "exploratory":
        return Cell(title, "not resolved", None, found.blocks)
    return Cell(title, effect_text(found), interval_text(found), found.blocks)


def effect_text(found: Comparison) -> str:
    if found.effect is None:
        return UNKNOWN
    return f"{written(found.figure, found.effect)} {found.figure.unit or ''}".rstrip()


def interval_text(found: Comparison) -> str | None:
    if found.interval is None:
        return None
    return " to ".join(written(found.figure, end) for end in (found.interval.low, found.interval.high))


def written(figure: Compared, effect: float) -> str:
    """A difference says whether it is more, a ratio on which side of 1 it is."""
    if figure.unit is None:
        return ratio_text(effect)
    return f"+{number(effect)}" if effect > 0 else number(effect)
