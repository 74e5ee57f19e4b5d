"""Runs of a sweep that the host spoilt are made again: the next try has its own folder, beside the spoilt one."""

import re
from collections.abc import Sequence
from pathlib import Path

from loomlab.records.files import RunFiles, read_record
from loomlab.records.models import Run
from loomlab.records.order import Order, PlannedRun, changing

MOST_TRIES = 3
FURTHER_TRY = re.compile(r"(.+)-try-\d+")


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
    """Of each run that another try followed, which one counts in its place: the last, whatever the others are."""
    return {run.run: tries[-1].run for tries in _tries(runs) for run in tries[:-1]}


def again_notes(runs: Sequence[Run]) -> list[str]:
    return [_note(tries) for tries in _tries(runs) if len(tries) > 1]


def _tries(runs: Sequence[Run]) -> list[list[Run]]:
    """Each run with its further tries after it."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        further = FURTHER_TRY.fullmatch(run.run)
        found.setdefault(further[1] if further else run.run, []).append(run)
    return [*found.values()]


def _note(tries: Sequence[Run]) -> str:
    first, last = tries[0].run, tries[-1]
    again = "once more" if len(tries) == 2 else "twice more"
    if all(run.verdict == "invalid" for run in tries):
        return f"The host disturbed {first}, so it was measured {again}; each try is invalid, so it has no figure."
    if last.verdict == "invalid":
        return f"The host disturbed {first}, so it was measured {again}; {last.run} counts and is invalid: no figure."
    return f"The host disturbed {first}, so it was measured {again}: only {last.run} counts."
