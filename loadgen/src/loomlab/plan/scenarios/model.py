"""Scenarios: a run, or a set of runs, by name. A file each, typed; what it says is what was published or designed,
before any scaling."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from loomlab.records.delay import delay_of
from loomlab.records.yamlfile import parse, path_of
from loomlab.tools.known import ToolName

ApproachName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
NUMBER = r"(\d{1,9}(?:\.\d{1,9})?)"
SECONDS_OF = {"ms": 0.001, "s": 1.0, "m": 60.0}
LONGEST_HANG_S = 60


def seconds(value: object) -> float:
    """The seconds of a text such as `300ms`, `60s` or `5m`."""
    match = re.fullmatch(f"{NUMBER}(ms|s|m)", str(value), re.ASCII)
    if match is None:
        raise ValueError("use a time with its unit such as 300ms, 60s or 5m")
    return float(match[1]) * SECONDS_OF[match[2]]


def whole_seconds(value: object) -> int:
    """The seconds of a time of at least 1 s."""
    time_s = seconds(value)
    if time_s < 1 or time_s != int(time_s):
        raise ValueError("use whole seconds such as 60s or 5m, at least 1s")
    return int(time_s)


def span_seconds(value: object) -> tuple[float, float]:
    """The seconds, from and to, of a text such as `1s-3s`."""
    shortest, _, longest = str(value).partition("-")
    if not longest or seconds(shortest) > seconds(longest):
        raise ValueError("use two times with their units, the shorter one first, such as 1s-3s")
    return seconds(shortest), seconds(longest)


def rate_rps(value: object) -> float:
    """Requests a second, of a text such as `10000/s`."""
    match = re.fullmatch(f"{NUMBER}/s", str(value), re.ASCII)
    if match is None or float(match[1]) <= 0:
        raise ValueError("use a rate above 0 with its unit such as 500/s")
    return float(match[1])


def _text(pattern: str, example: str) -> dict[str, Any]:
    return {"type": "string", "pattern": pattern, "examples": [example]}


def _or_list(schema: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [schema, {"type": "array", "items": schema, "minItems": 1}]})


RATE_TEXT = _text(r"^\d+(\.\d+)?/s$", "500/s")
WholeSeconds = Annotated[int, BeforeValidator(whole_seconds), WithJsonSchema(_text(r"^\d+(s|m)$", "60s"))]
Span = Annotated[tuple[float, float], BeforeValidator(span_seconds), WithJsonSchema(_text(r"^\S+-\S+$", "1s-3s"))]
Rate = Annotated[float, BeforeValidator(rate_rps), WithJsonSchema(RATE_TEXT)]
Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
OneOrMore = BeforeValidator(lambda value: value if isinstance(value, list) else [value])
Counts = Annotated[list[Count], OneOrMore, Field(min_length=1), _or_list({"type": "integer", "minimum": 1})]
Rates = Annotated[list[Rate], OneOrMore, Field(min_length=1), _or_list(RATE_TEXT)]


def _rising(rates: list[float]) -> list[float]:
    if rates != sorted(set(rates)):
        raise ValueError("use rates that rise from step to step")
    return rates


def _not_too_long(duration_s: int) -> int:
    if duration_s > LONGEST_HANG_S:
        raise ValueError(f"the backend hangs for {LONGEST_HANG_S}s at most")
    return duration_s


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
    rates: Annotated[list[Rate], Field(min_length=2), AfterValidator(_rising)]
    connections: Count
    step: WholeSeconds

    @property
    def duration(self) -> int:
        return self.step * len(self.rates)


class SpikeLoad(Part):
    """Users from 0 up to `users` in four fifths of the duration, then down to 0. Stepped: in four steps, each 30 %
    riser and 70 % tread."""

    shape: Literal["smooth-spike", "stepped-spike"]
    users: Count
    think_time: Span
    duration: WholeSeconds


AnyLoad = Annotated[ClosedLoad | RateLoad | LadderLoad | SpikeLoad, Field(discriminator="shape")]
PathAndQuery = Annotated[str | None, Field(pattern=r"^/[!-~]*$")]


class RequestKind(Part):
    """One kind of request. Every kind gets an equal share."""

    get: PathAndQuery = None
    post: PathAndQuery = None
    body: Annotated[str | None, Field(pattern=r"^[a-z0-9-]+\.json$", description="A file beside the scenario.")] = None

    @property
    def target(self) -> str:
        return self.get or self.post or ""

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
    duration: Annotated[WholeSeconds, AfterValidator(_not_too_long)]


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
    delay: Annotated[str, AfterValidator(lambda text: delay_of(text).text)] = Field(
        default="300", description="The backend's: ms, uniform:FROM:TO or lognormal:MEDIAN:P99."
    )
    requests: list[RequestKind] = Field(min_length=1)
    load: AnyLoad
    timeout: WholeSeconds = 30
    platform_threads: Annotated[Count | None, Field(description="Default: as many as connections.")] = None
    repeats: Count = 1
    hangs: list[BackendHang] = Field(default_factory=list)
    jdk: Literal[21, 25] = 25


def load_scenario(folder: Path, name: str) -> Scenario:
    """The scenario of that name; raises UsageError with the nearest names for another one."""
    path = path_of(folder, name, "scenario", "make scenarios")
    return parse_scenario(path.read_text(encoding="utf-8", errors="replace"), path.name)


def parse_scenario(text: str, file: str) -> Scenario:
    """The scenario; raises UsageError with one line for each mistake: file, line, field, value and what is allowed."""
    return parse(text, file, Scenario, union="load")


def names(folder: Path, suffix: str = "yaml") -> list[str]:
    """The names of all files of a kind there, in order."""
    return sorted(path.stem for path in folder.glob(f"*.{suffix}"))
