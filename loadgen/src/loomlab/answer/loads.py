"""The loads of an experiment with their runs, and which runs and blocks count."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from loomlab.answer.tries import replaced
from loomlab.records.load import Load, OpenRate, Users
from loomlab.records.models import Run
from loomlab.records.order import Order, PlannedRun

LONGEST_SHARE, LONGEST_S = 2, 3600
"""Of the time that was planned for a block, and so long in any case: a block that took more than both is torn."""
type Block = tuple[int, int]
"""A load, and a repeat."""


@dataclass(frozen=True)
class LoadGroup:
    """The runs of one load; `label` is another for each, `amount` is in connections, requests a second or users."""

    cell: int
    label: str
    amount: float
    unit: str
    runs: list[Run]
    torn: Mapping[int, str] = field(default_factory=dict)
    """By repeat, why a block counts for no contrast."""

    def of(self, approach: str) -> list[Run]:
        return [run for run in self.runs if run.approach == approach]

    def counted(self, approach: str) -> list[Run]:
        return counting(self.of(approach))


def counting(runs: Sequence[Run]) -> list[Run]:
    """Those whose figures are summed up: none that is invalid, and of several tries the one that counts."""
    others = replaced(runs)
    return [run for run in runs if run.verdict != "invalid" and run.run not in others]


def telling(runs: Sequence[Run]) -> list[Run]:
    """Those that say what an approach is: the ones that count, and of an approach that has none, all."""
    counted = {run.run: run.approach for run in counting(runs)}
    return [run for run in runs if run.run in counted or run.approach not in counted.values()]


def loads_of(runs: Iterable[Run], order: Order | None = None) -> list[LoadGroup]:
    """Smallest first."""
    by_cell: dict[int, list[Run]] = {}
    for run in runs:
        by_cell.setdefault(run.cell, []).append(run)
    labels = {cell: group[0].load.label for cell, group in by_cell.items()}
    often = Counter(labels.values())
    torn = torn_blocks([run for group in by_cell.values() for run in group], order)
    groups = [
        LoadGroup(
            cell,
            labels[cell] if often[labels[cell]] == 1 else f"{labels[cell]} (load {cell})",
            *amount_of(group[0].load),
            group,
            {repeat: why for (load, repeat), why in torn.items() if load == cell},
        )
        for cell, group in by_cell.items()
    ]
    return sorted(groups, key=lambda group: (group.unit, group.amount, group.cell))


def amount_of(load: Load) -> tuple[float, str]:
    """The highest of it, where it changes."""
    match load.shape:
        case OpenRate():
            return max(step.rate_rps for step in load.shape.steps), "requests/s"
        case Users():
            return max(stage.users for stage in load.shape.stages), "users"
        case _:
            return load.connections, "connections"


def unmade_blocks(order: Order, runs: Sequence[Run]) -> str | None:
    """Why no contrast is answered yet, in a sentence; None: all blocks that were declared are made, whatever the
    verdicts of their runs. Who looks after each block and stops at what he likes finds differences between equals."""
    ended = {run.run for run in runs if run.finished}
    blocks: dict[int, list[bool]] = {}
    for (cell, _), planned in _planned(order).items():
        blocks.setdefault(cell, []).append(all(run.run in ended for run in planned))
    made, declared = min(map(sum, blocks.values())), max(map(len, blocks.values()))
    if made >= declared:
        return None
    return f"{made} of {declared} blocks are made: approaches are compared when all of them are."


def torn_blocks(runs: Sequence[Run], order: Order | None) -> dict[Block, str]:
    """Those that count for no contrast, because the host may have been another from one of their runs to the next, and
    why."""
    others = replaced(runs)
    blocks: dict[Block, list[Run]] = {}
    for run in runs:
        if run.run not in others:
            blocks.setdefault((run.cell, run.repeat), []).append(run)
    planned = _planned(order) if order else {}
    torn: dict[Block, str] = {}
    for block, made in blocks.items():
        taken_s = _taken_s(made)
        expected_s = sum(run.expected_s or (order.expected_s if order else 0) for run in planned.get(block, ()))
        # an unknown boot is another than those known, but not of an invalid run: what an approach breaks tears no block
        if len({run.boot_id for run in made if run.boot_id or run.verdict != "invalid"}) > 1:
            torn[block] = "the host was started again between its runs, or it is not known whether it was"
        elif taken_s > max(LONGEST_SHARE * expected_s, LONGEST_S):
            asked = f"{expected_s / 60:,.0f}" if expected_s else "none"
            torn[block] = f"it took {taken_s / 60:,.0f} min, and {asked} were planned"
    return torn


def _taken_s(runs: Sequence[Run]) -> float:
    begun = [datetime.fromisoformat(run.started) for run in runs]
    ended = [datetime.fromisoformat(run.finished) for run in runs if run.finished]
    return (max([*begun, *ended]) - min(begun)).total_seconds()


def _planned(order: Order) -> dict[Block, list[PlannedRun]]:
    found: dict[Block, list[PlannedRun]] = {}
    for run in order.runs:
        found.setdefault((run.request.cell, run.request.repeat), []).append(run)
    return found
