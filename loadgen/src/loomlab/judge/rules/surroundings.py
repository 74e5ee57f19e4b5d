"""Rules on what surrounds the approach: load generator, backend and machine, which must not be what limits a run."""

import math
from collections.abc import Iterator

from loomlab.basics.format import percent
from loomlab.judge.limits import BUSY_CPU, BUSY_SECONDS_LIMIT, METRICS_MISSING_LIMIT, THROTTLED_LIMIT
from loomlab.judge.rule import applicable, measured, rule, skip_if
from loomlab.records.measured import Measured

LATE_MEAN_LIMIT, LATE_P99_LIMIT, RESOLVED_LATE_MS = 0.05, 0.10, 0.05  # the backend's first bucket ends there
REOPENED_LIMIT = 0.01
OWN_CONNECTIONS = 3  # to Prometheus, for progress
BACKEND_REQUESTS_LIMIT = 0.02
CLOCK_LIMIT_S = 0.5
FOREIGN_LIMIT, MUCH_FOREIGN_LIMIT = 0.05, 0.20
STOLEN_LIMIT = 0.05
"""Of the time in which the approach needed its CPUs: by so much was CPU per request higher in runs with steal."""
NOT_ASKED = "no request calls the backend"
FULL = f"at least {percent(BUSY_CPU)} in > {percent(BUSY_SECONDS_LIMIT)} of seconds"
CURE = ": use a lower load or more CPUs"
BEYOND = "the share is over the larger limit"
STEAL = "how much CPU time the hypervisor took (steal)"


def _limited(who: str, what: str, share: float, limit: float, cure: str = "") -> Iterator[str]:
    if share > limit:
        yield f"The {who} limited the run: {what} (the limit is {percent(limit)}){cure}."


def _full(who: str, what: str, full_share: float | None, part: str) -> Iterator[str]:
    share = measured(full_share, f"how busy the {who}'s {part} were")
    busy = f"{what} at least {percent(BUSY_CPU)} busy in {percent(share)} of the seconds"
    return _limited(who, busy, share, BUSY_SECONDS_LIMIT)


def _throttled(who: str, share: float) -> Iterator[str]:
    return _limited(who, f"it was throttled in {percent(share)} of its CPU quota periods", share, THROTTLED_LIMIT)


def _of_quota(share: float | None, *, known: bool) -> float:
    """What was measured of a quota; ends the check where there is none, or where that is not known."""
    skip_if(share is None and known, "there is no CPU quota")
    return measured(share, "what CPU the containers beside the approach used")


def _slow(run: Measured, who: str, figure: str, what: str, added_ms: float, most: float = math.inf) -> Iterator[str]:
    """Where what is added to the mean latency or its p99 is over their limits; as a share of it `most` at most."""
    of_mean, of_p99 = (run.mean_ms, LATE_MEAN_LIMIT), (run.p99_ms, LATE_P99_LIMIT)
    taken_ms, limit = of_mean if figure == "mean" else of_p99
    latency_ms = applicable(taken_ms or None, "there is no latency to compare with")
    share = added_ms / latency_ms
    what = f"{what} {percent(min(share, most))} of the {figure} latency of {latency_ms:,.0f} ms"
    return _limited(who, what, share, limit, CURE)


def _waited(run: Measured, waited_ms: float | None, when: str, figure: str) -> Iterator[str]:
    skip_if(not run.waits_told, "this kernel does not report waits for a CPU; how busy its CPUs were is judged")
    wait_ms = measured(waited_ms, "how long the load generator waited for a CPU")
    return _slow(run, "load generator", figure, f"its threads waited {wait_ms:.1f} ms for a CPU {when},", wait_ms)


