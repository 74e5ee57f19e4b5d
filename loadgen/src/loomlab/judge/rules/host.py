"""Rules on the machine: who else used the CPUs that a run was given."""

from collections.abc import Mapping

from loomlab.basics.words import percent
from loomlab.judge.evidence import Evidence
from loomlab.judge.finding import PASSED, Finding, failed, not_here, unknown
from loomlab.judge.limits import CLOCK_LIMIT_S, FOREIGN_LIMIT, METRICS_MISSING_LIMIT, MUCH_FOREIGN_LIMIT

WATCHED_LATER = not_here("the run is of a version that did not watch the clock")
BEYOND = not_here("the share is over the larger limit")


def foreign_cpu(run: Evidence) -> Finding:
    share = run.host.foreign_share
    if share is None:
        return unknown("how much of the approach's CPUs other programs took")
    if share > MUCH_FOREIGN_LIMIT:
        return BEYOND
    return PASSED if share <= FOREIGN_LIMIT else failed(_foreign(share, FOREIGN_LIMIT))


def much_foreign_cpu(run: Evidence) -> Finding:
    share = run.host.foreign_share
    if share is None:
        return unknown("how much of the approach's CPUs other programs took")
    return PASSED if share <= MUCH_FOREIGN_LIMIT else failed(_foreign(share, MUCH_FOREIGN_LIMIT))


def _foreign(share: float, limit: float) -> str:
    return (
        f"Other programs took {percent(share)} of the time of the approach's CPUs (the limit is {percent(limit)}): "
        "stop them, and measure again."
    )


def stolen(run: Evidence) -> Finding:
    """Of the approach's CPUs; of the others more may be gone, for what it does shows in the backend's lateness."""
    shares = run.host.steal_shares
    if shares is None:
        return unknown("how much CPU time the hypervisor took (steal)")
    if shares.get("approach", 0.0) > MUCH_FOREIGN_LIMIT:
        return BEYOND
    taken = {part: share for part, share in shares.items() if share > _steal_limit(part)}
    return failed(_stolen(taken)) if taken else PASSED


def _steal_limit(part: str) -> float:
    return FOREIGN_LIMIT if part == "approach" else MUCH_FOREIGN_LIMIT


def much_stolen(run: Evidence) -> Finding:
    if run.host.steal_shares is None:
        return unknown("how much CPU time the hypervisor took (steal)")
    share = run.host.steal_shares.get("approach", 0.0)
    return PASSED if share <= MUCH_FOREIGN_LIMIT else failed(_stolen({"approach": share}, MUCH_FOREIGN_LIMIT))


def _stolen(shares: Mapping[str, float], limit: float | None = None) -> str:
    taken = ", ".join(
        f"{percent(share)} of the {part}'s CPUs (the limit is {percent(limit or _steal_limit(part))})"
        for part, share in shares.items()
    )
    return (
        f"The hypervisor gave CPU time to other machines (steal): {taken}; "
        "measure again at a quieter time, or on a machine of your own."
    )


def clock_stepped(run: Evidence) -> Finding:
    step_s = run.host.clock_step_s
    if step_s is None:
        return WATCHED_LATER if run.host.sampled else unknown("whether the clock was set")
    if step_s <= CLOCK_LIMIT_S:
        return PASSED
    return failed(
        f"The clock was set by {step_s:.1f} s during the run (the limit is {CLOCK_LIMIT_S} s), so its times do not "
        "match: measure again."
    )


def monitoring_gone(run: Evidence) -> Finding:
    """Where the approach's samples alone are missing, it may have ended."""
    ratio = run.monitoring_missing_ratio
    if ratio <= METRICS_MISSING_LIMIT:
        return PASSED
    return failed(
        f"Monitoring failed: container metrics of approach and backend are both missing for {percent(ratio)} of the "
        f"run (the limit is {percent(METRICS_MISSING_LIMIT)})."
    )
