"""Rules on what surrounds the approach: load generator, backend and machine, which must not be what limits a run."""

import math
from collections.abc import Callable, Iterator

from loomlab.basics.format import counted, percent
from loomlab.judge.limits import BUSY_CPU, BUSY_SECONDS_LIMIT, METRICS_MISSING_LIMIT, THROTTLED_LIMIT
from loomlab.judge.rule import UNFIT, Level, Rule, measured, rule, skip_if
from loomlab.records.measured import Measured
from loomlab.run.shares import STOLEN_LIMIT

LATE_MEAN_LIMIT, LATE_P99_LIMIT, RESOLVED_LATE_MS = 0.05, 0.10, 0.05  # the backend's first bucket ends there
REOPENED_LIMIT, APART_LIMIT = 0.01, 0.01
BACKEND_REQUESTS_LIMIT = 0.02
CLOCK_LIMIT_S = 0.5
FOREIGN_LIMIT, MUCH_FOREIGN_LIMIT = 0.05, 0.20
"""Of the time in which the approach needed its CPUs: by so much was CPU per request higher in runs with steal."""
BEYOND = "the share is over the larger limit"
WHO = {"generator": "load generator"}  # by the first word of a rule's name; others are called by it
type Find = Callable[[Measured], tuple[str, float]]  # what limited the run, and by what share of it
NOT_ASKED = "no request asks the database"
CALLS_UNKNOWN = "what a service of yours calls is not known"
STEAL = "how much CPU time the hypervisor took (steal)"


def _limits(name: str, about: str, find: Find, most: float, limit: str = "", cure: str = "more CPUs") -> Rule:
    """A rule on load generator, backend or database, named after one of them; what no request asks limits nothing."""
    part = name.partition("_")[0]
    who = WHO.get(part, part)

    def check(run: Measured) -> Iterator[str]:
        of_companions = run.sight in ("container", "jvm") and name == "backend_cpus"
        skip_if(who == "backend" and not run.backend_calls and not of_companions, "no request calls the backend")
        skip_if(who == "database" and not run.database, NOT_ASKED)
        what, share = find(run)
        if share > most:
            yield f"The {who} limited the run: {what} (the limit is {percent(most)}): use a lower load or {cure}."

    check.__name__, check.__doc__ = name, about
    return rule("invalid", limit or f"> {percent(most)}")(check)


def _full(name: str, what: str, said: str, parts: str, cure: str = "more CPUs") -> Rule:
    def find(run: Measured) -> tuple[str, float]:
        part = name.partition("_")[0]
        share = measured(getattr(run, f"{name}_full"), f"how busy the {WHO.get(part, part)}'s {parts} were")
        return f"{said} at least {percent(BUSY_CPU)} busy in {percent(share)} of the seconds", share

    limit = f"at least {percent(BUSY_CPU)} in > {percent(BUSY_SECONDS_LIMIT)} of seconds"
    return _limits(name, f"Use of {what}.", find, BUSY_SECONDS_LIMIT, limit, cure)


def _throttled(name: str, who: str) -> Rule:
    def find(run: Measured) -> tuple[str, float]:
        skip_if(getattr(run, name) is None and getattr(run, f"{who}_measured"), "there is no CPU quota")
        share = measured(getattr(run, name), "what CPU the containers beside the approach used")
        return f"it was throttled in {percent(share)} of its CPU quota periods", share

    return _limits(name, f"Periods in which the {who} was throttled by its quota.", find, THROTTLED_LIMIT)


def _of_latency(run: Measured, level: str, added_ms: float, most: float = math.inf) -> tuple[str, float]:
    """What is added to the mean latency or its p99, as a share of it: said as `most` at most."""
    latency_ms = (run.mean_ms if level == "mean" else run.p99_ms) or None
    share = added_ms / measured(latency_ms, "there is no latency to compare with", UNFIT)
    return f"{percent(min(share, most))} of the {level} latency of {latency_ms:,.0f} ms", share


