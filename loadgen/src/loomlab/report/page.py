"""report.html: everything on one page, what was found first."""

import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from loomlab.answer.figures import CPU, MEMORY, P99, THROUGHPUT, measured_figures
from loomlab.answer.parity import flat, what_differs
from loomlab.answer.summary import INTERRUPTED_NOTE, STAND_IN_NOTE
from loomlab.answer.text import markdown, model_notes, readable
from loomlab.basics.format import fixed, number
from loomlab.plan.planning import command_of
from loomlab.records.files import read_json, write_text
from loomlab.report import chart
from loomlab.report.chart import Drawing, Looks, course_of, looks
from loomlab.report.experiment import Experiment, csv_of, effect_cell, groups_of, read_experiment, table_of
from loomlab.report.opening import caveats_of, opening_of

TEMPLATES = Environment(
    loader=PackageLoader("loomlab.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True, finalize=readable,
)  # fmt: skip
TEMPLATES.globals |= {"effect_cell": effect_cell, "number": number, "fixed": fixed, "what_differs": what_differs}
DRAWN = (CPU, MEMORY, P99, THROUGHPUT)
MOST_PINS_BYTES = 2**16
MOST_FOUND = 8  # sentences that are open to see


def write_report(folder: Path) -> Path:
    """The page's path; it, table.csv, plots/ and summary.md are written from the folder, the same bytes each time.

    Raises UsageError and ParseError as `read_experiment`."""
    experiment = read_experiment(folder)
    figures, rows = measured_figures(experiment.runs), experiment.rows
    opening, caveats = opening_of(experiment), caveats_of(experiment)
    unclear = [opening.unclear] if opening.unclear else []
    sentences = [f"- {sentence}" for sentence in (*opening.found, *unclear, *opening.more, *caveats.dropped)]
    lines = [*sentences, "", *table_of(rows, figures), "", "Every run:"]
    write_text(folder / "summary.md", markdown(experiment.summary, lines))
    write_text(folder / "table.csv", csv_of(rows, figures))
    abouts = _abouts(experiment)
    twins = {run.approach: run.twin_of for run in experiment.runs if run.twin_of and not run.is_side}
    of_plan = experiment.order.colours if experiment.order else {}
    colours = {name: of_plan.get(twins.get(name, name), "") for name in experiment.approaches}
    servers = {name: str(about.get("inbound.server")) for name, about in abouts.items() if name not in twins}
    look = looks(experiment.approaches, colours, servers)
    charts, courses = _charts(experiment, look), _courses(experiment, look)
    shutil.rmtree(folder / "plots", ignore_errors=True)
    (folder / "plots").mkdir()
    for drawing in charts:
        write_text(folder / "plots" / drawing.file, drawing.svg)
    elsewhere = {STAND_IN_NOTE, INTERRUPTED_NOTE, *experiment.doubts, *caveats.host}
    page = TEMPLATES.get_template("report.html").render(
        experiment=experiment, summary=experiment.summary, title=title_of(experiment), opening=opening,
        most_found=MOST_FOUND, caveats=caveats, figures=figures, groups=groups_of(experiment, figures), charts=charts,
        courses=courses, looks=look, host=[_known(experiment.summary.environment)], values=_values,
        abouts={name: _known(about) for name, about in abouts.items()},
        loads={run.run: load.label for load in experiment.loads for run in load.runs},
        linked={path.parent.name for path in folder.glob("runs/*/raw")},
        notes=[*model_notes(experiment.runs), *(one for one in experiment.summary.notes if one not in elsewhere)],
        pins=_pins(experiment),
        command=command_of(experiment.order) if experiment.order and experiment.order.asked else None,
    )  # fmt: skip
    write_text(folder / "report.html", page)
    return folder / "report.html"


def title_of(experiment: Experiment) -> str:
    if experiment.summary.scenario:
        return experiment.summary.scenario.title
    names = experiment.approaches
    who = " and ".join(names) if len(names) < 3 else f"{len(names)} approaches"
    *loads, last = [load.label for load in experiment.loads]
    shared = [load.removesuffix(f" {experiment.loads[-1].unit}") for load in loads]
    at = f"{', '.join(shared)} and {last}" if shared else last
    return f"{who} at {at}, loaded by {' and '.join(dict.fromkeys(run.tool for run in experiment.runs))}"


def _abouts(experiment: Experiment) -> dict[str, Mapping[str, Any]]:
    with_raw = ((run.approach, experiment.raw.get(run.run)) for run in reversed(experiment.runs))
    read = ((name, read_json(files.about)) for name, files in with_raw if files)
    told = {name: flat(about) for name, about in read if isinstance(about, dict)}
    return {name: told[name] for name in experiment.approaches if name in told}


def _pins(experiment: Experiment) -> dict[str, str]:
    both = ((run, files.raw / "pins.txt") for run, files in experiment.raw.items())
    return {run: told.read_bytes()[:MOST_PINS_BYTES].decode(errors="replace") for run, told in both if told.is_file()}


def _charts(experiment: Experiment, look: Looks) -> list[Drawing]:
    loads = experiment.loads
    effects = (chart.effects(figure, experiment.comparisons(figure), look) for figure in (CPU, MEMORY, P99))
    single = [chart.repeats(figure, loads[0], look) for figure in DRAWN if len(loads) == 1]
    several = [chart.over_load(figure, loads, look) for figure in DRAWN]
    latencies = [chart.distribution(load, look) for load in loads]
    return [drawing for drawing in (*effects, *single, *several, *latencies) if drawing]


def _courses(experiment: Experiment, look: Looks) -> list[Drawing]:
    """Second by second, of the run of each approach at the largest load whose CPU per request is the middle one."""
    load = experiment.loads[-1]
    of_each = [runs for name in experiment.approaches if (runs := load.counted(name) or load.of(name))]
    chosen = [sorted(runs, key=lambda run: run.cpu_ms_per_request or 0)[len(runs) // 2] for runs in of_each]
    courses = [*filter(None, (course_of(run, experiment.raw.get(run.run)) for run in chosen))]
    return chart.courses(load, courses, look)


def _known(recorded: Mapping[str, Any]) -> Mapping[str, str]:
    """What was recorded, as text, with _ for the dots of names."""
    texts = {key.replace(".", "_"): _text(key, value) for key, value in recorded.items()}
    return defaultdict(lambda: "not recorded", {key: text for key, text in texts.items() if text})


def _values(form: str, every: Iterable[Mapping[str, str]]) -> list[str]:
    """One of all, or one of each where they differ."""
    values = [form.format_map(known) for known in every]
    return values if len(set(values)) > 1 else values[:1]


def _text(key: str, value: object) -> str:
    if isinstance(value, Mapping):
        pairs = ((name, str(one).removeprefix("sha256:")) for name, one in value.items() if one is not None)
        return ", ".join(f"{name} {one[:12] if key == 'images' else one}" for name, one in pairs)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if key.endswith("_bytes") and isinstance(value, int):
        return f"{value / 2**30:.1f} GiB" if value >= 2**30 else f"{value / 2**20:.0f} MiB"
    return "" if value is None else f"{value:,}" if isinstance(value, int) and key != "seed" else str(value)
