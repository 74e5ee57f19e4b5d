"""The loads of a warm-up's bursts."""

import pytest

from approach import LADDER, load_of
from loomlab.records.load import Closed, OpenRate, RateStep, Shape, Users, UserStage
from loomlab.run.warmup.shapes import burst_of, busy_connections

CROWD = (UserStage(25_000, 240), UserStage(0, 60))


@pytest.mark.parametrize(
    ("connections", "shape", "answer_s", "expected"),
    [
        (1000, Closed(requests=120_000, duration_s=60), 0.9, 1000),
        (3, Closed(requests=120, duration_s=60), 0.9, 3),
        (10_000, OpenRate((RateStep(10_000, 60),)), 0.1, 1000),
        (8000, LADDER, 0.9, 3600),
        (500, LADDER, 0.9, 500),
        (5000, OpenRate((RateStep(5, 60),)), 0.1, 10),
        (5, OpenRate((RateStep(5, 60),)), 0.1, 5),
        (25_000, Users(CROWD, (1, 3)), 0.1, 1191),
        (25_000, Users(CROWD), 0.1, 25_000),
        (25_000, Users(CROWD, (0, 2)), 0, 10),
    ],
)
def test_as_many_connections_warm_up_as_will_be_busy(
    connections: int, shape: Shape, answer_s: float, expected: int
) -> None:
    assert busy_connections(load_of(connections, shape), answer_s) == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (Closed(1, 60), Closed(requests=360, duration_s=7)),
        (Users(CROWD), Closed(requests=360, duration_s=7)),
        (OpenRate((RateStep(3, 60),)), OpenRate((RateStep(100, 4),))),
    ],
)
def test_a_burst_has_the_model_of_its_load(shape: Shape, expected: Shape) -> None:
    got = burst_of(load_of(400, shape), connections=90, waves=4, latency_ms=900, limit_s=7.9)

    assert got.shape == expected
    assert got.connections == (400 if isinstance(shape, OpenRate) else 90)


@pytest.mark.parametrize(("limit_s", "lasts_s"), [(2.2, 2), (0.1, 1)])
def test_a_burst_at_a_rate_ends_within_its_limit(limit_s: float, lasts_s: int) -> None:
    got = burst_of(load_of(400, LADDER), connections=90, waves=4, latency_ms=900, limit_s=limit_s)

    assert got.shape == OpenRate((RateStep(100, lasts_s),))
