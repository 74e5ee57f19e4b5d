"""An experiment, as the page is made from its folder: its tables, also as CSV and Markdown, and its sentences."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, get_args

from loomlab.answer.comparisons import compared
from loomlab.answer.figures import CPU, FIGURES, P50, P99, THROUGHPUT, MEMORY, Figure, Spread, measured_figures, spread
from loomlab.answer.loads import LoadGroup, load_groups, try_notes, unmade_blocks
from loomlab.answer.parity import unknown_notes
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.answer.text import Remark, remarks, table_lines
from loomlab.basics.errors import ParseError, UsageError
from loomlab.basics.format import UNKNOWN, number, ratio_text
from loomlab.basics.grouping import grouped
from loomlab.plan.variables import MOST_REPEATS
from loomlab.records.contrasts import Comparison, Kind
from loomlab.records.files import RunFiles, checksum, read_record
from loomlab.records.models import Run, Summary, Verdict
from loomlab.records.order import Order, order_of
from loomlab.statistics.comparison import FEWEST_FINE_BLOCKS

STACKS, MOST_STACK_PAIRS = frozenset({"stack", "unknown"}), 6  # kinds of contrasts; of more, none is shown
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
LEAST_EFFECT = 1.01  # of a throughput that is told: whole requests in whole seconds make some intervals narrow


def verdict_counts(runs: Iterable[Run]) -> str:
    """How many runs are valid, suspect and invalid, without those that none is."""
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
        return self.worst if len(self.runs) == 1 else verdict_counts(self.runs)

    def mean(self, figure: Figure) -> Spread | None:
        return spread(figure, self.load.counted(self.approach))

    def cell(self, figure: Figure) -> tuple[str, str | None]:
        """The mean, and the lowest and the highest repeat where there are several."""
        mean = self.mean(figure)
        if mean is None:
            return UNKNOWN, None
        return number(mean.centre), f"{number(mean.lowest)} to {number(mean.highest)}" if mean.count > 1 else None


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
    def early(self) -> str | None:
        return unmade_blocks(self.order, self.runs) if self.order else None

    @cached_property
    def _comparisons(self) -> dict[str, list[Comparison]]:
        contrasts, margin = self.summary.contrasts, self.summary.margin
        return {figure.key: compared(figure, contrasts, self.loads, margin) for figure in FIGURES}

    def comparisons(self, figure: Figure, load: str | None = None) -> list[Comparison]:
        """Those that the page shows, controlled ones first; none before all blocks are made."""
        if self.early:
            return []
        every = sum(contrast.kind in STACKS for contrast in self.summary.contrasts) <= MOST_STACK_PAIRS
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
        writer.writerow([f"{row.load.amount:g}", row.load.unit, row.approach, *verdicts, *values])
    return text.getvalue()


def table_of(rows: Sequence[Row], figures: Sequence[Figure]) -> list[str]:
    """The lines of a table with the same."""
    cells = [
        [row.load.label, row.approach, *(with_interval(*row.cell(figure)) for figure in figures), row.verdict]
        for row in rows
    ]
    headings = ["load", "approach", *(figure.label for figure in figures), "verdict"]
    return table_lines(headings, cells, frozenset({"load", "approach", "verdict"}))


def with_interval(centre: str, ends: str | None) -> str:
    return f"{centre} ({ends})" if ends else centre


def effect_cell(comparison: Comparison) -> tuple[str, str | None]:
    """The ratio or the difference, and its interval where there is one."""
    if comparison.swayed and comparison.word == "exploratory":
        return "not significant", None
    if comparison.effect is None:
        return UNKNOWN, None
    write = ratio_text if comparison.unit is None else lambda value: f"{'+' if value > 0 else ''}{number(value)}"
    ends = comparison.interval and " to ".join(map(write, comparison.interval))
    return f"{write(comparison.effect)} {comparison.unit or ''}".rstrip(), ends


class Opening(NamedTuple):
    answers: list[str]  # to what was declared beforehand, or what can be said in their place
    more: list[str]


def opening_of(experiment: Experiment) -> Opening:
    answers = [comparison.sentence for comparison in experiment.comparisons(CPU) if comparison.kind == "controlled"]
    answers = answers or [*_unanswered(experiment)]
    if all(run.verdict == "invalid" for run in experiment.runs):
        answers.append("Every run is invalid, so no figure counts: see what to doubt.")
    return Opening(answers, [sentence for sentence in dict.fromkeys(_more(experiment)) if sentence not in answers])


def _unanswered(experiment: Experiment) -> Iterator[str]:
    for row in experiment.rows:
        who, cost = f"At {row.load.label} {row.approach}", row.mean(CPU)
        if cost:
            span = f"{cost.count} runs, {number(cost.lowest)} to {number(cost.highest)}"
            runs = "one run" if cost.count == 1 else span
            yield f"{who} needs {number(cost.centre)} ms of CPU per request ({runs})."
        elif not row.load.counted(row.approach):
            yield f"{who} has no figure, because each of its runs is invalid: see what to doubt."
    if len(experiment.approaches) < 2:
        return
    if experiment.early:
        yield experiment.early
    elif not experiment.summary.contrasts:
        yield "How these approaches differ is not known: run loomlab summarise on the experiment's folder."
    else:
        yield from unknown_notes(experiment.summary.contrasts) or [
            "No two of these approaches differ in the concurrency model alone: no difference is due to it alone."
        ]


def _more(experiment: Experiment) -> Iterator[str]:
    for comparison in experiment.comparisons(CPU):
        if comparison.kind == "same":
            yield f"One approach against itself, the lab's own noise floor. {comparison.sentence}"
    contrasts = experiment.summary.contrasts
    asked: Kind = "stack" if [contrast.kind for contrast in contrasts] == ["stack"] else "controlled"
    figures = {load.label: measured_figures(load.runs) for load in experiment.loads}
    for figure in (CPU, P99, MEMORY):
        for comparison in experiment.comparisons(figure):
            if comparison.kind == asked and figure in figures[comparison.load]:
                yield comparison.sentence
    for load in experiment.loads:
        yield from _of_throughput(load, experiment, asked)
    yield from unknown_notes(contrasts)
    if len(experiment.approaches) > 1:
        yield from _of_repeats(experiment, asked)


def _of_repeats(experiment: Experiment, asked: Kind) -> Iterator[str]:
    repeats = max(run.repeat for run in experiment.runs)
    compared = [one for one in experiment.comparisons(CPU) if one.kind == asked and one.blocks]
    fewest = min((len(one.blocks) for one in compared), default=repeats)
    wanted = FEWEST_FINE_BLOCKS + repeats - fewest
    if experiment.summary.missing:
        yield f"Figures are of the runs that were made; make finish RESUME={experiment.name} makes the rest."
    elif fewest < min(repeats, FEWEST_FINE_BLOCKS) and wanted <= MOST_REPEATS:
        fact = f"In one comparison only {fewest} of {repeats} blocks count{'s' if fewest == 1 else ''}"
        yield f"{fact}; REPEATS={wanted} leaves {FEWEST_FINE_BLOCKS} even if as many are left out again."
    elif repeats < FEWEST_FINE_BLOCKS:
        times = {1: "once", 2: "twice"}.get(repeats, f"{repeats} times")
        why = f"REPEATS={FEWEST_FINE_BLOCKS} gives intervals that are not coarse"
        yield f"Each approach was measured {times} per load; {why}."
    if any((one.blocks_likely or 0) > MOST_REPEATS for one in compared):
        cure = "a quieter host, a longer DURATION or a larger MARGIN makes do with fewer"
        yield f"REPEATS={MOST_REPEATS} is the most; where more blocks are needed, {cure}."


def _of_throughput(load: LoadGroup, experiment: Experiment, asked: Kind) -> Iterator[str]:
    """That sentence, and the median latency's, where the interval excludes equality."""
    apart, latencies = (
        {
            (comparison.a, comparison.b): comparison
            for comparison in experiment.comparisons(figure, load.label)
            if comparison.apart and (effect := comparison.effect) and max(effect, 1 / effect) >= LEAST_EFFECT
        }
        for figure in (THROUGHPUT, P50)
    )
    for pair, throughput in apart.items():
        if throughput.kind == asked:
            yield throughput.sentence
            if pair in latencies:
                yield latencies[pair].sentence


class Doubts(NamedTuple):
    whole: list[str]  # of all figures
    dropped: list[str]  # of blocks that do not count
    host: list[str]
    of_runs: list[Remark]
    counts: str


def doubts_of(experiment: Experiment) -> Doubts:
    runs, summary = experiment.runs, experiment.summary
    whole, cure = [*experiment.doubts], f"make finish RESUME={experiment.name} makes"
    if summary.environment.get("stand_in_images"):
        whole.insert(0, STAND_IN_NOTE)
    if missing := len(summary.missing):
        planned = missing + len(runs)
        whole.insert(0, f"The experiment is unfinished: {missing} of {planned} runs were not made; {cure} them.")
    elif summary.finished is None:
        whole.insert(0, f"The experiment was interrupted; {cure} what it lacks.")
    return Doubts(
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
