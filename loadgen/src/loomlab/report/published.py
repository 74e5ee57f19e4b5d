"""What was published of an experiment beside what it measured: tables, claims and charts, as the page has them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loomlab.answer.loads import counting
from loomlab.answer.papers.answers import Answer, answer_of
from loomlab.answer.papers.beside import Beside, beside, mean_of, setup_rows
from loomlab.answer.papers.keeping import kept_experiment
from loomlab.answer.papers.library import load_paper, paper_names
from loomlab.answer.papers.measured import KeptExperiment, KeptRun, Measured
from loomlab.answer.papers.model import Paper
from loomlab.answer.papers.page import found_of, number, why_of
from loomlab.basics.errors import LoomlabError
from loomlab.records.models import Run
from loomlab.report.figures import UNKNOWN
from loomlab.report.folder import Experiment
from loomlab.report.levels import TITLES, level_panels, two_by_two
from loomlab.report.palette import Look
from loomlab.report.picture import strip_panels, strips_of
from loomlab.report.sheet import sheet
from loomlab.report.svg import Panel


@dataclass(frozen=True)
class Row:
    """A pair for each column: as published, and here; None where there is nothing."""

    label: str
    cells: list[tuple[str | None, str | None]]


@dataclass(frozen=True)
class Told:
    """A table of the paper; `columns` have headings, `notes` say what of the rows is not the same thing here."""

    name: str
    columns: list[str]
    rows: list[Row]
    notes: list[str]


@dataclass(frozen=True)
class Claimed:
    """A claim with its answer from this experiment alone."""

    answer: Answer
    found: list[str]
    why: list[str]


@dataclass(frozen=True)
class Published:
    """`columns` head those of `panels`, whose rows belong together."""

    name: str
    paper: Paper
    setup: list[tuple[str, str, str]]
    tables: list[Told]
    claims: list[Claimed]
    columns: list[str]
    panels: list[list[Panel | None]]

    def picture(self, looks: Mapping[str, Look]) -> str | None:
        """All panels as one SVG file; None where there is none."""
        if not self.panels:
            return None
        return sheet(f"{self.paper.title}, drawn again", self.columns, self.panels, looks)


def published_of(
    experiment: Experiment, folder: Path, looks: Mapping[str, Look], papers: Path, scenarios: Path
) -> Published | None:
    """None for an experiment of no paper, and where the paper or its scenario is not at hand, or has changed since."""
    order, scenario = experiment.order, experiment.summary.scenario
    name = order.paper or (scenario.experiment if scenario else None) if order else None
    if order is None or scenario is None or name not in paper_names(papers):
        return None
    try:
        paper = load_paper(papers, name)
        kept = kept_experiment(folder, order, paper, scenarios)
    except LoomlabError:
        return None
    if kept is None or not kept.runs:
        return None
    columns, panels = _panels(paper, experiment, kept, looks)
    return Published(
        name=name,
        paper=paper,
        setup=[*setup_rows(paper, [kept])],
        tables=_tables(paper, kept.runs),
        claims=[*_claims(paper, name, scenario.name, kept)],
        columns=columns,
        panels=panels if any(panel for row in panels for panel in row) else [],
    )


def _panels(
    paper: Paper, experiment: Experiment, kept: KeptExperiment, looks: Mapping[str, Look]
) -> tuple[list[str], list[list[Panel | None]]]:
    kind = paper.drawn.kind if paper.drawn else None
    if kind == "levels":
        rows = [*level_panels(paper, kept.runs, looks)]
        if any(published for published, _ in rows):
            return ["as published", "here"], [[*row] for row in rows]
        here = [one for _, one in rows]
        return ["here; announced, and not published", ""], [here[place : place + 2] for place in range(0, len(here), 2)]
    if kind == "two-by-two":
        return ["platform threads, or event loops", "virtual threads"], two_by_two(paper, kept.runs, looks)
    if kind == "course":
        runs = [_shown(experiment.compared, name) for name in looks]
        return [run.run for run in runs], strip_panels([(run, strips_of(experiment, run)) for run in runs], looks)
    if kind == "iterations":
        return _iterations(experiment, looks)
    return [], []


def _shown(runs: Sequence[Run], approach: str) -> Run:
    """The first that counts, else the first."""
    own = [run for run in runs if run.approach == approach]
    return next(iter(counting(own)), own[0])


def _iterations(experiment: Experiment, looks: Mapping[str, Look]) -> tuple[list[str], list[list[Panel | None]]]:
    """Two repeats, as the paper has them; all on one scale."""
    runs = [[run for run in experiment.compared if run.approach == name][:2] for name in looks]
    drawn = [(run, strips_of(experiment, run, latency_alone=True)) for own in runs for run in own]
    panels = [panel for row in strip_panels(drawn, looks, named=True) for panel in row]
    width = max(len(own) for own in runs)
    return [f"iteration {count}" for count in range(1, width + 1)], [
        panels[place : place + width] for place in range(0, len(panels), width)
    ]


def _claims(paper: Paper, name: str, scenario: str, kept: KeptExperiment) -> Iterator[Claimed]:
    """Those that the scenario shows, as far as it shows them."""
    declared = [int(kept.asked["REPEATS"])]
    measured = {scenario: Measured(paper=name, step=scenario, declared=declared, experiments=[kept])}
    run_levels = {run.level for run in kept.runs}
    for claim in paper.claims:
        if claim.load and scenario in claim.load.scenarios:
            levels = claim.load.levels
            if len(claim.load.scenarios) > 1:
                levels = [level for level in levels or sorted(run_levels) if level in run_levels]
                if not levels:
                    continue
            load = claim.load.model_copy(update={"scenarios": [scenario], "levels": levels})
            here = claim.model_copy(update={"load": load})
            answer = answer_of(paper, here, measured)
            yield Claimed(answer, found_of(answer, paper.levels.unit), why_of(answer, paper.levels.unit))


def _tables(paper: Paper, runs: Sequence[KeptRun]) -> list[Told]:
    rows = beside(paper, runs)
    here = {(run.approach, run.level) for run in runs}
    told = []
    for table in paper.tables:
        own = [row for row in rows if row.cell.table == table.name]
        if not any((row.cell.approach, row.cell.level) in here for row in own):
            continue
        if table.levels:
            told.append(
                Told(
                    table.name,
                    _levels(own, paper),
                    [*_matrix(own), *_announced(paper, table.approach, runs, table.levels)],
                    table.notes,
                )
            )
        else:
            told.append(
                Told(
                    table.name,
                    [""],
                    [*_list([row for row in own if row.cell.figure], by_approach=bool(table.approaches))],
                    table.notes,
                )
            )
    return told


def _levels(rows: Sequence[Beside], paper: Paper) -> list[str]:
    amounts = {row.cell.level: row.amount for row in rows}
    return [
        f"{level:,} {paper.levels.unit}" + ("" if amount is None else f", here {amount:,g}")
        for level, amount in amounts.items()
    ]


def _matrix(rows: Sequence[Beside]) -> Iterator[Row]:
    for label in dict.fromkeys(row.cell.row for row in rows):
        own = [row for row in rows if row.cell.row == label]
        unit = own[0].cell.unit
        yield Row(label if unit in label else f"{label}, {unit}", [_cell(row) for row in own])


def _list(rows: Sequence[Beside], *, by_approach: bool) -> Iterator[Row]:
    for row in rows:
        parts = [row.cell.row.strip(":"), row.cell.column, row.cell.approach if by_approach else None, row.cell.unit]
        yield Row(", ".join(part for part in parts if part), [_cell(row)])


def _cell(row: Beside) -> tuple[str, str]:
    here = UNKNOWN if row.centre is None else number(row.centre) + (" (invalid)" if row.invalid else "")
    return number(row.cell.value), here


def _announced(paper: Paper, approach: str | None, runs: Sequence[KeptRun], levels: Sequence[int]) -> Iterator[Row]:
    """What the paper said would follow."""
    for figure in (figure for announced in paper.announced for figure in announced.measured):
        title, unit, divisor = TITLES.get(figure, (figure, "", 1.0))
        cells: list[tuple[str | None, str | None]] = []
        for level in levels:
            mean = mean_of(runs, figure, approach, level)
            cells.append((None, UNKNOWN if mean is None else number(mean / divisor)))
        yield Row(", ".join(part for part in (title, unit) if part), cells)
