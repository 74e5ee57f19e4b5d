"""Rules on what drives the approach: the load generator and the backend, which must not be what limits a run."""

from loomlab.basics.words import percent
from loomlab.judge.limits import BUSY_CPU, BUSY_SECONDS_LIMIT, THROTTLED_LIMIT
from loomlab.judge.rule import NotApplicable, Unknown, rule
from loomlab.records.measured import Measured

LATE_MEAN_LIMIT, LATE_P99_LIMIT, RESOLVED_LATE_MS = 0.05, 0.10, 0.05
"""The backend's first bucket ends there."""
REOPENED_LIMIT = 0.01
OWN_CONNECTIONS = 3
"""To Prometheus, for progress."""
BACKEND_REQUESTS_LIMIT = 0.02
NO_QUOTA = NotApplicable("there is no CPU quota")
NOT_ASKED = NotApplicable("no request calls the backend")
NO_LATENCY = NotApplicable("there is no latency to compare with")
QUOTA_UNKNOWN = Unknown("what CPU the containers beside the approach used")

ALL_CPUS_FULL = rule(
    "invalid",
    f"all CPUs of the generator's or the backend's set were at least {percent(BUSY_CPU)} busy",
    f"> {percent(BUSY_SECONDS_LIMIT)} of seconds",
)
PART_FULL = rule(
    "invalid",
    "the generator's busiest thread (ab has one), the backend's busiest event loop, or the CPU quota of "
    f"either, at least {percent(BUSY_CPU)} busy",
    f"> {percent(BUSY_SECONDS_LIMIT)} of seconds",
)
WAITED = rule(
    "invalid",
    "the generator's wait for a CPU: mean ÷ mean latency; mean of the worst hundredth of the seconds ÷ p99 latency",
    f"> {percent(LATE_MEAN_LIMIT)}; > {percent(LATE_P99_LIMIT)}",
)
THROTTLED = rule(
    "invalid",
    "periods in which the generator or the backend was throttled by its quota",
    f"> {percent(THROTTLED_LIMIT)}",
)
LATE = rule(
    "invalid",
    "the backend's lateness: calls × mean ÷ mean latency; calls × p99 ÷ p99 latency",
    f"> {percent(LATE_MEAN_LIMIT)}; > {percent(LATE_P99_LIMIT)}; either only if over {RESOLVED_LATE_MS} ms",
)


def _full(who: str, what: str, share: float | None, missing: str) -> str | None:
    if share is None:
        return missing
    if share <= BUSY_SECONDS_LIMIT:
        return None
    return (
        f"The {who} limited the run: {what} at least {percent(BUSY_CPU)} busy in {percent(share)} of the seconds "
        f"(the limit is {percent(BUSY_SECONDS_LIMIT)})."
    )


@ALL_CPUS_FULL
def generator_cpus(run: Measured) -> str | None:
    missing = Unknown("how busy the load generator's CPUs were")
    return _full("load generator", "all CPUs of its set were", run.generator_cpus_full, missing)


@PART_FULL
def generator_thread(run: Measured) -> str | None:
    missing = Unknown("how busy the load generator's threads were")
    return _full("load generator", "its busiest thread was", run.generator_thread_full, missing)


@PART_FULL
def generator_quota(run: Measured) -> str | None:
    missing = NO_QUOTA if run.generator_measured else QUOTA_UNKNOWN
    return _full("load generator", "its CPU quota was", run.generator_quota_full, missing)


@WAITED
def generator_wait_mean(run: Measured) -> str | None:
    return _waited(run, run.generator_wait_mean_ms, "on average", "mean", run.mean_ms, LATE_MEAN_LIMIT)


@WAITED
def generator_wait_p99(run: Measured) -> str | None:
    return _waited(run, run.generator_wait_p99_ms, "at p99", "p99", run.p99_ms, LATE_P99_LIMIT)


def _waited(
    run: Measured, wait_ms: float | None, when: str, figure: str, latency_ms: float | None, limit: float
) -> str | None:
    if not run.waits_told:
        return NotApplicable("this kernel does not report waits for a CPU; how busy its CPUs were is judged")
    if wait_ms is None:
        return Unknown("how long the load generator waited for a CPU")
    if not latency_ms:
        return NO_LATENCY
    if wait_ms <= limit * latency_ms:
        return None
    return (
        f"The load generator limited the run: its threads waited {wait_ms:.1f} ms for a CPU {when}, "
        f"{percent(wait_ms / latency_ms)} of the {figure} latency of {latency_ms:,.0f} ms "
        f"(the limit is {percent(limit)}): use a lower load or more CPUs."
    )


@THROTTLED
def generator_throttled(run: Measured) -> str | None:
    return _throttled("load generator", run.generator_throttled, run.generator_measured)


@THROTTLED
def backend_throttled(run: Measured) -> str | None:
    return _throttled("backend", run.backend_throttled, run.backend_measured) if run.backend_calls else NOT_ASKED


def _throttled(who: str, ratio: float | None, measured: bool) -> str | None:
    if ratio is None:
        return NO_QUOTA if measured else QUOTA_UNKNOWN
    if ratio <= THROTTLED_LIMIT:
        return None
    return (
        f"The {who} limited the run: it was throttled in {percent(ratio)} of its CPU quota periods "
        f"(the limit is {percent(THROTTLED_LIMIT)})."
    )


