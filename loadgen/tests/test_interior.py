"""Interior figures, on simulated closed loops of which everything is known."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.basics.waves import FEWEST_WAVES, SHORTEST_INTERIOR_S
from loomlab.judge.interior import (
    allowed_lengths,
    connect_wave_end,
    figures_of,
    interior_figures,
    last_full_second,
    open_figures,
    whole_waves,
    window_figures,
)
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.requestlog import RequestLog

BEGIN = 1_000_000.25


def closed_loop(
    concurrency: int, duration_s: float, mean_ms: int, spread_ms: int, seed: int, first_ms: int = 0
) -> tuple[RequestLog, list[tuple[float, int]]]:
    """Connections that always have one request in flight; what is in flight at the end is discarded, as ab does.
    Every connection's first request takes `first_ms` longer."""
    chance = random.Random(seed)  # noqa: S311
    exact: list[tuple[float, int]] = []
    for _ in range(concurrency):
        now = BEGIN + chance.uniform(0, mean_ms / 1000)
        latency = mean_ms + first_ms
        while (end := now + latency / 1000) <= BEGIN + duration_s:
            exact.append((now, latency))
            now, latency = end, chance.randint(mean_ms - spread_ms, mean_ms + spread_ms)
    chance.shuffle(exact)
    return RequestLog([int(start) for start, _ in exact], [round(ms) for _, ms in exact]), exact


@given(
    concurrency=st.integers(50, 150),
    mean_ms=st.integers(250, 1500),
    spread=st.floats(0.05, 0.5),
    seed=st.integers(0, 10_000),
)
def test_littles_law_holds_in_a_closed_loop(concurrency: int, mean_ms: int, spread: float, seed: int) -> None:
    log, exact = closed_loop(concurrency, 60, mean_ms, int(mean_ms * spread), seed)

    got = interior_figures(log, concurrency, BEGIN, BEGIN + 60)

    assert got is not None
    assert not got.window.whole_run
    assert got.little_ratio == pytest.approx(1, abs=0.02)
    inside = [ms for start, ms in exact if got.window.start <= start < got.window.start + got.window.seconds]
    assert got.window.requests == len(inside)
    assert got.throughput_rps == pytest.approx(concurrency / (sum(inside) / len(inside) / 1000), rel=0.01)


def test_the_connect_wave_is_left_out() -> None:
    log, exact = closed_loop(100, 60, 500, 50, seed=1, first_ms=4000)

    got = interior_figures(log, 100, BEGIN, BEGIN + 60)

    first_wave_ends = BEGIN + 0.5 + 4.5
    assert got is not None
    assert got.window.start >= first_wave_ends
    assert got.latency.max is not None
    assert got.latency.max <= 550
    assert max(ms for _, ms in exact) == 4500


def test_the_window_is_the_nearest_to_whole_waves() -> None:
    """31 s are 34.25 waves of 905 ms, 29 s are 32.04."""
    assert whole_waves(range(33, 26, -1), 1 / 0.905) == 29
    assert whole_waves(range(50, 39, -1), 1.0) == 50
    assert whole_waves(range(19, 14, -1), 0.25) == 16


@given(longest_s=st.integers(3, 3600), waves=st.floats(0, 40_000))
def test_windows_keep_four_fifths_and_what_a_valid_run_needs(longest_s: int, waves: float) -> None:
    lengths = allowed_lengths(longest_s, waves)

    assert lengths[0] == longest_s
    assert lengths[-1] >= 0.8 * longest_s
    assert lengths[-1] >= min(longest_s, SHORTEST_INTERIOR_S)
    assert lengths[-1] * waves / longest_s >= min(waves, FEWEST_WAVES) * (1 - 1e-9)


