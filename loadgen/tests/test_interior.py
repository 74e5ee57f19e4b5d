"""Interior figures, on simulated closed loops of which everything is known."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomlab.interior import connect_wave_end, interior_figures
from loomlab.requestlog import RequestLog, latency_figures, percentile, silent_gaps

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


@settings(max_examples=40, deadline=None)
@given(
    concurrency=st.integers(50, 150),
    mean_ms=st.integers(100, 1500),
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


@pytest.mark.parametrize("duration_s", [20, 60])
@pytest.mark.parametrize("wave_ms", [905, 930, 1070, 1310, 2450])
def test_synchronised_waves_do_not_show_a_throughput_no_server_could_have(wave_ms: int, duration_s: int) -> None:
    starts = [BEGIN + wave * wave_ms / 1000 for wave in range(int(duration_s * 1000 / wave_ms))]
    log = RequestLog([int(start) for start in starts for _ in range(50)], [wave_ms] * 50 * len(starts))

    got = interior_figures(log, 50, BEGIN, BEGIN + duration_s)

    assert got is not None
    assert got.throughput_rps == pytest.approx(50_000 / wave_ms, rel=0.02)


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


@given(st.lists(st.integers(0, 10_000), min_size=1), st.integers(1, 100))
def test_nearest_rank_is_the_smallest_value_not_exceeded_by_that_share(values: list[int], percent: int) -> None:
    ordered = sorted(values)
    got = percentile(ordered, percent)

    assert 100 * sum(value <= got for value in ordered) >= percent * len(ordered)
    assert 100 * sum(value < got for value in ordered) < percent * len(ordered)


def test_latency_figures() -> None:
    got = latency_figures([40, 10, 20, 30])

    assert (got.min, got.mean, got.max, got.p50, got.p75, got.p99) == (10, 25, 40, 20, 30, 40)
    assert got.stdev == pytest.approx(12.909944)
    assert latency_figures([]).p50 is None
    assert latency_figures([7]).stdev is None


def test_the_silence_a_run_ends_with_counts_up_to_its_last_event() -> None:
    steady = [(second, 100) for second in range(100, 130)]
    log = RequestLog([second for second, _ in steady] + [129], [ms for _, ms in steady] + [20_000])

    assert silent_gaps(log, 149.5) == (18, 17)
    assert silent_gaps(RequestLog(range(100, 130), [100] * 30), 130.0) == (0, 0)


def test_a_silence_in_the_middle_is_the_longest_but_not_the_last() -> None:
    seconds = [*range(100, 110), *range(118, 130)]

    assert silent_gaps(RequestLog(seconds, [100] * len(seconds)), 130.0) == (7, 0)
