"""The table: a row for each approach at each load; and the same as CSV and Markdown."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from loomlab.answer.figures import Figure, Spread, measured, spread
from loomlab.answer.loads import LoadGroup
from loomlab.answer.text import table_lines
from loomlab.basics.format import UNKNOWN, number, percent
from loomlab.records.models import Run
from loomlab.report.folder import Experiment

LEVELS = ("valid", "suspect", "invalid")


@dataclass(frozen=True)
class Row:
    """`spreads` by the figure's key, over the runs that are not invalid; `verdicts` counts all of them."""

    at: LoadGroup
    approach: str
    spreads: dict[str, Spread]
    verdicts: Counter[str]

    @property
    def worst(self) -> str:
        return next((level for level in reversed(LEVELS) if self.verdicts[level]), LEVELS[0])

    @property
    def said(self) -> str:
        """The verdicts in words; of a single run, its own."""
        if self.verdicts.total() == 1:
            return self.worst
        return ", ".join(f"{self.verdicts[level]} {level}" for level in LEVELS if self.verdicts[level])

    def centre(self, figure: Figure) -> str:
        found = self.spreads.get(figure.key)
        return UNKNOWN if found is None else number(found.centre)

    def range_(self, figure: Figure) -> str | None:
        """From the lowest repeat to the highest; None of a single one."""
        found = self.spreads.get(figure.key)
        if found is None or found.count < 2:
            return None
        return f"{number(found.lowest)} to {number(found.highest)}"


def rows_of(experiment: Experiment) -> list[Row]:
    return [_row(at, name) for at in experiment.loads for name in experiment.approaches if at.of(name)]


def _row(at: LoadGroup, approach: str) -> Row:
    counted = at.counted(approach)
    spreads = {figure.key: found for figure in measured(counted) if (found := spread(figure, counted)) is not None}
    return Row(at, approach, spreads, Counter(run.verdict for run in at.of(approach)))


def figures_of(experiment: Experiment) -> list[Figure]:
    """The table's columns: what at least one of the runs that are compared has."""
    return measured(experiment.runs)


def csv_of(rows: Sequence[Row], figures: Sequence[Figure]) -> str:
    """Units are in the names; empty: not measured."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    bounds = [f"{figure.key}{end}" for figure in figures for end in ("", "_lowest", "_highest")]
    writer.writerow(["load", "unit", "approach", *LEVELS, *bounds])
    for row in rows:
        found = [row.spreads.get(figure.key) for figure in figures]
        values = [value for one in found for value in ((one.centre, one.lowest, one.highest) if one else ("", "", ""))]
        counts = [row.verdicts[level] for level in LEVELS]
        writer.writerow([f"{row.at.amount:g}", row.at.unit, row.approach, *counts, *values])
    return text.getvalue()


def markdown_of(rows: Sequence[Row], figures: Sequence[Figure]) -> list[str]:
    headings = ["load", "approach", *(figure.label for figure in figures), "verdict"]
    lines = []
    for row in rows:
        values = [row.centre(figure) + (f" ({found})" if (found := row.range_(figure)) else "") for figure in figures]
        lines.append([row.at.label, row.approach, *values, row.said])
    return table_lines(headings, lines, frozenset({"load", "approach", "verdict"}))


@dataclass(frozen=True)
class RunRow:
    """One run, with what its host took and where its files are; `files` is None where they are gone."""

    run: Run
    load: str
    figures: list[tuple[str, str]]
    files: str | None


def run_rows(experiment: Experiment, figures: Sequence[Figure]) -> list[RunRow]:
    loads = {run.run: at.label for at in experiment.loads for run in at.runs}
    return [
        RunRow(
            run,
            loads.get(run.run, run.load.label),
            _figures(run, figures),
            run.run if run.run in experiment.raw else None,
        )
        for run in experiment.runs
    ]


def _figures(run: Run, figures: Sequence[Figure]) -> list[tuple[str, str]]:
    stolen = (run.steal_shares or {}).get("approach")
    return [
        *((figure.label, number(figure.of(run))) for figure in figures),
        ("errors", UNKNOWN if run.errors is None else f"{run.errors:,}"),
        ("other programs' CPU, %", percent(run.foreign_cpu_share)),
        ("stolen CPU, %", percent(stolen)),
    ]
