"""Rules on what drives the approach: the load generator and the backend, which must not be what limits a run."""

from collections.abc import Iterator

from loomlab.basics.words import percent
from loomlab.judge.limits import BUSY_CPU, BUSY_SECONDS_LIMIT, THROTTLED_LIMIT
from loomlab.judge.rule import applicable, measured, rule, skip_if
from loomlab.records.measured import Measured

LATE_MEAN_LIMIT, LATE_P99_LIMIT, RESOLVED_LATE_MS = 0.05, 0.10, 0.05
"""The backend's first bucket ends there."""
REOPENED_LIMIT = 0.01
OWN_CONNECTIONS = 3
"""To Prometheus, for progress."""
BACKEND_REQUESTS_LIMIT = 0.02
NOT_ASKED = "no request calls the backend"
NO_LATENCY = "there is no latency to compare with"
QUOTA = "what CPU the containers beside the approach used"
FULL = f"at least {percent(BUSY_CPU)} in > {percent(BUSY_SECONDS_LIMIT)} of seconds"


@rule("invalid", FULL)
def generator_cpus(run: Measured) -> Iterator[str]:
    """Use of all CPUs of the generator's set."""
    yield from _full("load generator", "all CPUs of its set were", run.generator_cpus_full, "CPUs")


@rule("invalid", FULL)
def generator_thread(run: Measured) -> Iterator[str]:
    """Use of a CPU by the generator's busiest thread (ab has one)."""
    yield from _full("load generator", "its busiest thread was", run.generator_thread_full, "threads")


@rule("invalid", FULL)
def generator_quota(run: Measured) -> Iterator[str]:
    """Use of the generator's CPU quota."""
    share = _of_quota(run.generator_quota_full, known=run.generator_measured)
    yield from _full("load generator", "its CPU quota was", share, "quota")


@rule("invalid", FULL)
def backend_cpus(run: Measured) -> Iterator[str]:
    """Use of all CPUs of the backend's set."""
    skip_if(not run.backend_calls, NOT_ASKED)
    yield from _full("backend", "all CPUs of its set were", run.backend_cpus_full, "CPUs")


@rule("invalid", FULL)
def backend_quota(run: Measured) -> Iterator[str]:
    """Use of the backend's CPU quota."""
    skip_if(not run.backend_calls, NOT_ASKED)
    share = _of_quota(run.backend_quota_full, known=run.backend_measured)
    yield from _full("backend", "its CPU quota was", share, "quota")


@rule("invalid", FULL)
def backend_loop(run: Measured) -> Iterator[str]:
    """Use of a CPU by the backend's busiest event loop."""
    skip_if(not run.backend_calls, NOT_ASKED)
    yield from _full("backend", "its busiest event loop was", run.backend_loop_full, "event loops")


def _of_quota(share: float | None, *, known: bool) -> float:
    """What was measured of a quota; ends the check where there is none, or where that is not known."""
    skip_if(share is None and known, "there is no CPU quota")
    return measured(share, QUOTA)


def _full(who: str, what: str, full_share: float | None, part: str) -> Iterator[str]:
    share = measured(full_share, f"how busy the {who}'s {part} were")
    if share > BUSY_SECONDS_LIMIT:
        yield (
            f"The {who} limited the run: {what} at least {percent(BUSY_CPU)} busy in {percent(share)} of the seconds "
            f"(the limit is {percent(BUSY_SECONDS_LIMIT)})."
        )


@rule("invalid", f"> {percent(LATE_MEAN_LIMIT)}")
def generator_wait_mean(run: Measured) -> Iterator[str]:
    """The generator's wait for a CPU, mean ÷ mean latency."""
    yield from _waited(run, run.generator_wait_mean_ms, "on average", "mean", run.mean_ms, LATE_MEAN_LIMIT)


@rule("invalid", f"> {percent(LATE_P99_LIMIT)}")
def generator_wait_p99(run: Measured) -> Iterator[str]:
    """The generator's wait for a CPU, mean of the worst hundredth of the seconds ÷ p99 latency."""
    yield from _waited(run, run.generator_wait_p99_ms, "at p99", "p99", run.p99_ms, LATE_P99_LIMIT)


def _waited(
    run: Measured, waited_ms: float | None, when: str, figure: str, taken_ms: float | None, limit: float
) -> Iterator[str]:
    skip_if(not run.waits_told, "this kernel does not report waits for a CPU; how busy its CPUs were is judged")
    wait_ms = measured(waited_ms, "how long the load generator waited for a CPU")
    latency_ms = applicable(taken_ms or None, NO_LATENCY)
    if wait_ms > limit * latency_ms:
        yield (
            f"The load generator limited the run: its threads waited {wait_ms:.1f} ms for a CPU {when}, "
            f"{percent(wait_ms / latency_ms)} of the {figure} latency of {latency_ms:,.0f} ms "
            f"(the limit is {percent(limit)}): use a lower load or more CPUs."
        )


@rule("invalid", f"> {percent(THROTTLED_LIMIT)}")
def generator_throttled(run: Measured) -> Iterator[str]:
    """Periods in which the generator was throttled by its quota."""
    yield from _throttled("load generator", _of_quota(run.generator_throttled, known=run.generator_measured))


@rule("invalid", f"> {percent(THROTTLED_LIMIT)}")
def backend_throttled(run: Measured) -> Iterator[str]:
    """Periods in which the backend was throttled by its quota."""
    skip_if(not run.backend_calls, NOT_ASKED)
    yield from _throttled("backend", _of_quota(run.backend_throttled, known=run.backend_measured))


