"""What the results service answers, over real HTTP."""

import json
import os
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from loomlab.basics.errors import UsageError
from loomlab.records.files import read_record, write_json
from loomlab.records.models import Run, Summary
from loomlab.show import figures
from loomlab.show.figures import FIGURES
from loomlab.show.judged import Judged
from loomlab.show.server import server_of
from report_folder import folder_of

URL = "http://lab.example:9080"
type Get = Callable[[str], str]


@pytest.fixture
def get(tmp_path: Path) -> Iterator[Get]:
    """Reads a path of a server of `tmp_path`."""
    server = server_of(f"{URL}/", tmp_path, 0)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def asked(path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}{path}", timeout=30) as answer:
            return str(answer.read().decode())

    yield asked
    server.shutdown()
    server.server_close()


def samples(page: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    """Labels and values by name."""
    return {
        family.name: [(dict(sample.labels), sample.value) for sample in family.samples]
        for family in text_string_to_metric_families(page)
    }


def change(run_dir: Path, **changes: Any) -> None:
    run = read_record(run_dir / "run.json", Run)
    assert run
    write_json(run_dir / "run.json", run.model_copy(update=changes))


def test_each_figure_of_a_run_is_that_of_its_run_json(tmp_path: Path, get: Get) -> None:
    folder = folder_of(tmp_path, approaches=("tomcat-virtual",), repeats=1, raw=False)
    told = json.loads((folder / "runs" / "1-tomcat-virtual" / "run.json").read_text())
    found = samples(get("/metrics"))
    values = {name: found[name][0][1] for name in (figure.name for figure in FIGURES) if found[name]}
    assert values["lab_result_throughput_rps"] == told["throughput_rps"]
    assert values["lab_result_latency_p99_seconds"] == told["latency_ms"]["p99"] / 1000
    assert values["lab_result_cpu_ms_per_request"] == told["cpu_ms_per_request"]
    assert values["lab_result_rss_max_bytes"] == told["rss_max_bytes"]
    assert values["lab_result_threads_max"] == told["threads_max"]
    assert values["lab_result_finished_seconds"] > values["lab_result_started_seconds"] > 1.7e9
    labels = {
        "experiment": folder.name, "run": "1-tomcat-virtual", "approach": "tomcat-virtual", "load": "1,000",
        "jdk": "25", "verdict": told["verdict"],
    }  # fmt: skip
    assert found["lab_result_cpu_ms_per_request"][0][0] == labels


HELD = {"held": 3540, "held_heap": 3000, "held_stacks_off_heap": 500, "held_kernel": 40, "allocated": 35_000}


def test_what_a_request_holds_is_told_in_all_and_in_its_parts_beside_what_it_allocates(
    tmp_path: Path, get: Get
) -> None:
    folder = folder_of(tmp_path, approaches=("tomcat-virtual",), repeats=1, raw=False)
    run_json = folder / "runs" / "1-tomcat-virtual" / "run.json"
    told = json.loads(run_json.read_text())
    told["live_bytes_per_request"] = {"heap": 3000.0, "stacks_off_heap": 500.0, "kernel": 40.0}
    told["allocated_bytes_per_request"] = 35_000.0
    run_json.write_text(json.dumps(told))
    (folder / "summary.json").unlink()
    found = samples(get("/metrics"))
    assert {name: found[f"lab_result_{name}_bytes_per_request"][0][1] for name in HELD} == HELD


def test_a_figure_that_was_not_measured_has_no_series(tmp_path: Path, get: Get) -> None:
    folder_of(tmp_path, approaches=("tomcat-virtual",), repeats=1, raw=False, rss_max_bytes=None)
    found = samples(get("/metrics"))
    assert found["lab_result_rss_max_bytes"] == []
    assert len(found["lab_result_threads_max"]) == 1


def test_verdict_and_reasons_are_those_of_the_summary_once_there_is_one(tmp_path: Path, get: Get) -> None:
    folder = folder_of(tmp_path, approaches=("tomcat-virtual",), repeats=1, verdict="valid", reasons=[])
    summary = read_record(folder / "summary.json", Summary)
    assert summary
    doubted = {"verdict": "suspect", "reasons": ["The engine is odd.", 'So is "the" host.']}
    runs = [run.model_copy(update=doubted) for run in summary.runs]
    write_json(folder / "summary.json", summary.model_copy(update={"runs": runs}))
    [(labels, value)] = samples(get("/metrics"))["lab_result_info"]
    assert (labels["verdict"], value) == ("suspect", 1)
    assert labels["reasons"] == 'The engine is odd. So is "the" host.'


def test_every_two_approaches_are_told_with_the_kind_of_their_contrast_and_what_differs(
    tmp_path: Path, get: Get
) -> None:
    folder = folder_of(tmp_path, approaches=("tomcat-platform", "tomcat-virtual", "webflux-netty"), repeats=1)
    told = samples(get("/metrics"))["lab_contrast_info"]
    assert {(labels["a"], labels["b"]): (labels["kind"], labels["differs"]) for labels, _ in told} == {
        ("tomcat-virtual", "tomcat-platform"): ("controlled", "concurrency: virtual-threads / platform-threads"),
        ("tomcat-virtual", "webflux-netty"): (
            "stack",
            "concurrency: virtual-threads / reactive; server: tomcat / netty; "
            "framework: spring-webmvc / spring-webflux; client: apache-httpclient / reactor-netty",
        ),
        ("webflux-netty", "tomcat-platform"): (
            "stack",
            "concurrency: reactive / platform-threads; server: netty / tomcat; "
            "framework: spring-webflux / spring-webmvc; client: reactor-netty / apache-httpclient",
        ),
    }
    assert all(labels["experiment"] == folder.name and value == 1 for labels, value in told)


def test_an_experiment_that_is_not_summed_up_has_no_contrast(tmp_path: Path, get: Get) -> None:
    folder = folder_of(tmp_path, repeats=1)
    assert len(samples(get("/metrics"))["lab_contrast_info"]) == 6
    (folder / "summary.json").unlink()
    assert samples(get("/metrics"))["lab_contrast_info"] == []


def test_a_run_that_was_measured_again_is_not_that_of_the_old_summary(tmp_path: Path, get: Get) -> None:
    folder = folder_of(tmp_path, approaches=("tomcat-virtual",), repeats=1, verdict="valid", reasons=[])
    change(folder / "runs" / "1-tomcat-virtual", raw_sha256="other", verdict="invalid", reasons=["It restarted."])
    [(labels, _)] = samples(get("/metrics"))["lab_result_info"]
    assert (labels["verdict"], labels["reasons"]) == ("invalid", "It restarted.")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, approaches=("tomcat-virtual",), repeats=1, raw=False)
    (folder / "summary.json").unlink()
    judged = Judged(tmp_path)
    run_dir = folder / "runs" / "1-tomcat-virtual"
    [before] = judged.newest(9)
    change(run_dir, threads_max=77.0)
    os.utime(run_dir / "run.json", (1, 1))
    assert (before.run.threads_max, judged.newest(9)[0].run.threads_max) == (29, 77)


