"""Rules on what the tool told and what its requests show."""

from collections.abc import Iterator

from loomlab.basics.format import counted, number, percent
from loomlab.basics.waves import FEWEST_WAVES, SHORTEST_INTERIOR_S
from loomlab.judge import limits
from loomlab.judge.interior import WAVE_ERROR
from loomlab.judge.rule import UNFIT, measured, rule, skip_if
from loomlab.records.measured import Measured

LITTLE_LIMIT, IDLE_LIMIT = 0.05, 0.01
"""Of connections: off by more, and a count is wrong; more of them without a request, and some are dead."""
IMPOSSIBLE_LIMIT = 0.005
"""By which throughput may exceed what connections that only wait can carry: what a count of whole waves leaves open."""
SILENT_END_S, SILENT_END_P99S = 2, 3
SILENT_WAVES, OMITTED_LIMIT = 1.5, 0.01
"""Connections in step are silent for up to a wave; of what should have come beyond that, so large a share moves p99."""
FEWEST_COUNTED = (1 - WAVE_ERROR) * FEWEST_WAVES  # a window of whole waves may be short of them by a hundredth
CLOSED, OPEN = "the model is closed", "the model is open"
ONE_RATE, NONE_HELD = "there is one rate, or none", "no step held"
CHANGING = "the load changes by its nature"
NO_INTERIOR = "there is no interior"
NOT_TIMED = "requests one by one"
AT_A_LOSS = f"{limits.SEE_LOG}, or use a lower load"
NO_CONNECTION = "free connection, or no CPU; raise CONCURRENCY or lower RATE"


@rule("invalid", host_cause=True)
def unfinished(run: Measured) -> Iterator[str]:
    """The measurement was interrupted."""
    if run.interrupted:
        yield "The measurement was interrupted before its end: go on with make finish RESUME=latest."


@rule("invalid")
def tool_failed(run: Measured) -> Iterator[str]:
    """The tool was stopped, died or failed, or its report and its requests disagree."""
    if run.tool_failure:
        yield run.tool_failure


@rule("invalid", f"> {percent(limits.ERROR_LIMIT)}, or none completed")
def too_many_errors(run: Measured) -> Iterator[str]:
    """Requests that failed, timed out or were not answered 2xx."""
    if not run.requests:
        yield "No request is known to have completed: see the logs in raw/ of tool and approach."
        return
    skip_if(run.missed_steps and run.held_steps, "errors are judged step by step")
    errors = measured(run.errors, "how many requests failed")
    if errors / run.requests > limits.ERROR_LIMIT:
        fact = f"{percent(errors / run.requests)} of the requests failed or were not answered 2xx"
        yield f"{fact} ({errors} of {run.requests}; the limit is {percent(limits.ERROR_LIMIT)}): {AT_A_LOSS}."
    elif (errors + run.doubtful) / run.requests > limits.ERROR_LIMIT:
        cut = f"because {run.tool} counts those that are cut, and {run.doubtful} connections were lost"
        measured(None, f"how many answers were whole, {cut}")


@rule(
    "invalid",
    f"off by > {percent(LITTLE_LIMIT)}; by a wave, in a run of fewer than {FEWEST_WAVES}; under ab by "
    f"{percent(IDLE_LIMIT)} + 0.5 ms ÷ mean latency, if that is more",
)
def littles_law(run: Measured) -> Iterator[str]:
    """Steady closed load: Little's law, throughput × mean latency ÷ connections, on the interior."""
    ratio = _little_ratio(run)
    limit = max(LITTLE_LIMIT, IDLE_LIMIT + run.rounding, 1 / run.waves if run.waves else 0)
    if abs(ratio - 1) > limit:
        fact = f"Little's law is broken: throughput × mean latency is {ratio:.3f} of the {run.concurrency}"
        yield f"{fact} connections (the limit is ±{percent(limit)}): measure again."


@rule("suspect", f"off by > {percent(IDLE_LIMIT)}, under ab plus 0.5 ms ÷ mean latency")
def connections_idle(run: Measured) -> Iterator[str]:
    """Steady closed load of 20 waves, under ab and hey: `little_ratio`, below 1 (some were not busy) or above."""
    ratio, waves = _little_ratio(run, tells_unended=run.tells_unended), measured(run.waves, "throughput and latency")
    skip_if(waves < FEWEST_COUNTED, "with so few waves the count is off by more than the limit")
    limit = IDLE_LIMIT + run.rounding
    if limit < abs(1 - ratio) <= LITTLE_LIMIT:
        what = "were busy beyond what there is: some requests were counted twice"
        if ratio < 1:
            what = "were not busy: some may be dead, and the requests on them are in no figure"
        fact = f"{percent(abs(1 - ratio))} of the {run.concurrency} connections {what}"
        yield f"{fact} (the limit is {percent(limit)}): {AT_A_LOSS}."


