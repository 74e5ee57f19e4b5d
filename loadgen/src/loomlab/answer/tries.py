"""Which try counts of a run that was spoilt from outside and made again; never by the outcome."""

import re
from collections.abc import Sequence
from pathlib import Path

from loomlab.basics.grouping import grouped
from loomlab.records.files import RunFiles, read_record
from loomlab.records.models import Run
from loomlab.records.order import Order, PlannedRun, changing

MOST_TRIES = 3
FURTHER_TRY = re.compile(r"-try-\d+$")


def spoilt(run: Run) -> bool:
    """Whether it is invalid for a cause that was measured outside of the approach, whatever else is wrong with it."""
    return run.verdict == "invalid" and any(
        rule.host_cause for rule in run.rules if rule.outcome == "failed" and rule.level == "invalid"
    )


def counting_try(tries: Sequence[Run]) -> Run:
    """The first that was not spoilt, whatever it cost; the last, which has no figure, where each was."""
    return next((run for run in tries if not spoilt(run)), tries[-1])


def tries_of(runs: Sequence[Run]) -> list[list[Run]]:
    """Each run with its further tries after it."""
    return [*grouped(runs, lambda run: FURTHER_TRY.sub("", run.run)).values()]


def replaced(runs: Sequence[Run]) -> set[str]:
    """The names of those that do not count because another try does."""
    return {run.run for tries in tries_of(runs) for run in tries if run is not counting_try(tries)}


def try_again(run_dir: Path) -> tuple[Order, PlannedRun] | None:
    """Plans the next try of a judged run, and gives the order with it; None where it needs none or has had enough."""
    experiment_dir = run_dir.resolve().parent.parent
    with changing(experiment_dir) as order:
        planned = order.run(run_dir.resolve().name)
        found = next_try(experiment_dir, order, planned)
        if found is None:
            return None
        order.runs.insert(order.runs.index(planned) + 1, found)
    return order, found


def next_try(experiment_dir: Path, order: Order, planned: PlannedRun) -> PlannedRun | None:
    """None where the run needs none, has had enough, or has it in the order already."""
    tries = [one for one in order.runs if (one.block, one.request.name) == (planned.block, planned.request.name)]
    if (
        not order.sweep
        or planned.request.partner
        or planned.state != "judged"
        or tries[-1] is not planned
        or len(tries) >= MOST_TRIES
    ):
        return None
    runs = [read_record(RunFiles(experiment_dir / "runs" / one.run).run, Run) for one in tries]
    if not all(run is not None and spoilt(run) for run in runs):
        return None
    return planned.model_copy(update={"run": f"{tries[0].run}-try-{len(tries) + 1}", "state": "planned"})


def try_notes(runs: Sequence[Run]) -> list[str]:
    """A sentence for each run that was made again."""
    notes = []
    for tries in (tries for tries in tries_of(runs) if len(tries) > 1):
        counts = counting_try(tries)
        invalid = f"; {counts.run} counts and is invalid: no figure"
        result = invalid if counts.verdict == "invalid" else f": only {counts.run} counts"
        times = ("once", "twice")[len(tries) - 2]
        why = f"The host disturbed {tries[0].run}, so it" if spoilt(tries[0]) else tries[0].run
        notes.append(f"{why} was measured {times} more{result}.")
    return notes
