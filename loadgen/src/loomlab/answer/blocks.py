"""Which runs make a block, and how many of the blocks that were declared are made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from loomlab.answer.again import made_again
from loomlab.records.models import Run
from loomlab.records.order import Order, PlannedRun

LONGEST_SHARE, LONGEST_S = 2, 3600
"""Of the time that was planned for a block, and so long in any case: a block that took more than both is torn."""
type Place = tuple[int, int]
"""A load, and a repeat."""


@dataclass(frozen=True)
class Made:
    """Blocks, at the load that has the fewest."""

    whole: int
    declared: int

    @property
    def early(self) -> str | None:
        """Why no contrast is answered yet, in a sentence; None: each is. Who looks after each block and stops at what
        he likes finds differences between equals."""
        if self.whole >= self.declared:
            return None
        return f"{self.whole} of {self.declared} blocks are made: approaches are compared when all of them are."


def made_of(order: Order, runs: Sequence[Run]) -> Made:
    """Whatever the verdicts of their runs are."""
    ended = {run.run for run in runs if run.finished}
    blocks: dict[int, list[bool]] = {}
    for (cell, _), planned in _planned(order).items():
        blocks.setdefault(cell, []).append(all(one.run in ended for one in planned))
    return Made(min(map(sum, blocks.values())), max(map(len, blocks.values())))


def torn_blocks(runs: Sequence[Run], order: Order | None) -> dict[Place, str]:
    """Those that count for no contrast, because the host may have been another from one of their runs to the next, and
    why."""
    replaced = made_again(runs)
    blocks: dict[Place, list[Run]] = {}
    for run in runs:
        if run.run not in replaced:
            blocks.setdefault((run.cell, run.repeat), []).append(run)
    planned = _planned(order) if order else {}
    planned_s = {
        place: sum(one.expected_s or (order.expected_s if order else 0) for one in ones)
        for place, ones in planned.items()
    }
    return dict(_torn(blocks, planned_s))


def _torn(blocks: Mapping[Place, Sequence[Run]], planned_s: Mapping[Place, int]) -> Iterator[tuple[Place, str]]:
    for place, runs in blocks.items():
        took_s = _took_s(runs)
        expected_s = planned_s.get(place, 0)
        if len(_boots(runs)) > 1:
            yield place, "the host was started again between its runs, or it is not known whether it was"
        elif took_s > max(LONGEST_SHARE * expected_s, LONGEST_S):
            planned = f"{expected_s / 60:,.0f}" if expected_s else "none"
            yield place, f"it took {took_s / 60:,.0f} min, and {planned} were planned"


def _boots(runs: Sequence[Run]) -> set[str | None]:
    """An unknown one is another than those known, but not of an invalid run: what an approach breaks tears no block."""
    return {run.boot_id for run in runs if run.boot_id or run.verdict != "invalid"}


def _took_s(runs: Sequence[Run]) -> float:
    """0 where the runs do not tell."""
    try:
        begun = [datetime.fromisoformat(run.started) for run in runs]
        ended = [datetime.fromisoformat(run.finished) for run in runs if run.finished]
        return (max([*begun, *ended]) - min(begun)).total_seconds()
    except (TypeError, ValueError):
        return 0


def _planned(order: Order) -> dict[Place, list[PlannedRun]]:
    found: dict[Place, list[PlannedRun]] = {}
    for run in order.runs:
        found.setdefault((run.request.cell, run.request.repeat), []).append(run)
    return found
