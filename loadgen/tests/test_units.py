"""Times and rates with their units."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.plan.scenarios.units import rate_rps, seconds, span_seconds, whole_seconds

READERS: tuple[Callable[[object], object], ...] = (seconds, whole_seconds, span_seconds, rate_rps)


@pytest.mark.parametrize(("text", "expected"), [("300ms", 0.3), ("0s", 0), ("60s", 60), ("1.5m", 90), ("0.5s", 0.5)])
def test_a_time_is_read_with_its_unit(text: str, expected: float) -> None:
    assert seconds(text) == pytest.approx(expected)


@pytest.mark.parametrize(("text", "expected"), [("1s", 1), ("2m", 120), ("1000ms", 1), ("1.5m", 90)])
def test_whole_seconds(text: str, expected: int) -> None:
    assert whole_seconds(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("1s-3s", (1, 3)), ("0s-500ms", (0, 0.5)), ("2s-2s", (2, 2))])
def test_a_span_is_two_times(text: str, expected: tuple[float, float]) -> None:
    assert span_seconds(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("10000/s", 10_000), ("0.5/s", 0.5)])
def test_a_rate_is_read_with_its_unit(text: str, expected: float) -> None:
    assert rate_rps(text) == expected


TOO_LONG = "9" * 400


@pytest.mark.parametrize(
    ("read", "value", "allowed"),
    [
        (seconds, "60", "300ms, 60s or 5m"),
        (seconds, 60, "300ms, 60s or 5m"),
        (seconds, "60 s", "300ms, 60s or 5m"),
        (seconds, "-1s", "300ms, 60s or 5m"),
        (seconds, "1h", "300ms, 60s or 5m"),
        (seconds, "60s\n", "300ms, 60s or 5m"),
        (seconds, None, "300ms, 60s or 5m"),
        (whole_seconds, "300ms", "whole seconds"),
        (whole_seconds, "0s", "at least 1s"),
        (whole_seconds, "1.5s", "whole seconds"),
        (whole_seconds, f"{TOO_LONG}s", "60s or 5m"),
        (span_seconds, "3s-1s", "the shorter time first"),
        (span_seconds, "1s", "two times"),
        (span_seconds, "1-3s", "300ms, 60s or 5m"),
        (span_seconds, 3, "two times"),
        (rate_rps, "500", "500/s"),
        (rate_rps, "500/m", "500/s"),
        (rate_rps, "-500/s", "above 0"),
        (rate_rps, "0/s", "above 0"),
        (rate_rps, f"{TOO_LONG}/s", "500/s"),
        (rate_rps, 500, "500/s"),
    ],
)
def test_what_has_no_known_unit_is_refused_with_what_is_allowed(
    read: Callable[[object], object], value: object, allowed: str
) -> None:
    with pytest.raises(ValueError, match=allowed):
        read(value)


@given(st.text() | st.from_regex(r"\A[0-9]+(\.[0-9]+)?(ms|s|m|/s)\Z") | st.integers() | st.floats())
def test_any_value_is_read_or_refused(value: object) -> None:
    for read in READERS:
        try:
            read(value)
        except ValueError:
            continue
