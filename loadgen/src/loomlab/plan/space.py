"""How much room an experiment's results take."""

from loomlab.basics.errors import HostError
from loomlab.records.load import Closed, Load, OpenRate

WORKING_BYTES = {"ab": 60, "hey": 70, "vegeta": 70, "users": 70}
"""Of a request, while its run goes: what the tool writes."""
KEPT_BYTES = 40
"""Of a request, packed."""
SAMPLES_BYTES_PER_SECOND = 10_000
FASTEST_RPS = 20_000
"""What a closed load without delays may reach."""
SPARE_MB = 100


def check_space(
    free_mb: int, tool: str, loads: list[Load], runs_of_each: int, answer_ms: float, *, counted: bool
) -> None:
    """Raises HostError where results of so many runs would not fit; `counted`: closed loads end at their requests."""
    requests = [_most_requests(load, answer_ms, counted=counted) for load in loads]
    samples = sum(load.shape.duration_s for load in loads) * SAMPLES_BYTES_PER_SECOND
    kept = runs_of_each * (sum(requests) * KEPT_BYTES + samples)
    need_mb = SPARE_MB + (kept + max(requests) * WORKING_BYTES[tool]) // 2**20
    if free_mb < need_mb:
        raise HostError(
            f"results/ has {free_mb} MB free and this experiment may need {need_mb} MB: "
            "delete old experiments, free the disk, or use a shorter DURATION or fewer REPEATS."
        )


def _most_requests(load: Load, answer_ms: float, *, counted: bool) -> int:
    """No more than its rate offers, or its connections can ask for within its time."""
    shape = load.shape
    if isinstance(shape, OpenRate):
        return shape.requests
    think_s = 0.0 if isinstance(shape, Closed) else shape.think_s[0]
    rate_rps = min(load.connections / max(answer_ms / 1000 + think_s, 0.001), FASTEST_RPS)
    most = int(rate_rps * shape.duration_s)
    return min(most, shape.requests) if counted and isinstance(shape, Closed) else most
