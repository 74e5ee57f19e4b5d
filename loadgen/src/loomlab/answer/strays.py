"""Runs that lie in an experiment's folder and are not compared, such as those of folders that a hand merged."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loomlab.records.models import Run
from loomlab.records.order import Order

MOST_NAMED = 4
"""Runs in a sentence."""
ALIKE: Mapping[str, Callable[[Run], str]] = {
    "amount": lambda run: run.load.label,
    "connections": lambda run: f"{run.load.connections:,}",
    "requests": lambda run: ", ".join(f"{one.method} {one.target}" for one in run.load.targets),
    "delay": lambda run: run.delay,
    "tool": lambda run: run.tool,
}
"""What the runs of one load share, whatever the warm-up made of its length."""
CURE = "move what is of another experiment out of runs/, then run loomlab summarise on the experiment's folder."


@dataclass(frozen=True)
class Strays:
    """`doubts` say why the runs of these names are not compared."""

    names: frozenset[str]
    doubts: list[str]

    def without(self, runs: Iterable[Run]) -> list[Run]:
        return [run for run in runs if run.run not in self.names]


def strays_of(runs: Sequence[Run], order: Order | None) -> Strays:
    """Runs that the order does not have, where there is one; and all of a load whose runs differ in what they asked
    for, because nothing tells which of them belong here."""
    planned = {run.run for run in order.runs} if order else {run.run for run in runs}
    foreign = [run.run for run in runs if run.run not in planned]
    names = set(foreign)
    doubts = [_foreign(foreign)] if foreign else []
    for cell in sorted({run.cell for run in runs}):
        here = [run for run in runs if run.cell == cell and run.run in planned]
        differing = _differing(here)
        if differing:
            names |= {run.run for run in here}
            doubts.append(f"The runs of load {cell} differ in {differing}, so none of them is compared: {CURE}")
    return Strays(frozenset(names), doubts)


def _foreign(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    named = ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    they = "is not in order.json, so it is" if len(names) == 1 else "are not in order.json, so they are"
    return f"{named} {they} not compared: {CURE}"


def _differing(runs: Sequence[Run]) -> str | None:
    """The first thing in which they do, with its values."""
    for part, of in ALIKE.items():
        values = dict.fromkeys(map(of, runs))
        if len(values) > 1:
            return f"{part} ({'; '.join(values)})"
    return None
