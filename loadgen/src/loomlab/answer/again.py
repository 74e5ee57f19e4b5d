"""Runs of a sweep that were spoilt from outside are made again: the next try has its own folder, beside the first."""

import re
from collections.abc import Sequence
from pathlib import Path

from loomlab.records.files import RunFiles, read_record
from loomlab.records.models import Run
from loomlab.records.order import Order, PlannedRun, changing
from loomlab.statistics.tries import counted, wants_another

FURTHER_TRY = re.compile(r"(.+)-try-\d+")


def spoilt(run: Run) -> bool:
    """Whether it is invalid for a cause that was measured outside of the approach, whatever else is wrong with it: what
    a dear run brings about itself decides nothing."""
    return run.verdict == "invalid" and any(
        rule.host_cause for rule in run.rules if rule.outcome == "failed" and rule.level == "invalid"
    )


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
    if tries[-1] is not planned:
        return None
    runs = [read_record(RunFiles(experiment_dir / "runs" / one.run).run, Run) for one in tries]
    if not wants_another([run is not None and spoilt(run) for run in runs]):
        return None
    return planned.model_copy(update={"run": f"{tries[0].run}-try-{len(tries) + 1}", "state": "planned"})


def _place(planned: PlannedRun) -> tuple[int, str]:
    return planned.block, planned.request.name


def made_again(runs: Sequence[Run]) -> dict[str, str]:
    """Of each run that does not count because another try does, that one."""
    found: dict[str, str] = {}
    for tries in tries_of(runs):
        counts = counting_try(tries)
        found |= {run.run: counts.run for run in tries if run is not counts}
    return found


def counting_try(tries: Sequence[Run]) -> Run:
    """The last, which has no figure, where each was spoilt."""
    place = counted([spoilt(run) for run in tries])
    return tries[-1 if place is None else place]


def tries_of(runs: Sequence[Run]) -> list[list[Run]]:
    """Each run with its further tries after it."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        further = FURTHER_TRY.fullmatch(run.run)
        found.setdefault(further[1] if further else run.run, []).append(run)
    return [*found.values()]


def again_notes(runs: Sequence[Run]) -> list[str]:
    return [_note(tries) for tries in tries_of(runs) if len(tries) > 1]


def _note(tries: Sequence[Run]) -> str:
    first, counts = tries[0].run, counting_try(tries)
    again = {2: "once more", 3: "twice more"}.get(len(tries), f"{len(tries) - 1} times more")
    if all(spoilt(run) for run in tries):
        return f"The host disturbed {first}, so it was measured {again}; each try is invalid, so it has no figure."
    if counts is tries[0]:
        why = "" if counts.verdict != "invalid" else " and is invalid: no figure"
        return f"{first} was measured {again}, though the host did not disturb it: {first} counts{why}."
    if counts.verdict == "invalid":
        return f"The host disturbed {first}, so it was measured {again}; {counts.run} counts and is invalid: no figure."
    return f"The host disturbed {first}, so it was measured {again}: only {counts.run} counts."
