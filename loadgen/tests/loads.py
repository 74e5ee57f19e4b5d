"""Loads and requests for them, with what a test does not care about filled in."""

from typing import Any

from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.models import Request

CLOSED = Closed(requests=1200, duration_s=60)
LADDER = OpenRate((RateStep(250, 60), RateStep(4000, 60), RateStep(1000, 60)))
SPIKE = Users((UserStage(20, 5), UserStage(0, 1)), (1, 3))


def rate(rate_rps: float, duration_s: int = 60) -> OpenRate:
    return OpenRate((RateStep(rate_rps, duration_s),))


def load_of(shape: Shape, connections: int = 20, *targets: str | Target, origin: str = "http://app:8080") -> Load:
    """Requests time out after a second."""
    kinds = tuple(Target(kind) if isinstance(kind, str) else kind for kind in targets or ("/capabilities",))
    return Load(origin, kinds, connections, shape, timeout_s=1)


def request_of(load: Load, **changes: Any) -> Request:
    plain: dict[str, Any] = {
        "tool": "ab", "approach": "app", "load": load, "delay": "300", "repeat": 1, "jdk": 25, "gc": "parallel",
        "generator_cpus": "", "backend_cpus": "", "approach_cpus": "", "warmup_cap_s": 60,
    }  # fmt: skip
    return Request(**(plain | changes))