def _late(run: Measured, lateness_ms: float | None, when: str, figure: str) -> Iterator[str]:
    skip_if(not run.backend_calls, NOT_ASKED)
    late_ms = measured(lateness_ms, "how late the backend was")
    what = f"its answers were {late_ms:.1f} ms late {when}, over {run.backend_calls} calls up to"
    return _slow(run, "backend", figure, what, run.backend_calls * late_ms * (late_ms > RESOLVED_LATE_MS), most=1)


@rule("invalid", FULL)
def generator_cpus(run: Measured) -> Iterator[str]:
    """Use of all CPUs of the generator's set."""
    return _full("load generator", "all CPUs of its set were", run.generator_cpus_full, "CPUs")


@rule("invalid", FULL)
def generator_thread(run: Measured) -> Iterator[str]:
    """Use of a CPU by the generator's busiest thread (ab has one)."""
    return _full("load generator", "its busiest thread was", run.generator_thread_full, "threads")


@rule("invalid", FULL)
def generator_quota(run: Measured) -> Iterator[str]:
    """Use of the generator's CPU quota."""
    share = _of_quota(run.generator_quota_full, known=run.generator_measured)
    return _full("load generator", "its CPU quota was", share, "quota")


@rule("invalid", FULL)
def backend_cpus(run: Measured) -> Iterator[str]:
    """Use of all CPUs of the backend's set."""
    skip_if(not run.backend_calls, NOT_ASKED)
    return _full("backend", "all CPUs of its set were", run.backend_cpus_full, "CPUs")


@rule("invalid", FULL)
def backend_quota(run: Measured) -> Iterator[str]:
    """Use of the backend's CPU quota."""
    skip_if(not run.backend_calls, NOT_ASKED)
    share = _of_quota(run.backend_quota_full, known=run.backend_measured)
    return _full("backend", "its CPU quota was", share, "quota")


@rule("invalid", FULL)
def backend_loop(run: Measured) -> Iterator[str]:
    """Use of a CPU by the backend's busiest event loop."""
    skip_if(not run.backend_calls, NOT_ASKED)
    return _full("backend", "its busiest event loop was", run.backend_loop_full, "event loops")


@rule("invalid", f"> {percent(LATE_MEAN_LIMIT)}")
def generator_wait_mean(run: Measured) -> Iterator[str]:
    """The generator's wait for a CPU, mean ÷ mean latency."""
    return _waited(run, run.generator_wait_mean_ms, "on average", "mean")


@rule("invalid", f"> {percent(LATE_P99_LIMIT)}")
def generator_wait_p99(run: Measured) -> Iterator[str]:
    """The generator's wait for a CPU, mean of the worst hundredth of the seconds ÷ p99 latency."""
    return _waited(run, run.generator_wait_p99_ms, "at p99", "p99")


@rule("invalid", f"> {percent(THROTTLED_LIMIT)}")
def generator_throttled(run: Measured) -> Iterator[str]:
    """Periods in which the generator was throttled by its quota."""
    return _throttled("load generator", _of_quota(run.generator_throttled, known=run.generator_measured))


@rule("invalid", f"> {percent(THROTTLED_LIMIT)}")
def backend_throttled(run: Measured) -> Iterator[str]:
    """Periods in which the backend was throttled by its quota."""
    skip_if(not run.backend_calls, NOT_ASKED)
    return _throttled("backend", _of_quota(run.backend_throttled, known=run.backend_measured))


@rule("invalid", f"> {percent(LATE_MEAN_LIMIT)}, and over {RESOLVED_LATE_MS} ms")
def backend_late_mean(run: Measured) -> Iterator[str]:
    """The backend's lateness, calls × mean ÷ mean latency."""
    return _late(run, run.backend_lateness_mean_ms, "on average", "mean")


@rule("invalid", f"> {percent(LATE_P99_LIMIT)}, and over {RESOLVED_LATE_MS} ms")
def backend_late_p99(run: Measured) -> Iterator[str]:
    """The backend's lateness, calls × p99 ÷ p99 latency.

    As if all calls of one request were as late as that: an upper bound."""
    return _late(run, run.backend_lateness_p99_ms, "at p99", "p99")


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


