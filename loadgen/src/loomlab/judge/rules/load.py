"""Rules on what the tool told and what its requests show."""

from loomlab.basics.waves import FEWEST_WAVES, SHORTEST_INTERIOR_S
from loomlab.basics.words import percent
from loomlab.judge.evidence import Evidence
from loomlab.judge.finding import PASSED, Finding, failed, failed_if, not_here, unknown
from loomlab.judge.interior import WAVE_ERROR
from loomlab.judge.limits import (
    ERROR_LIMIT,
    IDLE_LIMIT,
    IMPOSSIBLE_LIMIT,
    LAG_LIMIT,
    LITTLE_LIMIT,
    LONGEST_LAG_MS,
    OMITTED_LIMIT,
    RATE_LIMIT,
    RESOLVED_LAG_MS,
    SILENT_END_P99S,
    SILENT_END_S,
    SILENT_WAVES,
)

CLOSED = not_here("the model is closed")
OPEN = not_here("the model is open")
ONE_RATE = not_here("there is one rate, or none")
NONE_HELD = not_here("no step held")
CHANGING = not_here("the load changes by its nature")


def unfinished(run: Evidence) -> Finding:
    return PASSED if run.asked.finished else failed("The measurement was interrupted before its end.")


def tool_failed(run: Evidence) -> Finding:
    return failed_if(run.told.failure)


def too_many_errors(run: Evidence) -> Finding:
    if not run.told.attempted:
        return failed("No request is known to have completed.")
    if run.loaded.missed_steps and run.loaded.held_steps:
        return not_here("errors are judged step by step")
    if run.told.errors is None:
        return unknown("how many requests failed")
    if run.told.errors / run.told.attempted <= ERROR_LIMIT:
        if (run.told.errors + run.told.doubtful) / run.told.attempted <= ERROR_LIMIT:
            return PASSED
        return unknown(
            f"how many answers were whole, because {run.asked.tool} counts those that are cut, and "
            f"{run.told.doubtful} connections were lost"
        )
    return failed(
        f"{percent(run.told.errors / run.told.attempted)} of the requests failed or were not answered 2xx "
        f"({run.told.errors} of {run.told.attempted}; the limit is {percent(ERROR_LIMIT)})."
    )


def littles_law(run: Evidence) -> Finding:
    """Below 20 waves a count of whole waves cannot resolve 5 %: one wave is the limit then."""
    ratio, waves = run.loaded.little_ratio, run.loaded.waves
    if not run.asked.closed_model:
        return OPEN
    if not run.asked.steady:
        return CHANGING
    if ratio is None:
        return not_here("there is no interior") if run.loaded.whole_run else unknown("throughput and latency")
    limit = max(LITTLE_LIMIT, IDLE_LIMIT + run.loaded.rounding, 1 / waves if waves else 0)
    if abs(ratio - 1) <= limit:
        return PASSED
    return failed(
        f"Little's law is broken: throughput × mean latency is {ratio:.3f} of the {run.asked.concurrency} "
        f"connections (the limit is ±{percent(limit)})."
    )


def throughput_impossible(run: Evidence) -> Finding:
    rps, shortest_ms = run.loaded.throughput_rps, run.asked.shortest_ms
    if not run.asked.closed_model:
        return OPEN
    if not shortest_ms:
        return not_here("no wait of a request has a lower limit")
    if rps is None:
        return unknown("requests one by one")
    most_rps = 1000 * run.asked.concurrency / shortest_ms
    if rps <= (1 + IMPOSSIBLE_LIMIT) * most_rps:
        return PASSED
    return failed(
        f"{rps:,.1f} requests a second are more than is possible: {run.asked.concurrency} connections whose requests "
        f"wait {shortest_ms:,.0f} ms at least carry {most_rps:,.1f} (the limit is {percent(IMPOSSIBLE_LIMIT)} more); "
        "some waits were left out, or some requests were counted twice."
    )


def rate_missed(run: Evidence) -> Finding:
    if run.asked.closed_model:
        return CLOSED
    if run.asked.offered_rps is None:
        return not_here("rates are judged step by step")
    if run.loaded.started_rps is None:
        return unknown("how many requests were started a second")
    counted = 1 / run.loaded.interior_s if run.loaded.interior_s else 0.0
    if abs(run.loaded.started_rps - run.asked.offered_rps) <= max(RATE_LIMIT * run.asked.offered_rps, counted):
        return PASSED
    missed = run.loaded.started_rps / run.asked.offered_rps - 1
    return failed(
        f"The offered rate was missed: {run.asked.tool} started {run.loaded.started_rps:.1f} requests a second, "
        f"{percent(abs(missed))} {'fewer' if missed < 0 else 'more'} than the {run.asked.offered_rps:.1f} asked for "
        f"(the limit is {percent(RATE_LIMIT)}): "
        + ("it had no free connection, or no CPU; raise CONCURRENCY or lower RATE." if missed < 0 else "measure again.")
    )


