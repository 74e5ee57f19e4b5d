"""Repeats become blocks, blocks become sentences in the summary, and which runs count in them."""

import json
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from abouts import ALL
from compared import compared
from loads import load_of, rate
from loomlab.answer.comparisons import block_deviation, shift_doubts, with_comparisons
from loomlab.answer.gate import BLOCK_DEVIATION, expectation
from loomlab.answer.summary import summarise
from loomlab.answer.text import footnotes
from loomlab.records.contrasts import Comparison, Contrast
from loomlab.records.files import write_json
from loomlab.records.load import Closed, Shape, Users, UserStage
from loomlab.records.models import Latency, Run, Summary, Verdict
from loomlab.records.raw import LiveBytes
from ordered import planned
from saying import STOLEN, figures
from test_summary import experiment, run
from test_summary import run as run_record

COSTS = {
    "tomcat-virtual": (0.240, 0.204, 0.220, 0.250, 0.206),
    "tomcat-platform": (0.30, 0.25, 0.28, 0.31, 0.26),
    "webflux-netty": (0.21, 0.20, 0.22, 0.23, 0.20),
}
FOLDER = "20261121T060000Z-ab-c10000"
SPOILT = "2-tomcat-platform"
EVERY = [f"{number}-{name}" for number, name in enumerate([*COSTS] * 5, 1)]  # of five repeats at one load
TOMCATS = ("tomcat-virtual", "tomcat-platform")
P99 = "p99 latency"


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
    return summarise(experiment(folder, runs, abouts=[ALL[one.approach] for one in runs]), interrupted=False)


def of(summary: Summary, figure: str = "CPU per request", a: str = "tomcat-virtual", b: str = "tomcat-platform") -> Any:
    """The comparisons by that figure, one a load; the only one."""
    (contrast,) = (one for one in summary.contrasts if (one.a, one.b) == (a, b))
    found = [one for one in contrast.comparisons if one.figure == figure]
    return found[0] if len(found) == 1 else found


def blocks(found: Comparison) -> list[int]:
    return [one.block for one in found.blocks]


NOTHING = {"cpu_ms_per_request": None, "latency_ms": Latency(), "live_bytes_per_request": LiveBytes()}


@pytest.mark.parametrize(("repeats", "changes"), [(2, {}), (3, NOTHING)], ids=["few", "none"])
def test_two_repeats_or_a_missing_figure_compare_nothing(tmp_path: Path, repeats: int, changes: dict[str, Any]) -> None:
    got = summed_up(tmp_path, repeats, dict.fromkeys(EVERY, changes))
    assert [one.comparisons for one in got.contrasts] == [[], [], []]
    assert not any("interval" in note.lower() for note in footnotes(got))


def test_a_controlled_contrast_is_said_and_the_others_are_in_the_file_alone(tmp_path: Path) -> None:
    got = summed_up(tmp_path, 5)
    controlled, stack = of(got), of(got, b="webflux-netty")

    assert (controlled.word, controlled.cell, controlled.kind) == ("lower", 1, "controlled")
    assert figures(controlled.sentence) == {"10,000", "20", "0.223", "0.279", "95", "18.5", "21", "5"}
    assert controlled.p_holm == controlled.p_value
    assert [one.effect for one in controlled.blocks] == pytest.approx([0.8, 0.816, 11 / 14, 25 / 31, 103 / 130])
    assert (stack.word, of(got, P99).word, of(got, P99).effect) == ("exploratory", "exploratory", 1)
    notes, told = footnotes(got), footnotes(got, brief=True)
    assert controlled.sentence in told
    assert any("hold for all declared comparisons" in note for note in notes)
    assert any("differ in the concurrency model alone" in note for note in notes)
    assert not any("exploratory" in note for note in told)
    written = json.loads((tmp_path / FOLDER / "summary.json").read_text())["contrasts"][0]["comparisons"][0]
    assert (written["word"], written["coarse"], written["blocks_likely"]) == ("lower", False, None)
    assert written["high"] == pytest.approx(0.82, abs=0.01)
    assert written["blocks"][0] == {"block": 1, "effect": pytest.approx(0.8), "suspect": False}
    assert not {"a", "b", "kind", "ratio"} & written.keys()