def _throttled(who: str, ratio: float) -> Iterator[str]:
    if ratio > THROTTLED_LIMIT:
        yield (
            f"The {who} limited the run: it was throttled in {percent(ratio)} of its CPU quota periods "
            f"(the limit is {percent(THROTTLED_LIMIT)})."
        )


@rule("invalid", f"> {percent(LATE_MEAN_LIMIT)}, and over {RESOLVED_LATE_MS} ms")
def backend_late_mean(run: Measured) -> Iterator[str]:
    """The backend's lateness, calls × mean ÷ mean latency."""
    yield from _late(run, "on average", "mean", run.backend_lateness_mean_ms, run.mean_ms, LATE_MEAN_LIMIT)


@rule("invalid", f"> {percent(LATE_P99_LIMIT)}, and over {RESOLVED_LATE_MS} ms")
def backend_late_p99(run: Measured) -> Iterator[str]:
    """The backend's lateness, calls × p99 ÷ p99 latency.

    As if all calls of one request were as late as that: an upper bound."""
    yield from _late(run, "at p99", "p99", run.backend_lateness_p99_ms, run.p99_ms, LATE_P99_LIMIT)


def _late(
    run: Measured, when: str, figure: str, lateness_ms: float | None, taken_ms: float | None, limit: float
) -> Iterator[str]:
    calls = run.backend_calls
    skip_if(not calls, NOT_ASKED)
    late_ms = measured(lateness_ms, "how late the backend was")
    latency_ms = applicable(taken_ms or None, NO_LATENCY)
    if late_ms > RESOLVED_LATE_MS and calls * late_ms > limit * latency_ms:
        yield (
            f"The backend limited the run: its answers were {late_ms:.1f} ms late {when}, over {calls} calls up to "
            f"{percent(min(calls * late_ms / latency_ms, 1))} of the {figure} latency of {latency_ms:,.0f} ms "
            f"(the limit is {percent(limit)}): use a lower load or more CPUs."
        )


@rule("invalid", host_cause=True)
def backend_delay_other(run: Measured) -> Iterator[str]:
    """The backend's delay just before or just after the run differed from the one asked for."""
    asked = applicable(run.delay_asked, "no request depends on the backend's delay")
    delays = measured(run.backend_delays, "which delay the backend had")
    told = {"before": delays.before, "after": delays.after}
    if not {*told.values()} <= {None, asked}:
        yield (
            f"The backend's delay was {delays.before or 'unknown'} before and {delays.after or 'unknown'} after the "
            f"run, not the {asked} asked for: something else changed it; measure again."
        )
    elif silent := " and ".join(when for when, delay in told.items() if delay is None):
        measured(None, f"which delay the backend had, because it did not answer right {silent} the run")


@rule("suspect")
def connections_lost(run: Measured) -> Iterator[str]:
    """SYN retransmits: a listen queue overflowed, or packets were lost."""
    repeated = measured(run.syn_retransmits, "how many connection attempts were repeated")
    if repeated:
        yield (
            f"{repeated} connection attempts had to be repeated (SYN retransmits; the limit is 0): "
            "the listen queue overflowed or packets were lost."
        )


@rule("suspect", f"> {percent(REOPENED_LIMIT)}, plus {OWN_CONNECTIONS} of the lab's own")
def connections_reopened(run: Measured) -> Iterator[str]:
    """Connections the generator opened beyond its concurrency."""
    opened = measured(run.connections_opened, "how many connections the load generator opened")
    if opened > (1 + REOPENED_LIMIT) * run.concurrency + OWN_CONNECTIONS:
        yield (
            f"Connections were reopened: the load generator opened {opened} for {run.concurrency} at once "
            f"(the limit is {percent(REOPENED_LIMIT)} more)."
        )


@rule("suspect", f"off by > {percent(BACKEND_REQUESTS_LIMIT)} plus a wave")
def other_backend_requests(run: Measured) -> Iterator[str]:
    """Backend requests per request, on the interior, compared with the calls that the endpoint makes.

    What is in flight at the ends may add or hide a chain of calls a connection."""
    calls = run.backend_calls
    per_request = measured(
        run.backend_requests_per_request if run.counted_requests else None, "how many requests the backend answered"
    )
    limit = BACKEND_REQUESTS_LIMIT * max(calls, 1) + calls * run.in_flight / (run.counted_requests or 1)
    if abs(per_request - calls) > limit:
        yield (
            f"The backend answered {per_request:.3f} requests per request of the load, not {calls} "
            f"(the limit is ±{limit:.3f})."
        )


@rule(
    "suspect",
    f"> {percent(REOPENED_LIMIT)}; in the open model or without a warm-up, plus one for each call that requests in "
    "flight make at once",
)
def backend_reconnected(run: Measured) -> Iterator[str]:
    """Connections opened to the backend ÷ requests to it.

    Without a warm-up every connection is a first one; in the open model more are wanted as more requests wait."""
    calls = run.backend_calls * (run.requests or 0)
    first_ones = run.at_once * run.in_flight if run.cold or not run.closed_model else 0
    opened = measured(run.backend_connections_opened, "how many connections to the backend were opened")
    if opened and opened > REOPENED_LIMIT * calls + first_ones:
        yield (
            f"Backend connections were not kept open: {opened} were opened for "
            f"about {calls} requests (the limit is {percent(REOPENED_LIMIT)})."
        )
