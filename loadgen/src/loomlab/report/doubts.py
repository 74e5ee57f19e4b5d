"""What to doubt: of the folder, of the host, of each run."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from loomlab.answer.figures import measured
from loomlab.answer.loads import LoadGroup
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.answer.text import Remark, remarks
from loomlab.answer.tries import try_notes
from loomlab.basics.format import percent
from loomlab.records.models import Run
from loomlab.report.folder import Experiment
from loomlab.report.table import verdict_counts


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
