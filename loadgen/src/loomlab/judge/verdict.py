"""Whether a run may be believed: one rule a function, each a sentence with its figure and threshold, or None.

Thresholds are those of the lab's design ("The verdict"). `invalid`: the number would mislead; `suspect`: it needs care.
A figure that is None was not measured; the rule on it stays silent, unless its absence is the finding.
"""

from collections.abc import Callable

from loomlab.basics.waves import FEWEST_WAVES, SHORTEST_INTERIOR_S
from loomlab.basics.words import percent
from loomlab.judge.evidence import Evidence
from loomlab.judge.interior import WAVE_ERROR
from loomlab.judge.warmth import compilers_unknown, half_cold, still_falling, warmup_failed
from loomlab.records.models import Verdict

ERROR_LIMIT = 0.01
BUSY_CPU = 0.95
BUSY_SECONDS_LIMIT = 0.10
LATE_MEAN_LIMIT, LATE_P99_LIMIT = 0.05, 0.10
RATE_LIMIT = 0.02
LITTLE_LIMIT = 0.05
METRICS_MISSING_LIMIT = 0.10
SILENT_END_S, SILENT_END_P99S = 2, 3
GC_LIMIT = 0.20
THROTTLED_LIMIT = 0.05
STALL_P50S = 10
REOPENED_LIMIT = 0.01
OWN_CONNECTIONS = 3
"""To Prometheus, for progress and for k6's live figures."""
BACKEND_REQUESTS_LIMIT = 0.02


Rule = Callable[[Evidence], str | None]


def unfinished(run: Evidence) -> str | None:
    return None if run.finished else "The measurement was interrupted before its end."


def tool_failed(run: Evidence) -> str | None:
    return run.tool_failure


def too_many_errors(run: Evidence) -> str | None:
    if not run.attempted:
        return "No request is known to have completed."
    if run.missed_steps and run.held_steps:
        return None
    if run.errors is None or run.errors / run.attempted <= ERROR_LIMIT:
        return None
    return (
        f"{percent(run.errors / run.attempted)} of the requests failed or were not answered 2xx "
        f"({run.errors} of {run.attempted}; the limit is {percent(ERROR_LIMIT)})."
    )


def container_failed(run: Evidence) -> str | None:
    return run.container_failure


def process_restarted(run: Evidence) -> str | None:
    if not run.process_restarts:
        return None
    return f"The process under test started anew {run.process_restarts} times during the run (the limit is 0)."


def oom_killed(run: Evidence) -> str | None:
    if not run.oom_kills:
        return None
    return f"The kernel killed processes of the container for memory {run.oom_kills:.0f} times (the limit is 0)."


def _limited(who: str, what: str, share: float | None) -> str | None:
    if share is None or share <= BUSY_SECONDS_LIMIT:
        return None
    return (
        f"The {who} limited the run: {what} at least {percent(BUSY_CPU)} busy in {percent(share)} of the seconds "
        f"(the limit is {percent(BUSY_SECONDS_LIMIT)})."
    )


def generator_cpus(run: Evidence) -> str | None:
    return _limited("load generator", "all CPUs of its set were", run.generator_cpus_full)


def generator_thread(run: Evidence) -> str | None:
    return _limited("load generator", "its busiest thread was", run.generator_thread_full)


def generator_quota(run: Evidence) -> str | None:
    return _limited("load generator", "its CPU quota was", run.generator_quota_full)


def backend_cpus(run: Evidence) -> str | None:
    return _limited("backend", "all CPUs of its set were", run.backend_cpus_full)


def backend_quota(run: Evidence) -> str | None:
    return _limited("backend", "its CPU quota was", run.backend_quota_full)


def backend_loop(run: Evidence) -> str | None:
    return _limited("backend", "its busiest event loop was", run.backend_loop_full)


def backend_late_mean(run: Evidence) -> str | None:
    return _late("on average", "mean", run.backend_calls, run.backend_lateness_mean_ms, run.mean_ms, LATE_MEAN_LIMIT)


def backend_late_p99(run: Evidence) -> str | None:
    """As if all calls of one request were as late as that: an upper bound."""
    return _late("at p99", "p99", run.backend_calls, run.backend_lateness_p99_ms, run.p99_ms, LATE_P99_LIMIT)


def _late(
    when: str, figure: str, calls: int, late_ms: float | None, latency_ms: float | None, limit: float
) -> str | None:
    if late_ms is None or not latency_ms or calls * late_ms <= limit * latency_ms:
        return None
    return (
        f"The backend limited the run: its answers were {late_ms:.1f} ms late {when}, in {calls} calls up to "
        f"{percent(min(calls * late_ms / latency_ms, 1))} of the {figure} latency of {latency_ms:,.0f} ms "
        f"(the limit is {percent(limit)}): use a lower CONCURRENCY or more CPUs."
    )


