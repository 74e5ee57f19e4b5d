"""From the runs of an experiment's folder to summary.json; and what becomes of one that was cut off."""

import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from loomlab.answer.comparisons import shift_doubts, with_comparisons
from loomlab.answer.loads import FURTHER_TRY, next_try, spoil_partners, try_notes, unmade_blocks
from loomlab.answer.parity import audit, contrasts_of, subjects_of
from loomlab.basics.errors import LoomlabError, ParseError, UsageError, told
from loomlab.basics.grouping import grouped
from loomlab.judge.judge import judge_run
from loomlab.plan.host import Host, Lab
from loomlab.plan.planning import plan
from loomlab.records.files import (
    NAME,
    SUMS,
    RunFiles,
    check_links,
    newest_first,
    read_json,
    read_record,
    write_json,
    write_sums,
)
from loomlab.records.models import EngineFacts, Run, Summary, check_approaches
from loomlab.records.order import Order, PlannedRun, changing, order_file, order_of, read_order

FOLDER = re.compile(r"(\d{8}T\d{6}Z)-(.+)")
MOST_RUNS, MOST_NAMED = 5000, 5  # of an experiment without an order; of those that are left out
MOST_DOUBTS, LONGEST_DOUBT = 100, 2000  # of one run
STAND_IN_NOTE = "Measured on stand-in base images, not on the official ones."
INTERRUPTED_NOTE = "The experiment was interrupted: the runs that are missing were not made."
SAME = (
    "engine", "runc", "cgroup", "cpus", "memory_bytes", "kernel", "architecture", "container_metrics",
    "stand_in_images", "inherited",
)  # fmt: skip
"""Facts of the host and the engine that all runs of an experiment should share."""


def summarise(experiment_dir: Path, interrupted: bool) -> Summary:
    """Writes the summary; UsageError where there is nothing, or a link. A parity finding makes its load suspect."""
    if not (experiment_dir / "runs").is_dir():
        raise UsageError(f"{experiment_dir} is not an experiment: it has no runs/; name a folder below results/.")
    check_links(experiment_dir)
    environment = environment_of(experiment_dir)
    order = order_of(experiment_dir)
    runs, notes = _runs(experiment_dir)
    check_approaches(runs)
    spoil_partners(runs)
    if not runs and order is None and not interrupted:
        raise UsageError(f"{experiment_dir} holds no judged run: run `loomlab judge` on its runs first.")
    subjects = subjects_of(experiment_dir, runs)
    by_cell = grouped(subjects, lambda one: one.run.cell)
    # of one load each, as pools follow the load
    audits = {cell: audit(by_cell.get(cell, ())) for cell in sorted({run.cell for run in runs})}
    early = unmade_blocks(order, runs)
    notes += [f"{name}: {side.told or 'nothing of its own'}." for name, side in order.sides.items()] if order else []
    notes += [INTERRUPTED_NOTE] if interrupted else []
    notes += [STAND_IN_NOTE] if environment.get("stand_in_images") else []
    notes += [*map(str, environment.get("notes", [])), *try_notes(runs), *([early] if early else [])]
    notes += [note for found in audits.values() for note in found.notes]
    shifts = shift_doubts(runs)
    for run in runs:
        doubts = [*environment.get("suspect", []), *audits[run.cell].suspicions]
        doubts += [shifts[run.run]] if run.run in shifts else []
        run.reasons += [doubt[:LONGEST_DOUBT] for doubt in doubts[:MOST_DOUBTS]]  # in every run
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
    (experiment_dir / SUMS).unlink(missing_ok=True)  # a kill must not leave those of an older one
    write_json(experiment_dir / "summary.json", summary)
    write_sums(experiment_dir, sorted([*experiment_dir.glob("*.json"), *experiment_dir.glob("runs/*/*")]))
    return summary


def _runs(experiment_dir: Path) -> tuple[list[Run], list[str]]:
    """In the order they were planned, tries side by side; and a note for each folder that was not judged, and for those
    that the order does not name."""
    folders = [path for path in (experiment_dir / "runs").iterdir() if path.is_dir() and path.name[0] != "."]
    folders.sort(key=lambda folder: (folder.name.partition("-")[0].zfill(6), folder.name))
    order, names = order_of(experiment_dir), [folder.name for folder in folders]
    named = {run.run for run in order.runs} if order else {*names[:MOST_RUNS]}
    found = {folder.name: _run_of(folder) for folder in folders if folder.name in named}
    notes = [f"Run {name} was not judged: it is not in the table." for name, run in found.items() if run is None]
    if others := [name for name in names if name not in named]:
        more = f" and {len(others) - MOST_NAMED:,} more" if len(others) > MOST_NAMED else ""
        notes.append(f"Left out, because order.json does not name them: {', '.join(others[:MOST_NAMED])}{more}.")
    return [run for run in found.values() if run], notes


