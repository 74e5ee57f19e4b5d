"""Which try of a run counts. Runs of a sweep that were spoilt from outside are made again, each try in a folder beside
the first: tries are chosen by what happened outside of them, never by their outcome."""

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
    """Whether it is invalid for a cause that was measured outside of the approach, whatever else is wrong with it: what
    a dear run brings about itself decides nothing."""
    return run.verdict == "invalid" and any(
        rule.host_cause for rule in run.rules if rule.outcome == "failed" and rule.level == "invalid"
    )


def index_that_counts(spoilt_tries: Sequence[bool]) -> int | None:
    """Of tries in their order: that of the first that was not spoilt, whatever it cost; None: each was."""
    return next((index for index, was_spoilt in enumerate(spoilt_tries) if not was_spoilt), None)


def counting_try(tries: Sequence[Run]) -> Run:
    """The last, which has no figure, where each was spoilt."""
    index = index_that_counts([spoilt(run) for run in tries])
    return tries[-1 if index is None else index]


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
    if not order.sweep or planned.state != "judged" or tries[-1] is not planned or len(tries) >= MOST_TRIES:
        return None
    runs = [read_record(RunFiles(experiment_dir / "runs" / one.run).run, Run) for one in tries]
    if not all(run is not None and spoilt(run) for run in runs):
        return None
    return planned.model_copy(update={"run": f"{tries[0].run}-try-{len(tries) + 1}", "state": "planned"})


def try_notes(runs: Sequence[Run]) -> list[str]:
    """A sentence for each run that was made again."""
    return [_note(tries) for tries in tries_of(runs) if len(tries) > 1]


def _note(tries: Sequence[Run]) -> str:
    first, counts = tries[0].run, counting_try(tries)
    again = f"measured {('once', 'twice')[len(tries) - 2]} more"
    invalid = counts.verdict == "invalid"
    if counts is tries[0]:
        why = " and is invalid: no figure" if invalid else ""
        return f"{first} was {again}, though the host did not disturb it: {first} counts{why}."
    result = f"; {counts.run} counts and is invalid: no figure" if invalid else f": only {counts.run} counts"
    if spoilt(counts):
        result = "; each try is invalid, so it has no figure"
    return f"The host disturbed {first}, so it was {again}{result}."
