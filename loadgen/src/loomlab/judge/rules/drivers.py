"""Rules on what drives the approach: the load generator and the backend, which must not be what limits a run."""

from loomlab.basics.words import percent
from loomlab.judge.finding import PASSED, Finding, failed, not_here, unknown
from loomlab.judge.limits import (
    BACKEND_REQUESTS_LIMIT,
    BUSY_CPU,
    BUSY_SECONDS_LIMIT,
    LATE_MEAN_LIMIT,
    LATE_P99_LIMIT,
    OWN_CONNECTIONS,
    REOPENED_LIMIT,
    RESOLVED_LATE_MS,
    THROTTLED_LIMIT,
)
from loomlab.judge.rule import rule
from loomlab.records.evidence import Evidence

NO_QUOTA = not_here("there is no CPU quota")
NOT_ASKED = not_here("no request calls the backend")


def _limited(who: str, what: str, share: float | None, missing: Finding) -> Finding:
    if share is None:
        return missing
    if share <= BUSY_SECONDS_LIMIT:
        return PASSED
    return failed(
        f"The {who} limited the run: {what} at least {percent(BUSY_CPU)} busy in {percent(share)} of the seconds "
        f"(the limit is {percent(BUSY_SECONDS_LIMIT)})."
    )


@rule(
    "invalid",
    f"all CPUs of the generator's or the backend's set were at least {percent(BUSY_CPU)} busy",
    f"> {percent(BUSY_SECONDS_LIMIT)} of seconds",
)
def generator_cpus(run: Evidence) -> Finding:
    missing = unknown("how busy the load generator's CPUs were")
    return _limited("load generator", "all CPUs of its set were", run.generator_cpus_full, missing)


@rule(
    "invalid",
    "the generator's busiest thread (ab has one), the backend's busiest event loop, or the CPU quota of "
    f"either, at least {percent(BUSY_CPU)} busy",
    f"> {percent(BUSY_SECONDS_LIMIT)} of seconds",
)
def generator_thread(run: Evidence) -> Finding:
    missing = unknown("how busy the load generator's threads were")
    return _limited("load generator", "its busiest thread was", run.generator_thread_full, missing)


@rule(
    "invalid",
    "the generator's busiest thread (ab has one), the backend's busiest event loop, or the CPU quota of "
    f"either, at least {percent(BUSY_CPU)} busy",
    f"> {percent(BUSY_SECONDS_LIMIT)} of seconds",
)
def generator_quota(run: Evidence) -> Finding:
    return _limited("load generator", "its CPU quota was", run.generator_quota_full, _no_quota(run.generator_measured))


def _no_quota(measured: bool) -> Finding:
    return NO_QUOTA if measured else unknown("what CPU the containers beside the approach used")


@rule(
    "invalid",
    "the generator's wait for a CPU: mean ÷ mean latency; mean of the worst hundredth of the seconds ÷ p99 latency",
    f"> {percent(LATE_MEAN_LIMIT)}; > {percent(LATE_P99_LIMIT)}",
)
def generator_wait_mean(run: Evidence) -> Finding:
    return _waited(run, run.generator_wait_mean_ms, "on average", "mean", run.mean_ms, LATE_MEAN_LIMIT)


@rule(
    "invalid",
    "the generator's wait for a CPU: mean ÷ mean latency; mean of the worst hundredth of the seconds ÷ p99 latency",
    f"> {percent(LATE_MEAN_LIMIT)}; > {percent(LATE_P99_LIMIT)}",
)
def generator_wait_p99(run: Evidence) -> Finding:
    return _waited(run, run.generator_wait_p99_ms, "at p99", "p99", run.p99_ms, LATE_P99_LIMIT)


def _waited(
    run: Evidence, wait_ms: float | None, when: str, figure: str, latency_ms: float | None, limit: float
) -> Finding:
    if not run.waits_told:
        return not_here("this kernel does not report waits for a CPU; how busy its CPUs were is judged")
    if wait_ms is None:
        return unknown("how long the load generator waited for a CPU")
    if not latency_ms:
        return not_here("there is no latency to compare with")
    if wait_ms <= limit * latency_ms:
        return PASSED
    return failed(
        f"The load generator limited the run: its threads waited {wait_ms:.1f} ms for a CPU {when}, "
        f"{percent(wait_ms / latency_ms)} of the {figure} latency of {latency_ms:,.0f} ms "
        f"(the limit is {percent(limit)}): use a lower load or more CPUs."
    )


