"""Approaches held against one another within blocks: a block has every approach once, at one load, in one repeat."""

from collections.abc import Sequence
from dataclasses import replace

from loomlab.answer.figures import SUMMED_UP, Figure
from loomlab.answer.loads import LoadGroup, load_groups
from loomlab.answer.tries import counting_try, spoilt, tries_of
from loomlab.basics.grouping import grouped
from loomlab.records.contrasts import Comparison, Contrast
from loomlab.records.models import Run
from loomlab.records.order import Order
from loomlab.statistics.comparison import FEWEST_BLOCKS, ComparedFigure, Observation, Pair
from loomlab.tools.known import tool

MEDIAN = 50


def compared(
    figure: Figure, contrasts: Sequence[Contrast], loads: Sequence[LoadGroup], margin: float | None
) -> list[Comparison]:
    """Controlled contrasts first, declared of the primary figure; others are exploratory. `margin` replaces its own."""
    from loomlab.statistics.paired import compare  # noqa: PLC0415 - most commands need no scipy, which loads slowly

    by = figure.compared
    if by is None:
        return []
    pairs = [
        Pair(one.a, one.b, load.label, one.kind, load.cell)
        for load in loads
        for one in contrasts
        if load.of(one.a) and load.of(one.b)
    ]
    pairs.sort(key=lambda pair: pair.kind != "controlled")
    declared = [pair for pair in pairs if pair.kind == "controlled" and figure.primary]
    return compare(
        by if by.margin is None else replace(by, margin=margin or by.margin),
        [_observation(figure, by, load, tries) for load in loads for tries in tries_of(load.runs)],
        declared,
        pairs[len(declared) :],
    )


def _observation(figure: Figure, by: ComparedFigure, load: LoadGroup, tries: Sequence[Run]) -> Observation:
    """Tails of closed models are lower bounds. Where failures reach a percentile, their time limit is left out."""
    run = counting_try(tries)
    torn, is_spoilt, percentile = load.torn.get(run.run), spoilt(run), by.percentile or 0
    counts, value = run.verdict != "invalid", None if torn else figure.of(run)
    left_out = None if counts else value
    if value is None and percentile and (run.errors or run.dropped) and not torn:
        left_out = 1000.0 * run.load.timeout_s
    withheld = run.latency_ms.withheld.get(f"p{percentile:g}".replace(".", "_"))
    return Observation(
        run.repeat,
        run.approach,
        load.label,
        value if counts else None,
        torn or (withheld if counts else f"run {run.run} is invalid"),
        suspect=run.verdict == "suspect",
        left_out=None if is_spoilt else left_out,
        lost=not (counts or is_spoilt or torn) and left_out is None,
        made_again=len(tries) > 1,
        resolution=tool(run.tool).resolution_ms if percentile else 0,
        lower_bound=percentile > MEDIAN and run.load.closed_model,
    )


def with_comparisons(
    contrasts: Sequence[Contrast], runs: Sequence[Run], margin: float | None = None, order: Order | None = None
) -> list[Contrast]:
    """The contrasts, compared at each load where there are three blocks or more."""
    if len({run.repeat for run in runs}) < FEWEST_BLOCKS:
        return list(contrasts)
    loads = load_groups(runs, order)
    figures = [figure for figure in SUMMED_UP if any(figure.of(run) is not None for run in runs)]
    comparisons = [one for figure in figures for one in compared(figure, contrasts, loads, margin)]
    by_pair = grouped(comparisons, lambda one: (one.a, one.b))
    return [one.model_copy(update={"comparisons": by_pair.get((one.a, one.b), [])}) for one in contrasts]
