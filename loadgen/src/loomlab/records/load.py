"""What a load generator is asked to do, whatever the tool. Times are seconds, rates requests a second."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
MOST = 1_000_000_000  # requests, requests a second, connections, users and seconds: more is no load
MOST_GENERATORS = 4  # that share a load
MOST_STEPS = 100  # of a ladder, and stages of users: each is judged
Count = Annotated[int, Field(ge=1, le=MOST)]
CountOrZero = Annotated[int, Field(ge=0, le=MOST)]


@dataclass(frozen=True, config=STRICT)
class Closed:
    """Closed model: connections send their next request at an answer, until `requests` are answered or time is up."""

    requests: Count
    duration_s: Count
    kind: Literal["closed"] = "closed"


@dataclass(frozen=True, config=STRICT)
class RateStep:
    rate_rps: Annotated[float, Field(gt=0, le=MOST)]
    duration_s: Count


@dataclass(frozen=True, config=STRICT)
class OpenRate:
    """Open model: requests start on time, whatever became of those before; steps follow one another at once."""

    steps: Annotated[tuple[RateStep, ...], Field(min_length=1, max_length=MOST_STEPS)]
    kind: Literal["open-rate"] = "open-rate"

    @property
    def duration_s(self) -> int:
        return sum(step.duration_s for step in self.steps)

    @property
    def requests(self) -> int:
        """How many are offered in all."""
        return round(sum(step.rate_rps * step.duration_s for step in self.steps))


@dataclass(frozen=True, config=STRICT)
class UserStage:
    """Up or down to `users` at an even pace within `duration_s`."""

    users: CountOrZero
    duration_s: CountOrZero


@dataclass(frozen=True, config=STRICT)
class Users:
    """Closed model of users who pause for `think_s` (from, to) after each answer; their number follows the stages."""

    stages: Annotated[tuple[UserStage, ...], Field(min_length=1, max_length=MOST_STEPS)]
    think_s: tuple[float, float] = (0.0, 0.0)
    kind: Literal["users"] = "users"

    @property
    def duration_s(self) -> int:
        return sum(stage.duration_s for stage in self.stages)

    @property
    def most(self) -> int:
        return max(stage.users for stage in self.stages)


Shape = Annotated[Closed | OpenRate | Users, Field(discriminator="kind")]


@dataclass(frozen=True, config=STRICT)
class Target:
    target: Annotated[str, Field(pattern=r"^/[!-~]*$")]  # path and query
    method: Literal["GET", "POST"] = "GET"
    headers: tuple[Annotated[str, Field(pattern=r"^[ -~]*$")], ...] = ()
    body: Path | None = None  # the file that holds it
    kind: str = ""  # of requests of the user's

    @property
    def label(self) -> str:
        """What it is reported as: its kind, or method and path."""
        return self.kind or f"{self.method} {self.target}"


@dataclass(frozen=True, config=STRICT)
class Load:
    origin: str
    targets: Annotated[tuple[Target, ...], Field(min_length=1)]
    """Dealt out evenly, to users where there are users, else to requests."""
    connections: Count  # all are in use in the closed model; in the open one there are no more
    shape: Shape
    timeout_s: Count  # when a request has failed

    def shares(self, count: int) -> "list[Load]":
        """What each of so many load generators does, or of as many as there are connections; together it is all."""
        count = min(count, self.connections)
        edges = [self.connections * place // count for place in range(count + 1)]

        def part(amount: int, place: int) -> int:
            first, last = (amount * edge // self.connections for edge in edges[place : place + 2])
            return last - first

        def shape(place: int) -> Shape:
            match self.shape:
                case Closed(requests):
                    return replace(self.shape, requests=part(requests, place))
                case OpenRate(steps):
                    return OpenRate(tuple(replace(step, rate_rps=step.rate_rps / count) for step in steps))
                case Users(stages):
                    parts = (replace(stage, users=part(stage.users, place)) for stage in stages)
                    return replace(self.shape, stages=tuple(parts))

        return [replace(self, connections=part(self.connections, place), shape=shape(place)) for place in range(count)]

    @property
    def rate_rps(self) -> float | None:
        """The offered rate, where it is one throughout."""
        steps = self.shape.steps if isinstance(self.shape, OpenRate) else ()
        return steps[0].rate_rps if len(steps) == 1 else None

    @property
    def amounts(self) -> tuple[list[float], str]:
        """The number that tells it from others, of a ladder the first and the last one, and its unit."""
        match self.shape:
            case OpenRate(steps):
                return [*dict.fromkeys((steps[0].rate_rps, steps[-1].rate_rps))], "requests/s"
            case Users():
                return [self.shape.most], "users"
        return [self.connections], "connections"

    @property
    def label(self) -> str:
        amounts, unit = self.amounts
        return f"{'up to ' * (unit == 'users')}{' to '.join(f'{amount:,.9g}' for amount in amounts)} {unit}"

    @property
    def closed_model(self) -> bool:
        return not isinstance(self.shape, OpenRate)
