"""Experiments that were cut off: nothing finished is lost, nothing is made twice."""

from pathlib import Path

import pytest

from loomlab.answer.environment import environment_of
from loomlab.answer.finish import finish, killed, resume, unfinished
from loomlab.basics.errors import UsageError
from loomlab.records.files import RunFiles, write_json
from loomlab.records.models import Run
from loomlab.records.order import State, changing, order_file, read_order, set_state
from ordered import planned


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
    write_json(order_file(folder), order)
    return folder


def states(folder: Path) -> list[str]:
    return [run.state for run in read_order(folder).runs]


def test_what_has_begun_is_judged_and_what_finished_counts(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "finished", "running", "planned")

    summary = finish(folder)

    assert states(folder) == ["judged", "failed", "planned"]
    assert [run.run for run in summary.runs] == ["1-tomcat-virtual", "2-tomcat-virtual"]
    assert summary.missing == ["3-tomcat-virtual"]
    assert summary.finished is None
    assert (folder / "summary.md").exists()


def test_a_run_without_a_request_has_nothing_to_judge(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "finished", "running")
    (folder / "runs" / "2-tomcat-virtual" / "raw" / "request.json").unlink()

    finish(folder)

    assert states(folder) == ["judged", "failed"]
    assert not RunFiles(folder / "runs" / "2-tomcat-virtual").run.exists()


def test_only_what_is_missing_is_planned_again(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "finished", "running", "planned")
    finish(folder)
    kept = (folder / "runs" / "1-tomcat-virtual" / "run.json").read_bytes()

    order = resume(folder)

    assert [run.state for run in order.runs] == states(folder) == ["judged", "planned", "planned"]
    assert (folder / "runs" / "1-tomcat-virtual" / "run.json").read_bytes() == kept
    assert not (folder / "runs" / "2-tomcat-virtual").exists()


def test_an_experiment_is_killed_until_its_runs_are_judged_and_summed_up(tmp_path: Path) -> None:
    results = tmp_path / "results"
    folder = experiment(tmp_path, "judged", "planned")
    assert killed(results) == [folder]

    finish(folder)
    assert killed(results) == []

    with changing(folder) as order:
        order.runs[1].state = "running"
    assert killed(results) == [folder]
    (results / "latest").symlink_to(folder.name)
    assert killed(results) == [folder]


def test_a_run_that_finished_in_a_killed_resumption_is_kept(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "judged", "finished", "running")

    order = resume(folder)

    assert [run.state for run in order.runs] == ["judged", "judged", "planned"]
    assert (folder / "runs" / "2-tomcat-virtual" / "raw" / "ab.txt").exists()


def test_a_run_whose_files_are_broken_does_not_keep_the_others_from_being_judged(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "finished", "finished")
    (folder / "runs" / "1-tomcat-virtual" / "raw" / "container.json").write_text("")

    with pytest.warns(UserWarning, match=r"1-tomcat-virtual cannot be judged: .*container\.json is not JSON"):
        finish(folder)

    assert states(folder) == ["failed", "judged"]


def test_an_experiment_that_was_renamed_is_resumed_under_its_new_name(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "planned").rename(tmp_path / "results" / "mine")

    assert resume(folder).experiment == "mine"


def test_a_whole_experiment_is_not_resumed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has all of its 2 runs"):
        resume(experiment(tmp_path, "judged", "judged"))


def test_latest_is_the_newest_that_lacks_a_run(tmp_path: Path) -> None:
    results = tmp_path / "results"
    older = experiment(tmp_path, "planned", stamp="20260101T000000Z")
    lacking = experiment(tmp_path, "judged", "failed", stamp="20260102T000000Z")
    experiment(tmp_path, "judged", stamp="20260103T000000Z")

    assert unfinished(results, "latest") == lacking
    assert unfinished(results, older.name) == older
    resume(lacking)
    with changing(lacking) as order:
        order.runs[1].state = "judged"
    assert unfinished(results, "latest") == older


@pytest.mark.parametrize("name", ["no-such", "..", "../results"])
def test_what_is_no_experiment_is_not_resumed(tmp_path: Path, name: str) -> None:
    experiment(tmp_path, "judged")

    with pytest.raises(UsageError, match="RESUME="):
        unfinished(tmp_path / "results", name)


def test_a_run_of_an_experiment_without_an_order_has_no_state(tmp_path: Path) -> None:
    set_state(tmp_path / "runs" / "1-x", "judged")

    assert not order_file(tmp_path).exists()


def test_the_checksum_tells_whether_raw_files_changed(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "finished")
    run_dir = folder / "runs" / "1-tomcat-virtual"

    before = finish(folder).runs[0]
    (run_dir / "raw" / "ab.txt").write_text("something else\n")
    set_state(run_dir, "finished")
    after = finish(folder).runs[0]

    assert isinstance(before, Run)
    assert before.raw_sha256 is not None
    assert after.raw_sha256 != before.raw_sha256


def told(images: dict[str, str], **facts: object) -> dict[str, object]:
    return {"engine": "26.1.5", "cpus": 2, "images": images, "notes": []} | facts


def test_what_ran_before_a_resumption_stays_in_the_environment(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "judged", "planned")
    write_json(folder / "engine.json", told({"tomcat-virtual": "a", "jetty-virtual": "b"}, notes=["stopped: x"]))
    write_json(folder / "engine-20260102T000000Z.json", told({"jetty-virtual": "b"}))

    environment = environment_of(folder)

    assert environment["images"] == {"tomcat-virtual": "a", "jetty-virtual": "b"}
    assert environment["notes"] == ["stopped: x"]
    assert environment["suspect"] == []


def test_a_resumption_on_another_image_or_host_makes_every_run_suspect(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "judged", "planned")
    write_json(folder / "engine.json", told({"tomcat-virtual": "a", "backend": "c"}, container_metrics="cadvisor"))
    write_json(
        folder / "engine-20260102T000000Z.json",
        told({"tomcat-virtual": "z", "backend": "c"}, cpus=8, container_metrics="cgroups"),
    )

    assert environment_of(folder)["suspect"] == [
        "the experiment was resumed on a changed host or with changed images: "
        "cpus, container_metrics, image of tomcat-virtual"
    ]
