"""An experiment's folder, as the page is made from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from loomlab.answer.comparisons import compared
from loomlab.answer.figures import FIGURES, Figure
from loomlab.answer.loads import LoadGroup, loads_of, unmade_blocks
from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.contrasts import Comparison
from loomlab.records.files import RunFiles, checksum, read_record
from loomlab.records.models import Run, Summary
from loomlab.records.order import Order, order_of

STACKS, MOST_STACK_PAIRS = frozenset({"stack", "unknown"}), 6  # kinds of contrasts; of more, none is shown


@dataclass(frozen=True)
class Experiment:
    """What was planned, measured and summed up."""

    name: str  # of the folder
    summary: Summary
    order: Order | None
    loads: list[LoadGroup]
    raw: Mapping[str, RunFiles] = field(default_factory=dict)
    """Of the runs whose raw files are those that their figures were computed from."""
    doubts: Sequence[str] = ()  # what is wrong with the folder, in sentences

    @property
    def runs(self) -> list[Run]:
        return self.summary.runs

    @property
    def approaches(self) -> list[str]:
        """In the order of their names, which does not depend on the order that was drawn."""
        return sorted({run.approach for run in self.runs})

    @property
    def early(self) -> str | None:
        """Why no contrast is answered yet."""
        return unmade_blocks(self.order, self.runs) if self.order else None

    @cached_property
    def _comparisons(self) -> dict[str, list[Comparison]]:
        contrasts, margin = self.summary.contrasts, self.summary.margin
        return {figure.key: compared(figure, contrasts, self.loads, margin) for figure in FIGURES}

    def comparisons(self, figure: Figure, load: str | None = None, *, every: bool = False) -> list[Comparison]:
        """Those that the page shows, or every one, controlled ones first; none before all blocks are made."""
        if self.early:
            return []
        every = every or sum(contrast.kind in STACKS for contrast in self.summary.contrasts) <= MOST_STACK_PAIRS
        return [
            comparison
            for comparison in self._comparisons[figure.key]
            if load in {None, comparison.load} and (every or comparison.kind not in STACKS)
        ]


def read_experiment(folder: Path) -> Experiment:
    """The experiment; raises UsageError where there is no summary, and ParseError for a damaged one."""
    name = folder.resolve().name
    try:
        summary = read_record(folder / "summary.json", Summary)
    except ParseError as error:
        raise ParseError(f"{error} Or delete the file and run make finish, which sums the runs up again.") from error
    if summary is None or not summary.runs or not (folder / "runs").is_dir():
        raise UsageError(
            f"{folder} has no runs/, or no summary.json with runs: name a folder below results/, or run make finish "
            f"RESUME={name}."
        )
    order, doubts, raw = None, list[str](), dict[str, RunFiles]()
    try:
        order = order_of(folder)
    except ParseError:
        doubts.append("order.json is damaged or of another version: the command of the experiment is not known.")
    for run in summary.runs:
        files = RunFiles(folder / "runs" / run.run)
        if not files.raw.is_dir():
            doubts.append(
                f"{run.run} has no raw files: its course is not drawn, and its figures cannot be computed again."
            )
        elif run.raw_sha256 in {None, checksum(files.raw)}:
            raw[run.run] = files
        else:
            doubts.append(
                f"{run.run}: raw/ has changed since its figures were computed: run loomlab judge on its folder, then "
                "loomlab summarise."
            )
    return Experiment(name, summary, order, loads_of(summary.runs, order), raw, doubts)
