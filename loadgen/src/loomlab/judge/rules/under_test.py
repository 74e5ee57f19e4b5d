"""Rules on the container under test and its process."""

from collections.abc import Iterator

from loomlab.basics.format import percent
from loomlab.judge.limits import METRICS_MISSING_LIMIT, SEE_LOG, THROTTLED_LIMIT
from loomlab.judge.rule import UNFIT, measured, rule, skip_if
from loomlab.records.measured import Measured

EXCESS_CPU_LIMIT = 0.05  # above the CPUs that a container has: the ends of a window lie between samples
GC_LIMIT = 0.20
SWAPPED_LIMIT = 0.01
PARTNER_LIMIT, TRIMMED_LIMIT = 0.03, 0.05  # scrapes alone take 0.7 % of a CPU, of 2,000 threads 1.6 %
ALONE = "it was measured alone"


@rule("invalid", host_cause=True, needs="lab")
def other_approach(run: Measured) -> Iterator[str]:
    """What answered calls itself otherwise than the approach that was asked for."""
    measured(run.about_told or None, "which approach answered")
    if run.other_approach:
        fact = f"What answered calls itself {run.other_approach}, which is not the approach that was asked for"
        yield f"{fact}: run make down, and measure again."


@rule("invalid", needs="container")
def container_failed(run: Measured) -> Iterator[str]:
    """The container restarted, ended, or was killed for memory."""
    what = "whether the container under test restarted, because its state was not recorded"
    measured(run.container_known or None, what)
    if run.container_failure:
        yield run.container_failure


@rule("invalid", needs="jvm")
def process_restarted(run: Measured) -> Iterator[str]:
    """The approach's process was started again."""
    what = "whether the process under test was started again, because it was not scraped"
    restarts = measured(run.process_restarts, what)
    if restarts:
        yield f"The process under test was started again {restarts} times during the run (the limit is 0): {SEE_LOG}."


@rule("suspect", f"> {percent(SWAPPED_LIMIT)}", host_cause=True, needs="lab")
def swapped(run: Measured) -> Iterator[str]:
    """Memory of the approach's process in swap ÷ its RSS, the highest of each."""
    ratio = measured(run.swapped_ratio, "whether the approach's memory was swapped out")
    if ratio > SWAPPED_LIMIT:
        fact = f"The approach had {percent(ratio)} of its memory in swap (the limit is {percent(SWAPPED_LIMIT)})"
        yield f"{fact}, so its figures are the disk's, too: stop other programs, or run swapoff, and measure again."


@rule("invalid", f"> {percent(METRICS_MISSING_LIMIT)} of the run", needs="container")
def metrics_missing(run: Measured) -> Iterator[str]:
    """Container metrics of the approach missing, or CPU time that stands still."""
    skip_if(run.monitoring_missing_ratio > METRICS_MISSING_LIMIT, "monitoring failed as a whole")
    if run.metrics_missing_ratio > METRICS_MISSING_LIMIT:
        fact = f"Container metrics are missing or stand still for {percent(run.metrics_missing_ratio)} of the run"
        yield f"{fact} (the limit is {percent(METRICS_MISSING_LIMIT)}): make doctor finds out why."


@rule("suspect", f"> {percent(EXCESS_CPU_LIMIT)} more", host_cause=True, needs="container")
def more_cpu_than_given(run: Measured) -> Iterator[str]:
    """The approach used more CPUs than its set or its quota has."""
    what = "whether the approach kept to its CPUs"
    used, given = measured(run.cpus_used, what), measured(run.cpus_given, what)
    if used > (1 + EXCESS_CPU_LIMIT) * given:
        fact = f"The container under test used {used:.2f} CPUs and has {given:g}"
        why = "its CPU time was counted wrongly, or its CPU set was not kept"
        yield f"{fact} (the limit is {percent(EXCESS_CPU_LIMIT)} more): {why}; measure again."


@rule("suspect", f"> {percent(GC_LIMIT)}", needs="jvm")
def gc_heavy(run: Measured) -> Iterator[str]:
    """Garbage collection: share of the run spent in pauses, or of the approach's CPU spent in its threads."""
    pauses = measured(run.gc_share, "what garbage collection took, because the process was not scraped")
    shares = {"the run in pauses": pauses, "the approach's CPU time": run.gc_cpu_share or 0}
    taken = [f"{percent(share)} of {what}" for what, share in shares.items() if share > GC_LIMIT]
    if taken:
        fact = f"Garbage collection took {' and '.join(taken)} (the limit is {percent(GC_LIMIT)})"
        yield f"{fact}: try another GC, more memory (SIZE) or a lower load."


@rule("suspect", f"> {percent(THROTTLED_LIMIT)}")
def throttled(run: Measured) -> Iterator[str]:
    """Periods throttled by the approach's CPU quota, unless CPU_MODE=quota asks for one."""
    skip_if(run.quota_cpus, "the quota was asked for")
    ratio = measured(run.throttled_ratio, "the approach has no CPU quota", UNFIT)
    if ratio > THROTTLED_LIMIT:
        fact = f"The container under test was throttled in {percent(ratio)} of its CPU quota periods"
        yield f"{fact} (the limit is {percent(THROTTLED_LIMIT)}): use SIZE=auto, which has no quota."


@rule("suspect", f"> {percent(PARTNER_LIMIT)} of a CPU")
def partner_busy(run: Measured) -> Iterator[str]:
    """Pair in slices: CPU of the idle partner."""
    skip_if(not run.partner, ALONE)
    cpus = measured(run.partner_cpus, "what CPU the idle partner used")
    if cpus > PARTNER_LIMIT:
        limit = f"the limit is {percent(PARTNER_LIMIT)}; the lab's scrapes take 0.4 to 1.6 %"
        fact = f"{run.partner} used {percent(cpus)} of a CPU while idle ({limit})"
        yield f"{fact}, which may have disturbed the one that was loaded: use DESIGN=alone."


@rule("suspect", f"> {percent(TRIMMED_LIMIT)} of the concurrency", needs="jvm")
def pools_trimmed(run: Measured) -> Iterator[str]:
    """Pair in slices: threads that a slice added, the median."""
    skip_if(not run.partner, ALONE)
    started = measured(run.threads_started, "how many threads the process had")
    if started > TRIMMED_LIMIT * run.concurrency:
        yield (
            f"Slices added {started:.0f} threads (the limit is {percent(TRIMMED_LIMIT)} of the concurrency, "
            f"{TRIMMED_LIMIT * run.concurrency:.0f}): the pool ends idle ones while the partner is loaded; use "
            "DESIGN=alone."
        )


@rule("suspect", "fewer", host_cause=True)
def small_pool(run: Measured) -> Iterator[str]:
    """Connections of the backend pool, compared with the concurrency × the calls that a request makes at once."""
    concurrency, at_once = run.concurrency, run.at_once
    skip_if(not run.backend_calls, "no request calls the backend")
    skip_if(run.backend_pool is None and run.about_told, "the client has no limit")
    skip_if(run.pool_asked, "its size was asked for")
    skip_if((run.capacity_share or 0) > 1, "more is offered than the process holds")
    pool = measured(run.backend_pool, "the size of the backend pool")
    if pool < concurrency * at_once:
        each = f", whose requests make {at_once} calls at once" if at_once > 1 else ""
        fact = f"The pool of {pool} backend connections is smaller than the concurrency of {concurrency}{each}:"
        yield f"{fact} requests queue for a connection; raise POOL, or the engine's limit of open files."
