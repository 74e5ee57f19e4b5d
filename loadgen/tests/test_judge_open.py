"""From the raw files of rates and users to run.json; what the tool told is simulated."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from loomlab.basics.errors import UsageError
from loomlab.records.endpoints import Delay, answer_ms, delay_of, endpoint_of, with_wait, with_work
from loomlab.records.load import Target
from loomlab.records.models import Run
from rawrun import BEGIN, LATENCY_MS, SECONDS, Judge, at, log_of
from saying import failed, figures, told


def rates(*offered_rps: int) -> dict[str, Any]:
    steps = [{"rate_rps": rate, "duration_s": SECONDS // len(offered_rps)} for rate in offered_rps]
    return {"kind": "open-rate", "steps": steps}


def judged_rates(
    judge: Judge,
    *rates_rps: tuple[int, int],
    failed: int = 0,
    grows_by: float = 0.0,
    because: str = "timeout",
    lags_ms: Sequence[float] = (0, 0),
    took_ms: Sequence[float] = (LATENCY_MS, LATENCY_MS),
    **others: Any,
) -> Run:
    """A run of equal steps; of each the rate that was offered and the one that was started; those of three seconds
    start so late, each takes so long, which grows by that share from half to half; the first `failed` fail."""
    step_s = SECONDS // len(rates_rps)
    starts: list[float] = []
    latencies_ms: list[float] = []
    late_ms: list[float] = []
    for step, (_, rate) in enumerate(rates_rps):
        for number in range(rate * step_s):
            late_ms.append(lags_ms[step] if 3 <= number / rate < 6 else 0)
            starts.append(int(BEGIN) + step * step_s + number / rate + late_ms[-1] / 1000)
            latencies_ms.append(took_ms[step] * (1 + grows_by * 2 * (starts[-1] - BEGIN) / SECONDS))
    log = log_of(
        starts[failed:],
        latencies_ms[failed:],
        failed_start_s=starts[:failed],
        failed_latency_ms=[5] * failed,
        failures={because: failed} if failed else {},
        lag_ms=late_ms[failed:],
        failed_lag_ms=late_ms[:failed],
    )
    return judge(log, rates(*(offered for offered, _ in rates_rps)), **others)


def test_a_rate_that_is_reached_is_valid(judge: Judge) -> None:
    run = judged_rates(judge, (50, 50), failed=20)

    assert (run.verdict, run.reasons, run.steps) == ("valid", [], [])
    assert (run.rate, run.started_rps, run.throughput_rps, run.dropped) == (50, 50, 50, 0)
    assert run.waves is run.little_ratio is None
    assert (run.errors, run.failures, run.failed_latency_ms.p50) == (20, {"timeout": 20}, 5)


def test_what_went_wrong_is_told_where_nothing_was_answered(judge: Judge) -> None:
    run = judged_rates(judge, (50, 50), failed=50 * SECONDS)
    assert (run.failures, run.failed_latency_ms.p50) == ({"timeout": 50 * SECONDS}, 5)


def test_latency_that_grows_beside_an_idle_cpu_is_not_laid_to_the_rate(judge: Judge) -> None:
    """Half of the CPU is idle; how much of a quota is, the host's CPUs do not show."""
    idle = judged_rates(judge, (50, 50), grows_by=0.2)
    limited = judged_rates(judge, (50, 50), grows_by=0.2, quota_cpus=0.5)

    assert "50 %" in idle.reasons[0]
    assert told(limited.rules, "latency_grew", "50") and "50 %" not in limited.reasons[0]


def test_an_offered_rate_that_is_missed_is_invalid_and_what_was_not_sent_reaches_a_percentile(judge: Judge) -> None:
    """A tenth of the requests of the window."""
    run = judged_rates(judge, (50, 45), dropped=200)

    assert run.verdict == "invalid"
    assert told(run.rules, "rate_missed", "10 50.0")
    assert told(run.rules, "work_dropped", "200")
    assert run.latency_from_start_ms is not None
    assert run.latency_from_start_ms.p90 == LATENCY_MS
    assert run.latency_from_start_ms.p95 is run.latency_ms.p95 is run.latency_ms.p98 is None
    assert {"920", "185"} <= figures(run.latency_from_start_ms.withheld["p95"])


