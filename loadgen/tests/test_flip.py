"""`make flip`: whether to switch, by what was measured under each condition."""

from dataclasses import replace
from pathlib import Path

import pytest

from loomlab.answer.flip import flip_lines
from loomlab.records.capacity import Capacity
from loomlab.records.models import Latency, RuleResult, Summary
from loomlab.records.order import Order
from loomlab.records.raw import LiveBytes
from report_folder import RATE
from test_capacity import OBJECTIVES
from test_sides import A, B, compare, summary_of

Measured = tuple[Summary, Order]


def measured(
    folder: Path, cpu: float = 1, p99: float = 1, rss: float = 1, spread: float = 0.01, share: float | None = None
) -> Measured:
    """Three blocks at an offered rate; the arguments are B's figures ÷ A's, how blocks differ, and the share of
    capacity."""
    order = compare(folder, B="GC=g1")
    summary = summary_of(order, [cpu * more for more in (1 - spread, 1, 1 + spread)])
    for number, run in enumerate(summary.runs):
        own, noise = run.approach == B, 1 + 0.003 * (number % 3)
        run.load = replace(run.load, shape=RATE)
        run.latency_ms = Latency(p50=905, p99=1200 * noise * (p99 if own else 1))
        run.rss_max_bytes = 2**29 * noise * (rss if own else 1)
        run.capacity_share = share
    return summary, order


def searched(folder: Path, capacity: float, **ratios: float) -> Measured:
    at_share, order = measured(folder, share=0.8, **ratios)
    held, _ = measured(folder, share=1.0)
    for number, run in enumerate(held.runs):
        rps = 400 * (1 + 0.003 * (number % 3)) * (capacity if run.approach == B else 1)
        run.cell, run.run, run.capacity = 2, f"{run.run}-search", Capacity(objectives=OBJECTIVES, rps=rps)
    return at_share.model_copy(update={"runs": [*at_share.runs, *held.runs]}), order


@pytest.mark.parametrize(
    ("normal", "word"),
    [
        ({}, "Does not matter"),
        ({"cpu": 0.8}, "Switch"),
        ({"p99": 1.4}, "Do not"),
        ({"cpu": 0.8, "rss": 1.5}, "It depends"),
        ({"cpu": 1.09, "spread": 0.1}, "Not resolved"),
        ({"cpu": 1.3, "spread": 0.08}, "Not resolved"),  # p = 0.03, of one figure of several
    ],
)
def test_the_answer_is_that_of_figures_that_speak_for_one(normal: dict[str, float], word: str, tmp_path: Path) -> None:
    lines = flip_lines({"normal": measured(tmp_path, **normal)}, {})
    assert lines[2].startswith(f"**{word}**, at the normal rate: ")


def test_what_is_not_known_may_matter(tmp_path: Path) -> None:
    without_p99, at_least = measured(tmp_path / "a"), searched(tmp_path / "b", 1.5)
    for run in without_p99[0].runs:
        run.latency_ms = Latency(p50=905)
    for run in at_least[0].runs:
        if run.capacity and run.approach == B:
            run.capacity.at_least = True
    for name, condition in (("normal", without_p99), ("capacity", at_least)):
        lines = flip_lines({"normal": measured(tmp_path / name), name: condition}, {})
        assert any(line.startswith(("**Not resolved**", "Not resolved")) for line in lines)


def test_a_side_that_alone_keeps_up_is_the_answer(tmp_path: Path) -> None:
    missed = RuleResult(rule="rate_missed", outcome="failed", level="invalid", reason="so")
    for side, word in ((A, "Switch"), (B, "Do not")):
        slow, order = measured(tmp_path / side)
        for run in slow.runs:
            if run.approach == side:
                run.verdict, run.rules = "invalid", [missed]
        lines = flip_lines({"normal": measured(tmp_path / f"{side}-normal"), "slow": (slow, order)}, {})
        assert any(line.startswith(f"**{word}**, at slow answers: ") for line in lines)
        for run in slow.runs:
            run.verdict = "invalid"
        lines = flip_lines({"normal": measured(tmp_path / f"{side}-usual"), "slow": (slow, order)}, {})
        assert any(line.startswith("Not resolved at slow answers") for line in lines)


