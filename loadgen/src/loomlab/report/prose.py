"""The page's sentences: what was found, and what to doubt."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from loomlab.answer.contrasts import unknown_notes
from loomlab.answer.figures import CPU, P50, P99, THROUGHPUT, WAITING, Figure, measured, spread
from loomlab.answer.loads import LoadGroup, counting
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.answer.text import Remark, remarks
from loomlab.answer.tries import try_notes
from loomlab.basics.format import number, percent
from loomlab.plan.variables import MOST_REPEATS
from loomlab.records.contrasts import Comparison, Kind
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import answer_ms, endpoint_of
from loomlab.records.load import Users
from loomlab.records.models import Run
from loomlab.report.folder import Experiment
from loomlab.report.table import verdict_counts
from loomlab.statistics.comparison import FEWEST_FINE_BLOCKS

NEAR_THROUGHPUT = 1.05
"""The highest mean over the lowest, up to which it is said what sets them all."""
LEAST_EFFECT = 1.01
"""Of an interval that is told in a cause's place: whole requests in whole seconds alone make some narrow ones."""
MOSTLY_DELAY = 1.25
"""The median latency over the delays, up to which it is these that requests wait for."""


@dataclass(frozen=True)
class Opening:
    """Sentences."""

    answers: list[str]
    """To what was declared beforehand, or what can be said in their place."""
    more: list[str]


def opening_of(experiment: Experiment) -> Opening:
    answers = [comparison.sentence for comparison in experiment.comparisons(CPU) if comparison.kind == "controlled"]
    answers = answers or [*_unanswered(experiment)]
    if all(run.verdict == "invalid" for run in experiment.runs):
        answers.append("Every run is invalid, so no figure counts: see what to doubt.")
    return Opening(answers, [sentence for sentence in dict.fromkeys(_more(experiment)) if sentence not in answers])


def _unanswered(experiment: Experiment) -> Iterator[str]:
    """Each approach by itself, and why they are not compared."""
    for load, name in ((load, name) for load in experiment.loads for name in experiment.approaches if load.of(name)):
        cost = spread(CPU, load.counted(name))
        if cost:
            span = f"{cost.count} runs, {number(cost.lowest)} to {number(cost.highest)}"
            runs = "one run" if cost.count == 1 else span
            yield f"At {load.label} {name} needs {number(cost.centre)} ms of CPU per request ({runs})."
        elif not load.counted(name):
            yield f"At {load.label} {name} has no figure, because each of its runs is invalid: see what to doubt."
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
    figures = {load.label: measured(load.runs) for load in experiment.loads}
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
        yield (
            f"Each approach was measured {times} per load; REPEATS={FEWEST_FINE_BLOCKS} gives intervals that are not "
            "coarse."
        )
    if any((one.blocks_likely or 0) > MOST_REPEATS for one in compared):
        yield (
            f"REPEATS={MOST_REPEATS} is the most; where more blocks are needed, a quieter host, a longer DURATION or a "
            "larger MARGIN makes do with fewer."
        )


def _of_throughput(load: LoadGroup, experiment: Experiment, asked: Kind) -> Iterator[str]:
    """Where an interval excludes equality, that sentence and the median latency's, if it differs, too; else what sets
    them all, which an offered rate does whatever the intervals are."""
    apart, latencies = (_apart(figure, load, experiment) for figure in (THROUGHPUT, P50))
    if not apart or not load.runs[0].load.closed_model:
        cause = _what_sets_throughput(load, experiment)
        if cause:
            yield cause
            return
    for pair, throughput in apart.items():
        if throughput.kind == asked:
            yield throughput.sentence
            if pair in latencies:
                yield latencies[pair].sentence


def _apart(figure: Figure, load: LoadGroup, experiment: Experiment) -> dict[tuple[str, str], Comparison]:
    """Every contrast at the load whose interval excludes equality, where the effect is not too small to be told."""
    return {
        (comparison.a, comparison.b): comparison
        for comparison in experiment.comparisons(figure, load.label, every=True)
        if comparison.apart and (effect := comparison.effect) and max(effect, 1 / effect) >= LEAST_EFFECT
    }