@rule(
    "invalid",
    "periods in which the generator or the backend was throttled by its quota",
    f"> {percent(THROTTLED_LIMIT)}",
)
def generator_throttled(run: Evidence) -> Finding:
    return _throttled("load generator", run.generator_throttled, run.generator_measured)


@rule(
    "invalid",
    "periods in which the generator or the backend was throttled by its quota",
    f"> {percent(THROTTLED_LIMIT)}",
)
def backend_throttled(run: Evidence) -> Finding:
    if not run.backend_calls:
        return NOT_ASKED
    return _throttled("backend", run.backend_throttled, run.backend_measured)


def _throttled(who: str, ratio: float | None, measured: bool) -> Finding:
    if ratio is None:
        return _no_quota(measured)
    if ratio <= THROTTLED_LIMIT:
        return PASSED
    return failed(
        f"The {who} limited the run: it was throttled in {percent(ratio)} of its CPU quota periods "
        f"(the limit is {percent(THROTTLED_LIMIT)})."
    )


@rule(
    "invalid",
    f"all CPUs of the generator's or the backend's set were at least {percent(BUSY_CPU)} busy",
    f"> {percent(BUSY_SECONDS_LIMIT)} of seconds",
)
def backend_cpus(run: Evidence) -> Finding:
    missing = unknown("how busy the backend's CPUs were")
    return _of_backend(run, "all CPUs of its set were", run.backend_cpus_full, missing)


@rule(
    "invalid",
    "the generator's busiest thread (ab has one), the backend's busiest event loop, or the CPU quota of "
    f"either, at least {percent(BUSY_CPU)} busy",
    f"> {percent(BUSY_SECONDS_LIMIT)} of seconds",
)
def backend_quota(run: Evidence) -> Finding:
    return _of_backend(run, "its CPU quota was", run.backend_quota_full, _no_quota(run.backend_measured))


@rule(
    "invalid",
    "the generator's busiest thread (ab has one), the backend's busiest event loop, or the CPU quota of "
    f"either, at least {percent(BUSY_CPU)} busy",
    f"> {percent(BUSY_SECONDS_LIMIT)} of seconds",
)
def backend_loop(run: Evidence) -> Finding:
    missing = unknown("how busy the backend's event loops were")
    return _of_backend(run, "its busiest event loop was", run.backend_loop_full, missing)


def _of_backend(run: Evidence, what: str, share: float | None, missing: Finding) -> Finding:
    return _limited("backend", what, share, missing) if run.backend_calls else NOT_ASKED


@rule(
    "invalid",
    "the backend's lateness: calls × mean ÷ mean latency; calls × p99 ÷ p99 latency",
    f"> {percent(LATE_MEAN_LIMIT)}; > {percent(LATE_P99_LIMIT)}; either only if over {RESOLVED_LATE_MS} ms",
)
def backend_late_mean(run: Evidence) -> Finding:
    return _late(run, "on average", "mean", run.backend_lateness_mean_ms, run.mean_ms, LATE_MEAN_LIMIT)


@rule(
    "invalid",
    "the backend's lateness: calls × mean ÷ mean latency; calls × p99 ÷ p99 latency",
    f"> {percent(LATE_MEAN_LIMIT)}; > {percent(LATE_P99_LIMIT)}; either only if over {RESOLVED_LATE_MS} ms",
)
def backend_late_p99(run: Evidence) -> Finding:
    """As if all calls of one request were as late as that: an upper bound."""
    return _late(run, "at p99", "p99", run.backend_lateness_p99_ms, run.p99_ms, LATE_P99_LIMIT)


