"""What to doubt: of the folder, of the host, of each run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from loomlab.answer.figures import measured
from loomlab.answer.loads import LoadGroup
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.answer.text import Remark, remarks
from loomlab.answer.tries import try_notes
from loomlab.basics.format import percent
from loomlab.records.models import Run
from loomlab.report.folder import Experiment
from loomlab.report.table import verdict_counts

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
    by_block: dict[tuple[str, str, str], list[str]] = {}
    for comparison in (one for figure in figures for one in experiment.comparisons(figure, load.label)):
        for block in comparison.dropped:
            by_block.setdefault((comparison.a, comparison.b, block), []).append(comparison.figure)
    alike: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (a, b, block), names in by_block.items():
        alike.setdefault((a, b, tuple(names)), []).append(block)
    for (a, b, by), dropped in alike.items():
        figure_names = "" if len(by) == len(figures) else f" by {', '.join(by)}"
        yield f"{a} and {b} at {load.label} are not compared{figure_names} in {'; '.join(dropped)}."


def _host(runs: Sequence[Run]) -> Iterator[str]:
    """With the worst run."""
    for sentence, share_of in HOST_SHARES:
        shares = [(share, run.run) for run in runs if (share := share_of(run)) is not None]
        if shares:
            share, name = max(shares, key=lambda one: one[0])
            yield sentence.format(percent(share), name)
