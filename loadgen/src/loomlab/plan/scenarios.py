"""Scenarios: runs by name, as published or designed, a typed file each. `factor` is of connections, users and rates."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from loomlab.basics.errors import UsageError
from loomlab.records.endpoints import Endpoint, delay_of, endpoint_of
from loomlab.records.files import Record, parse, path_of
from loomlab.records.load import MOST_STEPS, Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.models import Hang, ScaledScenario
from loomlab.tools.known import ToolName

NUMBER = r"(\d{1,9}(?:\.\d{1,9})?)"
SECONDS_OF = {"ms": 0.001, "s": 1.0, "m": 60.0}
SPIKE_STEPS, SLOWEST_RPS = 4, 0.001
RISE_SHARE, RISER_SHARE = 0.8, 0.3
"""Of a spike's duration, the users rise in 80 %; of a step of a stepped one, its riser takes 30 %."""
SHORTEST_STEP_S = 8  # its first two seconds and its last are not judged; whether latency grows shows in four at least
FEWEST_PER_SPIKE = 2 * SPIKE_STEPS * 2
Shapes = Iterator[tuple[int, Shape]]  # connections and shape of each load


def seconds(value: object) -> float:
    """The seconds of a text such as `300ms`, `60s` or `5m`."""
    match = re.fullmatch(f"{NUMBER}(ms|s|m)", str(value), re.ASCII)
    if match is None:
        raise ValueError("use a time with its unit such as 300ms, 60s or 5m")
    return float(match[1]) * SECONDS_OF[match[2]]


def whole_seconds(value: object) -> int:
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


def rising(numbers: list[Any]) -> list[Any]:
    """The numbers, of which each is larger than the one before."""
    if numbers != (good := sorted(set(numbers))):
        raise ValueError(f"each must be larger than the last: use {','.join(f'{number:.15g}' for number in good)}")
    return numbers


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _scaled(count: int, factor: float) -> int:
    return max(round(count * factor), 1)


def _step(rate: float, factor: float, lasts_s: int) -> RateStep:
    return RateStep(max(round(rate * factor, 3), SLOWEST_RPS), lasts_s)


def _check_duration(lasts_s: int, shortest_s: int, what: str) -> None:
    if lasts_s < shortest_s:
        raise UsageError(f"DURATION={lasts_s}s is too short for {what}: use {shortest_s}s or more.")


TimeText = Annotated[str, Field(pattern=r"^\d+(s|m)$", examples=["60s"])]
SpanText = Annotated[str, Field(pattern=r"^\S+-\S+$", examples=["1s-3s"])]
RateText = Annotated[str, Field(pattern=r"^\d+(\.\d+)?/s$", examples=["500/s"])]
WholeSeconds = Annotated[int, BeforeValidator(whole_seconds, TimeText)]
Span = Annotated[tuple[float, float], BeforeValidator(span_seconds, SpanText)]
Rate = Annotated[float, BeforeValidator(rate_rps, RateText)]
Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
CountList = Annotated[list[Count], Field(min_length=1)]
RateList = Annotated[list[Rate], Field(min_length=1)]
Counts = Annotated[CountList, BeforeValidator(_listed, Count | CountList)]
Rates = Annotated[RateList, BeforeValidator(_listed, Rate | RateList)]
PathAndQuery = Annotated[str | None, Field(pattern=r"^/[!-~]*$")]


class ClosedLoad(Record):
    """Connections that are always busy. Several numbers of connections make several loads."""

    shape: Literal["closed"]
    connections: Counts
    requests_per_connection: Count
    duration: WholeSeconds = Field(default=3600, description="The longest the run may take.")

    def shapes(self, factor: float, lasts_s: int) -> Shapes:
        for connections in (_scaled(count, factor) for count in self.connections):
            yield connections, Closed(connections * self.requests_per_connection, lasts_s)


class RateLoad(Record):
    """Requests that start on time over at most so many connections. A list of either makes several loads."""

    shape: Literal["rate"]
    rate: Rates
    connections: Counts
    duration: WholeSeconds

    @model_validator(mode="after")
    def _one_list(self) -> Self:
        if len(self.rate) > 1 and len(self.connections) > 1:
            raise ValueError("only one of rate and connections may be a list: write two scenarios")
        return self

    def shapes(self, factor: float, lasts_s: int) -> Shapes:
        for rate in self.rate:
            shape = OpenRate((_step(rate, factor, lasts_s),))
            yield from ((_scaled(count, factor), shape) for count in self.connections)