def test_steps_that_did_not_hold_leave_the_others_to_be_read(judge: Judge) -> None:
    run = judged_rates(judge, (50, 50), (100, 80), dropped=400)

    assert (run.verdict, failed(run.rules)) == ("suspect", {"steps_missed"})
    assert told(run.rules, "steps_missed", "100")
    assert [(step.offered_rps, step.held) for step in run.steps] == [(50, True), (100, False)]
    assert [step.latency_ms.p90 for step in run.steps] == [LATENCY_MS, None]
    assert run.throughput_rps is run.latency_ms.p50 is run.cpu_ms_per_request is run.rate is None
    assert run.steps[0].cpu_ms_per_request == pytest.approx(10)
    assert failed(judged_rates(judge, (50, 40), (100, 80)).rules) == {"no_step_held"}


def test_a_hang_is_an_episode_and_no_stall_and_latency_that_grows_then_no_queue(judge: Judge) -> None:
    hanging: dict[str, Any] = {"hangs": [{"at_s": 20, "duration_s": 5}]}
    run = judged_rates(judge, (50, 50), **hanging)

    (hang,) = run.episodes
    assert (hang.start - BEGIN, hang.end - BEGIN, hang.before_p50_ms) == (20, 25, LATENCY_MS)
    assert (run.scenario, run.cell, run.verdict) == ("slow", 2, "valid")

    growing = judged_rates(judge, (50, 50), grows_by=0.5, **hanging)
    assert (growing.latency_fall, growing.reasons) == (None, [])


def ladder(judge: Judge, *lags_ms: float, took_ms: Sequence[float] = (LATENCY_MS, LATENCY_MS)) -> Run:
    return judged_rates(judge, (50, 50), (60, 60), lags_ms=lags_ms, took_ms=took_ms)


def test_of_a_ladder_the_step_that_lags_most_for_its_latency_is_judged(judge: Judge) -> None:
    assert ladder(judge, 0, 40).verdict == "valid"
    assert told(ladder(judge, 0, 300).rules, "started_late", "24.6")
    assert "started_late" in failed(ladder(judge, 40, 30, took_ms=(LATENCY_MS, 100)).rules)
    assert "started_late" in failed(ladder(judge, 1.9, 3, took_ms=(10, 40)).rules)


def test_of_a_ladder_a_step_that_did_not_hold_does_not_make_the_others_late(judge: Judge) -> None:
    run = ladder(judge, 0, 1500)
    assert (run.verdict, failed(run.rules)) == ("suspect", {"steps_missed"})
    assert told(run.rules, "steps_missed", "60 1.5")


def test_requests_refused_without_a_start_count_in_a_step(judge: Judge) -> None:
    """One in fifty of the first step, which is twice the limit; in the second most were never sent."""
    starts = [at(number / 50) for number in range(1000) if number % 50]
    starts += [at(20 + number / 80) for number in range(1600)]
    log = log_of(starts, [LATENCY_MS] * len(starts), failures={"connection refused": 20})

    run = judge(log, rates(50, 100))

    assert run.steps[0].errors in range(15, 21)
    assert run.steps[0].held is False


def users(judge: Judge, targets_ms: list[int], stalled_s: tuple[int, int] = (0, 0), think_s: int = 1) -> Run:
    """Sixty, who come within 3 s and think for up to so long; target by target so long is the wait; none is answered
    in between."""
    begun, ended = stalled_s
    dice, starts, latencies = random.Random(5), list[float](), list[float]()  # noqa: S311 - not a secret
    for user in range(60):
        wait_s, second = targets_ms[user % len(targets_ms)] / 1000, 1.5 + dice.random() * 1.5
        while second < SECONDS - 2:
            took_s = wait_s if not begun < second + wait_s < ended else ended - second
            starts.append(BEGIN + second)
            latencies.append(1000 * took_s)
            second += took_s + think_s * dice.random()
    shape = {"kind": "users", "stages": [{"users": 60, "duration_s": SECONDS}], "think_s": [0, think_s]}
    targets = [{"target": f"/epoch-millis?delayInMillis={wait_ms}"} for wait_ms in targets_ms]
    log = log_of(starts, latencies, lag_ms=np.zeros(len(starts)))
    return judge(log, shape, targets=targets, connections=60)


