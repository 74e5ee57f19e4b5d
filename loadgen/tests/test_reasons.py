"""From one raw file that is changed to the one rule it fails, on both sides of the limit."""

import itertools
from bisect import bisect_right
from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any

import pytest

from loomlab.judge.cpu_time import USER
from rawrun import (
    ANSWERED,
    BACKEND_CPU,
    BEGIN,
    CONCURRENCY,
    LATENCY_MS,
    SAMPLED,
    SECONDS,
    RawRun,
    at,
    by_second,
    container,
    cpu,
    host_samples,
    lateness,
    level,
    matrix,
    ramp,
    rows,
)
from saying import failed, figures, told

type Change = Callable[[RawRun, Any], None]

BUSY_LIMIT = len(SAMPLED) // 10
"""A tenth of the seconds between samples."""


def quota(run: RawRun, service: str, used: float, throttled: float = 0.0) -> None:
    """A quota of one CPU, of which so much is used, and that share of whose periods is throttled."""
    run.put(
        "containers",
        cpu(service, ramp(used)),
        container("spec_cpu_quota", level(100_000), service),
        container("spec_cpu_period", level(100_000), service),
        container("cpu_cfs_periods_total", ramp(10), service),
        container("cpu_cfs_throttled_periods_total", ramp(10 * throttled), service),
    )


def full(run: RawRun, name: str, seconds: int) -> None:
    """The CPU is at its limit in so many of the seconds, at the run's end."""
    run.spend(name, USER, lambda second: 90 * max(second - SAMPLED[-1 - seconds], 0))


def thread_full(run: RawRun, seconds: int) -> None:
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        sample["tool_threads"]["1"] += 0.91 * max(second - SAMPLED[-1 - seconds], 0)


def waits(run: RawRun, mean_ms: float) -> None:
    run.wait(lambda second: second * mean_ms / 10)


def rare_waits(run: RawRun, ms: float) -> None:
    """In two of the seconds only."""
    run.wait(lambda second: min(max(second - 20, 0), 2) * ms / 10)


def stepped(run: RawRun, seconds: float) -> None:
    """The clock is set, and ten seconds later set back."""
    for sample in run.samples[20:30]:
        sample["monotonic"] -= seconds


def restarted(run: RawRun, when: list[float]) -> None:
    starts = by_second(lambda second: sum(second >= one for one in when))
    run.put("approach", matrix("process_start_time_seconds", starts))


def without_metrics(run: RawRun, seconds: float) -> None:
    """None of the approach's CPU, in the middle."""
    run.put("containers", cpu("app", [one for one in ramp(0.5) if not 20 <= one[0] - BEGIN < 20 + seconds]))


def frozen(run: RawRun, seconds: int) -> None:
    """The approach's CPU counter stands still for so long, and is right again."""
    stood = by_second(lambda second: 50 + 0.5 * (19 if 19 <= second < 19 + seconds else second))
    run.put("containers", cpu("app", stood))


def late_at_p99(run: RawRun, p99_ms: float) -> None:
    """98 of 100 answers were late by up to a millisecond less, 99 by no more than that."""
    run.metrics["backend"] = [one for one in run.metrics["backend"] if "le" not in one["metric"]]
    bounds = {str((p99_ms - 1) / 1000): 98, str(p99_ms / 1000): 99, "+Inf": 100}
    buckets = [matrix("backend_lateness_seconds_bucket", ramp(count), le=bound) for bound, count in bounds.items()]
    run.put("backend", *buckets, *lateness(0.001)[3:])


def silent(run: RawRun, seconds: float) -> None:
    """All that is in flight at the 20th second is answered so much later, at once."""
    run.rows = rows(
        lambda second: max(LATENCY_MS, 1000 * (20 + seconds - second) if second < 20 <= second + 0.92 else 0)
    )
    answered_by_backend(run)


def ends_silent(run: RawRun, seconds: float) -> None:
    run.rows = [row for row in run.rows if row[0] + 1 + LATENCY_MS / 1000 < at(SECONDS - seconds)]
    answered_by_backend(run)


def short(run: RawRun, seconds: int) -> None:
    """The run ended after so many seconds."""
    run.rows = [(start, took) for start, took in run.rows if start + took / 1000 < at(seconds)]
    run.report["Time taken for tests"] = f"{seconds}.000 seconds"
    run.tool["ended"] = at(seconds + 0.2)


