"""An experiment, as the page is made from its folder, and its tables, also as CSV and Markdown."""

import csv
import io
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, get_args

from loomlab.answer.comparisons import compared
from loomlab.answer.figures import FIGURES, Figure, Spread, measured_figures, spread
from loomlab.answer.loads import LoadGroup, load_groups, unmade_blocks
from loomlab.answer.text import table_lines
from loomlab.basics.errors import ParseError, UsageError
from loomlab.basics.format import UNKNOWN, number, plain, signed
from loomlab.basics.grouping import grouped
from loomlab.plan.planning import command_of
from loomlab.records.contrasts import Comparison, Kind
from loomlab.records.files import RunFiles, check_links, checksum, read_record
from loomlab.records.models import Run, Summary, Verdict
from loomlab.records.order import Order, order_of

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


def verdict_counts(runs: Iterable[Run]) -> str:
    counts = Counter(run.verdict for run in runs)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)


@dataclass(frozen=True)
class Row:
    load: LoadGroup
    approach: str

    @property
    def runs(self) -> list[Run]:
        return self.load.of(self.approach)

    @property
    def worst(self) -> str:
        return max((run.verdict for run in self.runs), key=VERDICTS.index)

    @property
    def verdict(self) -> str:
        return verdict_counts(self.runs)

    def mean(self, figure: Figure) -> Spread | None:
        return spread(figure, self.load.counted(self.approach))

    def cell(self, figure: Figure) -> tuple[str, str | None]:
        """The mean, and the lowest and the highest repeat where there are several."""
        mean = self.mean(figure)
        if mean is None:
            return UNKNOWN, None
        lowest, highest = number(mean.lowest), number(mean.highest)
        return number(mean.centre), f"{lowest} to {highest}" if lowest != highest else None


@dataclass(frozen=True)
class Experiment:
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
    def rows(self) -> list[Row]:
        return [Row(load, name) for load in self.loads for name in self.approaches if load.of(name)]

    @property
    def asked(self) -> Kind:
        kinds = [contrast.kind for contrast in self.summary.contrasts if contrast.kind != "same"]
        return "settings" if "settings" in kinds else "stack" if kinds == ["stack"] else "controlled"

    @property
    def early(self) -> str | None:
        return unmade_blocks(self.order, self.runs)

    @cached_property
    def _comparisons(self) -> dict[str, list[Comparison]]:
        contrasts, margin = self.summary.contrasts, self.summary.margin
        return {figure.key: compared(figure, contrasts, self.loads, margin) for figure in FIGURES}

    def comparisons(self, figure: Figure, load: str | None = None) -> list[Comparison]:
        """Those that the experiment is about, and of twins; none before all blocks are made, or of recorded runs."""
        recorded = self.order is not None and self.order.recorded
        kinds = set() if self.early or recorded else {self.asked, "same"}
        return [one for one in self._comparisons[figure.key] if one.kind in kinds and load in {None, one.load}]


def read_experiment(folder: Path) -> Experiment:
    """The experiment; raises UsageError where there is no summary or as `check_links`, ParseError for a damaged one."""
    check_links(folder)
    name = folder.resolve().name
    try:
        summary = read_record(folder / "summary.json", Summary)
    except ParseError as error:
        raise ParseError(f"{error} Or delete the file and run make finish, which sums the runs up again.") from error
    if summary is None or not summary.runs or not (folder / "runs").is_dir():
        fact = f"{folder} has no runs/, or no summary.json with runs: name a folder below results/, or"
        raise UsageError(f"{fact} run make finish RESUME={name}.")
    order, doubts, raw = order_of(folder), list[str](), dict[str, RunFiles]()
    for run in summary.runs:
        files = RunFiles(folder / "runs" / run.run)
        if not files.raw.is_dir():
            fact = f"{run.run} has no raw files: its course is not drawn"
            doubts.append(f"{fact}, and its figures cannot be computed again.")
        elif run.raw_sha256 in {None, checksum(files.raw)}:
            raw[run.run] = files
        else:
            fact = f"{run.run}: raw/ has changed since its figures were computed"
            doubts.append(f"{fact}: run loomlab judge on its folder, then loomlab summarise.")
    return Experiment(name, summary, order, load_groups(summary.runs, order), raw, doubts)


