"""The search for capacity against simulated processes whose capacity is known."""

import math
import random
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest

from loomlab.run.staircase import FAILURES, MOST_SPOILT, STEP, Staircase, rate_of, rung_of
from loomlab.statistics.student import estimates

SEARCHES, PROCESSES, SPREAD, LESS_THAN_A_STEP = 2000, 6, 0.08, 0.005
TRUE_RPS = 700.0
type Holds = Callable[[float, int], bool]  # whether a process that holds so many requests a second holds that rung


def search(start: int, holds: Callable[[int], bool | None], highest: int = 400) -> Staircase:
    stairs = Staircase(start, highest)
    while (rung := stairs.next) is not None:
        held = holds(rung)
        stairs.tell(rung, "spoilt" if held is None else "held" if held else "failed")
        assert len(stairs.tries) < 100
    return stairs


@pytest.mark.parametrize("rung", [0, 1, 7, 100, 265, 400])
def test_a_rate_is_on_the_rung_that_it_is_of(rung: int) -> None:
    assert rung_of(rate_of(rung)) == rung
    assert rung_of(rate_of(rung) * 1.02) == rung


@pytest.mark.parametrize("start", [0, 150, 264, 265, 266, 300, 399])
@pytest.mark.parametrize("most", [3, 264, 265, 268, 390])
def test_it_finds_the_highest_rung_that_is_held_wherever_it_starts(start: int, most: int) -> None:
    stairs = search(start, lambda rung: rung <= most)

    assert (stairs.held, stairs.failed) == (most, most + 1)


def test_a_rung_fails_by_two_trials_and_none_above_it_is_offered_then() -> None:
    stairs = search(250, lambda rung: rung <= 260)

    for place, (rung, outcome) in enumerate(stairs.tries):
        failed = [one for one, how in stairs.tries[:place] if how == "failed"]
        assert all(rung < one for one in failed if failed.count(one) >= FAILURES)
        if outcome == "failed" and failed.count(rung) == 0:
            assert stairs.tries[place + 1][0] == rung


def test_after_its_ramp_it_takes_ten_trials_at_most() -> None:
    for most in range(250, 300):
        stairs = search(254, most.__ge__)
        first = next(place for place, (_, outcome) in enumerate(stairs.tries) if outcome == "failed")
        assert len(stairs.tries) - first <= 10


def test_one_failure_does_not_decide() -> None:
    failed_once = set[int]()

    def holds(rung: int) -> bool:
        first = rung not in failed_once
        failed_once.add(rung)
        return rung <= 270 and not first

    assert search(250, holds).held == 270


def test_it_ends_where_nothing_failed_and_where_nothing_held() -> None:
    assert (search(250, lambda _: True, highest=275).held, search(250, lambda _: False).held) == (275, None)
    assert search(250, lambda _: True, highest=275).failed is None
    assert search(250, lambda _: False).tries[-2:] == [(0, "failed")] * FAILURES


def test_what_the_host_spoilt_says_nothing_until_it_is_too_much() -> None:
    spoilt = iter([True, False, True, False, False])
    stairs = search(250, lambda rung: None if next(spoilt, False) else rung <= 260)
    assert (stairs.held, stairs.spoilt) == (260, False)

    stairs = search(250, lambda _: None)
    assert (len(stairs.tries), stairs.held, stairs.spoilt) == (MOST_SPOILT, None, True)


def steady(_: random.Random) -> Holds:
    return lambda capacity_rps, rung: rate_of(rung) <= capacity_rps


def noisy(draw: random.Random) -> Holds:
    """What a trial shows differs by 1 %."""
    return lambda capacity_rps, rung: rate_of(rung) <= capacity_rps * math.exp(draw.gauss(0, 0.01))


def unlucky(draw: random.Random) -> Holds:
    """One trial in ten fails for no cause of the rate's."""
    return lambda capacity_rps, rung: rate_of(rung) <= capacity_rps and draw.random() > 0.1


def drifting(draw: random.Random) -> Holds:
    """Over its trials the host gets up to 3 % slower or faster, as much before as after the middle one."""
    slope, trial = draw.uniform(-0.03, 0.03), iter(range(1000))
    return lambda capacity_rps, rung: rate_of(rung) <= capacity_rps * (1 + slope * (next(trial) - 5) / 10)


def cliff(draw: random.Random) -> Holds:
    """Close to capacity a rate is held by chance."""

    def holds(capacity_rps: float, rung: int) -> bool:
        beyond = math.log(rate_of(rung) / capacity_rps) / math.log(STEP)
        return draw.random() < 1 / (1 + math.exp(3 * beyond))

    return holds


def hysteresis(_: random.Random) -> Holds:
    """In the trial after an overload a process holds 2 % less; the truth is what it holds from below."""
    tired = [False]

    def holds(capacity_rps: float, rung: int) -> bool:
        held = rate_of(rung) <= capacity_rps * (0.98 if tired[0] else 1)
        tired[0] = rate_of(rung) > capacity_rps
        return held

    return holds


def processes(world: Callable[[random.Random], Holds], draw: random.Random, spread: float) -> Iterator[float]:
    """What the search finds in each process of an experiment, as `run/search.py` begins them."""
    known: int | None = None
    for _ in range(PROCESSES):
        capacity_rps, holds = TRUE_RPS * math.exp(draw.gauss(0, spread)), world(draw)
        start = rung_of(TRUE_RPS * draw.uniform(0.3, 0.8)) if known is None else known - 4
        found = search(start, partial(holds, capacity_rps)).held
        known = known if known is not None else found
        if found is not None:
            yield rate_of(found)


@pytest.mark.parametrize(
    ("world", "spread"),
    [*((one, SPREAD) for one in (steady, noisy, unlucky, drifting, cliff, hysteresis)), (steady, LESS_THAN_A_STEP)],
)
def test_intervals_hold_the_median_of_processes(world: Callable[[random.Random], Holds], spread: float) -> None:
    draw = random.Random(20261129)  # noqa: S311 - no secret
    truth = np.log([rate_of(rung_of(TRUE_RPS * math.exp(draw.gauss(0, spread)))) for _ in range(20_000)]).mean()
    results = [np.log([*processes(world, draw, spread)]) for _ in range(SEARCHES)]
    found = estimates(np.array([one for one in results if len(one) == PROCESSES]), math.log(STEP) / 2)

    held = np.abs(found.mean - truth) <= found.half_width
    assert len(held) == SEARCHES
    assert held.mean() >= 0.94
    again = np.abs(found.mean[::2] - found.mean[1::2]) <= math.sqrt(2) * found.half_width[::2]
    assert again.mean() >= 0.93
