"""Steps, hangs, and the first half of the measured part against its second, on loads of which everything is known."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from loomlab.judge.request_figures import episodes_of, falls, slow_of, steps_of
from loomlab.records.load import OpenRate, RateStep
from loomlab.records.measured import Halves, Slow
from loomlab.records.models import Episode, Hang, Interior, Step
from loomlab.records.requestlog import RequestLog
from rawrun import log_of

BEGIN = 1_795_000_000
STEP_S = 30


def ladder(*steps: tuple[int, float, int]) -> RequestLog:
    """So many requests a second of a step, so many ms each, of which so many fail in each second."""
    rows: dict[bool, list[tuple[int, float]]] = {False: [], True: []}
    for number, (rate, latency_ms, failing) in enumerate(steps):
        for second in range(BEGIN + number * STEP_S, BEGIN + (number + 1) * STEP_S):
            for place in range(rate):
                rows[place < failing].append((second, latency_ms))
    answered, failed = (np.reshape(rows[fails], (-1, 2)).T for fails in (False, True))
    return log_of(answered[0], answered[1], failed_start_s=failed[0], failed_latency_ms=failed[1])


def steps(log: RequestLog, *rates: float) -> list[Step]:
    """Of a process that uses a tenth of a CPU."""
    shape = OpenRate(tuple(RateStep(rate, STEP_S) for rate in rates))
    return steps_of(log, shape, lambda first, last: (last - first) / 10, BEGIN)


def test_waits_of_several_times_the_p50_keep_requests_from_being_sent() -> None:
    waits_ms = np.array([100.0] * 9 + [300.0, 301.0, 900.0])

    assert slow_of(waits_ms, 100, [0]) == Slow(requests=2, longest_ms=900, omitted=3.01 - 1 + 8)
    assert slow_of(waits_ms, 100, [300]) is slow_of(waits_ms[:10], 100, [0]) is slow_of(waits_ms, None, [0]) is None


def test_steps_that_are_reached_without_errors_hold_and_leave_out_their_first_moments_and_the_next_one() -> None:
    got = steps(ladder((50, 100, 0), (100, 120, 0), (200, 900, 0)), 50, 100, 200)

    assert [(step.start - BEGIN, step.seconds) for step in got] == [(2, 27), (32, 27), (62, 27)]
    assert all(step.held for step in got)
    rates = [(step.offered_rps, step.started_rps, step.throughput_rps) for step in got]
    assert rates == [(rate, rate, rate) for rate in (50, 100, 200)]
    assert [step.latency_ms.p50 for step in got] == [100, 120, 900]
    assert [step.cpu_ms_per_request for step in got] == pytest.approx([2, 1, 0.5])


@pytest.mark.parametrize(
    ("started", "failing", "offered", "held"),
    [
        (98, 0, 100, True), (97, 0, 100, False), (102, 0, 100, True), (103, 0, 100, False), (100, 1, 100, True),
        (100, 2, 100, False), (100, 100, 100, False), (0, 0, 100, False),
        # One request in 27 s more or fewer is no other rate.
        (1, 0, 1.037, True),
    ],
)  # fmt: skip
def test_limits_of_a_step(started: int, failing: int, offered: float, held: bool) -> None:
    first, got = steps(ladder((50, 100, 0), (started, 100, failing)), 50, offered)

    assert first.held
    assert (got.errors, got.started_rps, got.throughput_rps) == (27 * failing, started, started - failing)
    assert got.held is held
    assert (got.cpu_ms_per_request is None) is (started == failing)


@pytest.mark.parametrize(("grown_ms", "noise_ms", "missed"), [(9, 0, None), (30, 0, "latency grew by"), (30, 90, None)])
def test_a_step_whose_latency_grows(grown_ms: int, noise_ms: int, missed: str | None) -> None:
    """Of two steps, the second grows by so much from half to half; of eight seconds four are slower."""
    log = ladder((50, 100, 0), (100, 100, 0))
    since_s = np.maximum(log.start_s - BEGIN - STEP_S, 0)
    grown = since_s * grown_ms / (STEP_S / 2) + np.where(since_s % 8 > 4, noise_ms, 0)

    first, second = steps(replace(log, latency_ms=log.latency_ms + grown), 50, 100)

    assert first.held
    assert second.held is (missed is None)
    assert (second.missed or "").startswith(missed or "")


@pytest.mark.parametrize(("late_ms", "missed"), [(1000, None), (1001, "requests started 1.0 s late")])
def test_a_step_whose_requests_start_a_second_late_did_not_hold(late_ms: float, missed: str | None) -> None:
    log = ladder((50, 3000, 0), (100, 3000, 0))
    late = replace(log, lag_ms=np.where(log.start_s >= BEGIN + STEP_S, late_ms, 0.0))
    assert [step.missed for step in steps(late, 50, 100)] == [None, missed]


def test_a_single_rate_has_no_steps_and_without_a_request_none_holds() -> None:
    assert steps(ladder((50, 100, 0)), 50) == []
    assert [(step.started_rps, step.missed) for step in steps(RequestLog(), 50, 100)] == [(0, "0/s were started")] * 2


def episode(
    after_ms: Callable[[int], float], lag_ms: Callable[[int], float] = lambda _: 0, started: float = BEGIN
) -> Episode:
    """Ten requests a second take 100 ms, one of them 50 ms more; those that start in the hang wait for its end, too,
    those after it as long as the second after it has it."""

    def took_ms(second: int) -> float:
        return 100 if second < 60 else 100 + 1000 * (70 - second) if second < 70 else after_ms(second - 70)

    seconds = [second for second in range(120) for _ in range(10)]
    log = log_of(
        [BEGIN + second for second in seconds],
        [took_ms(second) + 50 * (place % 10 == 0) for place, second in enumerate(seconds)],
        lag_ms=[lag_ms(second) for second in seconds],
    )
    return episodes_of(log, [Hang(at_s=60, duration_s=10)], started)[0]


def slow_for(seconds: int) -> Callable[[int], float]:
    return lambda second: 300 if second < seconds else 110


@pytest.mark.parametrize(
    ("after_ms", "started", "recovery_s"),
    [
        (slow_for(0), BEGIN, 0), (slow_for(7), BEGIN, 7),
        # Three good seconds on end are a recovery, two are none, nor is one before a relapse.
        (slow_for(47), BEGIN, 47), (slow_for(48), BEGIN, None), (lambda second: 500 if second == 2 else 100, BEGIN, 3),
        # Good is within twenty percent.
        (lambda _: 120, BEGIN, 0), (lambda _: 121, BEGIN, None),
        # A run may begin between two seconds.
        (slow_for(7), BEGIN + 0.25, 6.75), (slow_for(0), BEGIN + 0.25, 0),
    ],
)  # fmt: skip
def test_a_recovery(after_ms: Callable[[int], float], started: float, recovery_s: float | None) -> None:
    got = episode(after_ms, started=started)
    assert (got.start, got.end) == (started + 60, started + 70)
    assert (got.before_p50_ms, got.worst_ms, got.recovery_s) == (100, 10_150, recovery_s)


def test_without_anything_before_the_hang_there_is_nothing_to_come_back_to() -> None:
    (got,) = episodes_of(log_of([BEGIN + 65, BEGIN + 80], [5100, 100]), [Hang(at_s=60, duration_s=10)], BEGIN)
    assert (got.before_p50_ms, got.worst_ms, got.recovery_s) == (None, 5100, None)


def test_users_wait_from_when_their_request_was_due_in_a_hang_and_after_it() -> None:
    """Those of the first five seconds after the hang are answered at once, but started two seconds late."""
    got = episode(lambda _: 110, lag_ms=lambda second: 2000 if 65 <= second < 75 else 0)
    assert (got.recovery_s, got.worst_ms) == (5, 150 + 10_000)


CONNECTIONS = 100
NOISE = (0.2, -0.2, -0.2, 0.2, 0.2, -0.2, -0.2, 0.2)


def halves(
    latency_ms: Callable[[float], float],
    cpu_s: Callable[[float], float | None] = lambda _: None,
    seconds: int = 40,
    mean_s: float = 1.0,
    connections: int | None = CONNECTIONS,
    whole_run: bool = False,
    each: int = 10,
    **log: Any,
) -> tuple[Halves | None, Halves | None]:
    """Of latency and CPU per request: so many requests a second, each of the latency of its second; others outside of
    the window, which must not count."""
    starts = [BEGIN + second for second in range(-5, seconds + 5) for _ in range(each)]
    latencies = [latency_ms(start - BEGIN) if 0 <= start - BEGIN < seconds else 1e6 for start in starts]
    window = Interior(start=BEGIN, seconds=seconds, requests=1, whole_run=whole_run)

    def cpu_seconds(first: float, last: float) -> float | None:
        spent = [cpu_s(second - BEGIN) for second in range(int(first), int(last))]
        return None if None in spent else sum(one or 0 for one in spent)

    got = falls(log_of(starts, latencies, **log), window, mean_s, connections, cpu_seconds)
    return got.get("latency_fall"), got.get("cpu_fall")


@pytest.mark.parametrize(
    ("factors", "fall", "margin", "peak"),
    [
        ([0.8 ** (part / 4) for part in range(8)], 0.2, 0, 0.215),
        ([1.1 ** (part / 4) for part in range(8)], -0.1, 0, 0.087),
        ([math.exp(-0.06 * part + noise) for part, noise in enumerate(NOISE)], 0.213, 0.251, 0.552),
        ([math.exp(-0.08 * part + noise) for part, noise in enumerate(NOISE)], 0.274, 0.232, 0.681),
        ([math.exp(0.06 * part + noise) for part, noise in enumerate(NOISE)], -0.271, 0.308, 0.552),
        ([math.exp(0.5 * part + noise) for part, noise in enumerate(NOISE)], -6.389, 1.787, 4.579),
    ],
)
def test_latency_that_falls_or_rises_with_margin(factors: list[float], fall: float, margin: float, peak: float) -> None:
    got, _ = halves(lambda second: 1000 * factors[int(second // 5)])
    assert got and (got.fall, got.margin, got.peak) == pytest.approx((fall, margin, peak), abs=0.001)


def test_latency_begins_when_a_request_was_due() -> None:
    got, _ = halves(lambda _: 900, each=1, lag_ms=[100.0 * (second >= 20) for second in range(-5, 45)])
    assert got and got.fall == pytest.approx(-0.084, abs=0.001)


@pytest.mark.parametrize(
    ("latency_ms", "cpu_s", "connections", "fall"),
    [
        # In a closed model it goes by latency, not by a count; in an open one by the requests that started.
        (lambda _: 900, lambda _: 0.5, CONNECTIONS, 0),
        (lambda _: 900, lambda second: 0.9 ** (second / 20), CONNECTIONS, 0.1),
        (lambda second: 1000 * 0.8 ** (second / 20), lambda _: 0.9, CONNECTIONS, 0.2),
        (lambda second: 100 + 100 * second, lambda _: 0.5, None, 0),
    ],
)
def test_cost(
    latency_ms: Callable[[float], float], cpu_s: Callable[[float], float], connections: int | None, fall: float
) -> None:
    _, got = halves(latency_ms, cpu_s, connections=connections)
    assert got and got.fall == pytest.approx(fall, abs=0.001)


@pytest.mark.parametrize(
    ("changes", "known"),
    [
        # Four parts of two waves are the shortest window.
        ({"seconds": 8, "mean_s": 0.5}, True), ({"seconds": 7, "mean_s": 0.5}, False),
        ({"seconds": 40, "mean_s": 5.0}, True), ({"seconds": 39, "mean_s": 5.0}, False),
        ({"seconds": 39, "mean_s": 5.0, "connections": None}, True), ({"whole_run": True}, False), ({"each": 0}, False),
    ],
)  # fmt: skip
def test_where_halves_are_known(changes: dict[str, Any], known: bool) -> None:
    latency, cpu = halves(lambda _: 900, **changes)
    assert (latency is not None) is known
    assert cpu is None
