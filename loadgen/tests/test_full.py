"""How many requests a closed load makes, where its connections answer in step and starts are known to the second."""

from dataclasses import replace

import pytest

from loomlab.basics.waves import fitting_duration_s
from loomlab.judge.interior import interior_figures
from loomlab.records.requestlog import RequestLog
from test_interior import BEGIN, closed_loop


def in_step(
    concurrency: int, wave_ms: float, begun: float, duration_s: float, burst_s: float = 0.1
) -> tuple[RequestLog, float]:
    """ab's rows where all connections send within `burst_s` and wait equally long, and when the run ended."""
    begun += BEGIN
    sent = [begun + burst_s * connection / concurrency for connection in range(concurrency)]
    starts = [
        int(start + wave * wave_ms / 1000)
        for start in sent
        for wave in range(int((begun + duration_s - start) * 1000 / wave_ms))
    ]
    return RequestLog(starts, [round(wave_ms)] * len(starts)), begun + duration_s


WAVES_MS = [905, 913, 930, 980, 1000, 1002, 1070, 1310, 2450, 4650]
PHASES = [number / 29 for number in range(29)]


@pytest.mark.parametrize("wave_ms", WAVES_MS)
def test_connections_in_step_carry_what_they_can_whether_the_last_wave_is_counted_or_not(wave_ms: int) -> None:
    """A count of the rows is off by up to 3 %."""
    for begun in PHASES:
        log, ended = in_step(50, wave_ms, begun, fitting_duration_s(wave_ms / 1000))

        got = interior_figures(log, 50, BEGIN, ended)

        assert got is not None
        assert got.throughput_rps == pytest.approx(50_000 / wave_ms, rel=0.002)
        assert got.little_ratio == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("wave_ms", [905, 913, 930, 1070, 1310, 2450, 4650])
def test_dead_connections_show_though_the_others_are_in_step(wave_ms: int) -> None:
    """Three of a hundred."""
    for begun in PHASES:
        log, ended = in_step(97, wave_ms, begun, fitting_duration_s(wave_ms / 1000))
        log = replace(log, start_s=[*log.start_s, *[int(ended)] * 3], latency_ms=[*log.latency_ms, *[wave_ms] * 3])

        got = interior_figures(log, 100, BEGIN, ended)

        assert got is not None and got.little_ratio is not None
        assert got.little_ratio < 0.99


def test_where_requests_are_spread_evenly_their_number_counts() -> None:
    log, _ = closed_loop(97, 60, 20, 5, seed=5)

    got = interior_figures(log, 100, BEGIN, BEGIN + 60)

    assert got is not None
    assert got.little_ratio == pytest.approx(0.97, abs=0.001)
    assert got.requests == pytest.approx(got.window.requests, rel=0.001)


def test_a_closed_load_is_as_full_of_requests_that_failed() -> None:
    """Of 50 connections in step each fifth request fails, after as long."""
    log, ended = in_step(50, 905, 0.3, 35)
    fails = [number % 5 == 0 for number in range(len(log))]
    answered = [place for place, fail in enumerate(fails) if not fail]
    failed = [place for place, fail in enumerate(fails) if fail]
    parted = RequestLog(
        [log.start_s[place] for place in answered],
        [log.latency_ms[place] for place in answered],
        failed_start_s=[log.start_s[place] for place in failed],
        failed_latency_ms=[log.latency_ms[place] for place in failed],
    )

    got = interior_figures(parted, 50, BEGIN, ended)

    assert got is not None
    assert got.little_ratio == pytest.approx(1, abs=0.01)
    assert got.throughput_rps == pytest.approx(0.8 * 50_000 / 905, rel=0.01)
