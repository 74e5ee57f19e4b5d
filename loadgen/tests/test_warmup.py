"""The two phases of a warm-up, on a made-up approach whose costs are known."""

import io
import itertools
import math
from typing import Any

import pytest

from approach import Approach, phase, sent_in, warmed
from good import BURST
from loads import LADDER, rate
from loomlab.basics.errors import CannotMeasureError
from loomlab.records.endpoints import NO_DELAY, delay_of
from loomlab.records.load import Closed, OpenRate, RateStep, Shape
from loomlab.records.raw import ENOUGH_REQUESTS, REST_CORES, Burst
from loomlab.run.console import Stop
from loomlab.run.warmer import MOST_CONNECTIONS, at_rest, describe_change, next_wait_ms
from saying import figures


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


@pytest.mark.parametrize(
    ("costs", "compiled", "changing"),
    [
        ({"cost_ms": lambda served: 0.8 * math.exp(-served / 40_000)}, True, "CPU per request still fell by"),
        ({"growth": 0.2}, True, "memory still grew by 20.0 %"), ({"trickle": 0.2}, False, ""),
    ],
)  # fmt: skip
def test_what_changes_on_and_on_ends_at_the_cap(costs: dict[str, Any], compiled: bool, changing: str) -> None:
    got = warmed(Approach(**costs), cap_s=140)

    assert (got.digest.capped, got.compiled, bool(got.changing)) == (True, compiled, bool(changing))
    assert changing in (got.changing or "")
    assert compiled or got.compiling_s == pytest.approx(84, abs=8)
    assert got.duration_s <= 140
    assert phase(got, "settle")


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


@pytest.mark.parametrize("delay", [NO_DELAY, "300"])
@pytest.mark.parametrize(("shape", "most_busy"), [(Closed(1, 60), 4), (rate(50), 3000)])
def test_requests_with_fixed_waits_leave_the_compilers_cpu_by_their_number(
    shape: Shape, most_busy: float, delay: str
) -> None:
    """Of one CPU four connections, or 3,200/s of 0.25 ms, leave a fifth; a database's waits are fixed, too."""
    approach = Approach(delay=delay_of(delay))

    got = warmed(approach, 200, "/orders/1", shape=shape)

    assert (got.compiled, got.changing, approach.told) == (True, None, [])
    last = sent_in(approach, got, "compile")[-1]
    assert (last.rate_rps or last.connections) <= most_busy
    if last.rate_rps:
        assert last.rate_rps > 1000
    assert sent_in(approach, got, "settle")[-1].connections == 200