def test_an_invalid_run_takes_its_block_along_and_a_suspect_one_does_not(tmp_path: Path) -> None:
    changes = {SPOILT: {"verdict": "invalid"}, "4-tomcat-virtual": {"verdict": "suspect"}}
    got = summed_up(tmp_path, 5, changes)
    spoilt, other = of(got), of(got, b="webflux-netty")

    assert (blocks(spoilt), blocks(other)) == ([2, 3, 4, 5], [1, 2, 3, 4, 5])
    assert spoilt.dropped == ["block 1 (tomcat-platform: run 2-tomcat-platform is invalid)"]
    assert sum(one.suspect for one in spoilt.blocks) == sum(one.suspect for one in other.blocks) == 1
    assert ", 4 blocks, 1 with a suspect run)" in spoilt.sentence
    assert any(note.endswith(f" {spoilt.dropped[0]}.") for note in footnotes(got, brief=True))


def test_each_load_is_compared_by_itself_and_holm_counts_them_all(tmp_path: Path) -> None:
    """Even if no run of the second has the figure."""
    got = summed_up(tmp_path, 5, cells=2)
    untold = {one.run: {"cpu_ms_per_request": None} for one in got.runs if one.cell == 2}
    first, second = of(got)
    alone, none = of(summed_up(tmp_path / "untold", 5, untold, cells=2))

    assert [one.load for one in (first, second)] == [f"10,000 connections (load {cell})" for cell in (1, 2)]
    assert first.p_holm == alone.p_holm == pytest.approx(2 * (first.p_value or 0))
    assert none.word == "not significant"


def test_a_margin_that_was_declared_is_that_of_every_figure(tmp_path: Path) -> None:
    summary = summed_up(tmp_path, 5)

    got = with_comparisons(summary.contrasts, summary.runs, margin=0.3)

    (cpu, memory, p99) = next(one for one in got if one.kind == "controlled").comparisons
    assert (cpu.margin, cpu.word, cpu.within_margin) == (0.3, "lower", True)
    assert "30" in figures(cpu.sentence)
    assert (memory.margin, p99.margin, p99.lower_bounds) == (None, None, True)


def test_a_run_that_was_spoilt_from_outside_counts_by_its_next_try_and_the_sentence_says_so(tmp_path: Path) -> None:
    """Whatever the spoilt one told of its approach."""
    summary = summed_up(tmp_path, 3, {SPOILT: {"verdict": "invalid", "rules": [STOLEN]}})
    path = tmp_path / FOLDER / "runs"
    again = next(one for one in summary.runs if one.run == SPOILT)
    tried = again.model_copy(update={"run": f"{SPOILT}-try-2", "verdict": "valid"})
    (path / SPOILT).rename(path / tried.run)
    (path / SPOILT / "raw").mkdir(parents=True)
    (path / tried.run / "run.json").write_text(tried.model_dump_json(by_alias=True))
    (path / SPOILT / "run.json").write_text(again.model_dump_json(by_alias=True))
    (path / SPOILT / "raw" / "about.json").write_text('{"error": "refused"}')

    before, after = of(summary), of(summarise(tmp_path / FOLDER, interrupted=False))

    assert (blocks(before), blocks(after)) == ([2, 3], [1, 2, 3])
    assert (len(before.dropped), after.dropped, after.made_again) == (1, [], (0, 1))
    assert (after.kind, after.coarse) == ("controlled", True)
    assert "1 run of tomcat-platform measured again" in after.sentence


@pytest.mark.parametrize(
    ("shape", "bound"), [(Closed(1_000, 60), True), (Users((UserStage(8000, 240),), (1, 3)), True), (rate(250), False)]
)
def test_the_tail_of_a_closed_load_is_a_lower_bound_without_margin(tmp_path: Path, shape: Shape, bound: bool) -> None:
    slow = {"latency_ms": Latency(p99=11_300)}
    changes = {name: {"load": load_of(shape)} | (slow if "virtual" in name else {}) for name in EVERY}

    got = of(summed_up(tmp_path, 5, changes), P99)

    assert got.effect == pytest.approx(11_300 / 11_234)
    assert (got.lower_bounds, got.margin is None, got.within_margin) == (bound, bound, not bound)
    assert ("lower bound" in got.sentence) is bound


@pytest.mark.parametrize(("tool", "found"), [("ab", False), ("hey", True), ("vegeta", True), ("users", True)])
def test_a_tools_whole_milliseconds_are_in_the_interval(tmp_path: Path, tool: str, found: bool) -> None:
    """2 ms of one and 1 ms of the other, which were 1.51 and 1.49."""
    own = {name: {"tool": tool, "latency_ms": Latency(p99=2.0 if "tomcat-virtual" in name else 1.0)} for name in EVERY}
    got = of(summed_up(tmp_path, 5, own), P99)

    assert got.effect == pytest.approx(2)
    assert (got.low > 1, got.p_value < 0.05) == (found, found)


