"""When a warm-up may end, and how long its bursts are."""

import pytest

from loomlab.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.models import Burst
from loomlab.stop import Stop
from loomlab.tools import tool
from loomlab.warmup import (
    CPU_LIMIT,
    Process,
    Warmer,
    burst_requests,
    burst_seconds,
    compiled,
    flat,
    warm,
    warmup_connections,
)


def load_of(connections: int, shape: Shape) -> Load:
    return Load("http://127.0.0.1:1", (Target("/"),), connections, shape, timeout_s=1)


def burst(throughput: float = 222, cpu: float | None = 0.3, requests: int = 4000, latency_ms: float = 903) -> Burst:
    return Burst(
        start=0,
        duration_s=10,
        requests=requests,
        errors=0,
        throughput_rps=throughput,
        mean_latency_ms=latency_ms,
        received_bytes_per_request=100,
        cpu_ms_per_request=cpu,
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 1.0], False),
        ([1.0, 1.02, 0.99], True),
        ([1.0, 1.09, 0.98], False),
        ([1.06, 1.03, 1.0], False),
        ([1.0, 1.02, 1.05], True),
        ([1.0, 1.1, 0.95, 1.1, 0.99, 1.0], True),
        ([1.2, 1.1, 1.15, 1.1, 0.99, 1.0], False),
        ([1.15, 1.12, 1.09, 1.06, 1.03, 1.0], False),
        ([1.0, 1.0, None], False),
    ],
)
def test_flat_is_close_together_and_not_steadily_falling(values: list[float | None], expected: bool) -> None:
    assert flat(values, CPU_LIMIT) is expected


def test_warm_needs_both_throughput_and_cpu_flat() -> None:
    assert warm([burst()] * 3)
    assert not warm([burst(latency_ms=latency) for latency in (1300, 1100, 920)])
    assert not warm([burst(cpu=cpu) for cpu in (0.5, 0.4, 0.3)])
    assert not warm([burst(cpu=None)] * 3)


def test_few_requests_cannot_have_warmed_anything() -> None:
    assert not warm([burst(requests=3000)] * 3)
    assert warm([burst(requests=3000)] * 4)


@pytest.mark.parametrize(
    ("concurrency", "last", "seconds"),
    [
        (200, burst(), 10),
        (10_000, burst(throughput=3000, latency_ms=3300), 20),
        (2000, burst(throughput=2000, latency_ms=1000), 6),
        (10, burst(throughput=11), 20),
    ],
)
def test_a_burst_is_long_enough_for_its_waves_and_requests(concurrency: int, last: Burst, seconds: int) -> None:
    assert burst_seconds(concurrency, 0.9, [burst(), last]) == seconds


def test_the_first_bursts_are_short_however_slow_a_cold_server_is() -> None:
    assert burst_seconds(2000, 0.9, []) == burst_seconds(2000, 0.9, [burst(latency_ms=3000)]) == 6


@pytest.mark.parametrize(
    ("concurrency", "seconds", "bursts", "requests"),
    [
        (20, 6, [], 140),
        (2000, 6, [], 4000),
        (2000, 6, [burst(throughput=5000)], 4000),
        (2000, 6, [burst(), burst(throughput=2000)], 12_000),
        (10_000, 20, [burst(), burst(throughput=2600)], 50_000),
        (10_000, 20, [burst(), burst(throughput=500)], 20_000),
    ],
)
def test_a_burst_is_of_whole_waves(concurrency: int, seconds: int, bursts: list[Burst], requests: int) -> None:
    assert burst_requests(concurrency, seconds, 0.9, bursts) == requests


def test_what_a_burst_left_behind_is_waited_for() -> None:
    unfinished = iter([40.0, 3.0, 0.0])
    warmer = Warmer(
        tool("ab"), load_of(1, Closed(requests=1, duration_s=1)), 0, lambda: Process(inflight=next(unfinished))
    )

    warmer.drain(Stop())

    assert next(unfinished, None) is None


def test_compilers_at_work_are_not_warm() -> None:
    busy = burst().model_copy(update={"cpu_s": 6.0, "jit_s": 1.3})
    quiet = burst().model_copy(update={"cpu_s": 6.0, "jit_s": 0.1})

    assert not compiled([quiet, quiet, busy])
    assert compiled([quiet, quiet, quiet])
    assert compiled([burst(), burst()])


LADDER = OpenRate((RateStep(250, 60), RateStep(4000, 60), RateStep(1000, 60)))
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
    assert warmup_connections(load_of(connections, shape), answer_s) == expected
