"""Samples between and beside one another."""

import pytest

from fake import growing
from watching.series import Series


def test_a_value_between_two_samples_is_on_the_line() -> None:
    series = Series(((10, 1.0), (12, 5.0)))
    assert [series.at(10), series.at(11), series.at(12)] == [1, 3, 5]


@pytest.mark.parametrize("time", [9.9, 12.1])
def test_a_value_outside_is_unknown(time: float) -> None:
    with pytest.raises(ValueError, match="no sample on both sides"):
        Series(((10, 1.0), (12, 5.0))).at(time)


def test_growth_is_the_difference() -> None:
    assert growing(2).growth(101.5, 104) == pytest.approx(5)


def test_both_ends_are_in_a_window() -> None:
    assert growing(1).between(103, 105).values == [3, 4, 5]
