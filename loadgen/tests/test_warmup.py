"""The two phases of a warm-up, on a made-up approach whose costs are known."""

import io
import itertools
import math
import time
from collections.abc import Sequence
from typing import cast

import pytest

from approach import Approach, MadeUp
from loomlab.basics.errors import CannotMeasureError
from loomlab.records.delay import delay_of
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.warmup import ENOUGH_REQUESTS, Burst, Warmup
from loomlab.run.backend import Behaviour
from loomlab.run.progress import Progress
from loomlab.run.stop import Stop
from loomlab.run.warmup.burst import Bursts
from loomlab.run.warmup.compiling import BURST_S, MOST_CONNECTIONS
from loomlab.run.warmup.process import Process
from loomlab.run.warmup.shapes import burst_of, busy_connections
from loomlab.run.warmup.warmer import Subject, Warmer

LADDER = OpenRate((RateStep(250, 60), RateStep(4000, 60), RateStep(1000, 60)))
CROWD = (UserStage(25_000, 240), UserStage(0, 60))


def load_of(connections: int, shape: Shape, target: str | Sequence[str] = "/capabilities") -> Load:
    targets = [target] if isinstance(target, str) else target
    return Load("http://127.0.0.1:1", tuple(Target(one) for one in targets), connections, shape, timeout_s=1)


def warmer(
    approach: Approach,
    connections: int = 1000,
    cap_s: float = 140,
    target: str | Sequence[str] = "/capabilities",
    burst_s: float = BURST_S,
    program: str = "true",
    stop: Stop | None = None,
    stream: io.StringIO | None = None,
    shape: Shape = Closed(1, 60),  # noqa: B008 - it is frozen
) -> Warmer:
    load = load_of(connections, shape, target)
    subject = Subject(load, delay_of("300"), approach.process, compile_burst_s=burst_s)
    behaviour = cast("Behaviour", approach)
    progress = Progress(stream or io.StringIO())
    return Warmer(MadeUp(approach, program), subject, behaviour, cap_s, stop or Stop(), progress, approach.clock)


def phase(warmup: Warmup, name: str) -> list[Burst]:
    return [burst for burst in warmup.bursts if burst.phase == name]


@pytest.mark.parametrize("connections", [1, 10, 200, 1000, 10_000])
def test_an_approach_that_gets_warm_ends_its_warm_up_before_the_cap(connections: int) -> None:
    approach = Approach(cost_ms=lambda served: 0.09 + 2 * 0.9 ** (served / 500))

    got = warmer(approach, connections, cap_s=400).run()

    assert (got.compiled, got.changing, got.failed, got.capped) == (True, None, False, False)
    assert got.duration_s < 200
    assert sum(burst.requests or 0 for burst in phase(got, "compile")) >= ENOUGH_REQUESTS
    assert len(phase(got, "settle")) >= 5


def test_a_burst_does_not_wait_for_ever_for_requests_that_never_end() -> None:
    bursts = Bursts(MadeUp(Approach(), "true"), lambda: Process(inflight=3), 1, Stop(), longest_drain_s=0.5)
    began = time.monotonic()

    bursts.run("settle", load_of(10, Closed(10, 5)), 900, lambda: None)

    assert 0.5 <= time.monotonic() - began < 10


def test_compilers_get_about_half_of_the_cpu_whatever_the_load_is() -> None:
    for connections in (50, 200, 1000):
        approach = Approach()

        got = warmer(approach, connections, cap_s=1000).run()

        last = phase(got, "compile")[-1]
        assert last.cpu_s is not None
        assert last.jit_cpu_s is not None
        assert (last.cpu_s - last.jit_cpu_s) / last.duration_s == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("burst_s", [2, 5])
def test_bursts_for_the_compilers_are_as_long_as_they_should_be(burst_s: float) -> None:
    got = warmer(Approach(), 200, burst_s=burst_s).run()

    assert phase(got, "compile")[-1].duration_s == pytest.approx(burst_s, rel=0.4)


def test_the_second_phase_is_the_load_itself() -> None:
    approach = Approach()

    got = warmer(approach, 1000).run()

    sent = dict(zip([burst.start for burst in got.bursts], approach.sent, strict=True))
    assert {sent[burst.start].connections for burst in phase(got, "compile")} == {MOST_CONNECTIONS}
    assert {sent[burst.start].connections for burst in phase(got, "settle")} == {1000}
    assert all(burst.mean_latency_ms == pytest.approx(900.3, abs=0.1) for burst in phase(got, "settle"))


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
    ],
)
def test_a_ladder_settles_at_its_highest_rate_that_does_not_queue(
    cost_ms: float, shape: Shape, targets: list[str], cpus: int, settles_at: float
) -> None:
    """But a rate at itself, whatever comes of it."""
    approach = Approach(cost_ms=lambda _: cost_ms, cpus=cpus)

    warmer(approach, 8000, cap_s=400, target=targets, shape=shape).run()

    assert approach.sent[-1].rate_rps == pytest.approx(settles_at, rel=0.01)


