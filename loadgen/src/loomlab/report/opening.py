"""The sentences that the page begins with."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loomlab.answer.contrasts import unknown_notes
from loomlab.answer.figures import CPU, P50, P99, THROUGHPUT, WAITING, Figure, measured, spread
from loomlab.answer.loads import LoadGroup, counting
from loomlab.basics.errors import UsageError
from loomlab.basics.format import number
from loomlab.plan.variables import MOST_REPEATS
from loomlab.records.contrasts import Comparison, Kind
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import answer_ms, endpoint_of
from loomlab.records.load import Users
from loomlab.records.models import Run
from loomlab.report.comparisons import comparisons
from loomlab.report.folder import Experiment
from loomlab.statistics.comparison import FEWEST_FINE_BLOCKS

NEAR_THROUGHPUT = 1.05
"""The highest mean over the lowest, up to which it is said what sets them all."""
LEAST_EFFECT = 0.01
"""Of an interval that is told in a cause's place: whole requests in whole seconds alone make some narrow ones."""
MOSTLY_DELAY = 1.25
"""The median latency over the delays, up to which it is these that requests wait for."""


@dataclass(frozen=True)
class Opening:
    """`answers` are what was declared beforehand, or what can be said in its place; `more` is beside it."""

    answers: list[str]
    more: list[str]


def opening_of(experiment: Experiment) -> Opening:
    answers = [held.sentence for held in comparisons(experiment, CPU) if held.kind == "controlled"]
    if not answers:
        answers = [sentence for at in experiment.loads for sentence in _alone(at, experiment)]
        if not experiment.loads:
            answers.append("No run of this folder is compared: see what to doubt.")
        elif len(experiment.approaches) > 1:
            answers += [experiment.early] if experiment.early else _uncontrolled(experiment)
    if experiment.runs and all(run.verdict == "invalid" for run in experiment.runs):
        answers.append("Every run is invalid, so no figure counts: see what to doubt.")
    return Opening(answers, list(dict.fromkeys(one for one in _more(experiment) if one not in answers)))


def _uncontrolled(experiment: Experiment) -> list[str]:
    """Why no sentence is of the model."""
    contrasts = experiment.summary.contrasts
    if not contrasts:
        return [
            "How these approaches differ is not known, because summary.json does not say; run loomlab summarise on the "
            "experiment's folder."
        ]
    return unknown_notes(contrasts) or [
        "No two of these approaches differ in the concurrency model alone: no difference is due to it alone."
    ]


def _one_stack(experiment: Experiment) -> bool:
    """Whether there is one contrast, and it is of stacks: what was asked for, though nothing of it is the model's."""
    return [one.kind for one in experiment.summary.contrasts] == ["stack"]


def _more(experiment: Experiment) -> Iterator[str]:
    floor = [held.sentence for held in comparisons(experiment, CPU) if held.kind == "same"]
    yield from (f"One approach against itself, the lab's own noise floor. {sentence}" for sentence in floor)
    kind: Kind = "stack" if _one_stack(experiment) else "controlled"
    known = {at.label: measured(at.runs) for at in experiment.loads}
    for figure in (CPU, P99, WAITING):
        found = [held for held in comparisons(experiment, figure) if held.kind == kind]
        yield from (held.sentence for held in found if figure in known[held.load])
    for at in experiment.loads:
        yield from _told_of_throughput(at, experiment, kind)
    yield from unknown_notes(experiment.summary.contrasts)
    if len(experiment.approaches) > 1:
        yield from _repeats(experiment, kind)


