"""What processes tell over their management ports, and what they are asked to do there, over real HTTP."""

import io
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from loads import CLOSED, load_of
from loomlab.records.endpoints import delay_of, endpoint_of
from loomlab.records.models import Hang
from loomlab.run.console import Progress
from loomlab.run.management import Backend, Management, Process, Waits, exposed_values, hanging, probe
from loomlab.run.prometheus import UnreachableError
from served import dripping, serving

NOBODY = Management("127.0.0.1", 9)
LATE_S = 30.0  # a busy host's timer may be late by so much, never early
VARYING = delay_of("uniform:200:400")
DELAY = b'{"delay":"lognormal:300:900","error_share":0,"hang_until_ms":0}'


def test_memory_is_kept_as_it_is_told_with_its_times_or_why_it_is_not() -> None:
    begun = time.time()
    with serving(lambda _: (200, b'{"heap_used_bytes": 5, "kernel_bytes": null, "new": "x"}')) as server:
        got = Management("127.0.0.1", server.port).memory()

    assert server.asked == ["POST /memory"]
    assert (got.answer, got.error) == ({"heap_used_bytes": 5, "kernel_bytes": None, "new": "x"}, None)
    assert begun <= got.asked <= got.answered <= time.time()
    assert "did not answer" in (NOBODY.memory().error or "")


@pytest.mark.parametrize("status", [200, 204, 404, 500])
def test_high_water_marks_begin_anew_only_where_the_process_says_so(status: int) -> None:
    with serving(lambda asked: (status if asked == "PUT /peaks" else 418, b"")) as server:
        assert Management("127.0.0.1", server.port).reset_peaks() is (status < 300)
    assert not NOBODY.reset_peaks()


def test_a_process_tells_its_figures_on_its_metrics_page() -> None:
    page = (Path(__file__).parent / "golden" / "backend-metrics.txt").read_bytes()
    with serving(lambda _: (200, page)) as server:
        got = Management("127.0.0.1", server.port).process()

    assert server.asked == ["GET /actuator/prometheus"]
    assert got.cpu_s == pytest.approx(61.61)
    assert (got.jit_cpu_s, got.rss_bytes, got.cpus) == (8.076305839, 292_814_848, 1)
    assert (got.backend_connections, got.inflight) == (2001, None)
    assert NOBODY.process() == Process()


def test_a_metric_is_summed_over_its_labels_and_not_mixed_with_longer_names() -> None:
    page = 'cpu_ns_total{approach="a"} 1.5E9\ncpu_ns_total 5\ncpu_ns_total_more 7\n'

    assert exposed_values(page) == {"cpu_ns_total": 1.5e9 + 5, "cpu_ns_total_more": 7}
    assert exposed_values("a NaN\nb +Inf\nd 1e308\nd 1e308\ne 7\n") == {"e": 7}
    for page in ("<html>502</html>\n", 'a{b="1", ="2"} 3\n', f"c 1{400 * '0'}\n"):
        with pytest.raises(UnreachableError, match="does not hold metrics"):
            exposed_values(page)


def test_the_delay_is_read_lent_cut_and_put_back() -> None:
    with serving(lambda _: (200, DELAY)) as server:
        backend = Backend("127.0.0.1", server.port)

        assert backend.delay() == "lognormal:300:900"
        waits = Waits(endpoint_of("/capabilities", VARYING), VARYING, backend, Progress(io.StringIO()))
        assert waits.stretched(load_of(CLOSED), 40) == load_of(CLOSED)
        waits.cut()
        waits.restore()

    assert server.asked[1:] == [
        "PUT /behaviour?delay=40&delay_for_ms=60000",
        "PUT /behaviour?delay=1&delay_for_ms=60000",
        "PUT /behaviour?delay=uniform%3A200%3A400",
    ]


@pytest.mark.parametrize("answer", [b"", b"[]", b'{"delays":"300"}', b'{"delay":"fast"}', b'{"delay":null}'])
def test_an_answer_that_tells_no_delay_is_none(answer: bytes) -> None:
    with serving(lambda _: (200, answer)) as server:
        assert Backend("127.0.0.1", server.port).delay() is None