def backend_delay_other(run: Evidence) -> str | None:
    told = run.backend_delays
    if run.delay_asked is None or told is None:
        return None
    if {told.before, told.after} <= {None, run.delay_asked}:
        return None
    return (
        f"The backend's delay was {told.before or 'unknown'} before and {told.after or 'unknown'} after the run, not "
        f"the {run.delay_asked} asked for: something else changed it; measure again."
    )


def backend_delay_unknown(run: Evidence) -> str | None:
    told = run.backend_delays
    if run.delay_asked is None or told is None or None not in (told.before, told.after):
        return None
    when = " and ".join(name for name, delay in (("before", told.before), ("after", told.after)) if delay is None)
    return (
        f"Whether the backend kept its delay of {run.delay_asked} is unknown: it did not answer right {when} the run."
    )


def littles_law(run: Evidence) -> str | None:
    """Below 20 waves a count of whole waves cannot resolve 5 %: one wave is the limit then."""
    if run.little_ratio is None:
        return None
    limit = max(LITTLE_LIMIT, 1 / run.waves) if run.waves else LITTLE_LIMIT
    if abs(run.little_ratio - 1) <= limit:
        return None
    return (
        f"Little's law is broken: throughput × mean latency is {run.little_ratio:.3f} of the {run.concurrency} "
        f"connections (the limit is ±{percent(limit)})."
    )


def rate_missed(run: Evidence) -> str | None:
    if run.offered_rps is None or run.started_rps is None:
        return None
    if abs(run.started_rps - run.offered_rps) <= RATE_LIMIT * run.offered_rps:
        return None
    missed = run.started_rps / run.offered_rps - 1
    return (
        f"The offered rate was missed: {run.tool} started {run.started_rps:.1f} requests a second, "
        f"{percent(abs(missed))} {'fewer' if missed < 0 else 'more'} than the {run.offered_rps:.1f} asked for "
        f"(the limit is {percent(RATE_LIMIT)}): it had no free connection, or no CPU."
    )


def work_dropped(run: Evidence) -> str | None:
    if not run.dropped or run.missed_steps:
        return None
    return f"{run.tool} dropped {run.dropped} requests that it should have started (the limit is 0)."


def no_step_held(run: Evidence) -> str | None:
    if not run.missed_steps or run.held_steps:
        return None
    return (
        f"Not even the lowest offered rate, {min(run.missed_steps):.0f} requests a second, was reached without errors."
    )


def steps_missed(run: Evidence) -> str | None:
    if not run.missed_steps or not run.held_steps:
        return None
    missed = ", ".join(f"{rate:.0f}" for rate in run.missed_steps)
    return (
        f"The steps of {missed} requests a second did not hold (rate missed by over {percent(RATE_LIMIT)}, or errors "
        f"over {percent(ERROR_LIMIT)}): only the figures of the other steps count."
    )


def metrics_missing(run: Evidence) -> str | None:
    if run.metrics_missing_ratio <= METRICS_MISSING_LIMIT:
        return None
    return (
        f"Container metrics are missing for {percent(run.metrics_missing_ratio)} of the run "
        f"(the limit is {percent(METRICS_MISSING_LIMIT)})."
    )


def silent_end(run: Evidence) -> str | None:
    limit = SILENT_END_S + SILENT_END_P99S * (run.p99_ms or 0) / 1000
    if run.silent_end_s <= limit:
        return None
    return (
        f"No answer came in the last {run.silent_end_s} s of the run, whose unanswered requests {run.tool} discards "
        f"(the limit is {SILENT_END_S} s + {SILENT_END_P99S} × p99 = {limit:.1f} s)."
    )


def container_unknown(run: Evidence) -> str | None:
    return (
        None
        if run.container_known
        else "Whether the container under test restarted is unknown: its state was not recorded."
    )


def gc_heavy(run: Evidence) -> str | None:
    taken = [
        f"{percent(share)} of {what}"
        for share, what in ((run.gc_share, "the run in pauses"), (run.gc_cpu_share, "the approach's CPU time"))
        if share is not None and share > GC_LIMIT
    ]
    return f"Garbage collection took {' and '.join(taken)} (the limit is {percent(GC_LIMIT)})." if taken else None


def gc_unknown(run: Evidence) -> str | None:
    return "What garbage collection took is unknown: the process was not scraped." if run.gc_share is None else None


def throttled(run: Evidence) -> str | None:
    if run.throttled_ratio is None or run.throttled_ratio <= THROTTLED_LIMIT:
        return None
    return (
        f"The container under test was throttled in {percent(run.throttled_ratio)} of its CPU quota periods "
        f"(the limit is {percent(THROTTLED_LIMIT)})."
    )


def connections_lost(run: Evidence) -> str | None:
    if not run.syn_retransmits:
        return None
    return (
        f"{run.syn_retransmits} connection attempts had to be repeated (SYN retransmits; the limit is 0): "
        "the listen queue overflowed or packets were lost."
    )


def short_interior(run: Evidence) -> str | None:
    if run.whole_run and run.steady:
        return "The run is too short to leave out its beginning and end: the figures are of all of it."
    if run.interior_s is None or run.interior_s >= SHORTEST_INTERIOR_S:
        return None
    return f"The figures are taken on {run.interior_s:.0f} s only (at least {SHORTEST_INTERIOR_S} s are wanted)."


