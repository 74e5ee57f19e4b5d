"""Rules on the container under test and its process."""

from loomlab.basics.words import percent
from loomlab.judge.evidence import Evidence
from loomlab.judge.finding import PASSED, Finding, failed, failed_if, not_here, unknown
from loomlab.judge.limits import EXCESS_CPU_LIMIT, GC_LIMIT, METRICS_MISSING_LIMIT, THROTTLED_LIMIT


def container_failed(run: Evidence) -> Finding:
    if not run.under_test.known:
        return unknown("whether the container under test restarted, because its state was not recorded")
    return failed_if(run.under_test.failure)


def process_restarted(run: Evidence) -> Finding:
    restarts = run.under_test.process_restarts
    if restarts is None:
        return unknown("whether the process under test was started again, because it was not scraped")
    if not restarts:
        return PASSED
    return failed(f"The process under test was started again {restarts} times during the run (the limit is 0).")


def oom_killed(run: Evidence) -> Finding:
    """Where nothing counts kills, the container's own state at the end takes their place."""
    kills = run.under_test.oom_kills
    if kills is None:
        return not_here("kills are not counted here; the container's exit state shows whether it was killed")
    if not kills:
        return PASSED
    return failed(f"Out of memory: the kernel killed processes of the container {kills:.0f} times (the limit is 0).")


def metrics_missing(run: Evidence) -> Finding:
    if run.monitoring_missing_ratio > METRICS_MISSING_LIMIT:
        return not_here("monitoring failed as a whole")
    if run.under_test.metrics_missing_ratio <= METRICS_MISSING_LIMIT:
        return PASSED
    return failed(
        f"Container metrics are missing or stand still for {percent(run.under_test.metrics_missing_ratio)} of the run "
        f"(the limit is {percent(METRICS_MISSING_LIMIT)})."
    )


def more_cpu_than_given(run: Evidence) -> Finding:
    used, given = run.under_test.cpus_used, run.under_test.cpus_given
    if used is None or given is None:
        return unknown("whether the approach kept to its CPUs")
    if used <= (1 + EXCESS_CPU_LIMIT) * given:
        return PASSED
    return failed(
        f"The container under test used {used:.2f} CPUs and has {given:g} (the limit is {percent(EXCESS_CPU_LIMIT)} "
        "more): its CPU time was counted wrongly, or its CPU set was not kept."
    )


def gc_heavy(run: Evidence) -> Finding:
    process = run.under_test
    if process.gc_share is None:
        return unknown("what garbage collection took, because the process was not scraped")
    shares = ((process.gc_share, "the run in pauses"), (process.gc_cpu_share, "the approach's CPU time"))
    taken = [f"{percent(share)} of {what}" for share, what in shares if share is not None and share > GC_LIMIT]
    if not taken:
        return PASSED
    return failed(f"Garbage collection took {' and '.join(taken)} (the limit is {percent(GC_LIMIT)}).")


def throttled(run: Evidence) -> Finding:
    ratio = run.under_test.throttled_ratio
    if ratio is None:
        return not_here("the approach has no CPU quota")
    if ratio <= THROTTLED_LIMIT:
        return PASSED
    return failed(
        f"The container under test was throttled in {percent(ratio)} of its CPU quota periods "
        f"(the limit is {percent(THROTTLED_LIMIT)})."
    )


def small_pool(run: Evidence) -> Finding:
    pool, concurrency, at_once = run.under_test.backend_pool, run.asked.concurrency, run.asked.at_once
    if not run.asked.backend_calls:
        return not_here("no request calls the backend")
    if pool is None:
        return not_here("the client has no limit") if run.under_test.told else unknown("the size of the backend pool")
    if pool >= concurrency * at_once:
        return PASSED
    each = f", whose requests make {at_once} calls at once" if at_once > 1 else ""
    return failed(
        f"The pool of {pool} backend connections is smaller than the concurrency of {concurrency}{each}: "
        "requests queue for a connection."
    )


def few_threads(run: Evidence) -> Finding:
    threads, concurrency = run.under_test.platform_threads, run.asked.concurrency
    if threads is None:
        return (
            not_here("no pool of platform threads") if run.under_test.told else unknown("the size of the thread pool")
        )
    if threads >= concurrency:
        return PASSED
    return failed(
        f"The pool of {threads} platform threads is smaller than the concurrency of {concurrency}: "
        "requests queue for a thread."
    )
