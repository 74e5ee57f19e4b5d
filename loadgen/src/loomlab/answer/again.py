"""Runs of a sweep that the host spoilt are made again: the next try has its own folder, beside the spoilt one."""

from collections.abc import Sequence
from pathlib import Path

from loomlab.records.files import RunFiles, read_record
from loomlab.records.models import Run
from loomlab.records.order import Order, PlannedRun, changing

MOST_TRIES = 3


def spoilt(run: Run) -> bool:
    """Whether it is invalid for what the host lacked, and for nothing else."""
    failed = [rule for rule in run.rules if rule.outcome == "failed" and rule.level == "invalid"]
    return run.verdict == "invalid" and bool(failed) and all(rule.host_cause for rule in failed)


def again(run_dir: Path) -> tuple[Order, PlannedRun] | None:
    """Plans the next try of a judged run, and gives the order with it; None where it needs none or has had enough."""
    experiment_dir = run_dir.resolve().parent.parent
    with changing(experiment_dir) as order:
        found = plan_next_try(experiment_dir, order, order.run(run_dir.resolve().name))
    return None if found is None else (order, found)


def plan_next_try(experiment_dir: Path, order: Order, planned: PlannedRun) -> PlannedRun | None:
    """Puts it right after the spoilt one."""
    found = next_try(experiment_dir, order, planned)
    if found is not None:
        order.runs.insert(order.runs.index(planned) + 1, found)
    return found


def next_try(experiment_dir: Path, order: Order, planned: PlannedRun) -> PlannedRun | None:
    """None as `again`, and where it is in the order already."""
    if not order.sweep or planned.state != "judged":
        return None
    tries = [one for one in order.runs if _place(one) == _place(planned)]
    if tries[-1] is not planned or len(tries) >= MOST_TRIES:
        return None
    run = read_record(RunFiles(experiment_dir / "runs" / planned.run).run, Run)
    if run is None or not spoilt(run):
        return None
    return planned.model_copy(update={"run": f"{tries[0].run}-try-{len(tries) + 1}", "state": "planned"})


def _place(planned: PlannedRun) -> tuple[int, str]:
    return planned.block, planned.request.name


def made_again(runs: Sequence[Run]) -> dict[str, str]:
    """Of each invalid run that another try followed, which one: the figures are of the last."""
    last = {(run.cell, run.repeat, run.approach): run for run in runs}
    followed = ((run, last[run.cell, run.repeat, run.approach]) for run in runs if run.verdict == "invalid")
    return {run.run: by.run for run, by in followed if by is not run}


def again_notes(runs: Sequence[Run]) -> list[str]:
    return [
        f"The host disturbed {run}, so it was measured again: only {by} counts." for run, by in made_again(runs).items()
    ]
