"""What is said once an experiment is summed up, in the summary and on the page alike."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from loomlab.answer.summary import summarise
from loomlab.cli import main
from loomlab.report import page
from report_folder import edit, first_run, folder_of, page_of


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("results"), ("tomcat-platform", "tomcat-virtual"), repeats=3)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / made.name)


def broken(*_: object) -> Path:
    raise ZeroDivisionError("at a drawing")


@pytest.mark.parametrize("spoil", [None, lambda folder: (folder / "summary.json").unlink()])
def test_a_report_that_fails_does_not_fail_what_sums_up(
    folder: Path,
    spoil: Callable[[Path], None] | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(page, "write_report", broken)
    words = ["summarise", str(folder)]
    if spoil is not None:
        spoil(folder)
        words = ["finish", "--results", str(folder.parent)]

    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 0
    assert (folder / "summary.json").exists()
    (told,) = capsys.readouterr().err.splitlines()
    assert "ZeroDivisionError('at a drawing')" in told
    assert f"make report RESUME={folder.name} " in told


def test_an_interruption_says_what_going_on_makes(folder: Path) -> None:
    edit(folder / "summary.json", lambda told: told.update(finished=None))

    assert f"make finish RESUME={folder.name} " in page_of(folder).text


def test_a_declared_margin_is_that_of_the_summary_and_of_the_page(folder: Path) -> None:
    edit(folder / "order.json", lambda told: told.update(margin=0.5))

    summary = summarise(folder, interrupted=False)
    cpu = summary.contrasts[0].comparisons[0]

    assert (summary.margin, cpu.margin, cpu.word, cpu.within_margin) == (0.5, 0.5, "lower", True)
    assert "lower, less than the margin" in page_of(folder).text
    assert cpu.sentence in page_of(folder).text


def test_what_makes_every_run_suspect_is_in_the_sentences_of_the_summary_and_of_the_page(folder: Path) -> None:
    edit(folder / "order.json", lambda told: told.update(suspect=["A pool was cut."]))

    summary = summarise(folder, interrupted=False)

    assert {run.verdict for run in summary.runs} == {"suspect"}
    for one in summary.contrasts[0].comparisons:
        assert "3 blocks, each with a suspect run" in one.sentence
    assert summary.contrasts[0].comparisons[0].sentence in page_of(folder).text


def test_about_with_a_list_for_a_name_is_told_as_a_difference(folder: Path) -> None:
    edit(first_run(folder) / "raw" / "about.json", lambda told: told["inbound"].update(server=[]))

    summary = summarise(folder, interrupted=False)

    assert [one.kind for one in summary.contrasts] == ["unknown"]
    assert page_of(folder).open == []


def test_how_two_approaches_differ_is_not_known_in_both_places_without_contrasts(folder: Path) -> None:
    edit(folder / "summary.json", lambda told: told.update(contrasts=[]))

    text = page_of(folder).text

    assert "is not known how" in text
    assert "nothing to compare" not in text
