"""What to doubt: of the folder, of the host, of each run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from loomlab.answer.again import again_notes
from loomlab.answer.figures import percent, told_of
from loomlab.answer.loads import At
from loomlab.answer.summary import STAND_IN_NOTE, withheld_notes
from loomlab.records.models import Run
from loomlab.report.folder import Experiment
from loomlab.report.table import verdict_counts
from loomlab.statistics.comparison import Pair
from loomlab.statistics.sentences import left_out

HOST_SHARES: tuple[tuple[str, Callable[[Run], float | None]], ...] = (
    ("Other programs took up to {} % of the time of an approach's CPUs ({}).", lambda run: run.foreign_cpu_share),
    (
        "A hypervisor gave up to {} % of the time of a part's CPUs to others ({}).",
        lambda run: max((run.steal_shares or {}).values(), default=None),
    ),
)


@dataclass(frozen=True)
class Doubts:
    """Sentences."""

    whole: list[str]
    """Of all figures."""
    dropped: list[str]
    """Of blocks that do not count."""
    host: list[str]
    of_runs: list[tuple[str, str | None, str]]
    """Run, verdict, reason; of every run without a verdict."""
    counts: str


def doubts_of(experiment: Experiment) -> Doubts:
    runs = experiment.runs
    return Doubts(
        whole=[*_unfinished(experiment), *experiment.doubts],
        dropped=[sentence for at in experiment.loads for sentence in _dropped(experiment, at)],
        host=[*again_notes(runs), *_host(runs)],
        of_runs=[*_of_runs(runs)],
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


def _dropped(experiment: Experiment, at: At) -> Iterator[str]:
    """Which blocks do not count for a pair, why, and by which figures, where it is not by all that were measured; a
    sentence for all that do not count for the same figures."""
    here = told_of(at.runs)
    measured = [figure for figure in told_of(experiment.runs) if figure.compared and (figure.primary or figure in here)]
    by_block: dict[tuple[Pair, str], list[str]] = {}
    for found in (held.found for figure in measured for held in experiment.comparisons(figure, at.label)):
        for why in left_out(found):
            by_block.setdefault((found.pair, why), []).append(found.figure.name)
    alike: dict[tuple[Pair, tuple[str, ...]], list[str]] = {}
    for (pair, why), figures in by_block.items():
        alike.setdefault((pair, tuple(figures)), []).append(why)
    for (pair, names), reasons in alike.items():
        by = "" if len(names) == len(measured) else f" by {', '.join(names)}"
        yield f"{pair.a} and {pair.b} at {pair.load} are not compared{by} in {'; '.join(reasons)}."


def _host(runs: Sequence[Run]) -> Iterator[str]:
    """With the worst run."""
    for sentence, share_of in HOST_SHARES:
        shares = [(share, run.run) for run in runs if (share := share_of(run)) is not None]
        if shares:
            share, name = max(shares, key=lambda one: one[0])
            yield sentence.format(percent(share), name)


def _of_runs(runs: Sequence[Run]) -> Iterator[tuple[str, str | None, str]]:
    """What is said of every run once."""
    reasons = [[*run.reasons, *withheld_notes(run)] for run in runs]
    shared = [one for one in reasons[0] if all(one in others for others in reasons)] if len(runs) > 1 else []
    yield from (("every run", None, one) for one in shared)
    for run, own in zip(runs, reasons, strict=True):
        yield from ((run.run, run.verdict, one) for one in own if one not in shared)
