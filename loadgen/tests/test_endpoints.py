"""What a request asks of the approach and the backend."""

import pytest

from loomlab.endpoints import endpoint_of


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
    got = endpoint_of(target, 300)

    assert (got.label, got.backend_calls) == (label, calls)
    assert (got.backend_delay_ms, got.floor_ms) == (backend_delay_ms, floor_ms)


def test_only_meetings_wants_a_header() -> None:
    assert endpoint_of("/meetings", 300).headers == ("Authorization: Bearer loom-lab",)
    assert endpoint_of("/capabilities", 300).headers == ()


def test_bodies_of_one_length() -> None:
    assert endpoint_of("/movies?directorLastName=Allen", 0).constant_body
    assert endpoint_of("/httpbin/block/1", 0).constant_body
    assert not endpoint_of("/capabilities", 0).constant_body
