"""Approaches held against one another within blocks: a block has every approach once, at one load, in one repeat."""

from collections.abc import Sequence
from dataclasses import dataclass

from loomlab.records.contrasts import Contrast
from loomlab.records.models import Run
from loomlab.report.figures import UNKNOWN, Figure, number
from loomlab.report.folder import Experiment
from loomlab.report.loads import COUNTED, At
from loomlab.statistics.comparison import Comparison, Observation, Pair
from loomlab.statistics.paired import compare
from loomlab.statistics.sentences import left_out, sentence

USUAL = {"virtual-threads": 0, "platform-threads": 2}
MOST_STACK_PAIRS = 6
"""Of more, only the controlled contrasts are compared."""


@dataclass(frozen=True)
class Held:
    """`kind` is the contrast's."""

    kind: str
    found: Comparison

    @property
    def sentence(self) -> str:
        return sentence(self.found)

    @property
    def dropped(self) -> list[str]:
        pair = self.found.pair
        return [f"{pair.a} and {pair.b} at {pair.load} are not compared in {why}." for why in left_out(self.found)]


def comparisons(experiment: Experiment, figure: Figure) -> list[Held]:
    """Controlled contrasts first, then those of stacks, each at every load that has both approaches. Of the primary
    figure, the controlled ones were declared beforehand; all else is exploratory."""
    if figure.compared is None:
        return []
    contrasts = experiment.summary.contrasts
    controlled = _pairs(experiment, [one for one in contrasts if one.kind == "controlled"])
    others = [one for one in contrasts if one.kind != "controlled"]
    stacks = _pairs(experiment, others) if len(others) <= MOST_STACK_PAIRS else []
    declared, exploratory = (controlled, stacks) if figure.primary else ([], [*controlled, *stacks])
    observed = [one for at in experiment.loads for one in observations(figure, at)]
    found = compare(figure.compared, observed, declared, exploratory)
    return [Held("controlled" if place < len(controlled) else "stack", one) for place, one in enumerate(found)]


def observations(figure: Figure, at: At) -> list[Observation]:
    """The last run of an approach in a block, where one was made again."""
    last = {(run.repeat, run.approach): run for run in at.runs}
    return [_observation(figure, at, run) for run in last.values()]


def _observation(figure: Figure, at: At, run: Run) -> Observation:
    if run.verdict not in COUNTED:
        return Observation(run.repeat, run.approach, at.label, None, f"run {run.run} is {run.verdict}")
    return Observation(run.repeat, run.approach, at.label, figure.of(run))


def _pairs(experiment: Experiment, contrasts: list[Contrast]) -> list[Pair]:
    named = [_turned(contrast) for contrast in contrasts]
    return [Pair(a, b, at.label) for at in experiment.loads for a, b in sorted(named) if at.of(a) and at.of(b)]


def _turned(contrast: Contrast) -> tuple[str, str]:
    """What is asked about over what is usual: virtual threads over anything else, anything over platform threads."""
    models = next(((one.a, one.b) for one in contrast.differs if one.part == "concurrency"), ("", ""))
    sides = sorted(zip(models, (contrast.a, contrast.b), strict=True), key=lambda one: (USUAL.get(one[0], 1), one[1]))
    return sides[0][1], sides[1][1]


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