def test_a_block_without_a_p99_says_why(tmp_path: Path) -> None:
    why = "requests that failed reach it, so it is at least 920 ms"
    changes = {"1-tomcat-virtual": {"latency_ms": Latency(p50=3210, withheld={"p99": why})}}
    summary = summed_up(tmp_path, 5, changes)
    got = of(summary, P99)

    assert blocks(got) == [2, 3, 4, 5]
    assert len(got.dropped) == 1
    assert why in got.dropped[0]
    assert any("1-tomcat-virtual" in note and why in note for note in footnotes(summary))
    assert len(of(summary).blocks) == 5


@pytest.mark.parametrize(("errors", "verdict"), [(0, "valid"), (80, "valid"), (0, "invalid"), (80, "invalid")])
def test_a_tail_that_failures_withheld_is_the_time_limit(tmp_path: Path, errors: int, verdict: Verdict) -> None:
    summary = summed_up(tmp_path, 5)
    runs = [
        one.model_copy(
            update={
                "run": f"{part}{one.run}",
                "repeat": one.repeat + 5 * part,
                "latency_ms": Latency(p99=6 if one.approach == "tomcat-virtual" else 9),
            }
        )
        for part in (0, 1)
        for one in summary.runs
    ]
    withheld = {"latency_ms": Latency(withheld={"p99": "it is at least 6 ms"}), "errors": errors, "verdict": verdict}
    runs[0] = runs[0].model_copy(update=withheld)

    contrasts = with_comparisons(summary.contrasts, runs)

    got = of(summary.model_copy(update={"contrasts": contrasts}), P99)
    assert (len(got.blocks), got.swayed) == (9, errors > 0)


def retold(folder: Path, name: str, about: Any, **changes: Any) -> Summary:
    """The experiment summed up again, after that run told something else."""
    path = folder / FOLDER / "runs" / name
    (path / "raw" / "about.json").write_text(json.dumps(about))
    record = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(record | changes))
    return summarise(folder / FOLDER, interrupted=False)


def pair(summary: Summary) -> Contrast:
    return next(one for one in summary.contrasts if {one.a, one.b} == {*TOMCATS})


@pytest.mark.parametrize(
    ("about", "changes", "kind"),
    [
        ({"error": "refused"}, {}, "unknown"),
        (ALL["tomcat-virtual"], {}, "unknown"),
        (ALL["tomcat-platform"] | {"style": "idiomatic"}, {}, "stack"),
        (ALL["tomcat-platform"], {"response_bytes_per_request": 900.0}, "stack"),
    ],
    ids=["told nothing", "another model", "another style", "other bytes"],
)
def test_an_invalid_run_costs_a_block_alone(tmp_path: Path, about: Any, changes: dict[str, Any], kind: str) -> None:
    before = summed_up(tmp_path, 5, {name: {"response_bytes_per_request": 150.0} for name in EVERY})

    counted = retold(tmp_path, SPOILT, about, **changes)
    after = retold(tmp_path, SPOILT, about, verdict="invalid", **changes)

    assert (pair(before).kind, pair(counted).kind, pair(after).kind) == ("controlled", kind, "controlled")
    assert blocks(of(after)) == [2, 3, 4, 5]
    assert of(after).p_holm == of(after).p_value
    assert {one.verdict for one in after.runs if one.run != SPOILT} == {"valid"}


def test_an_approach_without_a_run_that_counts_is_named_by_what_there_is(tmp_path: Path) -> None:
    got = summed_up(tmp_path, 3, {name: {"verdict": "invalid"} for name in EVERY})
    assert pair(got).kind == "controlled"
    assert (of(got).effect, of(got).blocks, len(of(got).dropped)) == (None, [], 3)


PAIR: dict[str, Any] = {"verb": "sweep", "tool": "users", "approaches": ("tomcat-platform", "tomcat-virtual")}


def swept(results: Path, name: str, ratios: tuple[float, ...], cpu: str = "here", partner: str | None = "b") -> None:
    """The summary of a sweep with a block for each of these ratios."""
    comparison = compared(ratios, (1.0,) * len(ratios))
    contrast = Contrast(a="a", b="b", kind="controlled", differs=[], comparisons=[comparison])
    (results / name).mkdir()
    summary = Summary(
        experiment=name, started=None, finished=None, notes=[], environment={"cpu_model": cpu}, contrasts=[contrast],
        runs=[run_record(1, partner=partner)],
    )  # fmt: skip
    write_json(results / name / "summary.json", summary)


