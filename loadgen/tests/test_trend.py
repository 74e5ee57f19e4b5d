"""A trend is told from noise, whatever the noise is."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.basics.trend import trend


def test_a_straight_line_is_found_without_an_error() -> None:
    got = trend([math.exp(-0.1 * place) for place in range(5)])

    assert got is not None
    assert got.slope == pytest.approx(-0.1)
    assert got.error == pytest.approx(0, abs=1e-12)
    assert got.freedom == 3
    assert got.margin(80) == pytest.approx(0, abs=1e-12)


def test_slope_and_error_are_those_of_least_squares() -> None:
    got = trend([math.exp(value) for value in (0.0, 0.1, 0.1, 0.4)])

    assert got is not None
    assert got.slope == pytest.approx(0.12)
    assert got.error == pytest.approx(math.sqrt((0.09 - 5 * 0.12**2) / 2 / 5))
    assert got.margin(80) == pytest.approx(1.061 * got.error)
    assert got.margin(95) == pytest.approx(2.920 * got.error)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [1.0, None, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]])
def test_too_few_values_or_missing_ones_tell_nothing(values: list[float | None]) -> None:
    assert trend(values) is None


@pytest.mark.parametrize("percent", [80, 95])
def test_the_margin_holds_as_often_as_it_promises(percent: int) -> None:
    source = random.Random(7)  # noqa: S311
    held = 0
    for _ in range(2000):
        got = trend([math.exp(-0.02 * place + source.gauss(0, 0.1)) for place in range(6)])
        assert got is not None
        held += got.slope + got.margin(percent) >= -0.02
    assert held / 2000 == pytest.approx(percent / 100, abs=0.03)


def test_more_values_than_the_table_has_use_the_normal_distribution() -> None:
    got = trend([1.0, 1.1] * 20)

    assert got is not None
    assert got.margin(95) == pytest.approx(1.645 * got.error)


@given(st.lists(st.floats(0.01, 1e6), min_size=3, max_size=20), st.floats(0.01, 100))
def test_units_do_not_matter(values: list[float], factor: float) -> None:
    one, other = trend(values), trend([factor * value for value in values])

    assert one is not None
    assert other is not None
    assert other.slope == pytest.approx(one.slope, abs=1e-6)
    assert other.error == pytest.approx(one.error, abs=1e-6)
