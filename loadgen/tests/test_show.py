"""What the results service answers, over real HTTP."""

import http.client
import os
import shutil
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from pydantic_core import from_json

from loomlab.basics.errors import UsageError
from loomlab.run.prometheus import answered
from loomlab.show import server
from loomlab.show.server import FEWEST_VALUES, Files, Server, newest_runs, server_of
from report_folder import PAIR, edit, first_run, folder_of

URL = "http://lab.example:9080"
type Get = Callable[[str], str]
type Samples = dict[str, list[tuple[dict[str, str], float]]]


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Server]:
    """A server of `tmp_path`."""
    serving = server_of(f"{URL}/", tmp_path, 0)
    threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield serving
    serving.shutdown()
    serving.server_close()


@pytest.fixture
def get(serving: Server) -> Get:
    """Reads a path."""
    return lambda path: answered(f"http://127.0.0.1:{serving.server_port}{path}")


def samples(get: Get) -> Samples:
    """Labels and values by name."""
    return {
        family.name: [(dict(sample.labels), sample.value) for sample in family.samples]
        for family in text_string_to_metric_families(get("/metrics"))
    }


def one_run(tmp_path: Path, **changes: Any) -> Path:
    return folder_of(tmp_path, approaches=("tomcat-virtual",), repeats=1, raw=False, **changes)


def test_each_figure_of_a_run_that_was_measured_is_that_of_its_run_json(tmp_path: Path, get: Get) -> None:
    folder = one_run(tmp_path, verdict="suspect")
    held = {"heap": 3000.0, "stacks_off_heap": 500.0, "kernel": 40.0}
    figures = {
        "throughput_rps": 1105.0, "cpu_ms_per_request": 1.25, "rss_max_bytes": 2.0**28, "threads_max": None,
        "allocated_bytes_per_request": 35_000.0, "live_bytes_per_request": held, "finished": "2026-11-23T02:04:07Z",
        "started": "2026-11-23T02:01:53Z",
    }  # fmt: skip
    edit(first_run(folder) / "run.json", lambda run: run.update(figures, latency_ms={"p99": 950.0}))
    (folder / "summary.json").unlink()

    metrics = samples(get)

    assert metrics.pop("lab_result_threads_max") == []
    assert {name: series[0][1] for name, series in metrics.items() if "lab_result_" in name} == pytest.approx(
        {
            "lab_result_info": 1, "lab_result_started_seconds": 1795399313, "lab_result_finished_seconds": 1795399447,
            "lab_result_throughput_rps": 1105, "lab_result_latency_p99_seconds": 0.95,
            "lab_result_cpu_ms_per_request": 1.25, "lab_result_allocated_bytes_per_request": 35_000,
            "lab_result_live_bytes_per_request": 3540, "lab_result_live_heap_bytes_per_request": 3000,
            "lab_result_live_stacks_off_heap_bytes_per_request": 500, "lab_result_live_kernel_bytes_per_request": 40,
            "lab_result_rss_max_bytes": 2**28,
        }
    )  # fmt: skip
    assert metrics["lab_result_cpu_ms_per_request"][0][0] == {
        "experiment": folder.name, "run": "1-tomcat-virtual", "approach": "tomcat-virtual", "load": "1,000",
        "jdk": "25", "verdict": "suspect",
    }  # fmt: skip


def test_verdict_and_reasons_are_those_of_the_summary_unless_run_was_measured_again(tmp_path: Path, get: Get) -> None:
    folder = one_run(tmp_path, verdict="valid", reasons=[])
    doubted = {"verdict": "suspect", "reasons": ["The engine is odd.", 'So is "the" host.']}
    edit(folder / "summary.json", lambda summary: summary["runs"][0].update(doubted))

    [(labels, _)] = samples(get)["lab_result_info"]
    again = {"raw_sha256": "other", "verdict": "invalid", "reasons": ["It restarted."]}
    edit(first_run(folder) / "run.json", lambda run: run.update(again))
    os.utime(first_run(folder) / "run.json", (1, 1))
    [(later, _)] = samples(get)["lab_result_info"]

    assert (labels["verdict"], labels["reasons"]) == ("suspect", 'The engine is odd. So is "the" host.')
    assert (later["verdict"], later["reasons"]) == ("invalid", "It restarted.")


