"""Which runs count: an invalid one costs its block and no more, and of several tries the first counts that was not
spoilt from outside."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from loomlab.answer.again import again_notes
from loomlab.answer.figures import CPU
from loomlab.answer.loads import counting, telling
from loomlab.answer.summary import summarise
from loomlab.records.contrasts import Contrast
from loomlab.records.models import Run, Summary
from loomlab.report.folder import read_experiment
from loomlab.report.page import write_report
from loomlab.statistics.sentences import sentence
from saying import figures
from test_comparisons import ABOUTS, COSTS, LATE, NOTE, STOLEN, of, summed_up
from test_summary import run

FOLDER = "20261121T060000Z-ab-c10000"
SPOILT = "2-tomcat-platform"


def retold(folder: Path, name: str, about: Any, **changes: Any) -> Summary:
    """The experiment summed up again, after that run told something else."""
    path = folder / FOLDER / "runs" / name
    (path / "raw" / "about.json").write_text(json.dumps(about))
    record = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(record | changes))
    return summarise(folder / FOLDER, interrupted=False)


def pair(summary: Summary) -> Contrast:
    return next(one for one in summary.contrasts if {one.a, one.b} == {"tomcat-virtual", "tomcat-platform"})


@pytest.mark.parametrize(
    ("about", "changes", "kind"),
    [
        ({"error": "refused"}, {}, "unknown"),
        (ABOUTS["tomcat-virtual"], {}, "unknown"),
        (ABOUTS["tomcat-platform"] | {"style": "idiomatic"}, {}, "stack"),
        (ABOUTS["tomcat-platform"], {"response_bytes_per_request": 900.0}, "stack"),
    ],
    ids=["told nothing", "another model", "another style", "other bytes"],
)
def test_an_invalid_run_costs_its_block_and_leaves_the_contrast_as_it_was(
    tmp_path: Path, about: Any, changes: dict[str, Any], kind: str
) -> None:
    alike = {"response_bytes_per_request": 150.0}
    before = summed_up(tmp_path, 5, {f"{number}-{name}": alike for number, name in enumerate([*COSTS] * 5, 1)})

    counted = retold(tmp_path, SPOILT, about, **changes)
    after = retold(tmp_path, SPOILT, about, verdict="invalid", **changes)

    assert (pair(before).kind, pair(counted).kind, pair(after).kind) == ("controlled", kind, "controlled")
    (got,) = of(after, "tomcat-virtual", "tomcat-platform")
    assert [one.block for one in got.blocks] == [2, 3, 4, 5]
    assert {one.verdict for one in after.runs if one.run != SPOILT} == {"valid"}


def test_an_invalid_run_does_not_lower_the_number_of_declared_contrasts(tmp_path: Path) -> None:
    before = summed_up(tmp_path, 5, cells=2)

    after = retold(tmp_path, SPOILT, {"error": "refused"}, verdict="invalid")

    for summary in (before, after):
        found = of(summary, "tomcat-virtual", "tomcat-platform")
        least = min(found, key=lambda one: one.p_value or 0)
        assert least.p_holm == pytest.approx(2 * (least.p_value or 0))
        assert [one.word for one in found] == ["lower", "lower"]


def test_a_run_that_was_replaced_says_nothing_of_its_approach(tmp_path: Path) -> None:
    summed_up(tmp_path, 5)
    runs = tmp_path / FOLDER / "runs"
    again = f"{SPOILT}-try-2"
    (runs / again / "raw").mkdir(parents=True)
    record = json.loads((runs / SPOILT / "run.json").read_text())
    (runs / again / "run.json").write_text(json.dumps(record | {"run": again}))
    (runs / again / "raw" / "about.json").write_text(json.dumps(ABOUTS["tomcat-platform"]))

    stolen = STOLEN.model_dump()
    got = retold(tmp_path, SPOILT, {"error": "refused"}, verdict="invalid", rules=[stolen])

    assert pair(got).kind == "controlled"
    (found,) = of(got, "tomcat-virtual", "tomcat-platform")
    assert found.dropped == []
    assert figures(found.sentence) == NOTE | {"1"}


def test_an_approach_without_a_run_that_counts_is_named_by_what_there_is(tmp_path: Path) -> None:
    spoilt = {f"{number}-{name}": {"verdict": "invalid"} for number, name in enumerate([*COSTS] * 3, 1)}

    got = summed_up(tmp_path, 3, spoilt)

    assert pair(got).kind == "controlled"
    (found,) = of(got, "tomcat-virtual", "tomcat-platform")
    assert (found.ratio, found.blocks, len(found.dropped)) == (None, [], 3)


KINDS: dict[str, dict[str, Any]] = {
    "valid": {},
    "suspect": {"verdict": "suspect"},
    "spoilt": {"verdict": "invalid", "rules": [STOLEN]},
    "late": {"verdict": "invalid", "rules": [LATE]},
    "both": {"verdict": "invalid", "rules": [LATE, STOLEN]},
}


def tries(*kinds: str) -> list[Run]:
    names = ["4-tomcat-platform", "4-tomcat-platform-try-2", "4-tomcat-platform-try-3"]
    return [run(4, run=name, **KINDS[kind]) for name, kind in zip(names, kinds, strict=False)]


@pytest.mark.parametrize(
    ("kinds", "counts"),
    [
        (["late"], []),
        (["spoilt", "valid"], ["-try-2"]),
        (["both", "suspect"], ["-try-2"]),
        (["spoilt", "spoilt", "valid"], ["-try-3"]),
        (["spoilt"] * 3, []),
        (["spoilt", "late"], []),
        (["spoilt", "late", "valid"], []),
        (["late", "valid"], []),
        (["valid", "suspect"], [""]),
    ],
)
def test_the_first_try_counts_that_was_not_spoilt_from_outside_and_one_sentence_says_so(
    kinds: list[str], counts: list[str], snapshot: SnapshotAssertion
) -> None:
    runs = tries(*kinds)

    assert [one.run for one in counting(runs)] == [f"4-tomcat-platform{end}" for end in counts]
    assert again_notes(runs) == snapshot
    assert telling(runs) == (counting(runs) or runs)


def test_two_runs_of_one_block_that_are_no_tries_are_not_chosen_among() -> None:
    runs = [run(1), run(2)]

    assert counting(runs) == runs
    assert again_notes(runs) == []


def test_what_was_left_out_of_other_figures_stands_on_the_page_and_in_the_summary(tmp_path: Path) -> None:
    untold = {"latency_ms": run(1).latency_ms.model_copy(update={"p99": None})}
    summed_up(tmp_path, 3, {SPOILT: untold, "4-tomcat-virtual": {"verdict": "invalid"}})
    folder = tmp_path / FOLDER

    page = write_report(folder).read_text()

    for text in (page, (folder / "summary.md").read_text()):
        told = re.findall(r"tomcat-virtual and tomcat-platform at 10,000 connections [^.]*\.", text)
        of_p99 = [one for one in told if "p99" in one and "block 1 (tomcat-platform: not measured)" in one]
        of_all = [one for one in told if "block 2 (tomcat-virtual: run 4-tomcat-virtual is invalid)" in one]
        assert (len(of_p99), len(of_all)) == (1, 1)
    assert "<small>1 block</small>" in page


@pytest.mark.parametrize("text", ["a|b", "<b>x</b>", "![x](http://x.invalid/y.png)", "a\nb"])
def test_names_and_texts_stay_text_in_the_summary(tmp_path: Path, text: str) -> None:
    summed_up(tmp_path, 3, {SPOILT: {"reasons": [f"Slow {text}."], "verdict": "suspect"}})
    folder = tmp_path / FOLDER
    record = folder / "runs" / SPOILT / "run.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"approach": text}))

    summarise(folder, interrupted=False)
    plain = (folder / "summary.md").read_text()
    write_report(folder)

    for told in (plain, (folder / "summary.md").read_text()):
        rows = [line for line in told.splitlines() if line.startswith("| 2 | ")]
        assert [row.replace("\\|", "").count("|") for row in rows] == [15]
        assert "<b>" not in told
        assert "![" not in told
        assert not any(line.startswith("b.") for line in told.splitlines())


def test_a_load_where_no_run_has_the_figure_counts_among_the_declared_in_summary_and_page_alike(tmp_path: Path) -> None:
    names = [name for _ in range(5) for _ in (1, 2) for name in COSTS]
    numbers = [number for number in range(1, len(names) + 1) if (number - 1) // 3 % 2 == 0]
    untold = {f"{number}-{names[number - 1]}": {"cpu_ms_per_request": None} for number in numbers}
    got = summed_up(tmp_path, 5, untold, cells=2)
    folder = tmp_path / FOLDER

    summed = of(got, "tomcat-virtual", "tomcat-platform")
    shown = [one.found for one in read_experiment(folder).comparisons(CPU) if one.kind == "controlled"]

    assert [one.sentence for one in summed] == [sentence(one) for one in shown]
    assert [one.p_holm for one in summed] == [one.p_holm for one in shown]
    assert [one.word for one in summed] == ["not resolved", "lower"]
    assert summed[1].p_holm == pytest.approx(2 * (summed[1].p_value or 0))
