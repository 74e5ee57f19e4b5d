"""The comparisons that the page shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from loomlab.answer.comparisons import compared
from loomlab.answer.figures import Figure
from loomlab.basics.format import UNKNOWN, number, ratio_text
from loomlab.records.contrasts import Comparison
from loomlab.report.folder import Experiment

MOST_STACK_PAIRS = 6
"""Of more, none is shown."""


def comparisons(experiment: Experiment, figure: Figure, most_stacks: float = MOST_STACK_PAIRS) -> list[Comparison]:
    """Controlled contrasts first, each at every load that has both approaches; of more stacks than that, none, and
    before all blocks are made that were declared, none at all."""
    if experiment.early:
        return []
    summary = experiment.summary
    stacks = [one for one in summary.contrasts if one.kind in {"stack", "unknown"}]
    shown = [one for one in summary.contrasts if len(stacks) <= most_stacks or one not in stacks]
    return compared(figure, shown, experiment.loads, summary.margin)


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

    of_primary: Comparison
    cells: list[Cell]


def pair_rows(experiment: Experiment, figures: Sequence[Figure]) -> list[PairRow]:
    found = {figure.key: comparisons(experiment, figure) for figure in figures}
    primary = next(figure for figure in figures if figure.primary)
    return [
        PairRow(
            of_primary,
            [_cell(figure.title, found[figure.key][place]) for figure in figures],
        )
        for place, of_primary in enumerate(found[primary.key])
    ]


def _cell(title: str, found: Comparison) -> Cell:
    if found.swayed and found.word == "exploratory":
        return Cell(title, "not resolved", None, len(found.blocks))
    return Cell(title, effect_text(found), interval_text(found), len(found.blocks))


def effect_text(found: Comparison) -> str:
    if found.effect is None:
        return UNKNOWN
    return f"{written(found, found.effect)} {found.unit or ''}".rstrip()


def interval_text(found: Comparison) -> str | None:
    if found.interval is None:
        return None
    return " to ".join(written(found, end) for end in found.interval)


def written(found: Comparison, effect: float) -> str:
    """A difference says whether it is more, a ratio on which side of 1 it is."""
    if found.unit is None:
        return ratio_text(effect)
    return f"+{number(effect)}" if effect > 0 else number(effect)