@ALL_CPUS_FULL
def backend_cpus(run: Measured) -> str | None:
    if not run.backend_calls:
        return NOT_ASKED
    missing = Unknown("how busy the backend's CPUs were")
    return _full("backend", "all CPUs of its set were", run.backend_cpus_full, missing)


@PART_FULL
def backend_quota(run: Measured) -> str | None:
    if not run.backend_calls:
        return NOT_ASKED
    missing = NO_QUOTA if run.backend_measured else QUOTA_UNKNOWN
    return _full("backend", "its CPU quota was", run.backend_quota_full, missing)


@PART_FULL
def backend_loop(run: Measured) -> str | None:
    if not run.backend_calls:
        return NOT_ASKED
    missing = Unknown("how busy the backend's event loops were")
    return _full("backend", "its busiest event loop was", run.backend_loop_full, missing)


@LATE
def backend_late_mean(run: Measured) -> str | None:
    return _late(run, "on average", "mean", run.backend_lateness_mean_ms, run.mean_ms, LATE_MEAN_LIMIT)


@LATE
def backend_late_p99(run: Measured) -> str | None:
    """As if all calls of one request were as late as that: an upper bound."""
    return _late(run, "at p99", "p99", run.backend_lateness_p99_ms, run.p99_ms, LATE_P99_LIMIT)


def _late(
    run: Measured, when: str, figure: str, late_ms: float | None, latency_ms: float | None, limit: float
) -> str | None:
    calls = run.backend_calls
    if not calls:
        return NOT_ASKED
    if late_ms is None:
        return Unknown("how late the backend was")
    if not latency_ms:
        return NO_LATENCY
    if late_ms <= RESOLVED_LATE_MS or calls * late_ms <= limit * latency_ms:
        return None
    return (
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
def backend_delay_other(run: Measured) -> str | None:
    delays, asked = run.backend_delays, run.delay_asked
    if asked is None:
        return NotApplicable("no request depends on the backend's delay")
    if delays is None:
        return Unknown("which delay the backend had")
    if not {delays.before, delays.after} <= {None, asked}:
        return (
            f"The backend's delay was {delays.before or 'unknown'} before and {delays.after or 'unknown'} after the "
            f"run, not the {asked} asked for: something else changed it; measure again."
        )
    silent = [when for when, delay in (("before", delays.before), ("after", delays.after)) if delay is None]
    if not silent:
        return None
    return Unknown(f"which delay the backend had, because it did not answer right {' and '.join(silent)} the run")


@rule("suspect", "SYN retransmits: a listen queue overflowed, or packets were lost", "any")
def connections_lost(run: Measured) -> str | None:
    if run.syn_retransmits is None:
        return Unknown("how many connection attempts were repeated")
    if not run.syn_retransmits:
        return None
    return (
        f"{run.syn_retransmits} connection attempts had to be repeated (SYN retransmits; the limit is 0): "
        "the listen queue overflowed or packets were lost."
    )


@rule(
    "suspect",
    "connections the generator opened beyond its concurrency",
    f"> {percent(REOPENED_LIMIT)}, plus {OWN_CONNECTIONS} of the lab's own",
)
def connections_reopened(run: Measured) -> str | None:
    opened, concurrency = run.connections_opened, run.concurrency
    if opened is None:
        return Unknown("how many connections the load generator opened")
    if opened <= (1 + REOPENED_LIMIT) * concurrency + OWN_CONNECTIONS:
        return None
    return (
        f"Connections were reopened: the load generator opened {opened} for {concurrency} at once "
        f"(the limit is {percent(REOPENED_LIMIT)} more)."
    )


@rule(
    "suspect",
    "backend requests per request, on the interior, compared with the calls that the endpoint makes",
    f"off by > {percent(BACKEND_REQUESTS_LIMIT)} plus a wave",
)
def other_backend_requests(run: Measured) -> str | None:
    """What is in flight at the ends may add or hide a chain of calls a connection."""
    calls, calls_per_request = run.backend_calls, run.backend_requests_per_request
    if calls_per_request is None or not run.counted_requests:
        return Unknown("how many requests the backend answered")
    limit = BACKEND_REQUESTS_LIMIT * max(calls, 1) + calls * run.in_flight / run.counted_requests
    if abs(calls_per_request - calls) <= limit:
        return None
    return (
        f"The backend answered {calls_per_request:.3f} requests per request of the load, not {calls} "
        f"(the limit is ±{limit:.3f})."
    )


@rule(
    "suspect",
    "connections opened to the backend ÷ requests to it",
    f"> {percent(REOPENED_LIMIT)}; in the open model or without a warm-up, plus one for each call that "
    "requests in flight make at once",
)
def backend_reconnected(run: Measured) -> str | None:
    """Without a warm-up every connection is a first one; in the open model more are wanted as more requests wait."""
    calls, opened = run.backend_calls * (run.requests or 0), run.backend_connections_opened
    first_ones = run.at_once * run.in_flight if run.cold or not run.closed_model else 0
    if opened is None:
        return Unknown("how many connections to the backend were opened")
    if not opened or opened <= REOPENED_LIMIT * calls + first_ones:
        return None
    return (
        f"Backend connections were not kept open: {opened} were opened for "
        f"about {calls} requests (the limit is {percent(REOPENED_LIMIT)})."
    )
