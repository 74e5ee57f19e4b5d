"""Folders of results that somebody else made, or that a crash left: what they cannot do, and what they do not cost."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loomlab import cli
from loomlab.answer.finish import finish, resume
from loomlab.answer.summary import summarise
from loomlab.basics.errors import ParseError, UsageError
from loomlab.cli import main
from loomlab.judge.judge import judge_run
from loomlab.records.files import checksum, write_json, write_text
from loomlab.records.models import Run
from loomlab.records.order import Order, changing, order_file, read_order
from loomlab.show.server import newest_runs
from ordered import TWO_CPUS, lab_in, planned
from rawrun import RawRun


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


def told(folder: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(order_file(folder).read_text())
    return value


def ends(*words: str) -> int | str | None:
    with pytest.raises(SystemExit) as exit_:
        main([*words])
    return exit_.value.code


def resumed(folder: Path) -> Order:
    return resume(folder, TWO_CPUS, lab_in(folder.parent.parent / "lab").checksum)


def test_a_folder_of_the_labs_own_is_accepted(tmp_path: Path) -> None:
    assert read_order(made(tmp_path)).runs[0].settings


WORDS = (
    "../victim",
    "/results/victim",
    "..",
    ".",
    ".set-aside",
    "-x",
    "",
    "a b",
    "a/b",
    "a\nPATH=b",
    "a\n",
    "$(x)",
    "*",
)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    "place",
    [
        lambda order, word: order.update(experiment=word),
        lambda order, word: order["runs"][0].update(run=word),
        lambda order, word: order["runs"][0]["request"].update(
            approach=word, load=order["runs"][0]["request"]["load"] | {"origin": f"http://{word}:8080"}
        ),
        lambda order, word: order["runs"][0]["request"].update(tool=word),
        lambda order, word: order.update(
            scenario={
                "name": word, "title": "", "question": "", "experiment": None, "run": None, "differs": [], "scale": 1,
                "parameters": [],
            }
        ),
    ],
    ids=["experiment", "run", "approach", "tool", "scenario"],
)  # fmt: skip
def test_a_name_is_one_word_and_stays_in_its_folder(
    tmp_path: Path, place: Callable[[dict[str, Any], str], None], word: str
) -> None:
    folder = made(tmp_path)
    order = told(folder)
    place(order, word)
    order_file(folder).write_text(json.dumps(order))

    with pytest.raises(ParseError):
        read_order(folder)


@pytest.mark.parametrize("of_run", [False, True])
@pytest.mark.parametrize(
    "setting",
    [
        {"BASH_ENV": "x"}, {"PATH": "x"}, {"LD_PRELOAD": "x"}, {"DOCKER_HOST": "x"}, {"COMPOSE_FILE": "x"},
        {"LAB_RESULTS": "x"}, {"GC\nPATH": "x"}, {"GC=g1 PATH": "x"}, {"": "x"}, {"gc": "x"},
        {"GC": "g1\nBASH_ENV=x"}, {"GC": "g1 BASH_ENV=x"}, {"GC": "$(x)"}, {"GC": "`x`"}, {"GC": "*"}, {"GC": "a[x]"},
        {"JDK": "25/../x"}, {"GC": "g1\n"}, {"GC": "g1\r"},
    ],
)  # fmt: skip
def test_an_order_sets_the_variables_of_a_plan_and_no_other(
    tmp_path: Path, setting: dict[str, str], of_run: bool
) -> None:
    folder = made(tmp_path)
    order = told(folder)
    (order["runs"][0] if of_run else order)["settings"].update(setting)
    order_file(folder).write_text(json.dumps(order))

    with pytest.raises(ParseError):
        read_order(folder)


def test_a_note_is_one_line(tmp_path: Path) -> None:
    folder = made(tmp_path)
    order_file(folder).write_text(json.dumps(told(folder) | {"note": "take care\nBASH_ENV=x"}))

    with pytest.raises(ParseError):
        read_order(folder)


@pytest.mark.parametrize(
    "load",
    [
        {"origin": "http://elsewhere:8080"},
        {"origin": "-g/results/victim/summary.json"},
        {"targets": [{"target": "@elsewhere/"}]},
        {"targets": [{"target": "/a\nGET http://elsewhere/"}]},
        {"targets": [{"target": "/", "headers": ["A: b\n@/etc/passwd"]}]},
        {"targets": []},
    ],
)
@pytest.mark.parametrize("unknown", [{}, {"newer": 1}])
def test_a_load_is_the_approachs_own_and_no_option_of_the_tool(
    tmp_path: Path, load: dict[str, Any], unknown: dict[str, Any]
) -> None:
    folder = made(tmp_path)
    order = told(folder)
    order["runs"][0].update(unknown)
    order["runs"][0]["request"]["load"].update(load)
    order_file(folder).write_text(json.dumps(order))

    with pytest.raises(ParseError):
        read_order(folder)


@pytest.mark.parametrize(
    ("link", "to"),
    [
        (".order.lock", "summary.json"), ("order.json.partial", "summary.json"), ("summary.json.partial", "order.json"),
        (".engine", "summary.json"), ("plots", "runs"), ("runs/2-tomcat-virtual", "runs/1-tomcat-virtual"),
        ("runs/.set-aside", "runs"), ("runs/1-tomcat-virtual/raw/loomlab.log", "summary.json"),
        ("runs/1-tomcat-virtual/run.json.partial", "runs/1-tomcat-virtual/run.json"),
    ],
)  # fmt: skip
def test_where_a_folder_has_a_link_nothing_is_written_and_the_others_are_summed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], link: str, to: str
) -> None:
    victim = made(tmp_path)
    finish(victim)
    stranger, other = made(tmp_path, "20260102T000000Z"), made(tmp_path, "20260103T000000Z")
    (stranger / link).symlink_to(victim / to)
    before, given = checksum(victim), checksum(stranger)

    assert ends("finish", "--results", str(tmp_path / "results")) == 4
    said = capsys.readouterr().err.splitlines()
    with pytest.raises(UsageError, match=stranger.name):
        resumed(stranger)

    assert len(said) == 1
    assert stranger.name in said[0]
    assert repr(link) in said[0]
    assert (other / "summary.json").exists()
    assert (checksum(victim), checksum(stranger)) == (before, given)


def test_what_is_no_file_at_all_is_refused_too(tmp_path: Path) -> None:
    folder = made(tmp_path)
    os.mkfifo(folder / ".engine")

    with pytest.raises(UsageError, match="neither a file nor a folder"):
        finish(folder)


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
        resumed(folder.parent / name)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_log_that_was_cut_off_makes_its_run_invalid_and_the_experiment_goes_on(tmp_path: Path, share: float) -> None:
    folder = made(tmp_path, runs=2)
    log = folder / "runs" / "1-tomcat-virtual" / "raw" / "ab-requests.tsv.gz"
    log.write_bytes(log.read_bytes()[: int(share * log.stat().st_size)])

    summary = finish(folder)

    cut, whole = summary.runs
    assert cut.verdict == "invalid"
    assert any("cannot be read" in reason for reason in cut.reasons)
    assert whole.throughput_rps is not None
    assert [run.state for run in read_order(folder).runs] == ["judged", "judged"]


def test_a_log_whose_bits_are_damaged_makes_its_run_invalid(tmp_path: Path) -> None:
    folder = made(tmp_path)
    log = folder / "runs" / "1-tomcat-virtual" / "raw" / "ab-requests.tsv.gz"
    told = bytearray(log.read_bytes())
    told[len(told) // 2 :] = b"\xff" * (len(told) - len(told) // 2)
    log.write_bytes(told)

    assert ends("judge", str(log.parent.parent)) == 1


def test_whatever_one_run_fails_at_the_others_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path, runs=2)

    def judge_all_but_the_first(run_dir: Path) -> Run:
        if run_dir.name.startswith("1-"):
            raise AttributeError
        return judge_run(run_dir)

    monkeypatch.setattr("loomlab.answer.finish.judge_run", judge_all_but_the_first)

    with pytest.warns(UserWarning, match="1-tomcat-virtual cannot be judged: AttributeError"):
        summary = finish(folder)

    assert [run.run for run in summary.runs] == ["2-tomcat-virtual"]
    assert summary.missing == ["1-tomcat-virtual"]


def test_a_run_that_cannot_be_judged_now_is_not_taken_for_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path)

    def full(run_dir: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(run_dir / "run.json"))

    with monkeypatch.context() as patched:
        patched.setattr("loomlab.answer.finish.judge_run", full)
        assert ends("finish", "--results", str(folder.parent)) == 4
        with pytest.raises(OSError, match=r"run\.json"):
            resumed(folder)
    assert "1-tomcat-virtual/run.json" in capsys.readouterr().err
    assert [run.state for run in read_order(folder).runs] == ["finished"]

    assert ends("finish", "--results", str(folder.parent)) == 0
    assert [run.state for run in read_order(folder).runs] == ["judged"]


def test_whatever_one_experiment_fails_at_the_others_are_summed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, deep, whole = (made(tmp_path, f"2026010{day}T000000Z") for day in (1, 2, 3))
    (broken / "engine.json").write_text('{"notes": -1}')
    order_file(deep).write_text("[" * 100_000)

    assert ends("finish", "--results", str(tmp_path / "results")) == 4

    said = capsys.readouterr().err
    assert broken.name in said
    assert deep.name in said
    assert (whole / "summary.json").exists()


def test_a_file_that_ends_too_early_is_no_interruption(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(_: object) -> None:
        raise EOFError("ended before the end")

    monkeypatch.setattr(cli, "judge_run", cut_off)

    assert ends("judge", "no/such") == 4
    assert "ended before the end" in capsys.readouterr().err


@pytest.mark.parametrize("bare", [b"", b"{"])
def test_a_finished_run_whose_records_are_damaged_is_set_aside_and_never_deleted(tmp_path: Path, bare: bytes) -> None:
    folder = made(tmp_path, runs=2)
    finish(folder)
    run_dir = folder / "runs" / "1-tomcat-virtual"
    log = (run_dir / "raw" / "ab-requests.tsv.gz").read_bytes()
    for lost in (run_dir / "run.json", run_dir / "raw" / "host.json"):
        lost.write_bytes(bare)

    with pytest.warns(UserWarning, match="1-tomcat-virtual is made again") as warned:
        assert [run.state for run in resumed(folder).runs] == ["planned", "judged"]
    aside = folder / "runs" / ".set-aside" / "1-tomcat-virtual-1"
    assert sum("1-tomcat-virtual is made again" in str(one.message) for one in warned) == 1
    assert not run_dir.exists()
    before = checksum(aside)

    run_dir.mkdir()
    (run_dir / "second").write_text("")
    with pytest.warns(UserWarning, match="1-tomcat-virtual is made again"):
        resumed(folder)
    resumed(folder)

    assert checksum(aside) == before
    assert (aside / "raw" / "ab-requests.tsv.gz").read_bytes() == log
    assert (aside.with_name("1-tomcat-virtual-2") / "second").exists()


def test_what_was_set_aside_is_in_no_table(tmp_path: Path) -> None:
    folder = made(tmp_path, runs=2)
    finish(folder)
    aside = folder / "runs" / ".set-aside"
    aside.mkdir()
    (folder / "runs" / "1-tomcat-virtual").rename(aside / "1-tomcat-virtual-1")

    summary = summarise(folder, interrupted=False)

    assert [run.run for run in summary.runs] == ["2-tomcat-virtual"]
    assert not any("set-aside" in note for note in summary.notes)
    assert [run.run for _, run in newest_runs(folder.parent, 9)] == ["2-tomcat-virtual"]
    assert "set-aside" not in (folder / "summary.md").read_text()
