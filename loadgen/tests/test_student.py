"""Formulas, against scipy's own tests and published examples."""

import numpy as np
import pytest
from scipy import stats

from loomlab.statistics.student import blocks_likely, blocks_needed, estimates, holm, power, within, words


@pytest.mark.parametrize("blocks", [3, 4, 5, 20])
def test_interval_and_p_value_are_those_of_the_paired_t_test(blocks: int) -> None:
    values = np.random.default_rng(blocks).normal(0.1, 0.2, blocks)

    got = estimates(values)

    expected = stats.ttest_1samp(values, 0)
    interval = expected.confidence_interval(0.95)
    assert got.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert (got.mean - got.half_width, got.mean + got.half_width) == pytest.approx(tuple(interval), rel=1e-9)


def test_a_block_that_does_not_count_leaves_the_others_as_they_are() -> None:
    holes = np.array([[0.1, np.nan, 0.3, 0.2], [np.nan, np.nan, 0.3, 0.2], [np.nan] * 4])

    got = estimates(holes)

    alone = estimates([0.1, 0.3, 0.2])
    assert got.blocks.tolist() == [3, 2, 0]
    assert (got.mean[0], got.half_width[0], got.p_value[0]) == (alone.mean, alone.half_width, alone.p_value)
    assert got.mean[1] == pytest.approx(0.25)
    assert np.isnan(got.mean[2])
    assert np.isnan(got.half_width[1:]).all()
    assert got.p_value[1:].tolist() == [1, 1]


@pytest.mark.parametrize(("value", "p_value"), [(0, 1), (0.5, 0), (-0.5, 0)])
def test_where_nothing_varies_the_interval_is_a_point(value: float, p_value: float) -> None:
    got = estimates([value] * 3)

    assert [float(one) for one in (got.mean, got.half_width, got.p_value)] == [value, 0, p_value]


def test_holm_adjusts_as_r_does() -> None:
    """p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")."""
    p_values = np.array([0.01, 0.04, 0.03, 0.005])

    assert holm(p_values) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.stack([p_values, p_values[::-1]]))[1] == pytest.approx([0.02, 0.06, 0.06, 0.03])
    assert holm(np.array([0.6, 0.7])).tolist() == [1, 1]
    assert holm(np.array([])).size == 0


@pytest.mark.parametrize(
    ("differences", "p_holm", "word"),
    [
        ([-0.20, -0.22, -0.21], 0.01, "lower"),
        ([0.20, 0.22, 0.21], 0.01, "higher"),
        ([0.20, 0.22, 0.21], 0.06, "not resolved"),
        ([0.01, -0.01, 0.0], 1.0, "no difference"),
        ([0.04, 0.041, 0.042], 0.0, "higher"),
        ([-0.04, -0.041, -0.042], 0.049, "lower"),
        ([0.04, 0.041, 0.042], 0.06, "equivalent"),
        ([-0.04, -0.041, -0.042], 0.06, "equivalent"),
        ([0.0, 0.0, 0.0], 1.0, "no difference"),
        ([0.3, -0.3, 0.0], 1.0, "not resolved"),
        ([0.2, 0.2], 1.0, "not resolved"),
        ([], 1.0, "not resolved"),
    ],
)
def test_a_word_is_said_where_the_margin_or_holm_allows_it(differences: list[float], p_holm: float, word: str) -> None:
    assert str(words(estimates(differences), np.array(p_holm), 0.10)) == word


def of_spread(mean: float, deviation: float, blocks: int) -> list[float]:
    shape = np.linspace(-1, 1, blocks)
    return list(mean + deviation * shape / shape.std(ddof=1))


@pytest.mark.parametrize(
    ("differences", "inside"),
    [
        ([np.log1p(0.0999)] * 4, True),
        ([np.log1p(0.10)] * 4, False),
        ([0.0999] * 4, False),
        ([-np.log1p(0.0999)] * 4, True),
        ([-0.0954] * 4, False),
        (of_spread(0.02, 0.0473, 4), True),
        (of_spread(0.02, 0.0474, 4), False),
    ],
)
def test_the_interval_is_within_a_margin_of_ratios_not_of_their_logarithms(
    differences: list[float], inside: bool
) -> None:
    assert bool(within(estimates(differences), 0.10)) is inside


@pytest.mark.parametrize(("deviation", "blocks"), [(0.0, 3), (0.01, 3), (0.05, 7), (0.07, 11), (0.20, 71)])
def test_blocks_needed_follow_the_spread(deviation: float, blocks: int) -> None:
    assert blocks_needed(deviation, 0.10, declared=1) == blocks


@pytest.mark.parametrize(("mean", "blocks", "declared"), [(0.19, 8, 4), (0.19, 5, 1), (-0.3, 4, 2), (0.0, 6, 1)])
def test_without_a_margin_the_power_is_that_of_the_t_test(mean: float, blocks: int, declared: int) -> None:
    """By the noncentral t distribution."""
    free, shift = blocks - 1, mean / 0.12 * np.sqrt(blocks)
    quantile = stats.t.ppf(1 - 0.025 / declared, free)
    expected = stats.nct.sf(quantile, free, shift) + stats.nct.cdf(-quantile, free, shift)

    assert power(mean, 0.12, blocks, 1e-9, declared) == pytest.approx(expected, abs=1e-3)


def test_a_difference_as_seen_is_found_with_fewer_blocks_than_any_difference() -> None:
    """The README's 21 % more, of which 8 blocks give a word in 82 % and 36 whatever the truth is."""
    found = estimates(of_spread(0.191, 0.122, 5))

    assert (blocks_likely(found, 0.10, 4), blocks_needed(0.122, 0.10, 4)) == (8, 36)
    assert blocks_likely(estimates(of_spread(1.0, 0.1, 5)), 0.10, 4) == 6
    assert power(0.191, 0.122, 8, 0.10, 4) == pytest.approx(0.82, abs=0.01)
    assert power(0.191, 0.122, 10, 0.10, 4) == pytest.approx(0.94, abs=0.01)


def test_rounding_widens_the_interval_and_the_p_value_is_of_what_is_nearest_to_0() -> None:
    values = [0.10, 0.12, 0.15, 0.11]
    plain, rounded, hidden = (estimates(values, rounding) for rounding in (0.0, 0.05, 0.2))

    assert rounded.mean == plain.mean
    assert rounded.half_width == pytest.approx(plain.half_width + 0.05)
    assert rounded.p_value == pytest.approx(stats.ttest_1samp(values, 0.05).pvalue)
    assert hidden.p_value == 1
