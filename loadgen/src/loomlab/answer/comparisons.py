"""What differs between approaches, by how much, and how sure that is: within blocks of one repeat at one load."""

import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import fmean, variance

from loomlab.answer.figures import CAPACITY, SUMMED_UP, Figure
from loomlab.answer.loads import SHARE_UNIT, LoadGroup, counting, counting_try, load_groups, spoilt, tries_of
from loomlab.basics.errors import ParseError
from loomlab.basics.format import percent
from loomlab.basics.grouping import grouped
from loomlab.records.contrasts import Comparison, Contrast
from loomlab.records.files import read_record
from loomlab.records.models import Run, Summary
from loomlab.records.order import Order
from loomlab.run.staircase import STEP
from loomlab.statistics.comparison import CPU_PER_REQUEST, FEWEST_BLOCKS, ComparedFigure, Observation, Pair
from loomlab.statistics.paired import compare
from loomlab.statistics.student import estimates
from loomlab.tools.known import tool

MEDIAN = 50
DECLARED = {"controlled", "settings"}
SHIFT_LIMIT = 0.04  # from the first half of the slices to the second: it moves the block's ratio by half of that
MOST_VARIANCE = 1  # of log ratios: a deviation of e between blocks is no measurement
MOST_SWEEPS = 10  # the newest, that tell what the host shows


def compared(
    figure: Figure, contrasts: Sequence[Contrast], loads: Sequence[LoadGroup], margin: float | None = None
) -> list[Comparison]:
    """Controlled contrasts and those of settings first, declared of primary figures; others are exploratory. `margin`
    replaces its own."""
    by = figure.compared
    if by is None:
        return []
    # What is measured once of a process is known at its capacity alone.
    loads = [load for load in loads if load.unit != SHARE_UNIT or any(figure.of(run) is not None for run in load.runs)]
    pairs = [
        Pair(one.a, one.b, load.label, one.kind, load.cell)
        for load in loads
        for one in contrasts
        if one.a != one.b and load.of(one.a) and load.of(one.b)
    ]
    pairs.sort(key=lambda pair: pair.kind not in DECLARED)
    declared = [pair for pair in pairs if pair.kind in DECLARED and figure.primary]
    return compare(
        by if by.margin is None else replace(by, margin=margin or by.margin),
        [_observation(figure, by, load, tries) for load in loads for tries in tries_of(load.runs)],
        declared,
        pairs[len(declared) :],
    )


def _observation(figure: Figure, by: ComparedFigure, load: LoadGroup, tries: Sequence[Run]) -> Observation:
    """Tails of closed models are lower bounds. Where failures reach a percentile, their time limit is left out. Of
    searches, those that end with a lower bound are left out; those that find nothing are lost."""
    run = counting_try(tries)
    torn, is_spoilt, percentile = load.torn.get(run.run), spoilt(run), by.percentile or 0
    counts, value = run.verdict != "invalid", None if torn else figure.of(run)
    left_out = None if counts else value
    if value is None and percentile and (run.errors or run.dropped) and not torn:
        left_out = 1000.0 * run.load.timeout_s
    why, found_nothing = torn, figure is CAPACITY and value is None
    if figure is CAPACITY and counts and value is not None and run.capacity and run.capacity.at_least:
        why, left_out, value = f"run {run.run} holds at least {value:,.0f} requests/s", value, None
    withheld = run.latency_ms.withheld.get(f"p{percentile:g}".replace(".", "_"))
    resolution = tool(run.tool).resolution_ms if percentile else 0
    return Observation(
        run.repeat,
        run.approach,
        load.label,
        value if counts else None,
        why or (withheld if counts else f"run {run.run} is invalid"),
        suspect=run.verdict == "suspect",
        left_out=None if is_spoilt else left_out,
        lost=(found_nothing or not counts) and not (is_spoilt or torn) and left_out is None,
        made_again=len(tries) > 1,
        resolution=(STEP - 1) * (value or 0) if figure is CAPACITY else resolution,
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


def shift_doubts(runs: Sequence[Run]) -> dict[str, str]:
    """A sentence for each run of a pair whose ratio moved by more than that, beyond chance at 95 %, by its name."""
    doubts: dict[str, str] = {}
    known = [run for run in counting(runs) if run.partner and run.ratio_shift is not None]
    for (_, a, b), own in grouped(known, lambda run: (run.cell, *run.pair)).items():
        shifts = [run.ratio_shift for run in own if run.approach == a and run.ratio_shift is not None]
        if len(shifts) < FEWEST_BLOCKS:
            continue
        found = estimates(shifts)
        mean, half = float(found.mean), float(found.half_width)
        if abs(mean) > max(half, SHIFT_LIMIT):
            low, high = (percent(math.expm1(mean + end)) for end in (-half, half))
            over = f"95 % interval {low} to {high}, {len(shifts)} blocks; the limit is {percent(SHIFT_LIMIT)}"
            text = (
                f"CPU per request of {a} ÷ {b}'s changed by {percent(math.expm1(mean))} from the first half of the "
                f"slices to the second ({over}): one of them was probably not warm yet; use a longer DURATION, or "
                "DESIGN=alone."
            )
            doubts |= {run.run: text for run in own}
    return doubts


def block_deviation(results: Path, cpu_model: object) -> float | None:
    """The standard deviation of a block's log ratio in earlier sweeps in slices on such CPUs; None without one."""
    found: list[float] = []
    for path in sorted(results.glob("*-*/summary.json"), reverse=True):
        # A stranger's, in which effects may be below 0, or of another version.
        with suppress(OSError, ParseError, ValueError), warnings.catch_warnings(action="ignore"):
            summary = read_record(path, Summary)
            if summary and summary.environment.get("cpu_model") == cpu_model:
                spreads = [
                    variance(math.log(block.effect) for block in one.blocks)
                    for contrast in summary.contrasts
                    for one in contrast.comparisons
                    if one.figure == CPU_PER_REQUEST.name and len(one.blocks) >= FEWEST_BLOCKS
                    if any(run.partner for run in summary.runs)
                ]
                found += [spread for spread in spreads if spread < MOST_VARIANCE]
        if len(found) >= MOST_SWEEPS:
            break
    return math.sqrt(fmean(found)) if found else None
