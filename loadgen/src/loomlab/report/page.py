"""report.html: everything on one page, in the order in which it is asked."""

import itertools
import shutil
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from loomlab.answer.figures import CPU, P99, MEMORY, Figure, measured_figures
from loomlab.answer.parity import flat, what_differs
from loomlab.answer.summary import INTERRUPTED_NOTE, STAND_IN_NOTE
from loomlab.answer.text import markdown, model_notes
from loomlab.basics.format import fixed, number
from loomlab.records.files import read_json, write_text
from loomlab.report import chart
from loomlab.report.chart import Drawing, Looks, course_of, looks
from loomlab.report.experiment import Experiment, csv_of, doubts_of, effect_cell, opening_of, read_experiment, table_of

TEMPLATES = Environment(
    loader=PackageLoader("loomlab.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True,
)  # fmt: skip
TEMPLATES.globals |= {"effect_cell": effect_cell, "number": number, "fixed": fixed, "what_differs": what_differs}
BESIDE_LOADS = (CPU, P99, MEMORY)  # figures whose repeats are drawn load by load where there are several loads


def write_report(folder: Path) -> Path:
    """The page's path; it, table.csv, plots/ and summary.md are written from the folder, the same bytes each time."""
    experiment = read_experiment(folder)
    figures, rows = measured_figures(experiment.runs), experiment.rows
    opening, doubts = opening_of(experiment), doubts_of(experiment)
    sentences = [f"- {sentence}" for sentence in (*opening.answers, *opening.more, *doubts.dropped)]
    lines = [*sentences, "", *table_of(rows, figures), "", "Every run:"]
    write_text(folder / "summary.md", markdown(experiment.summary, lines))
    write_text(folder / "table.csv", csv_of(rows, figures))
    compared = [figure for figure in figures if figure.compared]
    look = looks(experiment.approaches, experiment.order.colours if experiment.order else {})
    charts = _charts(experiment, figures, look)
    shutil.rmtree(folder / "plots", ignore_errors=True)
    (folder / "plots").mkdir()
    for section in charts.keys() - {"courses"}:
        for drawing in itertools.chain(*charts[section].values()):
            write_text(folder / "plots" / drawing.file, drawing.svg)
    elsewhere = {STAND_IN_NOTE, INTERRUPTED_NOTE, *experiment.doubts, *doubts.host}
    page = TEMPLATES.get_template("report.html").render(
        experiment=experiment,
        summary=experiment.summary,
        opening=opening,
        doubts=doubts,
        figures=figures,
        compared=compared,
        rows=rows,
        charts=charts,
        looks=look,
        pairs=[*zip(*map(experiment.comparisons, compared), strict=True)],
        loads={run.run: load.label for load in experiment.loads for run in load.runs},
        linked={path.parent.name for path in folder.glob("runs/*/raw")},
        abouts={
            run.approach: {name: value for name, value in flat(about).items() if value is not None}
            for run in reversed(experiment.runs)
            if run.run in experiment.raw and (about := read_json(experiment.raw[run.run].about))
        },
        notes=model_notes(experiment.runs),
        explained=[note for note in experiment.summary.notes if note not in elsewhere],
        command=experiment.order.command if experiment.order and experiment.order.asked else None,
    )
    write_text(folder / "report.html", page)
    return folder / "report.html"


def _charts(experiment: Experiment, figures: Sequence[Figure], look: Looks) -> dict[str, dict[str, list[Drawing]]]:
    """By the page's sections, then by the load's label, "" of what is not of one load."""
    loads = experiment.loads
    compared = [figure for figure in figures if figure.compared]
    repeated = figures if len(loads) == 1 else [figure for figure in figures if figure in BESIDE_LOADS]
    courses = [*filter(None, (course_of(run, experiment.raw.get(run.run)) for run in experiment.runs))]
    charts: dict[str, dict[str, list[Drawing | None]]] = {
        "ratios": {
            load.label: [chart.effects(one, experiment.comparisons(one, load.label), look) for one in compared]
            for load in loads
        },
        "repeats": {load.label: [chart.repeats(figure, load, look) for figure in repeated] for load in loads},
        "over_load": {"": [chart.over_load(figure, loads, look) for figure in compared]},
        "latencies": {"": [chart.distribution(load, look) for load in loads]},
        "courses": {"": [drawing for load in loads for drawing in chart.courses(load, courses, look)]},
    }
    return {
        section: {load: drawn for load, drawings in by_load.items() if (drawn := [*filter(None, drawings)])}
        for section, by_load in charts.items()
    }