def few_waves(run: Evidence) -> str | None:
    """A window of whole waves may be short of them by a hundredth."""
    if not run.closed_model or run.waves is None or run.waves >= (1 - WAVE_ERROR) * FEWEST_WAVES:
        return None
    return f"The figures are taken on {run.waves:.1f} waves of requests only (at least {FEWEST_WAVES} are wanted)."


def small_pool(run: Evidence) -> str | None:
    if run.backend_pool is None or not run.backend_calls or run.backend_pool >= run.concurrency:
        return None
    return (
        f"The pool of {run.backend_pool} backend connections is smaller than the concurrency of {run.concurrency}: "
        "requests queue for a connection."
    )


def few_threads(run: Evidence) -> str | None:
    if run.platform_threads is None or run.platform_threads >= run.concurrency:
        return None
    return (
        f"The pool of {run.platform_threads} platform threads is smaller than the concurrency of {run.concurrency}: "
        "requests queue for a thread."
    )


def connections_reopened(run: Evidence) -> str | None:
    limit = (1 + REOPENED_LIMIT) * run.concurrency + OWN_CONNECTIONS
    if run.connections_opened is None or run.connections_opened <= limit:
        return None
    return (
        f"Connections were reopened: the load generator opened {run.connections_opened} for {run.concurrency} at once "
        f"(the limit is {percent(REOPENED_LIMIT)} more)."
    )


def other_backend_requests(run: Evidence) -> str | None:
    """What is in flight at the ends may add or hide a chain of calls a connection."""
    a_request = run.backend_requests_per_request
    if a_request is None or not run.counted_requests:
        return None
    in_flight = run.backend_calls * run.concurrency / run.counted_requests
    limit = BACKEND_REQUESTS_LIMIT * max(run.backend_calls, 1) + in_flight
    if abs(a_request - run.backend_calls) <= limit:
        return None
    return (
        f"The backend answered {a_request:.3f} requests for each one of the load, not {run.backend_calls} "
        f"(the limit is ±{limit:.3f})."
    )


def backend_reconnected(run: Evidence) -> str | None:
    """Without a warm-up every connection is a first one; in the open model more are wanted as more requests wait."""
    calls = run.backend_calls * (run.attempted or 0)
    first_ones = run.concurrency if run.cold or not run.closed_model else 0
    if not run.backend_connections_opened or run.backend_connections_opened <= REOPENED_LIMIT * calls + first_ones:
        return None
    return (
        f"Backend connections were not kept: {run.backend_connections_opened:.0f} were opened for "
        f"some {calls} requests (the limit is {percent(REOPENED_LIMIT)})."
    )


def omission_possible(run: Evidence) -> str | None:
    if not run.closed_model or not run.p50_ms or run.max_ms is None:
        return None
    stall_ms = max(run.max_ms, 1000.0 * run.longest_silence_s if run.steady else 0.0)
    if stall_ms <= STALL_P50S * run.p50_ms:
        return None
    return (
        f"Coordinated omission is possible: a stall of {stall_ms / 1000:.1f} s is longer than {STALL_P50S} × p50 "
        f"({STALL_P50S * run.p50_ms / 1000:.1f} s), and a closed-model tool sends nothing meanwhile."
    )


def keepalive_refused(run: Evidence) -> str | None:
    if run.keepalive_requests is None or run.completed is None or run.keepalive_requests >= run.completed:
        return None
    return (
        f"Only {run.keepalive_requests} of {run.completed} answers kept their connection open: "
        "the run measures connecting, too."
    )


INVALID: tuple[Rule, ...] = (
    unfinished,
    tool_failed,
    too_many_errors,
    container_failed,
    process_restarted,
    oom_killed,
    generator_cpus,
    generator_thread,
    generator_quota,
    backend_cpus,
    backend_quota,
    backend_loop,
    backend_late_mean,
    backend_late_p99,
    backend_delay_other,
    littles_law,
    rate_missed,
    work_dropped,
    no_step_held,
    metrics_missing,
    silent_end,
)
SUSPECT: tuple[Rule, ...] = (
    container_unknown,
    gc_heavy,
    gc_unknown,
    throttled,
    connections_lost,
    short_interior,
    few_waves,
    steps_missed,
    half_cold,
    compilers_unknown,
    warmup_failed,
    still_falling,
    backend_delay_unknown,
    small_pool,
    few_threads,
    connections_reopened,
    other_backend_requests,
    backend_reconnected,
    omission_possible,
    keepalive_refused,
)


def judge(run: Evidence) -> tuple[Verdict, list[str]]:
    """The verdict and its reasons, the invalidating ones first."""
    invalid = [reason for rule in INVALID if (reason := rule(run))]
    suspect = [reason for rule in SUSPECT if (reason := rule(run))]
    return ("invalid" if invalid else "suspect" if suspect else "valid"), invalid + suspect