def test_users_who_come_and_go_are_neither_silent_nor_too_few_unless_none_is_answered(judge: Judge) -> None:
    run = users(judge, [920])

    assert (run.verdict, run.reasons) == ("valid", [])
    assert run.throughput_rps == pytest.approx(60 / 1.42, rel=0.06)
    assert "omission_possible" in failed(users(judge, [920], (12, 27)).rules)


def test_users_with_short_waits_ask_more_often(judge: Judge) -> None:
    assert "throughput_impossible" not in failed(users(judge, [100, 990], think_s=0).rules)


def test_two_kinds_of_waits_are_no_omission(judge: Judge) -> None:
    starts = [at(second) for second in range(SECONDS - 3) for _ in range(20)]
    targets = [{"target": f"/epoch-millis?delayInMillis={wait_ms}"} for wait_ms in (100, 1000)]
    log = log_of(starts, [100.0 if place % 2 else 1000.0 for place in range(len(starts))])
    shape = {"kind": "closed", "requests": len(starts), "duration_s": SECONDS}

    run = judge(log, shape, targets=targets)

    assert run.shortest_ms == 550
    assert "omission_possible" not in failed(run.rules)


MS_300 = delay_of("300")


@pytest.mark.parametrize(
    ("target", "label", "calls", "backend_delay_ms", "floor_ms"),
    [
        ("/capabilities", "/capabilities", 3, 300, 900), ("/meetings?x=1", "/meetings", 3, 300, 900),
        ("/capabilities?calls=5", "/capabilities", 7, 300, 2100),
        ("/capabilities?calls=5&parallel=true", "/capabilities", 7, 300, 900),
        ("/capabilities?parallel=true", "/capabilities", 3, 300, 900),
        ("/capabilities?calls=2&parallel=false", "/capabilities", 4, 300, 1200),
        ("/meetings?calls=5", "/meetings", 3, 300, 900),
        ("/httpbin/block/0.25", "/httpbin/block/{seconds}", 1, 250, 250),
        ("/epoch-millis?delayInMillis=70", "/epoch-millis", 0, 0, 70),
        ("/movies?directorLastName=Allen&delayInMillis=0", "/movies", 0, 0, 0),
        ("/pinned?delayInMillis=nonsense", "/pinned", 0, 0, 0), ("/pinned", "/pinned", 0, 0, 0),
        ("/orders/42", "/orders/{id}", 0, 0, 0), ("/orders?customer=7", "/orders", 0, 0, 0),
        ("/orders/slow?millis=20", "/orders/slow", 0, 0, 20), ("/ordersx", "/ordersx", 1, 300, 300),
        ("/httpbin/block/x", "/httpbin/block/{seconds}", 1, 0, 0), ("/", "/", 1, 300, 300),
    ],
)  # fmt: skip
def test_calls_and_delays(target: str, label: str, calls: int, backend_delay_ms: int, floor_ms: int) -> None:
    got = endpoint_of(target, MS_300)

    assert (got.label, got.backend_calls) == (label, calls)
    assert (got.backend_delay_ms, got.floor_ms) == (backend_delay_ms, floor_ms)
    assert got.mean_ms == answer_ms(got, MS_300) == floor_ms
    assert got.headers == (("Authorization: Bearer loom-lab",) if label == "/meetings" else ())
    assert got.database is (label.startswith("/orders") and label != "/ordersx")
    assert got.constant_body is (got.database or label in {"/meetings", "/movies", "/httpbin/block/{seconds}"})
    assert got.waits_as_configured is (label in {"/capabilities", "/meetings", "/", "/ordersx"})


