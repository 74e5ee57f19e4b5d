"""A word that hangs on which runs were left out is not said."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from compared import PAIR, observed
from loomlab.statistics.alltries import agreed, compare_tries
from loomlab.statistics.comparison import CPU_PER_REQUEST, P99, Comparison, Figure, Observation, Pair
from loomlab.statistics.paired import compare
from loomlab.statistics.sentences import sentence

BASE = (0.30, 0.25, 0.28, 0.31, 0.26)
LESS = (0.240, 0.204, 0.220, 0.250, 0.206)
NEAR = (0.301, 0.251, 0.279, 0.311, 0.260)
HELD = Figure("held memory", None, "holds", "less", "more", unit="KiB")


def left_out(runs: Sequence[Observation], block: int, value: float | None) -> list[Observation]:
    """The run of that block is invalid for a cause of its own, and showed that value."""
    return [replace(one, value=None, reason="invalid", left_out=value) if one.block == block else one for one in runs]


def found(a: Sequence[Observation], b: Sequence[Observation], figure: Figure = CPU_PER_REQUEST) -> Comparison:
    (only,) = compare_tries(figure, [*a, *b], [PAIR])
    return only


def explored(a: Sequence[Observation], b: Sequence[Observation], figure: Figure = CPU_PER_REQUEST) -> Comparison:
    (only,) = compare_tries(figure, [*a, *b], [], [PAIR])
    return only


@pytest.mark.parametrize(
    ("values", "dear", "before"), [(LESS, 0.9, "lower"), (BASE, 0.9, "no difference"), (NEAR, 0.2, "no difference")]
)
def test_a_word_that_a_dear_run_would_change_is_not_said_and_the_sentence_has_the_runs(
    values: Sequence[float], dear: float, before: str
) -> None:
    virtual, platform = left_out(observed("virtual", values), 5, dear), observed("platform", BASE)

    got = found(virtual, platform)

    assert compare(CPU_PER_REQUEST, [*virtual, *platform], [PAIR])[0].word == before
    assert (got.word, got.swayed, got.left_out, got.blocks, got.blocks_needed) == (
        "not resolved",
        True,
        (1, 0),
        4,
        None,
    )
    assert got.interval == found(virtual[:4], platform[:4]).interval
    assert "1 run of virtual" in sentence(got)


def test_a_word_that_such_a_run_does_not_change_is_said() -> None:
    got = found(left_out(observed("virtual", LESS), 5, 0.22), left_out(observed("platform", BASE), 1, 0.29))

    assert (got.word, got.swayed, got.left_out, got.blocks) == ("lower", False, (1, 1), 3)


def test_a_run_that_showed_nothing_or_was_spoilt_from_outside_sways_nothing() -> None:
    got = found(left_out(observed("virtual", LESS), 5, None), observed("platform", BASE))

    assert (got.word, got.left_out, got.blocks) == ("lower", (0, 0), 4)


def test_what_is_not_resolved_anyway_keeps_its_cure() -> None:
    spread = (0.30, 0.20, 0.33, 0.25, 0.28)

    got = found(left_out(observed("virtual", spread), 5, 5.0), observed("platform", BASE))

    assert (got.word, got.swayed) == ("not resolved", False)
    assert got.blocks_needed


def test_words_of_other_contrasts_hold_with_these_runs_too() -> None:
    """Holm's correction asks all of them together."""
    slight = (0.25, 0.245, 0.23, 0.30, 0.235)
    other = Pair("virtual", "platform", "500 connections")
    runs = [*observed("virtual", slight), *observed("platform", BASE)]
    here = left_out(observed("virtual", LESS, other.load), 5, 0.9)
    both = [*runs, *here, *observed("platform", BASE, other.load)]

    first, second = compare_tries(CPU_PER_REQUEST, both, [PAIR, other])

    assert [one.word for one in compare(CPU_PER_REQUEST, both, [PAIR, other])] == ["lower", "lower"]
    assert [(one.word, one.left_out) for one in (first, second)] == [("not resolved", (0, 0)), ("not resolved", (1, 0))]
    assert sentence(first) != sentence(second)


@pytest.mark.parametrize("figure", [CPU_PER_REQUEST, HELD], ids=lambda figure: figure.name)
@pytest.mark.parametrize(("values", "dear", "swayed"), [(LESS, 0.9, True), (LESS, 0.22, False), (BASE, 0.9, True)])
def test_what_is_exploratory_says_so_too(figure: Figure, values: Sequence[float], dear: float, swayed: bool) -> None:
    got = explored(left_out(observed("virtual", values), 5, dear), observed("platform", BASE), figure)

    says = values is LESS or figure is CPU_PER_REQUEST
    assert (got.word, got.swayed, got.within_margin) == ("exploratory", swayed and says, False)
    assert ("1 run of virtual" in sentence(got)) is got.swayed


@pytest.mark.parametrize("figure", [P99, HELD], ids=lambda figure: figure.name)
@pytest.mark.parametrize("blocks", [5, 2])
def test_of_what_is_exploratory_no_direction_is_said_that_such_runs_would_change(figure: Figure, blocks: int) -> None:
    """With two blocks there is no interval either."""
    virtual, platform = observed("virtual", [*LESS, *LESS]), observed("platform", [*BASE, *BASE])
    for block in range(blocks + 1, 11):
        virtual = left_out(virtual, block, 30.0)

    got = explored(virtual, platform, figure)

    assert (got.blocks, got.swayed) == (blocks, True)
    assert "whether" in sentence(got)
    assert "whether" not in sentence(explored(virtual[:blocks], platform[:blocks], figure))


def test_runs_that_were_made_again_are_told_by_side() -> None:
    virtual, platform = observed("virtual", LESS), observed("platform", BASE)
    again = [replace(one, made_again=one.block < 3) for one in virtual]
    elsewhere = [replace(one, load="1 connection", made_again=True) for one in platform]

    (got,) = compare_tries(CPU_PER_REQUEST, [*again, *platform, *elsewhere], [PAIR])

    assert (got.word, got.made_again) == ("lower", (2, 0))
    assert "2 runs of virtual made again" in sentence(got)
    assert got.interval == found(virtual, platform).interval


def test_arrays_of_words_agree_one_by_one() -> None:
    said = np.array([["lower", "higher"], ["no difference", "not resolved"]])
    every = np.array([["lower", "lower"], ["not resolved", "lower"]])

    assert agreed(said, every).tolist() == [["lower", "not resolved"], ["not resolved", "not resolved"]]


def test_a_figure_below_zero_of_a_run_that_was_left_out_is_no_figure_either() -> None:
    got = found(left_out(observed("virtual", LESS), 5, -1.0), observed("platform", BASE))

    assert got.word == "lower"
    assert math.isclose(got.effect or 0, found(observed("virtual", LESS)[:4], observed("platform", BASE)).effect or 1)


@pytest.mark.parametrize(("blocks", "word"), [(1, "lower"), (2, "not resolved")])
def test_runs_that_left_no_figure_for_causes_of_their_own_let_nothing_be_said(blocks: int, word: str) -> None:
    values = [*LESS, *LESS]
    virtual = [
        replace(one, value=None, reason="invalid", lost=True) if one.block <= blocks else one
        for one in observed("virtual", values)
    ]

    got = found(virtual, observed("platform", [*BASE, *BASE]))

    assert (got.word, got.swayed, got.left_out) == (word, blocks > 1, (blocks, 0))
