"""What a report says in sentences: what was found, the largest first, and the caveats."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from loomlab.answer.capacity import capacity_lines
from loomlab.answer.figures import CAPACITY, CPU, MEMORY, P99, THROUGHPUT, measured_figures
from loomlab.answer.loads import SHARE_UNIT, LoadGroup, try_notes
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.answer.text import Remark, lines, remarks
from loomlab.basics.format import counted, number
from loomlab.basics.grouping import grouped
from loomlab.plan.variables import MOST_REPEATS
from loomlab.records.contrasts import Comparison
from loomlab.report.experiment import Experiment, effect_cell, verdict_counts, with_interval
from loomlab.statistics.comparison import FEWEST_FINE_BLOCKS
from loomlab.statistics.paired import why_not

LEAST_EFFECT = 1.01  # of a throughput that is found: whole requests in whole seconds make some intervals narrow


class Opening(NamedTuple):
    found: list[str]  # what differs, or is the same: what was declared first, the largest difference first
    unclear: str | None  # what was looked for and is not known, in one line
    more: list[str]  # what else must be known, and how to learn more


def opening_of(experiment: Experiment) -> Opening:
    compared = [one for one in _asked(experiment) if one.effect is not None]
    found = sorted((one for one in compared if _is_found(one)), key=_by_weight)
    others = [one for one in compared if one.word == "not significant" and one.interval]
    by_pair = grouped(others, lambda one: f"{one.figure} of {one.a} vs {one.b}")
    told = [f"{what}, {' and '.join(map(_at_load, own))}" for what, own in by_pair.items()]
    unclear = f"Not significant: {'; '.join(told)}." if others else None
    capacities = capacity_lines(experiment.runs, experiment.summary.contrasts)
    unknown = lines("unknown.txt", contrasts=experiment.summary.contrasts)
    answers = [*capacities, *(one.sentence for one in found)]
    if not (found or unclear or capacities):
        notes = unknown or _floors(experiment)
        answers = lines("unanswered.txt", experiment=experiment, cpu=CPU, memory=MEMORY, number=number, notes=notes)
    if all(run.verdict == "invalid" for run in experiment.runs):
        answers.append("Every run is invalid, so no figure counts: see the caveats.")
    more = [sentence for sentence in dict.fromkeys(_more(experiment, unknown)) if sentence not in answers]
    return Opening(answers, unclear, more)


def _at_load(comparison: Comparison) -> str:
    return f"{with_interval(*effect_cell(comparison))} at {comparison.load}{why_not(comparison)}"


def _asked(experiment: Experiment) -> Iterator[Comparison]:
    """Those that the experiment is about, by the figures of which sentences speak."""
    for figure in (CAPACITY, CPU, MEMORY, P99, THROUGHPUT):
        for load in experiment.loads:
            # At shares of their own capacities rates differ.
            if figure in measured_figures(load.runs) and (figure, load.unit) != (THROUGHPUT, SHARE_UNIT):
                yield from (one for one in experiment.comparisons(figure, load.label) if one.kind != "same")


def _is_found(comparison: Comparison) -> bool:
    """A difference or a sameness; of whole requests in whole seconds some intervals are narrow by chance."""
    if comparison.word != "exploratory":
        return comparison.word != "not significant"
    is_large = comparison.margin is not None or comparison.by_difference or _size(comparison) >= math.log(LEAST_EFFECT)
    return is_large and (comparison.apart or comparison.within_margin) and not comparison.swayed


def _by_weight(comparison: Comparison) -> tuple[bool, bool, float]:
    same = comparison.word in {"no difference", "equivalent"} or not comparison.apart
    return comparison.word == "exploratory", same, -_size(comparison)


def _size(comparison: Comparison) -> float:
    """Of the difference between the two means, as the logarithm of their ratio; infinite where one is not above 0."""
    a, b = comparison.a_mean or 0.0, comparison.b_mean or 0.0
    return abs(math.log(a / b)) if a > 0 and b > 0 else math.inf


def _floors(experiment: Experiment) -> list[str]:
    twins = (one.sentence for one in experiment.comparisons(CPU) if one.kind == "same")
    return [f"One approach against itself, the lab's own noise floor. {sentence}" for sentence in twins]


def _more(experiment: Experiment, unknown: list[str]) -> Iterator[str]:
    yield from _floors(experiment)
    silent = (one for one in _asked(experiment) if one.effect is None or (one.swayed and one.word == "exploratory"))
    yield from (*(one.sentence for one in silent), *unknown)
    if len(experiment.approaches) > 1 and not (experiment.order and experiment.order.recorded):
        repeats = max(run.repeat for run in experiment.runs)
        likely = max((one.blocks_likely or 0 for one in experiment.comparisons(CPU)), default=0)
        counts = {"repeats": repeats, "likely": likely, "enough": FEWEST_FINE_BLOCKS, "most": MOST_REPEATS}
        yield from lines("repeats.txt", experiment=experiment, **counts)


class Caveats(NamedTuple):
    whole: list[str]  # of all figures
    dropped: list[str]  # of blocks that do not count
    host: list[str]
    of_runs: list[Remark]
    counts: str


def caveats_of(experiment: Experiment) -> Caveats:
    runs, cure = experiment.runs, f"make finish RESUME={experiment.name} makes"
    planned = len(runs) + len(experiment.summary.missing)
    values = {"planned": planned, "cure": cure, "stand_in": STAND_IN_NOTE}
    return Caveats(
        [*lines("caveats.txt", runs=runs, summary=experiment.summary, **values), *experiment.doubts],
        [sentence for load in experiment.loads for sentence in _dropped(experiment, load)],
        try_notes(runs),
        remarks(runs),
        f"{counted(len(runs), 'run')}: {verdict_counts(runs)}.",
    )


def _dropped(experiment: Experiment, load: LoadGroup) -> Iterator[str]:
    """Which blocks do not count for a pair, and by which figures, where it is not by all that were measured."""
    of_load = measured_figures(load.runs)
    figures = [one for one in measured_figures(experiment.runs) if one.compared and (one.primary or one in of_load)]
    comparisons = [one for figure in figures for one in experiment.comparisons(figure, load.label)]
    blocks = [(one.a, one.b, block, one.figure) for one in comparisons for block in one.dropped]
    by_block = grouped(blocks, lambda block: block[:3])
    alike = grouped(by_block, lambda block: (*block[:2], *(figure for *_, figure in by_block[block])))
    for (a, b, *names), dropped in alike.items():
        by = "" if len(names) == len(figures) else f" by {', '.join(names)}"
        yield f"{a} and {b} at {load.label} are not compared{by} in {'; '.join(block for *_, block in dropped)}."