def _run_of(run_dir: Path) -> Run | None:
    """As it was judged, or is judged again where that cannot be read, or is another run's."""
    with suppress(ParseError):
        run = read_record(RunFiles(run_dir).run, Run)
        if run is None or run.run == run_dir.name:
            return run
    warnings.warn(f"{run_dir.name} is judged again, because its run.json cannot be read.", stacklevel=2)
    return _judged(run_dir)


def environment_of(experiment_dir: Path) -> dict[str, Any]:
    """environment.json, written from engine.json and order.json where there are these."""
    path, order = experiment_dir / "environment.json", order_of(experiment_dir)
    if order is None:
        return _facts(path)
    request, settings, facts = order.runs[0].request, order.settings, _engine(experiment_dir)
    sizes = {key: value for key, value in settings.items() if key.endswith(("_CPUS", "_CPUSET", "_MEMORY"))}
    sizes |= order.runs[0].settings | facts.pop("inherited", {})
    asked = ("jdk", "gc", "http_client", "style", "endpoint")
    shared = {name: {getattr(run.request, name) for run in order.runs} for name in asked}
    environment = {
        **{name: values.pop() if len(values) == 1 else None for name, values in shared.items()},
        "backend": {"delay": request.delay, "error_share": settings.get("ERROR_SHARE"), "seed": settings.get("SEED")},
        "size": order.size,
        "seed": order.seed,
        **{name: order.host.get(name) for name in ("open_files", "cpu_model", "governor", "thp", "swap_mb")},
        "tool_versions": {request.tool: order.tool_version},
        "started": order.planned,
        **facts,
        "sizes": sizes,
        "suspect": order.suspect + facts.get("suspect", []),
    }
    write_json(path, environment)
    return environment


def _engine(experiment_dir: Path) -> dict[str, Any]:
    """The newest facts; `suspect`: in sentences, what of them was another before the experiment was resumed, and which
    file is damaged."""
    facts: dict[str, Any] = {}
    changed: dict[str, None] = {}
    doubts: list[str] = []
    for path in [experiment_dir / "engine.json", *sorted(experiment_dir.glob("engine-*.json"))]:
        try:
            later = _facts(path)
        except ParseError:  # the host's shell writes it
            doubts.append(f"{path.name} is damaged, so it is not known on which engine and images runs were made")
            continue
        if not facts:
            facts = later
            continue
        images, later_images = facts.get("images", {}), later.get("images", {})
        changed |= dict.fromkeys(name for name in SAME if facts.get(name) != later.get(name))
        others = (name for name, image in later_images.items() if images.get(name, image) != image)
        changed |= dict.fromkeys(f"image of {service}" for service in others)
        notes = list(dict.fromkeys([*facts.get("notes", []), *later.get("notes", [])]))
        facts |= later | {"images": images | later_images, "notes": notes}
    if changed:
        doubts.append(f"the experiment was resumed on a changed host or with changed images: {', '.join(changed)}")
    return facts | ({"suspect": doubts} if doubts else {})


def _facts(path: Path) -> dict[str, Any]:
    return dict(read_json(path)) if read_record(path, EngineFacts) else {}


def finish(experiment_dir: Path) -> Summary:
    """Judges every run that has no verdict, and writes the summary; raises as `check_links`."""
    check_links(experiment_dir)
    with changing(experiment_dir) as order:
        for run in order.runs:
            if run.state not in {"planned", "judged"}:
                judged = _judged(experiment_dir / "runs" / run.run)
                run.state = "judged" if judged and judged.finished else "failed"
    return summarise(experiment_dir, interrupted=any(run.state != "judged" for run in order.runs))


def killed(results: Path) -> list[Path]:
    """Experiments that began and have no summary with its sums, or runs that were cut off before their verdict."""
    found = []
    for folder, order in planned(results):
        begun = any(run.state != "planned" for run in order.runs)
        summed_up = all((folder / name).exists() for name in ("summary.json", SUMS))
        if _cut_off(order) or (begun and not summed_up):
            found.append(folder)
        del order  # before the next one is read
    return found


def planned(results: Path) -> Iterator[tuple[Path, Order]]:
    """The experiments whose order can be read, the newest first, and one order at a time; of the others it is told."""
    folders = (path.parent for path in results.glob("*/order.json") if not path.parent.is_symlink())
    for folder in newest_first(folders):
        try:
            with warnings.catch_warnings(action="ignore"):  # of what an older version's has more
                order = read_order(folder)
        except (OSError, LoomlabError) as error:
            warnings.warn(f"{error}", stacklevel=2)
        else:
            yield folder, order
            del order