class LadderLoad(Record):
    """Rates one after another in one run."""

    shape: Literal["rate-ladder"]
    rates: Annotated[list[Rate], Field(min_length=2, max_length=MOST_STEPS), AfterValidator(rising)]
    connections: Count
    step: WholeSeconds

    @property
    def duration(self) -> int:
        return self.step * len(self.rates)

    def shapes(self, factor: float, lasts_s: int) -> Shapes:
        count = len(self.rates)
        _check_duration(lasts_s, count * SHORTEST_STEP_S, f"{count} steps")
        steps = tuple(_step(rate, factor, lasts_s // count) for rate in self.rates)
        yield _scaled(self.connections, factor), OpenRate(steps)


class SpikeLoad(Record):
    """Users up in four fifths of the duration, then down. Stepped: in four steps, each 30 % riser."""

    shape: Literal["smooth-spike", "stepped-spike"]
    users: Count
    think_time: Span
    duration: WholeSeconds

    def shapes(self, factor: float, lasts_s: int) -> Shapes:
        _check_duration(lasts_s, FEWEST_PER_SPIKE, "a spike")
        users, rise_s = _scaled(self.users, factor), round(RISE_SHARE * lasts_s)
        stages = [UserStage(users, rise_s)]
        if self.shape == "stepped-spike":
            ends_s = [round(rise_s * step / SPIKE_STEPS) for step in range(SPIKE_STEPS + 1)]
            stages = []
            for step in range(1, SPIKE_STEPS + 1):
                height, step_s = round(users * step / SPIKE_STEPS), ends_s[step] - ends_s[step - 1]
                riser_s = max(round(RISER_SHARE * step_s), 1)
                stages += [UserStage(height, riser_s), UserStage(height, step_s - riser_s)]
        yield users, Users((*stages, UserStage(0, lasts_s - rise_s)), self.think_time)


class RequestKind(Record):
    """One kind of request. Every kind gets an equal share."""

    get: PathAndQuery = None
    post: PathAndQuery = None
    body: Annotated[str | None, Field(pattern=r"^[a-z0-9-]+\.json$", description="A file beside the scenario.")] = None

    @property
    def target(self) -> str:
        return self.get or self.post or ""

    @model_validator(mode="after")
    def _one_method(self) -> Self:
        if (self.get is None) == (self.post is None) or (self.post is None) != (self.body is None):
            raise ValueError("use either get with a path, or post with a path and a body")
        return self


class BackendHang(Record):
    """The backend answers nothing, for so long, from then on."""

    at: WholeSeconds
    duration: Annotated[int, Field(le=60), BeforeValidator(whole_seconds, TimeText)]


class Publication(Record):
    """Where the run was published, and what of it this scenario does not follow."""

    experiment: str
    run: str
    differs: list[str] = Field(default_factory=list)


class Scenario(Record):
    """What `make scenario` runs; without `published`, one of the lab's own."""

    title: str
    published: Publication | None = None
    question: str = Field(description="What the scenario is to show.")
    tool: ToolName
    approaches: list[Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]] = Field(min_length=1)
    delay: Annotated[str, AfterValidator(lambda text: delay_of(text).text)] = Field(
        default="300", description="The backend's: ms, uniform:FROM:TO or lognormal:MEDIAN:P99."
    )
    requests: list[RequestKind] = Field(min_length=1)
    load: ClosedLoad | RateLoad | LadderLoad | SpikeLoad = Field(discriminator="shape")
    timeout: WholeSeconds = 30
    platform_threads: Annotated[Count | None, Field(description="Default: as many as connections.")] = None
    repeats: Count = 1
    hangs: list[BackendHang] = Field(default_factory=list, max_length=100)
    jdk: Literal[21, 25] = 25

    @property
    def endpoints(self) -> list[Endpoint]:
        return [endpoint_of(kind.target, delay_of(self.delay)) for kind in self.requests]

    def shapes(self, factor: float = 1, duration_s: int | None = None) -> Shapes:
        """Those that are run; raises UsageError when the duration is too short for the shape."""
        return self.load.shapes(factor, duration_s or self.load.duration)


def load_scenario(folder: Path, name: str) -> Scenario:
    """The scenario of that name; raises UsageError with the nearest names for another one, and a line a mistake."""
    path = path_of(folder, name, "scenario", "make scenarios")
    return parse(path.read_text(encoding="utf-8", errors="replace"), path.name, Scenario, union="load")


def names(folder: Path, suffix: str = "yaml") -> list[str]:
    return sorted(path.stem for path in folder.glob(f"*.{suffix}"))


def scenario_loads(scenario: Scenario, folder: Path, factor: float = 1, duration_s: int | None = None) -> list[Load]:
    """The loads; bodies are files of the folder. Raises UsageError where one is missing, and as `shapes`."""
    targets: list[Target] = []
    for kind, endpoint in zip(scenario.requests, scenario.endpoints, strict=True):
        if kind.body is None:
            targets.append(Target(kind.target, "GET", endpoint.headers))
        elif (body := folder / kind.body).is_file():
            targets.append(Target(kind.target, "POST", (*endpoint.headers, "Content-Type: application/json"), body))
        else:
            raise UsageError(f"There is no {kind.body} beside the scenario: put the body of POST {kind.target} there.")
    shapes = scenario.shapes(factor, duration_s)
    return [Load("", tuple(targets), connections, shape, scenario.timeout) for connections, shape in shapes]


def hangs_of(scenario: Scenario, duration_s: int | None = None) -> list[Hang]:
    """The backend's hangs, at the scenario's share of the run; raises UsageError when they do not fit."""
    load = scenario.load
    lasts_s = duration_s or load.duration
    if isinstance(load, LadderLoad):
        lasts_s -= lasts_s % len(load.rates)
    hangs = [Hang(at_s=hang.at * lasts_s / load.duration, duration_s=hang.duration) for hang in scenario.hangs]
    for hang in hangs:
        if hang.at_s + hang.duration_s >= lasts_s:
            fact = f"The backend's hang of {hang.duration_s:.0f} s does not end within the run's {lasts_s} s"
            raise UsageError(f"{fact}: use a longer DURATION.")
    return hangs


def scaled_scenario(name: str, scenario: Scenario, factor: float) -> ScaledScenario:
    source = scenario.published.model_dump() if scenario.published else {}
    return ScaledScenario(name=name, title=scenario.title, question=scenario.question, scale=factor, **source)
