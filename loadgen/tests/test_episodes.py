"""Steps and hangs, on simulated open loads of which everything is known."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from loomlab.judge.episodes import episode_of, steps_of
from loomlab.records.load import OpenRate, RateStep
from loomlab.records.models import Hang
from loomlab.records.requestlog import RequestLog

BEGIN = 1_795_000_000
STEP_S = 30


def a_tenth(first: float, last: float) -> float:
    """CPU seconds of a process that uses a tenth of a CPU."""
    return (last - first) / 10


def log_of(starts: Sequence[tuple[float, float]], failed: Sequence[tuple[float, float]] | None = None) -> RequestLog:
    failed = failed or []
    return RequestLog(
        [start for start, _ in starts],
        [latency for _, latency in starts],
        failed_start_s=[start for start, _ in failed],
        failed_latency_ms=[latency for _, latency in failed],
    )


def ladder(started_rps: list[int], latency_ms: list[int], failing: list[int] | None = None) -> RequestLog:
    """A step each: so many start in each second, of which the first `failing` fail."""
    answered: list[tuple[int, float]] = []
    failed: list[tuple[int, float]] = []
    for number, rate in enumerate(started_rps):
        bad = failing[number] if failing else 0
        for second in range(BEGIN + number * STEP_S, BEGIN + (number + 1) * STEP_S):
            failed += [(second, 1)] * bad
            answered += [(second, latency_ms[number])] * (rate - bad)
    return log_of(answered, failed)


def shape(*rates: float) -> OpenRate:
    return OpenRate(tuple(RateStep(rate, STEP_S) for rate in rates))


def test_steps_that_are_reached_without_errors_hold() -> None:
    got = steps_of(ladder([50, 100, 200], [100, 120, 900]), shape(50, 100, 200), a_tenth, BEGIN)

    assert [step.held for step in got] == [True, True, True]
    assert [(step.offered_rps, step.started_rps, step.throughput_rps) for step in got] == [
        (50, 50, 50),
        (100, 100, 100),
        (200, 200, 200),
    ]
    assert [step.latency_ms.p50 for step in got] == [100, 120, 900]


def test_a_step_leaves_out_its_first_moments_and_the_next_one() -> None:
    got = steps_of(ladder([50, 100], [100, 120]), shape(50, 100), a_tenth, BEGIN)

    assert [(step.start - BEGIN, step.seconds) for step in got] == [(2, 27), (32, 27)]


@pytest.mark.parametrize(("started", "held"), [(98, True), (97, False), (102, True), (103, False)])
def test_a_step_holds_within_two_percent_of_its_rate(started: int, held: bool) -> None:
    got = steps_of(ladder([50, started], [100, 100]), shape(50, 100), a_tenth, BEGIN)

    assert [step.held for step in got] == [True, held]


@pytest.mark.parametrize(("failing", "held"), [(1, True), (2, False)])
def test_a_step_holds_up_to_one_percent_of_errors(failing: int, held: bool) -> None:
    got = steps_of(ladder([100, 100], [100, 100], [0, failing]), shape(100, 100), a_tenth, BEGIN)

    assert got[1].errors == failing * 27
    assert got[1].started_rps == 100
    assert got[1].throughput_rps == 100 - failing
    assert got[1].held is held


def test_a_step_in_which_nothing_started_did_not_hold() -> None:
    got = steps_of(ladder([50, 0], [100, 100]), shape(50, 100), a_tenth, BEGIN)

    assert (got[1].started_rps, got[1].held, got[1].latency_ms.p50) == (0, False, None)


def test_a_step_of_failures_only_did_not_hold() -> None:
    got = steps_of(ladder([50, 100], [100, 1], [0, 100]), shape(50, 100), a_tenth, BEGIN)

    assert (got[1].started_rps, got[1].throughput_rps, got[1].held) == (100, 0, False)


def test_a_step_of_three_seconds_is_told_by_one_of_them() -> None:
    """The plan asks for longer ones; runs made before may have them."""
    short = OpenRate((RateStep(50, 3), RateStep(50, 27)))

    assert [step.seconds for step in steps_of(ladder([50], [100]), short, a_tenth, BEGIN)] == [1, 24]


def test_every_step_has_its_own_cpu_per_request() -> None:
    got = steps_of(ladder([50, 100], [100, 100]), shape(50, 100), a_tenth, BEGIN)

    assert [step.cpu_ms_per_request for step in got] == pytest.approx([2, 1])
    assert steps_of(ladder([50, 0], [100, 100]), shape(50, 100), a_tenth, BEGIN)[1].cpu_ms_per_request is None


@pytest.mark.parametrize(("grown_ms", "missed"), [(9, None), (30, "latency grew by")])
def test_a_step_whose_latency_grows_did_not_hold(grown_ms: int, missed: str | None) -> None:
    """Of two steps, the second grows by so much from half to half."""
    log = ladder([50, 100], [100, 100])
    growing = log_of(
        [
            (start, ms + max(start - BEGIN - STEP_S, 0) * grown_ms / (STEP_S / 2))
            for start, ms in zip(log.start_s, log.latency_ms, strict=True)
        ]
    )

    first, second = steps_of(growing, shape(50, 100), a_tenth, BEGIN)

    assert first.held
    assert (second.missed or "").startswith(missed or "")
    assert second.held is (missed is None)


@pytest.mark.parametrize(("late_ms", "held"), [(1000, True), (1001, False)])
def test_a_step_whose_requests_start_a_second_late_did_not_hold(late_ms: float, held: bool) -> None:
    log = ladder([50, 100], [3000, 3000])
    late = replace(log, lag_ms=[late_ms if start >= BEGIN + STEP_S else 0.0 for start in log.start_s])

    steps = steps_of(late, shape(50, 100), a_tenth, BEGIN)

    assert [step.held for step in steps] == [True, held]
    assert steps[1].missed == (None if held else "requests started 1.0 s late")


def test_a_single_rate_has_no_steps() -> None:
    assert steps_of(ladder([50], [100]), shape(50), a_tenth, BEGIN) == []


def test_where_no_request_got_a_connection_no_step_held() -> None:
    got = steps_of(log_of([]), shape(50, 100), a_tenth, BEGIN)

    assert [(step.offered_rps, step.started_rps, step.held) for step in got] == [(50, 0, False), (100, 0, False)]
    assert got[0].missed == "0/s were started"


HANG = Hang(at_s=60, duration_s=10)


def hanging(recovers_after_s: int | None, until_s: int = 120, calm_ms: int = 100) -> RequestLog:
    """Ten requests a second; those that start in the hang wait for its end, those after it are three times as slow
    until `recovers_after_s`, and 10 % slower from then on."""
    starts: list[tuple[int, float]] = []
    for second in range(until_s):
        latency = calm_ms
        if 60 <= second < 70:
            latency = calm_ms + 1000 * (70 - second)
        elif second >= 70:
            slow = recovers_after_s is None or second < 70 + recovers_after_s
            latency = round(calm_ms * (3 if slow else 1.1))
        starts += [(BEGIN + second, latency)] * 10
    return log_of(starts)


@pytest.mark.parametrize("after_s", [0, 1, 7, 47])
def test_a_recovery_is_timed_from_the_end_of_the_hang(after_s: int) -> None:
    got = episode_of(hanging(after_s), HANG, BEGIN)

    assert (got.start - BEGIN, got.end - BEGIN) == (60, 70)
    assert got.before_p50_ms == 100
    assert got.worst_ms == 10_100
    assert got.recovery_s == after_s


def test_a_run_that_ends_before_its_recovery_has_none() -> None:
    assert episode_of(hanging(None), HANG, BEGIN).recovery_s is None


def test_three_good_seconds_on_end_are_a_recovery_and_two_are_not() -> None:
    assert episode_of(hanging(47), HANG, BEGIN).recovery_s == 47
    assert episode_of(hanging(48), HANG, BEGIN).recovery_s is None


def test_a_relapse_is_no_recovery() -> None:
    log = hanging(0)
    relapse = log_of(
        [(start, 500 if start == BEGIN + 72 else ms) for start, ms in zip(log.start_s, log.latency_ms, strict=True)]
    )

    assert episode_of(relapse, HANG, BEGIN).recovery_s == 3


@pytest.mark.parametrize(("after_ms", "recovers"), [(120, True), (121, False)])
def test_back_means_within_twenty_percent(after_ms: int, recovers: bool) -> None:
    log = hanging(0)
    later = log_of(
        [
            (start, after_ms if start >= BEGIN + 70 else ms)
            for start, ms in zip(log.start_s, log.latency_ms, strict=True)
        ]
    )

    assert (episode_of(later, HANG, BEGIN).recovery_s is not None) is recovers


def test_without_anything_before_the_hang_there_is_nothing_to_come_back_to() -> None:
    got = episode_of(log_of([(BEGIN + 80, 100)]), HANG, BEGIN)

    assert (got.before_p50_ms, got.worst_ms, got.recovery_s) == (None, None, None)


def test_a_run_may_begin_between_two_seconds() -> None:
    got = episode_of(hanging(7), HANG, BEGIN + 0.25)

    assert got.end == BEGIN + 70.25
    assert got.recovery_s == pytest.approx(6.75)


def test_users_wait_from_when_their_request_was_due_in_a_hang_and_after_it() -> None:
    """Those of the first five seconds after the hang are answered at once, but started two seconds late."""
    log = hanging(0)
    lagging = replace(log, lag_ms=[2000.0 if 65 <= start - BEGIN < 75 else 0.0 for start in log.start_s])

    got = episode_of(lagging, HANG, BEGIN)

    assert got.recovery_s == 5
    assert got.worst_ms == 100 + 10_000
