"""What becomes of an experiment that was cut off: what it measured is judged, what is missing can be run."""

import re
import warnings
from itertools import count
from pathlib import Path

from loomlab.answer.summary import summarise
from loomlab.answer.tries import FURTHER_TRY, next_try
from loomlab.basics.errors import LoomlabError, ParseError, UsageError
from loomlab.judge.judge import judge_run
from loomlab.plan.host import Host
from loomlab.records.files import NAME, RunFiles, read_record, strange
from loomlab.records.models import Request, Summary
from loomlab.records.order import Order, PlannedRun, State, changing, order_file, read_order


def finish(experiment_dir: Path) -> Summary:
    """Judges every run that has no verdict, and writes the summary; UsageError where that cannot be here."""
    if problem := strange(experiment_dir):
        raise UsageError(problem)
    with changing(experiment_dir) as order:
        for run in order.runs:
            if run.state not in {"planned", "judged"}:
                run.state = _judged(experiment_dir / "runs" / run.run)
    return summarise(experiment_dir, interrupted=any(run.state != "judged" for run in order.runs))


def killed(results: Path) -> list[Path]:
    """Experiments that have their order and no summary, or runs that were cut off before their verdict."""
    return [folder for folder, order in planned(results) if not (folder / "summary.json").exists() or _cut_off(order)]


def planned(results: Path) -> list[tuple[Path, Order]]:
    """The experiments whose order can be read, by name; of the others it is told."""
    found = []
    for folder in sorted(path.parent for path in results.glob("*/order.json") if not path.parent.is_symlink()):
        try:
            found.append((folder, read_order(folder)))
        except (OSError, ParseError) as error:
            warnings.warn(f"{error}", stacklevel=2)
    return found


def _cut_off(order: Order) -> bool:
    return any(run.state in {"running", "finished"} for run in order.runs)


def _lacking(experiment_dir: Path, order: Order) -> list[PlannedRun]:
    """The runs that are yet to be made, or their next tries."""
    return [
        run
        for run in order.runs
        if run.state != "judged"
        or not RunFiles(experiment_dir / "runs" / run.run).run.exists()
        or next_try(experiment_dir, order, run)
    ]


def _judged(run_dir: Path) -> State:
    try:
        request = read_record(RunFiles(run_dir).request, Request)
        if request is None:
            return "failed"
        judge_run(run_dir)
    except OSError:  # a full disk, or a file of somebody else: the run may be whole
        raise
    except Exception as error:  # of one run, whatever it is: the others are judged
        why = str(error) if isinstance(error, LoomlabError) else repr(error)
        warnings.warn(f"{run_dir.name} cannot be judged: {why}", stacklevel=2)
        return "failed"
    return "judged" if request.finished else "failed"


def resume(experiment_dir: Path, host: Host, lab_sha256: str) -> Order:
    """The order, in which every block that lacks a run is planned again as a whole. Raises UsageError, as `foreign`."""
    begun, name = read_order(experiment_dir), experiment_dir.name
    if problem := foreign(begun, experiment_dir, host, lab_sha256):
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


def foreign(order: Order, experiment_dir: Path, host: Host, lab_sha256: str) -> str | None:
    """Why this host, or this lab, may not go on with it, in a sentence; None: it may."""
    name = experiment_dir.name
    if not re.fullmatch(NAME, name):
        return f"RESUME={name!r} has other characters than letters, digits, '.', '_' and '-': rename the folder."
    if problem := strange(experiment_dir):
        return problem
    cpus, model = order.host.get("cpus"), order.host.get("cpu_model")
    if cpus != host.cpus or model not in {host.cpu_model, None}:
        return (
            f"RESUME={name} was begun on a host with {cpus} CPUs ({model}), and this one has {host.cpus} "
            f"({host.cpu_model}): go on there, or start a new experiment here."
        )
    if order.lab_sha256 not in {None, lab_sha256}:
        return (
            f"RESUME={name} was begun with other sources of the lab, so its runs would not be comparable: go back to "
            "that version, or start a new experiment; what was measured stays as it is."
        )
    return None


def _set_aside(run_dir: Path) -> None:
    """Moves what a run left to runs/.set-aside."""
    if run_dir.exists():
        aside = run_dir.with_name(".set-aside")
        aside.mkdir(exist_ok=True)
        kept = next(path for number in count(1) if not (path := aside / f"{run_dir.name}-{number}").exists())
        run_dir.rename(kept)
        warnings.warn(f"{run_dir.name} is made again: what it left is in runs/.set-aside/{kept.name}", stacklevel=2)


def unfinished(results: Path, name: str) -> Path:
    """The experiment of that name; `latest`: the newest that lacks a run. Raises UsageError."""
    if name != "latest":
        if not order_file(results / name).exists():
            raise UsageError(
                f"RESUME={name} is no folder of results/ with an order.json: name one, or use RESUME=latest."
            )
        return results / name
    for folder, order in reversed(planned(results)):
        if _lacking(folder, order):
            return folder
    raise UsageError(
        "RESUME=latest finds no experiment that lacks a run: start a new one, such as make run-ab CONCURRENCY=1000."
    )
