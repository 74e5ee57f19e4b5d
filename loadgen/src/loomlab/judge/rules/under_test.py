"""Rules on the container under test and its process."""

from loomlab.basics.words import percent
from loomlab.judge.limits import METRICS_MISSING_LIMIT, THROTTLED_LIMIT
from loomlab.judge.rule import NotApplicable, Unknown, rule
from loomlab.records.measured import Measured

EXCESS_CPU_LIMIT = 0.05
"""Above the CPUs that a container has: the ends of a window lie between samples."""
GC_LIMIT = 0.20
ENDED = rule(
    "invalid", "the container restarted, ended, or was killed for memory; its process was started again", "any"
)


@ENDED
def container_failed(run: Measured) -> str | None:
    if not run.container_known:
        return Unknown("whether the container under test restarted, because its state was not recorded")
    return run.container_failure


@ENDED
def process_restarted(run: Measured) -> str | None:
    restarts = run.process_restarts
    if restarts is None:
        return Unknown("whether the process under test was started again, because it was not scraped")
    if not restarts:
        return None
    return f"The process under test was started again {restarts} times during the run (the limit is 0)."


@ENDED
def oom_killed(run: Measured) -> str | None:
    """Where nothing counts kills, the container's own state at the end takes their place."""
    kills = run.oom_kills
    if kills is None:
        return NotApplicable("kills are not counted here; the container's exit state shows whether it was killed")
    if not kills:
        return None
    return f"Out of memory: the kernel killed processes of the container {kills:.0f} times (the limit is 0)."


@rule(
    "invalid",
    "container metrics missing, or CPU time that stands still: of the approach; of approach and backend, "
    "because monitoring failed",
    f"> {percent(METRICS_MISSING_LIMIT)} of the window",
)
def metrics_missing(run: Measured) -> str | None:
    if run.monitoring_missing_ratio > METRICS_MISSING_LIMIT:
        return NotApplicable("monitoring failed as a whole")
    if run.metrics_missing_ratio <= METRICS_MISSING_LIMIT:
        return None
    return (
        f"Container metrics are missing or stand still for {percent(run.metrics_missing_ratio)} of the run "
        f"(the limit is {percent(METRICS_MISSING_LIMIT)})."
    )


@rule(
    "suspect",
    "the approach used more CPUs than its set or its quota has",
    f"> {percent(EXCESS_CPU_LIMIT)} more",
    host_cause=True,
)
def more_cpu_than_given(run: Measured) -> str | None:
    used, given = run.cpus_used, run.cpus_given
    if used is None or given is None:
        return Unknown("whether the approach kept to its CPUs")
    if used <= (1 + EXCESS_CPU_LIMIT) * given:
        return None
    return (
        f"The container under test used {used:.2f} CPUs and has {given:g} (the limit is {percent(EXCESS_CPU_LIMIT)} "
        "more): its CPU time was counted wrongly, or its CPU set was not kept."
    )


@rule(
    "suspect",
    "garbage collection: share of the run spent in pauses, or of the approach's CPU spent in its threads",
    f"> {percent(GC_LIMIT)}",
)
def gc_heavy(run: Measured) -> str | None:
    if run.gc_share is None:
        return Unknown("what garbage collection took, because the process was not scraped")
    shares = ((run.gc_share, "the run in pauses"), (run.gc_cpu_share, "the approach's CPU time"))
    taken = [f"{percent(share)} of {what}" for share, what in shares if share is not None and share > GC_LIMIT]
    if not taken:
        return None
    return f"Garbage collection took {' and '.join(taken)} (the limit is {percent(GC_LIMIT)})."


@rule("suspect", "periods throttled by the approach's CPU quota", f"> {percent(THROTTLED_LIMIT)}")
def throttled(run: Measured) -> str | None:
    ratio = run.throttled_ratio
    if ratio is None:
        return NotApplicable("the approach has no CPU quota")
    if ratio <= THROTTLED_LIMIT:
        return None
    return (
        f"The container under test was throttled in {percent(ratio)} of its CPU quota periods "
        f"(the limit is {percent(THROTTLED_LIMIT)})."
    )


@rule(
    "suspect", "backend pool smaller than the concurrency × the calls that a request makes at once", "", host_cause=True
)
def small_pool(run: Measured) -> str | None:
    pool, concurrency, at_once = run.backend_pool, run.concurrency, run.at_once
    if not run.backend_calls:
        return NotApplicable("no request calls the backend")
    if pool is None:
        return NotApplicable("the client has no limit") if run.about_told else Unknown("the size of the backend pool")
    if pool >= concurrency * at_once:
        return None
    each = f", whose requests make {at_once} calls at once" if at_once > 1 else ""
    return (
        f"The pool of {pool} backend connections is smaller than the concurrency of {concurrency}{each}: "
        "requests queue for a connection."
    )


@rule("suspect", "fewer platform threads than the concurrency")
def few_threads(run: Measured) -> str | None:
    threads, concurrency = run.platform_threads, run.concurrency
    if threads is None:
        return (
            NotApplicable("no pool of platform threads") if run.about_told else Unknown("the size of the thread pool")
        )
    if threads >= concurrency:
        return None
    return (
        f"The pool of {threads} platform threads is smaller than the concurrency of {concurrency}: "
        "requests queue for a thread."
    )
