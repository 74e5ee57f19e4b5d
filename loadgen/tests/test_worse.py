"""Loads that get worse where a straight line, or a window of whole waves, does not show it."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from changes import answered_by_backend
from loomlab.judge.judge import judge_run
from loomlab.records.models import Run
from loomlab.records.requestlog import RequestLog
from loomlab.tools.tool import ToolReport
from rawrun import BEGIN, LATENCY_MS, SECONDS, RawRun, at, load, rows
from saying import failed
from test_judge_open import judged_log, rates


def judged(latency_ms: Callable[[float], float], folder: Path) -> Run:
    run = RawRun(rows=rows(latency_ms))
    answered_by_backend(run)
    return judge_run(run.write(folder / "1-app"))


@pytest.mark.parametrize(("before_ms", "after_ms", "from_s"), [(920, 2600, 31), (1100, 2600, 31), (905, 1400, 30)])
def test_growth_is_not_cut_off_with_the_last_waves(before_ms: int, after_ms: int, from_s: int, tmp_path: Path) -> None:
    got = judged(lambda second: before_ms if second < from_s else after_ms, tmp_path)

    assert failed(got.rules) & {"latency_grew", "latency_grew_much", "uneven"}


@pytest.mark.parametrize(("first_s", "last_s"), [(12, 25), (33, 40)])
def test_a_hump_or_a_late_step_is_told(first_s: int, last_s: int, tmp_path: Path) -> None:
    got = judged(lambda second: 2700 if first_s <= second < last_s else LATENCY_MS, tmp_path)

    assert failed(got.rules) & {"latency_grew", "latency_grew_much", "uneven"}


def test_what_is_even_is_not_told_of(tmp_path: Path) -> None:
    assert "uneven" not in failed(judged(lambda second: LATENCY_MS * (1 + second % 2 / 10), tmp_path).rules)


def users(
    run_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    targets: list[int],
    stalled_s: tuple[int, int] = (0, 0),
    think_s: int = 1,
) -> Run:
    """Sixty, who think for up to a second; target by target so long is the wait; none is answered in between."""
    begun, ended = stalled_s
    dice, starts, latencies = random.Random(5), list[float](), list[float]()  # noqa: S311 - not a secret
    for user in range(60):
        wait_s, second = targets[user % len(targets)] / 1000, dice.random() * 1.5
        while second < SECONDS - 2:
            took_s = wait_s if not begun < second + wait_s < ended else ended - second
            starts.append(BEGIN + second)
            latencies.append(1000 * took_s)
            second += took_s + think_s * dice.random()
    report = ToolReport(completed=len(starts), attempted=len(starts), failed=0, dropped=0, duration_s=SECONDS)
    shape = {"kind": "users", "stages": [{"users": 60, "duration_s": SECONDS}], "think_s": [0, think_s]}
    every = [{"target": f"/epoch-millis?delayInMillis={wait_ms}"} for wait_ms in targets]
    return judged_log(
        run_dir,
        monkeypatch,
        RequestLog(starts, latencies),
        report,
        shape,
        load=load() | {"shape": shape, "targets": every, "connections": 60},
    )


def test_a_standstill_under_users_who_come_and_go_may_omit_requests(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "omission_possible" in failed(users(run_dir, monkeypatch, [920], (12, 27)).rules)
    assert "omission_possible" not in failed(users(run_dir, monkeypatch, [920]).rules)


def test_users_with_short_waits_ask_more_often(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "throughput_impossible" not in failed(users(run_dir, monkeypatch, [100, 990], think_s=0).rules)


def test_requests_refused_without_a_start_count_in_a_step(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in fifty of the first step, which is twice the limit; in the second most were never sent."""
    first = [at(number / 50) for number in range(1000)]
    starts = [start for place, start in enumerate(first) if place % 50] + [
        at(20 + number / 80) for number in range(1600)
    ]
    log = RequestLog(starts, [float(LATENCY_MS)] * len(starts), failures={"connection refused": 20})
    report = ToolReport(completed=2580, attempted=2600, failed=20, dropped=0, duration_s=SECONDS)

    run = judged_log(run_dir, monkeypatch, log, report, rates([50, 100]))

    assert run.steps[0].errors in range(15, 21)
    assert run.steps[0].held is False


def test_two_kinds_of_waits_are_no_omission(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = [at(second) for second in range(SECONDS - 3) for _ in range(20)]
    report = ToolReport(completed=len(starts), attempted=len(starts), failed=0, dropped=0, duration_s=SECONDS)
    shape: dict[str, Any] = {"kind": "closed", "requests": len(starts), "duration_s": SECONDS}
    every = [{"target": f"/epoch-millis?delayInMillis={wait_ms}"} for wait_ms in (100, 1000)]
    log = RequestLog(starts, [100.0 if place % 2 else 1000.0 for place in range(len(starts))])

    run = judged_log(run_dir, monkeypatch, log, report, shape, load=load() | {"shape": shape, "targets": every})

    assert "omission_possible" not in failed(run.rules)
