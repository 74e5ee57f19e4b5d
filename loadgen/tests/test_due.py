"""Percentiles of all requests that were due."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from loomlab.judge.interior import latency_of_due
from loomlab.records.models import Latency
from loomlab.records.requestlog import LEVELS
from rawrun import log_of
from saying import figures


def due(latencies_ms: Sequence[float], unplaced: int = 0, **others: Any) -> Latency:
    """Of answers that started evenly over 50 s, those next to one another in the list after one another."""
    log = log_of(50 * np.arange(len(latencies_ms)) / max(len(latencies_ms), 1), latencies_ms, **others)
    return latency_of_due(log, log.latency_ms, unplaced)


@pytest.mark.parametrize(("name", "count"), [("p50", 20), ("p90", 100), ("p98", 500), ("p99", 1000), ("p99_9", 10_000)])
def test_a_percentile_wants_ten_requests_above_it(name: str, count: int) -> None:
    spread = [float(number * 7 % count) for number in range(count)]

    enough, few = due(spread), due([one for one in spread if one != count - 1])

    assert getattr(enough, name) == count - 11
    assert getattr(few, name) is None
    assert "9" in few.withheld[name] and name not in enough.withheld


def at_waves(count: int) -> list[float]:
    """Of 2,000 answers 24 are slow, in so many different seconds."""
    slow = {200 * (number % count) + number for number in range(24)}
    return [2000.0 if number in slow else 920.0 for number in range(2000)]


FAST_AND_SLOW = ([920.0] * 109 + [10_000.0]) * 18
OF_UNKNOWN_STATUS = ([900.0] * 50 + [5.0] + [900.0] * 50 + [1200.0] * 2 + [3000.0]) * 20
RARELY_SLOW = [920.0 if number % 100 else 3000.0 + number for number in range(1990)]


@pytest.mark.parametrize(
    ("latencies_ms", "others", "percentiles"),
    [
        # 1.2 % failed, which rank above every answer, as if each had taken a minute.
        ([920.0] * 1976, {"failed_start_s": [2.0 * number for number in range(24)]}, {"p98": 920, "p99": "920"}),
        (([920.0] * 82 + [60_000.0]) * 24, {}, {"p98": 920, "p99": 60_000}),
        # 0.9 % failed fast, 0.9 % took 10 s: p99 is one of the latter.
        (FAST_AND_SLOW, {"failed_start_s": [2.5 * number for number in range(18)]}, {"p99": 10_000}),
        (FAST_AND_SLOW, {}, {"p99": 920}),
        # What lies above a percentile comes from five waves, unless it is hardly slower; a wave lasts a mean latency.
        (at_waves(5), {}, {"p98": 920, "p99": 2000}),
        (at_waves(4), {}, {"p98": 920, "p99": "5"}),
        (at_waves(4), {"failed_start_s": [49.5]}, {"p99": 2000}),
        (at_waves(4), {"failed_start_s": [5.5]}, {"p99": "5"}),
        ([920.0] * 100 + [929.0] * 24 + [920.0] * 1876, {}, {"p99": 929}),
        ([920.0] * 100 + [930.0] * 24 + [920.0] * 1876, {}, {"p99": "5"}),
        ([15_000.0 + number % 2 * 5000 for number in range(2000)], {}, {"p50": "5"}),
        # ab's rows have no status: 30 of 2,080 failed, those of 5 ms or others; the highest bound counts if it is near.
        (OF_UNKNOWN_STATUS, {}, {"p50": 900, "p98": 1200}),
        (OF_UNKNOWN_STATUS, {"unmarked": 30}, {"p50": 900, "p98": "1,200 3,000"}),
        (OF_UNKNOWN_STATUS, {"unmarked": 30, "rounded_ms": 1800}, {"p98": 3000}),
        ([900.0 + number % 30 for number in range(2000)], {"unmarked": 18}, {"p98": 929}),
        # Of some it is not known when they were due.
        (RARELY_SLOW, {"unplaced": 3}, {"p95": 920, "p98": 920}),
        (RARELY_SLOW, {"unplaced": 30}, {"p95": 920, "p98": "920"}),
    ],
)
def test_percentiles(latencies_ms: list[float], others: dict[str, Any], percentiles: dict[str, float | str]) -> None:
    """A text: it is withheld, with these numbers said."""
    got = due(latencies_ms, **others)

    for name, figure in percentiles.items():
        numbers = figure if isinstance(figure, str) else ""
        assert getattr(got, name) == (None if numbers else figure)
        assert set(numbers.split()) <= figures(got.withheld.get(name))
    assert (got.mean, got.max) == pytest.approx((np.mean(latencies_ms), max(latencies_ms)))


def test_without_an_answer_there_is_no_latency() -> None:
    got = due([], failed_start_s=[1.0] * 50)

    assert got.mean is got.max is None
    assert all(getattr(got, name) is None for name in LEVELS)
