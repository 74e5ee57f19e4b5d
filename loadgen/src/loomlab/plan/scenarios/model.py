"""Scenarios: a run, or a set of runs, by name. A file each, typed; what it says is what was published or designed,
before any scaling."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from loomlab.basics.errors import UsageError
from loomlab.plan.scenarios.units import Count, Counts, Rate, Rates, Span, WholeSeconds
from loomlab.records.delay import delay_of

ToolName = Literal["ab", "hey", "vegeta", "users"]
ApproachName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]


def _known_delay(text: str) -> str:
    try:
        return delay_of(text).text
    except UsageError as error:
        raise ValueError(str(error).partition(": ")[2].rstrip(".")) from None


LONGEST_HANG_S = 60


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ClosedLoad(Part):
    """Connections that are always busy. Several numbers of connections make several loads."""

    shape: Literal["closed"]
    connections: Counts
    requests_per_connection: Count
    duration: WholeSeconds = Field(default=3600, description="The longest the run may take.")


class RateLoad(Part):
    """Requests that start on time over at most so many connections. Several numbers of connections, or several rates,
    make several loads."""

    shape: Literal["rate"]
    rate: Rates
    connections: Counts
    duration: WholeSeconds

    @model_validator(mode="after")
    def _one_list(self) -> Self:
        if len(self.rate) > 1 and len(self.connections) > 1:
            raise ValueError("only one of rate and connections may be a list: write two scenarios")
        return self


class LadderLoad(Part):
    """Rates one after another in one run."""

    shape: Literal["rate-ladder"]
    rates: list[Rate] = Field(min_length=2)
    connections: Count
    step: WholeSeconds

    @field_validator("rates")
    @classmethod
    def _rising(cls, rates: list[float]) -> list[float]:
        if rates != sorted(set(rates)):
            raise ValueError("use rates that rise from step to step")
        return rates


class SpikeLoad(Part):
    """Users from 0 up to `users` in four fifths of the duration, then down to 0. Stepped: in four steps, each 30 %
    riser and 70 % tread."""

    shape: Literal["smooth-spike", "stepped-spike"]
    users: Count
    think_time: Span
    duration: WholeSeconds


AnyLoad = Annotated[ClosedLoad | RateLoad | LadderLoad | SpikeLoad, Field(discriminator="shape")]


class RequestKind(Part):
    """One kind of request. Every kind gets an equal share."""

    get: Annotated[str | None, Field(pattern=r"^/[!-~]*$")] = None
    post: Annotated[str | None, Field(pattern=r"^/[!-~]*$")] = None
    body: Annotated[str | None, Field(pattern=r"^[a-z0-9-]+\.json$", description="A file beside the scenario.")] = None

    @model_validator(mode="after")
    def _one_method(self) -> Self:
        if (self.get is None) == (self.post is None):
            raise ValueError("use either get or post, with the path")
        if (self.post is None) != (self.body is None):
            raise ValueError("a post has a body, a get has none")
        return self


class BackendHang(Part):
    """The backend answers nothing, for so long, from then on."""

    at: WholeSeconds
    duration: WholeSeconds

    @field_validator("duration")
    @classmethod
    def _not_too_long(cls, duration: int) -> int:
        if duration > LONGEST_HANG_S:
            raise ValueError(f"the backend hangs for {LONGEST_HANG_S}s at most")
        return duration


class Publication(Part):
    """Where the run was published, and what of it this scenario does not follow."""

    experiment: str
    run: str
    differs: list[str] = Field(default_factory=list)


class Scenario(Part):
    """What `make scenario` runs; without `published`, one of the lab's own."""

    title: str
    published: Publication | None = None
    question: str = Field(description="What the scenario is to show.")
    tool: ToolName
    approaches: list[ApproachName] = Field(min_length=1)
    delay: Annotated[str, AfterValidator(_known_delay)] = Field(
        default="300", description="The backend's: ms, uniform:FROM:TO or lognormal:MEDIAN:P99."
    )
    requests: list[RequestKind] = Field(min_length=1)
    load: AnyLoad
    timeout: WholeSeconds = 30
    platform_threads: Annotated[Count | None, Field(description="Default: as many as connections.")] = None
    repeats: Count = 1
    hangs: list[BackendHang] = Field(default_factory=list)
    jdk: Literal[21, 25] = 25

    @model_validator(mode="after")
    def _tool_can(self) -> Self:
        able = {
            "ab": ("closed",),
            "hey": ("closed",),
            "vegeta": ("rate", "rate-ladder"),
            "users": ("closed", "smooth-spike", "stepped-spike"),
        }[self.tool]
        if self.load.shape not in able:
            raise ValueError(f"{self.tool} cannot do the shape {self.load.shape}: it does {', '.join(able)}")
        if self.tool in {"ab", "hey"} and len(self.requests) > 1:
            raise ValueError(f"{self.tool} sends one kind of request: use users")
        return self

    @model_validator(mode="after")
    def _hangs_within(self) -> Self:
        duration = duration_s(self.load)
        for hang in self.hangs:
            if hang.at + hang.duration >= duration:
                raise ValueError(f"a hang from {hang.at}s for {hang.duration}s does not end within the {duration}s")
        return self


def duration_s(load: AnyLoad) -> int:
    """The longest the load lasts."""
    return load.step * len(load.rates) if isinstance(load, LadderLoad) else load.duration


def json_schema() -> dict[str, Any]:
    """For editors: what a scenario file may hold."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Written by `loomlab schema`.",
        **Scenario.model_json_schema(),
    }


def names(folder: Path) -> list[str]:
    """Of all files there, in order."""
    return sorted(path.stem for path in folder.glob("*.yaml"))
