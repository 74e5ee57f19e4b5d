"""Figures and files of a stranger's folder that no run has: they end no command with a trace, and cost nothing else."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.summary import finish, summarise
from report_folder import edit
from saying import exit_code
from test_strangers import made, raw_of

FAR = (-1.7e308, 1.7e308)
EXTREME: list[tuple[str, Callable[[Any], object]]] = [
    ("host.json", lambda host: [host["samples"][place].update(monotonic=value) for place, value in enumerate(FAR)]),
    ("about.json", lambda about: about.update(limit=10**400)),
    ("tool.json", lambda tool: tool.update(exit_code=10**400)),
    ("request.json", lambda request: request["load"].update(shape={"kind": "closed", "requests": 1, "duration_s": 1})),
]  # fmt: skip


@pytest.mark.parametrize(("file", "change"), EXTREME, ids=[file for file, _ in EXTREME])
def test_figures_that_no_run_has_end_no_command_with_a_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, change: Callable[[Any], object]
) -> None:
    folder = made(tmp_path)
    edit(raw_of(folder) / file, change)

    assert exit_code("judge", str(raw_of(folder).parent)) in {1, 4}
    assert exit_code("finish", "--results", str(folder.parent)) == 0
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("figures", [{"errors": 10**400}, {"cpus_used": 1.7e308}, {"throughput_rps": -1.7e308}])
def test_a_verdict_with_figures_that_no_run_has_is_given_anew(tmp_path: Path, figures: dict[str, Any]) -> None:
    folder = made(tmp_path)
    before = finish(folder).runs
    edit(raw_of(folder).parent / "run.json", lambda run: run.update(figures))

    with pytest.warns(UserWarning, match="judged again"):
        assert summarise(folder, interrupted=False).runs == before


@pytest.mark.parametrize("command", ["judge", "summarise", "report"])
def test_where_the_lab_fails_at_a_folder_it_says_so_and_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    folder = made(tmp_path)
    place = {
        "judge": "cli.results.judge_run",
        "summarise": "cli.results.summarise",
        "report": "report.page.write_report",
    }
    monkeypatch.setattr(f"loomlab.{place[command]}", lambda *_, **__: 1 / 0)

    assert exit_code(command, str(folder)) == 4

    (said,) = capsys.readouterr().err.splitlines()
    assert [word for word in (folder.name, "ZeroDivisionError", " in results.py, line ") if word not in said] == []


def test_a_run_that_the_order_does_not_name_is_left_out_and_named(tmp_path: Path) -> None:
    folder = made(tmp_path)
    finish(folder)
    for number in range(2, 10):
        shutil.copytree(raw_of(folder).parent, folder / "runs" / f"{number}-gift")

    summary = summarise(folder, interrupted=False)

    assert [run.run for run in summary.runs] == ["1-tomcat-virtual"]
    (note,) = (note for note in summary.notes if "gift" in note)
    assert "2-gift" in note
    assert "3 more" in note


def test_a_verdict_of_another_run_is_none(tmp_path: Path) -> None:
    folder = made(tmp_path, runs=2)
    before = finish(folder).runs
    shutil.copy(raw_of(folder, 2).parent / "run.json", raw_of(folder).parent)

    with pytest.warns(UserWarning, match="1-tomcat-virtual is judged again"):
        assert summarise(folder, interrupted=False).runs == before


@pytest.mark.parametrize("file", ["ab-requests.tsv.gz", "ab.txt", "tool.json"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str) -> None:
    folder = made(tmp_path)
    (raw_of(folder) / file).unlink()
    os.mkfifo(raw_of(folder) / file)

    assert exit_code("judge", str(raw_of(folder).parent)) == 2
    assert file in capsys.readouterr().err
