"""How much a process holds: the objective that it is held against, and what a search for its capacity found."""

from typing import Annotated, Literal

from pydantic import Field

from loomlab.records.files import Figure, Moment, Record
from loomlab.records.load import MOST

Outcome = Literal["held", "failed", "spoilt"]
Rps = Annotated[float, Field(gt=0, le=MOST)]
ABOVE, LONGEST_TRIAL_S = 12, 120  # requests above a percentile, ten of which are needed; to have them
PERCENT = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p99_9": 99.9}


class Objective(Record):
    """What a rate is held by: a latency below so many ms, or errors below that share of the requests."""

    figure: Literal["p50", "p90", "p95", "p99", "p99_9", "max", "mean", "errors"]
    below: float = Field(gt=0, le=60_000)

    @property
    def of_latency(self) -> bool:
        return self.figure != "errors"

    @property
    def name(self) -> str:
        return self.figure.replace("_", ".")

    def __str__(self) -> str:
        return f"{self.name} < {f'{self.below:,.9g} ms' if self.of_latency else f'{100 * self.below:.4g} %'}"


class Search(Record):
    """How a process is searched for the highest rate that it holds."""

    objectives: list[Objective] = Field(min_length=1)
    start_rps: Rps = Field(description="Where nothing is known yet")
    most_rps: Rps = Field(description="Beyond it load generator or backend would give out")
    held_s: float = Field(gt=0, description="Connections of a trial, for each request a second")
    trial_s: int = Field(ge=5, le=3600, description="Length of a trial, if that has enough requests for the percentile")


class Trial(Record):
    """One rate, offered for a while; latency counts from when a request was due."""

    rate_rps: Rps
    outcome: Outcome = Field(description="`spoilt`: the host was disturbed, so it says nothing")
    why: str | None = Field(None, description="Why it was not held, or what spoilt it")
    gave_out: str | None = Field(None, description="What was at its limit")
    elsewhere: bool = Field(False, description="What gave out is not the service")
    started: Moment
    cpu_share: Figure | None = Field(None, description="Of the service's CPUs, how much was used")


class Capacity(Record):
    """raw/capacity.json, and a field of run.json: the highest rate that one process held, approached from below."""

    objectives: list[Objective]
    rps: Figure | None = Field(None, description="On a grid with steps of 2.5 %; null: none was held")
    at_least: bool = Field(False, description="Nothing failed above it, or what gave out is not the service")
    failed_rps: Figure | None = Field(None, description="The lowest rate above it that failed twice")
    gave_out: str | None = Field(None, description="What was at its limit there")
    failed_cpu_share: Figure | None = Field(None, description="How much of the service's CPUs was used there")
    cut_off: str | None = Field(None, description="Why the search ended before the two were neighbours")
    trials: list[Trial] = Field(default_factory=list)
