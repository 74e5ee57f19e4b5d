"""What limits the figures of an experiment, said once."""

from collections.abc import Iterator
from typing import NamedTuple

from loomlab.answer.figures import measured_figures
from loomlab.answer.loads import LoadGroup, try_notes
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.answer.text import Remark, remarks
from loomlab.basics.grouping import grouped
from loomlab.report.experiment import Experiment, verdict_counts


class Caveats(NamedTuple):
    whole: list[str]  # of all figures
    dropped: list[str]  # of blocks that do not count
    host: list[str]
    of_runs: list[Remark]
    counts: str


def caveats_of(experiment: Experiment) -> Caveats:
    runs, summary = experiment.runs, experiment.summary
    whole, cure = [*experiment.doubts], f"make finish RESUME={experiment.name} makes"
    if summary.environment.get("stand_in_images"):
        whole.insert(0, STAND_IN_NOTE)
    if missing := len(summary.missing):
        planned = missing + len(runs)
        whole.insert(0, f"The experiment is unfinished: {missing} of {planned} runs were not made; {cure} them.")
    elif summary.finished is None:
        whole.insert(0, f"The experiment was interrupted; {cure} what it lacks.")
    return Caveats(
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
