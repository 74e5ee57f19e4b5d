"""Published beside measured: each figure of a paper, and what differs in the set-up."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from loomlab.answer.papers.figures import factor
from loomlab.answer.papers.measured import KeptExperiment, KeptRun, Measured
from loomlab.answer.papers.model import Cell, Paper

SETUP = {
    "JDK": ("JDK",),
    "servers": ("Spring Boot", "Jetty"),
    "system": ("operating system", "kernel", "virtual machine", "host system"),
    "heap": ("heap",),
}
"""What is told of published settings whose names begin so."""


@dataclass(frozen=True)
class Beside:
    """A published figure and the lab's own of the same approach at the same level, in the published unit; `values` has
    one for each run that counts, `invalid`: they are of invalid runs, because there are no others."""

    cell: Cell
    values: list[float]
    amount: float | None
    invalid: bool

    @property
    def centre(self) -> float | None:
        return fmean(self.values) if self.values else None


def beside(paper: Paper, runs: Sequence[KeptRun]) -> list[Beside]:
    """Every figure of the paper that is of an approach at a level, in the paper's order; `runs` from the oldest on."""
    cells = [cell for cell in paper.cells() if cell.approach and cell.level]
    repeated = {_key(cell) for cell in cells if cell.repeat > 1}
    return [_beside(cell, runs, one_repeat=_key(cell) in repeated) for cell in cells]


def _key(cell: Cell) -> tuple[str | None, str | None, int | None]:
    return cell.figure, cell.approach, cell.level


def _beside(cell: Cell, runs: Sequence[KeptRun], *, one_repeat: bool) -> Beside:
    here = [run for run in runs if (run.approach, run.level) == (cell.approach, cell.level)]
    if one_repeat:
        here = here[cell.repeat - 1 : cell.repeat]
    counted = [run for run in here if run.verdict != "invalid"]
    scale = (factor(cell.unit, cell.figure) if cell.figure else None) or 1.0
    values = [run.figures[cell.figure] / scale for run in counted or here if cell.figure in run.figures]
    return Beside(cell, values, here[0].amount if here else None, bool(values) and not counted)


def mean_of(runs: Iterable[KeptRun], figure: str, approach: str | None, level: int) -> float | None:
    """Of the runs there that are not invalid; None where none has the figure."""
    here = [run for run in runs if (run.approach, run.level) == (approach, level) and run.verdict != "invalid"]
    values = [run.figures[figure] for run in here if figure in run.figures]
    return fmean(values) if values else None


def runs_of(measured: Measured) -> list[KeptRun]:
    """From the oldest on."""
    return [run for one in measured.experiments for run in sorted(one.runs, key=lambda run: run.repeat)]


def setup_rows(paper: Paper, experiments: Sequence[KeptExperiment]) -> Iterator[tuple[str, str, str]]:
    """What it is, as published, and here. Experiments may be of several hosts; scale, duration and servers they share.
    Of what a scenario does not follow, the one sentence has both."""

    def here(name: str) -> str:
        return "; or ".join(dict.fromkeys(one.setup.get(name, "not recorded") for one in experiments))

    machines = "; ".join(
        f"{one.name}, {one.cpus} CPUs" + (f", {one.memory_gib:g} GiB" if one.memory_gib else "") + f": {one.runs}"
        for one in paper.machines
    )
    newest = experiments[-1]
    yield "machines", machines or "not told", here("machine")
    for name, beginnings in SETUP.items():
        told = [f"{key}: {value}" for key, value in paper.setup.items() if key.startswith(beginnings)]
        ours = newest.setup.get(name, "not recorded") if name == "servers" else here(name)
        yield name, "; ".join(told) or "not told", ours
    lasts = newest.asked.get("DURATION")
    duration = "".join(f"; {key}: {value}" for key, value in paper.setup.items() if key.startswith("duration"))
    yield "scale", "1" + duration, newest.asked.get("SCALE", "1") + (f", {lasts} at most" if lasts else "")
    yield from (("not followed", "", sentence) for sentence in newest.differs)