def test_lost_requests_break_littles_law() -> None:
    log, _ = closed_loop(100, 60, 500, 100, seed=3)
    kept = [index for index in range(len(log)) if index % 10]
    thinned = RequestLog([log.start_s[i] for i in kept], [log.latency_ms[i] for i in kept])

    got = interior_figures(thinned, 100, BEGIN, BEGIN + 60)

    assert got is not None
    assert got.little_ratio == pytest.approx(0.9, abs=0.01)


def test_a_short_run_falls_back_to_all_of_it() -> None:
    log, _ = closed_loop(20, 5, 900, 0, seed=1)

    got = interior_figures(log, 20, BEGIN, BEGIN + 5)

    assert got is not None
    assert got.window.whole_run
    assert got.little_ratio is None
    assert got.throughput_rps == pytest.approx(len(log) / 5)


def test_without_data_there_are_no_figures() -> None:
    assert interior_figures(RequestLog([], []), 5, BEGIN, BEGIN + 60) is None
    assert connect_wave_end(RequestLog([10], [1]), 2) is None


def test_time_in_which_a_tool_only_waits_for_its_last_answers_does_not_count() -> None:
    """vegeta starts nothing after its duration, and waits: here 5 s for the last of some 6,500 answers."""
    log, _ = closed_loop(100, 60, 920, 50, seed=3)
    late = RequestLog([*log.start_s, int(BEGIN + 59)], [*log.latency_ms, 5_000])

    drained = interior_figures(late, 100, BEGIN, BEGIN + 64, drains=True)
    counted = interior_figures(late, 100, BEGIN, BEGIN + 64)

    assert drained is not None and counted is not None
    assert drained.throughput_rps == pytest.approx(100 / 0.92, rel=0.01)
    assert counted.throughput_rps < 0.97 * 100 / 0.92


def quotas_of_their_own(connections: int, requests: int) -> RequestLog:
    """As hey loads: each connection has so many requests, and takes from 100 to 115 ms for one."""
    starts: list[float] = []
    took: list[float] = []
    for connection in range(connections):
        latency_ms = 100 + 15 * connection / connections
        for number in range(requests):
            starts.append(BEGIN + number * latency_ms / 1000)
            took.append(latency_ms)
    return RequestLog(starts, took)


def test_a_load_that_thins_out_ends_where_its_connections_do() -> None:
    log = quotas_of_their_own(connections=100, requests=200)
    load = Load("http://app:8080", (Target("/a"),), 100, Closed(20_000, 30), 30)
    true_rps = sum(1000 / ms for ms in {round(ms, 6) for ms in log.latency_ms})

    full = figures_of(log, load, BEGIN, BEGIN + 23, quotas=True)
    thinned = figures_of(log, load, BEGIN, BEGIN + 23)

    assert full is not None and thinned is not None
    assert full.throughput_rps == pytest.approx(true_rps, rel=0.005)
    assert thinned.throughput_rps < 0.98 * true_rps


def test_where_no_second_is_full_the_whole_run_counts() -> None:
    log = quotas_of_their_own(connections=3, requests=1)

    assert last_full_second(log, 50, BEGIN + 9) == BEGIN + 9


OPEN_S = 60
MIN_RATE, MAX_RATE = 50, 300


def open_log(rate_rps: float, duration_s: float, latency_ms: int, failing: int = 0) -> RequestLog:
    """Starts at even distances whatever comes back; of `failing` (0: none) requests each one fails."""
    starts = [BEGIN + number / rate_rps for number in range(round(rate_rps * duration_s))]
    fails = [bool(failing) and number % failing == 0 for number in range(len(starts))]
    answered = [int(start) for start, fail in zip(starts, fails, strict=True) if not fail]
    failed = [int(start) for start, fail in zip(starts, fails, strict=True) if fail]
    return RequestLog(
        answered,
        [latency_ms] * len(answered),
        failed_start_s=failed,
        failed_latency_ms=[latency_ms] * len(failed),
    )


