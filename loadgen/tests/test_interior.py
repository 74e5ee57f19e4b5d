"""Interior figures, on simulated loads of which everything is known."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loads import load_of
from loomlab.basics.waves import FEWEST_WAVES, SHORTEST_INTERIOR_S, fitting_duration_s
from loomlab.judge.interior import InteriorFigures, figures_of, latency_of_due, window_figures
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Users, UserStage
from loomlab.records.models import Latency
from loomlab.records.requestlog import RequestLog
from rawrun import log_of
from saying import figures

BEGIN = 1_000_000.25


def interior_of(log: RequestLog, asked: Load, ended: float, **tool: bool) -> InteriorFigures:
    got = figures_of(log, asked, BEGIN, ended, **tool)
    assert got is not None
    return got


def closed(log: RequestLog, connections: int, ended: float = BEGIN + 60, **tool: bool) -> InteriorFigures:
    """Of ab's rows, which have whole seconds."""
    whole = replace(log, start_s=np.floor(log.start_s), failed_start_s=np.floor(log.failed_start_s))
    return interior_of(whole, load_of(Closed(10**6, 60), connections), ended, **tool)


def opened(log: RequestLog, rate_rps: float = 100, ended: float = BEGIN + 60) -> InteriorFigures:
    return interior_of(log, load_of(OpenRate((RateStep(rate_rps, 60),))), ended)


def closed_loop(connections: int, duration_s: float, mean_ms: int, spread_ms: int, seed: int) -> RequestLog:
    """Connections that always have one request in flight; what is in flight at the end is discarded, as ab does."""
    chance = random.Random(seed)  # noqa: S311
    rows: list[tuple[float, int]] = []
    for _ in range(connections):
        now, latency = BEGIN + chance.uniform(0, mean_ms / 1000), mean_ms
        while (end := now + latency / 1000) <= BEGIN + duration_s:
            rows.append((now, latency))
            now, latency = end, chance.randint(mean_ms - spread_ms, mean_ms + spread_ms)
    chance.shuffle(rows)
    return log_of([start for start, _ in rows], [latency for _, latency in rows])


def parted(log: RequestLog, fails: Sequence[bool]) -> RequestLog:
    """Of the requests those failed."""
    failed = np.array(fails)
    failures = {"failed_start_s": log.start_s[failed], "failed_latency_ms": log.latency_ms[failed]}
    return log_of(log.start_s[~failed], log.latency_ms[~failed], **failures)


@given(st.integers(50, 150), st.integers(250, 1500), st.floats(0.05, 0.5), st.integers(0, 10_000))
def test_littles_law_holds_in_a_closed_loop(connections: int, mean_ms: int, spread: float, seed: int) -> None:
    log = closed_loop(connections, 60, mean_ms, int(mean_ms * spread), seed)

    got = closed(log, connections)

    assert not got.window.whole_run
    assert got.little_ratio == pytest.approx(1, abs=0.02)
    inside = log.between(got.window.start, got.window.start + got.window.seconds)
    assert got.window.requests == len(inside)
    assert got.throughput_rps == pytest.approx(1000 * connections / inside.latency_ms.mean(), rel=0.01)


def test_without_three_seconds_or_an_answer_there_is_no_interior() -> None:
    log = closed_loop(20, 5, 900, 0, seed=1)

    got = closed(log, 20, BEGIN + 5)

    assert (got.window.whole_run, got.little_ratio) == (True, None)
    assert got.throughput_rps == pytest.approx(len(log) / 5)
    assert closed(log_of([BEGIN + 10], [1]), 2).window.whole_run
    assert figures_of(RequestLog(), load_of(Closed(5, 60)), BEGIN, BEGIN + 60) is None


def in_step(connections: int, wave_ms: float, begun: float, duration_s: float) -> tuple[RequestLog, float]:
    """All send within a tenth of a second and wait equally long; and when the run ended."""
    ended = BEGIN + begun + duration_s
    sent = [BEGIN + begun + 0.1 * connection / connections for connection in range(connections)]
    starts = [start + wave * wave_ms / 1000 for start in sent for wave in range(int((ended - start) * 1000 / wave_ms))]
    return log_of(starts, [round(wave_ms)] * len(starts)), ended


@pytest.mark.parametrize("wave_ms", [905, 913, 930, 980, 1000, 1002, 1070, 1310, 2450, 4650])
def test_connections_in_step_carry_what_they_can_whether_the_last_wave_is_counted_or_not(wave_ms: int) -> None:
    """A count of the rows is off by up to 3 %. Three dead of a hundred show."""
    for begun in [number / 29 for number in range(29)]:
        log, ended = in_step(50, wave_ms, begun, fitting_duration_s(wave_ms / 1000))
        got = closed(log, 50, ended)

        assert got.window.seconds >= max(0.8 * (got.recorded_s or 0), SHORTEST_INTERIOR_S)
        assert (got.waves or 0) > FEWEST_WAVES - 0.1
        assert got.throughput_rps == pytest.approx(50_000 / wave_ms, rel=0.002)
        assert got.little_ratio == pytest.approx(1, abs=0.01)

        log, ended = in_step(97, wave_ms, begun, fitting_duration_s(wave_ms / 1000))
        last = log_of([*log.start_s, *[ended] * 3], [*log.latency_ms, *[wave_ms] * 3])
        assert wave_ms in {980, 1000, 1002} or (closed(last, 100, ended).little_ratio or 1) < 0.99