def _foreign(run: Measured, limit: float, most: float = math.inf) -> Iterator[str]:
    share = measured(run.foreign_cpu_share, "how much of the approach's CPUs other programs took")
    skip_if(share > most, BEYOND)
    if share > limit:
        yield (
            f"Other programs took {percent(share)} of the time of the approach's CPUs (the limit is {percent(limit)}): "
            "stop them, and measure again."
        )


@rule("suspect", f"> {percent(FOREIGN_LIMIT)}", host_cause=True)
def foreign_cpu(run: Measured) -> Iterator[str]:
    """Other programs on the approach's CPUs."""
    return _foreign(run, FOREIGN_LIMIT, most=MUCH_FOREIGN_LIMIT)


@rule("invalid", f"> {percent(MUCH_FOREIGN_LIMIT)}", host_cause=True)
def much_foreign_cpu(run: Measured) -> Iterator[str]:
    """Other programs on the approach's CPUs."""
    return _foreign(run, MUCH_FOREIGN_LIMIT)


def _stolen(*shares: tuple[float, str, float]) -> Iterator[str]:
    over = [
        f"{percent(share)} of {what} (the limit is {percent(most)})" for share, what, most in shares if share > most
    ]
    if over:
        yield (
            f"The hypervisor gave CPU time to other machines (steal): {', '.join(over)}; "
            "measure again at a quieter time, or on a machine of your own."
        )


@rule("suspect", f"> {percent(STOLEN_LIMIT)}; > {percent(MUCH_FOREIGN_LIMIT)}", host_cause=True)
def stolen(run: Measured) -> Iterator[str]:
    """Time stolen from the approach's CPUs ÷ time in which they were needed; from the CPUs of backend or generator.

    What is stolen from a thread may be charged to it as CPU time. Of the others more may be gone."""
    needed, shares = measured(run.stolen_of_needed, STEAL), {"approach": 0.0} | measured(run.steal_shares, STEAL)
    skip_if(shares.pop("approach") > MUCH_FOREIGN_LIMIT, BEYOND)
    others = [(share, f"the {part}'s CPUs", MUCH_FOREIGN_LIMIT) for part, share in shares.items()]
    return _stolen((needed, "the time in which the approach needed its CPUs", STOLEN_LIMIT), *others)


@rule("invalid", f"> {percent(MUCH_FOREIGN_LIMIT)}", host_cause=True)
def much_stolen(run: Measured) -> Iterator[str]:
    """Time stolen from the approach's CPUs."""
    shares = measured(run.steal_shares, STEAL)
    return _stolen((shares.get("approach", 0), "the approach's CPUs", MUCH_FOREIGN_LIMIT))


@rule("invalid", f"> {CLOCK_LIMIT_S} s", host_cause=True)
def clock_stepped(run: Measured) -> Iterator[str]:
    """The clock was set during the run."""
    skip_if(run.clock_step_s is None and run.host_sampled, "the run is of a version that did not watch the clock")
    step_s = measured(run.clock_step_s, "whether the clock was set")
    if step_s > CLOCK_LIMIT_S:
        yield (
            f"The clock was set by {step_s:.1f} s during the run (the limit is {CLOCK_LIMIT_S} s), so its times do not "
            "match: measure again."
        )


@rule("invalid", f"> {percent(METRICS_MISSING_LIMIT)} of the run", host_cause=True)
def monitoring_gone(run: Measured) -> Iterator[str]:
    """Container metrics of both approach and backend missing, or CPU time that stands still.

    Where the approach's samples alone are missing, it may have ended."""
    ratio = run.monitoring_missing_ratio
    if ratio > METRICS_MISSING_LIMIT:
        yield (
            f"Monitoring failed: container metrics of approach and backend are both missing for {percent(ratio)} of "
            f"the run (the limit is {percent(METRICS_MISSING_LIMIT)})."
        )
