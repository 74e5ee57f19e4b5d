"""A share in a sentence."""

import pytest

from loomlab.basics.words import percent


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0, "0 %"),
        (0.05, "5 %"),
        (0.12345, "12.3 %"),
        (0.999, "99.9 %"),
        (0.99951, "100 %"),
        (9.994, "999 %"),
        (9.996, "1,000 %"),
        (10, "1,000 %"),
        (27.0649, "2,706 %"),
        (99.996, "10,000 %"),
        (-0.0519, "-5.19 %"),
        (-1.2345, "-123 %"),
    ],
)
def test_a_share_has_three_digits_that_count_or_all_before_the_point(share: float, said: str) -> None:
    assert percent(share) == said