def test_where_requests_are_spread_evenly_their_number_counts() -> None:
    got = closed(closed_loop(97, 60, 20, 5, seed=5), 100)
    assert got.little_ratio == pytest.approx(0.97, abs=0.001)
    assert got.requests == pytest.approx(got.window.requests, rel=0.001)


def test_a_closed_load_is_as_full_of_requests_that_failed() -> None:
    """Of 50 connections in step each fifth request fails, after as long."""
    log, ended = in_step(50, 905, 0.3, 35)

    got = closed(parted(log, [number % 5 == 0 for number in range(len(log))]), 50, ended)

    assert got.little_ratio == pytest.approx(1, abs=0.01)
    assert got.throughput_rps == pytest.approx(0.8 * 50_000 / 905, rel=0.01)


def test_a_second_is_full_until_more_than_a_hundredth_of_the_connections_are_done() -> None:
    """Some of 200 are done after 32 of 60 seconds, under a tool that gives each its number of requests."""

    def seconds(early: int) -> int:
        starts = [BEGIN + second for place in range(200) for second in range(32 if place < early else 60)]
        return closed(log_of(starts, [999.0] * len(starts)), 200, quotas=True).recorded_s or 0

    assert (seconds(early=2), seconds(early=3)) == pytest.approx((56, 28), abs=1)


def open_log(rate_rps: float, duration_s: float, latency_ms: int, failing: int = 0) -> RequestLog:
    """Starts at even distances whatever comes back; of `failing` (0: none) requests each one fails."""
    starts = [BEGIN + number / rate_rps for number in range(round(rate_rps * duration_s))]
    fails = [bool(failing) and number % failing == 0 for number in range(len(starts))]
    return parted(log_of(np.floor(starts), [latency_ms] * len(starts)), fails)


@given(rate=st.floats(50, 300), latency_ms=st.integers(1, 20_000))
def test_a_steady_rate_is_seen_within_one_percent(rate: float, latency_ms: int) -> None:
    got = opened(open_log(rate, 60, latency_ms), rate)

    assert not got.window.whole_run
    assert got.started_rps == pytest.approx(rate, rel=0.01)
    assert got.throughput_rps == got.started_rps
    assert got.latency_ms.mean == latency_ms
    assert got.waves is got.little_ratio is None
    assert got.window.start >= BEGIN + latency_ms / 1000


def test_an_open_run_without_three_seconds_or_an_answer_has_no_interior() -> None:
    short, slow = opened(open_log(100, 5, 1500), ended=BEGIN + 5), opened(open_log(100, 60, 58_000))

    assert short.window.whole_run and slow.window.whole_run
    assert short.started_rps is None
    assert short.throughput_rps == pytest.approx(100)


def test_an_open_run_that_begins_with_failures_and_ends_amid_a_second_is_counted_to_its_last_whole_one() -> None:
    starts = [1000 + number / 100 for number in range(1250)]
    log = parted(log_of(starts, [50.0] * 1250), [start < 1005 for start in starts])

    got = opened(log, ended=1012.5)

    assert (got.window.start, got.window.start + got.window.seconds) == (1001, 1012)
    assert (got.started_rps, got.throughput_rps) == pytest.approx((100, 100 * 7 / 11))


def test_users_count_from_their_first_request_to_their_last_answer() -> None:
    """A tool takes some seconds until it has its users, and again until it ends."""
    log = log_of([BEGIN + 4, BEGIN + 5], [500, 2000])

    got = interior_of(log, load_of(Users((UserStage(20, 8), UserStage(0, 2)), (1, 3))), BEGIN + 12)

    assert (got.window.start, got.window.seconds) == (BEGIN + 4, 3)
    assert got.throughput_rps == pytest.approx(2 / 3)


def answers(count: int, failed: int = 0, lag_ms: float = 0.0) -> RequestLog:
    """So many of 100 ms in 20 s, and failures between them; every hundredth starts so late."""
    return log_of(
        [1000 + 20 * number / count for number in range(count)],
        [100.0] * count,
        failed_start_s=[1005.0] * failed,
        failed_latency_ms=[1.0] * failed,
        lag_ms=[lag_ms if number % 100 == 0 else 0.0 for number in range(count)] if lag_ms else [],
        failed_lag_ms=[0.0] * failed if lag_ms else [],
    )


@pytest.mark.parametrize(
    ("log", "known"),
    [
        # More than one in a thousand failed, of which the tool tells when or not.
        (answers(19_980, 20), True), (answers(19_980, 21), False),
        (replace(answers(19_980), failures={"connection refused": 20}), True),
        (replace(answers(19_980), failures={"connection refused": 21}), False),
        # A twentieth of it is lag.
        (answers(20_000, lag_ms=5.2), True), (answers(20_000, lag_ms=5.3), False),
    ],
)  # fmt: skip
def test_p99_9_is_withheld_where_failures_or_the_tool_make_it(log: RequestLog, known: bool) -> None:
    assert (window_figures(log, 1000, 1020).latency_ms.p99_9 is not None) is known


