"""What to doubt: of the folder, of the host, of each run."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from loomlab.answer.figures import measured
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.answer.text import Remark, remarks
from loomlab.answer.tries import try_notes
from loomlab.basics.format import percent
from loomlab.records.contrasts import Comparison
from loomlab.records.models import Run
from loomlab.report.comparisons import comparisons
from loomlab.report.folder import Experiment


@dataclass(frozen=True)
class Doubts:
    """`whole` concerns all figures."""

    whole: list[str]
    dropped: list[str]
    host: list[str]
    of_runs: list[Remark]
    counts: str


def doubts_of(experiment: Experiment) -> Doubts:
    return Doubts(
        whole=list(_whole(experiment)),
        dropped=dropped_blocks(experiment),
        host=[*try_notes(experiment.runs), *_host(experiment.runs)],
        of_runs=remarks(experiment.runs),
        counts=_counts(experiment.runs),
    )


def dropped_blocks(experiment: Experiment) -> list[str]:
    """Which blocks do not count for a pair, why, and by which figures, where it is not by all that were measured."""
    told = [figure for figure in measured(experiment.runs) if figure.compared is not None]
    found = {figure.key: comparisons(experiment, figure) for figure in told}
    lines: list[str] = []
    for at in experiment.loads:
        here = measured(at.runs)
        lines += _dropped(
            [
                [one for one in found[figure.key] if one.load == at.label]
                for figure in told
                if figure.primary or figure in here
            ]
        )
    return lines


def _dropped(by_figure: list[list[Comparison]]) -> Iterator[str]:
    """At one load; a sentence for all blocks that do not count for the same figures."""
    by_block: dict[tuple[str, str], list[str]] = {}
    for one in itertools.chain.from_iterable(by_figure):
        for why in one.dropped:
            by_block.setdefault((f"{one.a} and {one.b} at {one.load}", why), []).append(one.figure)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (pair, why), names in by_block.items():
        alike.setdefault((pair, tuple(names)), []).append(why)
    for (pair, figures), reasons in alike.items():
        by = "" if len(figures) == len(by_figure) else f" by {', '.join(figures)}"
        yield f"{pair} are not compared{by} in {'; '.join(reasons)}."


def _whole(experiment: Experiment) -> Iterator[str]:
    summary = experiment.summary
    if summary.missing or summary.finished is None:
        planned = len(summary.missing) + len(summary.runs)
        cure = f"make finish RESUME={experiment.name} makes"
        if summary.missing:
            yield f"The experiment is unfinished: {len(summary.missing)} of {planned} runs were not made; {cure} them."
        else:
            yield f"The experiment was interrupted; {cure} what it lacks."
    if summary.environment.get("stand_in_images"):
        yield STAND_IN_NOTE
    yield from experiment.doubts


def _host(runs: list[Run]) -> Iterator[str]:
    worst = _worst(runs, lambda run: run.foreign_cpu_share)
    if worst is not None:
        run, share = worst
        yield f"Other programs took up to {percent(share)} % of the time of an approach's CPUs ({run.run})."
    worst = _worst(runs, lambda run: max((run.steal_shares or {}).values(), default=None))
    if worst is not None:
        run, share = worst
        yield f"A hypervisor gave up to {percent(share)} % of the time of a part's CPUs to others ({run.run})."


def _worst(runs: list[Run], share_of: Callable[[Run], float | None]) -> tuple[Run, float] | None:
    shares = [(run, share) for run in runs if (share := share_of(run)) is not None]
    return max(shares, key=lambda one: one[1], default=None)


def _counts(runs: list[Run]) -> str:
    counts = [(sum(run.verdict == level for run in runs), level) for level in ("valid", "suspect", "invalid")]
    told = [f"{count} {level}" for count, level in counts if count]
    return f"Of {len(runs)} runs, {', '.join(told)}." if len(runs) > 1 else f"The run is {runs[0].verdict}."