def test_every_two_approaches_have_the_kind_of_their_contrast_once_they_are_summed_up(tmp_path: Path, get: Get) -> None:
    folder = folder_of(tmp_path, approaches=(*PAIR, "webflux-netty"), repeats=1)
    contrasts = [labels for labels, value in samples(get)["lab_contrast_info"] if value == 1]
    (folder / "summary.json").unlink()

    assert {(one["a"], one["b"]): one["kind"] for one in contrasts} == {
        ("tomcat-virtual", "tomcat-platform"): "controlled",
        ("tomcat-virtual", "webflux-netty"): "stack",
        ("webflux-netty", "tomcat-platform"): "stack",
    }
    assert {one["differs"] for one in contrasts} > {"concurrency: virtual-threads / platform-threads"}
    assert {one["experiment"] for one in contrasts} == {folder.name}
    assert samples(get)["lab_contrast_info"] == []


def test_so_many_runs_are_told_the_newest_first(tmp_path: Path, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    gift = folder_of(tmp_path, PAIR, repeats=1, raw=False).rename(tmp_path / "29990101T000000Z-gift")
    new = folder_of(tmp_path, PAIR, repeats=5, raw=False).rename(tmp_path / "20200102T000000Z-newest")
    old = folder_of(tmp_path, PAIR, repeats=1, raw=False).rename(tmp_path / "20200101T000000Z-older")
    monkeypatch.setattr(server, "MOST_RUNS", 13)

    newest = [(experiment, int(run.run.partition("-")[0])) for experiment, run, *_ in newest_runs(tmp_path, Files())]

    told = {new.name: 10, old.name: 2, gift.name: 2}
    assert newest == [(name, number) for name, count in told.items() for number in range(count, 0, -1)]
    assert len(samples(get)["lab_result_info"]) == 13


def test_a_page_is_made_of_so_many_values(tmp_path: Path, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, PAIR, repeats=1, raw=False)
    (folder / "summary.json").unlink()
    monkeypatch.setattr(
        server, "MOST_TOLD", FEWEST_VALUES + (first_run(folder) / "run.json").read_text().count(",") + 9
    )

    metrics = samples(get)

    assert [labels["run"][0] for labels, _ in metrics["lab_result_info"]] == ["2"]
    assert metrics["lab_results_unreadable"] == [({}, 1)]


def test_a_file_is_read_once_until_it_changes(tmp_path: Path, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, PAIR, repeats=1, raw=False)
    right = (first_run(folder) / "run.json").read_text()
    (first_run(folder) / "run.json").write_text('{"reasons": [' + "0," * 10_000 + "0]}")
    parsed: list[bytes] = []

    def counting(content: bytes, **how: Any) -> Any:
        parsed.append(content)
        return from_json(content, **how)

    monkeypatch.setattr(server, "from_json", counting)

    pages = [samples(get), samples(get)]
    (first_run(folder) / "run.json").write_text(right)
    pages.append(samples(get))

    assert [len(page["lab_result_info"]) for page in pages] == [1, 1, 2]
    assert [page["lab_results_unreadable"][0][1] for page in pages] == [1, 1, 0]
    assert len(parsed) == 4


def test_texts_of_any_length_make_no_large_page(tmp_path: Path, get: Get) -> None:
    folder = folder_of(tmp_path, PAIR, repeats=3, raw=False)
    (folder / "summary.json").unlink()
    for run_dir in (folder / "runs").iterdir():
        edit(run_dir / "run.json", lambda run: run.update(approach="x" * 10**6, reasons=["y" * 10**6] * 2))

    metrics = samples(get)

    told = metrics["lab_result_info"]
    assert 0 < len(told) < 6
    assert metrics["lab_results_unreadable"] == [({}, 6 - len(told))]
    assert len(get("/metrics")) < 10**6


def test_what_no_page_tells_takes_no_memory(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, PAIR, repeats=1, raw=False)
    kinds = [{"request": "", "requests": 0, "errors": 0, "latency_ms": {}}] * 25_000
    for run_dir in (folder / "runs").iterdir():
        edit(run_dir / "run.json", lambda run: run.update(kinds=kinds))

    tracemalloc.start()
    page = generate_latest(server.metrics_of(tmp_path, URL)).decode()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert page.count("\nlab_result_info{") == 2
    assert peak < 2**25


def circle(path: Path) -> None:
    """In its place a link to itself, which even root cannot read."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    "damage",
    [
        lambda run_dir: circle(run_dir / "run.json"),
        circle,
        lambda run_dir: (run_dir / "run.json").write_text("[" * 100_000),
        lambda run_dir: (run_dir / "run.json").write_text("[" + "0," * server.MOST_VALUES + "0]"),
        lambda run_dir: edit(run_dir / "run.json", lambda run: run.update(x=[[[]]] * (server.MOST_VALUES // 2))),
        lambda run_dir: (run_dir / "run.json").write_text((run_dir / "run.json").read_text() + " " * server.MOST_BYTES),
        lambda run_dir: edit(run_dir / "run.json", lambda run: run.update(started="yesterday")),
        lambda run_dir: edit(run_dir / "run.json", lambda run: run.update(approach="\ud800")),
    ],
    ids=["file", "folder", "JSON", "values", "lists", "bytes", "time", "text"],
)
def test_what_cannot_be_read_hides_nothing_else(damage: Callable[[Path], object], tmp_path: Path, get: Get) -> None:
    folder = folder_of(tmp_path, PAIR, repeats=1, raw=False)
    (tmp_path / "latest").symlink_to(folder.name)
    (tmp_path / "20200101T000000Z-bench-observer").mkdir()
    (folder / "runs" / "3-webflux-netty").mkdir()
    (folder / "summary.json").unlink()
    damage(first_run(folder))

    metrics = samples(get)

    assert [labels["run"][0] for labels, _ in metrics["lab_result_info"]] == ["2"]
    assert metrics["lab_results_unreadable"] == [({}, 1)]


def test_an_experiment_that_cannot_be_read_is_counted_and_hides_no_other(tmp_path: Path, get: Get) -> None:
    folder_of(tmp_path, PAIR, repeats=1, raw=False).rename(tmp_path / os.fsdecode(b"20200102T000000Z-\xff"))
    odd = tmp_path / "20200101T000000Z-odd" / "runs"
    odd.mkdir(parents=True)
    circle(odd)
    folder_of(tmp_path, PAIR, repeats=1, raw=False)

    metrics = samples(get)

    assert len(metrics["lab_result_info"]) == 2
    assert metrics["lab_results_unreadable"][0][1] >= 2


def test_without_a_run_there_are_the_address_and_the_files(tmp_path: Path, get: Get) -> None:
    (tmp_path / "report.html").write_text("<p>found")

    metrics = samples(get)

    assert metrics.pop("lab_results_info") == [({"url": URL}, 1)]
    assert metrics.pop("lab_results_unreadable") == [({}, 0)]
    assert not any(metrics.values())
    assert get("/report.html") == "<p>found"
    assert "Directory listing" in get("/")


@pytest.mark.parametrize("url", ["lab.example:9080", "javascript:alert(1)"])
def test_an_address_that_no_browser_opens_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match=r"is no address of a web page: use for instance http://127\.0\.0\.1:9080"):
        server_of(url, tmp_path, 0)


def asked(serving: Server, path: str, host: str | None = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", serving.server_port, timeout=30)
    connection.request("GET", path, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    answer.read()
    return answer


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (None, 200), ("localhost:9080", 200), ("results:8080", 200), ("LAB.example", 200), ("lab.example:9080", 200),
        ("evil.example", 421), ("evil.example:9080", 421), ("127.0.0.1.evil.example", 421), ("", 421), ("[", 421),
    ],
)  # fmt: skip
def test_only_pages_of_its_own_names_may_ask(serving: Server, host: str | None, status: int) -> None:
    assert [asked(serving, path, host).status for path in ("/", "/metrics")] == [status] * 2


@pytest.mark.parametrize(("path", "host"), [("/", None), ("/metrics", None), ("/none", None), ("/", "evil.example")])
def test_no_page_may_run_scripts_or_be_shown_within_another(serving: Server, path: str, host: str | None) -> None:
    answer = asked(serving, path, host)

    policy = answer.headers["Content-Security-Policy"]
    assert {"sandbox allow-downloads", "default-src 'none'", "frame-ancestors 'none'"} <= {*policy.split("; ")}
    assert "script" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_links_lead_nowhere_but_within_the_results(tmp_path: Path, serving: Server) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "report.html").write_text("<p>found")
    (tmp_path / "latest").symlink_to("one")
    outside = {"file": "/etc/passwd", "folder": "/etc", "device": "/dev/zero", "one/index.html": "/etc/passwd"}
    for name, target in (outside | {"self": "self"}).items():
        (tmp_path / name).symlink_to(target)
    os.mkfifo(tmp_path / "pipe")

    served = ["/", "/latest/", "/latest/report.html", "/one/"]
    refused = ["/file", "/folder/", "/folder/passwd", "/device", "/one/index.html", "/self", "/pipe", "/%00", "/../etc"]
    refused += ["/..%2f..%2fetc/passwd", "/one/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/latest/../folder/passwd"]
    refused += ["/one/..%5c..%5cetc/passwd", "/%252e%252e/etc/passwd", "/file/", "/latest/../../etc/passwd"]
    assert [path for path in served if asked(serving, path).status != 200] == []
    assert [path for path in refused if asked(serving, path).status != 404] == []


def test_silent_connections_end_and_are_so_many_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "TIMEOUT_S", 3)
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 8)
    serving = server_of(URL, tmp_path, 0)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    before = set(threading.enumerate())
    with ExitStack() as stack:
        address = ("127.0.0.1", serving.server_port)
        silent = [stack.enter_context(socket.create_connection(address, 30)) for _ in range(40)]

        assert {one.recv(1) for one in silent[8:]} == {b""}
        assert len(set(threading.enumerate()) - before) <= 8
        assert {one.recv(1) for one in silent} == {b""}
    for handler in set(threading.enumerate()) - before:
        handler.join(30)
    assert asked(serving, "/").status == 200
    serving.shutdown()
    serving.server_close()


@pytest.mark.parametrize("asks", ["", "GET / HTTP/1.1\r\nX: ", "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_who_asks_or_reads_too_slowly_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asks: str) -> None:
    """Even if a byte comes now and then."""
    for name in ("TIMEOUT_S", "ANSWER_S", "MOST_CONNECTIONS"):
        monkeypatch.setattr(server, name, 1)
    with (tmp_path / "large").open("wb") as large:
        large.truncate(2**30)
    serving, status = server_of(URL, tmp_path, 0), 0
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    with socket.create_connection(("127.0.0.1", serving.server_port), 30) as slow:
        slow.sendall(asks.encode())
        deadline = time.monotonic() + 60
        while status != 200 and time.monotonic() < deadline:
            with suppress(OSError):
                slow.sendall(b"a")
            time.sleep(0.2)
            with suppress(OSError, http.client.HTTPException):
                status = asked(serving, "/").status
    serving.shutdown()
    serving.server_close()
    assert status == 200
