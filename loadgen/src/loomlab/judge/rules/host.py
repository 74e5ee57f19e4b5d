"""Rules on the machine: who else used the CPUs that a run was given."""

from loomlab.basics.words import percent
from loomlab.judge.limits import METRICS_MISSING_LIMIT
from loomlab.judge.rule import NotApplicable, Unknown, rule
from loomlab.records.measured import Measured

CLOCK_LIMIT_S = 0.5
FOREIGN_LIMIT, MUCH_FOREIGN_LIMIT = 0.05, 0.20
STOLEN_LIMIT = 0.05
"""Of the time in which the approach needed its CPUs: by so much was CPU per request higher in runs with steal."""
BEYOND = NotApplicable("the share is over the larger limit")
FOREIGN_UNKNOWN = Unknown("how much of the approach's CPUs other programs took")
STEAL_UNKNOWN = Unknown("how much CPU time the hypervisor took (steal)")
MUCH_TAKEN = rule(
    "invalid",
    "other programs on the approach's CPUs, or time stolen from them",
    f"> {percent(MUCH_FOREIGN_LIMIT)}",
    host_cause=True,
)


@rule(
    "suspect",
    "other programs on the approach's CPUs; time stolen from them, ÷ time in which they were needed",
    f"> {percent(FOREIGN_LIMIT)}; > {percent(STOLEN_LIMIT)}",
    host_cause=True,
)
def foreign_cpu(run: Measured) -> str | None:
    share = run.foreign_cpu_share
    if share is None:
        return FOREIGN_UNKNOWN
    return BEYOND if share > MUCH_FOREIGN_LIMIT else _foreign(share, FOREIGN_LIMIT)


@MUCH_TAKEN
def much_foreign_cpu(run: Measured) -> str | None:
    share = run.foreign_cpu_share
    return FOREIGN_UNKNOWN if share is None else _foreign(share, MUCH_FOREIGN_LIMIT)


def _foreign(share: float, limit: float) -> str | None:
    if share <= limit:
        return None
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
def stolen(run: Measured) -> str | None:
    """Of the approach's CPUs, by what they were needed for: what is stolen from a thread may be charged to it as CPU
    time. Of the others more may be gone."""
    shares, needed = run.steal_shares, run.stolen_of_needed
    if shares is None or needed is None:
        return STEAL_UNKNOWN
    if shares.get("approach", 0.0) > MUCH_FOREIGN_LIMIT:
        return BEYOND
    taken = [(needed, "of the time in which the approach needed its CPUs", STOLEN_LIMIT)]
    taken += [
        (share, f"of the {part}'s CPUs", MUCH_FOREIGN_LIMIT) for part, share in shares.items() if part != "approach"
    ]
    return _stolen(taken)


@MUCH_TAKEN
def much_stolen(run: Measured) -> str | None:
    shares = run.steal_shares
    if shares is None:
        return STEAL_UNKNOWN
    return _stolen([(shares.get("approach", 0.0), "of the approach's CPUs", MUCH_FOREIGN_LIMIT)])


def _stolen(shares: list[tuple[float, str, float]]) -> str | None:
    over = [
        f"{percent(share)} {what} (the limit is {percent(limit)})" for share, what, limit in shares if share > limit
    ]
    if not over:
        return None
    return (
        f"The hypervisor gave CPU time to other machines (steal): {', '.join(over)}; "
        "measure again at a quieter time, or on a machine of your own."
    )


@rule("invalid", "the clock was set during the run", f"> {CLOCK_LIMIT_S} s", host_cause=True)
def clock_stepped(run: Measured) -> str | None:
    step_s = run.clock_step_s
    if step_s is None:
        if run.host_sampled:
            return NotApplicable("the run is of a version that did not watch the clock")
        return Unknown("whether the clock was set")
    if step_s <= CLOCK_LIMIT_S:
        return None
    return (
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
def monitoring_gone(run: Measured) -> str | None:
    """Where the approach's samples alone are missing, it may have ended."""
    ratio = run.monitoring_missing_ratio
    if ratio <= METRICS_MISSING_LIMIT:
        return None
    return (
        f"Monitoring failed: container metrics of approach and backend are both missing for {percent(ratio)} of the "
        f"run (the limit is {percent(METRICS_MISSING_LIMIT)})."
    )
