"""The warm-up before a rate, on a made-up approach whose costs are known."""

import itertools
import math

import pytest

from approach import Approach, phase, sent_in, warmed
from loads import LADDER, rate
from loomlab.records.load import OpenRate, RateStep, Shape


def test_a_rate_settles_at_that_rate_on_all_of_its_connections() -> None:
    approach = Approach()

    got = warmed(approach, 400, shape=rate(200))

    assert (got.compiled, got.changing, got.failed, got.digest.capped) == (True, None, False, False)
    settling = sent_in(approach, got, "settle")
    assert {(load.shape, load.connections) for load in settling} == {(rate(200, 4), 400)}
    last = phase(got, "compile")[-1]
    assert (last.requests or 0) / last.duration_s > 2 * 200


@pytest.mark.parametrize(
    ("rate_rps", "wait_ms", "settles_at"),
    [
        (100, 0, RateStep(100, 4)),
        (100, 5, RateStep(100, 4)),
        (3, 900, RateStep(10, 4)),
        (1, 9000, RateStep(10, 9)),
        (3000, 900, RateStep(444.444, 4)),
    ],
)
def test_a_rate_settles_at_its_own_however_soon_requests_are_answered(
    rate_rps: float, wait_ms: int, settles_at: RateStep
) -> None:
    """But at ten a second at least, and at no more than 400 connections can carry."""
    approach = Approach()

    got = warmed(approach, 400, f"/epoch-millis?delayInMillis={wait_ms}", cap_s=400, shape=rate(rate_rps))

    assert {load.shape for load in sent_in(approach, got, "settle")} == {OpenRate((settles_at,))}


def test_cold_requests_that_queue_under_a_rate_slow_it_down_by_their_cost_only() -> None:
    """250/s of 20 ms are five times what one CPU carries, and queue for seconds."""
    approach = Approach(cost_ms=lambda served: 0.25 + 20 * 0.9 ** (served / 500))

    got = warmed(approach, 400, shape=rate(100))

    rates = [load.rate_rps or 0 for load in sent_in(approach, got, "compile")]
    assert all(later >= earlier / 3.1 for earlier, later in itertools.pairwise(rates)), rates
    assert min(rates) > 20


@pytest.mark.parametrize("cpus", [1, 2])
def test_requests_of_a_rate_do_not_pile_up_far_beyond_what_the_load_keeps_in_flight(cpus: int) -> None:
    approach = Approach(cost_ms=lambda served: 0.25 + 20 * cpus * 0.9 ** (served / 500), cpus=cpus)

    got = warmed(approach, 400, cap_s=1000, shape=rate(200))

    assert {load.connections for load in sent_in(approach, got, "compile")} == {math.ceil(1.25 * 200 * 0.9)}
    assert approach.most_in_flight == 225


@pytest.mark.parametrize(
    ("connections", "rate_rps", "targets", "used"),
    [(400, 200, ["/epoch-millis?delayInMillis=10", "/capabilities"], 225), (5, 5, ["/capabilities"], 5)],
)
def test_the_longest_answer_tells_how_many_connections_a_rate_warms_up_on(
    connections: int, rate_rps: float, targets: list[str], used: int
) -> None:
    approach = Approach()

    warmed(approach, connections, *targets, shape=rate(rate_rps))

    assert approach.sent[0].connections == used
    assert max(load.connections for load in approach.sent) == connections


@pytest.mark.parametrize(
    ("cost_ms", "shape", "targets", "cpus", "settles_at"),
    [
        (0.1, LADDER, ["/capabilities"], 1, 4000),
        (0.5, LADDER, ["/capabilities"], 1, 1600),
        (0.5, LADDER, ["/capabilities"], 2, 3200),
        (0.5, LADDER, ["/capabilities?cpuMicros=1500"], 1, 400),
        (0.5, LADDER, ["/capabilities", "/capabilities?cpuMicros=3000"], 1, 400),
        (0.5, rate(4000), ["/capabilities"], 1, 4000),
        (0.5, rate(2), ["/capabilities?cpuMicros=160000"], 1, 4.98),
        (0.5, rate(7), ["/capabilities?cpuMicros=160000"], 1, 7),
    ],
)
def test_a_ladder_settles_at_its_highest_rate_that_does_not_queue(
    cost_ms: float, shape: Shape, targets: list[str], cpus: int, settles_at: float
) -> None:
    """But a rate at itself, whatever comes of it; at more than itself only as far as that does not queue."""
    approach = Approach(cost_ms=lambda _: cost_ms, cpus=cpus)

    warmed(approach, 8000, *targets, cap_s=400, shape=shape)

    assert approach.sent[-1].rate_rps == pytest.approx(settles_at, rel=0.01)


def test_a_ladder_whose_first_phase_is_not_to_be_had_does_not_queue_for_the_work_it_asks_for() -> None:
    approach = Approach(tells_jit=False, cpus=2)

    warmed(approach, 8000, "/capabilities?cpuMicros=4000", cap_s=400, shape=LADDER)

    assert {load.rate_rps for load in approach.sent} == {400}
