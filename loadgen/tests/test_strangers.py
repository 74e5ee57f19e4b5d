"""Folders of results that somebody else made: what they cannot do, and what they do not cost."""

import json
import os
import shutil
import signal
import tracemalloc
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import Mock

import pytest

from loomlab.answer.summary import finish, killed, summarise, unfinished
from loomlab.basics.errors import ParseError, UsageError
from loomlab.cli.planning import print_table
from loomlab.cli.results import resume_experiment
from loomlab.judge.judge import judge_run
from loomlab.records.files import checksum, read_json, write_json, write_text
from loomlab.records.models import Summary
from loomlab.records.order import Order, changing, order_file, read_order
from ordered import planned, resume
from rawrun import BEGIN, RawRun
from report_folder import edit, experiment_of, run_of
from saying import exit_code


def made(tmp_path: Path, stamp: str = "20260101T000000Z", runs: int = 1) -> Path:
    """An experiment that was killed after its last run, whose files are whole."""
    order = planned(tmp_path, approaches=["tomcat-virtual"], connections=20, repeats=runs)
    folder = tmp_path / "results" / f"{stamp}-ab-c20"
    for run in order.runs:
        raw = RawRun()
        raw.request["approach"] = "tomcat-virtual"
        raw.write(folder / "runs" / run.run)
        run.state = "finished"
    write_json(order_file(folder), order)
    return folder


def raw_of(folder: Path, run: int = 1) -> Path:
    return folder / "runs" / f"{run}-tomcat-virtual" / "raw"


@pytest.mark.parametrize(
    ("link", "to"),
    [
        (".order.lock", "summary.json"), ("order.json.partial", "summary.json"), ("summary.json.partial", "order.json"),
        (".engine", "summary.json"), ("plots", "runs"), ("runs/2-tomcat-virtual", "runs/1-tomcat-virtual"),
        ("runs/.set-aside", "runs"), ("runs/1-tomcat-virtual/raw/loomlab.log", "summary.json"),
        ("runs/1-tomcat-virtual/run.json.partial", "runs/1-tomcat-virtual/run.json"), (".engine", None),
        ("SHA256SUMS", "SHA256SUMS"), ("environment.json", "environment.json"), ("junit.xml", "summary.json"),
        (".owner", "nowhere"), ("runs/1-tomcat-virtual/run.json", "runs/1-tomcat-virtual/run.json"),
        ("runs/1-tomcat-virtual/trials", "runs"), ("runs/1-tomcat-virtual/raw/generator-2", "runs"),
    ],
)  # fmt: skip
def test_where_a_folder_has_a_link_or_a_pipe_nothing_is_written_and_the_others_are_summed_up(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], link: str, to: str | None
) -> None:
    victim = made(tmp_path)
    finish(victim)
    stranger, other = made(tmp_path, "20260102T000000Z"), made(tmp_path, "20260103T000000Z")
    (stranger / link).symlink_to(victim / to) if to else os.mkfifo(stranger / link)
    before, given = checksum(victim), checksum(stranger)

    assert exit_code("finish", "--results", str(tmp_path / "results")) == 4
    (said,) = (line for line in capfd.readouterr().err.splitlines() if stranger.name in line)
    with pytest.raises(UsageError, match=stranger.name):
        resume(stranger)

    assert repr(link) in said
    assert (other / "summary.json").exists()
    assert (checksum(victim), checksum(stranger)) == (before, given)


@pytest.mark.parametrize(
    "make",
    [
        Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere"),
        lambda path: path.write_text('{"runs": [' + "0," * 10**6 + "0]}"),
        lambda path: path.write_text('{"settings": {"' + "x" * 10**6 + '": "1"}}'),
    ],
)  # fmt: skip
def test_an_order_that_is_none_is_named_and_the_others_go_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], make: Callable[[Path], object]
) -> None:
    whole, broken = made(tmp_path), tmp_path / "results" / "20260102T000000Z-gift"
    broken.mkdir()
    make(broken / "order.json")

    assert exit_code("finish", "--results", str(whole.parent)) == 0
    said = capfd.readouterr().err
    assert broken.name in said
    assert len(said) < 20_000
    assert (whole / "summary.json").exists()
    with changing(whole) as order:
        order.runs[0].state = "failed"
    with pytest.warns(UserWarning, match=broken.name):
        assert unfinished(whole.parent, "latest") == whole


def test_a_link_that_appears_later_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim, stranger = made(tmp_path), made(tmp_path, "20260102T000000Z")
    finish(victim)
    before = checksum(victim)
    for way in ("runs/1-tomcat-virtual", "runs"):

        def swap(_: Path, way: str = way) -> None:
            (stranger / way).rename(stranger / "aside")
            (stranger / way).symlink_to(victim / way)

        with monkeypatch.context() as patched:
            patched.setattr("loomlab.judge.judge.settle", swap)
            with pytest.raises(OSError, match="1-tomcat-virtual"):
                judge_run(stranger / "runs/1-tomcat-virtual")
        (stranger / way).unlink()
        (stranger / "aside").rename(stranger / way)

    assert checksum(victim) == before