def test_a_delay_that_varies_has_a_floor_a_mean_and_a_middle() -> None:
    delay = delay_of("lognormal:200:1000")
    got = endpoint_of("/capabilities", delay)

    assert (got.floor_ms, answer_ms(got, delay)) == (0, 600)
    assert got.mean_ms == pytest.approx(3 * delay.mean_ms)
    assert endpoint_of("/capabilities", delay_of("uniform:200:400")).floor_ms == 600


def test_a_request_holds_as_many_connections_as_it_makes_calls_at_once() -> None:
    targets = ("/capabilities?calls=5&parallel=true", "/capabilities?calls=5", "/epoch-millis?delayInMillis=70")
    assert [endpoint_of(target, MS_300).connections_held for target in targets] == [5, 1, 0]


@pytest.mark.parametrize(
    ("target", "work_ms", "other"),
    [
        ("/capabilities?cpuMicros=2500", 2.5, "/capabilities?cpuMicros=7"),
        ("/epoch-millis?delayInMillis=70&cpuMicros=100", 0.1, "/epoch-millis?delayInMillis=70&cpuMicros=7"),
        ("/capabilities", 0, "/capabilities"),
        ("/movies?cpuMicros=2500", 0, "/movies?cpuMicros=7"),
    ],
)
def test_a_request_may_ask_for_cpu(target: str, work_ms: float, other: str) -> None:
    assert endpoint_of(target, MS_300).work_ms == work_ms
    assert with_work(Target(target), 7) == Target(other)


@pytest.mark.parametrize(
    ("target", "waiting"),
    [
        ("/epoch-millis?delayInMillis=900", "/epoch-millis?delayInMillis=40"),
        ("/movies?directorLastName=Allen&delayInMillis=0&x=1", "/movies?directorLastName=Allen&delayInMillis=40&x=1"),
        ("/pinned?notdelayInMillis=3&delayInMillis=300", "/pinned?notdelayInMillis=3&delayInMillis=40"),
        ("/orders/slow?millis=20", "/orders/slow?millis=40"),
        ("/orders/42", "/orders/42"),
        ("/httpbin/block/0.3", "/httpbin/block/0.040"),
        ("/capabilities", "/capabilities"),
        ("/meetings?delayInMillis=9", "/meetings?delayInMillis=9"),
    ],
)
def test_a_request_that_carries_its_wait_can_carry_another(target: str, waiting: str) -> None:
    assert with_wait(Target(target, "POST", ("A: b",)), 40) == Target(waiting, "POST", ("A: b",))


@pytest.mark.parametrize(
    ("text", "told", "floor_ms", "mean_ms"),
    [
        ("0", "0", 0, 0), ("0300", "300", 300, 300), ("60000", "60000", 60_000, 60_000),
        ("uniform:200:400", "uniform:200:400", 200, 300), ("uniform:050:100", "uniform:50:100", 50, 75),
        ("uniform:300:300", "uniform:300:300", 300, 300),
    ],
)  # fmt: skip
def test_a_delay_is_told_as_the_backend_tells_it(text: str, told: str, floor_ms: int, mean_ms: float) -> None:
    assert delay_of(text) == Delay(told, floor_ms, mean_ms, mean_ms)


def test_a_log_normal_delay_has_no_floor_and_the_mean_of_its_distribution() -> None:
    """Of a normal one with a mean of log 300, of which 1 % lies above log 900: exp(mean + deviation² / 2)."""
    got = delay_of("lognormal:300:900")

    assert (got.text, got.floor_ms, got.middle_ms) == ("lognormal:300:900", 0, 300)
    assert got.mean_ms == pytest.approx(335.39, abs=0.01)


@pytest.mark.parametrize("text", ["", "300\n", "\uff13\uff10\uff10"])
def test_what_is_no_delay_is_refused_with_its_value_and_examples(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        delay_of(text)

    said = str(refused.value)
    assert repr(text) in said
    assert "such as 300, uniform:200:400" in said
