"""Experiments that were cut off: nothing finished is lost, nothing is made twice."""

import errno
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.summary import INTERRUPTED_NOTE, environment_of, finish, killed, unfinished
from loomlab.basics.errors import UsageError
from loomlab.judge.judge import judge_run
from loomlab.records.files import RunFiles, checksum, write_json, write_text
from loomlab.records.order import State, changing, order_file, read_order, set_state
from ordered import planned, resume


def experiment(tmp_path: Path, *states: State, stamp: str = "20260101T000000Z") -> Path:
    """An experiment of that many runs: those that have begun have their request, those that finished said so."""
    order = planned(tmp_path, repeats=len(states), approaches=["tomcat-virtual"])
    folder = tmp_path / "results" / f"{stamp}-ab-c1000"
    for run, state in zip(order.runs, states, strict=True):
        run.state = state
        raw = folder / "runs" / run.run / "raw"
        raw.parent.parent.mkdir(parents=True, exist_ok=True)
        if state != "planned":
            raw.mkdir(parents=True)
            request = run.request.model_copy(update={"started": 1.8e9, "finished": state in {"finished", "judged"}})
            write_json(raw / "request.json", request)
            (raw / "ab.txt").write_text("what ab said\n")
        if state == "judged":
            judge_run(raw.parent)
    write_json(order_file(folder), order)
    return folder


def states(folder: Path) -> list[str]:
    return [run.state for run in read_order(folder).runs]


def test_what_has_begun_is_judged_and_what_finished_counts(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "finished", "running", "running", "planned")
    (folder / "runs" / "3-tomcat-virtual" / "raw" / "request.json").unlink()

    summary = finish(folder)

    assert states(folder) == ["judged", "failed", "failed", "planned"]
    assert [run.run for run in summary.runs] == ["1-tomcat-virtual", "2-tomcat-virtual"]
    assert summary.missing == ["3-tomcat-virtual", "4-tomcat-virtual"]
    assert summary.finished is None
    assert INTERRUPTED_NOTE in summary.notes
    assert (folder / "summary.json").exists()


def test_an_experiment_is_killed_until_its_runs_are_judged_and_summed_up(tmp_path: Path) -> None:
    results = tmp_path / "results"
    folder = experiment(tmp_path, "judged", "planned")
    assert killed(results) == [folder]

    finish(folder)
    assert killed(results) == []
    (folder / "SHA256SUMS").unlink()  # killed before it was written
    assert killed(results) == [folder]
    finish(folder)

    with changing(folder) as order:
        order.runs[1].state = "running"
    assert killed(results) == [folder]
    (results / "latest").symlink_to(folder.name)
    assert killed(results) == [folder]


def test_an_experiment_of_which_no_run_began_has_nothing_to_sum_up(tmp_path: Path) -> None:
    experiment(tmp_path, "planned", "planned")
    assert killed(tmp_path / "results") == []


