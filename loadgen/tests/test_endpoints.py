"""What a request asks of the approach and the backend."""

import pytest

from loomlab.delay import delay_of
from loomlab.endpoints import endpoint_of

MS_300 = delay_of("300")
NONE = delay_of("0")


@pytest.mark.parametrize(
    ("target", "label", "calls", "backend_delay_ms", "floor_ms"),
    [
        ("/capabilities", "/capabilities", 3, 300, 900),
        ("/meetings?x=1", "/meetings", 3, 300, 900),
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
