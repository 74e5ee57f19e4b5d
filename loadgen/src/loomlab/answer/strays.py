"""Runs that lie in an experiment's folder and are not compared, such as those of folders that a hand merged."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loomlab.records.load import OpenRate, Users
from loomlab.records.models import Request, Run
from loomlab.records.order import Order

MOST_NAMED = 4
"""Runs in a sentence."""
Parts = Mapping[str, Callable[[Run | Request], str | None]]


def _steps(run: Run | Request) -> str | None:
    match run.load.shape:
        case OpenRate(steps=steps):
            return ", ".join(f"{step.rate_rps:,.9g} requests/s for {step.duration_s} s" for step in steps)
        case Users(stages=stages, think_s=(least, most)):
            told = ", ".join(f"{stage.users:,} users within {stage.duration_s} s" for stage in stages)
            return f"{told}, who think {least:g} to {most:g} s"
        case _:
            return None


ALIKE: Parts = {
    "amount": lambda told: told.load.label,
    "steps": _steps,
    "connections": lambda told: f"{told.load.connections:,}",
    "requests": lambda told: ", ".join(f"{one.method} {one.target}" for one in told.load.targets),
    "delay": lambda told: told.delay,
    "tool": lambda told: told.tool,
    "number of the load": lambda told: str(told.cell),
    "JDK": lambda told: str(told.jdk),
    "collector": lambda told: told.gc if isinstance(told, Request) else told.gc_name,
    "client": lambda told: told.http_client,
    "style": lambda told: told.style,
}
"""What a run shares with what was planned of it, and with the others of its load, whatever the warm-up made of its
length; None where a record is older than the setting."""
CURE = "move what is of another experiment out of runs/, then run loomlab summarise on the experiment's folder."


@dataclass(frozen=True)
class Strays:
    """`doubts` say why the runs of these names are not compared."""

    names: frozenset[str]
    doubts: list[str]

    def without(self, runs: Iterable[Run]) -> list[Run]:
        return [run for run in runs if run.run not in self.names]


def strays_of(runs: Sequence[Run], order: Order | None) -> Strays:
    """Runs that the order does not have, or has otherwise; where there is none, all of a load whose runs differ in what
    they asked for, because nothing tells which of them belong here."""
    return _unlike_one_another(runs) if order is None else _unlike(order, runs)


def _unlike(order: Order, runs: Sequence[Run]) -> Strays:
    planned = {run.run: run.request for run in order.runs}
    found: dict[str, list[str]] = {}
    for run in runs:
        if run.run not in planned:
            found.setdefault("not in order.json", []).append(run.run)
        elif differing := _differing([run, planned[run.run]], "; there "):
            found.setdefault(f"not as in order.json in {differing}", []).append(run.run)
    return Strays(
        frozenset(name for names in found.values() for name in names),
        [_stray(names, why) for why, names in found.items()],
    )


def _stray(names: Sequence[str], why: str) -> str:
    more = len(names) - MOST_NAMED
    named = ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    be, they = ("is", "it is") if len(names) == 1 else ("are", "they are")
    return f"{named} {be} {why}, so {they} not compared: {CURE}"


def _unlike_one_another(runs: Sequence[Run]) -> Strays:
    names: set[str] = set()
    doubts = []
    for cell in sorted({run.cell for run in runs}):
        here = [run for run in runs if run.cell == cell]
        differing = _differing(here, "; ")
        if differing:
            names |= {run.run for run in here}
            doubts.append(f"The runs of load {cell} differ in {differing}, so none of them is compared: {CURE}")
    return Strays(frozenset(names), doubts)


def _differing(told: Sequence[Run | Request], between: str) -> str | None:
    """The first part in which they do, with its values."""
    for part, of in ALIKE.items():
        values = dict.fromkeys(value for value in map(of, told) if value is not None)
        if len(values) > 1:
            return f"{part} ({between.join(values)})"
    return None
