"""Rules on the machine: who else used the CPUs that a run was given."""

from loomlab.basics.words import percent
from loomlab.judge.evidence import Evidence
from loomlab.judge.finding import PASSED, Finding, failed, not_here, unknown
from loomlab.judge.limits import CLOCK_LIMIT_S, FOREIGN_LIMIT, MUCH_FOREIGN_LIMIT

WATCHED_LATER = not_here("the run is of a version that did not watch the clock")
BEYOND = not_here("the share is over the larger limit")


def foreign_cpu(run: Evidence) -> Finding:
    share = run.host.foreign_share
    if share is None:
        return unknown("what others took of the approach's CPUs")
    if share > MUCH_FOREIGN_LIMIT:
        return BEYOND
    return PASSED if share <= FOREIGN_LIMIT else failed(_foreign(share, FOREIGN_LIMIT))


def much_foreign_cpu(run: Evidence) -> Finding:
    share = run.host.foreign_share
    if share is None:
        return unknown("what others took of the approach's CPUs")
    return PASSED if share <= MUCH_FOREIGN_LIMIT else failed(_foreign(share, MUCH_FOREIGN_LIMIT))


def _foreign(share: float, limit: float) -> str:
    return (
        f"Other programs took {percent(share)} of the time of the approach's CPUs (the limit is {percent(limit)}): "
        "stop them, and measure again."
    )


def stolen(run: Evidence) -> Finding:
    if run.host.steal_shares is None:
        return unknown("what the hypervisor took of the CPUs")
    worst = max(run.host.steal_shares.values(), default=0.0)
    if worst > MUCH_FOREIGN_LIMIT:
        return BEYOND
    return PASSED if worst <= FOREIGN_LIMIT else failed(_stolen(run, FOREIGN_LIMIT))


def much_stolen(run: Evidence) -> Finding:
    if run.host.steal_shares is None:
        return unknown("what the hypervisor took of the CPUs")
    worst = max(run.host.steal_shares.values(), default=0.0)
    return PASSED if worst <= MUCH_FOREIGN_LIMIT else failed(_stolen(run, MUCH_FOREIGN_LIMIT))


def _stolen(run: Evidence, limit: float) -> str:
    shares = (run.host.steal_shares or {}).items()
    taken = ", ".join(f"{percent(share)} of the {part}'s" for part, share in shares if share > limit)
    return (
        f"The hypervisor gave CPU time to other machines (steal): {taken} CPUs (the limit is {percent(limit)}): "
        "measure again at a quieter time, or on a machine of your own."
    )


def clock_stepped(run: Evidence) -> Finding:
    step_s = run.host.clock_step_s
    if step_s is None:
        return WATCHED_LATER if run.host.sampled else unknown("whether the clock was set")
    if step_s <= CLOCK_LIMIT_S:
        return PASSED
    return failed(
        f"The clock was set by {step_s:.1f} s during the run (the limit is {CLOCK_LIMIT_S} s), so its times do not fit "
        "together: measure again."
    )
