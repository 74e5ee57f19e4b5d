"""How late an open model's requests started, on simulated tools of which everything is known."""

import heapq

import pytest

from loomlab.judge.interior import open_figures
from loomlab.judge.lag import start_lags_s, with_lags
from loomlab.records.load import OpenRate, RateStep
from loomlab.records.requestlog import RequestLog

BEGIN = 1_800_000_000.25


def one_rate(rate_rps: float, duration_s: int) -> OpenRate:
    return OpenRate((RateStep(rate_rps, duration_s),))


def attack(rate_rps: int, duration_s: int, workers: int, latency_s: float, stall: tuple[float, float]) -> RequestLog:
    """As vegeta attacks: what is due waits for a free worker, and is made up for as soon as there is one. Requests that
    are under way or start during the stall are answered `latency_s` after its end."""
    free = [0.0] * workers
    starts, latencies = [], []
    for number in range(rate_rps * duration_s):
        due = (number + 1) / rate_rps
        start = max(due, heapq.heappop(free))
        end = start + latency_s
        if start < stall[1] and end > stall[0]:
            end = stall[1] + latency_s
        heapq.heappush(free, end)
        starts.append(BEGIN + start)
        latencies.append(1000 * (end - start))
    return RequestLog(starts, latencies)


def test_a_tool_that_makes_up_for_a_stall_has_its_rate_and_not_its_latency() -> None:
    shape = one_rate(300, 60)
    log = attack(300, 60, 400, 0.9, stall=(30, 33))

    figures = open_figures(with_lags(log, shape, dropped=0), BEGIN, BEGIN + 60)

    assert figures is not None
    assert figures.started_rps == pytest.approx(300, rel=0.001)
    assert figures.latency_from_start is not None
    assert figures.latency_from_start.p90 == pytest.approx(900, abs=1)
    assert figures.latency.p90 is not None
    assert figures.latency.p90 > 1500
    assert figures.start_lag_p99_ms == pytest.approx(2957, rel=0.01)


def test_a_tool_that_keeps_up_has_no_lag() -> None:
    log = attack(300, 60, 400, 0.9, stall=(99, 99))

    assert max(with_lags(log, one_rate(300, 60), dropped=0).lag_ms) < 0.01


def test_a_late_first_request_does_not_shift_the_schedule() -> None:
    starts = [BEGIN + number / 10 for number in range(100)]
    starts[0] += 0.05

    lags = start_lags_s(starts, one_rate(10, 10), 0)

    assert lags[0] == pytest.approx(0.05, abs=1e-5)
    assert min(lags) >= 0
    assert max(lags[1:]) < 1e-5


def test_two_starts_are_not_meant_for_the_same_due_time() -> None:
    """Ten a second for a second, then five at once at its end; five others were dropped."""
    starts = [BEGIN, *[BEGIN + 1.0] * 5]

    assert start_lags_s(starts, one_rate(10, 10), dropped=5) == pytest.approx([0, 0.4, 0.3, 0.2, 0.1, 0], abs=1e-5)


def test_failed_requests_are_due_in_their_turn() -> None:
    starts = [BEGIN + number / 10 for number in range(100)]
    log = RequestLog(starts[::2], [5.0] * 50, failed_start_s=starts[1::2], failed_latency_ms=[1.0] * 50)

    lagged = with_lags(log, one_rate(10, 10), dropped=0)

    assert (len(lagged.lag_ms), len(lagged.failed_lag_ms)) == (50, 50)
    assert max([*lagged.lag_ms, *lagged.failed_lag_ms]) < 0.01


def test_steps_are_due_at_their_own_rates() -> None:
    shape = OpenRate((RateStep(10, 3), RateStep(40, 2)))
    starts = [BEGIN + number / 10 for number in range(1, 31)] + [BEGIN + 3 + number / 40 for number in range(1, 81)]

    assert max(start_lags_s(starts, shape, 0)) < 1e-5
    assert shape.requests == len(starts)


def test_a_part_of_a_request_at_the_end_of_a_step_is_not_lost() -> None:
    """One in two seconds, for twice three: due at 2, 4 and 6."""
    shape = OpenRate((RateStep(0.5, 3), RateStep(0.5, 3)))

    assert start_lags_s([BEGIN + 2, BEGIN + 4, BEGIN + 6], shape, 0) == pytest.approx([0, 0, 0], abs=1e-5)


def test_what_was_left_out_is_not_taken_for_lag() -> None:
    due = [BEGIN + number / 50 for number in range(500)]
    kept = due[:200] + due[240:]

    assert max(start_lags_s(kept, one_rate(50, 10), dropped=40)) < 1e-5
    late = [*due[:200], *(start + 0.3 for start in due[240:])]
    assert max(start_lags_s(late, one_rate(50, 10), dropped=40)) == pytest.approx(0.3, abs=0.02)


def test_a_start_beyond_the_schedule_goes_on_at_the_last_rate() -> None:
    starts = [BEGIN + number / 10 for number in range(103)]

    assert max(start_lags_s(starts, one_rate(10, 10), 0)) < 1e-5


def test_a_closed_model_has_nothing_due() -> None:
    log = RequestLog([1.0], [5.0])

    assert log.from_due_ms == log.latency_ms
    assert with_lags(RequestLog([], []), one_rate(1, 1), 0).lag_ms == ()
