"""From a scenario to the loads that are run: scaled, one per number of connections or rate that the scenario lists."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from loomlab.basics.errors import UsageError
from loomlab.plan.scenarios.model import ClosedLoad, LadderLoad, RateLoad, RequestKind, Scenario, SpikeLoad
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import Endpoint, endpoint_of
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.models import Hang, Parameter, SideBySide

SPIKE_STEPS = 4
RISE_SHARE, RISER_SHARE = 0.8, 0.3
"""Of a spike's duration, the users rise in 80 %; of a step of a stepped one, its riser takes 30 %."""
SHORTEST_STEP_S = 8
"""Its first two seconds and its last are not judged; whether latency grows shows in four at least."""
FEWEST_PER_SPIKE = 2 * SPIKE_STEPS * 2


@dataclass(frozen=True)
class Scaling:
    """What is run of a scenario."""

    factor: float = 1.0
    """Of connections, users and rates."""
    duration_s: int | None = None
    """In place of the scenario's."""


def loads_of(scenario: Scenario, scaling: Scaling, folder: Path, origin: str = "") -> list[Load]:
    """The scenario's loads against `origin`; raises UsageError when the duration is too short for the shape."""
    targets = tuple(_target(kind, scenario, folder) for kind in scenario.requests)
    return [
        Load(origin, targets, connections, shape, scenario.timeout) for connections, shape in _shapes(scenario, scaling)
    ]


def hangs_of(scenario: Scenario, scaling: Scaling) -> list[Hang]:
    """The backend's hangs, at the same share of the run as the scenario has them, for the same time; raises UsageError
    when they do not fit."""
    published = scenario.load.duration
    asked = scaling.duration_s or published
    lasts_s = asked - asked % len(scenario.load.rates) if isinstance(scenario.load, LadderLoad) else asked
    hangs = [Hang(at_s=hang.at * lasts_s / published, duration_s=hang.duration) for hang in scenario.hangs]
    for hang in hangs:
        if hang.at_s + hang.duration_s >= lasts_s:
            raise UsageError(
                f"The backend's hang of {hang.duration_s:.0f} s does not end within the run's {lasts_s} s: use a "
                "longer DURATION."
            )
    return hangs


def endpoints_of(scenario: Scenario) -> list[Endpoint]:
    """The endpoint of each kind of request."""
    return [endpoint_of(kind.target, delay_of(scenario.delay)) for kind in scenario.requests]


def _target(kind: RequestKind, scenario: Scenario, folder: Path) -> Target:
    headers = endpoint_of(kind.target, delay_of(scenario.delay)).headers
    if kind.body is None:
        return Target(kind.target, "GET", headers)
    body = folder / kind.body
    if not body.is_file():
        raise UsageError(f"There is no {kind.body} beside the scenario: put the body of POST {kind.target} there.")
    return Target(kind.target, "POST", (*headers, "Content-Type: application/json"), body)


def _shapes(scenario: Scenario, scaling: Scaling) -> Iterator[tuple[int, Shape]]:
    """Connections and shape of each load."""
    load, factor, lasts_s = scenario.load, scaling.factor, scaling.duration_s or scenario.load.duration

    def scaled(count: int) -> int:
        return max(round(count * factor), 1)

    match load:
        case ClosedLoad():
            for connections in map(scaled, load.connections):
                yield connections, Closed(connections * load.requests_per_connection, lasts_s)
        case RateLoad():
            for rate in load.rate:
                for connections in map(scaled, load.connections):
                    yield connections, OpenRate((RateStep(round(rate * factor, 3), lasts_s),))
        case LadderLoad():
            step_s, shortest_s = lasts_s // len(load.rates), len(load.rates) * SHORTEST_STEP_S
            if lasts_s < shortest_s:
                raise UsageError(
                    f"DURATION={lasts_s}s is too short for {len(load.rates)} steps: use {shortest_s}s or more."
                )
            steps = tuple(RateStep(round(rate * factor, 3), step_s) for rate in load.rates)
            yield scaled(load.connections), OpenRate(steps)
        case SpikeLoad():
            users = scaled(load.users)
            yield users, Users(_stages(load.shape, users, lasts_s), load.think_time)


def _stages(shape: str, users: int, lasts_s: int) -> tuple[UserStage, ...]:
    if lasts_s < FEWEST_PER_SPIKE:
        raise UsageError(f"DURATION={lasts_s}s is too short for a spike: use {FEWEST_PER_SPIKE}s or more.")
    rise_s = round(RISE_SHARE * lasts_s)
    fall = UserStage(0, lasts_s - rise_s)
    if shape == "smooth-spike":
        return UserStage(users, rise_s), fall
    stages: list[UserStage] = []
    begins_s = 0
    for step in range(1, SPIKE_STEPS + 1):
        height, ends_s = round(users * step / SPIKE_STEPS), round(rise_s * step / SPIKE_STEPS)
        riser_s = max(round(RISER_SHARE * (ends_s - begins_s)), 1)
        stages += [UserStage(height, riser_s), UserStage(height, ends_s - begins_s - riser_s)]
        begins_s = ends_s
    return (*stages, fall)


def side_by_side(name: str, scenario: Scenario, scaling: Scaling, folder: Path) -> SideBySide:
    """The scenario's parameters as they were published or designed, and as they are run."""
    published = _parameters(scenario, loads_of(scenario, Scaling(), folder))
    actual = _parameters(scenario, loads_of(scenario, scaling, folder))
    source = scenario.published
    return SideBySide(
        name=name,
        title=scenario.title,
        question=scenario.question,
        experiment=source and source.experiment,
        run=source and source.run,
        differs=source.differs if source else [],
        scale=scaling.factor,
        parameters=[Parameter(name=key, published=value, here=actual[key]) for key, value in published.items()],
    )


def _parameters(scenario: Scenario, loads: list[Load]) -> dict[str, str]:
    def listed(texts: Iterable[object]) -> str:
        return ", ".join(dict.fromkeys(map(str, texts)))

    most = "at most " if isinstance(scenario.load, ClosedLoad) else ""
    values = {
        "tool": scenario.tool,
        "requests": ", ".join(f"{'GET' if kind.get else 'POST'} {kind.target}" for kind in scenario.requests),
        "connections": listed(f"{load.connections:,}" for load in loads),
        "duration, s": listed(f"{most}{load.shape.duration_s}" for load in loads),
        "time-out, s": str(scenario.timeout),
        "repeats": str(scenario.repeats),
    }
    shapes = [load.shape for load in loads]
    match shapes[0]:
        case Closed():
            values["requests in all"] = listed(f"{shape.requests:,}" for shape in shapes if isinstance(shape, Closed))
        case OpenRate():
            steps = [step for shape in shapes if isinstance(shape, OpenRate) for step in shape.steps]
            values["offered rate, requests/s"] = listed(f"{step.rate_rps:,g}" for step in steps)
        case Users() as users:
            values["users at most"] = f"{users.most:,}"
            values["think time, s"] = f"{users.think_s[0]:g} to {users.think_s[1]:g}"
    if any(endpoint.backend_calls for endpoint in endpoints_of(scenario)):
        values["backend's delay, ms"] = scenario.delay
    if scenario.platform_threads:
        values["platform threads"] = str(scenario.platform_threads)
    if scenario.hangs:
        values["the backend hangs for, s"] = str(scenario.hangs[-1].duration)
    return values
