"""What a request asks of the approach and the backend."""

import pytest

from loomlab.records.delay import delay_of
from loomlab.records.endpoints import answer_ms, endpoint_of, with_wait
from loomlab.records.load import Target

MS_300 = delay_of("300")
NONE = delay_of("0")


@pytest.mark.parametrize(
    ("target", "label", "calls", "backend_delay_ms", "floor_ms"),
    [
        ("/capabilities", "/capabilities", 3, 300, 900),
        ("/meetings?x=1", "/meetings", 3, 300, 900),
        ("/capabilities?calls=5", "/capabilities", 7, 300, 2100),
        ("/capabilities?calls=5&parallel=true", "/capabilities", 7, 300, 900),
        ("/capabilities?parallel=true", "/capabilities", 3, 300, 900),
        ("/capabilities?calls=2&parallel=false", "/capabilities", 4, 300, 1200),
        ("/meetings?calls=5", "/meetings", 3, 300, 900),
        ("/httpbin/block/0.25", "/httpbin/block/{seconds}", 1, 250, 250),
        ("/epoch-millis?delayInMillis=70", "/epoch-millis", 0, 0, 70),
        ("/movies?directorLastName=Allen&delayInMillis=0", "/movies", 0, 0, 0),
        ("/pinned?delayInMillis=nonsense", "/pinned", 0, 0, 0),
        ("/pinned", "/pinned", 0, 0, 0),
        ("/httpbin/block/x", "/httpbin/block/{seconds}", 1, 0, 0),
        ("/", "/", 1, 300, 300),
    ],
)
def test_calls_and_delays(target: str, label: str, calls: int, backend_delay_ms: int, floor_ms: int) -> None:
    got = endpoint_of(target, MS_300)

    assert (got.label, got.backend_calls) == (label, calls)
    assert (got.backend_delay_ms, got.floor_ms) == (backend_delay_ms, floor_ms)


def test_only_meetings_wants_a_header() -> None:
    assert endpoint_of("/meetings", MS_300).headers == ("Authorization: Bearer loom-lab",)
    assert endpoint_of("/capabilities", MS_300).headers == ()


def test_bodies_of_one_length() -> None:
    assert endpoint_of("/movies?directorLastName=Allen", NONE).constant_body
    assert endpoint_of("/httpbin/block/1", NONE).constant_body
    assert not endpoint_of("/capabilities", NONE).constant_body


def test_a_delay_that_varies_has_a_floor_and_a_mean() -> None:
    got = endpoint_of("/capabilities", delay_of("uniform:200:400"))

    assert (got.backend_delay_ms, got.floor_ms, got.mean_ms) == (300, 600, 900)


def test_an_answer_takes_on_average_its_calls_or_its_wait() -> None:
    assert endpoint_of("/epoch-millis?delayInMillis=70", MS_300).mean_ms == 70
    assert endpoint_of("/httpbin/block/3", NONE).mean_ms == 3000
    assert endpoint_of("/meetings", MS_300).mean_ms == 900


def test_calls_at_once_are_one_wait() -> None:
    fanning_out = endpoint_of("/capabilities?calls=5&parallel=true", MS_300)
    in_turn = endpoint_of("/capabilities?calls=5", MS_300)

    assert (fanning_out.at_once, fanning_out.rounds, fanning_out.mean_ms) == (5, 3, 900)
    assert (in_turn.at_once, in_turn.rounds, in_turn.mean_ms) == (1, 7, 2100)
    assert answer_ms(fanning_out, MS_300) == 900
    assert endpoint_of("/epoch-millis?delayInMillis=70", MS_300).rounds == 0


@pytest.mark.parametrize(
    ("target", "work_ms"),
    [
        ("/capabilities?cpuMicros=2500", 2.5),
        ("/epoch-millis?delayInMillis=70&cpuMicros=100", 0.1),
        ("/capabilities", 0),
        ("/movies?cpuMicros=2500", 0),
    ],
)
def test_a_request_may_ask_for_cpu(target: str, work_ms: float) -> None:
    assert endpoint_of(target, MS_300).work_ms == work_ms


@pytest.mark.parametrize(
    ("target", "waiting"),
    [
        ("/epoch-millis?delayInMillis=900", "/epoch-millis?delayInMillis=40"),
        ("/movies?directorLastName=Allen&delayInMillis=0&x=1", "/movies?directorLastName=Allen&delayInMillis=40&x=1"),
        ("/pinned?notdelayInMillis=3&delayInMillis=300", "/pinned?notdelayInMillis=3&delayInMillis=40"),
        ("/httpbin/block/0.3", "/httpbin/block/0.040"),
        ("/capabilities", "/capabilities"),
        ("/meetings?delayInMillis=9", "/meetings?delayInMillis=9"),
    ],
)
def test_a_request_that_carries_its_wait_can_carry_another(target: str, waiting: str) -> None:
    asked = Target(target, "POST", ("A: b",))

    assert with_wait(asked, 40) == Target(waiting, "POST", ("A: b",))


def test_only_some_requests_wait_as_the_backend_is_set() -> None:
    assert endpoint_of("/capabilities", MS_300).waits_as_configured
    assert not endpoint_of("/httpbin/block/1", MS_300).waits_as_configured
    assert not endpoint_of("/movies?delayInMillis=5", MS_300).waits_as_configured
