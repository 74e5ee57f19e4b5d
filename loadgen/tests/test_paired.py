"""What becomes of the runs of two approaches."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from compared import BASE, LESS, LOAD, PAIR, SLIGHT, SPREAD, compared, observed, one_of_many, only
from loomlab.statistics.comparison import CPU_PER_REQUEST, MEMORY_PER_REQUEST, P99, ComparedFigure, Observation, Pair
from loomlab.statistics.paired import compare
from loomlab.statistics.student import blocks_likely, estimates, holm, power, within, words

NEAR = (0.301, 0.251, 0.279, 0.311, 0.260)


def test_a_block_is_spoilt_by_a_run_that_does_not_count_is_missing_or_is_there_twice_and_by_what_tore_it() -> None:
    runs = [*observed("virtual", [*LESS, 1, None]), *observed("platform", [*BASE[:4]])]
    runs[1] = Observation(2, "virtual", LOAD, None, "run 2-virtual is invalid")
    runs += [Observation(3, "platform", LOAD, 0.3), Observation(6, "platform", LOAD, 1)]
    runs += [Observation(7, "platform", LOAD, 0)]
    runs = [replace(run, value=None, reason="torn") if run.block == 6 else run for run in runs]

    (got,) = compare(CPU_PER_REQUEST, runs, [PAIR])

    assert got.dropped == [
        "block 2 (virtual: run 2-virtual is invalid)", "block 3 (platform has 2 runs)", "block 5 (platform has no run)",
        "block 6 (torn)", "block 7 (virtual: not measured; platform: 0 is no figure above 0)",
    ]  # fmt: skip
    assert [one.block for one in got.blocks] == [1, 4]


def test_loads_and_other_approaches_are_not_mixed() -> None:
    other = Pair("virtual", "platform", "500 connections", "controlled", cell=2)
    runs = [*observed("virtual", LESS), *observed("platform", BASE), *observed("reactive", (1, 2, 3))]
    runs += [*observed("virtual", BASE, other.load), *observed("platform", BASE, other.load)]

    first, second = compare(CPU_PER_REQUEST, runs, [PAIR, other])

    assert first.interval == compared(LESS).interval
    assert (second.load, second.cell, second.kind) == ("500 connections", 2, "controlled")
    assert (second.effect, second.word) == (1, "no difference")


def test_words_hold_for_all_declared_contrasts_together_and_intervals_for_each() -> None:
    alone, first = compared(SLIGHT), one_of_many()

    assert (alone.word, first.word) == ("lower", "not significant")
    assert (first.interval, first.p_value) == (alone.interval, alone.p_value)
    assert first.p_holm == pytest.approx(9 * (alone.p_value or 0))
    assert (first.high or 1) < 1
    differences = [math.log(a / b) for a, b in zip(SLIGHT, BASE, strict=True)]
    assert first.blocks_likely == blocks_likely(estimates(differences), 0.10, 9)


def test_what_was_not_declared_is_exploratory_and_costs_the_others_nothing() -> None:
    third = Pair("virtual", "reactive", LOAD)
    runs = [*observed("virtual", LESS), *observed("platform", BASE), *observed("reactive", BASE)]

    declared, exploratory = compare(CPU_PER_REQUEST, runs, [PAIR], [third])

    assert declared == compared(LESS)
    assert (exploratory.word, exploratory.declared, exploratory.p_holm) == ("exploratory", None, None)
    assert exploratory.interval == declared.interval
    assert compare(CPU_PER_REQUEST, runs, [], [third]) == [exploratory]


@pytest.mark.parametrize(("declared", "word"), [(True, "lower"), (False, "exploratory")])
def test_what_may_be_negative_is_compared_by_differences_and_has_no_margin(declared: bool, word: str) -> None:
    got = compared([17, -2, 0], [78, 60, 61], MEMORY_PER_REQUEST, declared)

    assert [one.effect for one in got.blocks] == [-61, -62, -61]
    assert got.effect == pytest.approx(-184 / 3)
    assert got.effect is not None
    # Student's t: mean -61.33, standard deviation 0.577, t(0.975, 2) = 4.3027
    half = 4.3027 * 0.57735 / math.sqrt(3)
    assert got.interval == pytest.approx((got.effect - half, got.effect + half), rel=1e-4)
    assert (got.word, got.within_margin, got.blocks_likely) == (word, False, None)
    assert [got.a_mean, got.b_mean] == pytest.approx([5, 199 / 3])


@pytest.mark.parametrize("a", [BASE, [1.01 * value for value in BASE], LESS])
def test_lower_bounds_are_in_no_margin(a: Sequence[float]) -> None:
    got, exact = (compared(a, figure=P99, declared=False, lower_bound=bound) for bound in (True, False))

    assert (got.interval, got.effect) == (exact.interval, exact.effect)
    assert (got.within_margin, got.margin, got.lower_bounds) == (False, None, True)
    assert exact.within_margin is (a is not LESS)


def test_a_difference_below_the_resolution_is_none_that_was_found() -> None:
    """1.51 and 1.49 ms, rounded to 2 and 1."""
    got = compared([2.0] * 5, [1.0] * 5, P99, resolution=1.0)

    assert got.effect == 2
    assert (got.apart, got.p_value, got.word) == (False, 1, "not significant")
    assert compared([2.0] * 5, [1.0] * 5, P99, resolution=0).apart


def test_the_interval_is_wider_by_what_the_rounding_of_both_sides_may_have_moved() -> None:
    got = compared([100.0] * 5, [50.0] * 5, P99, resolution=1.0)
    assert (got.low, got.high) == pytest.approx((2 * 0.995 * 0.99, 2 / 0.995 / 0.99))
    assert compared([0.4] * 3, [1.0] * 3, P99, resolution=1.0).interval == (0.0, math.inf)


def test_a_lower_bound_on_one_side_is_in_no_margin_either() -> None:
    got = only(P99, [*observed("virtual", BASE, lower_bound=True), *observed("platform", BASE)], declared=False)
    assert (got.lower_bounds, got.margin, got.within_margin) == (True, None, False)


def left_out(runs: Sequence[Observation], blocks: Sequence[int], value: float | None) -> list[Observation]:
    """The runs of these blocks are invalid for a cause of their own, and showed that value; None: none."""
    gone: dict[str, Any] = {"value": None, "reason": "invalid", "left_out": value, "lost": value is None}
    return [replace(one, **gone) if one.block in blocks else one for one in runs]


@pytest.mark.parametrize(
    ("values", "dear", "word", "is_swayed"),
    [
        (LESS, 0.9, "not significant", True), (BASE, 0.9, "not significant", True), (LESS, 0.22, "lower", False),
        (NEAR, 0.2, "not significant", True), (LESS, -1.0, "lower", False), (SPREAD, 5.0, "not significant", False),
    ],
)  # fmt: skip
def test_a_word_that_a_run_left_out_for_a_cause_of_its_own_would_change_is_not_said(
    values: Sequence[float], dear: float, word: str, is_swayed: bool
) -> None:
    virtual, platform = observed("virtual", values), observed("platform", BASE)

    got = only(CPU_PER_REQUEST, [*left_out(virtual, [5], dear), *platform])
    counted = only(CPU_PER_REQUEST, [*virtual[:4], *platform[:4]])

    assert (got.word, got.swayed, got.left_out, len(got.blocks)) == (word, is_swayed, (1, 0), 4)
    assert (got.interval, bool(got.blocks_likely)) == (counted.interval, counted.word == "not significant")
    assert ("1 run of virtual" in got.sentence) is got.swayed
    assert got.within_margin is (counted.within_margin and not is_swayed)


def test_words_of_other_contrasts_hold_with_these_runs_too() -> None:
    """Holm's correction asks all of them together."""
    other = Pair("virtual", "platform", "500 connections")
    runs = [*observed("virtual", (0.25, 0.245, 0.23, 0.30, 0.235)), *observed("platform", BASE)]
    runs += observed("platform", BASE, other.load)
    here = observed("virtual", LESS, other.load)

    without = compare(CPU_PER_REQUEST, [*runs, *here[:4]], [PAIR, other])
    first, second = compare(CPU_PER_REQUEST, [*runs, *left_out(here, [5], 0.9)], [PAIR, other])

    assert [one.word for one in without] == ["lower", "lower"]
    assert (first.word, second.word) == ("not significant", "not significant")
    assert (first.left_out, second.left_out) == ((0, 0), (1, 0))
    assert "the runs of other contrasts" in first.sentence