def started_too_late(run: Evidence) -> Finding:
    lag_ms = run.loaded.start_lag_p99_ms
    if run.loaded.missed_steps and not run.loaded.held_steps:
        return NONE_HELD
    if lag_ms is None:
        return CLOSED if run.asked.closed_model else unknown("how late requests started")
    if lag_ms <= LONGEST_LAG_MS:
        return PASSED
    return failed(
        f"{run.asked.tool} started requests {lag_ms / 1000:.1f} s late at p99 "
        f"(the limit is {LONGEST_LAG_MS / 1000:.0f} s): it had no "
        + (
            "CPU; lower CONCURRENCY."
            if run.asked.closed_model
            else "free connection, or no CPU; raise CONCURRENCY or lower RATE."
        )
    )


def started_late(run: Evidence) -> Finding:
    """Latency counts from when a request was due, so the lag is in it; it is the tool's, or the lack of connections."""
    lag_ms, latency_ms = run.loaded.start_lag_p99_ms, run.loaded.lagged_p99_ms
    if run.loaded.missed_steps and not run.loaded.held_steps:
        return NONE_HELD
    if lag_ms is None or latency_ms is None:
        return CLOSED if run.asked.closed_model else unknown("how late requests started")
    if lag_ms > LONGEST_LAG_MS:
        return not_here("the lag is over the larger limit")
    if lag_ms <= max(LAG_LIMIT * latency_ms, RESOLVED_LAG_MS):
        return PASSED
    return failed(
        f"{run.asked.tool} started requests {lag_ms:.1f} ms late at p99, {percent(lag_ms / latency_ms)} of the p99 "
        f"latency (the limit is {percent(LAG_LIMIT)}): part of the latency is the tool's own delay."
    )


def work_dropped(run: Evidence) -> Finding:
    if run.asked.closed_model:
        return CLOSED
    if run.loaded.missed_steps:
        return not_here("rates are judged step by step")
    if run.told.dropped is None:
        return unknown("how many requests were dropped")
    if not run.told.dropped:
        return PASSED
    return failed(f"{run.asked.tool} dropped {run.told.dropped} requests that it should have started (the limit is 0).")


def no_step_held(run: Evidence) -> Finding:
    missed = run.loaded.missed_steps
    if not missed and not run.loaded.held_steps:
        return ONE_RATE
    if run.loaded.held_steps:
        return PASSED
    return failed(f"Not even the lowest offered rate, {min(missed):.0f} requests a second, was reached without errors.")


def steps_missed(run: Evidence) -> Finding:
    if not run.loaded.held_steps:
        return NONE_HELD if run.loaded.missed_steps else ONE_RATE
    if not run.loaded.missed_steps:
        return PASSED
    missed = ", ".join(f"{rate:.0f}" for rate in run.loaded.missed_steps)
    because = ", ".join(dict.fromkeys(why for why in run.loaded.missed_because if why))
    return failed(
        f"The steps of {missed} requests a second did not hold{f' ({because})' if because else ''}: "
        "only the figures of the other steps count."
    )


def silent_end(run: Evidence) -> Finding:
    limit = SILENT_END_S + SILENT_END_P99S * (run.loaded.p99_ms or 0) / 1000
    if run.loaded.silent_end_s <= limit:
        return PASSED
    return failed(
        f"No answer came in the last {run.loaded.silent_end_s} s of the run (the limit is {SILENT_END_S} s + "
        f"{SILENT_END_P99S} × p99 = {limit:.1f} s): {run.asked.tool} discards what was unanswered then."
    )


def short_interior(run: Evidence) -> Finding:
    seconds = run.loaded.interior_s
    if run.loaded.whole_run:
        if not run.asked.steady:
            return CHANGING
        return failed("The run is too short to leave out its beginning and end: the figures cover all of it.")
    if seconds is None:
        return unknown("requests one by one")
    if seconds >= SHORTEST_INTERIOR_S:
        return PASSED
    return failed(f"The figures cover only {seconds:.0f} s (at least {SHORTEST_INTERIOR_S} s are needed).")