def test_a_file_of_terabytes_is_not_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sparse, other = made(tmp_path), made(tmp_path, "20260102T000000Z")
    with (raw_of(sparse) / "core").open("wb") as core:
        core.truncate(2**41)

    assert exit_code("finish", "--results", str(sparse.parent)) == 0
    assert "raw/core has 2,199,023,255,552 bytes" in capfd.readouterr().err
    assert (other / "summary.json").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["judge", "{}/runs/1-tomcat-virtual"],
        ["report", "{}"],
        ["report", "{other}", "--beside", "{}"],
        ["summarise", "{}"],
        ["summarise", "{}", "--interrupted"],
        ["flip", "normal={}", "capacity={other}"],
    ],
)
def test_nothing_is_read_through_a_pipe_or_a_link(tmp_path: Path, words: list[str]) -> None:
    folder, other = made(tmp_path), made(tmp_path, "20260102T000000Z")
    for each in (folder, other):
        finish(each)
    os.mkfifo(raw_of(folder) / "x")

    assert exit_code(*(word.format(folder, other=other) for word in words)) == 2


@pytest.mark.parametrize(
    "content",
    [
        b'"' + b" " * 2**20 + b'"', b'{"notes": [' + b"0," * 50_000 + b"0]}", b'{"x": [' + b"[[[]]]," * 20_000 + b"0]}",
        b'{"x": [' + b'{"":{"":{}}},' * 20_000 + b"0]}",
    ],
)  # fmt: skip
def test_what_is_more_than_any_record_has_is_not_parsed(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "engine.json").write_bytes(content)
    with pytest.raises(ParseError, match="more than any record"):
        read_json(tmp_path / "engine.json")


def test_what_finishes_one_folder_may_be_killed_for_its_memory_and_the_others_are_summed_up(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gift, other = made(tmp_path), made(tmp_path, "20260102T000000Z")

    def finishing(folder: Path) -> Summary:
        if folder == gift:
            os.kill(os.getpid(), signal.SIGKILL)
        return finish(folder)

    monkeypatch.setattr("loomlab.cli.results.finish", finishing)

    assert exit_code("finish", "--results", str(gift.parent)) == 4
    assert f"{gift.name} cannot be summed up within the memory" in capfd.readouterr().err
    assert (other / "summary.json").exists()


def test_orders_are_not_held_together(tmp_path: Path) -> None:
    peaks = []
    for number in range(1, 7):
        edit(
            order_file(made(tmp_path, f"2026010{number}T000000Z")),
            lambda order: order.update(host={"x": [[0]] * 10**5}),
        )
        tracemalloc.start()
        assert len(killed(tmp_path / "results")) == number
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert max(peaks) < 1.3 * peaks[0]


def test_what_makes_every_run_suspect_is_not_said_at_any_length_in_each(tmp_path: Path) -> None:
    folder = made(tmp_path, runs=5)
    edit(order_file(folder), lambda order: order.update(suspect=["x" * 10**5] * 10))
    (folder / "engine.json").write_text(json.dumps({"suspect": ["z" * 10**5] * 9}))

    assert len(finish(folder).runs) == 5
    assert (folder / "summary.json").stat().st_size < 3 * 10**6


@pytest.mark.parametrize("count", [100, 101])
def test_an_experiment_has_a_hundred_approaches_at_most(count: int) -> None:
    runs = [run_of(f"x{number}", run=f"{number}-x") for number in range(count)]
    with pytest.raises(ParseError, match="101 approaches") if count > 100 else nullcontext():
        experiment_of(runs, None)


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_link_in_place_of_what_is_written_is_replaced(tmp_path: Path, link: Callable[[Path, Path], None]) -> None:
    victim = tmp_path / "victim"
    victim.write_text("its own")
    for name in ("a.json", "a.json.partial"):
        link(tmp_path / name, victim)

    write_text(tmp_path / "a.json", "new")

    assert victim.read_text() == "its own"
    assert (tmp_path / "a.json").read_text() == "new"


def test_a_lock_neither_follows_a_link_nor_empties_a_file(tmp_path: Path) -> None:
    folder, victim = made(tmp_path), tmp_path / "victim"
    victim.write_text("its own")
    (folder / ".order.lock").symlink_to(victim)
    with pytest.raises(OSError, match=r"\.order\.lock"), changing(folder):
        pass
    (folder / ".order.lock").unlink()
    (folder / ".order.lock").hardlink_to(victim)
    with changing(folder):
        pass

    assert victim.read_text() == "its own"


YEAR_S = 366 * 86_400


@pytest.mark.parametrize("ended", [BEGIN + YEAR_S, BEGIN - YEAR_S, 0, 1e11])
def test_a_run_whose_times_are_years_apart_is_invalid(tmp_path: Path, ended: float) -> None:
    folder, rows = made(tmp_path), RawRun(rows=[(int(BEGIN), 900), (int(ended), 900)])
    by_tool = made(tmp_path, "20260102T000000Z")
    edit(raw_of(by_tool) / "tool.json", lambda tool: tool.update(ended=ended))
    rows.write(folder / "runs" / "1-tomcat-virtual")

    for one in (folder, by_tool):
        (run,) = finish(one).runs
        assert run.verdict == "invalid"
        assert any("a week apart" in reason for reason in run.reasons)


def test_no_name_and_no_text_moves_a_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    title = "\x1b]0;mine\x07\u202e\u2028\nloom-lab: all is well\n"
    folder = made(tmp_path)
    (raw_of(folder) / "ab.txt").write_text(f"ab: {title}\n")
    folder = folder.rename(folder.with_name(f"{folder.name}{title}"))

    assert exit_code("finish", "--results", str(folder.parent)) == 0
    assert exit_code("judge", str(raw_of(folder).parent)) == 1
    assert exit_code("report", str(folder)) == 0
    print_table(("claim",), [(title,)])

    out, err = capfd.readouterr()
    said = out + err + (folder / "summary.md").read_text()
    assert "mine" in said
    assert not {"\x1b", "\x07", "\u202e", "\u2028"} & {*said}
    assert "loom-lab: all is well" not in said.splitlines()


def test_nothing_is_said_at_any_length(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path)
    (raw_of(folder) / "ab.txt").write_text(f"ab: {'x' * 10**6}\n")
    (folder / "engine.json").write_text(json.dumps({"notes": ["y" * 10**6]}))

    assert exit_code("finish", "--results", str(folder.parent)) == 0

    assert "xxx" in (said := "".join(capfd.readouterr()))
    assert len(said) < 10**5


@pytest.mark.parametrize("owner", [b"another 1 0\n", b"", b"\xff\0\n", b"another " * 10**5, None])
def test_what_another_host_measures_is_left_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], owner: bytes | None
) -> None:
    left, theirs = made(tmp_path), made(tmp_path, "20260102T000000Z")
    if owner is None:
        (theirs / ".owner").mkdir()
    else:
        (theirs / ".owner").write_bytes(owner)
    before = checksum(theirs)

    assert exit_code("finish", "--results", str(theirs.parent)) == 0
    for name in (theirs.name, "latest"):
        assert exit_code("resume", name, "--results", str(theirs.parent)) == 2

    assert capfd.readouterr().err.count(f"rm results/{theirs.name}/.owner") == 3
    assert checksum(theirs) == before
    assert (left / "summary.json").exists()


