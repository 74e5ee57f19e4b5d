"""Rules on the machine: who else used the CPUs that a run was given."""

from collections.abc import Sequence

from loomlab.basics.words import percent
from loomlab.judge.finding import PASSED, Finding, failed, not_here, unknown
from loomlab.judge.limits import (
    CLOCK_LIMIT_S,
    FOREIGN_LIMIT,
    METRICS_MISSING_LIMIT,
    MUCH_FOREIGN_LIMIT,
    STOLEN_LIMIT,
)
from loomlab.judge.rule import rule
from loomlab.records.evidence import Evidence

WATCHED_LATER = not_here("the run is of a version that did not watch the clock")
BEYOND = not_here("the share is over the larger limit")


@rule(
    "suspect",
    "other programs on the approach's CPUs; time stolen from them, ÷ time in which they were needed",
    f"> {percent(FOREIGN_LIMIT)}; > {percent(STOLEN_LIMIT)}",
    host_cause=True,
)
def foreign_cpu(run: Evidence) -> Finding:
    share = run.foreign_share
    if share is None:
        return unknown("how much of the approach's CPUs other programs took")
    if share > MUCH_FOREIGN_LIMIT:
        return BEYOND
    return PASSED if share <= FOREIGN_LIMIT else failed(_foreign(share, FOREIGN_LIMIT))


@rule(
    "invalid",
    "other programs on the approach's CPUs, or time stolen from them",
    f"> {percent(MUCH_FOREIGN_LIMIT)}",
    host_cause=True,
)
def much_foreign_cpu(run: Evidence) -> Finding:
    share = run.foreign_share
    if share is None:
        return unknown("how much of the approach's CPUs other programs took")
    return PASSED if share <= MUCH_FOREIGN_LIMIT else failed(_foreign(share, MUCH_FOREIGN_LIMIT))


def _foreign(share: float, limit: float) -> str:
    return (
        f"Other programs took {percent(share)} of the time of the approach's CPUs (the limit is {percent(limit)}): "
        "stop them, and measure again."
    )


@rule(
    "suspect",
    "other programs on the approach's CPUs; time stolen from them, ÷ time in which they were needed; time "
    "stolen from the CPUs of backend or generator",
    f"> {percent(FOREIGN_LIMIT)}; > {percent(STOLEN_LIMIT)}; > {percent(MUCH_FOREIGN_LIMIT)}",
    host_cause=True,
)
def stolen(run: Evidence) -> Finding:
    """Of the approach's CPUs, by what they were needed for: what is stolen from a thread may be charged to it as CPU
    time. Of the others more may be gone."""
    shares, needed = run.steal_shares, run.stolen_of_needed
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


@rule(
    "invalid",
    "other programs on the approach's CPUs, or time stolen from them",
    f"> {percent(MUCH_FOREIGN_LIMIT)}",
    host_cause=True,
)
def much_stolen(run: Evidence) -> Finding:
    if run.steal_shares is None:
        return unknown("how much CPU time the hypervisor took (steal)")
    share = run.steal_shares.get("approach", 0.0)
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


@rule(
    "invalid",
    "the clock was set during the run",
    f"> {CLOCK_LIMIT_S} s",
    host_cause=True,
)
def clock_stepped(run: Evidence) -> Finding:
    step_s = run.clock_step_s
    if step_s is None:
        return WATCHED_LATER if run.host_sampled else unknown("whether the clock was set")
    if step_s <= CLOCK_LIMIT_S:
        return PASSED
    return failed(
        f"The clock was set by {step_s:.1f} s during the run (the limit is {CLOCK_LIMIT_S} s), so its times do not "
        "match: measure again."
    )


@rule(
    "invalid",
    "container metrics missing, or CPU time that stands still: of the approach; of approach and backend, "
    "because monitoring failed",
    f"> {percent(METRICS_MISSING_LIMIT)} of the window",
    host_cause=True,
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
