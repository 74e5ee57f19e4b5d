"""The page's sentences: what was found, and what to doubt."""

from collections.abc import Iterator
from typing import NamedTuple

from loomlab.answer.differences import unknown_notes
from loomlab.answer.figures import CPU, P50, P99, THROUGHPUT, WAITING, measured_figures
from loomlab.answer.loads import LoadGroup
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.answer.text import Remark, remarks
from loomlab.answer.tries import try_notes
from loomlab.basics.format import number
from loomlab.basics.grouping import grouped
from loomlab.plan.variables import MOST_REPEATS
from loomlab.records.contrasts import Kind
from loomlab.report.experiment import Experiment, verdict_counts
from loomlab.statistics.comparison import FEWEST_FINE_BLOCKS

LEAST_EFFECT = 1.01  # of a throughput that is told: whole requests in whole seconds make some intervals narrow


class Opening(NamedTuple):
    """Sentences; the answers are to what was declared beforehand, or what can be said in their place."""

    answers: list[str]
    more: list[str]


def opening_of(experiment: Experiment) -> Opening:
    answers = [comparison.sentence for comparison in experiment.comparisons(CPU) if comparison.kind == "controlled"]
    answers = answers or [*_unanswered(experiment)]
    if all(run.verdict == "invalid" for run in experiment.runs):
        answers.append("Every run is invalid, so no figure counts: see what to doubt.")
    return Opening(answers, [sentence for sentence in dict.fromkeys(_more(experiment)) if sentence not in answers])


def _unanswered(experiment: Experiment) -> Iterator[str]:
    """Each approach by itself, and why they are not compared."""
    for row in experiment.rows:
        who, cost = f"At {row.load.label} {row.approach}", row.mean(CPU)
        if cost:
            span = f"{cost.count} runs, {number(cost.lowest)} to {number(cost.highest)}"
            runs = "one run" if cost.count == 1 else span
            yield f"{who} needs {number(cost.centre)} ms of CPU per request ({runs})."
        elif not row.load.counted(row.approach):
            yield f"{who} has no figure, because each of its runs is invalid: see what to doubt."
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
    contrasts = experiment.summary.contrasts
    asked: Kind = "stack" if [contrast.kind for contrast in contrasts] == ["stack"] else "controlled"
    figures = {load.label: measured_figures(load.runs) for load in experiment.loads}
    for figure in (CPU, P99, WAITING):
        for comparison in experiment.comparisons(figure):
            if comparison.kind == asked and figure in figures[comparison.load]:
                yield comparison.sentence
    for load in experiment.loads:
        yield from _of_throughput(load, experiment, asked)
    yield from unknown_notes(contrasts)
    if len(experiment.approaches) > 1:
        yield from _of_repeats(experiment, asked)


def _of_repeats(experiment: Experiment, asked: Kind) -> Iterator[str]:
    """What would give better intervals."""
    repeats = max(run.repeat for run in experiment.runs)
    compared = [one for one in experiment.comparisons(CPU) if one.kind == asked and one.blocks]
    fewest = min((len(one.blocks) for one in compared), default=repeats)
    wanted = FEWEST_FINE_BLOCKS + repeats - fewest
    if experiment.summary.missing:
        yield f"Figures are of the runs that were made; make finish RESUME={experiment.name} makes the rest."
    elif fewest < min(repeats, FEWEST_FINE_BLOCKS) and wanted <= MOST_REPEATS:
        yield (
            f"In one comparison only {fewest} of {repeats} blocks count{'s' if fewest == 1 else ''}; REPEATS={wanted} "
            f"leaves {FEWEST_FINE_BLOCKS} even if as many are left out again."
        )
    elif repeats < FEWEST_FINE_BLOCKS:
        times = {1: "once", 2: "twice"}.get(repeats, f"{repeats} times")
        why = f"REPEATS={FEWEST_FINE_BLOCKS} gives intervals that are not coarse"
        yield f"Each approach was measured {times} per load; {why}."
    if any((one.blocks_likely or 0) > MOST_REPEATS for one in compared):
        yield (
            f"REPEATS={MOST_REPEATS} is the most; where more blocks are needed, a quieter host, a longer DURATION or a "
            "larger MARGIN makes do with fewer."
        )


def _of_throughput(load: LoadGroup, experiment: Experiment, asked: Kind) -> Iterator[str]:
    """That sentence, and the median latency's, where the interval excludes equality."""
    apart, latencies = (
        {
            (comparison.a, comparison.b): comparison
            for comparison in experiment.comparisons(figure, load.label)
            if comparison.apart and (effect := comparison.effect) and max(effect, 1 / effect) >= LEAST_EFFECT
        }
        for figure in (THROUGHPUT, P50)
    )
    for pair, throughput in apart.items():
        if throughput.kind == asked:
            yield throughput.sentence
            if pair in latencies:
                yield latencies[pair].sentence


class Doubts(NamedTuple):
    """Sentences."""

    whole: list[str]  # of all figures
    dropped: list[str]  # of blocks that do not count
    host: list[str]
    of_runs: list[Remark]
    counts: str


def doubts_of(experiment: Experiment) -> Doubts:
    runs, summary = experiment.runs, experiment.summary
    whole, cure = [*experiment.doubts], f"make finish RESUME={experiment.name} makes"
    if summary.environment.get("stand_in_images"):
        whole.insert(0, STAND_IN_NOTE)
    if missing := len(summary.missing):
        planned = missing + len(runs)
        whole.insert(0, f"The experiment is unfinished: {missing} of {planned} runs were not made; {cure} them.")
    elif summary.finished is None:
        whole.insert(0, f"The experiment was interrupted; {cure} what it lacks.")
    return Doubts(
        whole,
        [sentence for load in experiment.loads for sentence in _dropped(experiment, load)],
        try_notes(runs),
        remarks(runs),
        f"Of {len(runs)} runs, {verdict_counts(runs)}." if len(runs) > 1 else f"The run is {runs[0].verdict}.",
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
