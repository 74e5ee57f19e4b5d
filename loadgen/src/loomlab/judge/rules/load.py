"""Rules on what the tool told and what its requests show."""

from loomlab.basics.waves import FEWEST_WAVES, SHORTEST_INTERIOR_S
from loomlab.basics.words import percent
from loomlab.judge.interior import WAVE_ERROR
from loomlab.judge.limits import (
    ERROR_LIMIT,
    GROWTH_LIMIT,
    LAG_LIMIT,
    LONGEST_LAG_MS,
    RATE_LIMIT,
    RESOLVED_LAG_MS,
    SLOW_P50S,
)
from loomlab.judge.rule import NotApplicable, Unknown, rule
from loomlab.records.measured import Measured

LITTLE_LIMIT, IDLE_LIMIT = 0.05, 0.01
"""Of connections: off by more, and a count is wrong; more of them without a request, and some are dead."""
IMPOSSIBLE_LIMIT = 0.005
"""By which throughput may exceed what connections that only wait can carry: what a count of whole waves leaves open."""
SILENT_END_S, SILENT_END_P99S = 2, 3
SILENT_WAVES, OMITTED_LIMIT = 1.5, 0.01
"""Connections in step are silent for up to a wave; of what should have come beyond that, so large a share moves p99."""
CLOSED = NotApplicable("the model is closed")
OPEN = NotApplicable("the model is open")
ONE_RATE = NotApplicable("there is one rate, or none")
NONE_HELD = NotApplicable("no step held")
CHANGING = NotApplicable("the load changes by its nature")
NO_INTERIOR = NotApplicable("there is no interior")
NOT_TIMED = Unknown("requests one by one")
SHORT = rule("suspect", "interior; waves in it", f"< {SHORTEST_INTERIOR_S} s; < {FEWEST_WAVES}")


@rule(
    "invalid",
    "the tool was stopped, died, failed or was interrupted, or its report and its requests disagree",
    "any",
    host_cause=True,
)
def unfinished(run: Measured) -> str | None:
    return "The measurement was interrupted before its end." if run.interrupted else None


@rule(
    "invalid", "the tool was stopped, died, failed or was interrupted, or its report and its requests disagree", "any"
)
def tool_failed(run: Measured) -> str | None:
    return run.tool_failure


@rule(
    "invalid",
    "requests that failed, timed out or were not answered 2xx",
    f"> {percent(ERROR_LIMIT)}, or none completed",
)
def too_many_errors(run: Measured) -> str | None:
    if not run.requests:
        return "No request is known to have completed."
    if run.missed_steps and run.held_steps:
        return NotApplicable("errors are judged step by step")
    if run.errors is None:
        return Unknown("how many requests failed")
    if run.errors / run.requests <= ERROR_LIMIT:
        if (run.errors + run.doubtful) / run.requests <= ERROR_LIMIT:
            return None
        return Unknown(
            f"how many answers were whole, because {run.tool} counts those that are cut, and "
            f"{run.doubtful} connections were lost"
        )
    return (
        f"{percent(run.errors / run.requests)} of the requests failed or were not answered 2xx "
        f"({run.errors} of {run.requests}; the limit is {percent(ERROR_LIMIT)})."
    )


@rule(
    "invalid",
    "steady closed load: Little's law, throughput × mean latency ÷ connections, on the interior",
    f"off by > {percent(LITTLE_LIMIT)}; by a wave, in a run of fewer than {FEWEST_WAVES}; under ab by "
    f"{percent(IDLE_LIMIT)} + 0.5 ms ÷ mean latency, if that is more",
)
def littles_law(run: Measured) -> str | None:
    """Below 20 waves a count of whole waves cannot resolve 5 %: one wave is the limit then."""
    ratio, waves = run.little_ratio, run.waves
    if not run.closed_model or not run.steady:
        return CHANGING if run.closed_model else OPEN
    if ratio is None:
        return NO_INTERIOR if run.whole_run else Unknown("throughput and latency")
    limit = max(LITTLE_LIMIT, IDLE_LIMIT + run.rounding, 1 / waves if waves else 0)
    if abs(ratio - 1) <= limit:
        return None
    return (
        f"Little's law is broken: throughput × mean latency is {ratio:.3f} of the {run.concurrency} "
        f"connections (the limit is ±{percent(limit)})."
    )


