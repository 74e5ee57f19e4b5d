"""From one raw file that is changed to the one rule it fails, on both sides of the limit."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from changes import (
    BUSY_LIMIT,
    Change,
    beside_prometheus,
    cold,
    collecting,
    collectors,
    cooling,
    ends_silent,
    faster,
    frozen,
    full,
    heating,
    late,
    late_at_p99,
    overused,
    quota,
    rare_waits,
    refused_unread,
    replaced,
    restarted,
    short,
    silent,
    slower,
    stepped,
    thread_full,
    waits,
    without_metrics,
)
from loomlab.judge.judge import judge_run
from rawrun import (
    ANSWERED,
    BACKEND_CPU,
    CONCURRENCY,
    LATENCY_MS,
    SAMPLED,
    RawRun,
    at,
    burst,
    container,
    host_samples,
    level,
    ramp,
    rows,
)
from saying import failed, figures, told, unknown
from test_metrics import matrix

CASES: list[tuple[str, str, Change, Any, Any, str]] = [
    # rule, level, change, within, beyond, numbers of its sentence
    ("unfinished", "invalid", lambda run, it: run.request.update(finished=it), True, False, ""),
    ("tool_failed", "invalid", lambda run, it: run.tool.update(stopped_by=it), None, "stall", "25"),
    ("tool_failed", "invalid", lambda run, it: run.tool.update(stopped_by=it), None, "hard cap", "40"),
    ("too_many_errors", "invalid", lambda run, it: run.report.update({"Non-2xx responses": it}), 8, 9, "1.06 9 850 1"),
    ("too_many_errors", "invalid", refused_unread, 8, 9, "1.05 9 859 1"),
    ("much_foreign_cpu", "invalid", beside_prometheus, "0", "1", "21 20"),
    ("too_many_errors", "invalid", lambda run, it: setattr(run, "unanswered", it), 8, 9, "1.05 9 859 1"),
    (
        "keepalive_refused",
        "suspect",
        lambda run, it: run.report.update({"Keep-Alive requests": it}),
        ANSWERED,
        ANSWERED - 1,
        "849 850",
    ),
    ("container_failed", "invalid", lambda run, it: run.container.update(RestartCount=it), 0, 2, "2 0"),
    ("container_failed", "invalid", lambda run, it: run.state.update(OOMKilled=it), False, True, ""),
    ("container_failed", "invalid", lambda run, it: run.state.update(Running=it), True, False, ""),
    (
        "container_failed",
        "invalid",
        lambda run, it: run.state.update(StartedAt=it),
        "2026-11-18T11:06:40Z",
        "2026-11-18T11:06:42Z",
        "1.5",
    ),
    ("process_restarted", "invalid", restarted, [-5, 45], [20], "1 0"),
    (
        "oom_killed",
        "invalid",
        lambda run, it: replaced(run.metrics["containers"], container("oom_events_total", it)),
        level(3),
        ramp(0.025),
        "1 0",
    ),
    ("metrics_missing", "invalid", without_metrics, 3, 4, "12.4 10"),
    ("gc_heavy", "suspect", collecting, 0.2, 0.21, "21 20"),
    ("gc_heavy", "suspect", collectors, 0.2, 0.21, "21 20"),
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
    (
        "backend_loop",
        "invalid",
        lambda run, it: replaced(run.metrics["backend"], matrix("backend_loop_cpu_seconds_total", ramp(it), loop="1")),
        0.94,
        0.96,
        "95 100 10",
    ),
    ("backend_late_mean", "invalid", late, 15.3, 15.4, "15.4 3 5.02 920 5"),
    ("backend_late_p99", "invalid", late_at_p99, 30.6, 30.7, "30.7 3 10 920"),
    ("backend_delay_other", "invalid", lambda run, it: run.delays.update(before=it), "300", "33", "33 300"),
    ("backend_delay_other", "invalid", lambda run, it: run.delays.update(after=it), "300", "33", "300 33"),
    ("foreign_cpu", "suspect", lambda run, it: setattr(run, "samples", host_samples(approach=it)), 0.549, 0.56, "6 5"),
    (
        "much_foreign_cpu",
        "invalid",
        lambda run, it: setattr(run, "samples", host_samples(approach=it)),
        0.5,
        0.71,
        "21 20",
    ),
    ("stolen", "suspect", lambda run, it: setattr(run, "samples", host_samples(stolen=it)), 0.025, 0.03, "5.66 5"),
    ("much_stolen", "invalid", lambda run, it: setattr(run, "samples", host_samples(stolen=it)), 0.02, 0.21, "21 20"),
    ("clock_stepped", "invalid", stepped, 0.5, -0.6, "0.6 0.5"),
    ("connections_lost", "suspect", lambda run, it: run.network.update(TCPSynRetrans=it), 0, 3, "3 0"),
    ("connections_reopened", "suspect", lambda run, it: run.network.update(ActiveOpens=it), 23, 24, "24 20 1"),
    ("littles_law", "invalid", lambda run, it: run.request["load"].update(connections=it), 20, 22, "0.909 22 5"),
    (
        "throughput_impossible",
        "suspect",
        lambda run, it: setattr(run, "rows", rows(lambda _: it)),
        900,
        890,
        "22.5 20 900 22.2 0.5",
    ),
    ("omission_possible", "suspect", lambda run, it: run.rows.append((int(at(10)), it)), 7_000, 8_500, "1 8.5 8 1.32"),
    ("few_waves", "suspect", short, 24, 22, "19.6 20"),
    ("still_falling", "suspect", faster, 0.09, 0.2, "16.5 0.481 10"),
    ("still_falling", "suspect", cooling, 0.05, 0.15, "14.7 0.474 10"),
    ("latency_grew", "suspect", slower, 0.09, 0.14, "13.3 10"),
    ("latency_grew_much", "invalid", slower, 0.09, 0.3, "30.8 25"),
    ("cpu_grew", "suspect", heating, 0.3, 0.4, "29.1 25"),
    ("more_cpu_than_given", "suspect", overused, 1.04, 1.3, "1.30 1 5"),
    ("metrics_missing", "invalid", frozen, 3, 10, "24.9 10"),
    ("half_cold", "suspect", lambda run, it: (run.warmup or {}).update(compiled=it), True, False, "120 240"),
    ("warmup_failed", "suspect", lambda run, it: (run.warmup or {}).update(failed=it), False, True, "1"),
    ("half_cold", "suspect", cold, [burst(), burst()], [], "120"),
    (
        "small_pool",
        "suspect",
        lambda run, it: run.about["outbound"].update(max_connections_per_route=it),
        20,
        19,
        "19 20",
    ),
    (
        "few_threads",
        "suspect",
        lambda run, it: run.about.update(concurrency="platform-threads", inbound={"max_threads": it}),
        20,
        19,
        "19 20",
    ),
    (
        "other_backend_requests",
        "suspect",
        lambda run, it: replaced(
            run.metrics["backend"], matrix("backend_requests_total", ramp(it * CONCURRENCY / 0.92))
        ),
        3.05,
        3.3,
        "3.300 3 0.139",
    ),
    (
        "backend_reconnected",
        "suspect",
        lambda run, it: replaced(run.metrics["backend"], matrix("backend_connections_total", ramp(it))),
        0.6,
        0.7,
        "28 2550 1",
    ),
]


@pytest.mark.parametrize(("rule", "level", "change", "within", "beyond", "numbers"), CASES)
def test_a_changed_file_leads_to_its_rule(
    rule: str, level: str, change: Change, within: object, beyond: object, numbers: str, tmp_path: Path
) -> None:
    good, bad = RawRun(), RawRun()
    change(good, within)
    change(bad, beyond)

    run = judge_run(good.write(tmp_path / "1-good"))
    assert (run.verdict, run.reasons) == ("valid", [])

    run = judge_run(bad.write(tmp_path / "2-bad"))
    assert run.verdict == level
    assert failed(run.rules) == {rule}, run.reasons
    assert told(run.rules, rule, numbers), run.reasons


@pytest.mark.parametrize(
    ("rule", "level", "change", "within", "beyond", "numbers"),
    [
        # What the load lacks, the backend has answered, by its own count.
        ("silent_end", "invalid", ends_silent, 0, 7, "6 2"),
        ("omission_possible", "suspect", silent, 0.5, 5, "1"),
    ],
)
def test_a_silence_is_told_beside_what_it_does_to_other_figures(
    rule: str, level: str, change: Change, within: object, beyond: object, numbers: str, tmp_path: Path
) -> None:
    good, bad = RawRun(), RawRun()
    change(good, within)
    change(bad, beyond)

    assert rule not in failed(judge_run(good.write(tmp_path / "1-good")).rules)

    run = judge_run(bad.write(tmp_path / "2-bad"))
    assert run.verdict == level
    assert told(run.rules, rule, numbers), run.reasons


def dead(run: RawRun, connections: int) -> None:
    """So many of 40 connections get no answer at all; ab leaves them out."""
    run.rows = rows(connections=40)
    run.rows = [row for number, row in enumerate(run.rows) if number * 40 // len(run.rows) >= connections]
    run.request["load"]["connections"] = 40
    run.about["outbound"]["max_connections_per_route"] = 40
    run.network["ActiveOpens"] = 40
    alive = 40 - connections
    replaced(run.metrics["backend"], matrix("backend_requests_total", ramp(3 * alive / 0.92)))


def test_connections_that_never_get_an_answer_are_suspect(tmp_path: Path) -> None:
    good, bad = RawRun(), RawRun()
    dead(good, 0)
    dead(bad, 2)

    assert judge_run(good.write(tmp_path / "1-good")).reasons == []
    run = judge_run(bad.write(tmp_path / "2-bad"))
    assert failed(run.rules) == {"connections_idle"}
    assert told(run.rules, "connections_idle", "40")


def test_more_requests_than_connections_can_carry_break_littles_law_and_are_impossible(tmp_path: Path) -> None:
    run = RawRun()
    run.request["load"]["connections"] = 19

    assert failed(judge_run(run.write(tmp_path)).rules) == {"littles_law", "throughput_impossible"}


def test_waits_without_a_lower_limit_make_no_throughput_impossible(tmp_path: Path) -> None:
    run = RawRun(rows=rows(lambda _: 300))
    run.request["delay"] = "lognormal:300:900"
    run.delays = dict.fromkeys(run.delays, "lognormal:300:900")

    assert "throughput_impossible" not in failed(judge_run(run.write(tmp_path)).rules)


def test_a_percentile_that_answers_of_another_status_may_reach_is_not_given(tmp_path: Path) -> None:
    """4.5 % of the answers take twice as long; which eight of some 850 were not 2xx ab does not tell."""
    slow = itertools.cycle([2 * LATENCY_MS] + 21 * [LATENCY_MS])
    run = RawRun(rows=rows(lambda _: next(slow)))
    sound = judge_run(run.write(tmp_path / "1-good")).latency_ms
    run.report = {"Non-2xx responses": 8}

    judged = judge_run(run.write(tmp_path / "2-bad"))

    assert sound.p95 == LATENCY_MS
    assert (judged.latency_ms.p95, judged.latency_ms.p90) == (None, LATENCY_MS)
    assert {"920", "1,840"} <= figures(judged.latency_ms.withheld["p95"])


def test_many_short_stalls_count_together(tmp_path: Path) -> None:
    """Six stalls of 2.9 s in 40, of each of which less than two seconds are surely silent."""
    run = RawRun()
    stalls = range(4, 34, 5)

    def took_ms(second: float) -> float:
        ends = next((stall + 2.9 for stall in stalls if stall - LATENCY_MS / 1000 <= second < stall), None)
        return LATENCY_MS if ends is None else 1000 * (ends - second)

    run.rows = rows(took_ms)

    assert told(judge_run(run.write(tmp_path)).rules, "omission_possible", "3.8")


@pytest.mark.parametrize("missing", ["backend", "loadgen"])
def test_without_a_containers_samples_it_is_not_known_to_have_no_quota(missing: str, tmp_path: Path) -> None:
    run = RawRun()
    run.metrics["containers"] = [one for one in run.metrics["containers"] if one["metric"].get("service") != missing]

    judged = judge_run(run.write(tmp_path))

    assert judged.verdict == "suspect"
    assert any(rule.endswith("_quota") for rule in unknown(judged.rules))


def test_what_others_took_of_cpus_that_are_partly_shared_is_not_known(tmp_path: Path) -> None:
    run = RawRun()
    run.request["generator_cpus"] = "0,2"

    assert unknown(judge_run(run.write(tmp_path)).rules) == {"foreign_cpu", "much_foreign_cpu"}


def test_where_interrupts_are_charged_to_whoever_runs_they_are_counted(tmp_path: Path) -> None:
    """The container used half of the CPU; /proc/stat has 40 % as busy and 20 % as interrupts."""
    run = RawRun(samples=host_samples(approach=0.4))
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        interrupts = 20 * (second - SAMPLED.start)
        sample["cpus"]["0"][6] += interrupts
        sample["cpus"]["0"][3] -= interrupts

    assert judge_run(run.write(tmp_path)).foreign_cpu_share == pytest.approx(0.1, abs=0.01)