def _waited(level: str, when: str, most: float, of: str) -> Rule:
    def find(run: Measured) -> tuple[str, float]:
        skip_if(not run.waits_told, "this kernel does not report waits for a CPU; how busy its CPUs were is judged")
        wait_ms = measured(getattr(run, f"generator_wait_{level}_ms"), "how long the load generator waited for a CPU")
        part, share = _of_latency(run, level, wait_ms)
        return f"its threads waited {wait_ms:.1f} ms for a CPU {when}, {part}", share

    about = f"The generator's wait for a CPU, {of} ÷ {level} latency."
    return _limits(f"generator_wait_{level}", about, find, most)


def _late(level: str, when: str, most: float) -> Rule:
    # At p99 as if all calls of one request were as late as that: an upper bound.
    def find(run: Measured) -> tuple[str, float]:
        late_ms = measured(getattr(run, f"backend_lateness_{level}_ms"), "how late the backend was")
        added_ms = run.backend_calls * late_ms * (late_ms > RESOLVED_LATE_MS)
        part, share = _of_latency(run, level, added_ms, most=1)
        return f"its answers were {late_ms:.1f} ms late {when}, over {run.backend_calls} calls up to {part}", share

    about = f"The backend's lateness, calls × {level} ÷ {level} latency."
    limit = f"> {percent(most)}, and over {RESOLVED_LATE_MS} ms"
    return _limits(f"backend_late_{level}", about, find, most, limit)


generator_cpus = _full("generator_cpus", "all CPUs of the generator's set", "all CPUs of its set were", "CPUs")
generator_thread = _full(
    "generator_thread", "a CPU by the generator's busiest thread (ab has one)", "its busiest thread was", "threads",
    cure="more GENERATORS on more CPUs",
)  # fmt: skip
backend_cpus = _full("backend_cpus", "all CPUs of the backend's set", "all CPUs of its set were", "CPUs")
backend_loop = _full(
    "backend_loop", "a CPU by the backend's busiest event loop", "its busiest event loop was", "event loops"
)
database_cpus = _full("database_cpus", "all CPUs of the database's set", "all CPUs of its set were", "CPUs")
generator_wait_mean = _waited("mean", "on average", LATE_MEAN_LIMIT, "mean")
generator_wait_p99 = _waited("p99", "at p99", LATE_P99_LIMIT, "mean of the worst hundredth of the seconds")
generator_throttled = _throttled("generator_throttled", "generator")
backend_throttled = _throttled("backend_throttled", "backend")
database_throttled = _throttled("database_throttled", "database")
backend_late_mean = _late("mean", "on average", LATE_MEAN_LIMIT)
backend_late_p99 = _late("p99", "at p99", LATE_P99_LIMIT)


@rule("invalid", "all")
def database_connections(run: Measured) -> Iterator[str]:
    """Connections of the database, the most that were open at once, of those that it takes."""
    skip_if(not run.database, NOT_ASKED)
    what = "how many connections the database had"
    opened, most = measured(run.database_connections, what), measured(run.database_most_connections, what)
    if opened >= most:
        fact = f"The database ran out of connections: {opened:.0f} of its {most:.0f} were open"
        yield f"{fact}: use a smaller POOL, or more max_connections in database/postgresql.conf."


@rule("suspect")
def database_checkpoints(run: Measured) -> Iterator[str]:
    """Checkpoints that the database began in the interior."""
    skip_if(not run.database, NOT_ASKED)
    begun = measured(run.database_checkpoints, "whether the database began a checkpoint")
    if begun:
        fact = f"The database began {counted(begun, 'checkpoint')} (the limit is 0), after which pages are logged whole"
        yield f"{fact} again: use a shorter DURATION, or a larger max_wal_size in database/postgresql.conf."


