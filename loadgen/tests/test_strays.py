"""Folders that were merged by hand: what does not belong together is told, and not compared."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from loomlab.answer.strays import MOST_NAMED, strays_of
from loomlab.answer.summary import summarise
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target, Users, UserStage
from loomlab.records.models import Run, Summary
from loomlab.records.order import read_order
from loomlab.report.folder import read_experiment
from report_folder import folder_of
from test_report import parts_of
from test_report_folders import edit, first_run
from test_summary import CLOSED, run

PAIR = ("tomcat-platform", "tomcat-virtual")
NONE_COMPARED = "No run of this folder is compared"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("results"), PAIR, repeats=3)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / made.name)


def merge(folder: Path, **changes: Any) -> str:
    """Puts another experiment's run beside those of the first block, a dear one, and gives its name."""
    name = f"90-{first_run(folder).name.partition('-')[2]}"
    stray = shutil.copytree(first_run(folder), folder / "runs" / name)
    edit(stray / "run.json", lambda told: told.update({"run": name, "cpu_ms_per_request": 99.0} | changes))
    return name


def figures(summary: Summary) -> list[tuple[str, float | None, float | None, int]]:
    compared = [one for contrast in summary.contrasts for one in contrast.comparisons]
    return [(one.figure, one.ratio, one.high, len(one.blocks)) for one in compared]


@pytest.mark.parametrize("changes", [{}, {"cell": 2}], ids=["in a block", "at another load"])
def test_a_run_that_the_order_does_not_have_is_told_and_changes_no_figure(
    folder: Path, changes: dict[str, Any]
) -> None:
    before = summarise(folder, interrupted=False)
    parts_of(folder)
    table = (folder / "table.csv").read_bytes()
    name = merge(folder, **changes)

    after = summarise(folder, interrupted=False)
    (told,) = (note for note in after.notes if name in note)
    assert told.startswith(f"{name} is ")
    assert "order.json" in told
    assert told in (folder / "summary.md").read_text()
    page = parts_of(folder)

    assert figures(before)
    assert after.contrasts == before.contrasts
    assert page.text.count(told) == 2  # at the top, and among the doubts
    assert page.open == []
    assert (folder / "table.csv").read_bytes() == table
    assert f"<title>{name}: " not in (folder / "report.html").read_text()
    assert name in page.text.partition("Every run and its raw data")[2]


def test_a_stray_neither_changes_what_differs_nor_adds_an_approach_to_compare(folder: Path) -> None:
    before = summarise(folder, interrupted=False)
    merge(folder, approach="jetty-virtual")

    after = summarise(folder, interrupted=False)

    assert [(one.a, one.b, one.kind) for one in after.contrasts] == [
        (one.a, one.b, one.kind) for one in before.contrasts
    ]


def test_an_approach_of_strays_alone_is_none_of_the_experiment(tmp_path: Path) -> None:
    alone = folder_of(tmp_path, PAIR[:1], repeats=3)
    held = {"heap": 28_600, "stacks_off_heap": 14_300, "kernel": 4_600}
    name = merge(alone, approach="jetty-virtual", live_bytes_per_request=held)
    about = alone / "runs" / name / "raw" / "about.json"
    edit(about, lambda told: told["jvm"].update(vendor="A Stranger"))

    summarise(alone, interrupted=False)
    page = parts_of(alone)

    sentences = page.text.partition("The figures")[0]
    assert "differ" not in sentences
    assert "nothing to compare" in page.text
    assert "held by a waiting request, KiB" not in page.text
    assert "A Stranger" not in page.text
    assert "jetty-virtual" not in (alone / "table.csv").read_text()
    assert page.open == []


def test_a_stray_is_no_further_try(folder: Path) -> None:
    first = first_run(folder).name
    stray = shutil.copytree(first_run(folder), folder / "runs" / f"{first}-try-2")
    edit(stray / "run.json", lambda told: told.update(run=stray.name))

    summarise(folder, interrupted=False)
    page = parts_of(folder)

    assert "was measured once more" not in page.text + (folder / "summary.md").read_text()


@pytest.mark.parametrize("host", [{}, {"cpus": 2}, {"cpus": 2, "open_files": "many"}])
def test_an_order_that_does_not_give_the_command_tells_strays_all_the_same(folder: Path, host: dict[str, Any]) -> None:
    edit(folder / "order.json", lambda told: told.update(host=host))
    name = merge(folder)
    summarise(folder, interrupted=False)

    found = read_experiment(folder)

    assert found.command is None
    assert found.doubts[0].startswith(f"{name} is ")
    assert "command" in found.doubts[1]
    assert name not in {run.run for run in found.compared}
    assert parts_of(folder).open == []


@pytest.mark.parametrize("more", [0, 1, 2])
def test_many_runs_that_the_order_does_not_have_are_one_sentence(
    folder: Path,
    more: int,
    snapshot: SnapshotAssertion,
) -> None:
    planned = read_order(folder)
    runs = [run(number) for number in range(90, 90 + MOST_NAMED + more)]

    (told,) = strays_of(runs, planned).doubts

    named = "90-tomcat-platform, 91-tomcat-platform, 92-tomcat-platform, 93-tomcat-platform"
    assert told.startswith(named + (f" and {more} more are" if more else " are"))
    assert told == snapshot


def test_without_an_order_runs_of_one_load_that_asked_for_different_loads_are_told_and_not_compared(
    folder: Path,
) -> None:
    (folder / "order.json").unlink()
    edit(first_run(folder) / "run.json", lambda told: told["load"].update(connections=500))

    summary = summarise(folder, interrupted=False)
    page = parts_of(folder)

    assert figures(summary) == []
    (mixed,) = (note for note in summary.notes if "(500 connections; 1,000 connections)" in note)
    assert page.text.count(mixed) == 2
    assert NONE_COMPARED in page.text
    assert page.open == []


