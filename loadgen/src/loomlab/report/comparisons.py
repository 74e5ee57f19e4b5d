"""The comparisons that the page shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from loomlab.answer.comparisons import Held, compared
from loomlab.report.figures import UNKNOWN, Figure, number
from loomlab.report.folder import Experiment
from loomlab.statistics.comparison import Comparison, Pair

MOST_STACK_PAIRS = 6
"""Of more, none is shown."""


def comparisons(experiment: Experiment, figure: Figure) -> list[Held]:
    """Controlled contrasts first, each at every load that has both approaches."""
    if figure.compared is None:
        return []
    summary = experiment.summary
    stacks = [one for one in summary.contrasts if one.kind in {"stack", "unknown"}]
    shown = [one for one in summary.contrasts if len(stacks) <= MOST_STACK_PAIRS or one not in stacks]
    return compared(figure.compared, figure.of, shown, experiment.loads, summary.margin)


@dataclass(frozen=True)
class PairRow:
    """One contrast at one load, by every figure that approaches are compared by; `of_primary` has its word."""

    pair: Pair
    kind: str
    of_primary: Comparison
    cells: list[tuple[str, str, str | None]]


def pair_rows(experiment: Experiment, figures: Sequence[Figure]) -> list[PairRow]:
    """Of each figure: its label, the ratio, the interval where there is one."""
    found = {figure.key: comparisons(experiment, figure) for figure in figures}
    primary = next(figure for figure in figures if figure.primary)
    return [
        PairRow(
            held.found.pair,
            held.kind,
            held.found,
            [(figure.title, *_written(found[figure.key][place].found)) for figure in figures],
        )
        for place, held in enumerate(found[primary.key])
    ]


def _written(found: Comparison) -> tuple[str, str | None]:
    if found.ratio is None:
        return UNKNOWN, None
    return number(found.ratio), interval_text(found)


def interval_text(found: Comparison) -> str | None:
    return None if found.interval is None else f"{number(found.interval.low)} to {number(found.interval.high)}"