@rule(
    "suspect",
    "closed load: throughput above connections ÷ the shortest time that a request can wait",
    f"> {percent(IMPOSSIBLE_LIMIT)}",
)
def throughput_impossible(run: Measured) -> str | None:
    rps, shortest_ms = run.throughput_rps, run.shortest_ms
    if not run.closed_model:
        return OPEN
    if not shortest_ms:
        return NotApplicable("no wait of a request has a lower limit")
    if rps is None:
        return NOT_TIMED
    most_rps = 1000 * run.concurrency / shortest_ms
    if rps <= (1 + IMPOSSIBLE_LIMIT) * most_rps:
        return None
    return (
        f"{rps:,.1f} requests a second are more than is possible: {run.concurrency} connections whose requests "
        f"wait {shortest_ms:,.0f} ms at least carry {most_rps:,.1f} (the limit is {percent(IMPOSSIBLE_LIMIT)} more); "
        "some waits were left out, or some requests were counted twice."
    )


@rule(
    "invalid",
    "open model: started requests per second against the offered rate, on the interior",
    f"off by > {percent(RATE_LIMIT)}, and by a request",
)
def rate_missed(run: Measured) -> str | None:
    if run.closed_model:
        return CLOSED
    if run.offered_rps is None:
        return NotApplicable("rates are judged step by step")
    if run.started_rps is None:
        return Unknown("how many requests were started a second")
    counted = 1 / run.interior_s if run.interior_s else 0.0
    if abs(run.started_rps - run.offered_rps) <= max(RATE_LIMIT * run.offered_rps, counted):
        return None
    missed = run.started_rps / run.offered_rps - 1
    return (
        f"The offered rate was missed: {run.tool} started {run.started_rps:.1f} requests a second, "
        f"{percent(abs(missed))} {'fewer' if missed < 0 else 'more'} than the {run.offered_rps:.1f} asked for "
        f"(the limit is {percent(RATE_LIMIT)}): "
        + ("it had no free connection, or no CPU; raise CONCURRENCY or lower RATE." if missed < 0 else "measure again.")
    )


@rule("invalid", "vegeta and users: requests started late, at p99", f"> {LONGEST_LAG_MS // 1000} s")
def started_too_late(run: Measured) -> str | None:
    lag_ms = run.worst_start_lag_p99_ms
    if run.missed_steps and not run.held_steps:
        return NONE_HELD
    if lag_ms is None:
        return CLOSED if run.closed_model else Unknown("how late requests started")
    if lag_ms <= LONGEST_LAG_MS:
        return None
    return (
        f"{run.tool} started requests {lag_ms / 1000:.1f} s late at p99 "
        f"(the limit is {LONGEST_LAG_MS / 1000:.0f} s): it had no "
        + (
            "CPU; lower CONCURRENCY."
            if run.closed_model
            else "free connection, or no CPU; raise CONCURRENCY or lower RATE."
        )
    )


@rule(
    "suspect",
    "vegeta and users: started late, p99 of the lag ÷ p99 of latency",
    f"> {percent(LAG_LIMIT)}, and over {RESOLVED_LAG_MS} ms",
)
def started_late(run: Measured) -> str | None:
    """Latency counts from when a request was due, so the lag is in it; it is the tool's, or the lack of connections."""
    lag_ms, latency_ms = run.worst_start_lag_p99_ms, run.lagged_p99_ms
    if run.missed_steps and not run.held_steps:
        return NONE_HELD
    if lag_ms is None or latency_ms is None:
        return CLOSED if run.closed_model else Unknown("how late requests started")
    if lag_ms > LONGEST_LAG_MS:
        return NotApplicable("the lag is over the larger limit")
    if lag_ms <= max(LAG_LIMIT * latency_ms, RESOLVED_LAG_MS):
        return None
    return (
        f"{run.tool} started requests {lag_ms:.1f} ms late at p99, {percent(lag_ms / latency_ms)} of the p99 "
        f"latency (the limit is {percent(LAG_LIMIT)}): part of the latency is the tool's own delay."
    )


