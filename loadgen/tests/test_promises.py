"""Intervals and words in experiments whose truth is known; fewer draws than docs/statistics.md has."""

import json
import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from loomlab.cli import main
from loomlab.statistics.alltries import agreed, compare_tries
from loomlab.statistics.comparison import CPU_PER_REQUEST, Observation, Pair
from loomlab.statistics.promises import (
    BOOTSTRAPPED,
    LOOKS,
    MARGIN,
    SIZES,
    Rates,
    bootstrap_coverage,
    first_moved,
    looking,
    monte_carlo_error,
    percentile_bootstrap,
    rates,
)
from loomlab.statistics.student import Numbers, estimates, holm, within, words
from loomlab.statistics.tries import MOST_TRIES
from loomlab.statistics.worlds import APPROACHES, CONTRASTS, FLOOR, HOSTILE, WORLDS, Drawn, World, experiments

DRAWS = 4_000
FIRST_DEARER = max(WORLDS, key=lambda world: world.first)
FLOORS = (Path(__file__).parents[2] / "benchmarks" / "floor.jsonl", Path("/lab/benchmarks/floor.jsonl"))
NAMED = {world.title: world for world in (*WORLDS, *HOSTILE)}
TORN, DRAWN = NAMED["a block in five torn and not noticed"], WORLDS[0]
LEFT_OUT = [world for world in HOSTILE if world.invalid]


def drawn(world: World, blocks: int, draws: int = DRAWS) -> Drawn:
    return experiments(world, draws, blocks, np.random.default_rng([7, blocks]))


def said(logs: Numbers) -> NDArray[np.str_]:
    found = estimates(logs)
    return words(found, holm(found.p_value), MARGIN)


@pytest.mark.parametrize(
    ("world", "blocks"), list(product(WORLDS, SIZES)), ids=lambda one: getattr(one, "title", str(one))
)
def test_the_promise_holds(world: World, blocks: int) -> None:
    missed = rates(drawn(world, blocks)).missed

    assert [one for one in missed if world is not FIRST_DEARER or not one.startswith("false words")] == []


def test_a_much_dearer_first_run_costs_less_than_a_point_of_false_words() -> None:
    assert max(rates(drawn(FIRST_DEARER, blocks, 20_000)).family_error for blocks in SIZES) < 0.06


@pytest.mark.parametrize(
    "world", [world for world in HOSTILE if world is not TORN], ids=lambda one: getattr(one, "title", str(one))
)
def test_what_makes_runs_unlike_each_other_by_rule_breaks_it(world: World) -> None:
    missed = [one for blocks in SIZES for one in rates(drawn(world, blocks, 20_000)).missed]

    assert any("coverage" in one for one in missed)


@pytest.mark.parametrize("blocks", SIZES)
def test_a_difference_in_one_contrast_makes_no_others(blocks: int) -> None:
    others = said(first_moved(drawn(WORLDS[0], blocks), 0.7).counted)[:, 1:]

    wrong = np.isin(others, ("lower", "higher")).any(axis=-1).mean()
    assert wrong <= 0.05 + 2 * monte_carlo_error(0.05, DRAWS)


def test_a_difference_within_the_margin_is_found_and_not_called_none() -> None:
    """Of 7 %, with thirty blocks."""
    moved = drawn(WORLDS[0], 30).moved(1.07).counted

    assert np.mean(said(moved) == "higher") > 0.99
    assert np.mean(said(moved) == "no difference") < 0.01
    assert within(estimates(moved), MARGIN).mean() > 0.3


def test_blocks_that_are_torn_and_not_noticed_hide_a_fifth() -> None:
    torn, whole = (rates(drawn(world, 10)) for world in (TORN, DRAWN))

    assert torn.lower < 0.7
    assert whole.lower > 0.99
    assert torn.half_width > 2 * whole.half_width


@pytest.mark.parametrize("world", LEFT_OUT, ids=lambda one: getattr(one, "title", str(one)))
def test_runs_that_are_left_out_by_their_outcome_make_no_false_words(world: World) -> None:
    """Without the words of all tries the dearest and the cheapest make them."""
    equal = drawn(world, 10, 20_000)
    alone, agreeing = (
        np.isin(one, ("lower", "higher")).any(axis=-1).mean()
        for one in (said(equal.counted), agreed(said(equal.counted), said(equal.of_all_tries)))
    )

    assert agreeing <= 0.05
    assert agreeing < 0.5 * alone
    assert rates(equal).family_error == agreeing


@pytest.mark.parametrize(
    ("looks", "share"), [([5], 0.05), ([3, 4, 5], 0.10), ([*range(3, 13)], 0.185)], ids=["one", "three", "ten"]
)
def test_each_look_finds_more_differences_between_equals(looks: list[int], share: float) -> None:
    assert looking(DRAWS, 7, looks) == pytest.approx(share, abs=0.015)


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
    """With runs that are left out for causes of their own, and runs whose figure nothing knows."""
    world = replace(NAMED["3 % and 12 %, the dearest 20 % of one side invalid"], torn=0.2, noticed=True)
    equal = drawn(world, 5, 40)
    found, every = estimates(equal.counted), said(equal.of_all_tries)
    expected = agreed(said(equal.counted), every)
    pairs = [Pair("a", "b", str(number)) for number in range(CONTRASTS)]

    for place, (experiment, of_all) in enumerate(zip(equal.counted, equal.of_all_tries, strict=True)):
        runs = [
            Observation(block, "b", str(number), 1.0)
            for number in range(CONTRASTS)
            for block in range(len(experiment[0]))
        ] + [
            Observation(block, "a", str(number), _value(value), left_out=_value(other) if math.isnan(value) else None)
            for number, contrast in enumerate(experiment)
            for block, (value, other) in enumerate(zip(contrast, of_all[number], strict=True))
        ]
        got = compare_tries(CPU_PER_REQUEST, runs, pairs)
        assert [one.word for one in got] == expected[place].tolist()
        assert [one.blocks for one in got] == found.blocks[place].tolist()
    assert (expected != said(equal.counted)).any()


