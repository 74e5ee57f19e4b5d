"""Intervals and words in experiments whose truth is known; fewer draws than docs/statistics.md has."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from loomlab.cli import main
from loomlab.statistics.comparison import CPU_PER_REQUEST, Observation, Pair
from loomlab.statistics.paired import compare
from loomlab.statistics.promises import (
    MARGIN,
    SIZES,
    Rates,
    bootstrap_coverage,
    first_moved,
    monte_carlo_error,
    percentile_bootstrap,
    rates,
)
from loomlab.statistics.student import Numbers, estimates, holm, within, words
from loomlab.statistics.worlds import APPROACHES, CONTRASTS, HOSTILE, WORLDS, World, differences

DRAWS = 4_000
(ALL_AT_ONCE,) = (world for world in WORLDS if world.title == "all of these")
FIRST_DEARER = max(WORLDS, key=lambda world: world.first)


def drawn(world: World, blocks: int, draws: int = DRAWS) -> Numbers:
    return differences(world, draws, blocks, np.random.default_rng([7, blocks]))


@pytest.mark.parametrize(("world", "blocks"), list(product(WORLDS, SIZES)), ids=str)
def test_the_promise_holds(world: World, blocks: int) -> None:
    missed = rates(drawn(world, blocks)).missed

    assert [one for one in missed if world is not FIRST_DEARER or not one.startswith("false words")] == []


def test_a_much_dearer_first_run_costs_less_than_a_point_of_false_words() -> None:
    assert max(rates(drawn(FIRST_DEARER, blocks, 20_000)).family_error for blocks in SIZES) < 0.06


@pytest.mark.parametrize("world", HOSTILE, ids=str)
def test_what_makes_runs_unlike_each_other_by_rule_breaks_it(world: World) -> None:
    missed = [one for blocks in SIZES for one in rates(drawn(world, blocks, 20_000)).missed]

    assert any("coverage" in one for one in missed)


@pytest.mark.parametrize("blocks", SIZES)
def test_a_difference_in_one_contrast_makes_no_others(blocks: int) -> None:
    found = estimates(first_moved(drawn(WORLDS[0], blocks), 0.7))

    said = words(found, holm(found.p_value), MARGIN)[:, 1:]

    wrong = np.isin(said, ("lower", "higher")).any(axis=-1).mean()
    assert wrong <= 0.05 + 2 * monte_carlo_error(0.05, DRAWS)


def test_a_difference_within_the_margin_is_found_and_not_called_none() -> None:
    """Of 7 %, with thirty blocks."""
    found = estimates(drawn(WORLDS[0], 30) + math.log(1.07))

    said = words(found, holm(found.p_value), MARGIN)

    assert np.mean(said == "higher") > 0.99
    assert np.mean(said == "no difference") < 0.01
    assert within(found, MARGIN).mean() > 0.3


def test_a_fifth_is_found_and_equality_too_the_more_often_the_more_blocks() -> None:
    found = [rates(drawn(WORLDS[0], blocks)) for blocks in SIZES]

    assert [one.lower for one in found] == sorted(one.lower for one in found)
    assert [one.no_difference for one in found] == sorted(one.no_difference for one in found)
    assert found[-1].lower > 0.99


def test_the_bootstrap_does_not_keep_the_same_promise() -> None:
    """With three blocks the probability that all are on one side is 1/4, and the interval reaches from the smallest to
    the largest."""
    assert bootstrap_coverage(DRAWS, 3, seed=7) == pytest.approx(0.75, abs=0.02)
    assert 0.80 < bootstrap_coverage(DRAWS, 5, seed=7) < 0.86


def test_the_bootstrap_is_that_of_all_resamples() -> None:
    values = np.random.default_rng(7).normal(size=5)
    means = np.sort([np.mean(resample) for resample in product(values, repeat=5)])

    low, high = percentile_bootstrap(values[None])

    below, above = math.ceil(0.025 * len(means)) - 1, math.ceil(0.975 * len(means)) - 1
    assert (low[0], high[0]) == pytest.approx((means[below], means[above]))


def test_what_is_simulated_is_what_is_said_of_runs() -> None:
    world = replace(ALL_AT_ONCE, invalid=0.2)
    experiments = drawn(world, 5, 20)
    found = estimates(experiments)
    said = words(found, holm(found.p_value), MARGIN)
    pairs = [Pair("a", "b", str(number)) for number in range(CONTRASTS)]

    for place, experiment in enumerate(experiments):
        runs = [
            Observation(block, approach, str(number), value)
            for number, contrast in enumerate(experiment)
            for block, difference in enumerate(contrast)
            for approach, value in (("a", None if math.isnan(difference) else math.exp(difference)), ("b", 1.0))
        ]
        got = compare(CPU_PER_REQUEST, runs, pairs)
        assert [one.word for one in got] == said[place].tolist()
        assert [one.blocks for one in got] == found.blocks[place].tolist()


def test_worlds_are_as_they_are_called() -> None:
    quiet = World("", noise=(0.0, 0.0, 0.0, 0.0))
    ends = drawn(replace(quiet, drift=0.01, drawn=False), 5)
    first = drawn(replace(quiet, first=0.10), 5)
    spikes = drawn(replace(quiet, spikes=0.10), 5)

    assert np.allclose(drawn(quiet, 5), 0)
    assert np.allclose(ends, -0.01)
    assert set(np.unique(np.abs(first).round(6))) == {0.0, round(math.log1p(0.10), 6)}
    assert np.mean(first != 0) == pytest.approx(2 / APPROACHES, abs=0.02)
    assert spikes.mean() == pytest.approx(0, abs=0.002)
    assert np.mean(spikes > 0) == pytest.approx(0.10, abs=0.01)
    assert np.isnan(drawn(WORLDS[6], 5)).mean() == pytest.approx(1 - 0.8**2, abs=0.01)
    assert drawn(WORLDS[0], 5).std() == pytest.approx(0.05 * math.sqrt(2), rel=0.02)
    assert drawn(WORLDS[1], 5).std() == pytest.approx(math.hypot(0.03, 0.12), rel=0.02)


def test_a_missed_promise_says_by_how_much() -> None:
    kept = Rates(20_000, 0.9475, 0.1, 0.0525, 0.026, 0.5, 0.5)

    assert kept.missed == []
    assert replace(kept, coverage=0.93, family_error=0.061, false_no_difference=0.04).missed == [
        "coverage by 2.0",
        "false words by 1.1",
        "false no difference by 1.5",
    ]


def test_the_command_prints_a_row_a_world_and_size(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["simulate", "--draws", "200", "--seed", "3"])

    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    rows = [line for line in lines if line.startswith("|")]
    assert ended.value.code == 0
    assert len(rows) == 2 + len((*WORLDS, *HOSTILE)) * len(SIZES)
    assert {row.count("|") for row in rows} == {10}
    assert [line.startswith("The percentile bootstrap covers") for line in lines[len(rows) :]] == [True, True]


def test_the_same_seed_draws_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for seed in ("3", "3", "4"):
        with pytest.raises(SystemExit):
            main(["simulate", "--draws", "100", "--seed", seed])
        printed.append(capsys.readouterr().out)

    assert printed[0] == printed[1] != printed[2]


def test_what_is_promised_is_not_measured_too_small() -> None:
    assert rates(drawn(WORLDS[1], 10)).family_error > 0.03
    assert rates(drawn(WORLDS[0], 10)).false_no_difference > 0.018
    assert rates(drawn(WORLDS[0], 3)).coverage < 0.965


def test_each_rate_stands_below_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["simulate", "--draws", "400", "--seed", "3"])
    head, _, first = (line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[:3])
    told = dict(zip(head, first, strict=True))
    got = rates(differences(WORLDS[0], 400, 3, np.random.default_rng([3, 0, 3])))

    for name, share in (
        ("coverage %", got.coverage),
        ("half width %", got.half_width),
        ("false words %", got.family_error),
        ("false *no difference* %", got.false_no_difference),
        ("*lower*, of 0.8, %", got.lower),
        ("*no difference*, of equals, %", got.no_difference),
    ):
        assert told[name] == f"{100 * share:.1f}"
