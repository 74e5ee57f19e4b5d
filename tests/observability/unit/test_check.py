"""The checks of answers refuse what a mistake in a rule, a panel or a label would give."""

import pytest

from fake import steady
from watching.check import Plausible, problems
from watching.series import Series

RATE = Plausible(90, 110)
TRUE = [steady(100.0, service="tomcat-virtual")]


def wrong(answer: list[Series], wanted: Plausible = RATE, **more: list[str]) -> str:
    return " ".join(problems(answer, wanted, **more))


def test_a_true_answer_passes() -> None:
    assert wrong(TRUE, labels=["service"], services=["tomcat-virtual"]) == ""


@pytest.mark.parametrize("answer", [[], [Series((), {"service": "tomcat-virtual"})]])
def test_no_data_fails_unless_nothing_is_right(answer: list[Series]) -> None:
    assert wrong(answer) == "There is no data."
    assert wrong(answer, Plausible(90, 110, empty="nothing went wrong")) == ""


@pytest.mark.parametrize("factor", [1000, 0.001, 60, 0.5, -1])
def test_a_wrong_unit_fails(factor: float) -> None:
    assert "is not between 90 and 110" in wrong([steady(100 * factor, service="tomcat-virtual")])


def test_a_missing_label_fails() -> None:
    assert "The label service is missing" in wrong([steady(100, job="approach")], labels=["service"])


def test_a_missing_service_fails() -> None:
    assert wrong(TRUE, services=["webflux-netty"]) == "There is no series of webflux-netty."


def test_zero_fails_unless_it_may_be() -> None:
    assert "0 is not between" in wrong([steady(0)])
    assert wrong([steady(0)], Plausible(1, 100, zero="idle")) == ""
    assert "200 is not between" in wrong([steady(200)], Plausible(1, 100, zero="idle"))
    assert "-1 is not between" in wrong([steady(-1)], Plausible(1, 100, zero="idle"))


def test_the_largest_median_counts() -> None:
    peak = Series((*steady(1).samples, (200, 100)))
    assert problems([peak, steady(2)], RATE) == ["2 is not between 90 and 110."]
    assert problems([peak, steady(100)], RATE) == []


@pytest.mark.parametrize(("low", "high"), [(1, 1000), (0, 1), (2, 1), (-1, 1)])
def test_a_range_that_admits_a_wrong_unit_is_refused(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="narrow it"):
        Plausible(low, high)
