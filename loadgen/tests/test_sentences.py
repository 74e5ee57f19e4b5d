"""A sentence says what its figures say."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from compared import LOAD, PAIR, compared, observed
from loomlab.statistics.comparison import CPU_PER_REQUEST, P99, Comparison, Figure, Interval, Pair
from loomlab.statistics.paired import compare
from loomlab.statistics.sentences import left_out, sentence
from saying import figures

COSTS = st.floats(0.01, 100)
BLOCKS = st.lists(st.tuples(COSTS, COSTS), min_size=1, max_size=8)
CLOSE = st.lists(st.tuples(st.floats(0.2, 0.22), st.floats(0.2, 0.23)), min_size=3, max_size=8)
BASE = (0.30, 0.25, 0.28, 0.31, 0.26)
LESS = (0.240, 0.204, 0.220, 0.250, 0.206)
SLIGHT = (0.25, 0.24, 0.23, 0.29, 0.23)
SPREAD = (0.30, 0.20, 0.33, 0.25, 0.28)
NOISY = (0.300, 0.255, 0.282, 0.316, 0.266)
EVEN_ON_AVERAGE = (0.31, 0.25, 0.27, 0.31, 0.26)
HELD = Figure(
    "memory held by a waiting request", None, "holds", "less", "more", unit="KiB", subject="a waiting request"
)
SIZE = r"(under 0\.1|over 99|over 1,000|[\d.,]+)"
SPAN = re.compile(rf"interval {SIZE}(?: % (less|more))? to {SIZE} % (less|more), (\d+) block")


def ends(interval: Interval, *, less: bool) -> tuple[float, float]:
    """In the order in which a sentence says them: the one nearer to equality first."""
    return (interval.high, interval.low) if less else (interval.low, interval.high)


def of(blocks: list[tuple[float, float]], pair: Pair = PAIR) -> Comparison:
    return compared([a for a, _ in blocks], [b for _, b in blocks], pair=pair)


def exploratory_of(a: Sequence[float], b: Sequence[float], figure: Figure = CPU_PER_REQUEST) -> Comparison:
    (only,) = compare(figure, [*observed("virtual", a), *observed("platform", b)], [], [PAIR])
    return only


def test_each_word_has_its_approved_sentence(snapshot: SnapshotAssertion) -> None:
    near = [1.01 * value for value in BASE]
    held = ([17, 19, 16, 18, 20], [78, 80, 79, 77, 81])
    examples = [
        compared(LESS, BASE),
        compared(BASE, LESS),
        compared(LESS[:3], BASE[:3]),
        compared(BASE, BASE),
        compared(LESS[:2], BASE[:2]),
        compared(LESS[:1], BASE[:1]),
        compared((None, None, *LESS[2:4]), BASE[:4]),
        compared((None,), BASE[:1]),
        compared(SPREAD, BASE),
        compared(LESS, BASE, P99),
        compared(BASE, BASE, P99),
        one_of_many(),
        *compare(CPU_PER_REQUEST, [], [PAIR]),
        exploratory_of(LESS, BASE),
        exploratory_of(LESS[:2], BASE[:2]),
        compared([1.09 * value for value in BASE], BASE),
        one_of_many([1.01 * value for value in NOISY]),
        exploratory_of(near, BASE, P99),
        exploratory_of(EVEN_ON_AVERAGE, BASE, P99),
        lower_bounds(LESS, BASE),
        lower_bounds(BASE, BASE),
        exploratory_of(near[:2], BASE[:2], P99),
        exploratory_of(BASE, BASE),
        exploratory_of(*held, HELD),
        exploratory_of([1.0, -0.5, 0.2], [0.5, -1.0, 0.3], HELD),
        exploratory_of([5.0], [5.0], HELD),
    ]

    assert "\n".join(map(sentence, examples)) == snapshot


def test_what_is_not_resolved_says_what_would_resolve_it() -> None:
    got = compared(SPREAD, BASE)

    assert got.word == "not resolved"
    assert got.blocks_likely != got.blocks_needed
    assert {str(got.blocks_likely), str(got.blocks_needed), "80"} <= figures(sentence(got))


def lower_bounds(a: Sequence[float], b: Sequence[float]) -> Comparison:
    """Of p99."""
    runs = [replace(one, lower_bound=True) for one in (*observed("virtual", a), *observed("platform", b))]
    (only,) = compare(P99, runs, [], [PAIR])
    return only


def test_a_difference_that_is_found_is_told_even_if_it_is_less_than_the_margin() -> None:
    more, less = ([factor * value for value in BASE] for factor in (1.09, 0.94))

    for got in (compared(more, BASE), compared(less, BASE), compared(BASE, more)):
        assert got.word in {"lower", "higher"}
        assert got.within_margin
        assert "same" not in sentence(got)
        assert "10" in figures(sentence(got).partition("margin")[2])
    assert "margin" not in sentence(compared(LESS, BASE))


def test_the_same_is_said_of_intervals_with_equality_alone() -> None:
    """Not of 1 to 4 % more, as one of nine contrasts."""
    slight = one_of_many([1.01 * value for value in NOISY])

    assert slight.apart
    assert (slight.word, slight.within_margin, slight.blocks_needed) == ("equivalent", True, None)
    assert {"10", "9"} <= figures(sentence(slight))
    for got in (slight, exploratory_of([1.01 * value for value in BASE], BASE)):
        assert "same" not in sentence(got)
    assert "same" in sentence(exploratory_of(EVEN_ON_AVERAGE, BASE))


@pytest.mark.parametrize("a", [BASE, [1.01 * value for value in BASE], EVEN_ON_AVERAGE, LESS])
def test_lower_bounds_say_that_they_are_and_are_in_no_margin(a: Sequence[float]) -> None:
    got, exact = lower_bounds(a, BASE), exploratory_of(a, BASE, P99)

    assert (got.interval, got.effect) == (exact.interval, exact.effect)
    assert (got.within_margin, got.figure.margin) == (False, None)
    assert "lower bound" in sentence(got)
    assert "margin" not in sentence(got)
    assert "within" not in sentence(got)
    assert exact.within_margin is (a is not LESS)


def one_of_many(values: Sequence[float] = SLIGHT) -> Comparison:
    load = "500 connections"
    runs = [*observed("virtual", values), *observed("platform", BASE)]
    runs += [*observed("virtual", BASE, load), *observed("platform", SPREAD, load)]
    return compare(CPU_PER_REQUEST, runs, [PAIR, *(Pair("virtual", "platform", load) for _ in range(8))])[0]


def test_what_only_one_of_many_contrasts_shows_is_not_resolved_and_says_so() -> None:
    got = one_of_many()

    assert got.word == "not resolved"
    assert {str(got.declared), "9"} <= figures(sentence(got))
    assert "contrasts" not in sentence(compared(SLIGHT, BASE))


@pytest.mark.parametrize(("suspect", "told"), [(0, None), (2, " 2 with"), (5, " each with")])
def test_how_many_blocks_hold_a_suspect_run_is_told(suspect: int, told: str | None) -> None:
    runs = [*observed("virtual", LESS), *observed("platform", BASE)]
    doubted = [replace(one, suspect=one.approach == "virtual" and one.block <= suspect) for one in runs]
    (found,) = compare(CPU_PER_REQUEST, doubted, [PAIR])

    assert ("suspect run" in sentence(found)) is (told is not None)
    assert told is None or f",{told} a suspect run" in sentence(found)


def test_blocks_left_out_are_listed() -> None:
    assert left_out(compared((None, *LESS[1:]), BASE)) == ["block 1 (virtual: not measured)"]
    assert left_out(compared(LESS, BASE)) == []


def holds(text: str, share: float) -> bool:
    """Whether that is how a share is written."""
    percent = 100 * share
    if text == "under 0.1":
        return 0 < percent < 0.1
    if text.startswith("over"):
        return percent >= float(text.removeprefix("over ").replace(",", "")) or percent > 99
    decimals = len(text.partition(".")[2])
    return abs(percent - float(text.replace(",", ""))) <= 0.5001 / math.pow(10, decimals)


def signed(size: str, ratio: float) -> bool:
    return holds(size, abs(1 - ratio))


@given(st.one_of(BLOCKS, CLOSE))
def test_every_number_is_that_of_the_figures(blocks: list[tuple[float, float]]) -> None:
    got = of(blocks)
    text = sentence(got)

    assert LOAD in text
    if got.interval is None:
        assert f"({len(blocks)} block" in text
        assert "interval needs 3" in text
        return
    found = SPAN.search(text)
    assert found, text
    first, word, second, last_word, count = found.groups()
    near, far = ends(got.interval, less=(word or last_word) == last_word == "less")
    assert signed(first, near), text
    assert signed(second, far), text
    assert int(count) == len(blocks)
    assert ("coarse" in text) == (len(blocks) < 5)
    if got.word in {"lower", "higher"}:
        said = re.search(rf"needs {SIZE} % (less|more)", text)
        assert said, text
        assert signed(said[1], got.effect or 0)
        assert said[2] == last_word == ("less" if got.word == "lower" else "more")
        if not any(size.startswith(("over", "under")) for size in (first, said[1], second)):
            assert float(first.replace(",", "")) <= float(said[1].replace(",", "")) <= float(second.replace(",", ""))


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ((0.905, 0.906, 0.907), "9.4 9.2 9.6"),
        ((1.1026, 1.103, 1.1034), "10.3 10.2 10.4"),
        ((0.90, 0.906, 0.912), "9 8 11"),
        ((1.0998, 1.0998, 1.0998), "9.98 9.98 9.98"),
    ],
)
def test_the_mean_has_the_decimals_of_its_interval(ratios: tuple[float, ...], said: str) -> None:
    assert set(said.split()) <= figures(sentence(compared(ratios, (1.0, 1.0, 1.0))))


@given(st.one_of(BLOCKS, CLOSE))
def test_a_swapped_sentence_says_the_opposite_of_the_other_approach(blocks: list[tuple[float, float]]) -> None:
    swapped = Pair(PAIR.b, PAIR.a, PAIR.load)
    one, other = sentence(of(blocks)), sentence(of([(b, a) for a, b in blocks], swapped))

    assert one.split(" ", 1)[0] == other.split(" ", 1)[0]
    if one.startswith("At"):
        assert ("% less CPU" in one) == ("% more CPU" in other)
        assert one.index("virtual") < one.index("platform")
        assert other.index("platform") < other.index("virtual")


@given(st.lists(st.tuples(COSTS, COSTS), min_size=3, max_size=8))
def test_fewer_blocks_first_make_it_coarse_and_then_take_the_interval_away(blocks: list[tuple[float, float]]) -> None:
    for count in range(len(blocks), 0, -1):
        text = sentence(of(blocks[:count]))
        assert ("95 % interval" in text) == (count >= 3)
        assert ("coarse" in text) == (count in {3, 4})
        if count < 3:
            assert text.startswith("Not resolved")


@pytest.mark.parametrize(
    ("factor", "text"),
    [
        (1e-6, "over 99 % less"), (0.0004, "over 99 % less"), (20.0, "over 1,000 % more"), (math.nextafter(1, 2), None),
        (2.5, "150 % more"),
    ],
)  # fmt: skip
def test_extreme_ratios_stay_readable(factor: float, text: str | None) -> None:
    got = sentence(compared([factor * value for value in BASE], BASE))

    assert text is None or f"needs {text}" in got
    assert "e-" not in got


@given(st.one_of(BLOCKS, CLOSE), st.floats(0.01, 0.5))
def test_no_printed_end_hides_on_which_side_of_the_margin_it_is(
    blocks: list[tuple[float, float]], margin: float
) -> None:
    figure = replace(CPU_PER_REQUEST, margin=margin)
    got = compared([a for a, _ in blocks], [b for _, b in blocks], figure)
    found = SPAN.search(sentence(got))
    if got.interval is None or found is None:
        return
    ends_at = (abs(math.log(end)) for end in (got.interval.low, got.interval.high) if 0 < end < math.inf)
    assume(all(abs(end - math.log1p(margin)) > 1e-8 for end in ends_at))
    first, word, second, last_word, _ = found.groups()
    limits = {"less": 1 - 1 / (1 + margin), "more": margin}
    ends = ((first, word or last_word), (second, last_word))
    if not any(text.startswith(("over", "under")) for text, _ in ends):
        shown = all(float(text.replace(",", "")) < 100 * limits[side] for text, side in ends)
        assert shown == got.within_margin, sentence(got)


@pytest.mark.parametrize(("margin", "text"), [(0.025, "2.5"), (0.1, "10"), (0.07, "7"), (0.0333, "3.33")])
def test_a_margin_is_written_as_it_was_declared(margin: float, text: str) -> None:
    got = compared(BASE, BASE, replace(CPU_PER_REQUEST, margin=margin))

    assert text in figures(sentence(got))


KIB = st.floats(-200, 400)
AMOUNT = r"(under 0\.1|[\d,.]+)"
HELD_SPAN = re.compile(rf"interval {AMOUNT}(?: KiB (less|more))? to {AMOUNT} KiB (less|more), (\d+) block")


@given(st.lists(st.tuples(KIB, KIB), min_size=1, max_size=8))
def test_every_amount_is_that_of_the_figures_and_swaps_with_them(blocks: list[tuple[float, float]]) -> None:
    a, b = [a for a, _ in blocks], [b for _, b in blocks]
    (got,) = compare(HELD, [*observed("virtual", a), *observed("platform", b)], [], [PAIR])
    text, swapped = sentence(got), sentence(exploratory_of(b, a, HELD))

    assert got.effect == pytest.approx(sum(x - y for x, y in blocks) / len(blocks))
    assert [one.effect for one in got.effects] == [x - y for x, y in blocks]
    said = re.search(rf"holds {AMOUNT} KiB (less|more) than", text)
    if got.effect:
        assert said
        assert amounts(said[1], abs(got.effect))
        assert said[2] == ("less" if got.effect < 0 else "more")
        assert f"holds {said[1]} KiB {'more' if said[2] == 'less' else 'less'} than" in swapped
    if got.interval is None:
        assert "interval needs 3" in text
        return
    found = HELD_SPAN.search(text)
    assert found, text
    first, word, second, last_word, count = found.groups()
    near, far = ends(got.interval, less=(word or last_word) == last_word == "less")
    assert amounts(first, abs(near)), text
    assert amounts(second, abs(far)), text
    assert int(count) == len(blocks)


def amounts(text: str, value: float) -> bool:
    if text == "under 0.1":
        return 0 < value < 0.1
    return abs(value - float(text.replace(",", ""))) <= (0.0501 if "." in text else 0.501)
