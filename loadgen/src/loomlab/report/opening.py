"""What a report begins with: what was found, in sentences."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from loomlab.answer.figures import CPU, MEMORY, P99, THROUGHPUT, measured_figures
from loomlab.answer.parity import unknown_notes
from loomlab.answer.text import lines
from loomlab.basics.format import number
from loomlab.basics.grouping import grouped
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
    others = [one for one in compared if one.word == "not significant"]
    by_pair = grouped(others, lambda one: f"{one.figure} of {one.a} vs {one.b}")
    told = (f"{what}, {' and '.join(map(_unclear, own))}" for what, own in by_pair.items())
    unclear = f"Not significant: {'; '.join(told)}." if others else None
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
    return f"{with_interval(effect, interval)} at {comparison.load}"


def _unanswered(experiment: Experiment) -> list[str]:
    others = unknown_notes(experiment.summary.contrasts) or _floors(experiment)
    told = lines("unanswered.txt", experiment=experiment, figure=CPU, number=number, others=others)
    is_told = len(experiment.approaches) > 1 and not experiment.early
    return [*told, *(others if is_told else [])]


def _floors(experiment: Experiment) -> list[str]:
    twins = (one.sentence for one in experiment.comparisons(CPU) if one.kind == "same")
    return [f"One approach against itself, the lab's own noise floor. {sentence}" for sentence in twins]


def _more(experiment: Experiment) -> Iterator[str]:
    yield from _floors(experiment)
    hidden = (one for one in _asked(experiment) if one.effect is None or (one.swayed and one.word == "exploratory"))
    yield from (one.sentence for one in hidden)
    yield from unknown_notes(experiment.summary.contrasts)
    repeats = max(run.repeat for run in experiment.runs)
    compared = [one for one in experiment.comparisons(CPU) if one.kind == experiment.asked and one.blocks]
    if len(experiment.approaches) > 1:
        yield from lines(
            "repeats.txt",
            experiment=experiment,
            repeats=repeats,
            fewest=min((len(one.blocks) for one in compared), default=repeats),
            likely=max((one.blocks_likely or 0 for one in compared), default=0),
            enough=FEWEST_FINE_BLOCKS,
            most=MOST_REPEATS,
        )