def _what_sets_throughput(load: LoadGroup, experiment: Experiment) -> str | None:
    """Where something else than the approaches does: how far their means are apart, which is no interval. The delays
    do, where a request takes hardly longer than they; nothing is said of users, who pause as well."""
    means = [spread(THROUGHPUT, load.counted(name)) for name in experiment.approaches if load.of(name)]
    centres = [mean.centre for mean in means if mean and mean.centre > 0]
    if len(centres) < max(2, len(means)) or max(centres) > NEAR_THROUGHPUT * min(centres):
        return None
    offered, shape = not load.runs[0].load.closed_model, load.runs[0].load.shape
    if not offered and (isinstance(shape, Users) or not all(map(_waits_for_delays, counting(load.runs)))):
        return None
    apart = math.ceil(1000 * (max(centres) / min(centres) - 1)) / 10 or 0.1
    cause = "the offered rate sets them" if offered else "mostly the delays set them"
    return f"At {load.label} mean throughputs differ by {apart:.1f} % at most: {cause}."


def _waits_for_delays(run: Run) -> bool:
    delay, p50_ms = delay_of(run.delay), run.latency_ms.p50
    delays_ms = min(answer_ms(endpoint_of(one.target, delay), delay) for one in run.load.targets)
    return p50_ms is not None and p50_ms <= MOSTLY_DELAY * delays_ms


@dataclass(frozen=True)
class Doubts:
    """Sentences."""

    whole: list[str]
    """Of all figures."""
    dropped: list[str]
    """Of blocks that do not count."""
    host: list[str]
    of_runs: list[Remark]
    counts: str


def doubts_of(experiment: Experiment) -> Doubts:
    runs = experiment.runs
    return Doubts(
        whole=[*_unfinished(experiment), *experiment.doubts],
        dropped=[sentence for load in experiment.loads for sentence in _dropped(experiment, load)],
        host=[*try_notes(runs), *_host(runs)],
        of_runs=remarks(runs),
        counts=f"Of {len(runs)} runs, {verdict_counts(runs)}." if len(runs) > 1 else f"The run is {runs[0].verdict}.",
    )


def _unfinished(experiment: Experiment) -> Iterator[str]:
    summary, cure = experiment.summary, f"make finish RESUME={experiment.name} makes"
    if missing := len(summary.missing):
        planned = missing + len(summary.runs)
        yield f"The experiment is unfinished: {missing} of {planned} runs were not made; {cure} them."
    elif summary.finished is None:
        yield f"The experiment was interrupted; {cure} what it lacks."
    if summary.environment.get("stand_in_images"):
        yield STAND_IN_NOTE


def _dropped(experiment: Experiment, load: LoadGroup) -> Iterator[str]:
    """Which blocks do not count for a pair, why, and by which figures, where it is not by all that were measured; a
    sentence for all that do not count for the same figures."""
    of_load = measured(load.runs)
    figures = [one for one in measured(experiment.runs) if one.compared and (one.primary or one in of_load)]
    by_block, alike = defaultdict[tuple[str, str, str], list[str]](list), defaultdict[tuple[str, ...], list[str]](list)
    for comparison in (one for figure in figures for one in experiment.comparisons(figure, load.label)):
        for block in comparison.dropped:
            by_block[comparison.a, comparison.b, block].append(comparison.figure)
    for (a, b, block), names in by_block.items():
        alike[a, b, *names].append(block)
    for (a, b, *names), dropped in alike.items():
        by = "" if len(names) == len(figures) else f" by {', '.join(names)}"
        yield f"{a} and {b} at {load.label} are not compared{by} in {'; '.join(dropped)}."


def _host(runs: Sequence[Run]) -> Iterator[str]:
    """CPU time that went elsewhere, with the worst run."""
    stolen = [(max(run.steal_shares.values()), run.run) for run in runs if run.steal_shares]
    foreign = [(run.foreign_cpu_share, run.run) for run in runs if run.foreign_cpu_share is not None]
    if foreign:
        share, name = max(foreign, key=itemgetter(0))
        yield f"Other programs took up to {percent(share)} % of the time of an approach's CPUs ({name})."
    if stolen:
        share, name = max(stolen, key=itemgetter(0))
        yield f"A hypervisor gave up to {percent(share)} % of the time of a part's CPUs to others ({name})."
