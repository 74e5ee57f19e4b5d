"""What k6 is told to do: the file its script (k6_load.js) reads."""

import math
from typing import Any

from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target, Users, UserStage

GRACE_S = 5
"""Beyond the time limit of a request: k6 leaves out a request that it cuts off itself."""
LONGEST_RATE_UNIT_S = 1000
"""k6 wants whole numbers of requests in whole seconds."""
TREND_STATS = ("count", "avg", "min", "med", "max", "p(50)", "p(90)", "p(95)", "p(99)")
TAGS = ("error_code", "method", "name", "status")


def load_file(load: Load) -> dict[str, Any]:
    """`options` are k6's own; `requests` are dealt out in turn, unless a scenario names its own in REQUEST;
    `think_s`: shortest and longest pause after an answer, None for none."""
    think_s = load.shape.think_s if isinstance(load.shape, Users) else (0.0, 0.0)
    return {
        "options": {
            "scenarios": _scenarios(load),
            "systemTags": list(TAGS),
            "summaryTrendStats": list(TREND_STATS),
            "discardResponseBodies": True,
            "maxRedirects": 0,
            "noCookiesReset": True,
            "throw": True,
            "userAgent": "k6",
        },
        "requests": [_request(load, target) for target in load.targets],
        "think_s": list(think_s) if any(think_s) else None,
    }


def _request(load: Load, target: Target) -> dict[str, Any]:
    headers = dict(header.split(":", 1) for header in target.headers)
    return {
        "method": target.method,
        "url": load.origin + target.target,
        "body": str(target.body.resolve()) if target.body else None,
        "params": {
            "headers": {name.strip(): value.strip() for name, value in headers.items()},
            "tags": {"name": target.target.partition("?")[0]},
            "timeout": load.timeout_s * 1000,
        },
    }


def _scenarios(load: Load) -> dict[str, Any]:
    grace = f"{load.timeout_s + GRACE_S}s"
    match load.shape:
        case Closed(requests, duration_s):
            scenario = _closed(load.connections, requests, duration_s)
        case OpenRate():
            scenario = _open(load.connections, load.shape)
        case Users():
            return _groups(load.shape, len(load.targets), grace)
    return {"load": {**scenario, "gracefulStop": grace}}


def _closed(connections: int, requests: int, duration_s: int) -> dict[str, Any]:
    return {
        "executor": "shared-iterations",
        "vus": connections,
        "iterations": requests,
        "maxDuration": f"{duration_s}s",
    }


def _open(connections: int, shape: OpenRate) -> dict[str, Any]:
    counts = [round(step.rate_rps * LONGEST_RATE_UNIT_S) for step in shape.steps]
    divisor = math.gcd(LONGEST_RATE_UNIT_S, *counts)
    first, *later = (count // divisor for count in counts)
    common = {
        "timeUnit": f"{LONGEST_RATE_UNIT_S // divisor}s",
        "preAllocatedVUs": connections,
        "maxVUs": connections,
    }
    if not later:
        return {"executor": "constant-arrival-rate", "rate": first, "duration": f"{shape.duration_s}s", **common}
    stages = [_hold(first, shape.steps[0])]
    for count, step in zip(later, shape.steps[1:], strict=True):
        stages += [{"target": count, "duration": "0s"}, _hold(count, step)]
    return {"executor": "ramping-arrival-rate", "startRate": first, "stages": stages, **common}


def _hold(count: int, step: RateStep) -> dict[str, Any]:
    return {"target": count, "duration": f"{step.duration_s}s"}


def _groups(shape: Users, targets: int, grace: str) -> dict[str, Any]:
    """A scenario a target: the groups stay equal at any time, whoever is slower; by k6's numbers of the users they
    would not, as k6 hands the users that a ramp down set free to the next ramp up in any order."""
    return {
        f"users-{index}": {
            "executor": "ramping-vus",
            "startVUs": 0,
            "stages": [_stage(stage, index, targets) for stage in shape.stages],
            "gracefulRampDown": grace,
            "gracefulStop": grace,
            "env": {"REQUEST": str(index)},
        }
        for index in range(targets)
    }


def _stage(stage: UserStage, index: int, targets: int) -> dict[str, Any]:
    return {"target": (stage.users + targets - 1 - index) // targets, "duration": f"{stage.duration_s}s"}