def _little_ratio(run: Measured, *, tells_unended: bool = False) -> float:
    """Of a steady closed load; ends the check of another."""
    skip_if(not run.closed_model, OPEN)
    skip_if(not run.steady, CHANGING)
    skip_if(tells_unended, "the tool tells of requests that never ended")
    skip_if(run.little_ratio is None and run.whole_run, NO_INTERIOR)
    return measured(run.little_ratio, "throughput and latency")


@rule("suspect", f"> {percent(IMPOSSIBLE_LIMIT)}")
def throughput_impossible(run: Measured) -> Iterator[str]:
    """Closed load: throughput above connections ÷ the shortest time that a request can wait."""
    skip_if(not run.closed_model, OPEN)
    skip_if(not run.shortest_ms, "no wait of a request has a lower limit")
    rps, most_rps = measured(run.throughput_rps, NOT_TIMED), 1000 * run.concurrency / run.shortest_ms
    if rps > (1 + IMPOSSIBLE_LIMIT) * most_rps:
        yield (
            f"{rps:,.1f} requests a second are more than is possible: {run.concurrency} connections whose requests "
            f"wait {run.shortest_ms:,.0f} ms at least carry {most_rps:,.1f} (the limit is {percent(IMPOSSIBLE_LIMIT)} "
            "more): check that the approach makes all of its calls."
        )


@rule("invalid", f"off by > {percent(limits.RATE_LIMIT)}, and by a request")
def rate_missed(run: Measured) -> Iterator[str]:
    """Open model: started requests per second against the offered rate, on the interior."""
    skip_if(run.closed_model, CLOSED)
    offered_rps = measured(run.offered_rps, "rates are judged step by step", UNFIT)
    started_rps = measured(run.started_rps, "how many requests were started a second")
    one_rps = 1 / run.interior_s if run.interior_s else 0.0
    if abs(started_rps - offered_rps) > max(limits.RATE_LIMIT * offered_rps, one_rps):
        missed = started_rps / offered_rps - 1
        cure = f"it had no {NO_CONNECTION}" if missed < 0 else "measure again"
        yield (
            f"The offered rate was missed: {run.tool} started {started_rps:.1f} requests a second, "
            f"{percent(abs(missed))} {'fewer' if missed < 0 else 'more'} than the {offered_rps:.1f} asked for "
            f"(the limit is {percent(limits.RATE_LIMIT)}): {cure}."
        )


@rule("invalid", f"> {limits.LONGEST_LAG_MS // 1000} s")
def started_too_late(run: Measured) -> Iterator[str]:
    """Users who pause, and vegeta: how late requests started, at p99."""
    lag_ms = _lag_ms(run)
    if lag_ms > limits.LONGEST_LAG_MS:
        cure = "CPU; lower CONCURRENCY." if run.closed_model else f"{NO_CONNECTION}."
        fact = f"{run.tool} started requests {lag_ms / 1000:.1f} s late at p99"
        yield f"{fact} (the limit is {limits.LONGEST_LAG_MS / 1000:.0f} s): it had no {cure}"


@rule("suspect", f"> {percent(limits.LAG_LIMIT)}, and over {limits.RESOLVED_LAG_MS} ms")
def started_late(run: Measured) -> Iterator[str]:
    """Users who pause, and vegeta: how late requests started, at p99, ÷ p99 of latency."""
    lag_ms, latency_ms = _lag_ms(run), measured(run.lagged_p99_ms, "how late requests started")
    skip_if(lag_ms > limits.LONGEST_LAG_MS, "the lag is over the larger limit")
    if lag_ms > max(limits.LAG_LIMIT * latency_ms, limits.RESOLVED_LAG_MS):
        fact = f"{run.tool} started requests {lag_ms:.1f} ms late at p99, {percent(lag_ms / latency_ms)} of the p99"
        yield f"{fact} latency (the limit is {percent(limits.LAG_LIMIT)}): raise CONCURRENCY, or lower RATE."


def _lag_ms(run: Measured) -> float:
    skip_if(run.missed_steps and not run.held_steps, NONE_HELD)
    skip_if(run.closed_model and not run.think_s, CLOSED)
    return measured(run.worst_start_lag_p99_ms, "how late requests started")


@rule("invalid")
def work_dropped(run: Measured) -> Iterator[str]:
    """Open model: requests that the tool dropped."""
    skip_if(run.closed_model, CLOSED)
    skip_if(run.missed_steps, "rates are judged step by step")
    dropped = measured(run.dropped, "how many requests were dropped")
    if dropped:
        yield f"{run.tool} dropped {dropped} requests (the limit is 0): raise CONCURRENCY, or lower RATE."