def test_no_older_sums_are_beside_a_summary_in_the_making(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = experiment(tmp_path, "judged", "judged")
    finish(folder)
    there: list[tuple[str, bool]] = []

    def write(path: Path, _: object) -> None:
        there.append((path.name, (folder / "SHA256SUMS").exists()))

    monkeypatch.setattr("loomlab.answer.summary.write_json", write)
    finish(folder)
    assert there[-1] == ("summary.json", False)


def test_an_experiment_that_was_renamed_is_resumed_under_its_new_name(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "planned").rename(tmp_path / "results" / "mine")
    assert resume(folder).experiment == "mine"


def test_latest_is_the_newest_that_lacks_a_run(tmp_path: Path) -> None:
    results = tmp_path / "results"
    older = experiment(tmp_path, "planned", stamp="20260101T000000Z")
    lacking = experiment(tmp_path, "judged", "failed", stamp="20260102T000000Z")
    experiment(tmp_path, "judged", stamp="20260103T000000Z")
    experiment(tmp_path, "planned", stamp="99990101T000000Z")

    assert unfinished(results, "latest") == lacking
    assert unfinished(results, older.name) == older
    shutil.rmtree(lacking)
    assert unfinished(results, "latest") == older


def test_a_judged_run_whose_verdict_is_gone_is_made_again_and_what_it_left_is_never_deleted(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "finished", "finished")
    finish(folder)
    run_dir = folder / "runs" / "1-tomcat-virtual"
    RunFiles(run_dir).run.unlink()
    raw = (run_dir / "raw" / "ab.txt").read_bytes()

    assert unfinished(folder.parent, "latest") == folder
    for number in (1, 2):
        with pytest.warns(UserWarning, match="1-tomcat-virtual is made again"):
            assert [run.state for run in resume(folder).runs] == ["planned", "judged"]
        assert not run_dir.exists()
        assert run_dir.with_name(".set-aside").joinpath(f"1-tomcat-virtual-{number}").exists()
        run_dir.mkdir()
    assert (folder / "runs" / ".set-aside" / "1-tomcat-virtual-1" / "raw" / "ab.txt").read_bytes() == raw


@pytest.mark.parametrize("host", [{"cpus": 8}, {"cpu_model": "EPYC"}])
def test_no_other_host_resumes(tmp_path: Path, host: dict[str, Any]) -> None:
    folder = experiment(tmp_path, "judged", "planned")
    before = order_file(folder).read_bytes()

    with pytest.raises(UsageError, match="was begun on a host with 2 CPUs"):
        resume(folder, **host)

    assert order_file(folder).read_bytes() == before


def test_an_experiment_is_not_resumed_after_the_lab_changed(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "judged", "failed")
    lab = tmp_path / "lab"
    for text in ("services/core/target/built", "README.md", "loadgen/src/loomlab/report/page.py"):
        (lab / text).parent.mkdir(parents=True, exist_ok=True)
        (lab / text).write_text("no source of what makes and judges runs")
    assert resume(folder)
    set_state(folder / "runs" / "2-tomcat-virtual", "failed")
    before = order_file(folder).read_bytes()

    (lab / "services" / "core" / "Router.java").write_text("class Router {}")
    with pytest.raises(UsageError, match="other sources"):
        resume(folder)

    assert order_file(folder).read_bytes() == before


@pytest.mark.parametrize("name", ["no-such", "..", "../results", "link"])
def test_what_is_no_experiment_is_not_resumed(tmp_path: Path, name: str) -> None:
    (tmp_path / "results" / "link").symlink_to(experiment(tmp_path, "planned").name)
    with pytest.raises(UsageError, match="RESUME="):
        unfinished(tmp_path / "results", name)


def told(images: dict[str, str], **facts: object) -> dict[str, object]:
    return {"engine": "26.1.5", "cpus": 2, "images": images, "notes": []} | facts


def test_what_ran_before_a_resumption_stays_in_the_environment(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "judged", "planned")
    write_json(folder / "engine.json", told({"tomcat-virtual": "a", "jetty-virtual": "b"}, notes=["stopped: x"]))
    write_json(folder / "engine-20260102T000000Z.json", told({"jetty-virtual": "b", "backend": "c"}))
    same = environment_of(folder)
    changed = told({"tomcat-virtual": "z", "backend": "c"}, runc="2", cpus=8, container_metrics="cgroups")
    write_json(folder / "engine-20260103T000000Z.json", changed)

    assert same["images"] == {"tomcat-virtual": "a", "jetty-virtual": "b", "backend": "c"}
    assert (same["notes"], same["suspect"]) == (["stopped: x"], [])
    assert same["tool_versions"] == {"ab": read_order(folder).tool_version}
    assert {"cpu_model", "governor"} <= same.keys()
    (doubt,) = environment_of(folder)["suspect"]
    assert doubt.endswith(": runc, cpus, container_metrics, image of tomcat-virtual")


@pytest.mark.parametrize("name", ["engine.json", "engine-20260102T000000Z.json"])
def test_facts_of_the_engine_that_a_full_disk_cut_off_make_runs_suspect_and_cost_no_summary(
    tmp_path: Path, name: str
) -> None:
    folder = experiment(tmp_path, "judged", "finished")
    for each in ("engine.json", "engine-20260102T000000Z.json"):
        write_json(folder / each, told({"backend": "c"}))
    (folder / name).write_text('{"engine": "26.1')

    summary = finish(folder)

    assert summary.environment["images"] == {"backend": "c"}
    (doubt,) = summary.environment["suspect"]
    assert name in doubt
    assert [doubt in run.reasons for run in summary.runs] == [True, True]


@pytest.mark.parametrize("third", ["planned", "running"])
def test_a_run_that_finished_and_was_not_judged_is_kept(tmp_path: Path, third: State) -> None:
    folder = experiment(tmp_path, "judged", "finished", third)
    (folder / "summary.json").write_text("{}")
    kept = (folder / "runs" / "1-tomcat-virtual" / "run.json").read_bytes()

    assert killed(folder.parent) == [folder]
    assert [run.state for run in resume(folder).runs] == states(folder) == ["judged", "judged", "planned"]
    assert (folder / "runs" / "1-tomcat-virtual" / "run.json").read_bytes() == kept
    assert (folder / "runs" / "2-tomcat-virtual" / "raw" / "ab.txt").exists()
    assert not (folder / "runs" / "3-tomcat-virtual").exists()


def test_what_a_verdict_is_made_of_is_on_the_disk_before_it(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
    )

    judge_run(run_dir)

    written = next(place for place, path in enumerate(synced) if path.startswith(str(run_dir / "run.json")))
    assert {*map(str, (run_dir / "raw").iterdir()), str(run_dir / "raw"), str(run_dir)} <= {*synced[:written]}
    assert synced[written + 1] == str(run_dir)  # so that its name is there, too


def test_a_full_disk_is_told_with_the_file(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(OSError, match=r"summary\.json") as error:
        write_text(run_dir / "summary.json", "{}")

    assert error.value.filename == str(run_dir / "summary.json")
    assert [*run_dir.iterdir()] == [run_dir / "raw"]


def test_half_a_file_of_a_killed_process_changes_no_checksum(run_dir: Path) -> None:
    before = checksum(run_dir)
    (run_dir / "raw" / "tool.json.0123456789abcdef.partial").write_text("{")
    assert checksum(run_dir) == before


def test_sha256sum_checks_an_experiment_and_its_runs(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "finished", "finished")
    finish(folder)
    run_dirs = [*(folder / "runs").iterdir()]
    for path in (folder, *run_dirs):
        assert not sha256sum(path)

    (run_dirs[0] / "raw" / "ab.txt").write_text("another")
    (run_dirs[1] / "run.json").write_text("{}")

    assert [sha256sum(path) for path in run_dirs] == [["raw/ab.txt"], ["run.json"]]
    assert sha256sum(folder) == [f"runs/{run_dirs[1].name}/run.json"]


def sha256sum(folder: Path) -> list[str]:
    """The files that it finds changed."""
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout  # noqa: S603
    return [line.removesuffix(": FAILED") for line in said.splitlines()]
