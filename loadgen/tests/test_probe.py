"""The probe, against servers that keep, close and misuse a connection."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from loomlab.run.probe import probe

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc"


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """A server that gives each connection these answers, one a request, then closes it; and the requests it got. It
    answers a connection's first request only once the other connection has come, too."""
    requests: list[bytes] = []
    both = threading.Barrier(2, timeout=30)

    def serve(connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as reader:
            for number, answer in enumerate(answers):
                requests.append(b"".join(iter(reader.readline, b"\r\n")))
                if not number:
                    both.wait()
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        for _ in range(2):
            threading.Thread(target=lambda: serve(listener.accept()[0]), daemon=True).start()
        yield listener.getsockname()[1], requests


def test_a_kept_connection_and_what_was_answered_to_both_versions_at_the_same_time() -> None:
    with answering(OK, OK) as (port, requests):
        got = probe("127.0.0.1", port, "/meetings?x=1", ("Authorization: me",), 5)

    assert got.error is None
    assert list(got.answers) == ["1.1", "1.0"]
    for answer in got.answers.values():
        assert (answer.status, answer.body_bytes, answer.kept) == ("HTTP/1.1 200 OK", 3, True)
        assert answer.headers == [("Content-Type", "text/plain"), ("Content-Length", "3")]
    first, second = (request for request in requests if b" HTTP/1.1\r\n" in request)
    assert first.startswith(b"GET /meetings?x=1 HTTP/1.1\r\n")
    assert b"Authorization: me\r\n" in first
    assert b"Connection:" not in first
    assert second.startswith(b"GET /about HTTP/1.1\r\n")
    older = [request for request in requests if b" HTTP/1.0\r\n" in request]
    assert [b"Connection: keep-alive\r\n" in request for request in older] == [True, True]


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
        got = probe("127.0.0.1", port, "/", (), 5)

    assert [(one.body_bytes, one.kept) for one in got.answers.values()] == [(body_bytes, False)] * 2


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-x\r\n"])
def test_what_is_no_answer_is_told(answer: bytes) -> None:
    with answering(answer) as (port, _):
        got = probe("127.0.0.1", port, "/x", (), 5)

    assert got.answers == {}
    assert "127.0.0.1 did not answer /x over HTTP/1.0" in (got.error or "")


def test_nobody_there() -> None:
    assert "refused" in (probe("127.0.0.1", 9, "/x", (), 5).error or "")