def test_only_the_newest_runs_are_told(tmp_path: Path) -> None:
    new = folder_of(tmp_path, repeats=2, raw=False).rename(tmp_path / "20991231T000000Z-newest")
    old = folder_of(tmp_path, repeats=2, raw=False)
    newest = Judged(tmp_path).newest(11)
    assert [one.experiment for one in newest] == [new.name] * 8 + [old.name] * 3
    assert [one.run.run.partition("-")[0] for one in newest[:8]] == ["8", "7", "6", "5", "4", "3", "2", "1"]


def test_a_page_tells_so_many_runs_at_most(tmp_path: Path, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MOST_RUNS", 11)
    for name in ("20991231T000000Z-newest", "20991230T000000Z-newer"):
        folder_of(tmp_path, repeats=2, raw=False).rename(tmp_path / name)
    told = samples(get("/metrics"))["lab_result_info"]
    assert sorted(labels["experiment"][15:] for labels, _ in told) == ["Z-newer"] * 3 + ["Z-newest"] * 8


def test_what_is_no_run_and_what_is_damaged_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path, approaches=("tomcat-platform", "tomcat-virtual"), repeats=1, raw=False)
    (tmp_path / "latest").symlink_to(folder.name)
    (tmp_path / "20991231T000000Z-bench-observer").mkdir()
    (folder / "runs" / "3-webflux-netty").mkdir()
    [damaged] = (folder / "runs").glob("1-*")
    (damaged / "run.json").write_text("{")
    judged = Judged(tmp_path)
    assert [one.run.run.partition("-")[0] for one in judged.newest(9)] == ["2"]
    assert [one.run.run.partition("-")[0] for one in judged.newest(9)] == ["2"]
    assert capsys.readouterr().err.count(f"{damaged.name}/run.json is not JSON") == 1


def test_without_a_run_there_is_only_the_address(get: Get) -> None:
    found = samples(get("/metrics"))
    assert found.pop("lab_results_info") == [({"url": URL}, 1)]
    assert not any(found.values())


def test_the_files_are_served_beside_the_metrics(tmp_path: Path, get: Get) -> None:
    (tmp_path / "20261121T060000Z-e").mkdir()
    (tmp_path / "20261121T060000Z-e" / "report.html").write_text("<p>found")
    assert "Directory listing" in get("/")
    assert get("/20261121T060000Z-e/report.html") == "<p>found"


@pytest.mark.parametrize("url", ["lab.example:9080", "javascript:alert(1)"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match=r"is no address of a web page: use for instance http://127\.0\.0\.1:9080"):
        server_of(url, tmp_path, 0)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="missing is no folder"):
        server_of(URL, tmp_path / "missing", 0)
