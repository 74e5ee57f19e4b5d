"""Repeats become blocks, and blocks become sentences in the summary."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.comparisons import with_comparisons
from loomlab.answer.summary import footnotes, summarise
from loomlab.records.contrasts import Comparison
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.models import Latency, RuleResult, Run, Summary, Verdict
from saying import figures
from test_summary import experiment, run

ABOUTS: dict[str, Any] = json.loads((Path(__file__).parent / "golden" / "abouts" / "headline.json").read_text())
COSTS = {
    "tomcat-virtual": (0.240, 0.204, 0.220, 0.250, 0.206),
    "tomcat-platform": (0.30, 0.25, 0.28, 0.31, 0.26),
    "webflux-netty": (0.21, 0.20, 0.22, 0.23, 0.20),
}
STOLEN = RuleResult(rule="much_stolen", outcome="failed", level="invalid", host_cause=True)
LATE = RuleResult(rule="backend_late_mean", outcome="failed", level="invalid")
NOTE = {"10,000", "20", "95", "19", "21", "5"}
"""The figures of the controlled contrast's sentence: load, mean, level, interval, blocks."""


def summed_up(folder: Path, repeats: int, changes: dict[str, dict[str, Any]] | None = None, cells: int = 1) -> Summary:
    """Of so many repeats at each load; `changes` by run."""
    runs: list[Run] = []
    for repeat in range(1, repeats + 1):
        for cell in range(1, cells + 1):
            for approach, costs in COSTS.items():
                name = f"{len(runs) + 1}-{approach}"
                made = {"run": name, "approach": approach, "repeat": repeat, "cell": cell}
                made |= {"cpu_ms_per_request": costs[repeat - 1]} | (changes or {}).get(name, {})
                runs.append(run(1, **made))
    path = experiment(folder, runs)
    for one in runs:
        raw = path / "runs" / one.run / "raw"
        raw.mkdir()
        (raw / "about.json").write_text(json.dumps(ABOUTS[one.approach]))
    return summarise(path, interrupted=False)


def of(summary: Summary, a: str, b: str, figure: str = "CPU per request") -> list[Comparison]:
    (contrast,) = (one for one in summary.contrasts if (one.a, one.b) == (a, b))
    return [one for one in contrast.comparisons if one.figure == figure]


@pytest.mark.parametrize("repeats", [1, 2])
def test_one_or_two_repeats_compare_nothing(tmp_path: Path, repeats: int) -> None:
    got = summed_up(tmp_path, repeats)

    assert [one.comparisons for one in got.contrasts] == [[], [], []]
    assert not any("interval" in note.lower() for note in footnotes(got))


def test_a_controlled_contrast_is_said_and_the_others_are_in_the_file_alone(tmp_path: Path) -> None:
    got = summed_up(tmp_path, 5)
    (controlled,) = of(got, "tomcat-virtual", "tomcat-platform")
    (stack,) = of(got, "tomcat-virtual", "webflux-netty")

    assert (controlled.word, figures(controlled.sentence), controlled.cell) == ("lower", NOTE, 1)
    assert controlled.p_holm == controlled.p_value
    assert [one.ratio for one in controlled.blocks] == pytest.approx([0.8, 0.816, 11 / 14, 25 / 31, 103 / 130])
    assert stack.word == "exploratory"
    notes = footnotes(got)
    assert controlled.sentence in notes
    assert any("hold for 1 contrast together" in note for note in notes)
    assert not any("Exploratory" in note for note in notes)
    folder = tmp_path / "20261121T060000Z-ab-c10000"
    assert controlled.sentence in (folder / "summary.md").read_text()
    (written,) = [
        one
        for one in json.loads((folder / "summary.json").read_text())["contrasts"][0]["comparisons"]
        if one["figure"] == "CPU per request"
    ]
    assert (written["word"], written["coarse"], written["blocks_needed"]) == ("lower", False, None)
    assert written["high"] == pytest.approx(0.82, abs=0.01)