@pytest.mark.parametrize("count", [1, 6], ids=["one", "all"])
def test_a_run_that_asked_for_another_load_than_was_planned_is_told_and_not_compared(folder: Path, count: int) -> None:
    overwritten = sorted((folder / "runs").iterdir())[:count]
    for one in overwritten:
        edit(one / "run.json", lambda told: told["load"].update(connections=500))

    summary = summarise(folder, interrupted=False)
    page = parts_of(folder)

    names = ", ".join(one.name for one in overwritten[:MOST_NAMED])
    they = "is" if count == 1 else "and 2 more are"
    (told,) = (note for note in summary.notes if note.startswith(f"{names} {they} "))
    assert "amount (500 connections; there 1,000 connections)" in told
    assert page.text.count(told) == 2
    assert {len(one.blocks) for contrast in summary.contrasts for one in contrast.comparisons} == (
        {2} if count == 1 else set()
    )
    assert (NONE_COMPARED in page.text) is (count == 6)


def test_each_run_is_held_against_its_own_plan(folder: Path, snapshot: SnapshotAssertion) -> None:
    """A load of another number would stand among the runs of that load; a length is the warm-up's."""
    order = read_order(folder)
    runs = [Run.model_validate(one) for one in json.loads((folder / "summary.json").read_text())["runs"]]
    load = replace(runs[0].load, shape=Closed(5, 7))

    found = strays_of([runs[0].model_copy(update={"load": load}), runs[1].model_copy(update={"cell": 2})], order)

    assert found.names == {runs[1].run}
    assert found.doubts == snapshot


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"jdk": 21}, "JDK (21; there 25)"),
        ({"gc_name": "g1"}, "collector (g1; there parallel)"),
        ({"http_client": "jdk"}, "client (jdk; there default)"),
        ({"style": "idiomatic"}, "style (idiomatic; there lean)"),
        ({"style": None}, None),
    ],
)
def test_a_run_under_another_setting_than_was_planned_is_told(
    folder: Path, changes: dict[str, Any], told: str | None
) -> None:
    order = read_order(folder)
    run = Run.model_validate(json.loads((folder / "summary.json").read_text())["runs"][0])
    planned = next(one for one in order.runs if one.run == run.run)
    planned.request.http_client, planned.request.style = "default", "lean"

    found = strays_of([run.model_copy(update={"http_client": "default", "style": "lean"} | changes)], order)

    assert len(found.doubts) == (0 if told is None else 1)
    assert all(told is not None and told in doubt for doubt in found.doubts)


RATE = Load("http://app:8080", (Target("/capabilities"),), 10_000, OpenRate((RateStep(300, 120),)), 30)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, None),
        ({"load": replace(CLOSED, origin="http://other:8080")}, None),
        ({"load": replace(CLOSED, shape=Closed(5, 7))}, None),
        ({"load": RATE}, "amount (10,000 connections; 300 requests/s)"),
        ({"load": replace(CLOSED, targets=(Target("/movies"),))}, "requests (GET /capabilities; GET /movies)"),
        ({"delay": "100"}, "delay (300; 100)"),
        ({"tool": "hey"}, "tool (ab; hey)"),
        ({"jdk": 21}, "JDK (25; 21)"),
        ({"gc_name": "zgc"}, "collector (g1; zgc)"),
        ({"http_client": "jdk"}, "client (default; jdk)"),
        ({"style": "idiomatic"}, "style (lean; idiomatic)"),
        ({"style": None}, None),
        ({"cell": 2, "load": RATE}, None),
    ],
)
def test_runs_of_a_load_share_all_but_what_the_warm_up_made_of_its_length(
    changes: dict[str, Any], told: str | None
) -> None:
    alike = {"http_client": "default", "style": "lean"}
    found = strays_of([run(1, **alike), run(2, **alike | changes), run(3, cell=3)], None)

    assert found.names == frozenset([] if told is None else ["1-tomcat-platform", "2-tomcat-platform"])
    assert [f" {told}, " in one for one in found.doubts] == [True] * (told is not None)


STEPS = (RateStep(300, 60), RateStep(300, 60))
STAGES = (UserStage(100, 10), UserStage(0, 10))
SAME_STEPS = "300 requests/s for 60 s, 300 requests/s for 60 s"


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (RATE, replace(RATE, shape=OpenRate(STEPS)), f"300 requests/s for 120 s; {SAME_STEPS}"),
        (
            replace(RATE, shape=Users(STAGES)),
            replace(RATE, shape=Users((UserStage(100, 20), UserStage(0, 10)))),
            "100 users within 10 s, 0 users within 10 s, who think 0 to 0 s; "
            "100 users within 20 s, 0 users within 10 s, who think 0 to 0 s",
        ),
    ],
)
def test_runs_of_a_load_share_its_steps(one: Load, other: Load, told: str) -> None:
    found = strays_of([run(1, load=one), run(2, load=other)], None)

    (doubt,) = found.doubts
    assert f"steps ({told})" in doubt


def test_runs_at_one_rate_share_their_connections(snapshot: SnapshotAssertion) -> None:
    fewer = replace(RATE, connections=500)

    found = strays_of([run(1, load=RATE), run(2, load=fewer)], None)

    assert found.doubts == snapshot


def test_a_folder_that_is_whole_has_no_strays(folder: Path) -> None:
    runs = [Run.model_validate(one) for one in json.loads((folder / "summary.json").read_text())["runs"]]

    assert strays_of(runs, read_order(folder)).names == frozenset()
    assert "not compared:" not in parts_of(folder).text