def said_while(hangs: list[Hang], port: int, wanted: str) -> str:
    """What is said while these hangs are due, until `wanted` is."""
    stream, deadline = io.StringIO(), time.monotonic() + LATE_S
    with hanging(hangs, Backend("127.0.0.1", port), Progress(stream)):
        while wanted not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    return stream.getvalue()


def test_each_hang_begins_at_its_time_for_its_duration() -> None:
    began, arrivals = time.monotonic(), list[float]()
    hangs = [Hang(at_s=0.2, duration_s=0.5), Hang(at_s=0.6, duration_s=10)]
    with serving(lambda _: (200, arrivals.append(time.monotonic()) or b"")) as server:  # type: ignore[func-returns-value]
        assert "The backend hangs for 10 s." in said_while(hangs, server.port, "hangs for 10 s.")

    assert server.asked == ["PUT /behaviour?hang_ms=500", "PUT /behaviour?hang_ms=10000"]
    for arrived, hang in zip(arrivals, hangs, strict=True):
        assert hang.at_s <= arrived - began < hang.at_s + LATE_S


def test_a_hang_that_is_not_due_before_the_end_never_begins() -> None:
    with serving(lambda _: (200, b"")) as server:
        with (
            pytest.raises(KeyboardInterrupt),
            hanging([Hang(at_s=0.3, duration_s=1)], Backend("127.0.0.1", server.port), Progress(io.StringIO())),
        ):
            raise KeyboardInterrupt
        assert not server.arrived.acquire(timeout=0.6)


@pytest.mark.parametrize(("there", "why"), [(True, "answered 400"), (False, "did not answer")])
def test_a_backend_that_takes_no_hang_is_told_and_harms_nothing(there: bool, why: str) -> None:
    with serving(lambda _: (400, b"")) as server:
        hangs = [Hang(at_s=0, duration_s=1)]
        assert why in said_while(hangs, server.port if there else 9, "could not be told to hang")


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc"


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """A server that gives a connection these answers, one a request, then closes it; and the requests it got."""
    requests: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as reader:
            for answer in answers:
                requests.append(b"".join(iter(reader.readline, b"\r\n")))
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=lambda: serve(listener.accept()[0]), daemon=True).start()
        yield listener.getsockname()[1], requests


@pytest.mark.parametrize(("version", "asks"), [("1.1", False), ("1.0", True)])
def test_a_kept_connection_and_what_was_answered(version: str, asks: bool) -> None:
    with answering(OK, OK) as (port, requests):
        got = probe(f"http://127.0.0.1:{port}", "/meetings?x=1", ("Authorization: me",), 5, version)

    assert got.error is None
    answer = got.answers[version]
    assert (answer.status, answer.body_bytes, answer.kept) == ("HTTP/1.1 200 OK", 3, True)
    assert answer.headers == [("Content-Type", "text/plain"), ("Content-Length", "3")]
    first, second = requests
    assert first.startswith(f"GET /meetings?x=1 HTTP/{version}\r\n".encode())
    assert b"Authorization: me\r\n" in first
    assert second.startswith(f"GET /about HTTP/{version}\r\n".encode())
    assert [b"Connection: keep-alive\r\n" in request for request in requests] == [asks] * 2


@pytest.mark.parametrize(
    ("answer", "body_bytes"),
    [
        (OK, 3),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", 13),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", None),
    ],
)
def test_a_connection_that_serves_no_second_request_was_not_kept(answer: bytes, body_bytes: int | None) -> None:
    with answering(answer) as (port, _):
        got = probe(f"http://127.0.0.1:{port}", "/", (), 5, "1.1")
    assert [(one.body_bytes, one.kept) for one in got.answers.values()] == [(body_bytes, False)]


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-x\r\n"])
def test_what_is_no_answer_is_told(answer: bytes) -> None:
    with answering(answer) as (port, _):
        got = probe(f"http://127.0.0.1:{port}", "/x", (), 5, "1.0")

    assert got.answers == {}
    assert "did not answer /x over HTTP/1.0" in (got.error or "")


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"])
def test_a_target_that_drips_is_told(head: bytes) -> None:
    with dripping(head, b"x") as server:
        got = probe(server.origin, "/x", (), 0.5, "1.1")
    assert (got.answers, "timed out" in (got.error or "")) == ({}, True)
