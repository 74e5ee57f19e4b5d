"""A scenario's parameters as they were published or designed, and as they are run."""

from collections.abc import Iterable
from pathlib import Path

from loomlab.plan.scenarios.cells import Scaling, endpoints_of, loads_of
from loomlab.plan.scenarios.model import Scenario
from loomlab.records.load import Closed, Load, OpenRate, Users
from loomlab.records.models import Parameter, SideBySide


def side_by_side(name: str, scenario: Scenario, scaling: Scaling, folder: Path) -> SideBySide:
    """Raises UsageError as `loads_of` does."""
    published = _parameters(scenario, loads_of(scenario, Scaling(), folder))
    here = _parameters(scenario, loads_of(scenario, scaling, folder))
    return SideBySide(
        name=name,
        title=scenario.title,
        question=scenario.question,
        experiment=scenario.published and scenario.published.experiment,
        run=scenario.published and scenario.published.run,
        differs=scenario.published.differs if scenario.published else [],
        scale=scaling.factor,
        parameters=[Parameter(name=key, published=value, here=here[key]) for key, value in published.items()],
    )


def _parameters(scenario: Scenario, loads: list[Load]) -> dict[str, str]:
    kinds = ", ".join(f"GET {kind.get}" if kind.get else f"POST {kind.post}" for kind in scenario.requests)
    found = {
        "tool": scenario.tool,
        "requests": kinds,
        "connections": _each(f"{load.connections:,}" for load in loads),
        "duration, s": _each(_duration(load) for load in loads),
        "time-out, s": str(scenario.timeout),
        "repeats": str(scenario.repeats),
    }
    shape = loads[0].shape
    if isinstance(shape, Closed):
        found["requests in all"] = _each(f"{load.shape.requests:,}" for load in loads if isinstance(load.shape, Closed))
    elif isinstance(shape, OpenRate):
        steps = [step for load in loads if isinstance(load.shape, OpenRate) for step in load.shape.steps]
        found["offered rate, requests/s"] = _each(f"{step.rate_rps:,g}" for step in steps)
    elif isinstance(shape, Users):
        found["users at most"] = f"{max(stage.users for stage in shape.stages):,}"
        found["think time, s"] = f"{shape.think_s[0]:g} to {shape.think_s[1]:g}"
    if any(endpoint.backend_calls for endpoint in endpoints_of(scenario)):
        found["backend's delay, ms"] = scenario.delay
    if scenario.platform_threads:
        found["platform threads"] = str(scenario.platform_threads)
    for hang in scenario.hangs:
        found["the backend hangs for, s"] = str(hang.duration)
    return found


def _duration(load: Load) -> str:
    limit = "at most " if isinstance(load.shape, Closed) else ""
    return f"{limit}{load.shape.duration_s}"


def _each(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))