@rule("invalid", host_cause=True)
def backend_delay_other(run: Measured) -> Iterator[str]:
    """The backend's delay just before or just after the run differed from the one asked for."""
    asked = measured(run.delay_asked, "no request depends on the backend's delay", UNFIT)
    delays = measured(run.backend_delays, "which delay the backend had")
    told = {"before": delays.before, "after": delays.after}
    if not {*told.values()} <= {None, asked}:
        fact = f"The backend's delay was {delays.before or 'unknown'} before and {delays.after or 'unknown'} after"
        yield f"{fact} the run, not the {asked} asked for: something else changed it; measure again."
    elif silent := " and ".join(when for when, delay in told.items() if delay is None):
        measured(None, f"which delay the backend had, because it did not answer right {silent} the run")


@rule("suspect", f"> {percent(APART_LIMIT)}")
def generators_apart(run: Measured) -> Iterator[str]:
    """Time between the starts of several load generators ÷ length of the load."""
    skip_if(run.generators == 1, "there is one load generator")
    apart = measured(run.generators_apart, "when the load generators began")
    if apart > APART_LIMIT:
        fact = f"The load generators began {percent(apart)} of the load's length apart"
        yield f"{fact} (the limit is {percent(APART_LIMIT)}): use a longer DURATION."


@rule("suspect")
def connections_lost(run: Measured) -> Iterator[str]:
    """SYN retransmits: a listen queue overflowed, or packets were lost."""
    repeated = measured(run.syn_retransmits, "how many connection attempts were repeated")
    if repeated:
        fact = f"{repeated} connection attempts had to be repeated (SYN retransmits; the limit is 0):"
        yield f"{fact} the listen queue overflowed or packets were lost; use a lower CONCURRENCY."


@rule("suspect", f"> {percent(REOPENED_LIMIT)}, plus the lab's own")
def connections_reopened(run: Measured) -> Iterator[str]:
    """Connections the generator opened beyond its concurrency."""
    skip_if(run.foreign, "a service of yours may close connections, which is part of its cost")
    opened = measured(run.connections_opened, "how many connections the load generator opened")
    open_before = run.concurrency if run.partner else 0
    if opened + open_before > (1 + REOPENED_LIMIT) * run.concurrency + run.lab_connections:
        fact = f"Connections were reopened: the load generator opened {opened} for {run.concurrency} at once"
        yield f"{fact} (the limit is {percent(REOPENED_LIMIT)} more): see in the approach's log why it closed them."


@rule("suspect", f"off by > {percent(BACKEND_REQUESTS_LIMIT)} plus a wave")
def other_backend_requests(run: Measured) -> Iterator[str]:
    """Backend requests per request, on the interior, compared with the calls that the endpoint makes."""
    skip_if(run.foreign, CALLS_UNKNOWN)
    calls = run.backend_calls
    answered = run.backend_requests_per_request if run.counted_requests else None
    per_request = measured(answered, "how many requests the backend answered")
    limit = BACKEND_REQUESTS_LIMIT * max(calls, 1) + calls * run.in_flight / (run.counted_requests or 1)
    if abs(per_request - calls) > limit:
        fact = f"The backend answered {per_request:.3f} requests per request of the load, not {calls}"
        yield f"{fact} (the limit is ±{limit:.3f}): check that it makes all of its calls, and nothing else makes any."


@rule(
    "suspect",
    f"> {percent(REOPENED_LIMIT)}; in the open model or without a warm-up, plus one for each call that requests in "
    "flight make at once",
)
def backend_reconnected(run: Measured) -> Iterator[str]:
    """Connections opened to the backend ÷ requests to it."""
    skip_if(run.foreign, CALLS_UNKNOWN)
    calls = run.backend_calls * (run.requests or 0)
    # Without a warm-up each is a first one; in the open model more are wanted as more requests wait.
    first_ones = run.at_once * run.in_flight if run.cold or not run.closed_model else 0
    opened = measured(run.backend_connections_opened, "how many connections to the backend were opened")
    if opened and opened > REOPENED_LIMIT * calls + first_ones:
        fact = f"Backend connections were not kept open: {opened} were opened for"
        yield f"{fact} about {calls} requests (the limit is {percent(REOPENED_LIMIT)}): raise POOL."