def test_latency_begins_when_a_request_was_due_and_the_lag_of_failed_ones_counts() -> None:
    log = replace(answers(9, failed=1, lag_ms=1.0), lag_ms=np.full(9, 50.0), failed_lag_ms=np.array([700.0]))

    got = window_figures(log, 1000, 1020)

    assert got.latency_from_start_ms is not None
    assert (got.latency_ms.mean, got.latency_from_start_ms.mean, got.start_lag_p99_ms) == (150, 100, 700)


def due(latencies_ms: Sequence[float], unplaced: int = 0, **others: Any) -> Latency:
    """Of answers that started evenly over 50 s, those next to one another in the list after one another."""
    log = log_of(50 * np.arange(len(latencies_ms)) / max(len(latencies_ms), 1), latencies_ms, **others)
    return latency_of_due(log, log.latency_ms, unplaced)


@pytest.mark.parametrize(("name", "count"), [("p50", 20), ("p90", 100), ("p98", 500), ("p99", 1000), ("p99_9", 10_000)])
def test_a_percentile_wants_ten_requests_above_it(name: str, count: int) -> None:
    spread = [float(number * 7 % count) for number in range(count)]

    enough, few = due(spread), due([one for one in spread if one != count - 1])

    assert getattr(enough, name) == count - 11
    assert getattr(few, name) is None
    assert "9" in few.withheld[name] and name not in enough.withheld


def at_waves(count: int) -> list[float]:
    """Of 2,000 answers 24 are slow, in so many different seconds."""
    slow = {200 * (number % count) + number for number in range(24)}
    return [2000.0 if number in slow else 920.0 for number in range(2000)]


FAST_AND_SLOW = ([920.0] * 109 + [10_000.0]) * 18
OF_UNKNOWN_STATUS = ([900.0] * 50 + [5.0] + [900.0] * 50 + [1200.0] * 2 + [3000.0]) * 20
RARELY_SLOW = [920.0 if number % 100 else 3000.0 + number for number in range(1990)]


@pytest.mark.parametrize(
    ("latencies_ms", "others", "percentiles"),
    [
        # 1.2 % failed, which rank above every answer, as if each had taken a minute.
        ([920.0] * 1976, {"failed_start_s": [2.0 * number for number in range(24)]}, {"p98": 920, "p99": "920"}),
        (([920.0] * 82 + [60_000.0]) * 24, {}, {"p98": 920, "p99": 60_000}),
        # 0.9 % failed fast, 0.9 % took 10 s: p99 is one of the latter.
        (FAST_AND_SLOW, {"failed_start_s": [2.5 * number for number in range(18)]}, {"p99": 10_000}),
        (FAST_AND_SLOW, {}, {"p99": 920}),
        # What lies above a percentile comes from five waves, unless it is hardly slower; a wave lasts a mean latency.
        (at_waves(5), {}, {"p98": 920, "p99": 2000}),
        (at_waves(4), {}, {"p98": 920, "p99": "5"}),
        (at_waves(4), {"failed_start_s": [49.5]}, {"p99": 2000}),
        (at_waves(4), {"failed_start_s": [5.5]}, {"p99": "5"}),
        ([920.0] * 100 + [929.0] * 24 + [920.0] * 1876, {}, {"p99": 929}),
        ([920.0] * 100 + [930.0] * 24 + [920.0] * 1876, {}, {"p99": "5"}),
        ([15_000.0 + number % 2 * 5000 for number in range(2000)], {}, {"p50": "5"}),
        # ab's rows have no status: 30 of 2,080 failed, those of 5 ms or others; the highest bound counts if it is near.
        (OF_UNKNOWN_STATUS, {}, {"p50": 900, "p98": 1200}),
        (OF_UNKNOWN_STATUS, {"unmarked": 30}, {"p50": 900, "p98": "1,200 3,000"}),
        (OF_UNKNOWN_STATUS, {"unmarked": 30, "rounded_ms": 1800}, {"p98": 3000}),
        ([900.0 + number % 30 for number in range(2000)], {"unmarked": 18}, {"p98": 929}),
        # Of some it is not known when they were due.
        (RARELY_SLOW, {"unplaced": 3}, {"p95": 920, "p98": 920}),
        (RARELY_SLOW, {"unplaced": 30}, {"p95": 920, "p98": "920"}),
    ],
)
def test_percentiles(latencies_ms: list[float], others: dict[str, Any], percentiles: dict[str, float | str]) -> None:
    """A text: it is withheld, with these numbers said."""
    got = due(latencies_ms, **others)

    for name, figure in percentiles.items():
        numbers = figure if isinstance(figure, str) else ""
        assert getattr(got, name) == (None if numbers else figure)
        assert set(numbers.split()) <= figures(got.withheld.get(name))
    assert (got.mean, got.max) == pytest.approx((np.mean(latencies_ms), max(latencies_ms)))