def test_a_side_that_alone_holds_any_rate_is_the_answer(tmp_path: Path) -> None:
    for side, word in ((A, "Switch"), (B, "Do not")):
        search, order = searched(tmp_path / side, 1.0)
        runs = [run for run in search.runs if run.capacity or run.approach != side]
        for run in runs:
            if run.capacity and run.approach == side:
                run.capacity.rps = None
        found = {"capacity": (search.model_copy(update={"runs": runs}), order)}
        lines = flip_lines({"normal": measured(tmp_path / f"{side}-normal")} | found, {})
        assert any(line.startswith(f"**{word}**, at 80 % of what each holds: ") for line in lines)


def test_a_margin_that_was_declared_is_that_of_memory_too(tmp_path: Path) -> None:
    summary, order = measured(tmp_path)
    for run in summary.runs:
        heap = 2**20 * (0.93 if run.approach == B else 1) + run.repeat
        run.live_bytes_per_request = LiveBytes(heap=heap, stacks_off_heap=0, kernel=0)
    for margin, word in ((None, "Does not matter"), (0.05, "Switch")):
        lines = flip_lines({"normal": (summary.model_copy(update={"margin": margin}), order)}, {})
        assert lines[2].startswith(f"**{word}**")


def test_conditions_under_which_the_answer_is_another_are_told(tmp_path: Path) -> None:
    conditions = {"normal": measured(tmp_path / "a"), "slow": measured(tmp_path / "c", p99=2)}
    conditions["capacity"] = searched(tmp_path / "b", 1.5, cpu=0.7)
    lines = flip_lines(conditions, {"slow": "DELAY=900"})
    answers = [line for line in lines if line.startswith("**")]
    assert [line.split("**")[1] for line in answers] == ["Does not matter", "Switch", "Do not"]
    assert "capacity +50 %" in answers[1]
    assert "CPU per request −30 %" in answers[1]
    assert "slow answers by DELAY=900" in answers[2]
    assert len([line for line in lines if line.startswith("| ")]) == 4


def test_a_condition_that_is_not_resolved_is_not_said_to_change_nothing(tmp_path: Path) -> None:
    conditions = {"normal": measured(tmp_path / "a"), "slow": measured(tmp_path / "b", cpu=1.09, spread=0.1)}
    (line,) = (line for line in flip_lines(conditions, {}) if line.startswith("Not resolved"))
    assert "slow answers" in line


def test_a_search_tells_figures_at_a_share_of_capacity_alone(tmp_path: Path) -> None:
    """At capacity itself the sides are at other rates."""
    lines = flip_lines({"normal": measured(tmp_path / "a"), "capacity": searched(tmp_path / "b", 1, cpu=0.7)}, {})
    (row,) = (line for line in lines if line.startswith("| 80 %"))
    assert "−30 %" in row
    assert row.endswith("| switch |")


def test_what_waits_in_pools_and_does_not_count_is_told(tmp_path: Path) -> None:
    summary, order = measured(tmp_path)
    summary.runs[0].verdict = "invalid"
    for run in summary.runs:
        run.backend_pool, run.closed_model, run.offered_rps, run.throughput_rps, run.mean_ms = 60, False, 100, 100, 1000
    beyond, _ = measured(tmp_path / "beyond", share=1.1)
    for run in beyond.runs:
        run.backend_pool, run.closed_model, run.offered_rps, run.throughput_rps, run.mean_ms = 60, False, 100, 100, 3000
    lines = flip_lines({"normal": (summary, order), "capacity": (beyond, order)}, {})
    waits = [line for line in lines if " waits " in line]
    assert all("400 ms" in line for line in waits)
    assert (len(waits), sum("1 of 3 runs" in line for line in lines)) == (2, 1)
