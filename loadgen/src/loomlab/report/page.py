"""report.html: everything on one page, in the order in which it is asked."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from loomlab.answer.contrasts import what_differs
from loomlab.answer.figures import CPU, P50, P99, P99_9, THROUGHPUT, WAITING, Figure
from loomlab.answer.summary import INTERRUPTED_NOTE, STAND_IN_NOTE
from loomlab.answer.text import markdown, model_notes
from loomlab.records.files import write_text
from loomlab.report import plots, surroundings, table
from loomlab.report.chart import Drawing
from loomlab.report.comparisons import comparisons, pair_rows
from loomlab.report.course import course_of
from loomlab.report.doubts import doubts_of, dropped_blocks
from loomlab.report.folder import Experiment, read_experiment
from loomlab.report.opening import opening_of
from loomlab.report.palette import Look, looks
from loomlab.report.phases import phases_of

PACKAGE = files("loomlab.report")
COMPARED = (CPU, P50, P99, P99_9, THROUGHPUT, WAITING)
OVER_LOAD = (CPU, P50, P99, P99_9, THROUGHPUT, WAITING)
BESIDE_LOADS = (CPU, P99, WAITING)
"""Figures whose repeats are drawn load by load where there are several loads."""


def write_report(folder: Path) -> Path:
    """Writes report.html, table.csv, plots/ and summary.md of an experiment's folder from what lies in it, the same
    bytes each time, and gives the page's path. Raises UsageError and ParseError as `read_experiment`."""
    experiment = read_experiment(folder)
    look = looks(experiment.approaches, experiment.order.colours if experiment.order else {})
    page = folder / "report.html"
    rows, figures = table.rows_of(experiment), table.figures_of(experiment)
    write_text(folder / "table.csv", table.csv_of(rows, figures))
    opening = opening_of(experiment)
    told = [f"- {sentence}" for sentence in (*opening.answers, *opening.more, *dropped_blocks(experiment))]
    write_text(
        folder / "summary.md",
        markdown(experiment.summary, [*told, "", *table.markdown_of(rows, figures), "", "Every run:"]),
    )
    shown = _shown(experiment, look)
    _write_plots(folder / "plots", shown)
    write_text(page, _page_of(shown))
    return page


def _write_plots(folder: Path, shown: Mapping[str, Any]) -> None:
    """A file for each chart of the page, but for the courses, of which there are many."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    by_load = [plot for _, drawn in (*shown["ratio_plots"], *shown["repeat_plots"]) for plot in drawn]
    for plot in [*by_load, *shown["load_plots"], *shown["latency_plots"], *_drawn([shown["timeline"]])]:
        write_text(folder / plot.file, plot.svg)


def _page_of(shown: Mapping[str, Any]) -> str:
    environment = Environment(
        loader=FunctionLoader(lambda name: _packaged(f"templates/{name}")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html").render(shown)


def _shown(experiment: Experiment, look: Mapping[str, Look]) -> dict[str, Any]:
    figures = table.figures_of(experiment)
    courses = [course for run in experiment.runs if (course := course_of(experiment, run)) is not None]
    doubts = doubts_of(experiment)
    elsewhere = {STAND_IN_NOTE, INTERRUPTED_NOTE, *experiment.doubts, *doubts.host}
    return {
        "summary": experiment.summary,
        "name": experiment.name,
        "style": Markup(_packaged("templates/report.css")),  # noqa: S704 - ours
        "opening": opening_of(experiment),
        "figures": figures,
        "rows": table.rows_of(experiment),
        "pair_rows": pair_rows(experiment, [one for one in COMPARED if one in figures]) if CPU in figures else [],
        "run_rows": table.run_rows(experiment, figures),
        "keys": {name: one.sign for name, one in look.items()},
        "ratio_plots": _ratio_plots(experiment, look),
        "repeat_plots": _repeat_plots(experiment, figures, look),
        "load_plots": _drawn(plots.over_load(figure, experiment.loads, look) for figure in OVER_LOAD),
        "latency_plots": _drawn(plots.distribution(at, look) for at in experiment.loads),
        "timeline": plots.timeline([(run, phases_of(run, experiment.loaded(run))) for run in experiment.runs]),
        "course_plots": [plot for at in experiment.loads for plot in plots.courses(at, courses, look)],
        "doubts": doubts,
        "notes": model_notes(experiment.runs),
        "what_differs": what_differs,
        "explained": [note for note in experiment.summary.notes if note not in elsewhere],
        "environment": surroundings.environment_rows(experiment.summary.environment),
        "approaches": surroundings.approach_rows(experiment),
        "tool_commands": surroundings.commands_of(experiment),
        "command": experiment.command,
    }


def _packaged(name: str) -> str:
    return PACKAGE.joinpath(name).read_text(encoding="utf-8")


def _drawn(every: Iterable[Drawing | None]) -> list[Drawing]:
    return [one for one in every if one is not None]


def _ratio_plots(experiment: Experiment, look: Mapping[str, Look]) -> list[tuple[str, list[Drawing]]]:
    """By load."""
    by_figure = [(figure, comparisons(experiment, figure)) for figure in COMPARED]
    found = []
    for at in experiment.loads:
        here = [(figure, [one for one in held if one.load == at.label]) for figure, held in by_figure]
        drawn = [plots.effects(figure, held, look) for figure, held in here if any(one.blocks for one in held)]
        if drawn:
            found.append((at.label, drawn))
    return found


def _repeat_plots(
    experiment: Experiment, figures: Sequence[Figure], look: Mapping[str, Look]
) -> list[tuple[str, list[Drawing]]]:
    drawn = figures if len(experiment.loads) == 1 else [one for one in figures if one in BESIDE_LOADS]
    return [(at.label, _drawn(plots.repeats(figure, at, look) for figure in drawn)) for at in experiment.loads]
