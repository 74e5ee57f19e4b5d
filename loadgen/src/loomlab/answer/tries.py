"""Which try counts of a run that was spoilt from outside and made again; never by the outcome."""

import re
from collections.abc import Sequence
from pathlib import Path

from loomlab.basics.grouping import grouped
from loomlab.records.files import RunFiles, read_record
from loomlab.records.models import RuleResult, Run
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


def spoil_partners(runs: Sequence[Run]) -> None:
    """Makes the partner of a spoilt run invalid for the same cause: of a pair, both sides of one try count, or none."""
    pairs = grouped(
        (run for run in runs if run.partner),
        lambda run: (run.cell, run.repeat, run.pair, _try_of(run.run)),
    )
    for sides in pairs.values():
        for run in sides if any(map(spoilt, sides)) else ():
            if not spoilt(run):
                reason = f"The host spoilt the run of {run.partner}, its partner: measure again."
                told = RuleResult(
                    rule="partner_spoilt", outcome="failed", level="invalid", host_cause=True, reason=reason
                )
                run.verdict, run.reasons, run.rules = "invalid", [reason, *run.reasons], [told, *run.rules]


def _try_of(name: str) -> str:
    further = FURTHER_TRY.search(name)
    return further[0] if further else ""


def try_again(run_dir: Path) -> tuple[Order, list[PlannedRun]]:
    """Plans the next try of a judged run, and gives the order with it; nothing where it needs none or had enough."""
    experiment_dir = run_dir.resolve().parent.parent
    with changing(experiment_dir) as order:
        planned = order.run(run_dir.resolve().name)
        found = next_try(experiment_dir, order, planned)
        last = max(place for place, one in enumerate(order.runs) if one.block == planned.block and _alike(one, planned))
        order.runs[last + 1 : last + 1] = found
    return order, found


def _alike(one: PlannedRun, other: PlannedRun) -> bool:
    """Whether they are made again together: of pairs, a whole block."""
    return other.request.partner is not None or one.request.name == other.request.name


def next_try(experiment_dir: Path, order: Order, planned: PlannedRun) -> list[PlannedRun]:
    """Of the run, or of its block of a pair; nothing where it needs none, had enough, or is in the order already."""
    alike = [one for one in order.runs if one.block == planned.block and _alike(one, planned)]
    tries = [*grouped(alike, lambda one: _try_of(one.run)).values()]
    is_last = any(one is planned for one in tries[-1])
    if not order.sweep or planned.state != "judged" or not is_last or len(tries) >= MOST_TRIES:
        return []
    for own in tries:
        runs = [read_record(RunFiles(experiment_dir / "runs" / one.run).run, Run) for one in own]
        if not any(run is not None and spoilt(run) for run in runs):
            return []
    end = f"-try-{len(tries) + 1}"
    return [one.model_copy(update={"run": f"{one.run}{end}", "state": "planned"}) for one in tries[0]]


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
