"""Folders of results that somebody else made, or that a crash left: what they cannot do, and what they do not cost."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.summary import finish, summarise, unfinished
from loomlab.basics.errors import ParseError, UsageError
from loomlab.judge.judge import judge_run
from loomlab.records.files import checksum, write_json, write_text
from loomlab.records.order import changing, order_file, read_order
from loomlab.report.page import write_report
from ordered import planned, resume
from rawrun import BEGIN, RawRun
from report_folder import edit
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


SCENARIO: dict[str, Any] = {"title": "", "question": "", "experiment": None, "run": None, "differs": [], "scale": 1}
RUN = ("runs", 0)
LOAD = (*RUN, "request", "load")
WORDS = (
    "../victim", "/results/victim", "..", ".", ".set-aside", "-x", "", "a b", "a/b", "a\nPATH=b", "a\n", "$(x)", "*",
)  # fmt: skip
"""None of which is a name."""
SETTINGS = [
    *((name, "x") for name in ("GC\nPATH", "GC=g1 PATH", "", "gc")),
    *(("GC", value) for value in ("g1\nX=x", "g1 X=x", "$(x)", "`x`", "*", "a[x]", "g1\n", "g1\r")),
    ("JDK", "25/../x"),
]


def refused(folder: Path, *changes: tuple[tuple[str | int, ...], Any]) -> bool:
    """Whether the order is, with these values at these places."""
    order = json.loads(order_file(folder).read_text())
    for (*way, last), value in changes:
        within: Any = order
        for step in way:
            within = within[step]
        within[last] = value
    before = order_file(folder).read_bytes()
    assert read_order(folder)
    order_file(folder).write_text(json.dumps(order))
    try:
        read_order(folder)
    except ParseError:
        return True
    finally:
        order_file(folder).write_bytes(before)
    return False


@pytest.mark.parametrize("word", WORDS)
def test_a_name_is_one_word_and_stays_in_its_folder(tmp_path: Path, word: str) -> None:
    folder = made(tmp_path)

    assert refused(folder, (("experiment",), word))
    assert refused(folder, (("scenario",), SCENARIO | {"name": word}))
    assert refused(folder, ((*RUN, "run"), word))
    assert refused(folder, ((*RUN, "request", "tool"), word))
    assert refused(folder, ((*RUN, "request", "approach"), word), ((*LOAD, "origin"), f"http://{word}:8080"))


def test_an_order_sets_a_plans_variables_in_words(tmp_path: Path) -> None:
    folder = made(tmp_path)
    places: list[tuple[str | int, ...]] = [("settings",), (*RUN, "settings")]

    passed = [(place, one) for place in places for one in SETTINGS if not refused(folder, ((*place, one[0]), one[1]))]

    assert passed == []
    assert refused(folder, (("note",), "take care\nBASH_ENV=x"))
    assert not refused(folder, (("settings", "GC"), "g1"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("origin", "http://elsewhere:8080"), ("origin", "-g/results/victim/summary.json"),
        ("targets", [{"target": "@elsewhere/"}]), ("targets", [{"target": "/a\nGET http://elsewhere/"}]),
        ("targets", [{"target": "/", "headers": ["A: b\n@/etc/passwd"]}]), ("targets", []),
    ],
)  # fmt: skip
def test_a_load_is_the_approachs_own_and_no_option_of_the_tool(tmp_path: Path, name: str, value: Any) -> None:
    """Of an order of another version, too, of which unknown fields are left out."""
    folder = made(tmp_path)

    assert refused(folder, ((*LOAD, name), value))
    assert refused(folder, ((*LOAD, name), value), ((*RUN, "newer"), 1))


@pytest.mark.parametrize(
    ("link", "to"),
    [
        (".order.lock", "summary.json"), ("order.json.partial", "summary.json"), ("summary.json.partial", "order.json"),
        (".engine", "summary.json"), ("plots", "runs"), ("runs/2-tomcat-virtual", "runs/1-tomcat-virtual"),
        ("runs/.set-aside", "runs"), ("runs/1-tomcat-virtual/raw/loomlab.log", "summary.json"),
        ("runs/1-tomcat-virtual/run.json.partial", "runs/1-tomcat-virtual/run.json"), (".engine", None),
    ],
)  # fmt: skip
def test_where_a_folder_has_a_link_or_a_pipe_nothing_is_written_and_the_others_are_summed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], link: str, to: str | None
) -> None:
    victim = made(tmp_path)
    finish(victim)
    stranger, other = made(tmp_path, "20260102T000000Z"), made(tmp_path, "20260103T000000Z")
    (stranger / link).symlink_to(victim / to) if to else os.mkfifo(stranger / link)
    before, given = checksum(victim), checksum(stranger)

    assert exit_code("finish", "--results", str(tmp_path / "results")) == 4
    (said,) = (line for line in capsys.readouterr().err.splitlines() if stranger.name in line)
    with pytest.raises(UsageError, match=stranger.name):
        resume(stranger)

    assert repr(link) in said
    assert (other / "summary.json").exists()
    assert (checksum(victim), checksum(stranger)) == (before, given)


def test_a_link_in_a_folder_that_was_never_begun_moves_no_run_of_another(tmp_path: Path) -> None:
    victim, stranger = made(tmp_path), made(tmp_path, "20260102T000000Z")
    finish(victim)
    with changing(stranger) as order:
        for run in order.runs:
            run.state = "planned"
    shutil.rmtree(stranger / "runs")
    (stranger / "runs").symlink_to(victim / "runs")
    before = checksum(victim)

    with pytest.raises(UsageError, match="neither a file nor a folder"):
        resume(stranger)

    assert checksum(victim) == before


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_link_in_place_of_what_is_written_is_replaced_and_not_followed(
    tmp_path: Path, link: Callable[[Path, Path], None]
) -> None:
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


@pytest.mark.parametrize("name", ["my experiment", "x BASH_ENV=results", "x\nBASH_ENV=results"])
def test_an_experiment_whose_name_is_no_word_does_not_go_on(tmp_path: Path, name: str) -> None:
    folder = made(tmp_path)
    folder.rename(folder.parent / name)

    with pytest.raises(UsageError, match="rename the folder"):
        resume(folder.parent / name)


@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda log: log[: len(log) // 2], lambda log: log[: len(log) // 2] + b"\xff" * 99]
)
def test_damaged_log_makes_run_invalid_and_experiment_goes_on(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    folder = made(tmp_path, runs=2)
    log = folder / "runs" / "1-tomcat-virtual" / "raw" / "ab-requests.tsv.gz"
    log.write_bytes(damage(log.read_bytes()))

    cut, whole = finish(folder).runs

    assert cut.verdict == "invalid"
    assert any("cannot be read" in reason for reason in cut.reasons)
    assert whole.throughput_rps is not None
    assert [run.state for run in read_order(folder).runs] == ["judged", "judged"]


def test_whatever_one_run_fails_at_the_others_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path, runs=2)
    second = {"2-tomcat-virtual": judge_run}
    monkeypatch.setattr("loomlab.answer.summary.judge_run", lambda run_dir: second[run_dir.name](run_dir))

    with pytest.warns(UserWarning, match="1-tomcat-virtual cannot be judged: .*KeyError"):
        summary = finish(folder)

    assert [run.run for run in summary.runs] == ["2-tomcat-virtual"]
    assert summary.missing == ["1-tomcat-virtual"]
    assert [run.state for run in read_order(folder).runs] == ["failed", "judged"]


def test_a_run_that_cannot_be_judged_now_is_not_taken_for_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path)

    def full(run_dir: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(run_dir / "run.json"))

    with monkeypatch.context() as patched:
        patched.setattr("loomlab.answer.summary.judge_run", full)
        assert exit_code("finish", "--results", str(folder.parent)) == 4
        with pytest.raises(OSError, match=r"run\.json"):
            resume(folder)
    assert "1-tomcat-virtual/run.json" in capsys.readouterr().err
    assert [run.state for run in read_order(folder).runs] == ["finished"]

    assert exit_code("finish", "--results", str(folder.parent)) == 0
    assert [run.state for run in read_order(folder).runs] == ["judged"]


def test_whatever_one_experiment_fails_at_others_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken, deep, whole = (made(tmp_path, f"2026010{day}T000000Z") for day in (1, 2, 3))
    (broken / "engine.json").write_text('{"notes": -1}')
    order_file(deep).write_text("[" * 100_000)

    assert exit_code("finish", "--results", str(tmp_path / "results")) == 4

    said = capsys.readouterr().err
    assert broken.name in said
    assert deep.name in said
    assert (whole / "summary.json").exists()


def raw_of(folder: Path, run: int = 1) -> Path:
    return folder / "runs" / f"{run}-tomcat-virtual" / "raw"


def test_a_run_whose_verdict_is_damaged_is_judged_again_and_one_that_cannot_be_is_left_out(tmp_path: Path) -> None:
    folder = made(tmp_path, runs=2)
    kept = finish(folder).runs[0]
    for verdict in folder.glob("runs/*/run.json"):
        verdict.write_text("")
    (raw_of(folder, 2) / "host.json").write_text("")

    with pytest.warns(UserWarning, match=r"2-tomcat-virtual cannot be judged: .*host\.json"):
        summary = summarise(folder, interrupted=False)

    assert [(run.run, run.latency_ms) for run in summary.runs] == [(kept.run, kept.latency_ms)]
    assert summary.missing == ["2-tomcat-virtual"]
    assert any(note.startswith("Run 2-tomcat-virtual was not judged") for note in summary.notes)


def test_a_damaged_verdict_in_a_sweep_keeps_no_experiment_from_going_on(tmp_path: Path) -> None:
    folder = made(tmp_path)
    finish(folder)
    with changing(folder) as order:
        order.sweep = True
    (raw_of(folder).parent / "run.json").write_text("{")

    with pytest.raises(UsageError, match="finds no experiment"):
        unfinished(folder.parent, "latest")


def test_raw_files_that_were_damaged_after_the_verdict_cost_no_summary_and_no_report(tmp_path: Path) -> None:
    folder = made(tmp_path)
    finish(folder)
    for name in ("about", "probe", "metrics", "tool"):
        (raw_of(folder) / f"{name}.json").write_text("{")

    assert len(summarise(folder, interrupted=False).runs) == 1
    assert write_report(folder).exists()


YEAR_S = 366 * 86_400


@pytest.mark.parametrize("ended", [BEGIN + YEAR_S, BEGIN - YEAR_S, 0, 1e11])
def test_a_run_whose_times_are_years_apart_is_invalid_and_costs_no_more_than_another(
    tmp_path: Path, ended: float
) -> None:
    folder, rows = made(tmp_path), RawRun(rows=[(int(BEGIN), 900), (int(ended), 900)])
    by_tool = made(tmp_path, "20260102T000000Z")
    edit(raw_of(by_tool) / "tool.json", lambda tool: tool.update(ended=ended))
    rows.write(folder / "runs" / "1-tomcat-virtual")

    for one in (folder, by_tool):
        (run,) = finish(one).runs
        assert run.verdict == "invalid"
        assert any("a week apart" in reason for reason in run.reasons)


def test_no_name_and_no_text_moves_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    title = "\x1b]0;mine\x07\u202e\u2028\nloom-lab: all is well\n"
    folder = made(tmp_path)
    (raw_of(folder) / "ab.txt").write_text(f"ab: {title}\n")
    folder = folder.rename(folder.with_name(f"{folder.name}{title}"))

    assert exit_code("finish", "--results", str(folder.parent)) == 0
    assert exit_code("judge", str(raw_of(folder).parent)) == 1
    assert exit_code("report", str(folder)) == 0

    out, err = capsys.readouterr()
    said = out + err + (folder / "summary.md").read_text()
    assert "mine" in said
    assert not {"\x1b", "\x07", "\u202e", "\u2028"} & {*said}
    assert "loom-lab: all is well" not in said.splitlines()


def test_what_another_host_measures_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs, killed = made(tmp_path), made(tmp_path, "20260102T000000Z")
    before = checksum(theirs)
    leave = ("--results", str(theirs.parent), "--leave", theirs.name, "--leave", "another")

    assert exit_code("finish", *leave) == 0
    assert exit_code("resume", theirs.name, *leave) == 2

    assert capsys.readouterr().err.count(f"rm results/{theirs.name}/.owner") == 2
    assert checksum(theirs) == before
    assert (killed / "summary.json").exists()
