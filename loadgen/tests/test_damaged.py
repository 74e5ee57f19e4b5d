"""Runs and records that a crash or a power cut left in part: what is judged all the same; and nothing is deleted."""

import errno
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from loomlab.answer.summary import finish, summarise, unfinished
from loomlab.basics.errors import UsageError
from loomlab.judge.judge import judge_run
from loomlab.records.order import changing, read_order
from loomlab.report.page import write_report
from ordered import resume
from saying import exit_code
from test_strangers import made, raw_of


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
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path)

    def full(run_dir: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(run_dir / "run.json"))

    with monkeypatch.context() as patched:
        patched.setattr("loomlab.answer.summary.judge_run", full)
        assert exit_code("finish", "--results", str(folder.parent)) == 4
        with pytest.raises(OSError, match=r"run\.json"):
            resume(folder)
    assert "1-tomcat-virtual/run.json" in capfd.readouterr().err
    assert [run.state for run in read_order(folder).runs] == ["finished"]

    assert exit_code("finish", "--results", str(folder.parent)) == 0
    assert [run.state for run in read_order(folder).runs] == ["judged"]


def in_place_of(path: Path) -> None:
    """A folder."""
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""), lambda path: path.write_bytes(bytes(path.stat().st_size)), in_place_of,
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        lambda path: path.write_bytes(path.read_bytes() * 2),
    ],
    ids=["empty", "zeros", "folder", "half", "twice"],
)  # fmt: skip
def test_whichever_file_of_a_run_is_damaged_the_experiment_comes_to_its_end(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    names = sorted(path.name for path in raw_of(made(tmp_path)).iterdir())
    folder = made(tmp_path, runs=len(names) + 1)
    for number, name in enumerate(names, 1):
        damage(raw_of(folder, number) / name)

    assert finish(folder).runs[-1].run.startswith(f"{len(names) + 1}-")

    states = [run.state for run in read_order(folder).runs]
    assert states[-1] == "judged"
    assert {*states} == {"judged", "failed"}
    assert {run.state for run in resume(folder).runs} == {"judged", "planned"}


@pytest.mark.parametrize(
    "lost",
    [
        ("raw/host.json",), ("raw/request.json",), ("raw/ab-requests.tsv.gz",), ("raw/tool.json", "SHA256SUMS"),
        ("raw/metrics.json", "../../summary.json"), ("raw/container.json", "../../environment.json"),
    ],
    ids=str,
)  # fmt: skip
def test_whatever_a_power_cut_empties_no_resumption_deletes_what_is_left(tmp_path: Path, lost: tuple[str, ...]) -> None:
    folder = made(tmp_path, runs=2)
    finish(folder)
    for name in ("run.json", *lost):
        (raw_of(folder).parent / name).write_bytes(b"")
    kept = {path.read_bytes() for path in folder.glob("runs/*/raw/*")}

    for _ in range(3):
        with suppress(UsageError):
            resume(folder)
        assert kept <= {path.read_bytes() for path in folder.glob("**/raw/*")}


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
