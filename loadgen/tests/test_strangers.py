"""Folders of results that somebody else made, or that a crash left: what they cannot do, and what they do not cost."""

import errno
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.finish import finish, resume
from loomlab.basics.errors import ParseError, UsageError
from loomlab.cli import main
from loomlab.judge.judge import judge_run
from loomlab.records.files import write_json, write_text
from loomlab.records.models import Run
from loomlab.records.order import Order, changing, order_file, read_order
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


def with_run(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda order: order["runs"][0].update(changes)


def with_request(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda order: order["runs"][0]["request"].update(changes)


def with_load(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda order: order["runs"][0]["request"]["load"].update(changes)


def with_setting(name: str, value: str = "x") -> Callable[[dict[str, Any]], None]:
    return lambda order: (order["settings"].update({name: value}), order["runs"][0]["settings"].update({name: value}))


SCENARIO = {"title": "", "question": "", "experiment": None, "run": None, "differs": [], "scale": 1, "parameters": []}
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
"""None of which is a name."""


@pytest.mark.parametrize("word", WORDS)
def test_a_name_is_one_word_and_stays_in_its_folder(tmp_path: Path, word: str) -> None:
    folder = made(tmp_path)
    load = told(folder)["runs"][0]["request"]["load"] | {"origin": f"http://{word}:8080"}
    for change in (
        lambda order: order.update(experiment=word),
        lambda order: order.update(scenario=SCENARIO | {"name": word}),
        with_run(run=word),
        with_request(approach=word, load=load),
        with_request(tool=word),
    ):
        refused(folder, change)


def refused(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    before = told(folder)
    assert read_order(folder)
    order = deepcopy(before)
    change(order)
    order_file(folder).write_text(json.dumps(order))
    with pytest.raises(ParseError):
        read_order(folder)
    order_file(folder).write_text(json.dumps(before))


@pytest.mark.parametrize(
    "change",
    [
        *(
            with_setting(name)
            for name in ("BASH_ENV", "PATH", "LD_PRELOAD", "DOCKER_HOST", "COMPOSE_FILE", "LAB_RESULTS")
        ),
        *(with_setting(name) for name in ("GC\nPATH", "GC=g1 PATH", "", "gc")),
        *(with_setting("GC", value) for value in ("g1\nX=x", "g1 X=x", "$(x)", "`x`", "*", "a[x]", "g1\n", "g1\r")),
        with_setting("JDK", "25/../x"),
        lambda order: order.update(note="take care\nBASH_ENV=x"),
        with_load(origin="http://elsewhere:8080"),
        with_load(origin="-g/results/victim/summary.json"),
        with_load(targets=[{"target": "@elsewhere/"}]),
        with_load(targets=[{"target": "/a\nGET http://elsewhere/"}]),
        with_load(targets=[{"target": "/", "headers": ["A: b\n@/etc/passwd"]}]),
        with_load(targets=[]),
        lambda order: (with_run(newer=1)(order), with_load(origin="http://elsewhere:8080")(order)),
    ],
)
def test_an_order_sets_a_plans_variables_and_loads_its_own_approach(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any]
) -> None:
    refused(made(tmp_path), change)


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


@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda log: log[: len(log) // 2], lambda log: log[: len(log) // 2] + b"\xff" * 99]
)
def test_a_damaged_log_makes_its_run_invalid_and_the_experiment_goes_on(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
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