def cooling(run: RawRun, by: float) -> None:
    """The approach's CPU falls by that share of a CPU from the beginning to the end, linearly."""
    run.put("containers", cpu("app", by_second(lambda second: 60 + 0.5 * second - by * second**2 / 80)))
    run.samples = host_samples(approach=0.3)


def overused(run: RawRun, used: tuple[float, float]) -> None:
    """So many CPUs, of one and a quota."""
    cpus, quota_cpus = used
    of_quota = container("spec_cpu_quota", level(100_000 * quota_cpus)), container("spec_cpu_period", level(100_000))
    run.put("containers", cpu("app", ramp(cpus)), *of_quota)
    run.samples = host_samples(approach=min(cpus, 1))


def beside_prometheus(run: RawRun, its_cpus: str) -> None:
    """A fifth of the approach's CPU is used by another, and Prometheus uses as much, on these CPUs."""
    run.samples = host_samples(approach=0.71)
    run.put("containers", cpu("prometheus", ramp(0.21)), cpu("cadvisor", ramp(0)))
    run.request["monitoring_cpus"] = its_cpus


def refused_unread(run: RawRun, requests: int) -> None:
    """So many answers other than 2xx, which came at once, as if nothing had been waited for."""
    run.unanswered = requests
    run.report["Non-2xx responses"] = requests


def slower(run: RawRun, by: float) -> None:
    """Latency grows by that share from the first half to the second; CPU per request stays as it is."""
    run.rows = rows(lambda second: LATENCY_MS * (1 + by * (second - 20) / 20) / (1 - by))
    answered_by_backend(run)
    run.put("containers", cpu("app", by_second(lambda second: 60 + 10 / by * log(1 + by * (second - 20) / 20))))


def faster(run: RawRun, by: float) -> None:
    """Latency falls by that share from the first half to the second."""
    run.rows = rows(lambda second: LATENCY_MS * (1 - by * (second - 20) / 20))


def answered_by_backend(run: RawRun) -> None:
    """Three calls for each request, when it ended."""
    ends = sorted(start + 0.5 + took / 1000 for start, took in run.rows)
    calls = by_second(lambda second: 50 + 3 * bisect_right(ends, at(second)))
    run.put("backend", matrix("backend_requests_total", calls))