@pytest.mark.parametrize("figure", [P99, MEMORY_PER_REQUEST], ids=lambda figure: figure.name)
@pytest.mark.parametrize("blocks", [5, 2])
def test_of_the_exploratory_no_direction_is_said_that_runs_would_change(figure: ComparedFigure, blocks: int) -> None:
    """With two blocks there is no interval either."""
    virtual, platform = observed("virtual", [*LESS, *LESS]), observed("platform", [*BASE, *BASE])

    got = only(figure, [*left_out(virtual, range(blocks + 1, 11), 30.0), *platform], declared=False)
    counted = only(figure, [*virtual[:blocks], *platform[:blocks]], declared=False)

    assert (len(got.blocks), got.swayed, counted.swayed) == (blocks, True, False)
    assert ["Not known" in one.sentence for one in (got, counted)] == [True, False]


def test_runs_that_are_suspect_or_were_made_again_are_told_by_block_and_by_side() -> None:
    virtual, platform = observed("virtual", LESS), observed("platform", BASE)
    again = [replace(one, made_again=one.block < 3, suspect=one.block == 2) for one in virtual]
    other = [replace(one, suspect=one.block == 4) for one in platform]
    elsewhere = observed("platform", BASE, "1 connection", made_again=True)

    got = only(CPU_PER_REQUEST, [*again, *other, *elsewhere])

    assert (got.word, got.made_again) == ("lower", (2, 0))
    assert [one.suspect for one in got.blocks] == [False, True, False, True, False]
    assert "2 runs of virtual measured again" in got.sentence