def test_earlier_sweeps_in_slices_on_such_a_host_tell_how_far_blocks_are_apart(tmp_path: Path) -> None:
    assert block_deviation(tmp_path, "here") is None

    swept(tmp_path, "1-sweep-users-c1", (math.exp(-0.02), 1.0, math.exp(0.02)))
    swept(tmp_path, "2-sweep-users-c1", (math.exp(-0.04), 1.0, math.exp(0.04)))
    swept(tmp_path, "3-sweep-users-c1", (0.5, 1.0, 2.0), cpu="elsewhere")
    swept(tmp_path, "4-sweep-ab-c1", (0.5, 1.0, 2.0), partner=None)
    swept(tmp_path, "5-sweep-users-c1", (0.5, 2.0))
    (tmp_path / "6-sweep-users-c1").mkdir()
    (tmp_path / "6-sweep-users-c1" / "summary.json").write_text("{")
    swept(tmp_path, "7-sweep-users-c1", (0.5, 1.0, 2.0))
    summary = tmp_path / "7-sweep-users-c1" / "summary.json"
    summary.write_text(summary.read_text().replace('"effect": 0.5', '"effect": -0.5'))
    for number, effect in enumerate(("1e308", "5e-324", '"inf"', '"nan"'), 81):
        swept(tmp_path, f"{number}-sweep-users-c1", (0.5, 1.0, 2.0))
        odd = tmp_path / f"{number}-sweep-users-c1" / "summary.json"
        odd.write_text(odd.read_text().replace('"effect": 0.5', f'"effect": {effect}'))

    other = tmp_path / "1-sweep-users-c1" / "summary.json"
    other.write_text(other.read_text().replace('"experiment"', '"of_another_version": 1, "experiment"', 1))
    with warnings.catch_warnings(action="error"):
        assert block_deviation(tmp_path, "here") == pytest.approx(math.sqrt((0.02**2 + 0.04**2) / 2))


def test_a_plan_in_slices_says_how_wide_its_intervals_will_be(tmp_path: Path) -> None:
    said = expectation(planned(tmp_path, **PAIR), tmp_path)

    # Student's quantile of four degrees of freedom is 2.776
    assert f"± {100 * math.expm1(2.776 * BLOCK_DEVIATION / math.sqrt(5)):.1f} %" in said
    assert "With 5 blocks" in said
    for other in ({"repeats": 2}, {"design": "alone"}):
        assert expectation(planned(tmp_path, **PAIR, **other), tmp_path) == ""


def shifting(shifts: Sequence[float | None], **changes: object) -> list[Run]:
    """Both sides of a pair in a block for each of these shifts of a's ratio to b's."""
    return [
        run(number, run=f"{number}-{name}", approach=name, partner=other, repeat=number, ratio_shift=shift, **changes)
        for number, of_a in enumerate(shifts, 1)
        for name, other, shift in (("a", "b", of_a), ("b", "a", None if of_a is None else -of_a))
    ]


@pytest.mark.parametrize(("shifts", "said"), [
    ([0.09, 0.10, 0.08], "9.42 %"), ([-0.09, -0.10, -0.08], "-8.61 %"), ([0.1, -0.1, 0.11], ""),
    ([0.2, -0.1, 0.2], ""), ([0.03, 0.031, 0.029], ""), ([0.041, 0.0411, 0.0412], "4.2 %"),
    ([0.09, 0.10], ""), ([0.09, 0.1, None], ""),
])  # fmt: skip
def test_a_ratio_that_moves_alike_in_every_block_makes_runs_suspect(shifts: list[float | None], said: str) -> None:
    runs = shifting(shifts)
    doubts = shift_doubts(runs)

    assert set(doubts) == ({run.run for run in runs} if said else set())
    assert all(said in text for text in doubts.values())


def test_neither_invalid_runs_nor_other_loads_tell_a_shift() -> None:
    moving = [0.09, 0.10, 0.08]

    assert shift_doubts(shifting(moving, verdict="invalid")) == {}
    assert shift_doubts([*shifting(moving[:2]), *shifting(moving[2:], cell=2)]) == {}
    assert shift_doubts([run(number) for number in range(3)]) == {}


def test_the_summary_tells_a_shift(tmp_path: Path) -> None:
    runs = summarise(experiment(tmp_path, shifting([0.09, 0.10, 0.08])), interrupted=False).runs
    assert all(run.verdict == "suspect" and "9.42 %" in run.reasons[-1] for run in runs if run.approach == "a")
