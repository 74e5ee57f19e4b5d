"""report.html: everything on one page, in the order in which it is asked."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from loomlab.answer.contrasts import what_differs
from loomlab.answer.figures import CPU, P99, WAITING, Figure, measured
from loomlab.answer.summary import INTERRUPTED_NOTE, STAND_IN_NOTE
from loomlab.answer.text import markdown, model_notes
from loomlab.basics.format import number, percent
from loomlab.records.files import write_text
from loomlab.report import plots, table
from loomlab.report.chart import Drawing, looks
from loomlab.report.course import course_of, load_of, phases_of
from loomlab.report.doubts import doubts_of
from loomlab.report.folder import Experiment, read_experiment
from loomlab.report.opening import opening_of
from loomlab.report.plots import Looks

TEMPLATES = Environment(
    loader=PackageLoader("loomlab.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
BESIDE_LOADS = (CPU, P99, WAITING)
"""Figures whose repeats are drawn load by load where there are several loads."""


def write_report(folder: Path) -> Path:
    """Writes report.html, table.csv, plots/ and summary.md of an experiment's folder from what lies in it, the same
    bytes each time, and gives the page's path. Raises UsageError and ParseError as `read_experiment`."""
    experiment = read_experiment(folder)
    figures, rows = measured(experiment.runs), table.rows_of(experiment)
    opening, doubts = opening_of(experiment), doubts_of(experiment)
    sentences = [f"- {sentence}" for sentence in (*opening.answers, *opening.more, *doubts.dropped)]
    lines = [*sentences, "", *table.markdown_of(rows, figures), "", "Every run:"]
    write_text(folder / "summary.md", markdown(experiment.summary, lines))
    write_text(folder / "table.csv", table.csv_of(rows, figures))
    look = looks(experiment.approaches, experiment.order.colours if experiment.order else {})
    charts = _charts(experiment, figures, look)
    shutil.rmtree(folder / "plots", ignore_errors=True)
    (folder / "plots").mkdir()
    by_load = [drawing for _, drawings in (*charts["ratios"], *charts["repeats"]) for drawing in drawings]
    for drawing in (*by_load, *charts["over_load"], *charts["latencies"], *charts["timeline"]):
        write_text(folder / "plots" / drawing.file, drawing.svg)
    elsewhere = {STAND_IN_NOTE, INTERRUPTED_NOTE, *experiment.doubts, *doubts.host}
    page = TEMPLATES.get_template("report.html").render(
        experiment=experiment,
        summary=experiment.summary,
        opening=opening,
        doubts=doubts,
        figures=figures,
        compared=[figure for figure in figures if figure.compared],
        rows=rows,
        charts=charts,
        keys={name: one.key for name, one in look.items()},
        loads={run.run: load.label for load in experiment.loads for run in load.runs},
        notes=model_notes(experiment.runs),
        explained=[note for note in experiment.summary.notes if note not in elsewhere],
        command=experiment.order.command if experiment.order and experiment.order.asked else None,
        table=table,
        number=number,
        percent=percent,
        what_differs=what_differs,
    )
    write_text(folder / "report.html", page)
    return folder / "report.html"


def _charts(experiment: Experiment, figures: Sequence[Figure], look: Looks) -> dict[str, Any]:
    """By the page's sections; those of each load have its label."""
    loads, raw = experiment.loads, experiment.raw
    compared = [figure for figure in figures if figure.compared]
    repeated = figures if len(loads) == 1 else [figure for figure in figures if figure in BESIDE_LOADS]
    ratios = [
        (load.label, _drawn(plots.effects(one, experiment.comparisons(one, load.label), look) for one in compared))
        for load in loads
    ]
    courses = [course for run in experiment.runs if run.run in raw and (course := course_of(run, raw[run.run]))]
    phases = [(run, [*phases_of(run, load_of(raw[run.run]) if run.run in raw else None)]) for run in experiment.runs]
    return {
        "ratios": [(label, drawings) for label, drawings in ratios if drawings],
        "repeats": [(load.label, _drawn(plots.repeats(figure, load, look) for figure in repeated)) for load in loads],
        "over_load": _drawn(plots.over_load(figure, loads, look) for figure in compared),
        "latencies": _drawn(plots.distribution(load, look) for load in loads),
        "timeline": _drawn([plots.timeline(phases)]),
        "courses": [drawing for load in loads for drawing in plots.courses(load, courses, look)],
    }


def _drawn(drawings: Iterable[Drawing | None]) -> list[Drawing]:
    return [drawing for drawing in drawings if drawing is not None]
