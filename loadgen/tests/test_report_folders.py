"""Folders that are unfinished, truncated, edited, of another version or without raw files; and names from outside."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from loomlab.basics.errors import LoomlabError, ParseError, UsageError
from loomlab.cli import main
from loomlab.report.doubts import doubts_of
from loomlab.report.folder import read_experiment
from loomlab.report.page import write_report
from report_folder import HOSTILE, folder_of, hostile
from test_report import Parts, parts_of


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("results"), ("tomcat-platform", "tomcat-virtual"), repeats=2)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / made.name)


def edit(path: Path, change: Callable[[Any], object]) -> None:
    told = json.loads(path.read_text())
    change(told)
    path.write_text(json.dumps(told))


def first_run(folder: Path) -> Path:
    return next(iter(sorted((folder / "runs").iterdir())))


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (lambda folder: (folder / "summary.json").unlink(), UsageError, ("has no summary.json", "make finish")),
        (lambda folder: shutil.rmtree(folder / "runs"), UsageError, ("it has no runs/", "below results/")),
        (
            lambda folder: (folder / "summary.json").write_text((folder / "summary.json").read_text()[:3000]),
            ParseError,
            ("make finish",),
        ),
        (
            lambda folder: edit(folder / "summary.json", lambda told: told.update(schema="loom-lab/summary/v2")),
            ParseError,
            ('"loom-lab/summary/v2"',),
        ),
        (
            lambda folder: edit(folder / "summary.json", lambda told: told["runs"][0].update(latency_ms="fast")),
            ParseError,
            ("latency_ms",),
        ),
        (
            lambda folder: edit(folder / "summary.json", lambda told: told.update(runs=[])),
            UsageError,
            ("has no run", "make finish RESUME="),
        ),
        (
            lambda folder: (folder / "summary.json").write_text("[]"),
            ParseError,
            ("schema null",),
        ),
    ],
    ids=["unfinished", "no experiment", "truncated", "newer", "edited", "no run", "no object"],
)
def test_what_cannot_be_reported_is_refused_in_one_sentence_with_the_cure(
    folder: Path,
    spoil: Callable[[Path], object],
    error: type[LoomlabError],
    words: tuple[str, ...],
    snapshot: SnapshotAssertion,
) -> None:
    spoil(folder)

    with pytest.raises(error) as refused:
        write_report(folder)

    told = str(refused.value)
    assert "\n" not in told
    assert told.replace(str(folder), "FOLDER") == snapshot
    assert [word for word in words if word not in told] == []
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: shutil.rmtree(first_run(folder) / "raw"),
        lambda folder: shutil.rmtree(first_run(folder)),
        lambda folder: (first_run(folder) / "raw" / "warmup.json").write_text("{}"),
        lambda folder: (first_run(folder) / "raw" / "metrics.json").write_text('{"containers": ['),
        lambda folder: (folder / "order.json").write_text('{"runs": 3}'),
        lambda folder: edit(folder / "summary.json", lambda told: told.update(missing=["9-x"], finished=None)),
        lambda folder: edit(folder / "summary.json", lambda told: told.update(finished=None)),
    ],
    ids=["no raw", "no run", "older", "cut off", "no order", "missing", "interrupted"],
)
def test_what_is_wrong_with_a_folder_stands_among_the_doubts(
    folder: Path, spoil: Callable[[Path], object], snapshot: SnapshotAssertion
) -> None:
    sound = doubts_of(read_experiment(folder)).whole

    spoil(folder)

    doubts = [doubt for doubt in doubts_of(read_experiment(folder)).whole if doubt not in sound]
    page = parts_of(folder)
    assert doubts
    assert doubts == snapshot
    assert [doubt for doubt in doubts if doubt not in page.text] == []
    assert page.open == []


def test_a_folder_that_nothing_is_wrong_with_has_no_such_doubt(folder: Path) -> None:
    text = parts_of(folder).text

    assert "damaged" not in text
    assert "has changed since" not in text


def test_a_log_of_latencies_that_was_cut_off_leaves_the_other_plots(folder: Path) -> None:
    log = first_run(folder) / "raw" / "latency.hlog"
    log.write_text(log.read_text()[:-20])

    page = parts_of(folder)

    assert page.open == []
    assert "second by second" in page.text.lower()


def test_names_from_outside_stay_text(folder: Path) -> None:
    old = first_run(folder).name

    hostile(folder)
    edit(folder / "order.json", lambda told: told.update(colours={HOSTILE: '"><script>alert(2)</script>'}))
    edit(first_run(folder) / "raw" / "about.json", lambda told: told["jvm"].update(vendor=HOSTILE))
    page = parts_of(folder)

    text = (folder / "report.html").read_text()
    assert page.counts["script"] == 2
    assert "img" not in page.counts
    assert "<script>alert" not in text
    assert page.text.count(HOSTILE) > 5
    assert old in page.text


@pytest.mark.parametrize("name", ["../../../etc", "a/b", "..", "1 x?y#z"])
def test_a_run_is_not_looked_for_outside_of_its_experiment(folder: Path, name: str) -> None:
    edit(folder / "summary.json", lambda told: told["runs"][0].update(run=name))

    page = parts_of(folder)

    assert f"runs/{name} is missing" in page.text
    assert not [link for link in page.links if ".." in link or name in link]


@pytest.mark.parametrize("value", [-1.0, 0.0])
def test_a_figure_that_is_none_is_not_drawn(folder: Path, value: float) -> None:
    for run in (folder / "runs").iterdir():
        edit(run / "run.json", lambda told: told.update(cpu_ms_per_request=value, throughput_rps=value))
    edit(folder / "summary.json", lambda told: [one.update(cpu_ms_per_request=value) for one in told["runs"]])

    page = parts_of(folder)

    assert page.open == []
    assert "nan" not in page.text.lower().replace("tenan", "").split()


def test_every_run_may_be_invalid(folder: Path) -> None:
    edit(folder / "summary.json", lambda told: [one.update(verdict="invalid") for one in told["runs"]])

    assert "Every run is invalid, so no figure counts" in parts_of(folder).text


def test_the_command_says_where_the_page_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder)])

    assert ended.value.code == 0
    assert capsys.readouterr().out == f"report: {folder}/report.html\n"
    assert Parts((folder / "report.html").read_text()).open == []


@pytest.mark.parametrize(("spoil", "code"), [("summary.json", 2), ("runs", 2)])
def test_a_refusal_has_its_exit_code(folder: Path, spoil: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / spoil).rename(folder / "gone")

    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder)])

    assert ended.value.code == code
    assert capsys.readouterr().err.count("\n") == 1