def _repeats(experiment: Experiment, kind: Kind) -> Iterator[str]:
    """What would give better intervals."""
    most = MOST_REPEATS
    repeats = max((run.repeat for at in experiment.loads for run in at.runs), default=FEWEST_FINE_BLOCKS)
    found = [held for held in comparisons(experiment, CPU) if held.kind == kind and held.blocks]
    fewest = min((len(one.blocks) for one in found), default=repeats)
    if experiment.summary.missing:
        yield f"Figures are of the runs that were made; make finish RESUME={experiment.name} makes the rest."
    elif fewest < min(repeats, FEWEST_FINE_BLOCKS):
        wanted = FEWEST_FINE_BLOCKS + repeats - fewest
        cure = (
            f"REPEATS={wanted} leaves {FEWEST_FINE_BLOCKS} even if as many are left out again."
            if wanted <= most
            else f"REPEATS={most} is the most, so first remedy what spoilt the others: see what to doubt."
        )
        yield f"In one comparison only {fewest} of {repeats} blocks count{'s' if fewest == 1 else ''}; {cure}"
    elif repeats < FEWEST_FINE_BLOCKS:
        yield (
            f"Each approach was measured {_times(repeats)} per load; REPEATS={FEWEST_FINE_BLOCKS} gives intervals "
            "that are not coarse."
        )
    if any((one.blocks_likely or 0) > most for one in found):
        yield (
            f"REPEATS={most} is the most; where more blocks are needed, a quieter host, a longer DURATION or a larger "
            "MARGIN makes do with fewer."
        )


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _told_of_throughput(at: LoadGroup, experiment: Experiment, kind: Kind) -> Iterator[str]:
    """Where an interval excludes equality, that sentence and the median latency's, if it differs, too; else what sets
    them all, which an offered rate does whatever the intervals are."""
    apart, latencies = (_apart(figure, at, experiment) for figure in (THROUGHPUT, P50))
    offered = not all(run.load.closed_model for run in at.runs)
    cause = _sets_throughput(at, experiment) if offered or not apart else None
    if cause:
        yield cause
        return
    for pair, held in apart.items():
        if held.kind == kind:
            yield held.sentence
            if pair in latencies:
                yield latencies[pair].sentence


def _apart(figure: Figure, at: LoadGroup, experiment: Experiment) -> dict[tuple[str, str], Comparison]:
    """Of every contrast whose interval excludes equality, where the effect is not too small to be told."""
    return {
        (held.a, held.b): held
        for held in comparisons(experiment, figure, math.inf)
        if held.load == at.label and held.apart and _tells(held.effect)
    }


def _tells(ratio: float | None) -> bool:
    return ratio is not None and max(ratio, 1 / ratio) >= 1 + LEAST_EFFECT


def _sets_throughput(at: LoadGroup, experiment: Experiment) -> str | None:
    """Where something else than the approaches sets it: how far their means are apart, which is no interval."""
    found = [spread(THROUGHPUT, at.counted(name)) for name in experiment.approaches if at.of(name)]
    centres = [one.centre for one in found if one is not None and one.centre > 0]
    cause = _cause(counting(at.runs))
    if cause is None or len(centres) < max(2, len(found)) or max(centres) > NEAR_THROUGHPUT * min(centres):
        return None
    apart = math.ceil(1000 * (max(centres) / min(centres) - 1)) / 10 or 0.1
    return f"At {at.label} mean throughputs differ by {apart:.1f} % at most: {cause}."


def _cause(runs: Sequence[Run]) -> str | None:
    """The delays, where a request takes hardly longer than they do; nothing is said of users, who pause as well."""
    if any(isinstance(run.load.shape, Users) for run in runs):
        return None
    if not all(run.load.closed_model for run in runs):
        return "the offered rate sets them"
    waits = all(run.latency_ms.p50 and run.latency_ms.p50 <= MOSTLY_DELAY * _delays_ms(run) for run in runs)
    return "mostly the delays set them" if waits else None


def _delays_ms(run: Run) -> float:
    """Of one request; 0 where that is not told."""
    try:
        delay = delay_of(run.delay)
    except UsageError:
        return 0
    return min((answer_ms(endpoint_of(one.target, delay), delay) for one in run.load.targets), default=0)


def _alone(at: LoadGroup, experiment: Experiment) -> Iterator[str]:
    for name in experiment.approaches:
        found = spread(CPU, at.counted(name))
        if found is not None:
            runs = "one run" if found.count == 1 else f"{found.count} runs"
            span = "" if found.count == 1 else f", {number(found.lowest)} to {number(found.highest)}"
            yield f"At {at.label} {name} needs {number(found.centre)} ms of CPU per request ({runs}{span})."
        elif at.of(name) and not at.counted(name):
            yield f"At {at.label} {name} has no figure, because each of its runs is invalid: see what to doubt."
