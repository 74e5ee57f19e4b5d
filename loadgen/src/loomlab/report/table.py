"""The tables: approaches at each load, also as CSV and Markdown, pairs of approaches, and what they ran on."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from loomlab.answer.comparisons import Held
from loomlab.answer.figures import UNKNOWN, Figure, Spread, number, ratio_text, spread, told_of
from loomlab.answer.loads import At
from loomlab.answer.parity import flat
from loomlab.answer.summary import table_cell
from loomlab.records.models import Run
from loomlab.report.folder import Experiment
from loomlab.statistics.comparison import Comparison

LEVELS = ("valid", "suspect", "invalid")


def verdict_counts(runs: Iterable[Run]) -> str:
    """How many runs are valid, suspect and invalid, without those that none is."""
    counts = Counter(run.verdict for run in runs)
    return ", ".join(f"{counts[level]} {level}" for level in LEVELS if level in counts)


@dataclass(frozen=True)
class Row:
    """An approach at a load."""

    at: At
    approach: str
    spreads: dict[str, Spread]
    """Over the runs that are not invalid, by the figure's key."""

    @property
    def runs(self) -> list[Run]:
        return self.at.of(self.approach)

    @property
    def worst(self) -> str:
        return max((run.verdict for run in self.runs), key=LEVELS.index)

    @property
    def verdict(self) -> str:
        """Of a single run, its own."""
        return self.worst if len(self.runs) == 1 else verdict_counts(self.runs)

    def centre(self, figure: Figure) -> str:
        return number(self.spreads[figure.key].centre) if figure.key in self.spreads else UNKNOWN

    def range_(self, figure: Figure) -> str | None:
        """From the lowest repeat to the highest; None of a single one."""
        found = self.spreads.get(figure.key)
        return f"{number(found.lowest)} to {number(found.highest)}" if found and found.count > 1 else None


def rows_of(experiment: Experiment) -> list[Row]:
    return [_row(at, name) for at in experiment.loads for name in experiment.approaches if at.of(name)]


def _row(at: At, approach: str) -> Row:
    runs = at.counted(approach)
    return Row(at, approach, {figure.key: mean for figure in told_of(runs) if (mean := spread(figure, runs))})


def csv_of(rows: Sequence[Row], figures: Sequence[Figure]) -> str:
    """Units are in the names; empty: not measured."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ends = [f"{figure.key}{end}" for figure in figures for end in ("", "_lowest", "_highest")]
    writer.writerow(["load", "unit", "approach", *LEVELS, *ends])
    for row in rows:
        verdicts = [run.verdict for run in row.runs]
        values: list[float | str] = []
        for figure in figures:
            mean = row.spreads.get(figure.key)
            values += (mean.centre, mean.lowest, mean.highest) if mean else ("", "", "")
        writer.writerow([f"{row.at.amount:g}", row.at.unit, row.approach, *map(verdicts.count, LEVELS), *values])
    return text.getvalue()


def markdown_of(rows: Sequence[Row], figures: Sequence[Figure]) -> list[str]:
    lines = ["| " + " | ".join(["load", "approach", *(figure.label for figure in figures), "verdict"]) + " |"]
    lines.append("|:--|:--|" + "--:|" * len(figures) + ":--|")
    for row in rows:
        values = [row.centre(figure) + (f" ({ends})" if (ends := row.range_(figure)) else "") for figure in figures]
        lines.append("| " + " | ".join(map(table_cell, [row.at.label, row.approach, *values, row.verdict])) + " |")
    return lines


def pair_rows(experiment: Experiment, figures: Sequence[Figure]) -> list[tuple[Held, ...]]:
    """Of each contrast at one load, its comparison by every figure."""
    return [*zip(*map(experiment.comparisons, figures), strict=True)]


def effect_cell(found: Comparison) -> tuple[str, str | None]:
    """The ratio or the difference, and its interval where there is one."""
    if found.swayed and found.word == "exploratory":
        return "not resolved", None
    if found.effect is None:
        return UNKNOWN, None
    effect = f"{_written(found, found.effect)} {found.figure.unit or ''}".rstrip()
    return effect, found.interval and " to ".join(
        _written(found, end) for end in (found.interval.low, found.interval.high)
    )


def _written(found: Comparison, effect: float) -> str:
    """A difference says whether it is more, a ratio on which side of 1 it is."""
    return ratio_text(effect) if found.figure.unit is None else f"{'+' if effect > 0 else ''}{number(effect)}"


def abouts(experiment: Experiment) -> list[tuple[str, dict[str, Any]]]:
    """What each approach told of itself in its first run that has it, members of members by dotted names."""
    found: dict[str, dict[str, Any]] = {}
    for run in experiment.runs:
        told = flat(experiment.raw_json(run, "about.json") or {})
        if about := {name: value for name, value in told.items() if value is not None}:
            found.setdefault(run.approach, about)
    return sorted(found.items())


def tool_commands(experiment: Experiment) -> list[tuple[str, str]]:
    """What the first run of each load told its tool."""
    processes = ((at.label, experiment.raw_json(at.runs[0], "tool.json")) for at in experiment.loads)
    return [(load, " ".join(process["command"])) for load, process in processes if process]


def plain(value: Any, key: str = "") -> str:
    """A recorded value as text."""
    if key.endswith("_bytes") and isinstance(value, int | float):
        return f"{value / 2**30:.1f} GiB" if value >= 2**30 else f"{value / 2**20:.0f} MiB"
    match value:
        case None:
            return "not recorded"
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{name} {plain(one)}" for name, one in value.items()) or "none"
        case list():
            return ", ".join(map(plain, value)) or "none"
        case _:
            return str(value)