def test_three_repeats_give_a_coarse_interval(tmp_path: Path) -> None:
    (got,) = of(summed_up(tmp_path, 3), "tomcat-virtual", "tomcat-platform")

    assert got.coarse
    assert "coarse 95 % interval" in got.sentence


def test_an_invalid_run_takes_its_block_along_and_a_suspect_one_does_not(tmp_path: Path) -> None:
    changes = {"2-tomcat-platform": {"verdict": "invalid"}, "4-tomcat-virtual": {"verdict": "suspect"}}
    got = summed_up(tmp_path, 5, changes)
    (spoilt,) = of(got, "tomcat-virtual", "tomcat-platform")
    (other,) = of(got, "tomcat-virtual", "webflux-netty")

    assert [one.block for one in spoilt.blocks] == [2, 3, 4, 5]
    assert spoilt.dropped == ["block 1 (tomcat-platform: run 2-tomcat-platform is invalid)"]
    assert [one.block for one in other.blocks] == [1, 2, 3, 4, 5]
    assert sum(one.suspect for one in spoilt.blocks) == sum(one.suspect for one in other.blocks) == 1
    assert ", 4 blocks, 1 with a suspect run)" in spoilt.sentence
    assert any(note.endswith(f" {spoilt.dropped[0]}.") for note in footnotes(got))


def test_with_too_few_blocks_left_the_summary_says_so(tmp_path: Path) -> None:
    changes = {f"{number}-tomcat-platform": {"cpu_ms_per_request": None} for number in (2, 5, 8, 11)}
    (got,) = of(summed_up(tmp_path, 5, changes), "tomcat-virtual", "tomcat-platform")

    assert (got.low, got.high, got.p_value, len(got.dropped)) == (None, None, None, 4)
    assert figures(got.sentence) == {"10,000", "1", "3"}


def test_a_figure_that_no_run_has_is_not_compared(tmp_path: Path) -> None:
    changes = {
        f"{number}-{name}": {"cpu_ms_per_request": None, "latency_ms": Latency()}
        for number, name in enumerate([*COSTS] * 3, 1)
    }

    assert [one.comparisons for one in summed_up(tmp_path, 3, changes).contrasts] == [[], [], []]


def test_each_load_is_compared_by_itself_and_holm_counts_them_all(tmp_path: Path) -> None:
    got = summed_up(tmp_path, 5, cells=2)
    first, second = of(got, "tomcat-virtual", "tomcat-platform")

    assert [(one.cell, one.load) for one in (first, second)] == [
        (1, "10,000 connections (load 1)"),
        (2, "10,000 connections (load 2)"),
    ]
    assert first.p_holm == pytest.approx(2 * (first.p_value or 0))
    assert any("hold for 2 contrasts together" in note for note in footnotes(got))


def test_a_margin_that_was_declared_is_that_of_every_figure(tmp_path: Path) -> None:
    contrasts = summed_up(tmp_path, 5).contrasts
    runs = json.loads((tmp_path / "20261121T060000Z-ab-c10000" / "summary.json").read_text())["runs"]

    got = with_comparisons(contrasts, [Run.model_validate(one) for one in runs], margin=0.3)

    (cpu, p99) = next(one for one in got if one.kind == "controlled").comparisons
    assert (cpu.margin, cpu.word, cpu.within_margin) == (0.3, "lower", True)
    assert "30" in figures(cpu.sentence)
    assert (p99.margin, p99.lower_bounds) == (None, True)


def test_a_run_that_was_spoilt_from_outside_counts_by_its_next_try_and_the_sentence_says_so(tmp_path: Path) -> None:
    spoilt = {"2-tomcat-platform": {"verdict": "invalid", "rules": [STOLEN]}}
    summary = summed_up(tmp_path, 3, spoilt)
    again = next(one for one in summary.runs if one.run == "2-tomcat-platform")
    tried = again.model_copy(update={"run": "2-tomcat-platform-try-2", "verdict": "valid"})

    (before,) = of(summary, "tomcat-virtual", "tomcat-platform")
    got = with_comparisons(summary.contrasts, [*summary.runs, tried])

    (after,) = of(summary.model_copy(update={"contrasts": got}), "tomcat-virtual", "tomcat-platform")
    assert ([one.block for one in before.blocks], [one.block for one in after.blocks]) == ([2, 3], [1, 2, 3])
    assert (len(before.dropped), after.dropped) == (1, [])
    assert after.made_again == (0, 1)
    assert "1 run of tomcat-platform made again" in after.sentence


