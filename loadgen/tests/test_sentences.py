"""A sentence says what its figures say."""

import math
import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from compared import BASE, LESS, LOAD, SPREAD, compared, observed, one_of_many, only
from loomlab.statistics.comparison import CPU_PER_REQUEST, MEMORY_PER_REQUEST, P99

COSTS = st.floats(0.01, 100)
BLOCKS = st.lists(st.tuples(COSTS, COSTS), min_size=1, max_size=8)
CLOSE = st.lists(st.tuples(st.floats(0.2, 0.22), st.floats(0.2, 0.23)), min_size=3, max_size=8)
NOISY = (0.300, 0.255, 0.282, 0.316, 0.266)
EVEN_ON_AVERAGE = (0.31, 0.25, 0.27, 0.31, 0.26)
NEAR = [1.01 * value for value in BASE]
SIZE = r"(under 0\.1|over 99|over 1,000|[\d.,]+)"
SPAN = re.compile(rf"interval {SIZE}(?: % (less|more))? to {SIZE} % (less|more), (\d+) block")


def test_each_word_has_its_approved_sentence(snapshot: SnapshotAssertion) -> None:
    others = observed("platform", BASE)
    examples = [
        compared(LESS), compared(BASE, LESS), compared(LESS[:3], BASE[:3]), compared(BASE),
        compared(LESS[:2], BASE[:2]), compared(LESS[:1], BASE[:1]), compared((None, None, *LESS[2:4]), BASE[:4]),
        compared((None,), BASE[:1]), compared(SPREAD), compared(LESS, figure=P99), compared(BASE, figure=P99),
        one_of_many(), only(CPU_PER_REQUEST, []), compared(LESS, declared=False),
        compared(LESS[:2], BASE[:2], declared=False), compared([1.09 * value for value in BASE]),
        one_of_many([1.01 * value for value in NOISY]), compared(NEAR, figure=P99, declared=False),
        compared(EVEN_ON_AVERAGE, figure=P99, declared=False),
        compared(LESS, figure=P99, declared=False, lower_bound=True),
        compared(BASE, figure=P99, declared=False, lower_bound=True), compared(NEAR[:2], BASE[:2], P99, declared=False),
        compared(BASE, declared=False), compared([17, 19, 16, 18, 20], [78, 80, 79, 77, 81], MEMORY_PER_REQUEST),
        compared([17, 19, 16, 18, 20], [18, 18, 17, 19, 20], MEMORY_PER_REQUEST),
        compared([1.0, -0.5, 0.2], [0.5, -1.0, 0.3], MEMORY_PER_REQUEST, declared=False),
        compared([5.0], [5.0], MEMORY_PER_REQUEST, declared=False), compared(LESS, suspect=True),
        compared(BASE, figure=replace(CPU_PER_REQUEST, margin=0.0333)),
        only(CPU_PER_REQUEST, [*observed("virtual", LESS[:2], suspect=True), *observed("virtual", LESS)[2:], *others]),
    ]  # fmt: skip

    assert "\n".join(one.sentence for one in examples) == snapshot


def holds(text: str, size: float) -> bool:
    """Whether that is how a size is written, of a share in percent."""
    if text == "under 0.1":
        return 0 < size < 0.1
    if text.startswith("over"):
        return size >= float(text.removeprefix("over ").replace(",", "")) or size > 99
    decimals = len(text.partition(".")[2])
    return abs(size - float(text.replace(",", ""))) <= 0.5001 / math.pow(10, decimals)


@given(st.one_of(BLOCKS, CLOSE))
def test_every_number_is_that_of_the_figures(blocks: list[tuple[float, float]]) -> None:
    """The end of the interval that is nearer to equality is said first."""
    got = compared([a for a, _ in blocks], [b for _, b in blocks])

    assert LOAD in got.sentence
    if got.interval is None:
        assert f"({len(got.blocks)} block" in got.sentence
        assert "interval needs 3" in got.sentence
        return
    found = SPAN.search(got.sentence)
    assert found, got.sentence
    first, word, second, last_word, count = found.groups()
    near, far = got.interval[::-1] if (word or last_word) == last_word == "less" else got.interval
    assert holds(first, 100 * abs(1 - near)), got.sentence
    assert holds(second, 100 * abs(1 - far)), got.sentence
    assert int(count) == len(got.blocks)
    assert ("coarse" in got.sentence) == (len(got.blocks) < 5)
    if got.word in {"lower", "higher"}:
        said = re.search(rf"needs {SIZE} % (less|more)", got.sentence)
        assert said, got.sentence
        assert holds(said[1], 100 * abs(1 - (got.effect or 0)))
        assert said[2] == ("less" if got.word == "lower" else "more")
