"""Rules on what drives the approach: the load generator and the backend, which must not be what limits a run."""

from loomlab.basics.words import percent
from loomlab.judge.evidence import Evidence
from loomlab.judge.limits import (
    BACKEND_REQUESTS_LIMIT,
    BUSY_CPU,
    BUSY_SECONDS_LIMIT,
    LATE_MEAN_LIMIT,
    LATE_P99_LIMIT,
    OWN_CONNECTIONS,
    REOPENED_LIMIT,
)


def _limited(who: str, what: str, share: float | None) -> str | None:
    if share is None or share <= BUSY_SECONDS_LIMIT:
        return None
    return (
        f"The {who} limited the run: {what} at least {percent(BUSY_CPU)} busy in {percent(share)} of the seconds "
        f"(the limit is {percent(BUSY_SECONDS_LIMIT)})."
    )


def generator_cpus(run: Evidence) -> str | None:
    return _limited("load generator", "all CPUs of its set were", run.generator.cpus_full)


def generator_thread(run: Evidence) -> str | None:
    return _limited("load generator", "its busiest thread was", run.generator.thread_full)


def generator_quota(run: Evidence) -> str | None:
    return _limited("load generator", "its CPU quota was", run.generator.quota_full)


def backend_cpus(run: Evidence) -> str | None:
    return _limited("backend", "all CPUs of its set were", run.backend.cpus_full)


def backend_quota(run: Evidence) -> str | None:
    return _limited("backend", "its CPU quota was", run.backend.quota_full)


def backend_loop(run: Evidence) -> str | None:
    return _limited("backend", "its busiest event loop was", run.backend.loop_full)


def backend_late_mean(run: Evidence) -> str | None:
    late_ms, latency_ms = run.backend.lateness_mean_ms, run.loaded.mean_ms
    return _late("on average", "mean", run.asked.backend_calls, late_ms, latency_ms, LATE_MEAN_LIMIT)


def backend_late_p99(run: Evidence) -> str | None:
    """As if all calls of one request were as late as that: an upper bound."""
    late_ms, latency_ms = run.backend.lateness_p99_ms, run.loaded.p99_ms
    return _late("at p99", "p99", run.asked.backend_calls, late_ms, latency_ms, LATE_P99_LIMIT)


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
    told = run.backend.delays
    if run.asked.delay is None or told is None:
        return None
    if {told.before, told.after} <= {None, run.asked.delay}:
        return None
    return (
        f"The backend's delay was {told.before or 'unknown'} before and {told.after or 'unknown'} after the run, not "
        f"the {run.asked.delay} asked for: something else changed it; measure again."
    )


def backend_delay_unknown(run: Evidence) -> str | None:
    told = run.backend.delays
    if run.asked.delay is None or told is None or None not in (told.before, told.after):
        return None
    when = " and ".join(name for name, delay in (("before", told.before), ("after", told.after)) if delay is None)
    return (
        f"Whether the backend kept its delay of {run.asked.delay} is unknown: it did not answer right {when} the run."
    )


def connections_lost(run: Evidence) -> str | None:
    if not run.generator.syn_retransmits:
        return None
    return (
        f"{run.generator.syn_retransmits} connection attempts had to be repeated (SYN retransmits; the limit is 0): "
        "the listen queue overflowed or packets were lost."
    )


def connections_reopened(run: Evidence) -> str | None:
    opened, concurrency = run.generator.connections_opened, run.asked.concurrency
    if opened is None or opened <= (1 + REOPENED_LIMIT) * concurrency + OWN_CONNECTIONS:
        return None
    return (
        f"Connections were reopened: the load generator opened {opened} for {concurrency} at once "
        f"(the limit is {percent(REOPENED_LIMIT)} more)."
    )


def other_backend_requests(run: Evidence) -> str | None:
    """What is in flight at the ends may add or hide a chain of calls a connection."""
    a_request = run.backend.requests_per_request
    if a_request is None or not run.loaded.requests:
        return None
    in_flight = run.asked.backend_calls * run.asked.concurrency / run.loaded.requests
    limit = BACKEND_REQUESTS_LIMIT * max(run.asked.backend_calls, 1) + in_flight
    if abs(a_request - run.asked.backend_calls) <= limit:
        return None
    return (
        f"The backend answered {a_request:.3f} requests for each one of the load, not {run.asked.backend_calls} "
        f"(the limit is ±{limit:.3f})."
    )


def backend_reconnected(run: Evidence) -> str | None:
    """Without a warm-up every connection is a first one; in the open model more are wanted as more requests wait."""
    calls = run.asked.backend_calls * (run.told.attempted or 0)
    first_ones = run.asked.concurrency if run.cold or not run.asked.closed_model else 0
    if not run.backend.connections_opened or run.backend.connections_opened <= REOPENED_LIMIT * calls + first_ones:
        return None
    return (
        f"Backend connections were not kept: {run.backend.connections_opened:.0f} were opened for "
        f"some {calls} requests (the limit is {percent(REOPENED_LIMIT)})."
    )
