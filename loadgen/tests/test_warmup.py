"""The two phases of a warm-up, on a made-up approach whose costs are known; those of a rate: test_warmup_rates.py."""

import io
import math
import time

import pytest

from approach import Approach, MadeUp, load_of, phase, warmer
from loomlab.basics.errors import CannotMeasureError
from loomlab.records.delay import delay_of
from loomlab.records.load import Closed, OpenRate, RateStep
from loomlab.records.warmup import ENOUGH_REQUESTS
from loomlab.run.stop import Stop
from loomlab.run.warmup.burst import Bursts
from loomlab.run.warmup.compiling import MOST_CONNECTIONS
from loomlab.run.warmup.process import Process


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

    assert time.monotonic() - began >= 0.5


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
