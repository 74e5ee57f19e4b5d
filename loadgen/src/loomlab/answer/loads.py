"""The loads of an experiment, smallest first, and which runs were made at each."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from loomlab.answer.again import made_again
from loomlab.answer.blocks import torn_blocks
from loomlab.records.load import Load, OpenRate, Users
from loomlab.records.models import Run
from loomlab.records.order import Order

COUNTED: frozenset[str] = frozenset({"valid", "suspect"})
"""Verdicts of runs whose figures are summed up; those of the others would mislead."""


@dataclass(frozen=True)
class At:
    """One load; no two have the same label. `amount` is in connections, requests a second or users; `torn` says, by
    repeat, why a block counts for no contrast."""

    cell: int
    label: str
    amount: float
    unit: str
    runs: list[Run]
    torn: Mapping[int, str] = field(default_factory=dict)

    def of(self, approach: str) -> list[Run]:
        return [run for run in self.runs if run.approach == approach]

    def counted(self, approach: str) -> list[Run]:
        return [run for run in counting(self.runs) if run.approach == approach]


def counting(runs: Sequence[Run]) -> list[Run]:
    """Those whose figures are summed up: none that is invalid, and of several tries the one that counts."""
    replaced = made_again(runs)
    return [run for run in runs if run.verdict in COUNTED and run.run not in replaced]


def telling(runs: Sequence[Run]) -> list[Run]:
    """Those that say what an approach is: the ones that count, and of an approach that has none, all."""
    found = {run.run: run.approach for run in counting(runs)}
    return [run for run in runs if run.run in found or run.approach not in found.values()]


def loads_of(runs: Iterable[Run], order: Order | None = None) -> list[At]:
    """Smallest first."""
    found = list(runs)
    torn = torn_blocks(found, order)
    cells = []
    for cell, name in _names(found).items():
        here = [run for run in found if run.cell == cell]
        why = {repeat: reason for (of, repeat), reason in torn.items() if of == cell}
        cells.append(At(cell, name, *amount_of(here[0].load), here, why))
    return sorted(cells, key=lambda at: (at.unit, at.amount, at.cell))


def _names(runs: list[Run]) -> dict[int, str]:
    """Of each cell, all different."""
    names = {run.cell: run.load.label for run in reversed(runs)}
    often = Counter(names.values())
    return {cell: name if often[name] == 1 else f"{name} (load {cell})" for cell, name in sorted(names.items())}


def amount_of(load: Load) -> tuple[float, str]:
    """The highest of it, where it changes."""
    match load.shape:
        case OpenRate():
            return max(step.rate_rps for step in load.shape.steps), "requests/s"
        case Users():
            return max(stage.users for stage in load.shape.stages), "users"
        case _:
            return load.connections, "connections"
