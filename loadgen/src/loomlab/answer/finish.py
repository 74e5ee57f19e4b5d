"""What becomes of an experiment that was cut off: what it measured is judged, what is missing can be run."""

import shutil
import warnings
from pathlib import Path

from loomlab.answer.again import next_try, plan_next_try
from loomlab.answer.summary import summarise
from loomlab.basics.errors import ParseError, UsageError
from loomlab.judge.judge import judge_run
from loomlab.plan.host import Host
from loomlab.records.files import RunFiles, read_record
from loomlab.records.models import Request, Run, Summary
from loomlab.records.order import Order, PlannedRun, State, changing, order_file, read_order


def finish(experiment_dir: Path) -> Summary:
    """Judges every run that has begun and has no verdict, or none any more, and writes the summary. Raises UsageError
    where there is no order."""
    with changing(experiment_dir) as order:
        for run in order.runs:
            if run.state not in {"planned", "judged"} or _lost_verdict(experiment_dir, run):
                run.state = _judged(experiment_dir / "runs" / run.run)
    return summarise(experiment_dir, interrupted=any(run.state != "judged" for run in order.runs))


def killed(results: Path) -> list[Path]:
    """Experiments that have their order and no summary, or runs that were cut off before their verdict."""
    return [
        folder for folder in _planned(results) if not (folder / "summary.json").exists() or _cut_off(read_order(folder))
    ]


def _planned(results: Path) -> list[Path]:
    """The experiments whose order can be read; of the others it is told."""
    planned = []
    for path in sorted(results.glob("*/order.json")):
        try:
            if not path.parent.is_symlink() and read_order(path.parent):
                planned.append(path.parent)
        except ParseError as error:
            warnings.warn(f"{error}", stacklevel=2)
    return planned


def _cut_off(order: Order) -> bool:
    return any(run.state in {"running", "finished"} for run in order.runs)


def _lost_verdict(experiment_dir: Path, run: PlannedRun) -> bool:
    """Gone or damaged, though there are the raw files that it is made from."""
    files = RunFiles(experiment_dir / "runs" / run.run)
    return run.state == "judged" and files.request.exists() and not _has_verdict(files)


def _has_verdict(files: RunFiles) -> bool:
    try:
        return read_record(files.run, Run) is not None
    except ParseError:
        return False


def _judged(run_dir: Path) -> State:
    try:
        request = read_record(RunFiles(run_dir).request, Request)
        if request is None:
            return "failed"
        judge_run(run_dir)
    except ParseError as error:
        warnings.warn(f"{run_dir.name} cannot be judged: {error}", stacklevel=2)
        return "failed"
    return "judged" if request.finished else "failed"


def resume(experiment_dir: Path, host: Host, lab_sha256: str) -> Order:
    """The order, in which every run without a verdict of its whole is planned again, and of a sweep the next try of
    every run that the host spoilt; what a run without a verdict left is removed. Raises UsageError where nothing is
    missing, and where host or lab are not those that the experiment was begun with."""
    if problem := foreign(read_order(experiment_dir), experiment_dir.name, host, lab_sha256):
        raise UsageError(problem)
    begun = read_order(experiment_dir)
    if _cut_off(begun) or any(_lost_verdict(experiment_dir, run) for run in begun.runs):
        finish(experiment_dir)
    with changing(experiment_dir) as order:
        order.experiment = experiment_dir.name
        for run in tuple(order.runs):
            plan_next_try(experiment_dir, order, run)
        missing = [run for run in order.runs if _is_missing(experiment_dir, run)]
        if not missing:
            name = experiment_dir.name
            raise UsageError(f"RESUME={name} has all of its {len(order.runs)} runs: see results/{name}/summary.md.")
        for run in missing:
            _plan_again(experiment_dir, run)
    return order


def foreign(order: Order, name: str, host: Host, lab_sha256: str) -> str | None:
    """Why this host, or this lab, may not go on with it, in a sentence; None: it may."""
    begun, here = ((told.get("cpus"), told.get("cpu_model")) for told in (order.host, host.model_dump()))
    if begun != here and begun != (here[0], None):
        return (
            f"RESUME={name} was begun on a host with {begun[0]} CPUs ({begun[1]}), and this one has {here[0]} "
            f"({here[1]}): go on there, or start a new experiment here."
        )
    if order.lab_sha256 not in {None, lab_sha256}:
        return (
            f"RESUME={name} was begun with other sources of the lab, so its runs would not be comparable: go back to "
            "that version, or start a new experiment; what was measured stays as it is."
        )
    return None


def _is_missing(experiment_dir: Path, run: PlannedRun) -> bool:
    return run.state != "judged" or not _has_verdict(RunFiles(experiment_dir / "runs" / run.run))


def _plan_again(experiment_dir: Path, run: PlannedRun) -> None:
    left = experiment_dir / "runs" / run.run
    if left.exists():
        shutil.rmtree(left)
    run.state = "planned"


def unfinished(results: Path, name: str) -> Path:
    """The experiment of that name; `latest`: the newest that lacks a run. Raises UsageError."""
    if name != "latest":
        if not order_file(results / name).exists():
            raise UsageError(
                f"RESUME={name} is no folder of results/ with an order.json: name one, or use RESUME=latest."
            )
        return results / name
    for folder in reversed(_planned(results)):
        order = read_order(folder)
        if any(_is_missing(folder, run) or next_try(folder, order, run) for run in order.runs):
            return folder
    raise UsageError(
        "RESUME=latest finds no experiment that lacks a run: start a new one, such as make run-ab CONCURRENCY=1000."
    )