def _foreign(name: str, level: Level, limit: float, most: float = math.inf) -> Rule:
    def check(run: Measured) -> Iterator[str]:
        whose = "load generator" if run.sight == "answers" else "approach"
        share = measured(run.foreign_cpu_share, f"how much of the {whose}'s CPUs other programs took")
        skip_if(share > most, BEYOND)
        if share > limit:
            fact = f"Other programs took {percent(share)} of the time of the {whose}'s CPUs"
            yield f"{fact} (the limit is {percent(limit)}): stop them, and measure again."

    check.__name__ = name
    check.__doc__ = "Other programs on the approach's CPUs; on the generator's, if the lab does not run the service."
    return rule(level, f"> {percent(limit)}", host_cause=True)(check)


foreign_cpu = _foreign("foreign_cpu", "suspect", FOREIGN_LIMIT, most=MUCH_FOREIGN_LIMIT)
much_foreign_cpu = _foreign("much_foreign_cpu", "invalid", MUCH_FOREIGN_LIMIT)


def _stolen(*shares: tuple[float, str, float]) -> Iterator[str]:
    over = [f"{percent(share)} of {of} (the limit is {percent(most)})" for share, of, most in shares if share > most]
    if over:
        fact = f"The hypervisor gave CPU time to other machines (steal): {', '.join(over)};"
        yield f"{fact} measure again at a quieter time, or on a machine of your own."


@rule("suspect", f"> {percent(STOLEN_LIMIT)}; > {percent(MUCH_FOREIGN_LIMIT)}", host_cause=True)
def stolen(run: Measured) -> Iterator[str]:
    """Time stolen from the approach's CPUs ÷ time in which they were needed; from the CPUs of backend or generator."""
    needed, shares = measured(run.stolen_of_needed, STEAL), {"approach": 0.0} | measured(run.steal_shares, STEAL)
    skip_if(shares.pop("approach") > MUCH_FOREIGN_LIMIT, BEYOND)
    others = [(share, f"the {part}'s CPUs", MUCH_FOREIGN_LIMIT) for part, share in shares.items()]
    return _stolen((needed, "the time in which the approach needed its CPUs", STOLEN_LIMIT), *others)


@rule("invalid", f"> {percent(MUCH_FOREIGN_LIMIT)}", host_cause=True, needs="container")
def much_stolen(run: Measured) -> Iterator[str]:
    """Time stolen from the approach's CPUs."""
    shares = measured(run.steal_shares, STEAL)
    return _stolen((shares.get("approach", 0), "the approach's CPUs", MUCH_FOREIGN_LIMIT))


@rule("invalid", f"> {CLOCK_LIMIT_S} s", host_cause=True)
def clock_stepped(run: Measured) -> Iterator[str]:
    """The clock was set during the run, or differs from that of the samples."""
    skip_if(run.clock_step_s is None and run.host_sampled, "the run is of a version that did not watch the clock")
    step_s = measured(run.clock_step_s, "whether the clock was set")
    if step_s > CLOCK_LIMIT_S:
        fact = f"The clock was set by {step_s:.1f} s during the run (the limit is {CLOCK_LIMIT_S} s)"
        yield f"{fact}, so its times do not match: measure again."


@rule("invalid", f"> {percent(METRICS_MISSING_LIMIT)} of the run", host_cause=True, needs="container")
def monitoring_gone(run: Measured) -> Iterator[str]:
    """Container metrics of both approach and backend missing, or CPU time that stands still."""
    ratio = run.monitoring_missing_ratio
    if ratio > METRICS_MISSING_LIMIT:
        fact = f"Monitoring failed: container metrics of approach and backend are both missing for {percent(ratio)} of"
        yield f"{fact} the run (the limit is {percent(METRICS_MISSING_LIMIT)}): make doctor finds out why."
