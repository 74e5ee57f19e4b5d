"""The tables: approaches at each load, also as CSV and Markdown, pairs of approaches, and what they ran on."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from loomlab.answer.figures import FIGURES, Figure, Spread, spread
from loomlab.answer.loads import LoadGroup
from loomlab.answer.parity import flat
from loomlab.answer.text import table_lines
from loomlab.basics.format import UNKNOWN, number, ratio_text
from loomlab.records.contrasts import Comparison
from loomlab.records.models import Run, Verdict
from loomlab.report.folder import Experiment

LEVELS: tuple[Verdict, ...] = ("valid", "suspect", "invalid")


def verdict_counts(runs: Iterable[Run]) -> str:
    """How many runs are valid, suspect and invalid, without those that none is."""
    counts = Counter(run.verdict for run in runs)
    return ", ".join(f"{counts[level]} {level}" for level in LEVELS if level in counts)


@dataclass(frozen=True)
class Row:
    """An approach at a load."""

    load: LoadGroup
    approach: str
    runs: list[Run]
    spreads: dict[str, Spread]
    """Over the runs that are not invalid, by the figure's key."""

    @property
    def worst(self) -> str:
        return max((run.verdict for run in self.runs), key=LEVELS.index)

    @property
    def verdict(self) -> str:
        """Of a single run, its own."""
        return self.worst if len(self.runs) == 1 else verdict_counts(self.runs)

    def cell(self, figure: Figure) -> tuple[str, str | None]:
        """The mean, and the lowest and the highest repeat where there are several."""
        mean = self.spreads.get(figure.key)
        if mean is None:
            return UNKNOWN, None
        return number(mean.centre), f"{number(mean.lowest)} to {number(mean.highest)}" if mean.count > 1 else None


def rows_of(experiment: Experiment) -> list[Row]:
    groups = ((load, name) for load in experiment.loads for name in experiment.approaches)
    return [
        Row(load, name, runs, {one.key: mean for one in FIGURES if (mean := spread(one, load.counted(name)))})
        for load, name in groups
        if (runs := load.of(name))
    ]


def csv_of(rows: Sequence[Row], figures: Sequence[Figure]) -> str:
    """Units are in the names; empty: not measured."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ends = [f"{figure.key}{end}" for figure in figures for end in ("", "_lowest", "_highest")]
    writer.writerow(["load", "unit", "approach", *LEVELS, *ends])
    for row in rows:
        counts = Counter(run.verdict for run in row.runs)
        means = [row.spreads.get(figure.key) for figure in figures]
        values = [value for mean in means for value in ((mean.centre, mean.lowest, mean.highest) if mean else [""] * 3)]
        verdicts = [counts[level] for level in LEVELS]
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
    return f"{centre} ({ends})" if ends else centre


def pair_rows(experiment: Experiment, figures: Sequence[Figure]) -> list[tuple[Comparison, ...]]:
    """Of each contrast at one load, its comparison by every figure."""
    return [*zip(*map(experiment.comparisons, figures), strict=True)]


def effect_cell(comparison: Comparison) -> tuple[str, str | None]:
    """The ratio or the difference, and its interval where there is one."""
    if comparison.swayed and comparison.word == "exploratory":
        return "not resolved", None
    if comparison.effect is None:
        return UNKNOWN, None
    write = ratio_text if comparison.unit is None else _signed
    ends = comparison.interval and " to ".join(map(write, comparison.interval))
    return f"{write(comparison.effect)} {comparison.unit or ''}".rstrip(), ends


def _signed(difference: float) -> str:
    return f"{'+' if difference > 0 else ''}{number(difference)}"


def abouts(experiment: Experiment) -> list[tuple[str, dict[str, Any]]]:
    """What each approach told of itself in its first run that has it, members of members by dotted names."""
    by_approach: dict[str, dict[str, Any]] = {}
    for run in experiment.runs:
        values = flat(experiment.raw_json(run, "about.json") or {})
        if about := {name: value for name, value in values.items() if value is not None}:
            by_approach.setdefault(run.approach, about)
    return sorted(by_approach.items())


def tool_commands(experiment: Experiment) -> list[tuple[str, str]]:
    """What the first run of each load told its tool."""
    processes = ((load.label, experiment.raw_json(load.runs[0], "tool.json")) for load in experiment.loads)
    return [(label, " ".join(process["command"])) for label, process in processes if process]


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