def csv_of(rows: Sequence[Row], figures: Sequence[Figure]) -> str:
    """Units are in the names; empty: not measured."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ends = [f"{figure.key}{end}" for figure in figures for end in ("", "_lowest", "_highest")]
    writer.writerow(["load", "unit", "approach", *VERDICTS, *ends])
    for row in rows:
        counts = Counter(run.verdict for run in row.runs)
        verdicts = [counts[verdict] for verdict in VERDICTS]
        means = map(row.mean, figures)
        values = [value for mean in means for value in ((mean.centre, mean.lowest, mean.highest) if mean else [""] * 3)]
        name = plain(row.approach)
        # No formula of a spreadsheet, some of which take wide signs for usual ones.
        name = f"'{name}" if unicodedata.normalize("NFKC", name).lstrip()[:1] in {*"=+-@"} else name
        writer.writerow([f"{row.load.amount:g}", row.load.unit, name, *verdicts, *values])
    return text.getvalue()


def table_of(rows: Sequence[Row], figures: Sequence[Figure]) -> list[str]:
    headings = ["load", "approach", *(figure.label for figure in figures), "verdict"]
    return table_lines(headings, [_cells(row, figures) for row in rows], frozenset({"load", "approach", "verdict"}))


def _cells(row: Row, figures: Sequence[Figure], *names: str) -> list[str]:
    return [row.load.label, row.approach, *names, *(with_interval(*row.cell(one)) for one in figures), row.verdict]


def beside(one: Experiment, other: Experiment) -> list[str]:
    """Both in one table, with what makes them no comparison first."""
    both = sorted((one, other), key=lambda each: each.summary.started or "")
    figures = measured_figures([*one.runs, *other.runs])
    told = [
        f"{each.name}, started {each.summary.started}: {command_of(each.order) if each.order else UNKNOWN}"
        for each in both
    ]
    rows = [(each, row) for each in both for row in each.rows]
    rows.sort(key=lambda pair: (pair[1].load.unit, pair[1].load.amount, pair[1].approach))
    cells = [_cells(row, figures, each.name) for each, row in rows]
    left = frozenset({"load", "approach", "experiment", "verdict"})
    headings = ["load", "approach", "experiment", *(figure.label for figure in figures), "verdict"]
    doubt = "Two experiments of different times: hosts drift, so what differs may be the day. make compare would tell."
    return [doubt, "", *told, "", *table_lines(headings, cells, left)]


def with_interval(centre: str, ends: str | None) -> str:
    return f"{centre} ({ends})" if ends else centre


def effect_cell(comparison: Comparison) -> tuple[str, str | None]:
    """By how much a's figure is above b's, in percent or in its unit, and the interval where there is one."""
    if comparison.swayed and comparison.word == "exploratory":
        return "not known", None
    if comparison.effect is None:
        return UNKNOWN, None
    every = (comparison.effect, *(comparison.interval or ()))
    centre, *ends = (signed(each if comparison.by_difference else 100 * (each - 1)) for each in every)
    return f"{centre} {comparison.unit if comparison.by_difference else '%'}", " to ".join(ends) or None


class Group(NamedTuple):
    """Two approaches at one load, and how they differ by each figure; or those that are compared with none."""

    load: LoadGroup
    rows: list[Row]
    effects: list[Comparison | None]


def groups_of(experiment: Experiment, figures: Sequence[Figure]) -> list[Group]:
    groups = []
    for load in experiment.loads:
        rows = [row for row in experiment.rows if row.load is load]
        every = [(figure.key, one) for figure in figures for one in experiment.comparisons(figure, load.label)]
        pairs = grouped(every, lambda each: (each[1].a, each[1].b))
        for pair, own in pairs.items():
            effects = [dict(own).get(figure.key) for figure in figures]
            groups.append(Group(load, [row for row in rows if row.approach in pair], effects))
        if alone := [row for row in rows if not any(row.approach in pair for pair in pairs)]:
            groups.append(Group(load, alone, []))
    return groups