def _late(
    run: Evidence, when: str, figure: str, late_ms: float | None, latency_ms: float | None, limit: float
) -> Finding:
    calls = run.backend_calls
    if not calls:
        return NOT_ASKED
    if late_ms is None:
        return unknown("how late the backend was")
    if not latency_ms:
        return not_here("there is no latency to compare with")
    if late_ms <= RESOLVED_LATE_MS or calls * late_ms <= limit * latency_ms:
        return PASSED
    return failed(
        f"The backend limited the run: its answers were {late_ms:.1f} ms late {when}, over {calls} calls up to "
        f"{percent(min(calls * late_ms / latency_ms, 1))} of the {figure} latency of {latency_ms:,.0f} ms "
        f"(the limit is {percent(limit)}): use a lower load or more CPUs."
    )


@rule(
    "invalid",
    "the backend's delay just before or just after the run differed from the one asked for",
    "any",
    host_cause=True,
)
def backend_delay_other(run: Evidence) -> Finding:
    told = run.backend_delays
    if run.delay_asked is None:
        return not_here("no request depends on the backend's delay")
    if told is None:
        return unknown("which delay the backend had")
    if not {told.before, told.after} <= {None, run.delay_asked}:
        return failed(
            f"The backend's delay was {told.before or 'unknown'} before and {told.after or 'unknown'} after the run, "
            f"not the {run.delay_asked} asked for: something else changed it; measure again."
        )
    when = " and ".join(name for name, delay in (("before", told.before), ("after", told.after)) if delay is None)
    return unknown(f"which delay the backend had, because it did not answer right {when} the run") if when else PASSED


@rule(
    "suspect",
    "SYN retransmits: a listen queue overflowed, or packets were lost",
    "any",
)
def connections_lost(run: Evidence) -> Finding:
    if run.syn_retransmits is None:
        return unknown("how many connection attempts were repeated")
    if not run.syn_retransmits:
        return PASSED
    return failed(
        f"{run.syn_retransmits} connection attempts had to be repeated (SYN retransmits; the limit is 0): "
        "the listen queue overflowed or packets were lost."
    )


@rule(
    "suspect",
    "connections the generator opened beyond its concurrency",
    f"> {percent(REOPENED_LIMIT)}, plus {OWN_CONNECTIONS} of the lab's own",
)
def connections_reopened(run: Evidence) -> Finding:
    opened, concurrency = run.connections_opened, run.concurrency
    if opened is None:
        return unknown("how many connections the load generator opened")
    if opened <= (1 + REOPENED_LIMIT) * concurrency + OWN_CONNECTIONS:
        return PASSED
    return failed(
        f"Connections were reopened: the load generator opened {opened} for {concurrency} at once "
        f"(the limit is {percent(REOPENED_LIMIT)} more)."
    )


@rule(
    "suspect",
    "backend requests per request, on the interior, compared with the calls that the endpoint makes",
    f"off by > {percent(BACKEND_REQUESTS_LIMIT)} plus a wave",
)
def other_backend_requests(run: Evidence) -> Finding:
    """What is in flight at the ends may add or hide a chain of calls a connection."""
    a_request = run.backend_requests_per_request
    if a_request is None or not run.counted_requests:
        return unknown("how many requests the backend answered")
    in_flight = run.backend_calls * run.in_flight / run.counted_requests
    limit = BACKEND_REQUESTS_LIMIT * max(run.backend_calls, 1) + in_flight
    if abs(a_request - run.backend_calls) <= limit:
        return PASSED
    return failed(
        f"The backend answered {a_request:.3f} requests per request of the load, not {run.backend_calls} "
        f"(the limit is ±{limit:.3f})."
    )


@rule(
    "suspect",
    "connections opened to the backend ÷ requests to it",
    f"> {percent(REOPENED_LIMIT)}; in the open model or without a warm-up, plus one for each call that "
    "requests in flight make at once",
)
def backend_reconnected(run: Evidence) -> Finding:
    """Without a warm-up every connection is a first one; in the open model more are wanted as more requests wait."""
    calls = run.backend_calls * (run.attempted or 0)
    first_ones = run.at_once * run.in_flight if run.cold or not run.closed_model else 0
    opened = run.backend_connections_opened
    if opened is None:
        return unknown("how many connections to the backend were opened")
    if not opened or opened <= REOPENED_LIMIT * calls + first_ones:
        return PASSED
    return failed(
        f"Backend connections were not kept open: {opened:.0f} were opened for "
        f"about {calls} requests (the limit is {percent(REOPENED_LIMIT)})."
    )
