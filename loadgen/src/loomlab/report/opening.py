"""What a report begins with: what was found, in sentences."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from loomlab.answer.figures import CPU, MEMORY, P99, THROUGHPUT, measured_figures
from loomlab.answer.parity import unknown_notes
from loomlab.basics.format import number
from loomlab.plan.variables import MOST_REPEATS
from loomlab.records.contrasts import Comparison
from loomlab.report.experiment import Experiment, effect_cell, with_interval
from loomlab.statistics.comparison import FEWEST_FINE_BLOCKS

LEAST_EFFECT = 1.01  # of a throughput that is found: whole requests in whole seconds make some intervals narrow


class Opening(NamedTuple):
    found: list[str]  # what differs, or is the same: what was declared first, the largest difference first
    unclear: str | None  # what was looked for and is not known, in one line
    more: list[str]  # what else must be known, and how to learn more


def opening_of(experiment: Experiment) -> Opening:
    compared = [one for one in _asked(experiment) if one.effect is not None]
    found = sorted((one for one in compared if _is_found(one)), key=_by_weight)
    declared = [one for one in compared if one.word == "not significant" or one.swayed]
    unclear = f"Not significant: {'; '.join(map(_unclear, declared))}." if declared else None
    answers = [one.sentence for one in found] or ([] if unclear else [*_unanswered(experiment)])
    if all(run.verdict == "invalid" for run in experiment.runs):
        answers.append("Every run is invalid, so no figure counts: see the caveats.")
    more = [sentence for sentence in dict.fromkeys(_more(experiment)) if sentence not in answers]
    return Opening(answers, unclear, more)


def _asked(experiment: Experiment) -> Iterator[Comparison]:
    """Those that the experiment is about, by the figures of which sentences speak."""
    for figure in (CPU, MEMORY, P99, THROUGHPUT):
        for load in experiment.loads:
            if figure in measured_figures(load.runs):
                yield from (one for one in experiment.comparisons(figure, load.label) if one.kind == experiment.asked)


def _is_found(comparison: Comparison) -> bool:
    """A difference or a sameness; of whole requests in whole seconds some intervals are narrow by chance."""
    if comparison.word != "exploratory":
        return comparison.word != "not significant"
    if comparison.swayed or not (comparison.apart or comparison.within_margin):
        return False
    return comparison.margin is not None or comparison.by_difference or _size(comparison) >= math.log(LEAST_EFFECT)


def _by_weight(comparison: Comparison) -> tuple[bool, bool, float]:
    same = comparison.word in {"no difference", "equivalent"} or not comparison.apart
    return comparison.word == "exploratory", same, -_size(comparison)


def _size(comparison: Comparison) -> float:
    """Of the difference between the two means, as the logarithm of their ratio; infinite where one is not above 0."""
    a, b = comparison.a_mean or 0.0, comparison.b_mean or 0.0
    return abs(math.log(a / b)) if a > 0 and b > 0 else math.inf


def _unclear(comparison: Comparison) -> str:
    effect, interval = effect_cell(comparison)
    return (
        f"{comparison.figure} of {comparison.a} {'−' if comparison.by_difference else '÷'} {comparison.b} at "
        f"{comparison.load} ({with_interval(effect, interval)})"
    )


def _unanswered(experiment: Experiment) -> Iterator[str]:
    for row in experiment.rows:
        who, cost = f"At {row.load.label} {row.approach}", row.mean(CPU)
        if cost:
            span = f"{cost.count} runs, {number(cost.lowest)} to {number(cost.highest)}"
            runs = "one run" if cost.count == 1 else span
            yield f"{who} needs {number(cost.centre)} ms of CPU per request ({runs})."
        elif not row.load.counted(row.approach):
            yield f"{who} has no figure, because each of its runs is invalid: see the caveats."
    if len(experiment.approaches) < 2:
        return
    if experiment.early:
        yield experiment.early
    elif not experiment.summary.contrasts:
        yield "How these approaches differ is not known: run loomlab summarise on the experiment's folder."
    else:
        yield from unknown_notes(experiment.summary.contrasts) or [
            "No two of these approaches differ in the concurrency model alone: no difference is due to it alone."
        ]


def _more(experiment: Experiment) -> Iterator[str]:
    for comparison in experiment.comparisons(CPU):
        if comparison.kind == "same":
            yield f"One approach against itself, the lab's own noise floor. {comparison.sentence}"
    for comparison in _asked(experiment):
        if comparison.effect is None:
            yield comparison.sentence
    yield from unknown_notes(experiment.summary.contrasts)
    if len(experiment.approaches) > 1:
        yield from _of_repeats(experiment)


def _of_repeats(experiment: Experiment) -> Iterator[str]:
    repeats = max(run.repeat for run in experiment.runs)
    compared = [one for one in experiment.comparisons(CPU) if one.kind == experiment.asked and one.blocks]
    fewest = min((len(one.blocks) for one in compared), default=repeats)
    wanted = FEWEST_FINE_BLOCKS + repeats - fewest
    if experiment.summary.missing:
        yield f"Figures are of the runs so far; make finish RESUME={experiment.name} runs the rest."
    elif fewest < min(repeats, FEWEST_FINE_BLOCKS) and wanted <= MOST_REPEATS:
        fact = f"In one comparison only {fewest} of {repeats} blocks count{'s' if fewest == 1 else ''}"
        yield f"{fact}; REPEATS={wanted} leaves {FEWEST_FINE_BLOCKS} even if as many are left out again."
    elif repeats < FEWEST_FINE_BLOCKS:
        times = {1: "once", 2: "twice"}.get(repeats, f"{repeats} times")
        why = f"REPEATS={FEWEST_FINE_BLOCKS} gives intervals that are not coarse"
        yield f"Each approach was measured {times} per load; {why}."
    likely = [one.blocks_likely for one in compared if one.blocks_likely]
    if likely and max(likely) > MOST_REPEATS:
        cure = "a quieter host, a longer DURATION or a larger MARGIN needs fewer"
        yield f"REPEATS={MOST_REPEATS} is the most; where more blocks are needed, {cure}."
    elif likely:
        yield f"REPEATS={max(likely)} would probably decide what is not significant."