def few_waves(run: Evidence) -> Finding:
    """A window of whole waves may be short of them by a hundredth."""
    waves = run.loaded.waves
    if not run.asked.closed_model:
        return OPEN
    if waves is None:
        return not_here("there is no interior") if run.loaded.whole_run else unknown("requests one by one")
    if waves >= (1 - WAVE_ERROR) * FEWEST_WAVES:
        return PASSED
    return failed(f"The figures cover only {waves:.1f} waves of requests (at least {FEWEST_WAVES} are needed).")


def omission_possible(run: Evidence) -> Finding:
    """By silences of all connections, or by single ones that wait."""
    loaded = run.loaded
    if not run.asked.closed_model:
        return OPEN
    if not run.asked.steady and run.asked.think_s is None:
        return CHANGING
    if not loaded.p50_ms or not loaded.requests:
        return unknown("requests one by one")
    silent = _omitted_in_silences(run)
    slow = _omitted_by_slow_ones(run) if run.asked.steady and not _long_waits_asked_for(run) else 0.0
    if max(silent, slow) <= OMITTED_LIMIT * loaded.requests:
        return PASSED
    many = "s" if len(loaded.slow_ms) > 1 else ""
    what = (
        f"no answer came for {sum(loaded.silences_s)} s"
        if silent >= slow
        else f"{len(loaded.slow_ms)} request{many} took up to {max(loaded.slow_ms) / 1000:.1f} s"
    )
    omitted = max(silent, slow)
    return failed(
        f"Coordinated omission is possible: {what}, and a closed-model tool sends nothing meanwhile, so about "
        f"{omitted:,.0f} requests are missing, {percent(omitted / loaded.requests)} of those answered "
        f"(the limit is {percent(OMITTED_LIMIT)})."
    )


def _omitted_in_silences(run: Evidence) -> float:
    """Answers that silences kept from coming, at the throughput of what is evaluated, beyond those between waves."""
    loaded = run.loaded
    wave_s = (loaded.p50_ms or 0) / 1000 + (run.asked.think_s or 0)
    silent_s = sum(one - wave_s for one in loaded.silences_s if one > SILENT_WAVES * wave_s + 1)
    return silent_s * (loaded.requests or 0) / loaded.evaluated_s if loaded.evaluated_s else 0.0


def _long_waits_asked_for(run: Evidence) -> bool:
    """Each independent of the others, so that what is sent less often meanwhile is no other than what is sent."""
    return (run.asked.delay or "").startswith("lognormal:")


def _omitted_by_slow_ones(run: Evidence) -> float:
    """Requests that would have followed one another meanwhile, as HdrHistogram corrects a recorded value by those that
    an expected interval leaves out (copyCorrectedForCoordinatedOmission)."""
    p50_ms = run.loaded.p50_ms or 1
    return sum(took_ms / p50_ms - 1 for took_ms in run.loaded.slow_ms)


def connections_idle(run: Evidence) -> Finding:
    """Of tools that leave out what never ended."""
    ratio, waves = run.loaded.little_ratio, run.loaded.waves
    beyond = _beyond_busy(run)
    if beyond is not None:
        return beyond
    if ratio is None or waves is None:
        return not_here("there is no interior") if run.loaded.whole_run else unknown("throughput and latency")
    if waves < (1 - WAVE_ERROR) * FEWEST_WAVES:
        return not_here("with so few waves the count is off by more than the limit")
    limit = IDLE_LIMIT + run.loaded.rounding
    if not limit < abs(1 - ratio) <= LITTLE_LIMIT:
        return PASSED
    what = (
        "were not busy: some may be dead, and the requests on them are in no figure"
        if ratio < 1
        else "were busy beyond what there is: some requests were counted twice"
    )
    return failed(
        f"{percent(abs(1 - ratio))} of the {run.asked.concurrency} connections {what} (the limit is {percent(limit)})."
    )


def _beyond_busy(run: Evidence) -> Finding | None:
    """Why the rule on busy connections does not apply."""
    if not run.asked.closed_model:
        return OPEN
    if not run.asked.steady:
        return CHANGING
    return not_here("the tool tells of requests that never ended") if run.asked.tells_unended else None


def keepalive_refused(run: Evidence) -> Finding:
    kept, completed = run.told.keepalive_requests, run.told.completed
    if kept is None or completed is None:
        return not_here("the tool does not report it; opened connections are counted")
    if kept >= completed:
        return PASSED
    return failed(f"Only {kept} of {completed} answers kept their connection open: the run also measures connecting.")