def _value(difference: float) -> float | None:
    return None if math.isnan(difference) else math.exp(difference)


QUIET = World("", noise=(0.0, 0.0, 0.0, 0.0))


def alone(**changes: Any) -> Numbers:
    """What one disturbance does to runs that are alike otherwise: the first pair's differences."""
    return drawn(replace(QUIET, **changes), 5).counted[:, 0]


def test_worlds_are_as_they_are_called() -> None:
    first, spikes, outliers = alone(first=0.10), alone(spikes=0.10), alone(outliers=0.05)

    assert np.allclose(alone(), 0)
    assert np.allclose(alone(drift=0.01, drawn=False), -0.01)
    assert set(np.unique(np.abs(first).round(6))) == {0.0, round(math.log1p(0.10), 6)}
    assert np.mean(first != 0) == pytest.approx(2 / APPROACHES, abs=0.02)
    assert spikes.mean() == pytest.approx(0, abs=0.002)
    assert np.mean(spikes > 0) == pytest.approx(0.10, abs=0.01)
    assert np.abs(outliers).max() <= math.log(2)
    assert np.mean(outliers != 0) == pytest.approx(1 - 0.95**2, abs=0.01)
    assert np.isnan(drawn(NAMED["20 % of runs invalid"], 5).counted).mean() == pytest.approx(1 - 0.8**2, abs=0.01)
    assert np.isfinite(drawn(NAMED["20 % of runs invalid"], 5).of_all_tries).all()
    assert drawn(DRAWN, 5).counted.std() == pytest.approx(0.05 * math.sqrt(2), rel=0.02)
    assert drawn(NAMED["runs by 3 % and by 12 %"], 5).counted.std() == pytest.approx(math.hypot(0.03, 0.12), rel=0.02)


def test_a_skewed_side_is_as_wide_as_it_is_called() -> None:
    skewed = alone(noise=(0.0, 0.15, 0.0, 0.15), skewed=True)

    assert (skewed.mean(), skewed.std()) == pytest.approx((0, 0.15), abs=0.005)
    assert skewed.max() == pytest.approx(0.15, abs=0.001)


def test_what_is_carried_over_meets_the_second_approach_more_often_because_none_follows_itself_in_a_block() -> None:
    carried = drawn(replace(QUIET, carried=0.10), 20).counted

    assert carried[:, 0].mean() == pytest.approx(-math.log1p(0.10) / 4, abs=0.001)
    assert carried[:, 1].mean() == pytest.approx(0, abs=0.001)


def test_torn_blocks_are_those_whose_host_changes_between_their_runs() -> None:
    torn = alone(torn=0.2)

    assert set(np.unique(np.abs(torn).round(6))) == {0.0, round(math.log(1.8), 6)}
    assert np.isnan(alone(torn=0.2, noticed=True)).mean() == pytest.approx(0.2, abs=0.01)


def test_an_approach_against_itself_is_drawn_from_what_was_measured_with_either_sign() -> None:
    kept = [json.loads(line) for line in next(one for one in FLOORS if one.exists()).read_text().splitlines()]
    measured = [
        ratio
        for one in kept
        for told in one["comparisons"]
        if told["figure"] == "CPU per request"
        for ratio in told["blocks"]
    ]
    found = alone(as_measured=True)

    assert pytest.approx(measured, abs=1e-4) == FLOOR
    assert set(np.unique(np.abs(found).round(9))) == {abs(round(math.log(ratio), 9)) for ratio in FLOOR}
    assert found.mean() == pytest.approx(0, abs=0.005)


@pytest.mark.parametrize("one_sided", [False, True])
def test_a_run_whose_every_try_is_spoilt_has_no_figure(one_sided: bool) -> None:
    spoilt = alone(spoilt=0.5, one_sided=one_sided)
    none = 0.5**MOST_TRIES

    assert np.isnan(spoilt).mean() == pytest.approx(none if one_sided else 1 - (1 - none) ** 2, abs=0.01)


def test_a_run_that_is_made_again_has_the_cost_of_the_first_try_that_was_not_spoilt() -> None:
    """Where those of one side are spoilt that cost most, its runs are as those below."""
    dearest = drawn(NAMED["3 % and 12 %, the dearest 20 % of one side made again"], 10)
    left_out = drawn(NAMED["3 % and 12 %, the dearest 20 % of one side invalid"], 10)

    assert dearest.counted[:, 0][np.isfinite(dearest.counted[:, 0])].mean() == pytest.approx(
        left_out.counted[:, 0][np.isfinite(left_out.counted[:, 0])].mean(), abs=0.003
    )
    assert np.isnan(dearest.counted).mean() == pytest.approx(0.2**MOST_TRIES, abs=0.002)
    assert np.array_equal(dearest.counted, dearest.of_all_tries, equal_nan=True)


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
    beside = [line.partition(" ")[0] for line in lines[len(rows) :]]
    assert beside == ["The"] * len(BOOTSTRAPPED) + ["Looking"] * len(LOOKS)


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
    got = rates(experiments(WORLDS[0], 400, 3, np.random.default_rng([3, 0, 3])))

    for name, share in (
        ("coverage %", got.coverage),
        ("half width %", got.half_width),
        ("false words %", got.family_error),
        ("false *no difference* %", got.false_no_difference),
        ("*lower*, of 0.8, %", got.lower),
        ("*no difference*, of equals, %", got.no_difference),
    ):
        assert told[name] == f"{100 * share:.1f}"
