"""Talking to Prometheus, against a small server that answers as it does."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest

from loomlab.basics.errors import CannotMeasureError
from loomlab.run.collect import collect, wait_for_samples
from loomlab.run.measure import collect_again
from loomlab.run.prometheus import Prometheus, UnreachableError, exposed_values, get_json
from loomlab.run.stop import Stop
from rawrun import BEGIN, RawRun, write
from served import serving


@contextmanager
def prometheus(*answers: Any) -> Iterator[tuple[str, list[str]]]:
    """Gives these results one after another, the last one for ever; records the queries."""
    queries: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            queries.append(parse_qs(urlparse(self.path).query)["query"][0])
            answer = answers[min(len(queries), len(answers)) - 1]
            body = json.dumps({"data": {"result": answer}} if isinstance(answer, list) else answer).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

    with serving(Handler) as origin:
        yield origin, queries


def sampled(at: float) -> list[dict[str, Any]]:
    values = [[at - 1, "1"], [at, "2"]]
    wanted = (
        ("container_cpu_usage_seconds_total", "app"),
        ("container_cpu_usage_seconds_total", "backend"),
        ("container_cpu_usage_seconds_total", "loadgen"),
        ("process_start_time_seconds", "app"),
        ("process_start_time_seconds", "backend"),
    )
    return [{"metric": {"__name__": name, "service": service}, "values": values} for name, service in wanted]


def test_raw_samples_of_the_containers_and_processes_are_kept() -> None:
    start = time.time() - 60
    with prometheus(sampled(start)) as (url, queries):
        got = collect(Prometheus(url), "tomcat-virtual", start, start + 50)

    assert got["error"] is None
    assert got["containers"] == got["approach"] == got["backend"] == sampled(start)
    assert 'service=~"tomcat-virtual|backend|loadgen|prometheus|cadvisor"}[7' in queries[0]
    assert 'service="tomcat-virtual"' in queries[1]


def test_the_last_samples_are_waited_for() -> None:
    end = time.time()
    container_only = sampled(end + 1)[:3] + sampled(end - 2)[3:]
    without_backend = sampled(end + 1)[:4] + sampled(end - 2)[4:]
    with prometheus([], sampled(end - 2), container_only, without_backend, sampled(end + 1)) as (url, queries):
        wait_for_samples(Prometheus(url), "app", end, Stop())

    assert len(queries) == 5


def test_a_query_that_fails_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loomlab.run.collect.TRY_AGAIN_S", (0.0, 0.0, 0.0))
    start = time.time() - 60
    with prometheus({"status": "error"}, {"status": "error"}, {"status": "error"}, sampled(start)) as (url, queries):
        got = collect(Prometheus(url), "app", start, start + 50)

    assert got["error"] is None
    assert got["containers"] == sampled(start)
    assert len(queries) == 3 + 3


def test_a_long_run_is_asked_for_in_pieces_whose_edges_count_once() -> None:
    end = time.time() - 60
    edge = end + 20 - 300
    earlier = [{"metric": {"__name__": "a"}, "values": [[edge - 1, "1"], [edge, "2"]]}]
    later = [{"metric": {"__name__": "a"}, "values": [[edge, "2"], [edge + 1, "3"]]}]
    with prometheus([], [], earlier, later, []) as (url, queries):
        got = collect(Prometheus(url), "app", end - 900, end)

    assert got["containers"] == [
        {"metric": {"__name__": "a"}, "values": [[edge - 1, "1"], [edge, "2"], [edge + 1, "3"]]}
    ]
    assert len(queries) == 3 * 4
    assert [query[query.index("[") :] for query in queries[:4]] == ["[30s]", "[300s]", "[300s]", "[300s]"]


def test_what_cannot_be_fetched_is_told_in_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loomlab.run.collect.TRY_AGAIN_S", (0.0,))
    with prometheus({"status": "error"}) as (url, _):
        got = collect(Prometheus(url), "app", time.time(), time.time())

    assert got["containers"] == []
    assert "did not return a query result" in got["error"]


def test_samples_can_be_fetched_later(tmp_path: Path) -> None:
    folder = RawRun().write(tmp_path / "1-app")
    write(folder, "metrics.json", {"start": BEGIN, "end": BEGIN + 40, "error": "late", "containers": []})
    with prometheus(sampled(BEGIN)) as (url, _):
        collect_again(folder, url)

    assert json.loads((folder / "raw" / "metrics.json").read_text())["containers"] == sampled(BEGIN)


def test_samples_that_are_gone_do_not_replace_what_there_is(tmp_path: Path) -> None:
    folder = RawRun().write(tmp_path / "1-app")
    before = (folder / "raw" / "metrics.json").read_bytes()
    with (
        prometheus(sampled(BEGIN)) as (url, _),
        pytest.raises(CannotMeasureError, match="has 30 samples of 1-app, fewer than the 1044"),
    ):
        collect_again(folder, url)

    assert (folder / "raw" / "metrics.json").read_bytes() == before


def test_nobody_there() -> None:
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:9 did not answer"):
        get_json("http://127.0.0.1:9")


def test_a_metric_is_summed_over_its_labels_and_not_mixed_with_longer_names() -> None:
    page = (
        "# TYPE process_cpu_time_ns_total counter\n"
        'process_cpu_time_ns_total{approach="a"} 1.5E9\n'
        "process_cpu_time_ns_total 5\n"
        "process_cpu_time_ns_total_more 7\n"
    )

    assert exposed_values(page) == {"process_cpu_time_ns_total": 1.5e9 + 5, "process_cpu_time_ns_total_more": 7}


def test_another_page_is_no_page_of_metrics() -> None:
    with pytest.raises(UnreachableError, match="does not hold metrics"):
        exposed_values("<html>502</html>\n")


def test_queries_share_one_connection() -> None:
    answer = json.dumps({"data": {"result": []}}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer)
    opened: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                opened.append(connection)
                while connection.recv(65_536):
                    connection.sendall(head + answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        prometheus_ = Prometheus(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        assert [prometheus_.query("up", time.time()) for _ in range(3)] == [[], [], []]
        opened[0].shutdown(socket.SHUT_RDWR)
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()

    assert len(opened) == 1


def test_a_server_that_comes_back_is_asked_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    client = Prometheus(f"http://127.0.0.1:{port}")
    with pytest.raises(UnreachableError, match="did not answer"):
        client.query("up", time.time())

    with socket.create_server(("127.0.0.1", port)) as listener:
        thread = threading.Thread(target=lambda: answer_once(listener))
        thread.start()
        assert client.query("up", time.time()) == []
        thread.join()


def answer_once(listener: socket.socket, status: bytes = b"200 OK") -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65_536)
        connection.sendall(b'HTTP/1.0 %s\r\n\r\n{"data": {"result": []}}' % status)


def test_another_status_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=lambda: answer_once(listener, b"503 Busy"))
        thread.start()
        with pytest.raises(UnreachableError, match="/api/v1/query answered 503"):
            Prometheus(f"http://127.0.0.1:{listener.getsockname()[1]}").query("up", time.time())
        thread.join()
