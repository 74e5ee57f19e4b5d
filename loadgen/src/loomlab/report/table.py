"""The tables: approaches at each load, also as CSV and Markdown, and the effects of pairs of approaches."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from loomlab.answer.figures import Figure, Spread, spread
from loomlab.answer.loads import LoadGroup
from loomlab.answer.text import table_lines
from loomlab.basics.format import UNKNOWN, number, ratio_text
from loomlab.records.contrasts import Comparison
from loomlab.records.models import Run, Verdict
from loomlab.report.folder import Experiment

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


def verdict_counts(runs: Iterable[Run]) -> str:
    """How many runs are valid, suspect and invalid, without those that none is."""
    counts = Counter(run.verdict for run in runs)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)


@dataclass(frozen=True)
class Row:
    """An approach at a load."""

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
        """Of a single run, its own."""
        return self.worst if len(self.runs) == 1 else verdict_counts(self.runs)

    def mean(self, figure: Figure) -> Spread | None:
        """Over the runs that count."""
        return spread(figure, self.load.counted(self.approach))

    def cell(self, figure: Figure) -> tuple[str, str | None]:
        """The mean, and the lowest and the highest repeat where there are several."""
        mean = self.mean(figure)
        if mean is None:
            return UNKNOWN, None
        return number(mean.centre), f"{number(mean.lowest)} to {number(mean.highest)}" if mean.count > 1 else None


def rows_of(experiment: Experiment) -> list[Row]:
    """Of every approach at every load that has it."""
    return [Row(load, name) for load in experiment.loads for name in experiment.approaches if load.of(name)]


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
        writer.writerow([f"{row.load.amount:g}", row.load.unit, row.approach, *verdicts, *values])
    return text.getvalue()


def markdown_of(rows: Sequence[Row], figures: Sequence[Figure]) -> list[str]:
    """The lines of a table with the same."""
    cells = [
        [row.load.label, row.approach, *(with_interval(*row.cell(figure)) for figure in figures), row.verdict]
        for row in rows
    ]
    headings = ["load", "approach", *(figure.label for figure in figures), "verdict"]
    return table_lines(headings, cells, frozenset({"load", "approach", "verdict"}))


def with_interval(centre: str, ends: str | None) -> str:
    """As one text."""
    return f"{centre} ({ends})" if ends else centre


def effect_cell(comparison: Comparison) -> tuple[str, str | None]:
    """The ratio or the difference, and its interval where there is one."""
    if comparison.swayed and comparison.word == "exploratory":
        return "not resolved", None
    if comparison.effect is None:
        return UNKNOWN, None
    write = ratio_text if comparison.unit is None else lambda value: f"{'+' if value > 0 else ''}{number(value)}"
    ends = comparison.interval and " to ".join(map(write, comparison.interval))
    return f"{write(comparison.effect)} {comparison.unit or ''}".rstrip(), ends
