"""Runs whose last scrapes, or whose answers, were not read."""

from pathlib import Path

from loomlab.judge.judge import judge_run
from rawrun import SECONDS, RawRun, at
from test_metrics import matrix


def test_a_collector_is_judged_up_to_the_last_scrape_that_was_answered(tmp_path: Path) -> None:
    run = RawRun()
    pauses = [(at(second), 0.1 * second) for second in range(-10, SECONDS - 8)]
    run.metrics["approach"].append(matrix("jvm_gc_pause_seconds_sum", pauses))
    for one in run.metrics["approach"]:
        one["values"] = [value for value in one["values"] if value[0] < at(SECONDS - 8)]

    got = judge_run(run.write(tmp_path / "1-app"))

    assert got.gc is not None and got.gc.share is not None
    assert 0.08 < got.gc.share < 0.12
    assert {one.outcome for one in got.rules if one.rule == "gc_heavy"} == {"passed"}


def test_an_answer_that_was_neither_read_nor_a_success_is_one_error(tmp_path: Path) -> None:
    short = "   (Connect: 0, Receive: 0, Length: 800, Exceptions: 0)\nNon-2xx responses"
    run = RawRun(rows=[], unanswered=800, report={short: 800})

    got = judge_run(run.write(tmp_path / "1-app"))

    assert got.errors == got.requests == 800
