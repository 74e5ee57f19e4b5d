"""The loads of an experiment with their runs, and which runs and blocks count."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from loomlab.answer.tries import replaced
from loomlab.basics.grouping import grouped
from loomlab.records.models import Run
from loomlab.records.order import Order, PlannedRun

LONGEST_SHARE, LONGEST_S = 2, 3600
"""Of the time that was planned for a block, and so long in any case: a block that took more than both is torn."""
type Block = tuple[int, int]  # a load, and a repeat


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
        load = group[0].load
        label = load.label if often[load.label] == 1 else f"{load.label} (load {cell})"
        amounts, unit = load.amounts
        groups.append(LoadGroup(cell, label, max(amounts), unit, group, torn))
    return sorted(groups, key=lambda group: (group.unit, group.amount, group.cell))


def unmade_blocks(order: Order | None, runs: Sequence[Run]) -> str | None:
    """Why no contrast is answered yet; None: all blocks are made. Who stops at what he likes finds chance."""
    ended = {run.run for run in runs if run.finished}
    blocks = _planned(order)
    whole = Counter(cell for (cell, _), planned in blocks.items() if all(run.run in ended for run in planned))
    made = min((whole[cell] for cell, _ in blocks), default=0)
    declared = max(Counter(cell for cell, _ in blocks).values(), default=0)
    if made >= declared:
        return None
    return f"{made} of {declared} blocks are made: approaches are compared when all of them are."


def torn_runs(runs: Sequence[Run], order: Order | None) -> dict[str, str]:
    """Those of blocks that count for no contrast, and why: the host may have been another from run to run. Of pairs, a
    block has the two that were loaded in turn."""
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


def _planned(order: Order | None) -> dict[Block, list[PlannedRun]]:
    return grouped(order.runs if order else (), lambda run: (run.request.cell, run.request.repeat))