def test_the_tail_is_exploratory(tmp_path: Path) -> None:
    (got,) = of(summed_up(tmp_path, 5), "tomcat-virtual", "tomcat-platform", "p99 latency")

    assert (got.word, got.ratio) == ("exploratory", 1)


@pytest.mark.parametrize(
    ("shape", "bound"),
    [
        (Closed(1_000, 60), True),
        (Users((UserStage(8000, 240),), (1, 3)), True),
        (OpenRate((RateStep(250, 60),)), False),
    ],
)
def test_the_tail_of_a_closed_load_is_a_lower_bound_that_no_margin_makes_the_same(
    tmp_path: Path, shape: Shape, bound: bool
) -> None:
    load = Load("http://app:8080", (Target("/capabilities"),), 8000, shape, 30)
    changes = {f"{number}-{name}": {"load": load} for number, name in enumerate([*COSTS] * 5, 1)}

    (got,) = of(summed_up(tmp_path, 5, changes), "tomcat-virtual", "tomcat-platform", "p99 latency")

    assert (got.lower_bounds, got.margin is None, got.within_margin) == (bound, bound, not bound)
    assert ("lower bound" in got.sentence) is bound
    assert ("within" in got.sentence) is not bound


@pytest.mark.parametrize(("tool", "found"), [("ab", False), ("hey", True), ("vegeta", True), ("users", True)])
def test_a_tools_whole_milliseconds_are_in_the_interval(tmp_path: Path, tool: str, found: bool) -> None:
    """2 ms of one and 1 ms of the other, which were 1.51 and 1.49."""
    took = {"tomcat-virtual": 2.0, "tomcat-platform": 1.0, "webflux-netty": 1.0}
    changes = {
        f"{number}-{name}": {"tool": tool, "latency_ms": Latency(p50=took[name], p99=took[name])}
        for number, name in enumerate([*COSTS] * 5, 1)
    }
    (got,) = of(summed_up(tmp_path, 5, changes), "tomcat-virtual", "tomcat-platform", "p99 latency")

    assert got.ratio == pytest.approx(2)
    assert got.low is not None
    assert (got.low > 1) is found
    assert got.p_value is not None
    assert (got.p_value < 0.05) is found


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        (Closed(1_000, 60), "8,000 connections"),
        (OpenRate((RateStep(0.5, 120),)), "0.5 requests/s"),
        (OpenRate((RateStep(250, 60), RateStep(4000, 60))), "250 to 4,000 requests/s"),
        (Users((UserStage(8000, 240), UserStage(0, 60)), (1, 3)), "up to 8,000 users"),
    ],
)
def test_a_load_is_named_as_a_sentence_says_it(shape: Shape, name: str) -> None:
    assert Load("http://app:8080", (Target("/capabilities"),), 8000, shape, 30).label == name


def test_commands_that_start_often_do_without_scipy() -> None:
    program = "import sys, loomlab.cli; print(sorted({'numpy', 'scipy'} & set(sys.modules)))"

    told = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert told.stdout.strip() == "[]"


def test_the_tail_is_that_of_p99(tmp_path: Path) -> None:
    slow = {"latency_ms": Latency(p50=3210, p99=22_468)}
    changes = {f"{number}-tomcat-virtual": slow for number in (1, 4, 7, 10, 13)}
    (got,) = of(summed_up(tmp_path, 5, changes), "tomcat-virtual", "tomcat-platform", "p99 latency")

    assert got.ratio == pytest.approx(2)