def _cut_off(order: Order) -> bool:
    return any(run.state in {"running", "finished"} for run in order.runs)


def _lacking(experiment_dir: Path, order: Order) -> list[PlannedRun]:
    return [
        run
        for run in order.runs
        if run.state != "judged"
        or not RunFiles(experiment_dir / "runs" / run.run).run.exists()
        or next_try(experiment_dir, order, run)
    ]


def _judged(run_dir: Path) -> Run | None:
    """The run; None where nothing was begun, and, with a warning, where it cannot be judged."""
    if not RunFiles(run_dir).request.exists():
        return None
    try:
        return judge_run(run_dir)
    except OSError:  # a full disk, or a file of somebody else: the run may be whole
        raise
    except Exception as error:  # of one run, whatever it is: the others are judged
        warnings.warn(f"{run_dir.name} cannot be judged: {told(error)}", stacklevel=2)
        return None


def resume(experiment_dir: Path, host: Host, lab: Lab) -> Order:
    """The order, in which every block that lacks a run is planned again as a whole. Raises UsageError, as `foreign`."""
    check_links(experiment_dir)
    begun, name = read_order(experiment_dir), experiment_dir.name
    if problem := foreign(begun, experiment_dir, host, lab):
        raise UsageError(problem)
    if _cut_off(begun):
        finish(experiment_dir)
    with changing(experiment_dir) as order:
        order.experiment = name
        lacking = _lacking(experiment_dir, order)
        blocks = {run.block for run in lacking}
        if not blocks:
            raise UsageError(f"RESUME={name} has all of its {len(order.runs)} runs: see results/{name}/summary.md.")
        for run in order.runs:
            if run.block in blocks:
                _set_aside(experiment_dir / "runs" / run.run)
                run.state = "planned"
        order.runs = [run for run in order.runs if run.block not in blocks or not FURTHER_TRY.search(run.run)]
    return order


def foreign(order: Order, experiment_dir: Path, host: Host, lab: Lab) -> str | None:
    """Why this host, or this lab, may not go on with it, in a sentence; None: it may, and plans the same itself."""
    name, cpus, model = experiment_dir.name, order.host.get("cpus"), order.host.get("cpu_model")
    if not re.fullmatch(NAME, name):
        return f"RESUME={name!r} has other characters than letters, digits, '.', '_' and '-': rename the folder."
    if (cpus, model) != (host.cpus, host.cpu_model):
        fact = f"RESUME={name} was begun on a host with {cpus} CPUs ({model}), and this one has {host.cpus}"
        return f"{fact} ({host.cpu_model}): go on there, or start a new experiment here."
    if order.lab_sha256 != lab.checksum:
        fact = f"RESUME={name} was begun with other sources of the lab, so its runs would not be comparable"
        return f"{fact}: go back to that version, or start a new experiment; what was measured stays as it is."
    try:
        own = plan(lab.asked(order.verb, order.asked | {"SEED": str(order.seed)}), host, lab, order.planned)
    except LoomlabError as error:
        return f"RESUME={name} cannot be planned here: {error}"
    runs = {run.run: run for run in own.runs}
    of_plan = ({"run": FURTHER_TRY.sub("", run.run), "state": "planned"} for run in order.runs)
    same = all(run.model_copy(update=of) == runs.get(of["run"]) for run, of in zip(order.runs, of_plan, strict=True))
    if order.settings != own.settings or not same:
        fact = f"RESUME={name} has settings or runs that the lab does not plan here for the variables it names"
        return f"{fact}: start a new experiment."
    return None


def _set_aside(run_dir: Path) -> None:
    if run_dir.exists():
        aside = run_dir.with_name(".set-aside")
        aside.mkdir(exist_ok=True)
        kept = next(path for number in count(1) if not (path := aside / f"{run_dir.name}-{number}").exists())
        run_dir.rename(kept)
        warnings.warn(f"{run_dir.name} is made again: what it left is in runs/.set-aside/{kept.name}", stacklevel=2)


def unfinished(results: Path, name: str) -> Path:
    """The experiment of that name; `latest`: the newest that lacks a run. Raises UsageError."""
    if name != "latest":
        if (results / name).is_symlink() or not order_file(results / name).exists():
            fact = f"RESUME={name} is no folder of results/ with an order.json"
            raise UsageError(f"{fact}: name one, or use RESUME=latest.")
        return results / name
    for folder, order in planned(results):
        if _lacking(folder, order):
            return folder
    cure = "start a new one, such as make run-ab CONCURRENCY=1000"
    raise UsageError(f"RESUME=latest finds no experiment that lacks a run: {cure}.")
