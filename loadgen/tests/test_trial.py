"""Whether a rate was held, and what gave out where it was not; what the tool told is simulated."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loomlab.judge.trial import assess, at_limit
from loomlab.records.capacity import Objective, Search, Trial
from loomlab.records.files import RunFiles
from loomlab.records.models import Run
from rawrun import BEGIN, LATENCY_MS, SECONDS, Judge, log_of
from report_folder import run_of
from saying import figures
from test_judge_open import judged_rates, rates

OBJECTIVES = [Objective(figure="p99", below=1200), Objective(figure="errors", below=0.001)]


def assessed(run: Run, folder: Path, *objectives: Objective) -> Trial:
    assert run.rate
    search = Search(objectives=[*objectives] or OBJECTIVES, start_rps=1, most_rps=100, held_s=2, trial_s=10)
    return assess(RunFiles(folder / "1-app"), search)


def test_a_rate_is_held_where_the_objective_is_met_and_nothing_grows(judge: Judge, tmp_path: Path) -> None:
    held = assessed(judged_rates(judge, (50, 50)), tmp_path)

    assert (held.rate_rps, held.outcome, held.why, held.gave_out) == (50, "held", None, None)


@pytest.mark.parametrize(
    ("course", "objectives", "number"),
    [
        ({"took_ms": [1300]}, [], "1,300"),
        ({"grows_by": 1.0}, [Objective(figure="p99", below=9000)], "81"),
        ({"failed": 40}, [], "2"),
        ({}, [Objective(figure="p50", below=900)], "920"),
        ({}, [Objective(figure="max", below=920)], "920"),
        ({}, [Objective(figure="mean", below=919)], "920"),
    ],
)
def test_a_rate_is_not_held_for_a_reason(
    course: dict[str, Any],
    objectives: list[Objective],
    number: str,
    judge: Judge,
    tmp_path: Path,
) -> None:
    trial = assessed(judged_rates(judge, (50, 50), **course), tmp_path, *objectives)

    assert trial.outcome == "failed"
    assert number in figures(trial.why)


def test_a_percentile_is_met_by_all_but_as_many_as_may_be_longer(judge: Judge, tmp_path: Path) -> None:
    numbers = np.arange(50 * SECONDS)
    log = log_of(int(BEGIN) + numbers / 50, np.where(numbers % 10, LATENCY_MS, 1300), lag_ms=0 * numbers)
    run = judge(log, rates(50))

    outcomes = {most: assessed(run, tmp_path, Objective(figure=most, below=1200)).outcome for most in ("p90", "p95")}
    assert outcomes == {"p90": "held", "p95": "failed"}


def test_a_process_that_is_gone_gave_out(judge: Judge, tmp_path: Path) -> None:
    lost = assessed(judged_rates(judge, (50, 50), failed=50 * 30, because="connection refused"), tmp_path)
    assert lost.outcome == "failed"
    assert "process" in (lost.gave_out or "")


@pytest.mark.parametrize(
    ("cpus", "took_ms", "outcome", "gave_out", "elsewhere"),
    [
        ({"approach": 0.95}, 1300, "failed", "its CPU", False),
        ({"generator": 1.0}, LATENCY_MS, "failed", "the load generator", True),
        ({"stolen": 0.3}, 1300, "spoilt", None, False),
    ],
)
def test_what_was_full_gave_out_and_what_the_host_spoilt_says_nothing(
    cpus: dict[str, float],
    took_ms: float,
    outcome: str,
    gave_out: str | None,
    elsewhere: bool,
    judge: Judge,
    tmp_path: Path,
) -> None:
    trial = assessed(judged_rates(judge, (50, 50), took_ms=[took_ms], cpus=cpus), tmp_path)
    assert (trial.outcome, trial.gave_out, trial.elsewhere) == (outcome, gave_out, elsewhere)


@pytest.mark.parametrize(
    ("bound", "what"),
    [
        ("limit", "at once"),
        ("platform_threads", "threads"),
        ("backend_pool", "the backend"),
        ("database_pool", "the database"),
    ],
)
def test_a_bound_that_is_nearly_used_up_gave_out(bound: str, what: str) -> None:
    """By 100 requests a second that take half a second."""
    rated: dict[str, Any] = {"closed_model": False, "offered_rps": 100, "mean_ms": 500, "cpus_used": 0.5}
    assert [*at_limit(run_of("app", **rated | {bound: 60}))] == []
    (gave_out,) = at_limit(run_of("app", **rated | {bound: 55}))
    assert what in gave_out


def test_files_that_ran_out_gave_out() -> None:
    (gave_out,) = at_limit(run_of("app", cpus_used=0.5, failures={"Cannot assign requested address": 3}))
    assert "files" in gave_out
