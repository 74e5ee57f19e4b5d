"""What becomes of the runs of two approaches."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compared import LOAD, PAIR, compared, observed
from loomlab.statistics.comparison import CPU_PER_REQUEST, P99, Comparison, Dropped, Figure, Interval, Observation, Pair
from loomlab.statistics.paired import compare
from loomlab.statistics.student import blocks_needed

COSTS = st.floats(0.01, 100)
BLOCKS = st.lists(st.tuples(COSTS, COSTS), min_size=3, max_size=10)
EVEN = (0.30, 0.25, 0.28, 0.31, 0.26)
FIFTH_LESS = (0.240, 0.204, 0.220, 0.250, 0.206)
MIRRORED = {"lower": "higher", "higher": "lower"}


def of(blocks: list[tuple[float, float]]) -> Comparison:
    return compared([a for a, _ in blocks], [b for _, b in blocks])


def test_a_ratio_is_the_geometric_mean_of_the_blocks() -> None:
    got = compared(FIFTH_LESS, EVEN)

    assert got.effect == pytest.approx(math.prod(a / b for a, b in zip(FIFTH_LESS, EVEN, strict=True)) ** (1 / 5))
    assert [one.effect for one in got.effects] == pytest.approx([a / b for a, b in zip(FIFTH_LESS, EVEN, strict=True)])
    assert (got.word, got.blocks, got.coarse, got.dropped) == ("lower", 5, False, ())


@pytest.mark.parametrize(
    ("blocks", "interval", "coarse"), [(1, False, False), (2, False, False), (3, True, True), (4, True, True)]
)
def test_few_blocks_give_no_interval_or_a_coarse_one(blocks: int, interval: bool, coarse: bool) -> None:
    got = compared(FIFTH_LESS[:blocks], EVEN[:blocks])

    assert got.blocks == blocks
    assert ((got.interval is not None), (got.p_value is not None), got.coarse) == (interval, interval, coarse)
    assert got.effect is not None
    if not interval:
        assert (got.word, got.blocks_needed) == ("not resolved", None)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (None, "virtual: not measured"),
        (0.0, "virtual: 0 is no figure above 0"),
        (-1.0, "virtual: -1 is no figure above 0"),
        (math.nan, "virtual: nan is no figure above 0"),
        (math.inf, "virtual: inf is no figure above 0"),
    ],
)
def test_a_figure_without_a_logarithm_spoils_its_block(value: float | None, fault: str) -> None:
    got = compared((value, *FIFTH_LESS[1:]), EVEN)

    assert got.dropped == (Dropped(1, fault),)
    assert [one.block for one in got.effects] == [2, 3, 4, 5]
    assert got.interval == compared(FIFTH_LESS[1:], EVEN[1:]).interval


def test_a_block_is_spoilt_by_a_run_that_does_not_count_is_missing_or_is_there_twice() -> None:
    runs = [*observed("virtual", FIFTH_LESS), *observed("platform", EVEN[:4])]
    runs[0] = Observation(1, "virtual", LOAD, 0.24, None)
    runs[1] = Observation(2, "virtual", LOAD, None, "run 2-virtual is invalid")
    runs.append(Observation(3, "platform", LOAD, 0.3))

    (got,) = compare(CPU_PER_REQUEST, runs, [PAIR])

    assert got.dropped == (
        Dropped(2, "virtual: run 2-virtual is invalid"),
        Dropped(3, "platform has 2 runs"),
        Dropped(5, "platform has no run"),
    )
    assert got.blocks == 2


def test_both_faults_of_a_block_are_told() -> None:
    got = compared([None, 1], [0, 1])

    assert got.dropped == (Dropped(1, "virtual: not measured; platform: 0 is no figure above 0"),)


def test_without_a_block_there_is_nothing_but_the_reasons() -> None:
    got = compared([None] * 3, EVEN[:3])
    (unseen,) = compare(CPU_PER_REQUEST, [], [PAIR])

    assert (got.effect, got.interval, got.p_holm, got.word, len(got.dropped)) == (None, None, None, "not resolved", 3)
    assert (unseen.effect, unseen.effects, unseen.dropped) == (None, (), ())


def test_loads_and_other_approaches_are_not_mixed() -> None:
    other = Pair("virtual", "platform", "500 connections")
    runs = [*observed("virtual", FIFTH_LESS), *observed("platform", EVEN), *observed("reactive", (1, 2, 3))]
    runs += [*observed("virtual", EVEN, other.load), *observed("platform", EVEN, other.load)]

    first, second = compare(CPU_PER_REQUEST, runs, [PAIR, other])

    assert first.interval == compared(FIFTH_LESS, EVEN).interval
    assert (second.effect, second.word) == (1, "no difference")


def test_words_hold_for_all_declared_contrasts_together_and_intervals_for_each() -> None:
    slight = (0.25, 0.24, 0.23, 0.29, 0.23)
    alone = compared(slight, EVEN)
    loads = [f"{number} connections" for number in range(1, 9)]
    pairs = [PAIR, *(Pair("virtual", "platform", load) for load in loads)]
    same = [one for load in loads for name in ("virtual", "platform") for one in observed(name, EVEN, load)]

    first = compare(CPU_PER_REQUEST, [*observed("virtual", slight), *observed("platform", EVEN), *same], pairs)[0]

    assert (alone.word, first.word) == ("lower", "not resolved")
    assert (first.interval, first.p_value) == (alone.interval, alone.p_value)
    assert first.p_holm == pytest.approx(9 * (alone.p_value or 0))
    assert first.interval is not None
    assert first.interval.high < 1
    spread = statistics.stdev(math.log(a / b) for a, b in zip(slight, EVEN, strict=True))
    assert first.blocks_needed == blocks_needed(spread, 0.10, 9) > blocks_needed(spread, 0.10, 1)


def test_what_was_not_declared_is_exploratory_and_costs_the_others_nothing() -> None:
    third = Pair("virtual", "reactive", LOAD)
    runs = [*observed("virtual", FIFTH_LESS), *observed("platform", EVEN), *observed("reactive", EVEN)]

    declared, exploratory = compare(CPU_PER_REQUEST, runs, [PAIR], [third])

    assert declared == compared(FIFTH_LESS, EVEN)
    assert (exploratory.word, exploratory.declared, exploratory.p_holm) == ("exploratory", None, None)
    assert exploratory.interval == declared.interval
    assert compare(CPU_PER_REQUEST, runs, [], [third]) == [exploratory]


@pytest.mark.parametrize("margin", [0, -0.1, math.nan, math.inf])
def test_a_margin_is_a_share_above_0(margin: float) -> None:
    with pytest.raises(ValueError, match="use a share above 0"):
        Figure("CPU", margin, "needs", "less", "more")


def test_the_margin_is_the_figures_own() -> None:
    dearer = [1.115 * value for value in EVEN]

    assert (compared(dearer, EVEN).within_margin, compared(dearer, EVEN, P99).within_margin) == (False, True)


@given(BLOCKS)
def test_swapped_approaches_mirror_the_comparison(blocks: list[tuple[float, float]]) -> None:
    one, other = of(blocks), of([(b, a) for a, b in blocks])

    assert one.interval is not None
    assert other.interval is not None
    assert one.effect == pytest.approx(1 / (other.effect or 0))
    assert (one.interval.low, one.interval.high) == pytest.approx((1 / other.interval.high, 1 / other.interval.low))
    assert one.word == MIRRORED.get(other.word, other.word)
    assert (one.p_value, one.blocks_needed) == (other.p_value, other.blocks_needed)


@given(BLOCKS, st.floats(0.01, 100))
def test_a_unit_or_a_dearer_block_changes_nothing(blocks: list[tuple[float, float]], factor: float) -> None:
    one, other = of(blocks), of([(factor * blocks[0][0], factor * blocks[0][1]), *blocks[1:]])

    assert one.effect == pytest.approx(other.effect)
    assert one.interval is not None
    assert other.interval is not None
    assert (one.interval.low, one.interval.high) == pytest.approx((other.interval.low, other.interval.high))


@given(BLOCKS)
def test_every_word_agrees_with_its_interval(blocks: list[tuple[float, float]]) -> None:
    got = of(blocks)

    assert got.interval is not None
    assert got.effect is not None
    assert got.interval.low <= got.effect <= got.interval.high
    match got.word:
        case "lower":
            assert got.interval.high < 1
        case "higher":
            assert got.interval.low > 1
        case "no difference":
            assert got.interval.low <= 1 <= got.interval.high
            assert got.within_margin
        case _:
            assert got.blocks_needed is not None
            assert got.blocks_likely is not None
            assert got.blocks_needed >= got.blocks_likely > len(blocks)
    if got.within_margin:
        assert got.word != "not resolved"
        assert 1 / 1.1 < got.interval.low <= got.interval.high < 1.1


@given(BLOCKS)
def test_more_blocks_of_the_same_kind_narrow_the_interval(blocks: list[tuple[float, float]]) -> None:
    widths = []
    for times in (1, 2, 3):
        got = of(blocks * times)
        assert got.interval is not None
        widths.append(got.interval.high / got.interval.low)
    assume(widths[0] > 1 + 1e-9)

    assert all(wide > narrow for wide, narrow in pairwise(widths))


def test_figures_of_any_size_have_a_ratio() -> None:
    got = compared([1e308, 1e300, 1e-300], [1e-308, 5e-324, 1e300])

    assert [one.effect for one in got.effects] == [math.inf, math.inf, 0.0]
    assert got.word == "not resolved"


HELD = Figure("memory held", None, "holds", "less", "more", unit="KiB")


def held(a: list[float], b: list[float]) -> Comparison:
    (only,) = compare(HELD, [*observed("virtual", a), *observed("platform", b)], [], [PAIR])
    return only


def test_a_figure_with_a_unit_is_compared_by_differences_and_may_be_negative() -> None:
    got = held([17, -2, 0, math.nan], [78, 60, 61, 1])

    assert [one.effect for one in got.effects] == [-61, -62, -61]
    assert got.effect == pytest.approx(-184 / 3)
    assert got.dropped == (Dropped(4, "virtual: nan is no figure"),)
    assert got.interval is not None
    assert got.effect is not None
    assert got.interval.low < got.effect < got.interval.high < 0
    # Student's t: mean -61.33, standard deviation 0.577, t(0.975, 2) = 4.3027
    assert got.interval.high - got.interval.low == pytest.approx(2 * 4.3027 * 0.57735 / math.sqrt(3), rel=1e-4)
    assert (got.word, got.within_margin, got.blocks_needed) == ("exploratory", False, None)


def test_a_figure_without_a_margin_has_no_word_even_if_it_was_declared() -> None:
    (got,) = compare(HELD, [*observed("virtual", FIFTH_LESS), *observed("platform", EVEN)], [PAIR])

    assert (got.word, got.blocks_needed) == ("exploratory", None)


@pytest.mark.parametrize("approach", ["virtual", "platform"])
def test_a_suspect_run_of_either_approach_makes_its_block_suspect(approach: str) -> None:
    runs = [*observed("virtual", FIFTH_LESS), *observed("platform", EVEN)]
    (got,) = compare(
        CPU_PER_REQUEST, [replace(one, suspect=(one.approach, one.block) == (approach, 2)) for one in runs], [PAIR]
    )

    assert [one.suspect for one in got.effects] == [False, True, False, False, False]


def rounded(a: Sequence[float], b: Sequence[float], resolution: float) -> Comparison:
    runs = [replace(one, resolution=resolution) for one in (*observed("virtual", a), *observed("platform", b))]
    (only,) = compare(P99, runs, [PAIR])
    return only


def test_a_difference_below_the_resolution_is_none_that_was_found() -> None:
    """1.51 and 1.49 ms, rounded to 2 and 1."""
    got = rounded([2.0] * 5, [1.0] * 5, 1.0)

    assert got.effect == 2
    assert (got.apart, got.p_value, got.word) == (False, 1, "not resolved")
    assert compared([2.0] * 5, [1.0] * 5, P99).apart


@given(st.lists(st.tuples(st.floats(1, 50), st.floats(1, 50)), min_size=3, max_size=8))
def test_the_interval_of_rounded_figures_holds_that_of_the_figures(blocks: list[tuple[float, float]]) -> None:
    """But for what rounding does to their spread: their mean is in it."""
    got = rounded([max(1, round(a)) for a, _ in blocks], [max(1, round(b)) for _, b in blocks], 1.0)
    mean = math.exp(statistics.fmean(math.log(a / b) for a, b in blocks))

    assert got.interval is not None
    assert got.interval.low <= mean * (1 + 1e-9)
    assert got.interval.high >= mean * (1 - 1e-9)


def test_a_fine_resolution_changes_nothing_that_is_read() -> None:
    plain, fine = compared(FIFTH_LESS, EVEN, P99), rounded(FIFTH_LESS, EVEN, 1e-6)

    assert plain.interval is not None
    assert fine.interval is not None
    assert (fine.interval.low, fine.interval.high) == pytest.approx((plain.interval.low, plain.interval.high), rel=1e-4)
    assert fine.word == plain.word


def test_a_figure_no_larger_than_its_rounding_has_no_end() -> None:
    got = rounded([0.4] * 3, [1.0] * 3, 1.0)

    assert got.interval == Interval(0.0, math.inf)
