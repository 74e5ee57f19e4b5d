"""Rules on the container under test and its process."""

from loomlab.basics.words import percent
from loomlab.judge.evidence import Evidence
from loomlab.judge.limits import GC_LIMIT, METRICS_MISSING_LIMIT, THROTTLED_LIMIT


def container_failed(run: Evidence) -> str | None:
    return run.under_test.failure


def container_unknown(run: Evidence) -> str | None:
    return (
        None
        if run.under_test.known
        else "Whether the container under test restarted is unknown: its state was not recorded."
    )


def process_restarted(run: Evidence) -> str | None:
    restarts = run.under_test.process_restarts
    if not restarts:
        return None
    return f"The process under test started anew {restarts} times during the run (the limit is 0)."


def oom_killed(run: Evidence) -> str | None:
    kills = run.under_test.oom_kills
    if not kills:
        return None
    return f"The kernel killed processes of the container for memory {kills:.0f} times (the limit is 0)."


def metrics_missing(run: Evidence) -> str | None:
    if run.under_test.metrics_missing_ratio <= METRICS_MISSING_LIMIT:
        return None
    return (
        f"Container metrics are missing for {percent(run.under_test.metrics_missing_ratio)} of the run "
        f"(the limit is {percent(METRICS_MISSING_LIMIT)})."
    )


def gc_heavy(run: Evidence) -> str | None:
    process = run.under_test
    shares = ((process.gc_share, "the run in pauses"), (process.gc_cpu_share, "the approach's CPU time"))
    taken = [f"{percent(share)} of {what}" for share, what in shares if share is not None and share > GC_LIMIT]
    return f"Garbage collection took {' and '.join(taken)} (the limit is {percent(GC_LIMIT)})." if taken else None


def gc_unknown(run: Evidence) -> str | None:
    known = run.under_test.gc_share is not None
    return None if known else "What garbage collection took is unknown: the process was not scraped."


def throttled(run: Evidence) -> str | None:
    if run.under_test.throttled_ratio is None or run.under_test.throttled_ratio <= THROTTLED_LIMIT:
        return None
    return (
        f"The container under test was throttled in {percent(run.under_test.throttled_ratio)} of its CPU quota periods "
        f"(the limit is {percent(THROTTLED_LIMIT)})."
    )


def small_pool(run: Evidence) -> str | None:
    pool, concurrency = run.under_test.backend_pool, run.asked.concurrency
    if pool is None or not run.asked.backend_calls or pool >= concurrency:
        return None
    return (
        f"The pool of {pool} backend connections is smaller than the concurrency of {concurrency}: "
        "requests queue for a connection."
    )


def few_threads(run: Evidence) -> str | None:
    threads, concurrency = run.under_test.platform_threads, run.asked.concurrency
    if threads is None or threads >= concurrency:
        return None
    return (
        f"The pool of {threads} platform threads is smaller than the concurrency of {concurrency}: "
        "requests queue for a thread."
    )