@rule("invalid", "none")
def no_step_held(run: Measured) -> Iterator[str]:
    """Steps of a rate ladder that held."""
    skip_if(not run.missed_steps and not run.held_steps, ONE_RATE)
    if not run.held_steps:
        lowest = min(run.missed_steps)
        yield f"The lowest offered rate, {lowest:.0f} requests a second, was not reached without errors: begin lower."


@rule(
    "suspect",
    f"rate off by > {percent(limits.RATE_LIMIT)} and by a request, errors > {percent(limits.ERROR_LIMIT)}, started > "
    f"{limits.LONGEST_LAG_MS // 1000} s late, or latency grew by > {percent(limits.GROWTH_LIMIT)} from half to half "
    "beyond chance at 95 %",
)
def steps_missed(run: Measured) -> Iterator[str]:
    """Steps of a rate ladder that did not hold."""
    skip_if(not run.held_steps, NONE_HELD if run.missed_steps else ONE_RATE)
    if run.missed_steps:
        missed = ", ".join(f"{rate:.0f}" for rate in run.missed_steps)
        because = ", ".join(dict.fromkeys(why for why in run.missed_because if why))
        fact = f"The steps of {missed} requests a second did not hold{f' ({because})' if because else ''}:"
        yield f"{fact} only the figures of the other steps count."


@rule("invalid", f"> {SILENT_END_S} s + {SILENT_END_P99S} × p99")
def silent_end(run: Measured) -> Iterator[str]:
    """No answer at the end of the run (ab, which discards what is in flight)."""
    limit = SILENT_END_S + SILENT_END_P99S * (run.p99_ms or 0) / 1000
    if run.silent_end_s > limit:
        fact = f"No answer came in the last {run.silent_end_s} s of the run (the limit is {SILENT_END_S} s +"
        yield f"{fact} {SILENT_END_P99S} × p99 = {limit:.1f} s): {AT_A_LOSS}."


@rule("suspect", f"< {SHORTEST_INTERIOR_S} s; of a closed load < {FEWEST_WAVES} waves")
def short_interior(run: Measured) -> Iterator[str]:
    """Length of the interior, but of trials of a search for capacity."""
    skip_if(run.capacity_share == 1, "the trials of a search are short")
    skip_if(run.whole_run and not run.steady, CHANGING)
    if run.whole_run:
        yield "The run is too short to leave out its beginning and end: use a longer DURATION."
    elif (seconds := measured(run.interior_s, NOT_TIMED)) < SHORTEST_INTERIOR_S:
        yield f"The figures cover only {seconds:.0f} s (the limit is {SHORTEST_INTERIOR_S} s): use a longer DURATION."
    elif run.closed_model and (waves := measured(run.waves, NOT_TIMED)) < FEWEST_COUNTED:
        yield f"The figures cover only {waves:.1f} waves (the limit is {FEWEST_WAVES}): use a longer DURATION."


@rule("suspect", f"> {percent(OMITTED_LIMIT)}; of waits, those longer than {limits.SLOW_P50S} × p50")
def omission_possible(run: Measured) -> Iterator[str]:
    """Steady closed load: coordinated omission: requests not sent because of silences or long waits ÷ answered."""
    skip_if(not run.closed_model, OPEN)
    skip_if(not run.steady and (run.think_s is None or run.backend_hangs), CHANGING)
    answered, p50_ms = measured(run.counted_requests or None, NOT_TIMED), measured(run.p50_ms or None, NOT_TIMED)
    wave_s = p50_ms / 1000 + (run.think_s or 0)
    silent_s = sum(silence_s - wave_s for silence_s in run.silences_s if silence_s > SILENT_WAVES * wave_s + 1)
    silent = silent_s * answered / run.evaluated_s if run.evaluated_s else 0.0
    # Where long waits were asked for, what is sent less often meanwhile is no other than what is sent.
    waits_alike = run.steady and not (run.delay_asked or "").startswith("lognormal:")
    slow = run.slow.omitted if run.slow and waits_alike else 0.0
    omitted = max(silent, slow)
    if omitted > OMITTED_LIMIT * answered:
        what = f"no answer came for {sum(run.silences_s)} s"
        if run.slow and silent < slow:
            what = f"{counted(run.slow.requests, 'request')} took up to {number(run.slow.longest_ms / 1000)} s"
        fact = f"Coordinated omission is possible: {what}, and a closed-model tool sends nothing meanwhile, so about"
        cure = f"(the limit is {percent(OMITTED_LIMIT)}): find what stalled, or offer a rate (make run-vegeta)."
        yield f"{fact} {omitted:,.0f} requests are missing, {percent(omitted / answered)} of those answered {cure}"
