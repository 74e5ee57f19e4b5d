"""How many requests, and how long a run, fit what the warm-up showed."""

from typing import Any, Literal

import pytest

from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target
from loomlab.records.models import Request
from loomlab.records.warmup import Burst, Warmup
from loomlab.run.measure import fitted
from loomlab.tools.known import tool


def load_of(shape: Shape, connections: int = 1000) -> Load:
    return Load("http://app:8080", (Target("/capabilities"),), connections, shape, timeout_s=30)


def asked(load: Load, **changes: Any) -> Request:
    return Request(
        tool="ab", approach="app", load=load, delay="300", repeat=1, jdk=25, gc="parallel", generator_cpus="",
        backend_cpus="", approach_cpus="", warmup_cap_s=60, started=0, **changes,
    )  # fmt: skip


def warmed(*latencies_ms: float | None, phase: Literal["compile", "settle"] = "settle") -> Warmup:
    bursts = [
        Burst(
            phase=phase, start=0, duration_s=5, wait_ms=900, requests=10, errors=0, throughput_rps=None,
            mean_latency_ms=latency_ms,
        )
        for latency_ms in latencies_ms
    ]  # fmt: skip
    return Warmup(cap_s=60, compiled=True, changing=None, failed=False, duration_s=30, compiling_s=20, bursts=bursts)


@pytest.mark.parametrize(
    ("latencies_ms", "requests", "sent"),
    [
        ((1000,), 120_000, 60_000),
        ((5000, 1000, 1000, 1000, 1000), 120_000, 60_000),
        ((984,), 120_000, 60_000),
        ((983,), 120_000, 61_000),
        ((200,), 120_000, 120_000),
        ((200, None), 120_000, 120_000),
        ((90_000,), 120_000, 1000),
        ((), 120_000, 120_000),
    ],
)
def test_a_tool_that_cannot_stop_by_time_gets_whole_waves_that_fit_it(
    latencies_ms: tuple[float | None, ...], requests: int, sent: int
) -> None:
    load = fitted(asked(load_of(Closed(requests, duration_s=60))), tool("hey"), warmed(*latencies_ms), 900)

    assert load == load_of(Closed(sent, duration_s=60))


def test_a_tool_that_stops_by_time_and_an_open_load_stay_as_they_are() -> None:
    closed = load_of(Closed(120_000, duration_s=60))
    open_rate = load_of(OpenRate((RateStep(100, 60),)))

    assert fitted(asked(closed), tool("ab"), warmed(10), 900) == closed
    assert fitted(asked(closed), tool("users"), warmed(10), 900) == closed
    assert fitted(asked(open_rate), tool("hey"), warmed(10), 900) == open_rate


@pytest.mark.parametrize(
    ("latency_ms", "duration_s"),
    [(905, 35), (1137, 35), (1138, 36), (4000, 118), (7137, 209), (7180, 210), (20_000, 210)],
)
def test_a_run_lasts_as_long_as_29_waves_need(latency_ms: float, duration_s: int) -> None:
    load = load_of(Closed(1000, duration_s=210))

    got = fitted(asked(load, fit_duration=True), tool("ab"), warmed(latency_ms), 900)

    assert got.shape.duration_s == duration_s


def test_requests_that_are_left_to_the_lab_are_more_than_fit_the_duration() -> None:
    load = load_of(Closed(1000, duration_s=210))
    both = asked(load, fit_duration=True, fit_requests=True)

    assert fitted(both, tool("ab"), warmed(905), 900).shape == Closed(76_000, 35)
    assert fitted(both, tool("hey"), warmed(905), 900).shape == Closed(38_000, 35)
    assert fitted(both, tool("ab"), warmed(50), 50).shape == Closed(1_400_000, 35)


def test_hey_gets_no_more_requests_than_it_remembers() -> None:
    long = asked(load_of(Closed(1000, duration_s=300)), fit_requests=True)

    assert fitted(long, tool("hey"), warmed(250), 250).shape.requests == 1_000_000  # type: ignore[union-attr]
    assert fitted(long, tool("ab"), warmed(250), 250).shape.requests == 2_400_000  # type: ignore[union-attr]


def test_hey_without_a_warm_up_gets_as_many_as_the_delays_let_fit() -> None:
    both = asked(load_of(Closed(1000, duration_s=210)), fit_duration=True, fit_requests=True)

    assert fitted(both, tool("hey"), warmed(), 900).shape == Closed(38_000, 35)


def test_without_a_warm_up_the_delays_tell_how_long_a_run_lasts() -> None:
    both = asked(load_of(Closed(1000, duration_s=210)), fit_duration=True, fit_requests=True)

    assert fitted(both, tool("ab"), warmed(), 2000).shape == Closed(60_000, 60)
    assert fitted(both, tool("ab"), warmed(50, phase="compile"), 2000).shape == Closed(60_000, 60)
    assert fitted(both, tool("ab"), warmed(), 0).shape == Closed(70_000_000, 35)