@given(rate=st.floats(MIN_RATE, MAX_RATE), latency_ms=st.integers(1, 20_000))
def test_a_steady_rate_is_seen_within_one_percent(rate: float, latency_ms: int) -> None:
    got = open_figures(open_log(rate, OPEN_S, latency_ms), BEGIN, BEGIN + OPEN_S)

    assert got is not None
    assert not got.window.whole_run
    assert got.started_rps == pytest.approx(rate, rel=0.01)
    assert got.throughput_rps == got.started_rps
    assert got.latency.mean == latency_ms
    assert got.waves is got.little_ratio is None
    assert got.window.start >= BEGIN + latency_ms / 1000


@given(rate=st.floats(MIN_RATE, MAX_RATE), failing=st.integers(2, 20))
def test_requests_that_fail_were_started_but_not_answered(rate: float, failing: int) -> None:
    got = open_figures(open_log(rate, OPEN_S, 100, failing), BEGIN, BEGIN + OPEN_S)

    assert got is not None
    assert got.started_rps == pytest.approx(rate, rel=0.01)
    assert got.throughput_rps == pytest.approx(rate * (1 - 1 / failing), rel=0.02)
    assert got.window.requests == pytest.approx(got.throughput_rps * got.window.seconds)


def test_an_open_run_without_three_seconds_to_look_at_falls_back_to_all_of_it() -> None:
    short = open_figures(open_log(100, 5, 1500), BEGIN, BEGIN + 5)
    slow = open_figures(open_log(100, OPEN_S, 58_000), BEGIN, BEGIN + OPEN_S)

    assert short is not None
    assert slow is not None
    assert short.window.whole_run
    assert slow.window.whole_run
    assert short.started_rps is None
    assert short.throughput_rps == pytest.approx(100)


def test_an_open_run_without_an_answer_has_no_figures() -> None:
    assert open_figures(RequestLog([], [], failed_start_s=[10], failed_latency_ms=[5]), BEGIN, BEGIN + 60) is None


def test_an_open_run_that_begins_with_failures_has_figures_of_the_rest() -> None:
    starts = [second for second in range(1_000_010, 1_000_060) for _ in range(10)]
    failed = [second for second in range(1_000_000, 1_000_010) for _ in range(10)]
    log = RequestLog(starts, [100] * len(starts), failed_start_s=failed, failed_latency_ms=[1] * len(failed))

    got = open_figures(log, BEGIN, BEGIN + OPEN_S)

    assert got is not None
    assert got.started_rps == 10
    assert got.throughput_rps == pytest.approx(10 * 49 / 58)


def test_a_window_holds_what_started_in_it() -> None:
    log = RequestLog([9, 10, 11, 12], [1, 2, 4, 8], failed_start_s=[9, 11, 12], failed_latency_ms=[1, 1, 1])

    got = window_figures(log, 10, 12)

    assert (got.window.start, got.window.seconds, got.window.requests) == (10, 2, 2)
    assert (got.throughput_rps, got.started_rps) == (1.0, 1.5)
    assert got.latency.mean == 3


@pytest.mark.parametrize(
    ("shape", "whole_run", "started"),
    [
        (Closed(requests=10_000, duration_s=60), False, False),
        (OpenRate((RateStep(100, 60),)), False, True),
        (Users((UserStage(20, 48), UserStage(0, 12)), (1, 3)), True, False),
    ],
)
def test_the_figures_suit_the_shape_of_the_load(shape: Shape, whole_run: bool, started: bool) -> None:
    log, _ = closed_loop(20, 60, 200, 20, seed=2)
    load = Load("http://x", (Target("/"),), 20, shape, timeout_s=30)

    got = figures_of(log, load, BEGIN, BEGIN + 60)

    assert got is not None
    assert got.window.whole_run is whole_run
    assert (got.started_rps is not None) is started
    assert (got.little_ratio is not None) is isinstance(shape, Closed)
    assert figures_of(RequestLog([], []), load, BEGIN, BEGIN + 60) is None