@pytest.mark.parametrize(("blocks", "word"), [([1], "lower"), ([1, 2], "not significant")])
def test_over_a_tenth_of_runs_without_a_figure_let_nothing_be_said(blocks: list[int], word: str) -> None:
    virtual = left_out(observed("virtual", [*LESS, *LESS]), blocks, None)
    got = only(CPU_PER_REQUEST, [*virtual, *observed("platform", [*BASE, *BASE])])
    assert (got.word, got.swayed, got.left_out) == (word, len(blocks) > 1, (len(blocks), 0))


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
        ([-0.20, -0.22, -0.21], 0.01, "lower"), ([0.20, 0.22, 0.21], 0.01, "higher"),
        ([0.20, 0.22, 0.21], 0.06, "not significant"), ([0.01, -0.01, 0.0], 1.0, "no difference"),
        ([0.04, 0.041, 0.042], 0.0, "higher"), ([-0.04, -0.041, -0.042], 0.049, "lower"),
        ([0.04, 0.041, 0.042], 0.06, "equivalent"), ([-0.04, -0.041, -0.042], 0.06, "equivalent"),
        ([0.0, 0.0, 0.0], 1.0, "no difference"), ([0.3, -0.3, 0.0], 1.0, "not significant"),
        ([0.2, 0.2], 1.0, "not significant"), ([], 1.0, "not significant"),
    ],
)  # fmt: skip
def test_a_word_is_said_where_the_margin_or_holm_allows_it(differences: list[float], p_holm: float, word: str) -> None:
    assert str(words(estimates(differences), np.array(p_holm), 0.10)) == word


def of_spread(mean: float, deviation: float, blocks: int) -> list[float]:
    shape = np.linspace(-1, 1, blocks)
    return list(mean + deviation * shape / shape.std(ddof=1))


@pytest.mark.parametrize(
    ("differences", "inside"),
    [
        ([np.log1p(0.0999)] * 4, True), ([np.log1p(0.10)] * 4, False), ([0.0999] * 4, False),
        ([-np.log1p(0.0999)] * 4, True), ([-0.0954] * 4, False), (of_spread(0.02, 0.0473, 4), True),
        (of_spread(0.02, 0.0474, 4), False),
    ],
)  # fmt: skip
def test_interval_is_within_a_margin_of_ratios_not_of_their_logarithms(differences: list[float], inside: bool) -> None:
    assert bool(within(estimates(differences), 0.10)) is inside


@pytest.mark.parametrize(("mean", "blocks", "declared"), [(0.19, 8, 4), (0.19, 5, 1), (-0.3, 4, 2), (0.0, 6, 1)])
def test_without_a_margin_the_power_is_that_of_the_t_test(mean: float, blocks: int, declared: int) -> None:
    """By the noncentral t distribution."""
    free, shift = blocks - 1, mean / 0.12 * np.sqrt(blocks)
    quantile = stats.t.ppf(1 - 0.025 / declared, free)
    expected = stats.nct.sf(quantile, free, shift) + stats.nct.cdf(-quantile, free, shift)

    assert power(mean, 0.12, blocks, 1e-9, declared) == pytest.approx(expected, abs=1e-3)


def test_so_many_blocks_are_likely_as_have_the_power() -> None:
    """Of 21 % more, of which 8 blocks give a word in 82 %."""
    found = estimates(of_spread(0.191, 0.122, 5))

    assert blocks_likely(found, 0.10, 4) == 8
    assert blocks_likely(estimates(of_spread(1.0, 0.1, 5)), 0.10, 4) == 6
    assert power(0.191, 0.122, 8, 0.10, 4) == pytest.approx(0.82, abs=0.01)


def test_rounding_widens_the_interval_and_the_p_value_is_of_what_is_nearest_to_0() -> None:
    values = [0.10, 0.12, 0.15, 0.11]
    plain, rounded, hidden = (estimates(values, rounding) for rounding in (0.0, 0.05, 0.2))

    assert rounded.mean == plain.mean
    assert rounded.half_width == pytest.approx(plain.half_width + 0.05)
    assert rounded.p_value == pytest.approx(stats.ttest_1samp(values, 0.05).pvalue)
    assert hidden.p_value == 1