def test_where_compilers_tell_nothing_the_later_half_of_the_warm_up_is_steady() -> None:
    """And the CPU was not full; without it, the load itself is not run before it is measured."""
    steady, slow, never = (
        warmed(
            Approach(cost_ms=cost_ms, jit_s=0, tells_jit=False, delay=delay_of(NO_DELAY)), 200, "/orders/1",
            cap_s=cap_s, settles=False,
        )
        for cost_ms, cap_s in (
            (lambda _: 0.5, 400),
            (lambda served: 0.3 + 0.9 * math.exp(-served / 30_000), 400),
            (lambda served: 0.3 + 0.9 * math.exp(-served / 30_000), 60),
        )
    )  # fmt: skip

    assert (steady.changing, slow.changing, steady.compiled) == (None, None, None)
    assert "still fell" in (never.changing or "")
    assert never.digest.capped
    assert never.duration_s <= 60
    assert slow.duration_s > 1.2 * steady.duration_s
    assert {burst.phase for burst in slow.bursts} == {"compile"}
    half = slow.bursts[len(slow.bursts) // 2 :]
    assert (half[-1].cpu_ms_per_request or 0) > 0.9 * (half[0].cpu_ms_per_request or 0)
    assert half[0].request_cores < 0.8 < slow.bursts[0].request_cores


@pytest.mark.parametrize(
    ("target", "same_at_first"),
    [("/pinned?delayInMillis=300", True), ("/epoch-millis?delayInMillis=900", True), ("/httpbin/block/0.9", False)],
)
def test_requests_that_say_how_long_they_wait_say_so_in_the_first_phase_too(target: str, same_at_first: bool) -> None:
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


@pytest.mark.parametrize(
    ("rate_rps", "wait_ms", "settles_at"),
    [
        (100, 0, RateStep(100, 4)), (100, 5, RateStep(100, 4)), (3, 900, RateStep(10, 4)), (1, 9000, RateStep(10, 9)),
        (3000, 900, RateStep(444.444, 4)),
    ],
)  # fmt: skip
def test_a_rate_settles_at_its_own_however_soon_answered(rate_rps: float, wait_ms: int, settles_at: RateStep) -> None:
    """But at ten a second at least, and at no more than 400 connections can carry."""
    approach = Approach()

    got = warmed(approach, 400, f"/epoch-millis?delayInMillis={wait_ms}", cap_s=400, shape=rate(rate_rps))

    settling = {(load.shape, load.connections) for load in sent_in(approach, got, "settle")}
    assert settling == {(OpenRate((settles_at,)), 400)}


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
def test_the_longest_answer_tells_connections(connections: int, rate_rps: float, targets: list[str], used: int) -> None:
    approach = Approach()

    warmed(approach, connections, *targets, shape=rate(rate_rps))

    assert approach.sent[0].connections == used
    assert max(load.connections for load in approach.sent) == connections


@pytest.mark.parametrize(
    ("cost_ms", "shape", "targets", "cpus", "settles_at"),
    [
        (0.1, LADDER, ["/capabilities"], 1, 4000), (0.5, LADDER, ["/capabilities"], 1, 1600),
        (0.5, LADDER, ["/capabilities"], 2, 3200), (0.5, LADDER, ["/capabilities?cpuMicros=1500"], 1, 400),
        (0.5, LADDER, ["/capabilities", "/capabilities?cpuMicros=3000"], 1, 400),
        (0.5, rate(4000), ["/capabilities"], 1, 4000), (0.5, rate(2), ["/capabilities?cpuMicros=160000"], 1, 4.98),
        (0.5, rate(7), ["/capabilities?cpuMicros=160000"], 1, 7),
    ],
)  # fmt: skip
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


FLAT = [1.0] * 8


def burst(
    latency: float = 1.0,
    cpu: float | None = 1.0,
    memory: float | None = 1.0,
    jit_s: float | None = 0.1,
    requests: int = 4000,
) -> Burst:
    """Of five seconds."""
    changes: dict[str, float | None] = {"requests": requests, "mean_latency_ms": 920 * latency, "jit_cpu_s": jit_s}
    changes |= {"cpu_s": None if cpu is None else cpu + (jit_s or 0), "rss_bytes": memory and 1e9 * memory}
    return BURST.model_copy(update=changes)


def falling(share: float, count: int = 8) -> list[float]:
    return [(1 - share) ** place for place in range(count)]


def noisy(most: float) -> list[float]:
    """Without a trend in the last six."""
    return [math.exp(most * sign) for sign in (0, 0, 1, -1, 0, 0, -1, 1)]


@pytest.mark.parametrize(
    ("latency", "cpu", "memory", "said"),
    [
        (FLAT, FLAT, FLAT, None), (falling(0.029), FLAT, FLAT, None), (falling(0.031), FLAT, FLAT, "latency 3.1 0.0"),
        (FLAT, falling(0.029), FLAT, None), (FLAT, falling(0.031), FLAT, "CPU 3.1"),
        (FLAT, FLAT, falling(-0.149), None), (FLAT, FLAT, falling(-0.151), "memory 15.1"),
        (falling(-0.2), falling(-0.2), falling(0.3), None), (noisy(0.135), noisy(0.135), FLAT, None),
        (noisy(0.136), FLAT, FLAT, "latency"), (FLAT, noisy(0.136), FLAT, "CPU"),
    ],
)  # fmt: skip
def test_a_fall_beyond_its_limit_or_that_noise_may_hide_is_told(
    latency: list[float], cpu: list[float], memory: list[float], said: str | None
) -> None:
    got = describe_change([burst(*values) for values in zip(latency, cpu, memory, strict=True)])

    assert (got is None) is (said is None)
    if said:
        what, *numbers = said.split()
        assert (got or "").startswith(what)
        assert set(numbers) <= figures(got)


COLD = [burst(cpu=cpu) for cpu in (9, 5, 3)]
FALLING = [burst(cpu=cpu, memory=cpu) for cpu in falling(0.2, 7)]


@pytest.mark.parametrize(
    ("bursts", "steady"),
    [
        ([burst()] * 4, False), ([burst()] * 5, True),
        # The first does not count, nor what lies six bursts back, nor what compilers take.
        ([burst(latency=9, cpu=9, memory=0.1)] + [burst()] * 4, True),
        (COLD + [burst()] * 5, False), (COLD + [burst()] * 6, True),
        ([burst(jit_s=jit) for jit in (2, 1, 0.5, 0.2, 0.1, 0.1)], True),
        # Without figures of the process latency alone tells, but not where some bursts lack one.
        ([burst(cpu=None, memory=None, jit_s=None)] * 5, True),
        *(([*FALLING[:4], one, *FALLING[5:]], False) for one in (burst(cpu=None), burst(memory=None), burst(cpu=-0.1))),
    ],
)  # fmt: skip
def test_which_bursts_tell(bursts: list[Burst], steady: bool) -> None:
    assert (describe_change(bursts) is None) is steady


@pytest.mark.parametrize(
    ("bursts", "cpus", "rest"),
    [
        ([burst(requests=10_000, jit_s=4), burst(requests=10_000, jit_s=5 * REST_CORES)], 1, True),
        ([burst(requests=10_000, jit_s=4), burst(requests=10_000, jit_s=5.1 * REST_CORES)], 1, False),
        ([burst(requests=10_000, jit_s=4), burst(requests=9_999, jit_s=5 * REST_CORES)], 1, False),
        ([burst(requests=10_000, jit_s=0.1), burst(requests=10_000, jit_s=4)], 1, False),
        ([burst(requests=30_000, jit_s=None)], 1, False), ([burst(requests=30_000, cpu=None)], 1, False),
        ([burst(requests=30_000, cpu=4.0)], 1, True), ([burst(requests=30_000, cpu=4.01)], 1, False),
        ([burst(requests=30_000, cpu=4.01)], 2, True),
    ],
)  # fmt: skip
def test_compilers_rest_after_enough_requests_that_left_them_some(bursts: list[Burst], cpus: float, rest: bool) -> None:
    assert at_rest(bursts, cpus) is rest


@pytest.mark.parametrize(
    ("cpu_s", "latency", "wait_ms", "cpus", "following_ms"),
    [
        (2.5, 920, 900, 1, 900), (1.25, 920, 900, 1, 440), (2.5, 920, 900, 2, 440), (5.0, 920, 900, 1, 1820),
        (0.1, 920, 900, 1, 287), (4.5, 5000, 900, 1, 4900), (1.0, 920, 100, 1, 1), (50, 9000, 5900, 1, 6000),
        (None, 920, 700, 1, 700),
    ],
)  # fmt: skip
def test_the_next_burst_waits_so_long_that_its_requests_take_half_of_the_cpu(
    cpu_s: float | None, latency: float, wait_ms: int, cpus: float, following_ms: int
) -> None:
    assert next_wait_ms(burst(latency=latency / 920, cpu=cpu_s), wait_ms, cpus) == following_ms
