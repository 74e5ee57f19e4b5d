"""Rules on what the tool told and what its requests show."""

from loomlab.basics.waves import FEWEST_WAVES, SHORTEST_INTERIOR_S
from loomlab.basics.words import percent
from loomlab.judge.evidence import Evidence
from loomlab.judge.interior import WAVE_ERROR
from loomlab.judge.limits import ERROR_LIMIT, LITTLE_LIMIT, RATE_LIMIT, SILENT_END_P99S, SILENT_END_S, STALL_P50S


def unfinished(run: Evidence) -> str | None:
    return None if run.asked.finished else "The measurement was interrupted before its end."


def tool_failed(run: Evidence) -> str | None:
    return run.told.failure


def too_many_errors(run: Evidence) -> str | None:
    if not run.told.attempted:
        return "No request is known to have completed."
    if run.loaded.missed_steps and run.loaded.held_steps:
        return None
    if run.told.errors is None or run.told.errors / run.told.attempted <= ERROR_LIMIT:
        return None
    return (
        f"{percent(run.told.errors / run.told.attempted)} of the requests failed or were not answered 2xx "
        f"({run.told.errors} of {run.told.attempted}; the limit is {percent(ERROR_LIMIT)})."
    )


def littles_law(run: Evidence) -> str | None:
    """Below 20 waves a count of whole waves cannot resolve 5 %: one wave is the limit then."""
    ratio, waves = run.loaded.little_ratio, run.loaded.waves
    if ratio is None:
        return None
    limit = max(LITTLE_LIMIT, 1 / waves) if waves else LITTLE_LIMIT
    if abs(ratio - 1) <= limit:
        return None
    return (
        f"Little's law is broken: throughput × mean latency is {ratio:.3f} of the {run.asked.concurrency} "
        f"connections (the limit is ±{percent(limit)})."
    )


def rate_missed(run: Evidence) -> str | None:
    if run.asked.offered_rps is None or run.loaded.started_rps is None:
        return None
    if abs(run.loaded.started_rps - run.asked.offered_rps) <= RATE_LIMIT * run.asked.offered_rps:
        return None
    missed = run.loaded.started_rps / run.asked.offered_rps - 1
    return (
        f"The offered rate was missed: {run.asked.tool} started {run.loaded.started_rps:.1f} requests a second, "
        f"{percent(abs(missed))} {'fewer' if missed < 0 else 'more'} than the {run.asked.offered_rps:.1f} asked for "
        f"(the limit is {percent(RATE_LIMIT)}): it had no free connection, or no CPU."
    )


def work_dropped(run: Evidence) -> str | None:
    if not run.told.dropped or run.loaded.missed_steps:
        return None
    return f"{run.asked.tool} dropped {run.told.dropped} requests that it should have started (the limit is 0)."


def no_step_held(run: Evidence) -> str | None:
    missed = run.loaded.missed_steps
    if not missed or run.loaded.held_steps:
        return None
    return f"Not even the lowest offered rate, {min(missed):.0f} requests a second, was reached without errors."


def steps_missed(run: Evidence) -> str | None:
    if not run.loaded.missed_steps or not run.loaded.held_steps:
        return None
    missed = ", ".join(f"{rate:.0f}" for rate in run.loaded.missed_steps)
    return (
        f"The steps of {missed} requests a second did not hold (rate missed by over {percent(RATE_LIMIT)}, or errors "
        f"over {percent(ERROR_LIMIT)}): only the figures of the other steps count."
    )


def silent_end(run: Evidence) -> str | None:
    limit = SILENT_END_S + SILENT_END_P99S * (run.loaded.p99_ms or 0) / 1000
    if run.loaded.silent_end_s <= limit:
        return None
    return (
        f"No answer came in the last {run.loaded.silent_end_s} s of the run, whose unanswered requests "
        f"{run.asked.tool} discards (the limit is {SILENT_END_S} s + {SILENT_END_P99S} × p99 = {limit:.1f} s)."
    )


def short_interior(run: Evidence) -> str | None:
    if run.loaded.whole_run and run.asked.steady:
        return "The run is too short to leave out its beginning and end: the figures are of all of it."
    if run.loaded.interior_s is None or run.loaded.interior_s >= SHORTEST_INTERIOR_S:
        return None
    return f"The figures are taken on {run.loaded.interior_s:.0f} s only (at least {SHORTEST_INTERIOR_S} s are wanted)."


def few_waves(run: Evidence) -> str | None:
    """A window of whole waves may be short of them by a hundredth."""
    waves = run.loaded.waves
    if not run.asked.closed_model or waves is None or waves >= (1 - WAVE_ERROR) * FEWEST_WAVES:
        return None
    return f"The figures are taken on {waves:.1f} waves of requests only (at least {FEWEST_WAVES} are wanted)."


def omission_possible(run: Evidence) -> str | None:
    if not run.asked.closed_model or not run.loaded.p50_ms or run.loaded.max_ms is None:
        return None
    stall_ms = max(run.loaded.max_ms, 1000.0 * run.loaded.longest_silence_s if run.asked.steady else 0.0)
    if stall_ms <= STALL_P50S * run.loaded.p50_ms:
        return None
    return (
        f"Coordinated omission is possible: a stall of {stall_ms / 1000:.1f} s is longer than {STALL_P50S} × p50 "
        f"({STALL_P50S * run.loaded.p50_ms / 1000:.1f} s), and a closed-model tool sends nothing meanwhile."
    )


def keepalive_refused(run: Evidence) -> str | None:
    kept, completed = run.told.keepalive_requests, run.told.completed
    if kept is None or completed is None or kept >= completed:
        return None
    return f"Only {kept} of {completed} answers kept their connection open: the run measures connecting, too."
