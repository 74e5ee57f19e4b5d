"""Percentiles of all requests that were due."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from loomlab.judge.due import Due
from loomlab.records.models import Latency
from loomlab.records.requestlog import LEVELS


def due(latencies_ms: Sequence[float], failed_start_s: Sequence[float] = (), **others: Any) -> Latency:
    """Of answers that started evenly over 50 s, those next to one another in the list after one another."""
    start_s = 50 * np.arange(len(latencies_ms)) / max(len(latencies_ms), 1)
    return Due(start_s, np.array(latencies_ms), np.array(failed_start_s), **others).latency()


@pytest.mark.parametrize(("name", "count"), [("p50", 20), ("p90", 100), ("p98", 500), ("p99", 1000), ("p99_9", 10_000)])
def test_a_percentile_wants_ten_requests_above_it(name: str, count: int) -> None:
    spread = [float(number * 7 % count) for number in range(count)]

    enough, few = due(spread), due([one for one in spread if one != count - 1])

    assert getattr(enough, name) == count - 11
    assert getattr(few, name) is None
    assert "9" in few.withheld[name] and name not in enough.withheld


def test_requests_that_failed_rank_above_every_answer() -> None:
    """As 1.2 % of the answers, each of which took a minute, would."""
    failed = due([920.0] * 1976, failed_start_s=[2.0 * number for number in range(24)])
    slow = due(([920.0] * 82 + [60_000.0]) * 24)

    assert (failed.p98, slow.p98) == (920, 920)
    assert (failed.p99, slow.p99) == (None, 60_000)
    assert "920" in failed.withheld["p99"]
    assert (failed.mean, failed.max) == (920, 920)


def test_fast_failures_do_not_improve_a_percentile() -> None:
    """0.9 % time-outs, 0.9 % answers of 10 s: p99 is one of the latter, not the 920 ms of the others."""
    latencies = ([920.0] * 109 + [10_000.0]) * 18

    assert due(latencies, failed_start_s=[2.5 * number for number in range(18)]).p99 == 10_000
    assert due(latencies).p99 == 920


@pytest.mark.parametrize(("waves", "known"), [(5, True), (4, False)])
def test_what_lies_above_a_percentile_comes_from_five_waves(waves: int, known: bool) -> None:
    """24 of 2,000 requests are slow, at different seconds or not."""
    latencies = [920.0] * 2000
    for number in range(24):
        latencies[200 * (number % waves) + number] = 2000.0

    got = due(latencies)

    assert (got.p98, got.p99) == (920, 2000 if known else None)
    assert ("p99" in got.withheld) is not known


def test_a_wave_lasts_a_mean_latency_and_one_that_is_hardly_slower_does_not_count() -> None:
    """In 50 s there are four of 15 s."""
    assert due([15_000.0 + number % 2 * 5000 for number in range(2000)]).p50 is None
    assert due([920.0] * 100 + [929.0] * 24 + [920.0] * 1876).p99 == 929


def test_where_it_is_not_known_which_answers_failed_bounds_are_told() -> None:
    """ab's rows have no status: 30 of 2,080 may be those of 5 ms, or any others."""
    latencies = ([900.0] * 50 + [5.0] + [900.0] * 50 + [1200.0] * 2 + [3000.0]) * 20

    got, plain = due(latencies, unmarked=30), due(latencies)

    assert (got.p50, plain.p50) == (900, 900)
    assert (got.p98, plain.p98) == (None, 1200)
    assert {"1,200", "3,000"} <= set(got.withheld["p98"].replace(":", "").split())
    assert due(latencies, unmarked=30, rounded_ms=1800).p98 == 3000


def test_a_bound_that_rounding_explains_is_none() -> None:
    """Of the 18, the highest bound counts: 921 ms and 929 ms are the same to one in a hundred."""
    assert due([900.0 + number % 30 for number in range(2000)], unmarked=18).p98 == 929


@pytest.mark.parametrize(("unplaced", "known"), [(3, True), (30, False)])
def test_requests_of_which_nothing_is_known_may_reach_a_percentile(unplaced: int, known: bool) -> None:
    got = due([920.0 if number % 100 else 3000.0 + number for number in range(1990)], unplaced=unplaced)

    assert (got.p98 is not None) is known
    assert got.p95 == 920


def test_without_an_answer_there_is_no_latency() -> None:
    got = due([], [1.0] * 50)

    assert got.mean is got.max is None
    assert all(getattr(got, name) is None for name in LEVELS)
