"""The loads of an experiment with their runs, and which runs, tries and blocks count."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from loomlab.basics.errors import ParseError
from loomlab.basics.grouping import grouped
from loomlab.records.files import RunFiles, read_record
from loomlab.records.models import RuleResult, Run
from loomlab.records.order import Order, PlannedRun, changing

LONGEST_SHARE, LONGEST_S = 2, 3600
"""Of the time that was planned for a block, and so long in any case: a block that took more than both is torn."""
MOST_TRIES = 3
SHARE_UNIT = "% of capacity"
FURTHER_TRY = re.compile(r"-try-\d+$")


@dataclass(frozen=True)
class LoadGroup:
    """The runs of one load; `label` is another for each, `amount` is in connections, requests a second or users."""

    cell: int
    label: str
    amount: float
    unit: str
    runs: list[Run]
    torn: Mapping[str, str]  # by run, why its block counts for no contrast

    def of(self, approach: str) -> list[Run]:
        return [run for run in self.runs if run.approach == approach]

    def counted(self, approach: str) -> list[Run]:
        return counting(self.of(approach))


def counting(runs: Sequence[Run]) -> list[Run]:
    """Those whose figures are summed up: none that is invalid, and of several tries the one that counts."""
    others = replaced(runs)
    return [run for run in runs if run.verdict != "invalid" and run.run not in others]


def load_groups(runs: Sequence[Run], order: Order | None = None) -> list[LoadGroup]:
    """Smallest first."""
    by_cell = grouped(runs, lambda run: run.cell)
    often = Counter(group[0].load.label for group in by_cell.values())
    torn = torn_runs(runs, order)
    groups = []
    for cell, group in by_cell.items():
        load, (amounts, unit) = group[0].load, group[0].load.amounts
        if share := group[0].capacity_share:
            label = "capacity" if share == 1 else f"{100 * share:.0f} % of capacity"
            groups.append(LoadGroup(cell, label, 100 * share, SHARE_UNIT, group, torn))
            continue
        label = load.label if often[load.label] == 1 else f"{load.label} (load {cell})"
        groups.append(LoadGroup(cell, label, max(amounts), unit, group, torn))
    return sorted(groups, key=lambda group: (group.unit, group.amount, group.cell))


def unmade_blocks(order: Order | None, runs: Sequence[Run]) -> str | None:
    """Why no contrast is answered yet; None: all blocks are made. Who stops at what he likes finds chance."""
    ended = {run.run for run in runs if run.finished}
    blocks = _planned(order)
    whole = Counter(cell for (cell, _), planned in blocks.items() if all(run.run in ended for run in planned))
    lacking = {cell: count for cell, count in Counter(cell for cell, _ in blocks).items() if whole[cell] < count}
    if not lacking:
        return None
    made, declared = min((whole[cell], count) for cell, count in lacking.items())
    return f"{made} of {declared} blocks are made: approaches are compared when all of them are."


def torn_runs(runs: Sequence[Run], order: Order | None) -> dict[str, str]:
    """Those of blocks that count for no contrast, and why: the host may have been another from run to run."""
    others, planned = replaced(runs), _planned(order)
    torn: dict[str, str] = {}
    made = (run for run in runs if run.run not in others)
    for block in grouped(made, lambda run: (run.cell, run.repeat, run.pair)).values():
        times = [datetime.fromisoformat(time) for run in block for time in (run.started, run.finished) if time]
        taken_s = (max(times) - min(times)).total_seconds()
        names = {run.approach for run in block}
        alike = planned.get((block[0].cell, block[0].repeat), ())
        expected_s = sum(run.expected_s for run in alike if not block[0].pair or run.request.name in names)
        why = None
        # an unknown boot is another than those known, but not of an invalid run: what an approach breaks tears no block
        if len({run.boot_id for run in block if run.boot_id or run.verdict != "invalid"}) > 1:
            why = "the host was started again between its runs, or it is not known whether it was"
        elif taken_s > max(LONGEST_SHARE * expected_s, LONGEST_S):
            asked = f"{expected_s / 60:,.0f}" if expected_s else "none"
            why = f"it took {taken_s / 60:,.0f} min, and {asked} were planned"
        torn |= {run.run: why for run in block if why}
    return torn


def _planned(order: Order | None) -> dict[tuple[int, int], list[PlannedRun]]:
    return grouped(order.runs if order else (), lambda run: (run.request.cell, run.request.repeat))


def spoilt(run: Run) -> bool:
    """Whether it is invalid for a cause that was measured outside of the approach, whatever else is wrong with it."""
    failed = [rule for rule in run.rules if rule.outcome == "failed" and rule.level == "invalid"]
    return run.verdict == "invalid" and any(rule.host_cause for rule in failed)


def counting_try(tries: Sequence[Run]) -> Run:
    """The first that was not spoilt, whatever it cost; the last, which has no figure, where each was."""
    return next((run for run in tries if not spoilt(run)), tries[-1])


def tries_of(runs: Sequence[Run]) -> list[list[Run]]:
    return [*grouped(runs, lambda run: FURTHER_TRY.sub("", run.run)).values()]


def replaced(runs: Sequence[Run]) -> set[str]:
    """The names of those that do not count because another try does."""
    return {run.run for tries in tries_of(runs) for run in tries if run is not counting_try(tries)}


def spoil_partners(runs: Sequence[Run]) -> None:
    """Makes the partner of a spoilt run invalid for the same cause: of a pair, both sides of one try count, or none."""
    both = grouped((run for run in runs if run.partner), lambda run: (run.cell, run.repeat, run.pair, _try_of(run.run)))
    for sides in both.values():
        for run in sides if any(map(spoilt, sides)) else ():
            if not spoilt(run):
                reason = f"The host spoilt the run of {run.partner}, its partner: measure again."
                cause = {"rule": "partner_spoilt", "outcome": "failed", "level": "invalid", "host_cause": True}
                told = RuleResult.model_validate(cause | {"reason": reason})
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
        with suppress(OSError, ParseError):  # a damaged verdict is given anew when it is summed up
            runs = [read_record(RunFiles(experiment_dir / "runs" / one.run).run, Run) for one in own]
            if any(run is not None and spoilt(run) for run in runs):
                continue
        return []
    end = f"-try-{len(tries) + 1}"
    return [one.model_copy(update={"run": f"{one.run}{end}", "state": "planned"}) for one in tries[0]]


def try_notes(runs: Sequence[Run]) -> list[str]:
    notes = []
    for tries in (tries for tries in tries_of(runs) if len(tries) > 1):
        counts = counting_try(tries)
        invalid = f"; {counts.run} counts and is invalid: no figure"
        result = invalid if counts.verdict == "invalid" else f": only {counts.run} counts"
        times = ("once", "twice")[len(tries) - 2]
        why = f"The host disturbed {tries[0].run}, so it" if spoilt(tries[0]) else tries[0].run
        notes.append(f"{why} was measured {times} more{result}.")
    return notes
