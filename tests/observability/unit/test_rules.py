"""The table of rules can be made, and is of this lab."""

import pytest

from fake import LOAD
from watching.rules import expectations


def test_figures_that_follow_from_the_load() -> None:
    assert LOAD.answer_seconds == pytest.approx(0.9)
    assert LOAD.in_flight == pytest.approx(90)
    assert LOAD.failing_share == pytest.approx(0.03)


@pytest.mark.parametrize("name", expectations(LOAD))
def test_every_range_admits_one_unit_only(name: str) -> None:
    for expected in expectations(LOAD)[name]:
        plausible = expected.plausible
        assert not plausible.admits(1000 * plausible.high)
        assert not plausible.admits(plausible.low / 1000) or plausible.zero
