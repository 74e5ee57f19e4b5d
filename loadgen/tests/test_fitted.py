"""How many requests, and how long a run, fit what the warm-up showed."""

from typing import Any, Literal

import pytest

from good import BURST, WARMUP
from loads import load_of, rate, request_of
from loomlab.records.load import Closed, Shape
from loomlab.records.warmup import Warmup
from loomlab.run.measure import fitted
from loomlab.tools.known import tool

LEFT_TO_THE_LAB = {"fit_duration": True, "fit_requests": True}


def warmed(*latencies_ms: float | None, phase: Literal["compile", "settle"] = "settle") -> Warmup:
    bursts = [BURST.model_copy(update={"phase": phase, "mean_latency_ms": latency_ms}) for latency_ms in latencies_ms]
    return WARMUP.model_copy(update={"bursts": bursts})


def shape_of(shape: Shape, name: str, warmup: Warmup, answer_ms: float = 900, **asked: Any) -> Shape:
    """Of the load that is measured, of 1,000 connections."""
    return fitted(request_of(load_of(shape, 1000), **asked), tool(name), warmup, answer_ms).shape


@pytest.mark.parametrize(
    ("latencies_ms", "sent"),
    [
        ((1000,), 60_000),
        ((5000, 1000, 1000, 1000, 1000), 60_000),
        ((984,), 60_000),
        ((983,), 61_000),
        ((200, None), 120_000),
        ((90_000,), 1000),
        ((), 120_000),
    ],
)
def test_a_tool_that_cannot_stop_by_time_gets_whole_waves_that_fit_it(
    latencies_ms: tuple[float | None, ...], sent: int
) -> None:
    assert shape_of(Closed(120_000, 60), "hey", warmed(*latencies_ms)) == Closed(sent, 60)


@pytest.mark.parametrize(
    ("name", "shape"), [("ab", Closed(120_000, 60)), ("users", Closed(120_000, 60)), ("hey", rate(100))]
)
def test_a_tool_that_stops_by_time_and_an_open_load_stay_as_they_are(name: str, shape: Shape) -> None:
    assert shape_of(shape, name, warmed(10)) == shape


@pytest.mark.parametrize(
    ("latency_ms", "duration_s"),
    [(905, 35), (1137, 35), (1138, 36), (4000, 118), (7137, 209), (7180, 210), (20_000, 210)],
)
def test_a_run_lasts_as_long_as_29_waves_need(latency_ms: float, duration_s: int) -> None:
    assert shape_of(Closed(1000, 210), "ab", warmed(latency_ms), fit_duration=True).duration_s == duration_s


@pytest.mark.parametrize(
    ("name", "warmup", "answer_ms", "expected"),
    [
        ("ab", warmed(905), 900, Closed(76_000, 35)),
        ("hey", warmed(905), 900, Closed(38_000, 35)),
        ("hey", warmed(), 900, Closed(38_000, 35)),
        ("ab", warmed(), 2000, Closed(60_000, 60)),
        ("ab", warmed(50, phase="compile"), 2000, Closed(60_000, 60)),
        ("ab", warmed(), 0, Closed(70_000_000, 35)),
    ],
)
def test_requests_left_to_the_lab_are_more_than_fit_the_duration_by_the_warm_up_or_else_the_delays(
    name: str, warmup: Warmup, answer_ms: float, expected: Shape
) -> None:
    assert shape_of(Closed(1000, 210), name, warmup, answer_ms, **LEFT_TO_THE_LAB) == expected


@pytest.mark.parametrize(("name", "requests"), [("hey", 1_000_000), ("ab", 2_400_000)])
def test_a_tool_gets_no_more_requests_than_it_remembers(name: str, requests: int) -> None:
    assert shape_of(Closed(1000, 300), name, warmed(250), 250, fit_requests=True) == Closed(requests, 300)
