"""From the runs of an experiment's folder to summary.json."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

from loomlab.answer.comparisons import with_comparisons
from loomlab.answer.differences import contrasts_of
from loomlab.answer.loads import unmade_blocks
from loomlab.answer.parity import audit, subjects_of
from loomlab.answer.shifts import shift_doubts
from loomlab.answer.tries import spoil_partners, try_notes
from loomlab.basics.errors import ParseError, UsageError
from loomlab.basics.grouping import grouped
from loomlab.records.files import RunFiles, read_json, read_record, write_json
from loomlab.records.models import Run, Summary
from loomlab.records.order import order_of

FOLDER = re.compile(r"(\d{8}T\d{6}Z)-(.+)")
STAND_IN_NOTE = "Measured on stand-in base images, not on the official ones."
INTERRUPTED_NOTE = "The experiment was interrupted: the runs that are missing were not made."
SAME = ("engine", "cpus", "memory_bytes", "kernel", "architecture", "container_metrics", "stand_in_images", "inherited")
"""Facts of the host and the engine that all runs of an experiment should share."""


def summarise(experiment_dir: Path, interrupted: bool) -> Summary:
    """The summary, which it writes; UsageError when there is nothing. A parity finding makes its load suspect."""
    if not (experiment_dir / "runs").is_dir():
        raise UsageError(f"{experiment_dir} is not an experiment: it has no runs/; name a folder below results/.")
    environment = environment_of(experiment_dir)
    order = order_of(experiment_dir)
    runs, notes = _runs(experiment_dir)
    spoil_partners(runs)
    if not runs and order is None and not interrupted:
        raise UsageError(f"{experiment_dir} holds no judged run: run `loomlab judge` on its runs first.")
    subjects = subjects_of(experiment_dir, runs)
    by_cell = grouped(subjects, lambda one: one.run.cell)
    # of one load each, as pools follow the load
    audits = {cell: audit(by_cell.get(cell, ())) for cell in sorted({run.cell for run in runs})}
    early = unmade_blocks(order, runs)
    notes += [INTERRUPTED_NOTE] if interrupted else []
    notes += [STAND_IN_NOTE] if environment.get("stand_in_images") else []
    notes += [*map(str, environment.get("notes", [])), *try_notes(runs), *([early] if early else [])]
    notes += [note for found in audits.values() for note in found.notes]
    shifts = shift_doubts(runs)
    for run in runs:
        doubts = [*environment.get("suspect", []), *audits[run.cell].suspicions]
        doubts += [shifts[run.run]] if run.run in shifts else []
        run.reasons += doubts
        run.verdict = "suspect" if doubts and run.verdict == "valid" else run.verdict
    contrasts, margin = contrasts_of(subjects), order.margin if order else None
    folder = experiment_dir.resolve().name
    stamped = FOLDER.fullmatch(folder)
    started = min((run.started for run in runs), default=None)
    made = {run.run for run in runs}
    summary = Summary(
        experiment=stamped[2] if stamped else folder,
        started=f"{datetime.strptime(stamped[1], '%Y%m%dT%H%M%S%z'):%Y-%m-%dT%H:%M:%SZ}" if stamped else started,
        finished=None if interrupted else max((run.finished for run in runs if run.finished), default=None),
        notes=list(dict.fromkeys(notes)),
        environment=environment,
        missing=[run.run for run in order.runs if run.run not in made] if order else [],
        scenario=order.scenario if order else None,
        margin=margin,
        contrasts=contrasts if early else with_comparisons(contrasts, runs, margin, order),
        runs=runs,
    )
    write_json(experiment_dir / "summary.json", summary)
    return summary


def _runs(experiment_dir: Path) -> tuple[list[Run], list[str]]:
    """In the order they were planned, tries side by side; and a note for each folder that was not judged."""
    folders = [path for path in (experiment_dir / "runs").iterdir() if path.is_dir() and path.name[0] != "."]
    folders.sort(key=lambda folder: (folder.name.partition("-")[0].zfill(6), folder.name))
    try:
        found = {folder.name: read_record(RunFiles(folder).run, Run) for folder in folders}
    except ParseError as error:
        raise ParseError(f"{error} Or run loomlab judge on its folder: that makes run.json again.") from error
    notes = [f"Run {name} was not judged: it is not in the table." for name, run in found.items() if run is None]
    return [run for run in found.values() if run], notes


def environment_of(experiment_dir: Path) -> dict[str, Any]:
    """environment.json, written from engine.json and order.json where there are these."""
    path, order = experiment_dir / "environment.json", order_of(experiment_dir)
    if order is None:
        return dict(read_json(path) or {})
    request, settings, facts = order.runs[0].request, order.settings, _engine(experiment_dir)
    sizes = {key: value for key, value in settings.items() if key.endswith(("_CPUS", "_CPUSET", "_MEMORY"))}
    sizes |= order.runs[0].settings | facts.pop("inherited", {})
    environment = {
        **{name: getattr(request, name) for name in ("jdk", "gc", "http_client", "style", "endpoint")},
        "backend": {"delay": request.delay, "error_share": settings.get("ERROR_SHARE"), "seed": settings.get("SEED")},
        "size": order.size,
        "seed": order.seed,
        **{name: order.host.get(name) for name in ("open_files", "cpu_model", "governor")},
        "tool_versions": {request.tool: order.tool_version},
        "started": order.planned,
        **facts,
        "sizes": sizes,
        "suspect": order.suspect + facts.get("suspect", []),
    }
    write_json(path, environment)
    return environment


def _engine(experiment_dir: Path) -> dict[str, Any]:
    """The newest facts; `suspect`: in a sentence, what of them was another before the experiment was resumed."""
    facts: dict[str, Any] = read_json(experiment_dir / "engine.json") or {}
    changed: dict[str, None] = {}
    for path in sorted(experiment_dir.glob("engine-*.json")):
        later = read_json(path)
        images, later_images = facts.get("images", {}), later.get("images", {})
        changed |= dict.fromkeys(name for name in SAME if facts.get(name) != later.get(name))
        changed |= dict.fromkeys(
            f"image of {service}" for service, image in later_images.items() if images.get(service, image) != image
        )
        notes = list(dict.fromkeys([*facts.get("notes", []), *later.get("notes", [])]))
        facts |= later | {"images": images | later_images, "notes": notes}
    text = f"the experiment was resumed on a changed host or with changed images: {', '.join(changed)}"
    return facts | ({"suspect": [text]} if changed else {})
