"""Rules on the machine: who else used the CPUs that a run was given."""

from collections.abc import Sequence

from loomlab.basics.words import percent
from loomlab.judge.evidence import Evidence
from loomlab.judge.finding import PASSED, Finding, failed, not_here, unknown
from loomlab.judge.limits import (
    CLOCK_LIMIT_S,
    FOREIGN_LIMIT,
    METRICS_MISSING_LIMIT,
    MUCH_FOREIGN_LIMIT,
    STOLEN_LIMIT,
)

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
    """Of the approach's CPUs, by what they were needed for: what is stolen from a thread may be charged to it as CPU
    time. Of the others more may be gone."""
    shares, needed = run.host.steal_shares, run.host.stolen_of_needed
    if shares is None or needed is None:
        return unknown("how much CPU time the hypervisor took (steal)")
    if shares.get("approach", 0.0) > MUCH_FOREIGN_LIMIT:
        return BEYOND
    taken = [
        _taken(share, f"of the {part}'s CPUs", MUCH_FOREIGN_LIMIT)
        for part, share in shares.items()
        if part != "approach" and share > MUCH_FOREIGN_LIMIT
    ]
    if needed > STOLEN_LIMIT:
        taken.insert(0, _taken(needed, "of the time in which the approach needed its CPUs", STOLEN_LIMIT))
    return failed(_stolen(taken)) if taken else PASSED


def much_stolen(run: Evidence) -> Finding:
    if run.host.steal_shares is None:
        return unknown("how much CPU time the hypervisor took (steal)")
    share = run.host.steal_shares.get("approach", 0.0)
    if share <= MUCH_FOREIGN_LIMIT:
        return PASSED
    return failed(_stolen([_taken(share, "of the approach's CPUs", MUCH_FOREIGN_LIMIT)]))


def _taken(share: float, what: str, limit: float) -> str:
    return f"{percent(share)} {what} (the limit is {percent(limit)})"


def _stolen(taken: Sequence[str]) -> str:
    return (
        f"The hypervisor gave CPU time to other machines (steal): {', '.join(taken)}; "
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
