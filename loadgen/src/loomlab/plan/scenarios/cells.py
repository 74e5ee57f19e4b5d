"""From a scenario to the loads that are run: scaled, one per number of connections or rate that the scenario lists."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loomlab.basics.errors import UsageError
from loomlab.plan.scenarios.model import ClosedLoad, LadderLoad, RateLoad, RequestKind, Scenario, SpikeLoad, duration_s
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import Endpoint, endpoint_of
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.models import Hang

SPIKE_STEPS = 4
RISE_SHARE, RISER_SHARE = 0.8, 0.3
"""Of a spike's duration, the users rise in 80 %; of a step of a stepped one, its riser takes 30 %."""
SHORTEST_STEP_S = 8
"""Its first two seconds and its last are not judged; whether latency grows shows in four at least."""
FEWEST_PER_SPIKE = 2 * SPIKE_STEPS * 2


@dataclass(frozen=True)
class Scaling:
    """`factor` scales connections, users and rates; `duration_s` replaces the scenario's, None leaves it."""

    factor: float = 1.0
    duration_s: int | None = None


def loads_of(scenario: Scenario, scaling: Scaling, folder: Path, origin: str = "") -> list[Load]:
    """The scenario's loads against `origin`; raises UsageError when the duration is too short for the shape."""
    targets = tuple(_target(kind, scenario, folder) for kind in scenario.requests)
    return [
        Load(origin, targets, connections, shape, scenario.timeout)
        for connections, shape in _shapes(scenario.load, scaling)
    ]


def hangs_of(scenario: Scenario, scaling: Scaling) -> list[Hang]:
    """At the same share of the run as the scenario has them, for the same time; raises UsageError when they no longer
    fit."""
    published = duration_s(scenario.load)
    asked = scaling.duration_s or published
    actual = asked - asked % len(scenario.load.rates) if isinstance(scenario.load, LadderLoad) else asked
    hangs = [Hang(at_s=hang.at * actual / published, duration_s=hang.duration) for hang in scenario.hangs]
    for hang in hangs:
        if hang.at_s + hang.duration_s >= actual:
            raise UsageError(
                f"DURATION={asked}s ends before the backend's hang of {hang.duration_s:.0f} s: use {published}s."
            )
    return hangs


def endpoints_of(scenario: Scenario) -> list[Endpoint]:
    """Of each kind of request."""
    return [endpoint_of(kind.get or kind.post or "", delay_of(scenario.delay)) for kind in scenario.requests]


def _target(kind: RequestKind, scenario: Scenario, folder: Path) -> Target:
    path = kind.get or kind.post or ""
    headers = endpoint_of(path, delay_of(scenario.delay)).headers
    if kind.post is None:
        return Target(path, "GET", headers)
    body = folder / str(kind.body)
    if not body.is_file():
        raise UsageError(f"There is no {kind.body} beside the scenario: put the body of POST {path} there.")
    return Target(path, "POST", (*headers, "Content-Type: application/json"), body)


def _count(published: int, factor: float) -> int:
    return max(round(published * factor), 1)


def _shapes(load: ClosedLoad | RateLoad | LadderLoad | SpikeLoad, scaling: Scaling) -> Iterator[tuple[int, Shape]]:
    factor, lasts_s = scaling.factor, scaling.duration_s or duration_s(load)
    match load:
        case ClosedLoad():
            for published in load.connections:
                connections = _count(published, factor)
                yield connections, Closed(connections * load.requests_per_connection, lasts_s)
        case RateLoad():
            for rate in load.rate:
                for connections in load.connections:
                    yield _count(connections, factor), OpenRate((RateStep(round(rate * factor, 3), lasts_s),))
        case LadderLoad():
            step_s = lasts_s // len(load.rates)
            if step_s < SHORTEST_STEP_S:
                raise UsageError(
                    f"DURATION={lasts_s}s is too short for {len(load.rates)} steps: "
                    f"use {len(load.rates) * SHORTEST_STEP_S}s or more."
                )
            steps = tuple(RateStep(round(rate * factor, 3), step_s) for rate in load.rates)
            yield _count(load.connections, factor), OpenRate(steps)
        case SpikeLoad():
            users = _count(load.users, factor)
            yield users, Users(_stages(load.shape, users, lasts_s), load.think_time)


def _stages(shape: str, users: int, lasts_s: int) -> tuple[UserStage, ...]:
    if lasts_s < FEWEST_PER_SPIKE:
        raise UsageError(f"DURATION={lasts_s}s is too short for a spike: use {FEWEST_PER_SPIKE}s or more.")
    rise_s = round(RISE_SHARE * lasts_s)
    if shape == "smooth-spike":
        return UserStage(users, rise_s), UserStage(0, lasts_s - rise_s)
    stages: list[UserStage] = []
    spent_s = 0
    for step in range(1, SPIKE_STEPS + 1):
        height = round(users * step / SPIKE_STEPS)
        until_s = round(rise_s * step / SPIKE_STEPS)
        riser_s = max(round(RISER_SHARE * (until_s - spent_s)), 1)
        stages += [UserStage(height, riser_s), UserStage(height, until_s - spent_s - riser_s)]
        spent_s = until_s
    return (*stages, UserStage(0, lasts_s - rise_s))
