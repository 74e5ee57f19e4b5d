"""The two phases of a warm-up, on a made-up approach whose costs are known."""

import io
import itertools
import math
from typing import Any

import pytest

from approach import Approach, phase, sent_in, warmed
from loads import LADDER, rate
from loomlab.basics.errors import CannotMeasureError
from loomlab.records.endpoints import delay_of
from loomlab.records.load import OpenRate, RateStep, Shape
from loomlab.records.warmup import ENOUGH_REQUESTS
from loomlab.run.console import Stop
from loomlab.run.warmer import MOST_CONNECTIONS


@pytest.mark.parametrize("connections", [1, 10, 200, 1000, 10_000])
def test_an_approach_that_gets_warm_ends_its_warm_up_before_the_cap(connections: int) -> None:
    approach = Approach(cost_ms=lambda served: 0.09 + 2 * 0.9 ** (served / 500))

    got = warmed(approach, connections, cap_s=400)

    assert (got.compiled, got.changing, got.failed, got.digest.capped) == (True, None, False, False)
    assert got.duration_s < 200
    assert sum(burst.requests or 0 for burst in phase(got, "compile")) >= ENOUGH_REQUESTS
    assert len(phase(got, "settle")) >= 5


@pytest.mark.parametrize("burst_s", [2, 5])
def test_bursts_for_the_compilers_are_as_long_as_they_should_be(burst_s: float) -> None:
    got = warmed(Approach(), 200, compile_burst_s=burst_s)

    assert phase(got, "compile")[0].wait_ms == 200 * 2 / 0.5  # ms: 2 of CPU each, on half of one CPU
    assert phase(got, "compile")[-1].duration_s == pytest.approx(burst_s, rel=0.4)


def test_the_second_phase_is_the_load_itself_with_the_backends_delay_put_back() -> None:
    approach = Approach()

    got = warmed(approach, 1000)

    assert {load.connections for load in sent_in(approach, got, "compile")} == {MOST_CONNECTIONS}
    assert {load.connections for load in sent_in(approach, got, "settle")} == {1000}
    assert all(burst.mean_latency_ms == pytest.approx(900.3, abs=0.1) for burst in phase(got, "settle"))
    assert (set(approach.told[:-1]), approach.told[-1], approach.delay) == ({"lend"}, "set 300", delay_of("300"))


def test_compilers_that_never_rest_end_at_the_cap() -> None:
    got = warmed(Approach(trickle=0.2), cap_s=140)

    assert (got.compiled, got.changing, got.digest.capped) == (False, None, True)
    assert got.compiling_s == pytest.approx(84, abs=8)
    assert got.duration_s <= 140
    assert phase(got, "settle")


@pytest.mark.parametrize(
    ("costs", "changing"),
    [
        ({"cost_ms": lambda served: 0.8 * math.exp(-served / 40_000)}, "CPU per request still fell by"),
        ({"growth": 0.2}, "memory still grew by 20.0 %"),
    ],
)
def test_what_changes_on_and_on_ends_at_the_cap(costs: dict[str, Any], changing: str) -> None:
    got = warmed(Approach(**costs), cap_s=140)

    assert got.digest.capped
    assert changing in (got.changing or "")
    assert got.duration_s <= 140


def test_a_burst_without_an_answer_ends_the_warm_up() -> None:
    approach = Approach(answers=False)

    got = warmed(approach)

    assert (got.failed, len(got.bursts), got.bursts[0].requests) == (True, 1, 0)
    assert approach.told[-1] == "set 300"


def test_a_stop_ends_the_warm_up_and_puts_the_delay_back() -> None:
    approach, stop = Approach(), Stop()
    stop.requested = True

    assert warmed(approach, stop=stop).bursts == []
    assert approach.told == ["set 300"]


def test_a_tool_that_cannot_be_started_leaves_the_delay_as_it_was() -> None:
    def fail(_: int) -> float:
        raise CannotMeasureError

    approach = Approach(cost_ms=fail)

    with pytest.raises(CannotMeasureError):
        warmed(approach)

    assert approach.told[-1] == "set 300"


@pytest.mark.parametrize(
    ("approach", "said"),
    [
        (Approach(backend_answers=False), "The backend's delay cannot be changed"),
        (Approach(tells_jit=False), "The JIT compilers' CPU time is unknown"),
    ],
)
def test_where_a_first_phase_is_not_to_be_had_there_is_the_second_only(approach: Approach, said: str) -> None:
    stream = io.StringIO()

    got = warmed(approach, stream=stream)

    assert (got.compiled, phase(got, "compile")) == (None, [])
    assert (got.changing, got.digest.capped) == (None, False)
    assert said in stream.getvalue()


@pytest.mark.parametrize(
    ("target", "same_at_first"),
    [("/pinned?delayInMillis=300", True), ("/epoch-millis?delayInMillis=900", True), ("/httpbin/block/0.9", False)],
)
def test_requests_that_say_how_long_they_wait_say_so_in_the_first_phase_too_and_no_more_at_first(
    target: str, same_at_first: bool
) -> None:
    approach = Approach()

    got = warmed(approach, 1000, target)

    targets = [load.targets[0].target for load in approach.sent]
    assert (got.compiled, approach.told) == (True, [])
    assert (targets[0] == target) is same_at_first
    assert targets[1] != target
    assert targets[-1] == target


def test_requests_do_hardly_any_cpu_work_while_the_compilers_are_at_it() -> None:
    approach = Approach()
    target = "/capabilities?calls=2&cpuMicros=2000"

    got = warmed(approach, 1000, target, shape=rate(200))

    compiling, settling = (
        {load.targets[0].target for load in sent_in(approach, got, name)} for name in ("compile", "settle")
    )
    assert (compiling, settling) == ({"/capabilities?calls=2&cpuMicros=1"}, {target})


def test_the_first_burst_of_a_closed_load_allows_for_the_work_that_the_compilers_were_spared() -> None:
    plain, working = (
        phase(warmed(Approach(), 2000, target), "settle")[0].requests or 0
        for target in ("/capabilities", "/capabilities?cpuMicros=2000")
    )

    assert 0 < working < plain


@pytest.mark.parametrize(("cap_s", "bursts"), [(0, 0), (4.9, 0), (5, 1)])
def test_a_cap_shorter_than_a_burst_leaves_no_warm_up(cap_s: float, bursts: int) -> None:
    got = warmed(Approach(), cap_s=cap_s)

    assert (len(got.bursts), got.digest.capped) == (bursts, True)


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
