"""The backend's delay and hangs, told to a small server that stands for its management port."""

import io
import time

import pytest

from loomlab.records.delay import delay_of
from loomlab.records.models import Hang
from loomlab.run.console import Progress
from loomlab.run.management import Backend, hanging
from loomlab.run.prometheus import UnreachableError
from served import serving

LATE_S = 30.0
"""A busy host's timer may be late by so much, never early."""
DELAY = b'{"delay":"lognormal:300:900","error_share":0,"hang_until_ms":0}'


def spoken(stream: io.StringIO, wanted: str) -> str:
    """What was said, once `wanted` is in it."""
    deadline = time.monotonic() + LATE_S
    while wanted not in stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    return stream.getvalue()


def test_each_hang_begins_at_its_time_for_its_duration() -> None:
    stream, arrivals = io.StringIO(), list[float]()

    def answer(_: str) -> tuple[int, bytes]:
        arrivals.append(time.monotonic())
        return 200, b""

    with serving(answer) as server:
        began = time.monotonic()
        hangs = [Hang(at_s=0.2, duration_s=0.5), Hang(at_s=0.6, duration_s=10)]
        with hanging(hangs, Backend("127.0.0.1", server.port), Progress(stream)):
            assert "The backend hangs for 10 s." in spoken(stream, "hangs for 10 s.")

    assert server.asked == ["PUT /behaviour?hang_ms=500", "PUT /behaviour?hang_ms=10000"]
    for arrived, hang in zip(arrivals, hangs, strict=True):
        assert hang.at_s <= arrived - began < hang.at_s + LATE_S


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_a_hang_that_is_not_due_before_the_end_never_begins(error: type[BaseException] | None) -> None:
    with serving(lambda _: (200, b"")) as server:
        try:
            with hanging([Hang(at_s=0.3, duration_s=1)], Backend("127.0.0.1", server.port), Progress(io.StringIO())):
                if error:
                    raise error
        except KeyboardInterrupt:
            assert error
        assert not server.arrived.acquire(timeout=0.6)


@pytest.mark.parametrize("there", [True, False])
def test_a_backendthat_takes_no_hang_is_told_and_harms_nothing(there: bool) -> None:
    stream = io.StringIO()
    with serving(lambda _: (400, b"")) as server:
        backend = Backend("127.0.0.1", server.port if there else 9)
        with hanging([Hang(at_s=0, duration_s=1)], backend, Progress(stream)):
            said = spoken(stream, "could not be told to hang")

    assert ("answered 400" if there else "did not answer") in said


def test_the_delay_is_read_lent_and_set() -> None:
    with serving(lambda _: (200, DELAY)) as server:
        backend = Backend("127.0.0.1", server.port)

        assert backend.delay() == "lognormal:300:900"
        backend.lend(40)
        backend.set_delay(delay_of("uniform:200:400"))

    assert server.asked[1:] == [
        "PUT /behaviour?delay=40&delay_for_ms=60000",
        "PUT /behaviour?delay=uniform%3A200%3A400",
    ]


@pytest.mark.parametrize("answer", [b"", b"[]", b'{"delays":"300"}', b'{"delay":"fast"}', b'{"delay":null}'])
def test_an_answer_that_tells_no_delay_is_none(answer: bytes) -> None:
    with serving(lambda _: (200, answer)) as server:
        assert Backend("127.0.0.1", server.port).delay() is None


def test_a_backendthat_refuses_a_delay_is_told() -> None:
    with serving(lambda _: (400, b"")) as server, pytest.raises(UnreachableError, match="answered 400"):
        Backend("127.0.0.1", server.port).set_delay(delay_of("300"))
