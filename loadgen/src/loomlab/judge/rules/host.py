"""Rules on the machine: who else used the CPUs that a run was given."""

from collections.abc import Iterator

from loomlab.basics.words import percent
from loomlab.judge.limits import METRICS_MISSING_LIMIT
from loomlab.judge.rule import measured, rule, skip_if
from loomlab.records.measured import Measured

CLOCK_LIMIT_S = 0.5
FOREIGN_LIMIT, MUCH_FOREIGN_LIMIT = 0.05, 0.20
STOLEN_LIMIT = 0.05
"""Of the time in which the approach needed its CPUs: by so much was CPU per request higher in runs with steal."""
BEYOND = "the share is over the larger limit"
STEAL = "how much CPU time the hypervisor took (steal)"


@rule("suspect", f"> {percent(FOREIGN_LIMIT)}", host_cause=True)
def foreign_cpu(run: Measured) -> Iterator[str]:
    """Other programs on the approach's CPUs."""
    yield from _foreign(run, FOREIGN_LIMIT)


@rule("invalid", f"> {percent(MUCH_FOREIGN_LIMIT)}", host_cause=True)
def much_foreign_cpu(run: Measured) -> Iterator[str]:
    """Other programs on the approach's CPUs."""
    yield from _foreign(run, MUCH_FOREIGN_LIMIT)


def _foreign(run: Measured, limit: float) -> Iterator[str]:
    share = measured(run.foreign_cpu_share, "how much of the approach's CPUs other programs took")
    skip_if(limit < MUCH_FOREIGN_LIMIT < share, BEYOND)
    if share > limit:
        yield (
            f"Other programs took {percent(share)} of the time of the approach's CPUs (the limit is {percent(limit)}): "
            "stop them, and measure again."
        )


@rule("suspect", f"> {percent(STOLEN_LIMIT)}; > {percent(MUCH_FOREIGN_LIMIT)}", host_cause=True)
def stolen(run: Measured) -> Iterator[str]:
    """Time stolen from the approach's CPUs ÷ time in which they were needed; from the CPUs of backend or generator.

    What is stolen from a thread may be charged to it as CPU time. Of the others more may be gone."""
    shares, needed = measured(run.steal_shares, STEAL), measured(run.stolen_of_needed, STEAL)
    skip_if(shares.get("approach", 0) > MUCH_FOREIGN_LIMIT, BEYOND)
    others = {f"of the {part}'s CPUs": share for part, share in shares.items() if part != "approach"}
    yield from _stolen(
        ("of the time in which the approach needed its CPUs", needed, STOLEN_LIMIT),
        *((what, share, MUCH_FOREIGN_LIMIT) for what, share in others.items()),
    )


@rule("invalid", f"> {percent(MUCH_FOREIGN_LIMIT)}", host_cause=True)
def much_stolen(run: Measured) -> Iterator[str]:
    """Time stolen from the approach's CPUs."""
    shares = measured(run.steal_shares, STEAL)
    yield from _stolen(("of the approach's CPUs", shares.get("approach", 0), MUCH_FOREIGN_LIMIT))


def _stolen(*shares: tuple[str, float, float]) -> Iterator[str]:
    over = [f"{percent(share)} {what} (the limit is {percent(most)})" for what, share, most in shares if share > most]
    if over:
        yield (
            f"The hypervisor gave CPU time to other machines (steal): {', '.join(over)}; "
            "measure again at a quieter time, or on a machine of your own."
        )


@rule("invalid", f"> {CLOCK_LIMIT_S} s", host_cause=True)
def clock_stepped(run: Measured) -> Iterator[str]:
    """The clock was set during the run."""
    skip_if(run.clock_step_s is None and run.host_sampled, "the run is of a version that did not watch the clock")
    step_s = measured(run.clock_step_s, "whether the clock was set")
    if step_s > CLOCK_LIMIT_S:
        yield (
            f"The clock was set by {step_s:.1f} s during the run (the limit is {CLOCK_LIMIT_S} s), so its times do not "
            "match: measure again."
        )


@rule("invalid", f"> {percent(METRICS_MISSING_LIMIT)} of the run", host_cause=True)
def monitoring_gone(run: Measured) -> Iterator[str]:
    """Container metrics of both approach and backend missing, or CPU time that stands still.

    Where the approach's samples alone are missing, it may have ended."""
    ratio = run.monitoring_missing_ratio
    if ratio > METRICS_MISSING_LIMIT:
        yield (
            f"Monitoring failed: container metrics of approach and backend are both missing for {percent(ratio)} of "
            f"the run (the limit is {percent(METRICS_MISSING_LIMIT)})."
        )
