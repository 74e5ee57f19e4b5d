"""The warm-up before a rate, on a made-up approach whose costs are known."""

import itertools
import math

import pytest

from approach import LADDER, Approach, phase, warmer
from loomlab.records.load import OpenRate, RateStep, Shape


def test_a_rate_settles_at_that_rate_on_all_of_its_connections() -> None:
    approach = Approach()

    got = warmer(approach, 400, shape=OpenRate((RateStep(200, 60),))).run()

    assert (got.compiled, got.changing, got.failed, got.capped) == (True, None, False, False)
    sent = dict(zip([burst.start for burst in got.bursts], approach.sent, strict=True))
    assert {sent[burst.start].shape for burst in phase(got, "settle")} == {OpenRate((RateStep(200, 4),))}
    assert {sent[burst.start].connections for burst in phase(got, "settle")} == {400}
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
    approach, target = Approach(), f"/epoch-millis?delayInMillis={wait_ms}"

    got = warmer(approach, 400, cap_s=400, target=target, shape=OpenRate((RateStep(rate_rps, 60),))).run()

    sent = dict(zip([burst.start for burst in got.bursts], approach.sent, strict=True))
    assert {sent[burst.start].shape for burst in phase(got, "settle")} == {OpenRate((settles_at,))}


def test_cold_requests_that_queue_under_a_rate_slow_it_down_by_their_cost_only() -> None:
    """250/s of 20 ms are five times what one CPU carries, and queue for seconds."""
    approach = Approach(cost_ms=lambda served: 0.25 + 20 * 0.9 ** (served / 500))

    got = warmer(approach, 400, shape=OpenRate((RateStep(100, 60),))).run()

    rates = [load.rate_rps or 0 for load in approach.sent[: len(phase(got, "compile"))]]
    assert all(later >= earlier / 3.1 for earlier, later in itertools.pairwise(rates)), rates
    assert min(rates) > 20


def test_a_rate_gives_the_compilers_about_half_of_the_cpu() -> None:
    approach = Approach()

    got = warmer(approach, 1000, cap_s=1000, shape=OpenRate((RateStep(100, 60),))).run()

    last = phase(got, "compile")[-1]
    assert last.cpu_s is not None
    assert last.jit_cpu_s is not None
    assert (last.cpu_s - last.jit_cpu_s) / last.duration_s == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("cpus", [1, 2])
def test_requests_of_a_rate_do_not_pile_up_far_beyond_what_the_load_keeps_in_flight(cpus: int) -> None:
    approach = Approach(cost_ms=lambda served: 0.25 + 20 * cpus * 0.9 ** (served / 500), cpus=cpus)

    got = warmer(approach, 400, cap_s=1000, shape=OpenRate((RateStep(200, 60),))).run()

    sent = approach.sent[: len(phase(got, "compile"))]
    assert {load.connections for load in sent} == {math.ceil(1.25 * 200 * 0.9)}
    assert approach.most_in_flight == 225


def test_the_longest_answer_tells_how_many_requests_of_a_rate_are_in_flight() -> None:
    approach, targets = Approach(), ["/epoch-millis?delayInMillis=10", "/capabilities"]

    warmer(approach, 400, target=targets, shape=OpenRate((RateStep(200, 60),))).run()

    assert approach.sent[0].connections == 225


def test_a_rate_on_few_connections_never_uses_more_of_them() -> None:
    approach = Approach()

    warmer(approach, 5, shape=OpenRate((RateStep(5, 60),))).run()

    assert {load.connections for load in approach.sent} == {5}


@pytest.mark.parametrize(
    ("cost_ms", "shape", "targets", "cpus", "settles_at"),
    [
        (0.1, LADDER, ["/capabilities"], 1, 4000),
        (0.5, LADDER, ["/capabilities"], 1, 1600),
        (0.5, LADDER, ["/capabilities"], 2, 3200),
        (0.5, LADDER, ["/capabilities?cpuMicros=1500"], 1, 400),
        (0.5, LADDER, ["/capabilities", "/capabilities?cpuMicros=3000"], 1, 400),
        (0.5, OpenRate((RateStep(4000, 60),)), ["/capabilities"], 1, 4000),
        (0.5, OpenRate((RateStep(2, 60),)), ["/capabilities?cpuMicros=160000"], 1, 4.98),
        (0.5, OpenRate((RateStep(7, 60),)), ["/capabilities?cpuMicros=160000"], 1, 7),
    ],
)
def test_a_ladder_settles_at_its_highest_rate_that_does_not_queue(
    cost_ms: float, shape: Shape, targets: list[str], cpus: int, settles_at: float
) -> None:
    """But a rate at itself, whatever comes of it; at more than itself only as far as that does not queue."""
    approach = Approach(cost_ms=lambda _: cost_ms, cpus=cpus)

    warmer(approach, 8000, cap_s=400, target=targets, shape=shape).run()

    assert approach.sent[-1].rate_rps == pytest.approx(settles_at, rel=0.01)


def test_a_ladder_whose_first_phase_is_not_to_be_had_does_not_queue_for_the_work_it_asks_for() -> None:
    approach, target = Approach(tells_jit=False, cpus=2), "/capabilities?cpuMicros=4000"

    warmer(approach, 8000, cap_s=400, target=target, shape=LADDER).run()

    assert {load.rate_rps for load in approach.sent} == {400}
