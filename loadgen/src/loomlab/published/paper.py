"""A published experiment, as `loadgen/published/` has it: source, claims, figures, and the lab's own runs of it."""

import csv
import math
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import Field, model_validator

from loomlab.basics.grouping import grouped
from loomlab.records.files import Record
from loomlab.records.yamlfile import path_of


class Outcome(StrEnum):
    """Of a claim, or of a part of it."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    UNTESTED = "not tested"


class Claim(Record):
    """A value of each approach of `of`, or its ratio to that of `to`, or its growth from `from_level` on."""

    says: str = Field(description="In the lab's own words")
    untestable: str | None = Field(None, description="Why nothing that the lab measures would show it")
    loads: list[str] = Field([], description="Scenarios, or tool and endpoint; none: all of the paper's scenarios")
    levels: list[int] = Field([], description="Published loads; none: all that were run")
    figures: list[str] = Field([], description="As run.json names them, or as published.runs derives them")
    of: list[str] = Field([], description="Approaches, such as `tomcat-virtual` or `tomcat-virtual on JDK 21`")
    to: str | None = None
    from_level: int | None = Field(None, description="The published load of `to`, where it is not the claim's")
    above: float = Field(-math.inf, description="It holds where the whole interval is above")
    below: float = math.inf
    queues: bool = Field(True, description="Only runs in which requests queue are a test of it")
    per_cpu: bool = Field(False, description="Only as much load for each CPU as was published is a test of it")
    unscaled: bool = Field(False, description="Only the published load is a test of it")
    lasts_s: int | None = Field(None, description="Only runs of that length are a test of it")
    despite: list[str] = Field([], description="Rules of the verdict that may fail, as they do not touch the figures")
    note: str | None = Field(None, description="What speaks for or against it beforehand")

    @model_validator(mode="after")
    def _can_be_tested(self) -> Self:
        tested = bool(self.figures and self.of) and (self.above, self.below) != (-math.inf, math.inf)
        if tested == (self.untestable is not None):
            raise ValueError(f"{self.says!r} needs figures, approaches and limits, or says why it is untestable")
        return self

    def sides(self, of: str, level: int) -> list[tuple[str, int]]:
        """The approach and its published load, and those that it is held against, if any."""
        base = [(self.to or of, self.from_level or level)] if self.to or self.from_level else []
        return [(of, level), *base]

    def value(self, figures: Sequence[float], loads: Sequence[float]) -> float | None:
        """What it is about, from the figure of each side; None for a ratio of nothing."""
        if self.to:
            return figures[0] / figures[1] if min(figures) > 0 else None
        return (figures[0] - figures[1]) / (loads[0] - loads[1]) if self.from_level else figures[0]

    def outcome(self, low: float, high: float) -> Outcome:
        """Of an interval: one that reaches over a limit decides nothing."""
        if self.above < low and high < self.below:
            return Outcome.REPRODUCED
        return Outcome.NOT_REPRODUCED if high <= self.above or low >= self.below else Outcome.INCONCLUSIVE


class PublishedRun(Record):
    """A run of a paper's load."""

    experiment: str
    load: str = Field(description="The scenario, or tool and endpoint")
    host: str
    cpus: float
    approach: str
    jdk: int
    repeat: int
    level: int = Field(description="The published load that it stands for")
    amount: float = Field(description="The load that was run")
    lasts_s: int
    verdict: str
    failed: str = Field(description="The rules that make it invalid, words in a row")
    figures: dict[str, float] = Field(description="By name, without those that were not measured")

    @property
    def place(self) -> tuple[float, str, float]:
        """Where it was run, and with what load."""
        return self.amount, self.host, self.cpus

    def is_of(self, approach: str, level: int) -> bool:
        """Whether it is of that side of a claim."""
        return self.level == level and approach in {self.approach, f"{self.approach} on JDK {self.jdk}"}


class Paper(Record):
    """A published experiment; `figures` are by figure, approach and load, a value for each published run."""

    name: str
    title: str
    author: str | None
    url: str | None
    year: int
    ran_on: str = Field(description="Machines and versions")
    notes: list[str] = Field([], description="What a reader has to know of the text, or of what differs here")
    unit: Literal["connections", "users", "requests/s"] = Field(description="What its loads are counted in")
    cpus: float | None = Field(None, description="Those of the machine that ran nothing but the approach")
    experiments: list[str] = Field(
        min_length=1,
        description="What `make` runs for it; SCALE_PER_CPU is SCALE for each CPU of the approach, without it auto",
    )
    claims: list[Claim]
    figures: dict[tuple[str, str, int], list[float]]
    kept: list[PublishedRun] = Field(description="The runs that answer it on reproduced.md")

    @property
    def commands(self) -> list[tuple[str, dict[str, str]]]:
        """Verb and variables of each experiment."""
        words = [line.split() for line in self.experiments]
        return [(verb, dict(setting.split("=", 1) for setting in settings)) for verb, *settings in words]

    @property
    def scenarios(self) -> list[str]:
        """Those that are run for it."""
        return [variables["NAME"] for verb, variables in self.commands if verb == "scenario"]

    def values(self, claim: Claim, figure: str, sides: Sequence[tuple[str, int]]) -> tuple[float, ...]:
        """What was published of the same, a value for each published run."""
        runs = [self.figures.get((figure, approach, level), []) for approach, level in sides]
        if len(runs[-1]) == 1:
            runs[-1] = runs[-1] * len(runs[0])
        values = (claim.value(row, [level for _, level in sides]) for row in zip(*runs, strict=False))
        return tuple(value for value in values if value is not None)


HEAD = [name for name in PublishedRun.model_fields if name != "figures"]


def read_paper(folder: Path, name: str) -> Paper:
    """The paper of that name; raises UsageError with the nearest names for another one."""
    path = path_of(folder, name, "paper", "make papers")
    published = grouped(_rows(path.with_suffix(".csv")), lambda row: (row["figure"], row["approach"], row["level"]))
    figures = {what: [row["value"] for row in rows] for what, rows in published.items()}
    kept = [
        {column: row.pop(column) for column in HEAD} | {"figures": {name: text for name, text in row.items() if text}}
        for row in _rows(folder / "measured" / path.with_suffix(".csv").name)
    ]
    fields = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Paper.model_validate(fields | {"name": name, "figures": figures, "kept": kept})


def read_papers(folder: Path) -> list[Paper]:
    """All papers, by name."""
    return [read_paper(folder, path.stem) for path in sorted(folder.glob("*.yaml"))]


def _rows(path: Path) -> list[dict[str, str]]:
    """None where there is no file."""
    return [*csv.DictReader(path.read_text(encoding="utf-8").splitlines())] if path.exists() else []


def keep(folder: Path, paper: Paper, new: Sequence[PublishedRun]) -> None:
    """Writes the paper's runs, a row each; new ones take the place of those of the same load."""
    loads = {run.load for run in new}
    every = [*(run for run in paper.kept if run.load not in loads), *new]
    every.sort(key=lambda run: (run.load, run.experiment, run.repeat, run.level))
    figures = sorted({figure for run in every for figure in run.figures})
    with (folder / "measured" / f"{paper.name}.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, [*HEAD, *figures], lineterminator="\n")
        rows.writeheader()
        rows.writerows(run.model_dump(exclude={"figures"}) | run.figures for run in every)
