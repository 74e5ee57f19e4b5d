"""Hangs, told to a small server that stands for the backend's management port."""

import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

import pytest

from loomlab.records.delay import delay_of
from loomlab.records.models import Hang
from loomlab.run.backend import Behaviour, Hangs
from loomlab.run.progress import Progress
from loomlab.run.prometheus import UnreachableError
from served import serving

LATE_S = 30.0
"""A busy host's timer may be late by so much, never early."""


@dataclass
class Told:
    """What the backend was told; times are monotonic."""

    url: str = ""
    answer: bytes = b'{"delay":"lognormal:300:900","error_share":0,"hang_until_ms":0}'
    requests: list[tuple[float, str]] = field(default_factory=list)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


@contextmanager
def backend(status: int = 200) -> Iterator[Told]:
    told = Told()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(told.answer)

        def do_PUT(self) -> None:
            told.requests.append((time.monotonic(), self.path))
            self.send_response(status)
            self.end_headers()
            told.arrived.release()

    with serving(Handler) as origin:
        told.url = f"{origin}/behaviour"
        yield told


def spoken(stream: io.StringIO, wanted: str) -> str:
    """What was said, once `wanted` is in it."""
    deadline = time.monotonic() + LATE_S
    while wanted not in stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    return stream.getvalue()


def test_each_hang_begins_at_its_time_for_its_duration() -> None:
    stream = io.StringIO()
    with backend() as told:
        began = time.monotonic()
        hangs = [Hang(at_s=0.2, duration_s=0.5), Hang(at_s=0.6, duration_s=10)]
        with Hangs(hangs, Progress(stream), Behaviour(told.url)):
            assert all(told.arrived.acquire(timeout=LATE_S) for _ in hangs)
            said = spoken(stream, "hangs for 10 s")

    assert [path for _, path in told.requests] == ["/behaviour?hang_ms=500", "/behaviour?hang_ms=10000"]
    for (at, _), hang in zip(told.requests, hangs, strict=True):
        assert hang.at_s <= at - began < hang.at_s + LATE_S
    assert "The backend hangs for 10 s." in said


def test_a_hang_that_is_not_due_before_the_end_never_begins() -> None:
    with backend() as told:
        with Hangs([Hang(at_s=0.3, duration_s=1)], Progress(io.StringIO()), Behaviour(told.url)):
            pass
        assert not told.arrived.acquire(timeout=0.6)

    assert told.requests == []


def test_an_error_ends_the_hangs_too() -> None:
    with backend() as told:
        with (
            pytest.raises(KeyboardInterrupt),
            Hangs([Hang(at_s=0.3, duration_s=1)], Progress(io.StringIO()), Behaviour(told.url)),
        ):
            raise KeyboardInterrupt
        assert not told.arrived.acquire(timeout=0.6)


def test_a_backend_that_refuses_is_told_and_harms_nothing() -> None:
    stream = io.StringIO()
    with backend(status=400) as told, Hangs([Hang(at_s=0, duration_s=1)], Progress(stream), Behaviour(told.url)):
        assert told.arrived.acquire(timeout=LATE_S)
        assert "HTTP Error 400" in spoken(stream, "could not")


def test_a_backend_that_is_not_there_is_told_and_harms_nothing() -> None:
    stream = io.StringIO()
    with Hangs([Hang(at_s=0, duration_s=1)], Progress(stream), Behaviour("http://127.0.0.1:9/behaviour")):
        assert "could not be told to hang" in spoken(stream, "could not")


def test_without_hangs_nothing_is_told() -> None:
    with backend() as told, Hangs([], Progress(io.StringIO()), Behaviour(told.url)):
        assert not told.arrived.acquire(timeout=0.1)


def test_the_delay_is_read_lent_and_set() -> None:
    with backend() as told:
        behaviour = Behaviour(told.url)

        assert behaviour.delay() == delay_of("lognormal:300:900")
        behaviour.lend(40, 60_000)
        behaviour.set_delay(delay_of("uniform:200:400"))

    assert [path for _, path in told.requests] == [
        "/behaviour?delay=40&delay_for_ms=60000",
        "/behaviour?delay=uniform%3A200%3A400",
    ]


@pytest.mark.parametrize("answer", [b"", b"[]", b'{"delays":"300"}', b'{"delay":"fast"}', b'{"delay":null}'])
def test_an_answer_that_tells_no_delay_is_none(answer: bytes) -> None:
    with backend() as told:
        told.answer = answer

        with pytest.raises(UnreachableError):
            Behaviour(told.url).delay()


def test_a_backend_that_refuses_a_delay_is_told() -> None:
    with backend(status=400) as told, pytest.raises(UnreachableError, match=r"did not accept .*'delay': '300'"):
        Behaviour(told.url).set_delay(delay_of("300"))
