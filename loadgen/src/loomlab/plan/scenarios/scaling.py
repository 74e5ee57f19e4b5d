"""From a scenario to the loads that are run, one per number of connections or rate that it lists: `factor` is of
connections, users and rates, `duration_s` in place of the scenario's own."""

from collections.abc import Iterator
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


def loads_of(scenario: Scenario, folder: Path, factor: float = 1, duration_s: int | None = None) -> list[Load]:
    """The loads; bodies of requests are files of the folder. Raises UsageError where one is missing, and as
    `shapes_of`."""
    targets = tuple(_target(kind, scenario, folder) for kind in scenario.requests)
    shapes = shapes_of(scenario, factor, duration_s)
    return [Load("", targets, connections, shape, scenario.timeout) for connections, shape in shapes]


def _target(kind: RequestKind, scenario: Scenario, folder: Path) -> Target:
    headers = endpoint_of(kind.target, delay_of(scenario.delay)).headers
    if kind.body is None:
        return Target(kind.target, "GET", headers)
    if not (folder / kind.body).is_file():
        raise UsageError(f"There is no {kind.body} beside the scenario: put the body of POST {kind.target} there.")
    return Target(kind.target, "POST", (*headers, "Content-Type: application/json"), folder / kind.body)


def endpoints_of(scenario: Scenario) -> list[Endpoint]:
    """The endpoint of each kind of request."""
    return [endpoint_of(kind.target, delay_of(scenario.delay)) for kind in scenario.requests]


def hangs_of(scenario: Scenario, duration_s: int | None = None) -> list[Hang]:
    """The backend's hangs, at the same share of the run as the scenario has them, for the same time; raises UsageError
    when they do not fit."""
    load = scenario.load
    lasts_s = duration_s or load.duration
    if isinstance(load, LadderLoad):
        lasts_s -= lasts_s % len(load.rates)
    hangs = [Hang(at_s=hang.at * lasts_s / load.duration, duration_s=hang.duration) for hang in scenario.hangs]
    for hang in hangs:
        if hang.at_s + hang.duration_s >= lasts_s:
            raise UsageError(
                f"The backend's hang of {hang.duration_s:.0f} s does not end within the run's {lasts_s} s: use a "
                "longer DURATION."
            )
    return hangs


def shapes_of(scenario: Scenario, factor: float = 1, duration_s: int | None = None) -> Iterator[tuple[int, Shape]]:
    """Connections and shape of each load; raises UsageError when the duration is too short for the shape."""
    load, lasts_s = scenario.load, duration_s or scenario.load.duration

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
            count = len(load.rates)
            _check_duration(lasts_s, count * SHORTEST_STEP_S, f"{count} steps")
            steps = tuple(RateStep(round(rate * factor, 3), lasts_s // count) for rate in load.rates)
            yield scaled(load.connections), OpenRate(steps)
        case SpikeLoad():
            _check_duration(lasts_s, FEWEST_PER_SPIKE, "a spike")
            users = scaled(load.users)
            yield users, Users(tuple(_stages(load.shape, users, lasts_s)), load.think_time)


def _check_duration(lasts_s: int, shortest_s: int, what: str) -> None:
    if lasts_s < shortest_s:
        raise UsageError(f"DURATION={lasts_s}s is too short for {what}: use {shortest_s}s or more.")


def _stages(shape: str, users: int, lasts_s: int) -> Iterator[UserStage]:
    rise_s = round(RISE_SHARE * lasts_s)
    if shape == "smooth-spike":
        yield UserStage(users, rise_s)
    else:
        begins_s = 0
        for step in range(1, SPIKE_STEPS + 1):
            height, ends_s = round(users * step / SPIKE_STEPS), round(rise_s * step / SPIKE_STEPS)
            riser_s = max(round(RISER_SHARE * (ends_s - begins_s)), 1)
            yield UserStage(height, riser_s)
            yield UserStage(height, ends_s - begins_s - riser_s)
            begins_s = ends_s
    yield UserStage(0, lasts_s - rise_s)


def side_by_side(name: str, scenario: Scenario, factor: float, duration_s: int | None) -> SideBySide:
    """The scenario's parameters as they were published or designed, and as they are run."""
    published, actual = _parameters(scenario), _parameters(scenario, factor, duration_s)
    source = scenario.published
    return SideBySide(
        name=name,
        title=scenario.title,
        question=scenario.question,
        experiment=source and source.experiment,
        run=source and source.run,
        differs=source.differs if source else [],
        scale=factor,
        parameters=[Parameter(name=key, published=published[key], here=actual[key]) for key in published],
    )


def _parameters(scenario: Scenario, factor: float = 1, duration_s: int | None = None) -> dict[str, str]:
    values: dict[str, list[str]] = {
        "tool": [scenario.tool],
        "requests": [f"{'GET' if kind.get else 'POST'} {kind.target}" for kind in scenario.requests],
        "connections": [],
        "duration, s": [],
        "time-out, s": [f"{scenario.timeout}"],
        "repeats": [f"{scenario.repeats}"],
    }
    for connections, shape in shapes_of(scenario, factor, duration_s):
        values["connections"].append(f"{connections:,}")
        values["duration, s"].append(f"{'at most ' if isinstance(shape, Closed) else ''}{shape.duration_s}")
        match shape:
            case Closed():
                values.setdefault("requests in all", []).append(f"{shape.requests:,}")
            case OpenRate(steps):
                values.setdefault("offered rate, requests/s", []).extend(f"{step.rate_rps:,g}" for step in steps)
            case Users(_, think_s):
                values["users at most"] = [f"{shape.most:,}"]
                values["think time, s"] = [f"{think_s[0]:g} to {think_s[1]:g}"]
    if any(endpoint.backend_calls for endpoint in endpoints_of(scenario)):
        values["backend's delay, ms"] = [scenario.delay]
    if scenario.platform_threads:
        values["platform threads"] = [f"{scenario.platform_threads}"]
    if scenario.hangs:
        values["the backend hangs for, s"] = [f"{scenario.hangs[-1].duration}"]
    return {name: ", ".join(dict.fromkeys(texts)) for name, texts in values.items()}