@rule("invalid", "open model: requests that the tool dropped", "any")
def work_dropped(run: Measured) -> str | None:
    if run.closed_model:
        return CLOSED
    if run.missed_steps:
        return NotApplicable("rates are judged step by step")
    if run.dropped is None:
        return Unknown("how many requests were dropped")
    if not run.dropped:
        return None
    return f"{run.tool} dropped {run.dropped} requests that it should have started (the limit is 0)."


@rule("invalid", "a rate ladder of which no step held")
def no_step_held(run: Measured) -> str | None:
    missed = run.missed_steps
    if not missed and not run.held_steps:
        return ONE_RATE
    if run.held_steps:
        return None
    return f"Not even the lowest offered rate, {min(missed):.0f} requests a second, was reached without errors."


@rule(
    "suspect",
    f"a rate ladder of which some steps did not hold: rate off by > {percent(RATE_LIMIT)} and by a request, "
    f"errors > {percent(ERROR_LIMIT)}, started > {LONGEST_LAG_MS // 1000} s late, or latency grew by > "
    f"{percent(GROWTH_LIMIT)} from half to half beyond chance at 95 %",
)
def steps_missed(run: Measured) -> str | None:
    if not run.held_steps:
        return NONE_HELD if run.missed_steps else ONE_RATE
    if not run.missed_steps:
        return None
    missed = ", ".join(f"{rate:.0f}" for rate in run.missed_steps)
    because = ", ".join(dict.fromkeys(why for why in run.missed_because if why))
    return (
        f"The steps of {missed} requests a second did not hold{f' ({because})' if because else ''}: "
        "only the figures of the other steps count."
    )


@rule(
    "invalid",
    "no answer at the end of the run (ab, which discards what is in flight)",
    f"> {SILENT_END_S} s + {SILENT_END_P99S} × p99",
)
def silent_end(run: Measured) -> str | None:
    limit = SILENT_END_S + SILENT_END_P99S * (run.p99_ms or 0) / 1000
    if run.silent_end_s <= limit:
        return None
    return (
        f"No answer came in the last {run.silent_end_s} s of the run (the limit is {SILENT_END_S} s + "
        f"{SILENT_END_P99S} × p99 = {limit:.1f} s): {run.tool} discards what was unanswered then."
    )


@SHORT
def short_interior(run: Measured) -> str | None:
    seconds = run.interior_s
    if run.whole_run:
        if not run.steady:
            return CHANGING
        return "The run is too short to leave out its beginning and end: the figures cover all of it."
    if seconds is None:
        return NOT_TIMED
    if seconds >= SHORTEST_INTERIOR_S:
        return None
    return f"The figures cover only {seconds:.0f} s (at least {SHORTEST_INTERIOR_S} s are needed)."


@SHORT
def few_waves(run: Measured) -> str | None:
    """A window of whole waves may be short of them by a hundredth."""
    waves = run.waves
    if not run.closed_model:
        return OPEN
    if waves is None:
        return NO_INTERIOR if run.whole_run else NOT_TIMED
    if waves >= (1 - WAVE_ERROR) * FEWEST_WAVES:
        return None
    return f"The figures cover only {waves:.1f} waves of requests (at least {FEWEST_WAVES} are needed)."


