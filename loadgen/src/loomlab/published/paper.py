"""A published experiment: its source, its figures and its claims, as `loadgen/published/` has them."""

import csv
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from loomlab.plan.scenarios.model import ApproachName, ToolName, load_scenario
from loomlab.plan.scenarios.model import names as scenario_names
from loomlab.records.yamlfile import path_of

NOT_PUBLISHED: tuple[float, ...] = ()


class Part(BaseModel):
    """A part of a paper's file, which holds nothing else."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Side(Part):
    """One side of a ratio."""

    approach: ApproachName
    level: int | None = Field(None, description="A published load, where it is not the claim's")
    jdk: Literal[21, 25] | None = None

    def __str__(self) -> str:
        at = f" at {self.level:,}" if self.level else ""
        return self.approach + at + (f" on JDK {self.jdk}" if self.jdk else "")


class Claim(Part):
    """What a paper says, and what would show it: a ratio (`of` and `to`), a value of each of `approaches`, or how much
    that grows for each connection from the lowest to the highest of `levels` (`grows`)."""

    says: str = Field(description="In the lab's own words")
    untestable: str | None = Field(None, description="Why nothing that the lab measures would show it")
    scenarios: list[str] = Field([], description="The lab's, that show it")
    tool: ToolName | None = Field(None, description="With `endpoint` and `levels`, where no scenario shows it")
    endpoint: str | None = None
    levels: list[int] = Field([], description="Published loads; none: all of the scenarios")
    figures: list[str] = Field([], description="As run.json names them, or as published.runs derives them")
    of: Side | None = None
    to: Side | None = None
    approaches: list[ApproachName] = []
    grows: bool = False
    above: float | None = Field(None, description="It holds where the whole interval is above")
    below: float | None = None
    in_every_block: bool = Field(False, description="For counts that are 0 or not: no interval, each block by itself")
    queues: bool = Field(True, description="Only runs in which requests queue are a test of it")
    per_cpu: bool = Field(False, description="Only as much load for each CPU as was published is a test of it")
    unscaled: bool = Field(False, description="Only the published load is a test of it")
    lasts_s: int | None = Field(None, description="Only runs of that length are a test of it")
    despite: list[str] = Field([], description="Rules of the verdict that may fail, as they do not touch the figures")
    note: str | None = Field(None, description="What speaks for or against it beforehand")

    @model_validator(mode="after")
    def _can_be_tested(self) -> Self:
        tested = bool(self.figures) and (self.above is not None or self.below is not None)
        sides = (self.of is not None and self.to is not None) != bool(self.approaches)
        shown = bool(self.scenarios) != (self.tool is not None)
        if (self.untestable is None) != (tested and sides and shown):
            raise ValueError(f"{self.says!r} needs figures, limits, sides and a load, or says why it is untestable")
        return self

    def holds(self, value: float) -> bool:
        """Whether a value lies within the limits."""
        return (self.above is None or value > self.above) and (self.below is None or value < self.below)


class Paper(Part):
    """A published experiment."""

    title: str
    author: str | None
    url: str | None
    year: int
    ran_on: str = Field(description="Machines and versions")
    notes: list[str] = Field([], description="What a reader has to know of the text, or of what differs here")
    unit: Literal["connections", "users", "requests/s"] = Field(description="What its loads are counted in")
    cpus: float | None = Field(None, description="Those of the machine that ran nothing but the approach")
    scale_per_cpu: dict[str, float] = Field({}, description="The SCALE for each CPU of the approach, by scenario")
    sets: dict[Literal["HTTP_CLIENT", "GC", "DURATION"], str] = Field({}, description="Unless the user sets them")
    claims: list[Claim]


@dataclass(frozen=True)
class Published:
    """A paper with its figures and the scenarios that run it."""

    name: str
    paper: Paper
    scenarios: list[str]
    file: Path

    @cached_property
    def _figures(self) -> dict[tuple[str, str, int], list[float]]:
        found: dict[tuple[str, str, int], list[float]] = defaultdict(list)
        if self.file.exists():
            with self.file.open(encoding="utf-8", newline="") as rows:
                for row in csv.DictReader(rows):
                    found[row["figure"], row["approach"], int(row["level"])].append(float(row["value"]))
        return found

    def values(self, claim: Claim, figure: str, of: str, level: int) -> tuple[float, ...]:
        """What was published of that part of a claim, a value for each published run; of a ratio, its quotients."""
        if claim.of is None or claim.to is None:
            low, high = (self._figures[figure, of, one] for one in (min(claim.levels or [level]), level))
            if not claim.grows:
                return tuple(high)
            return tuple((b - a) / (level - min(claim.levels)) for a, b in zip(low, high, strict=False))
        if claim.of.jdk or claim.to.jdk:
            return NOT_PUBLISHED
        upper, lower = (self._figures[figure, side.approach, side.level or level] for side in (claim.of, claim.to))
        return tuple(a / b for a, b in zip(upper, lower * len(upper) if len(lower) == 1 else lower, strict=False) if b)


def paper_names(folder: Path) -> list[str]:
    """The names of all papers, in order."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def published(folder: Path, name: str, scenarios: Path) -> Published:
    """The paper of that name; raises UsageError with the nearest names for another one."""
    path = path_of(folder, name, "paper", "make papers")
    paper = Paper.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    sources = {one: load_scenario(scenarios, one).published for one in scenario_names(scenarios)}
    own = [one for one, source in sources.items() if source and source.experiment == name]
    return Published(name, paper, own, path.with_suffix(".csv"))
