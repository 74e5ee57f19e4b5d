"""A share in a sentence, and a trend that is told from noise, whatever the noise is."""

import math
import random

import pytest

from loomlab.basics.format import percent
from loomlab.basics.trend import trend


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0, "0 %"), (0.05, "5 %"), (0.12345, "12.3 %"), (0.99951, "100 %"), (9.994, "999 %"), (9.996, "1,000 %"),
        (27.0649, "2,706 %"), (-0.0519, "-5.19 %"), (-1.2345, "-123 %"),
    ],
)  # fmt: skip
def test_a_share_has_three_digits_that_count_or_all_before_the_point(share: float, said: str) -> None:
    assert percent(share) == said


def test_slope_and_error_are_those_of_least_squares() -> None:
    got, straight = trend([math.exp(value) for value in (0.0, 0.1, 0.1, 0.4)]), trend([1, math.e, math.e**2])

    assert got is not None
    assert got.slope == pytest.approx(0.12)
    assert got.freedom == 2
    assert got.error == pytest.approx(math.sqrt((0.09 - 5 * 0.12**2) / 2 / 5))
    assert got.margin(80) == pytest.approx(1.061 * got.error, rel=1e-3)
    assert got.margin(95) == pytest.approx(2.920 * got.error, rel=1e-3)
    assert straight is not None
    assert straight.slope == pytest.approx(1)
    assert straight.margin(80) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("values", [[], [1.0, 2.0], [1.0, None, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]])
def test_too_few_values_or_missing_ones_tell_nothing(values: list[float | None]) -> None:
    assert trend(values) is None


@pytest.mark.parametrize("percent_of", [80, 95])
def test_the_margin_holds_as_often_as_it_promises(percent_of: int) -> None:
    source = random.Random(7)  # noqa: S311
    held = 0
    for _ in range(1000):
        got = trend([math.exp(-0.02 * number + source.gauss(0, 0.1)) for number in range(6)])
        assert got is not None
        held += got.slope + got.margin(percent_of) >= -0.02
    assert held / 1000 == pytest.approx(percent_of / 100, abs=0.03)
