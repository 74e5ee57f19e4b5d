"""Folders that are unfinished, damaged, or without raw files; and names from outside."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loomlab.basics.errors import LoomlabError, ParseError, UsageError
from loomlab.cli import main
from loomlab.report.doubts import doubts_of
from loomlab.report.folder import read_experiment
from loomlab.report.page import write_report
from report_folder import HOSTILE, PAIR, Page, edit, first_run, folder_of, hostile, page_of


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("results"), PAIR, repeats=2)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / made.name)


def change_summary(**changes: Any) -> Callable[[Path], object]:
    return lambda folder: edit(folder / "summary.json", lambda summary: summary.update(changes))


@pytest.mark.parametrize(
    ("spoil", "error", "cure"),
    [
        (lambda folder: (folder / "summary.json").unlink(), UsageError, "run make finish"),
        (lambda folder: shutil.rmtree(folder / "runs"), UsageError, "name a folder below results/"),
        (change_summary(runs=[]), UsageError, "run make finish RESUME="),
        (lambda folder: (folder / "summary.json").write_text('{"schema": '), ParseError, "delete the file and run"),
        (change_summary(schema="v2"), ParseError, "use that version"),
        (change_summary(runs=[{"run": "../x"}]), ParseError, "use that version"),
    ],
)
def test_what_cannot_be_reported_is_refused_with_the_cure(
    folder: Path, spoil: Callable[[Path], object], error: type[LoomlabError], cure: str
) -> None:
    spoil(folder)

    with pytest.raises(error, match=cure):
        write_report(folder)

    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("spoil", "doubt"),
    [
        (lambda folder: shutil.rmtree(first_run(folder)), "1-tomcat-platform has no raw files"),
        (
            lambda folder: (first_run(folder) / "raw" / "tool.json").write_text("{"),
            "1-tomcat-platform: raw/ has changed",
        ),
        (lambda folder: (folder / "order.json").write_text('{"runs": 3}'), "order.json is damaged"),
        (change_summary(missing=["9-x"], finished=None), "1 of 5 runs were not made; make finish RESUME="),
        (change_summary(finished=None), "was interrupted; make finish RESUME="),
    ],
)
def test_what_is_wrong_with_a_folder_stands_among_the_doubts(
    folder: Path, spoil: Callable[[Path], object], doubt: str
) -> None:
    sound = doubts_of(read_experiment(folder)).whole

    spoil(folder)

    (told,) = (one for one in doubts_of(read_experiment(folder)).whole if one not in sound)
    assert doubt in told
    assert told in page_of(folder).text


def test_only_runs_whose_raw_files_are_as_they_were_judged_are_drawn_second_by_second(folder: Path) -> None:
    (first_run(folder) / "raw" / "later").touch()
    page = page_of(folder)

    assert "raw/ has changed" in page.text
    assert page.html.count('href="runs/1-') == 2
    assert len(read_experiment(folder).raw) == 3
    for run in (folder / "runs").iterdir():
        shutil.rmtree(run / "raw")
    page = page_of(folder)
    assert "No run has the raw files from which its seconds are drawn." in page.text
    assert 'href="runs/' not in page.html


def test_requests_that_were_cut_off_leave_the_other_charts(folder: Path) -> None:
    for run in (folder / "runs").iterdir():
        (run / "raw" / "ab-requests.tsv.gz").write_bytes(b"\x1f\x8b")
    edit(folder / "summary.json", lambda summary: [run.update(raw_sha256=None) for run in summary["runs"]])

    assert sum("second by second" in title for title in page_of(folder).all("svg", "aria-label")) == 3


def test_names_from_outside_stay_text(folder: Path) -> None:
    hostile(folder)
    edit(folder / "order.json", lambda order: order.update(colours={HOSTILE: '"><script>alert(2)</script>'}))
    edit(first_run(folder) / "raw" / "about.json", lambda about: about["jvm"].update(vendor=HOSTILE))
    edit(folder / "summary.json", lambda summary: [run.update(raw_sha256=None) for run in summary["runs"]])

    page = page_of(folder)

    assert not page.tags & {"script", "img"}
    assert "<script>alert" not in page.html
    assert page.text.count(HOSTILE) > 5
    assert first_run(folder).name in page.text


def test_a_figure_of_0_is_in_no_ratio(folder: Path) -> None:
    figures = {"cpu_ms_per_request": 0.0, "throughput_rps": 0.0}
    edit(folder / "summary.json", lambda summary: [run.update(figures) for run in summary["runs"]])

    assert "nan" not in page_of(folder).text.split()


def test_every_run_may_be_invalid(folder: Path) -> None:
    edit(folder / "summary.json", lambda summary: [run.update(verdict="invalid") for run in summary["runs"]])

    assert "Every run is invalid, so no figure counts" in page_of(folder).text


def test_the_command_says_where_the_page_is_or_why_there_is_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder)])
    assert (ended.value.code, *capsys.readouterr()) == (0, f"report: {folder}/report.html\n", "")
    assert Page((folder / "report.html").read_text()).open == []

    (folder / "summary.json").unlink()
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder)])
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
