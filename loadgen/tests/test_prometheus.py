"""Talking to Prometheus, against a small server that answers as it does."""

import socket
import time
from typing import Any
from urllib.parse import parse_qs

import pytest

from loomlab.run.console import Stop
from loomlab.run.prometheus import Prometheus, UnreachableError, answered, json_object
from served import NOBODY, dripping, prometheus, sampled, serving

ERROR = {"status": "error"}
JUDGED = (
    "cpu_usage_seconds_total", "cpu_cfs_periods_total", "cpu_cfs_throttled_periods_total", "memory_rss", "threads",
    "start_time_seconds", "spec_cpu_quota", "spec_cpu_period",
)  # fmt: skip
"""What the verdict reads of containers."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries are made again without a pause."""
    monkeypatch.setattr("loomlab.run.prometheus.RETRY_AFTER_S", (0.0, 0.0, 0.0))


def test_raw_samples_of_the_containers_and_processes_are_kept() -> None:
    start = time.time() - 60
    with prometheus(*[sampled(start)] * 5, [{"value": [0, f"{start:.3f}"]}]) as (url, _):
        got = Prometheus(url).collect("tomcat-virtual", start, start + 50)

    assert got["error"] is None
    assert 59 < got["clock_off_s"] < 120
    assert got["containers"] == got["approach"] == got["backend"] == got["database"] == sampled(start)


def test_of_a_pair_the_containers_of_both_are_asked_for_and_the_processes_of_the_side_that_is_measured() -> None:
    """From 10 s before the run to 20 s after it."""
    start = float(int(time.time()) - 600)
    with serving(lambda _: (200, b'{"data": {"result": []}}')) as server:
        got = Prometheus(server.origin).collect("tomcat-virtual", start, start + 100.5, ["tomcat-platform"])

    *asked, clock = [parse_qs(one.partition("?")[2]) for one in server.asked]
    assert "time" not in clock
    containers, approach, backend, database, nodes = (one["query"][0] for one in asked)
    others = "tomcat-platform|backend|database|database-exporter|loadgen|prometheus|cadvisor"
    assert f'service=~"tomcat-virtual|{others}"' in containers
    assert 'job="cadvisor"' in containers  # not what an approach may tell of containers
    assert [name for name in JUDGED if name not in containers] == []
    assert (approach.count('service="tomcat-virtual"'), backend.count('service="backend"')) == (1, 1)
    assert 'job="database"' in database
    assert 'job="cadvisor"' in nodes
    assert [kind for kind in ("lab", "backend", "jvm", "process") if kind not in approach] == []
    assert [one["query"][0].rpartition("[")[2] for one in asked] == ["131s]"] * 5
    assert {one["time"][0] for one in asked} == {f"{start + 120.5:.3f}"}
    assert got["fetched"] == start + 120.5


def test_the_last_samples_are_waited_for() -> None:
    end = time.time()
    container_only = sampled(end + 1)[:3] + sampled(end - 2)[3:]
    without_backend = sampled(end + 1)[:4] + sampled(end - 2)[4:]
    with prometheus([], sampled(end - 2), container_only, without_backend, sampled(end + 1)) as (url, queries):
        Prometheus(url).wait_for_samples("app", end, Stop())

    assert len(queries) == 5


@pytest.mark.parametrize("tries", [3, 4])
def test_a_query_that_fails_is_made_again_three_times(tries: int) -> None:
    start = time.time() - 60
    with prometheus(*[ERROR] * tries, sampled(start)) as (url, _):
        got = Prometheus(url).collect("app", start, start + 50)

    assert got["containers"] == (sampled(start) if tries == 3 else [])
    assert got["error"] == (None if tries == 3 else f"{url} did not return a query result")
    assert got["backend"] == sampled(start)


def test_queries_share_one_connection() -> None:
    with serving(lambda _: (200, b'{"data": {"result": []}}')) as server:
        client = Prometheus(server.origin)
        assert [client.query("up", time.time()) for _ in range(3)] == [[], [], []]

    assert server.connections == 1


def test_a_server_that_comes_back_is_asked_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    client = Prometheus(f"http://127.0.0.1:{port}/")
    with pytest.raises(UnreachableError, match="did not answer"):
        client.query("up", 0)

    with prometheus([], port=port):
        assert client.query("up", 0) == []


@pytest.mark.parametrize(("answer", "why"), [(503, "/api/v1/query answered 503"), (ERROR, "a query result")])
def test_another_answer_is_no_result(answer: Any, why: str) -> None:
    with prometheus(answer) as (url, _), pytest.raises(UnreachableError, match=why):
        Prometheus(url).query("up", 0)


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (404, b"{}", "answered 404"), (200, b"cpu 3\n", "a JSON object"), (200, b"[]", "a JSON object"),
        (200, b'{"a": NaN}', "a JSON object"), (200, b'{"a":' * 100_000, "a JSON object"),
    ],
    ids=["status", "text", "array", "NaN", "depth"],
)  # fmt: skip
def test_another_answer_is_no_json_object(status: int, body: bytes, why: str) -> None:
    with serving(lambda _: (status, body)) as server, pytest.raises(UnreachableError, match=why):
        json_object(server.origin)
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:9 did not answer"):
        json_object(NOBODY)


def test_of_a_service_less_is_read_than_of_prometheus() -> None:
    body = b'{"data": {"result": [' + b" " * 2**22 + b"]}}"
    with serving(lambda _: (200, body)) as server:
        assert Prometheus(server.origin).query("up", 0) == []
        with pytest.raises(UnreachableError, match="did not answer"):
            answered(server.origin)


OK = b"HTTP/1.1 200 OK\r\n"
ENDLESS = {
    "a body that drips": (OK + b"Content-Length: 9999\r\n\r\n", b"x", 0.05),
    "a header that drips": (OK + b"X: ", b"x", 0.05),
    "a stream": (OK + b"\r\n", b"x" * 65_536, 0),
    "small chunks": (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nabcde\r\n", 0),
    "a chunk of any size": (OK + b"Transfer-Encoding: chunked\r\n\r\n7FFFFFFFFFFFFFF0\r\n", b"x", 0.05),
    "a body of any size": (OK + b"Content-Length: 9223372036854775000\r\n\r\n", b"x", 0.05),
    "a chunk of a negative size": (OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n", b"x", 0.05),
    "preliminary answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0),
    "a status that drips": (b"HTTP/1.1 ", b"2", 0.05),
    "a header of any length": (OK + b"X: ", b"x" * 65_536, 0),
    "headers": (OK, b"X: x\r\n" * 50, 0.05),
    "the extension of a chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\n5;", b"x", 0.05),
    "trailers": (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: x\r\n", 0.05),
}


@pytest.mark.parametrize("answer", ENDLESS.values(), ids=ENDLESS)
def test_an_answer_that_never_ends_is_none(answer: tuple[bytes, bytes, float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loomlab.run.prometheus.QUERY_TIMEOUT_S", 0.5)
    began = time.monotonic()
    with dripping(*answer) as server:
        with pytest.raises(UnreachableError, match="did not answer"):
            answered(server.origin, timeout_s=0.5)
        with pytest.raises(UnreachableError, match="did not answer"):
            Prometheus(server.origin).query("up", 0)
    assert time.monotonic() - began < 20  # on a busy host