def test_a_block_without_a_p99_says_why(tmp_path: Path) -> None:
    why = "requests that failed reach it, so it is at least 920 ms"
    changes = {"1-tomcat-virtual": {"latency_ms": Latency(p50=3210, withheld={"p99": why})}}
    summary = summed_up(tmp_path, 5, changes)
    (got,) = of(summary, "tomcat-virtual", "tomcat-platform", "p99 latency")

    assert [one.block for one in got.blocks] == [2, 3, 4, 5]
    assert len(got.dropped) == 1 and why in got.dropped[0]
    assert any("1-tomcat-virtual" in note and why in note for note in footnotes(summary))
    assert len(of(summary, "tomcat-virtual", "tomcat-platform")[0].blocks) == 5


@pytest.mark.parametrize("errors", [0, 80])
def test_a_tail_that_failures_withheld_is_no_block_less(tmp_path: Path, errors: int) -> None:
    """Of five blocks two: where nothing failed there are only too few requests."""
    changes: dict[str, dict[str, Any]] = {
        f"{number}-tomcat-virtual": {"latency_ms": Latency(p50=3210, p99=5000)} for number in (1, 4, 7)
    }
    why = {"latency_ms": Latency(p50=3210, withheld={"p99": "it is at least 920 ms"}), "errors": errors}
    summary = summed_up(tmp_path, 5, changes | {"10-tomcat-virtual": why, "13-tomcat-virtual": why})

    (got,) = of(summary, "tomcat-virtual", "tomcat-platform", "p99 latency")

    assert (len(got.blocks), got.left_out) == (3, (2 if errors else 0, 0))
    assert got.swayed is (errors > 0)


@pytest.mark.parametrize(("errors", "verdict"), [(0, "valid"), (80, "valid"), (0, "invalid"), (80, "invalid")])
def test_one_tail_in_ten_that_failures_withheld_is_the_time_limit_whatever_the_verdict(
    tmp_path: Path, errors: int, verdict: Verdict
) -> None:
    summary = summed_up(tmp_path, 5)
    runs = [
        one.model_copy(
            update={"run": f"{part}{one.run}", "repeat": one.repeat + 5 * part, "latency_ms": Latency(p99=9)}
        )
        for part in (0, 5)
        for one in summary.runs
    ]
    virtual, *others = (place for place, one in enumerate(runs) if one.approach == "tomcat-virtual")
    for place in others:
        runs[place] = runs[place].model_copy(update={"latency_ms": Latency(p99=6)})
    withheld = {"latency_ms": Latency(withheld={"p99": "it is at least 6 ms"}), "errors": errors, "verdict": verdict}
    runs[virtual] = runs[virtual].model_copy(update=withheld)

    contrasts = with_comparisons(summary.contrasts, runs)
    (got,) = of(summary.model_copy(update={"contrasts": contrasts}), "tomcat-virtual", "tomcat-platform", "p99 latency")

    assert (len(got.blocks), got.swayed) == (9, errors > 0)


def test_approaches_that_share_no_load_whose_runs_count_are_compared_by_those_they_share(tmp_path: Path) -> None:
    """Pools have the size of the load, so runs of two loads would seem to differ in them."""
    pools = {1: 504, 2: 2004}
    got = summed_up(
        tmp_path, 1, {"1-tomcat-virtual": {"verdict": "invalid"}, "5-tomcat-platform": {"verdict": "invalid"}}, cells=2
    )
    folder = next(one.parent.parent for one in tmp_path.rglob("runs/1-tomcat-virtual"))
    for one in got.runs:
        about = folder / "runs" / one.run / "raw" / "about.json"
        told = json.loads(about.read_text())
        told["outbound"]["max_connections"] = pools[one.cell]
        about.write_text(json.dumps(told))

    kinds = {(one.a, one.b): one.kind for one in summarise(folder, interrupted=False).contrasts}

    assert kinds["tomcat-virtual", "tomcat-platform"] == "controlled"