def test_who_resumes_an_experiment_has_it_before_anything_of_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, seen = made(tmp_path), list[str]()

    def resumed(folder: Path, *_: object) -> Order:
        seen.append((folder / ".owner").read_text())
        if len(seen) > 1:
            raise UsageError("It cannot be planned.")
        return read_order(folder)

    for name, stand_in in (("resume", resumed), ("this_host", Path), ("Lab", Path)):
        monkeypatch.setattr(f"loomlab.cli.results.{name}", stand_in)

    resume_experiment(folder.name, folder.parent, "me 1 0")
    with pytest.raises(UsageError, match=r"rm results/.*/\.owner"):
        resume_experiment(folder.name, folder.parent, "another 1 0")
    assert seen == ["me 1 0\n"]
    (folder / ".owner").unlink()
    with pytest.raises(UsageError, match="cannot be planned"):
        resume_experiment(folder.name, folder.parent, "me 1 0")
    assert not (folder / ".owner").exists()
    monkeypatch.setattr(Path, "write_text", Mock(side_effect=OSError("The disk is full.")))
    with pytest.raises(OSError, match="full"):
        resume_experiment(folder.name, folder.parent, "me 1 0")
    assert not (folder / ".owner").exists()


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("judge", "cli.results.judge_run"),
        ("summarise", "cli.results.summarise"),
        ("report", "report.page.write_report"),
    ],
)
def test_where_the_lab_fails_at_a_folder_it_says_so_and_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, place: str
) -> None:
    folder = made(tmp_path)
    monkeypatch.setattr(f"loomlab.{place}", lambda *_, **__: 1 / 0)

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


def test_what_another_version_told_of_runs_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path, runs=2)
    finish(folder)
    for verdict in folder.glob("runs/*/run.json"):
        edit(verdict, lambda run: run.update(of_another_version=1))

    assert exit_code("summarise", str(folder)) == 1
    assert capsys.readouterr().err.count("of_another_version") == 1


def test_a_verdict_of_another_run_is_none(tmp_path: Path) -> None:
    folder = made(tmp_path, runs=2)
    before = finish(folder).runs
    shutil.copy(raw_of(folder, 2).parent / "run.json", raw_of(folder).parent)

    with pytest.warns(UserWarning, match="1-tomcat-virtual is judged again"):
        assert summarise(folder, interrupted=False).runs == before