@rule(
    "suspect",
    "steady closed load: coordinated omission possible: requests not sent because of silences, or of waits "
    f"longer than {SLOW_P50S} × p50, ÷ requests answered",
    f"> {percent(OMITTED_LIMIT)}",
)
def omission_possible(run: Measured) -> str | None:
    """By silences of all connections, or by single ones that wait."""
    if not run.closed_model:
        return OPEN
    if not run.steady and run.think_s is None:
        return CHANGING
    if not run.p50_ms or not run.counted_requests:
        return NOT_TIMED
    silent = _omitted_in_silences(run)
    slow = _omitted_by_slow_ones(run) if run.steady and not _long_waits_asked_for(run) else 0.0
    if max(silent, slow) <= OMITTED_LIMIT * run.counted_requests:
        return None
    many = "s" if len(run.slow_ms) > 1 else ""
    what = (
        f"no answer came for {sum(run.silences_s)} s"
        if silent >= slow
        else f"{len(run.slow_ms)} request{many} took up to {max(run.slow_ms) / 1000:.1f} s"
    )
    omitted = max(silent, slow)
    return (
        f"Coordinated omission is possible: {what}, and a closed-model tool sends nothing meanwhile, so about "
        f"{omitted:,.0f} requests are missing, {percent(omitted / run.counted_requests)} of those answered "
        f"(the limit is {percent(OMITTED_LIMIT)})."
    )


def _omitted_in_silences(run: Measured) -> float:
    """Answers that silences kept from coming, at the throughput of what is evaluated, beyond those between waves."""
    wave_s = (run.p50_ms or 0) / 1000 + (run.think_s or 0)
    silent_s = sum(silence_s - wave_s for silence_s in run.silences_s if silence_s > SILENT_WAVES * wave_s + 1)
    return silent_s * (run.counted_requests or 0) / run.evaluated_s if run.evaluated_s else 0.0


def _long_waits_asked_for(run: Measured) -> bool:
    """Each independent of the others, so that what is sent less often meanwhile is no other than what is sent."""
    return (run.delay_asked or "").startswith("lognormal:")


def _omitted_by_slow_ones(run: Measured) -> float:
    """Requests that would have followed one another meanwhile, as HdrHistogram corrects a recorded value by those that
    an expected interval leaves out (copyCorrectedForCoordinatedOmission)."""
    p50_ms = run.p50_ms or 1
    return sum(took_ms / p50_ms - 1 for took_ms in run.slow_ms)


@rule(
    "suspect",
    f"steady closed load of {FEWEST_WAVES} waves, under ab and hey: `little_ratio`, below 1 (connections were "
    "not busy) or above",
    f"off by > {percent(IDLE_LIMIT)}, under ab plus 0.5 ms ÷ mean latency",
)
def connections_idle(run: Measured) -> str | None:
    """Of tools that leave out what never ended."""
    ratio, waves = run.little_ratio, run.waves
    if not run.closed_model or not run.steady:
        return CHANGING if run.closed_model else OPEN
    if run.tells_unended:
        return NotApplicable("the tool tells of requests that never ended")
    if ratio is None or waves is None:
        return NO_INTERIOR if run.whole_run else Unknown("throughput and latency")
    if waves < (1 - WAVE_ERROR) * FEWEST_WAVES:
        return NotApplicable("with so few waves the count is off by more than the limit")
    limit = IDLE_LIMIT + run.rounding
    if not limit < abs(1 - ratio) <= LITTLE_LIMIT:
        return None
    what = (
        "were not busy: some may be dead, and the requests on them are in no figure"
        if ratio < 1
        else "were busy beyond what there is: some requests were counted twice"
    )
    return f"{percent(abs(1 - ratio))} of the {run.concurrency} connections {what} (the limit is {percent(limit)})."


@rule("suspect", "answers that did not keep their connection open (only ab reports it)", "any")
def keepalive_refused(run: Measured) -> str | None:
    kept, completed = run.keepalive_requests, run.completed
    if kept is None or completed is None:
        return NotApplicable("the tool does not report it; opened connections are counted")
    if kept >= completed:
        return None
    return f"Only {kept} of {completed} answers kept their connection open: the run also measures connecting."