def test_a_ladder_whose_first_phase_is_not_to_be_had_does_not_queue_for_the_work_it_asks_for() -> None:
    approach, target = Approach(tells_jit=False, cpus=2), "/capabilities?cpuMicros=4000"

    warmer(approach, 8000, cap_s=400, target=target, shape=LADDER).run()

    assert {load.rate_rps for load in approach.sent} == {400}


def test_the_backends_delay_is_lent_and_put_back() -> None:
    approach = Approach()

    warmer(approach).run()

    assert set(approach.told[:-1]) == {"lend 60 s"}
    assert approach.told[-1] == "set 300"
    assert approach.delay == delay_of("300")


def test_compilers_that_never_rest_end_at_the_cap() -> None:
    approach = Approach(trickle=0.2)

    got = warmer(approach, cap_s=140).run()

    assert (got.compiled, got.changing, got.capped) == (False, None, True)
    assert got.compiling_s == pytest.approx(84, abs=8)
    assert got.duration_s <= 140
    assert phase(got, "settle")


def test_a_cost_that_falls_on_and_on_ends_at_the_cap() -> None:
    approach = Approach(cost_ms=lambda served: 0.8 * math.exp(-served / 40_000))

    got = warmer(approach, cap_s=140).run()

    assert got.capped
    assert "CPU per request still fell by" in (got.changing or "")
    assert got.duration_s <= 140


def test_memory_that_grows_on_and_on_ends_at_the_cap() -> None:
    got = warmer(Approach(growth=0.2), cap_s=140).run()

    assert "memory still grew by 20.0 %" in (got.changing or "")


def test_a_burst_without_an_answer_ends_the_warm_up() -> None:
    approach = Approach(answers=False)

    got = warmer(approach).run()

    assert (got.failed, len(got.bursts), got.bursts[0].requests) == (True, 1, 0)
    assert approach.told[-1] == "set 300"


def test_a_stop_ends_the_warm_up_and_puts_the_delay_back() -> None:
    approach, stop = Approach(), Stop()
    stop.requested = True

    got = warmer(approach, stop=stop).run()

    assert got.bursts == []
    assert approach.told == ["set 300"]


def test_a_tool_that_cannot_be_started_leaves_the_delay_as_it_was() -> None:
    approach = Approach()

    with pytest.raises(CannotMeasureError):
        warmer(approach, program="no-such-tool").run()

    assert approach.told[-1] == "set 300"


def test_without_a_backend_to_tell_there_is_one_phase_only() -> None:
    approach, stream = Approach(backend_answers=False), io.StringIO()

    got = warmer(approach, stream=stream).run()

    assert (got.compiled, phase(got, "compile")) == (None, [])
    assert phase(got, "settle")
    assert "The backend's delay cannot be changed" in stream.getvalue()


def test_a_request_that_carries_its_wait_waits_no_longer_in_the_first_burst_than_it_was_asked_to() -> None:
    approach = Approach()

    warmer(approach, target="/pinned?delayInMillis=300").run()

    assert approach.sent[0].targets[0].target == "/pinned?delayInMillis=300"


def test_a_process_that_does_not_tell_of_its_compilers_has_one_phase_only() -> None:
    got = warmer(Approach(tells_jit=False)).run()

    assert (got.compiled, phase(got, "compile")) == (None, [])
    assert (got.changing, got.capped) == (None, False)


@pytest.mark.parametrize("target", ["/epoch-millis?delayInMillis=900", "/httpbin/block/0.9"])
def test_requests_that_say_how_long_they_wait_say_so_in_the_first_phase_too(target: str) -> None:
    approach = Approach()

    got = warmer(approach, target=target).run()

    assert (got.compiled, got.capped, approach.told) == (True, False, [])
    assert approach.sent[1].targets[0].target != target
    assert approach.sent[-1].targets[0].target == target


def test_requests_do_hardly_any_cpu_work_while_the_compilers_are_at_it() -> None:
    approach = Approach()
    target = "/capabilities?calls=2&cpuMicros=2000"

    got = warmer(approach, target=target, shape=OpenRate((RateStep(200, 60),))).run()

    compiled, settled = len(phase(got, "compile")), len(phase(got, "settle"))
    assert [load.targets[0].target for load in approach.sent] == [
        *["/capabilities?calls=2&cpuMicros=1"] * compiled,
        *[target] * settled,
    ]
    assert compiled > 1
    assert settled > 1


def test_the_first_burst_of_a_closed_load_allows_for_the_work_that_the_compilers_were_spared() -> None:
    def first_settling_burst(target: str) -> int:
        got = warmer(Approach(), connections=2000, target=target).run()
        return phase(got, "settle")[0].requests or 0

    assert 0 < first_settling_burst("/capabilities?cpuMicros=2000") < first_settling_burst("/capabilities")


@pytest.mark.parametrize(("cap_s", "bursts"), [(0, 0), (4.9, 0), (5, 1)])
def test_a_cap_shorter_than_a_burst_leaves_no_warm_up(cap_s: float, bursts: int) -> None:
    got = warmer(Approach(), cap_s=cap_s).run()

    assert (len(got.bursts), got.capped) == (bursts, True)


def test_what_a_burst_left_behind_is_waited_for() -> None:
    approach = Approach(left=[0, 0, 40, 3, 0])

    warmer(approach, cap_s=5).run()

    assert approach.left == []


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
