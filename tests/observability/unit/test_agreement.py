"""Agreement is a ratio that each kind of mistake moves."""

import pytest

from fake import growing, steady
from watching.agreement import NothingToCompareError, counted, growth_ratio, level_ratio, rate_ratio, unlike_any_scrape
from watching.series import Series

OWN = Series(tuple((99.9 + 0.5 * step, 0.4 * (99.9 + 0.5 * step)) for step in range(60)))
"""0.4 cores."""


@pytest.mark.parametrize(("cores", "ratio"), [(0.4, 1), (0.412, 1.03), (400, 1000), (0.8, 2)])
def test_growth_between_the_same_moments(cores: float, ratio: float) -> None:
    assert growth_ratio(growing(cores), OWN, 100, 119, 15) == pytest.approx(ratio)


@pytest.mark.parametrize("told", [growing(0.4, seconds=15), Series(())])
def test_a_short_window_is_no_evidence(told: Series) -> None:
    with pytest.raises(NothingToCompareError, match="15 s are wanted"):
        growth_ratio(told, OWN, 100, 119, 15)


@pytest.mark.parametrize(("cores", "ratio"), [(0.4, 1), (0.44, 1.1), (0.0004, 0.001)])
def test_rates_over_the_same_windows(cores: float, ratio: float) -> None:
    assert rate_ratio(steady(cores), OWN, 100, 119, 10) == pytest.approx(ratio)


def test_rates_need_a_whole_window() -> None:
    with pytest.raises(NothingToCompareError, match="0 rates"):
        rate_ratio(steady(1), OWN, 100, 109, 10)


@pytest.mark.parametrize(("told", "ratio"), [(29, 1), (58, 2), (29_000, 1000)])
def test_levels_at_the_same_moments(told: float, ratio: float) -> None:
    assert level_ratio(steady(told), steady(29, seconds=40, start=90), 100, 119, 15) == pytest.approx(ratio)


@pytest.mark.parametrize(("factor", "ratio"), [(1, 1), (0.9, 0.9), (1.1, 1.078)])
def test_levels_that_grow_are_held_against_the_second_around_each(factor: float, ratio: float) -> None:
    own = growing(1, seconds=60, start=60)
    told = Series(tuple((time + 0.5, factor * value) for time, value in own.samples))
    assert level_ratio(told, own, 100, 119, 15) == pytest.approx(ratio, abs=0.002)


def test_levels_need_samples_of_both() -> None:
    with pytest.raises(NothingToCompareError, match="5 samples of both"):
        level_ratio(steady(29), steady(29, seconds=3, start=104), 100, 119, 15)


def test_a_rule_repeats_one_of_the_last_scrapes() -> None:
    scrapes = growing(1)
    assert unlike_any_scrape(Series(((105.5, 5.0), (107.5, 5.0))), scrapes, 5) == []
    assert unlike_any_scrape(Series(((105.5, 5.1), (111.5, 5.0), (112, 13.0))), scrapes, 5) == [
        (105.5, 5.1),
        (111.5, 5.0),
        (112, 13.0),
    ]


def test_requests_count_from_before_the_first_answer_and_for_new_series_from_zero() -> None:
    ok = Series(((99, 2.0), (100, 2.0), (101, 50.0), (120, 1952.0), (130, 9999.0)))
    failed = Series(((105, 1.0), (120, 50.0)))
    assert counted([ok, failed], first_answer=100, settled=124) == 2000