def dead(run: RawRun, connections: int) -> None:
    """So many of 40 connections get no answer at all; ab leaves them out."""
    run.rows = rows(connections=40)
    run.rows = [row for number, row in enumerate(run.rows) if number * 40 // len(run.rows) >= connections]
    run.request["load"]["connections"] = run.network["ActiveOpens"] = 40
    run.about["outbound"]["max_connections_per_route"] = 40
    run.put("backend", matrix("backend_requests_total", ramp(3 * (40 - connections) / 0.92)))


def put(part: str) -> Callable[[str], Change]:
    """Changes of one entry of a raw file."""
    return lambda key: lambda run, it: getattr(run, part).update({key: it})


tool, report, inspected, state = (put(name) for name in ("tool", "report", "container", "state"))
delays, warmup, network = (put(name) for name in ("delays", "warmup", "network"))


def counted(part: str, name: str, per_second: float = 1, **labels: str) -> Change:
    """A counter that grows so often a second."""
    return lambda run, it: run.put(part, matrix(name, ramp(it * per_second), **labels))


def hosts(cpu: str) -> Change:
    return lambda run, it: setattr(run, "samples", host_samples(**{cpu: it}))


def kills(run: RawRun, counter: Any) -> None:
    run.put("containers", container("oom_events_total", counter))


def late(run: RawRun, mean_ms: float) -> None:
    run.put("backend", *lateness(mean_ms / 1000))


def lasting(run: RawRun, latency_ms: float) -> None:
    run.rows = rows(lambda _: latency_ms)


def pool(run: RawRun, connections: int) -> None:
    run.about["outbound"]["max_connections_per_route"] = connections


def threads(run: RawRun, most: int) -> None:
    run.about |= {"concurrency": "platform-threads", "inbound": {"max_threads": most}}


def cold(run: RawRun, without: bool) -> None:
    run.warmup |= {"bursts": [], "compiled": False} if without else {}


loop = counted("backend", "backend_loop_cpu_seconds_total", loop="1")
calls = counted("backend", "backend_requests_total", CONCURRENCY / 0.92)
CASES: list[tuple[str, str, Change, Any, Any, str]] = [
    # rule (and what comes with it), level, change, within, beyond, numbers of its sentence
    ("tool_failed", "invalid", tool("stopped_by"), None, "stall", "25"),
    ("tool_failed", "invalid", tool("stopped_by"), None, "hard cap", "40"),
    ("tool_failed", "invalid", tool("killed"), False, True, "0"),
    ("tool_failed", "invalid", tool("exit_code"), 0, 22, "22"),
    ("too_many_errors", "invalid", report("Non-2xx responses"), 8, 9, "1.06 9 850 1"),
    ("too_many_errors", "invalid", refused_unread, 8, 9, "1.05 9 859 1"),
    ("too_many_errors", "invalid", lambda run, it: setattr(run, "unanswered", it), 8, 9, "1.05 9 859 1"),
    ("keepalive_refused", "suspect", report("Keep-Alive requests"), ANSWERED, ANSWERED - 1, "849 850"),
    ("container_failed", "invalid", inspected("RestartCount"), 0, 2, "2 0"),
    ("container_failed", "invalid", state("OOMKilled"), False, True, ""),
    ("container_failed", "invalid", state("Running"), True, False, ""),
    ("container_failed", "invalid", state("StartedAt"), "2026-11-18T11:06:40Z", "2026-11-18T11:06:42Z", "1.5"),
    ("process_restarted", "invalid", restarted, [-5, 45], [20], "1 0"),
    ("oom_killed", "invalid", kills, level(3), ramp(0.025), "1 0"),
    ("metrics_missing", "invalid", without_metrics, 3, 4, "12.4 10"),
    ("metrics_missing", "invalid", frozen, 3, 10, "24.9 10"),
    ("gc_heavy", "suspect", counted("approach", "jvm_gc_pause_seconds_sum"), 0.2, 0.21, "21 20"),
    ("gc_heavy", "suspect", counted("approach", "lab_gc_cpu_seconds_total", 0.5), 0.2, 0.21, "21 20"),
    ("throttled", "suspect", lambda run, it: quota(run, "app", 0.5, it), 0.05, 0.06, "6 5"),
    ("generator_cpus", "invalid", lambda run, it: full(run, "2", it), BUSY_LIMIT, BUSY_LIMIT + 1, "95 10.9 10"),
    ("generator_thread", "invalid", thread_full, BUSY_LIMIT, BUSY_LIMIT + 1, "95 10.9 10"),
    ("generator_quota", "invalid", lambda run, it: quota(run, "loadgen", it), 0.94, 0.96, "95 100 10"),
    ("generator_throttled", "invalid", lambda run, it: quota(run, "loadgen", 0.1, it), 0.05, 0.06, "6 5"),
    ("generator_wait_mean", "invalid", waits, 45.9, 46.1, "46.1 5.01 920 5"),
    ("generator_wait_p99", "invalid", rare_waits, 91.9, 92.1, "92.1 10 920"),
    ("backend_cpus", "invalid", lambda run, it: full(run, "1", it), BUSY_LIMIT, BUSY_LIMIT + 1, "95 10.9 10"),
    ("backend_quota", "invalid", lambda run, it: quota(run, "backend", it), 0.94, 0.96, "95 100 10"),
    ("backend_throttled", "invalid", lambda run, it: quota(run, "backend", BACKEND_CPU, it), 0.05, 0.06, "6 5"),
    ("backend_loop", "invalid", loop, 0.94, 0.96, "95 100 10"),
    ("backend_late_mean", "invalid", late, 15.3, 15.4, "15.4 3 5.02 920 5"),
    ("backend_late_p99", "invalid", late_at_p99, 30.6, 30.7, "30.7 3 10 920"),
    ("backend_delay_other", "invalid", delays("before"), "300", "33", "33 300"),
    ("foreign_cpu", "suspect", hosts("approach"), 0.549, 0.56, "6 5"),
    ("much_foreign_cpu", "invalid", hosts("approach"), 0.5, 0.71, "21 20"),
    ("much_foreign_cpu", "invalid", beside_prometheus, "0", "1", "21 20"),
    ("stolen", "suspect", hosts("stolen"), 0.025, 0.03, "5.66 5"),
    ("clock_stepped", "invalid", stepped, 0.5, -0.6, "0.6 0.5"),
    ("connections_lost", "suspect", network("TCPSynRetrans"), 0, 3, "3 0"),
    ("connections_reopened", "suspect", network("ActiveOpens"), 23, 24, "24 20 1"),
    ("littles_law", "invalid", lambda run, it: run.request["load"].update(connections=it), 20, 22, "0.909 22 5"),
    ("throughput_impossible", "suspect", lasting, 900, 890, "22.5 20 900 22.2 0.5"),
    ("omission_possible", "suspect", lambda run, it: run.rows.append((int(at(10)), it)), 7_000, 8_500, "1 8.5 8 1.32"),
    ("omission_possible uneven", "suspect", silent, 0.5, 5, "20 5.9 1"),
    ("silent_end omission_possible littles_law", "invalid", ends_silent, 0, 7, "6 2"),
    ("connections_idle", "suspect", dead, 0, 2, "40"),
    ("few_waves", "suspect", short, 24, 22, "19.6 20"),
    ("still_falling", "suspect", faster, 0.09, 0.2, "16.5 0.481 10"),
    ("still_falling", "suspect", cooling, 0.05, 0.15, "14.7 0.474 10"),
    ("latency_grew", "suspect", slower, 0.09, 0.14, "13.3 10"),
    ("latency_grew_much", "invalid", slower, 0.09, 0.3, "30.8 25"),
    ("cpu_grew", "suspect", lambda run, it: cooling(run, -it), 0.3, 0.4, "29.1 25"),
    ("more_cpu_than_given", "suspect", overused, (1.04, 2), (1.3, 2), "1.30 1 5"),
    ("more_cpu_than_given", "suspect", overused, (0.52, 0.5), (0.54, 0.5), "0.54 0.5 5"),
    ("half_cold", "suspect", warmup("compiled"), True, False, "120 240"),
    ("half_cold", "suspect", cold, False, True, "120"),
    ("warmup_failed", "suspect", warmup("failed"), False, True, "1"),
    ("small_pool", "suspect", pool, 20, 19, "19 20"),
    ("few_threads", "suspect", threads, 20, 19, "19 20"),
    ("other_backend_requests", "suspect", calls, 3.05, 3.3, "3.300 3 0.139"),
    ("backend_reconnected", "suspect", counted("backend", "backend_connections_total"), 0.6, 0.7, "28 2550 1"),
]


@pytest.mark.parametrize(("rules", "level", "change", "within", "beyond", "numbers"), CASES)
def test_a_changed_file_leads_to_its_rule(
    rules: str, level: str, change: Change, within: object, beyond: object, numbers: str, tmp_path: Path
) -> None:
    good, bad = RawRun(), RawRun()
    change(good, within)
    change(bad, beyond)

    run = good.judged(tmp_path)
    assert (run.verdict, run.reasons) == ("valid", [])

    run = bad.judged(tmp_path)
    assert run.verdict == level
    assert failed(run.rules) == set(rules.split()), run.reasons
    assert told(run.rules, rules.split(maxsplit=1)[0], numbers), run.reasons


def test_a_percentile_that_answers_of_another_status_may_reach_is_not_given(tmp_path: Path) -> None:
    """4.5 % of the answers take twice as long; which eight of some 850 were not 2xx ab does not tell."""
    slow = itertools.cycle([2 * LATENCY_MS] + 21 * [LATENCY_MS])
    run = RawRun(rows=rows(lambda _: next(slow)))
    sound = run.judged(tmp_path).latency_ms
    run.report = {"Non-2xx responses": 8}

    latency = run.judged(tmp_path).latency_ms

    assert sound.p95 == LATENCY_MS
    assert (latency.p95, latency.p90) == (None, LATENCY_MS)
    assert {"920", "1,840"} <= figures(latency.withheld["p95"])


GROWN = {"latency_grew", "latency_grew_much", "uneven"}


@pytest.mark.parametrize(
    ("before_ms", "after_ms", "first_s", "last_s", "rules"),
    [
        (LATENCY_MS, 2400, 20, 40, {"latency_grew_much"}),
        (1100, 2600, 31, 40, GROWN),
        (LATENCY_MS, 2700, 12, 25, GROWN),
        (LATENCY_MS, 2700, 33, 40, GROWN),
    ],
)
def test_a_jump_a_hump_and_a_late_step_are_told_and_not_cut_off_with_the_last_waves(
    before_ms: int, after_ms: int, first_s: int, last_s: int, rules: set[str], tmp_path: Path
) -> None:
    run = RawRun(rows=rows(lambda second: after_ms if first_s <= second < last_s else before_ms))
    answered_by_backend(run)

    assert failed(run.judged(tmp_path).rules) & rules


def test_what_is_even_is_not_told_of(tmp_path: Path) -> None:
    run = RawRun(rows=rows(lambda second: LATENCY_MS * (1 + second % 2 / 10)))

    assert "uneven" not in failed(run.judged(tmp_path).rules)