def test_users_count_from_their_first_request_to_their_last_answer() -> None:
    """A tool takes some seconds until it has its users, and again until it ends."""
    log = RequestLog([BEGIN + 4, BEGIN + 5], [500, 2000])
    load = Load("http://x", (Target("/"),), 20, Users((UserStage(20, 8),), (1, 3)), timeout_s=30)

    got = figures_of(log, load, BEGIN, BEGIN + 12)

    assert got is not None
    assert (got.window.start, got.window.seconds) == (BEGIN + 4, 3)
    assert got.throughput_rps == pytest.approx(2 / 3)


def answers(count: int, failed: int = 0, lag_ms: float = 0.0) -> RequestLog:
    """So many of 100 ms in 20 s, and failures between them; every hundredth starts so late."""
    starts = [1000 + 20 * number / count for number in range(count)]
    return RequestLog(
        starts,
        [100.0] * count,
        failed_start_s=[1005.0] * failed,
        failed_latency_ms=[1.0] * failed,
        lag_ms=[lag_ms if number % 100 == 0 else 0.0 for number in range(count)] if lag_ms else [],
        failed_lag_ms=[0.0] * failed if lag_ms else [],
    )


@pytest.mark.parametrize(("failed", "known"), [(20, True), (21, False)])
def test_p99_9_is_not_known_where_more_than_one_in_a_thousand_failed(failed: int, known: bool) -> None:
    assert (window_figures(answers(19_980, failed), 1000, 1020).latency.p99_9 is not None) is known


@pytest.mark.parametrize(("lag_ms", "known"), [(5.2, True), (5.3, False)])
def test_p99_9_is_not_known_where_a_twentieth_of_it_is_lag(lag_ms: float, known: bool) -> None:
    assert (window_figures(answers(20_000, lag_ms=lag_ms), 1000, 1020).latency.p99_9 is not None) is known


def test_p99_9_is_not_known_where_too_many_connections_closed_without_an_answer() -> None:
    log, _ = closed_loop(200, 40, 500, 20, seed=4)
    load = Load("http://x", (Target("/"),), 200, Closed(99_999, 40), timeout_s=30)

    few, many = (figures_of(replace(log, unanswered=closed), load, BEGIN, BEGIN + 40) for closed in (10, 20))

    assert few is not None and many is not None
    assert few.latency.p99_9 is not None
    assert many.latency.p99_9 is None


@pytest.mark.parametrize(("refused", "known"), [(20, True), (21, False)])
def test_failures_of_which_the_tool_does_not_tell_when_count_as_well(refused: int, known: bool) -> None:
    log = replace(answers(19_980), failures={"connection refused": refused})

    assert (window_figures(log, 1000, 1020).latency.p99_9 is not None) is known


def test_the_lag_of_failed_requests_counts() -> None:
    log = RequestLog(
        [10.0] * 9, [1.0] * 9, failed_start_s=[11.0], failed_latency_ms=[1.0], lag_ms=[0.0] * 9, failed_lag_ms=[700.0]
    )

    assert window_figures(log, 10, 12).start_lag_p99_ms == 700


def test_the_second_in_which_an_open_load_ends_is_not_counted() -> None:
    """It ends amid a second."""
    log = RequestLog([1000 + number / 100 for number in range(1250)], [50.0] * 1250)

    got = open_figures(log, 1000, 1012.5)

    assert got is not None
    assert (got.window.start + got.window.seconds, got.started_rps) == (1012, 100)


def test_connections_that_are_done_early_end_the_window() -> None:
    """Two in a hundred are done after 12 of 20 seconds."""
    log = RequestLog(
        [BEGIN + second for connection in range(100) for second in range(12 if connection < 2 else 20)],
        [999.0 for connection in range(100) for second in range(12 if connection < 2 else 20)],
    )

    assert last_full_second(log, 100, BEGIN + 20) == pytest.approx(BEGIN + 12, abs=1)
