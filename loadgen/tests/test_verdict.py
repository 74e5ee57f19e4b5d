"""Every rule of the verdict on both sides of its threshold, and without the figure it needs."""

from typing import Any

import pytest

from good import GOOD, OPEN, fast, judge, lag, rate, steps_500_1000, warmup
from loomlab.judge import verdict
from loomlab.judge.rule import RULES
from loomlab.records.measured import BackendDelays, Halves, Measured
from saying import figures, speaking, unknown

CASES: list[tuple[str, str, dict[str, Any], dict[str, Any], str]] = [
    # rule, level, within, beyond, numbers of its sentence
    ("unfinished", "invalid", {}, {"interrupted": True}, ""),
    ("tool_failed", "invalid", {}, {"tool_failure": "ab ended without a report."}, ""),
    ("too_many_errors", "invalid", {"errors": 600}, {"errors": 601}, "1 601 60000"),
    ("too_many_errors", "invalid", {"requests": 1}, {"requests": 0}, ""),
    ("too_many_errors", "invalid", {}, {"requests": None}, ""),
    ("container_failed", "invalid", {}, {"container_failure": "It was killed."}, ""),
    ("process_restarted", "invalid", {"process_restarts": 0}, {"process_restarts": 1}, "1 0"),
    ("oom_killed", "invalid", {"oom_kills": 0.0}, {"oom_kills": 1.0}, "1 0"),
    ("generator_cpus", "invalid", {"generator_cpus_full": 0.10}, {"generator_cpus_full": 0.11}, "95 11 10"),
    ("generator_thread", "invalid", {"generator_thread_full": 0.10}, {"generator_thread_full": 0.11}, "95 11 10"),
    ("generator_quota", "invalid", {"generator_quota_full": 0.10}, {"generator_quota_full": 0.11}, "95 11 10"),
    (
        "generator_wait_mean",
        "invalid",
        {"generator_wait_mean_ms": 48.0},
        {"generator_wait_mean_ms": 48.1},
        "48.1 5.01 960 5",
    ),
    (
        "generator_wait_p99",
        "invalid",
        {"generator_wait_p99_ms": 120.0},
        {"generator_wait_p99_ms": 120.1},
        "120.1 10 1,200",
    ),
    ("generator_throttled", "invalid", {"generator_throttled": 0.05}, {"generator_throttled": 0.06}, "6 5"),
    ("backend_throttled", "invalid", {"backend_throttled": 0.05}, {"backend_throttled": 0.06}, "6 5"),
    ("backend_cpus", "invalid", {"backend_cpus_full": 0.10}, {"backend_cpus_full": 0.11}, "95 11 10"),
    ("backend_quota", "invalid", {"backend_quota_full": 0.10}, {"backend_quota_full": 0.11}, "95 11 10"),
    ("backend_loop", "invalid", {"backend_loop_full": 0.10}, {"backend_loop_full": 0.11}, "95 11 10"),
    (
        "backend_late_mean",
        "invalid",
        {"backend_lateness_mean_ms": 16.0},
        {"backend_lateness_mean_ms": 16.1},
        "16.1 3 5.03 960 5",
    ),
    (
        "backend_late_p99",
        "invalid",
        {"backend_lateness_p99_ms": 40.0},
        {"backend_lateness_p99_ms": 40.4},
        "40.4 3 10.1 1,200 10",
    ),
    ("backend_delay_other", "invalid", {}, {"backend_delays": BackendDelays(before="40", after="300")}, "40 300"),
    ("backend_delay_other", "invalid", {}, {"backend_delays": BackendDelays(before="300", after="7")}, "300 7"),
    ("clock_stepped", "invalid", {"clock_step_s": 0.5}, {"clock_step_s": 0.6}, "0.6 0.5"),
    ("foreign_cpu", "suspect", {"foreign_cpu_share": 0.05}, {"foreign_cpu_share": 0.051}, "5.1 5"),
    ("much_foreign_cpu", "invalid", {"foreign_cpu_share": 0.0}, {"foreign_cpu_share": 0.21}, "21 20"),
    (
        "stolen",
        "suspect",
        {"stolen_of_needed": 0.05, "steal_shares": {"approach": 0.05, "load generator": 0.2}},
        {"stolen_of_needed": 0.06, "steal_shares": {"approach": 0.01, "load generator": 0.21}},
        "6 5 21 20",
    ),
    ("much_stolen", "invalid", {"steal_shares": {}}, {"steal_shares": {"approach": 0.21}}, "21 20"),
    ("littles_law", "invalid", {"little_ratio": 1.009}, {"little_ratio": 1.051}, "1.051 1000 5"),
    ("littles_law", "invalid", {"little_ratio": 0.991}, {"little_ratio": 0.949}, "0.949 1000 5"),
    ("throughput_impossible", "suspect", {"throughput_rps": 1116}, {"throughput_rps": 1117}, "1,117.0 1000 900 0.5"),
    ("rate_missed", "invalid", rate(980), rate(979), "979.0 2.1 1000.0 2"),
    ("rate_missed", "invalid", rate(1020), rate(1021), "1021.0 2.1 1000.0 2"),
    ("work_dropped", "invalid", rate(1000) | {"dropped": 0}, rate(1000) | {"dropped": 1}, "1 0"),
    ("started_late", "suspect", rate(1000) | lag(60), rate(1000) | lag(60.1), "60.1 5.01 5"),
    ("started_late", "suspect", rate(1000) | fast(2.0), rate(1000) | fast(2.1), "2.1 21 5"),
    ("started_late", "suspect", fast(2.0), fast(2.1), "2.1 21 5"),
    ("started_too_late", "invalid", lag(1000, 20_000), lag(1001, 20_000), "1.0 1"),
    ("started_too_late", "invalid", rate(1000) | lag(1000, 20_000), rate(1000) | lag(1001, 20_000), "1.0 1"),
    ("no_step_held", "invalid", OPEN | {"held_steps": (500.0,)}, OPEN | {"missed_steps": (500.0, 1000.0)}, "500"),
    ("metrics_missing", "invalid", {"metrics_missing_ratio": 0.1}, {"metrics_missing_ratio": 0.11}, "11 10"),
    (
        "monitoring_gone",
        "invalid",
        {"backend_metrics_missing_ratio": 0.11},
        {"metrics_missing_ratio": 0.12, "backend_metrics_missing_ratio": 0.11},
        "11 10",
    ),
    ("silent_end", "invalid", {"silent_end_s": 5}, {"silent_end_s": 6}, "6 2 3 5.6"),
    ("gc_heavy", "suspect", {"gc_share": 0.20}, {"gc_share": 0.21}, "21 20"),
    ("gc_heavy", "suspect", {"gc_cpu_share": 0.20}, {"gc_cpu_share": 0.33}, "33 20"),
    ("throttled", "suspect", {"throttled_ratio": 0.05}, {"throttled_ratio": 0.06}, "6 5"),
    ("connections_lost", "suspect", {"syn_retransmits": 0}, {"syn_retransmits": 1}, "1 0"),
    ("short_interior", "suspect", {"interior_s": 15}, {"interior_s": 14}, "14 15"),
    ("short_interior", "suspect", {}, {"interior_s": None, "whole_run": True}, ""),
    ("few_waves", "suspect", {"waves": 19.8}, {"waves": 19.7}, "19.7 20"),
    ("steps_missed", "suspect", OPEN | {"held_steps": (500.0,)}, steps_500_1000(), "1000"),
    ("half_cold", "suspect", {}, warmup(compiled=False), "140 280"),
    ("half_cold", "suspect", {}, warmup(changing="latency still fell"), "140 280"),
    ("warmup_failed", "suspect", {}, warmup(failed=True, changing="there were too few"), "1"),
    (
        "still_falling",
        "suspect",
        {"cpu_fall": Halves(fall=0.10, margin=0.01), "latency_fall": Halves(fall=0.10, margin=0.0)},
        {
            "cpu_fall": Halves(fall=0.11, margin=0.02),
            "latency_fall": Halves(fall=0.2, margin=0.1),
            "jit_cpu_share": 0.3,
        },
        "11 2 20 10 30",
    ),
    ("small_pool", "suspect", {"backend_pool": 1000}, {"backend_pool": 999}, "999 1000"),
    (
        "small_pool",
        "suspect",
        {"backend_pool": 5000, "at_once": 5},
        {"backend_pool": 4999, "at_once": 5},
        "4999 1000 5",
    ),
    ("few_threads", "suspect", {"platform_threads": 1000}, {"platform_threads": 4}, "4 1000"),
    ("connections_reopened", "suspect", {"connections_opened": 1013}, {"connections_opened": 1014}, "1014 1000 1"),
    (
        "other_backend_requests",
        "suspect",
        {"backend_requests_per_request": 3.109},
        {"backend_requests_per_request": 3.111},
        "3.111 3 0.110",
    ),
    (
        "other_backend_requests",
        "suspect",
        {"backend_requests_per_request": 2.891},
        {"backend_requests_per_request": 2.889},
        "2.889 3 0.110",
    ),
    (
        "backend_reconnected",
        "suspect",
        {"backend_connections_opened": 1800},
        {"backend_connections_opened": 1801},
        "1801 180000 1",
    ),
    (
        "omission_possible",
        "suspect",
        {"slow_ms": (950.0 * 601,)},
        {"slow_ms": (950.0 * 301, 950.0 * 302)},
        "2 286.9 601 1",
    ),
    ("connections_idle", "suspect", {"little_ratio": 0.991}, {"little_ratio": 0.989}, "1.1 1000 1"),
    (
        "latency_grew",
        "suspect",
        {"latency_fall": Halves(fall=-0.10, margin=0.05)},
        {"latency_fall": Halves(fall=-0.11, margin=0.05)},
        "11 10",
    ),
    (
        "latency_grew_much",
        "invalid",
        {"latency_fall": Halves(fall=-0.3, margin=0.31)},
        {"latency_fall": Halves(fall=-0.26, margin=0.1)},
        "26 25",
    ),
    (
        "cpu_grew",
        "suspect",
        {"cpu_fall": Halves(fall=-0.25, margin=0.1)},
        {"cpu_fall": Halves(fall=-0.26, margin=0.1)},
        "26 25",
    ),
    (
        "cpu_grew",
        "suspect",
        rate(1000) | {"cpu_fall": Halves(fall=-0.3, margin=0.21)},
        rate(1000) | {"cpu_fall": Halves(fall=-0.3, margin=0.19)},
        "30 25",
    ),
    (
        "uneven",
        "suspect",
        {"latency_fall": Halves(fall=0, margin=0.1, peak=0.25), "cpu_fall": Halves(fall=0, margin=0.1, peak=1)},
        {"latency_fall": Halves(fall=0, margin=0.1, peak=0.26)},
        "26 25",
    ),
    (
        "uneven",
        "suspect",
        rate(1000) | {"cpu_fall": None},
        rate(1000) | {"cpu_fall": Halves(fall=0, margin=0.1, peak=1.1)},
        "110 100",
    ),
    ("connections_idle", "suspect", {"little_ratio": 1.009}, {"little_ratio": 1.011}, "1.1 1000 1"),
    ("more_cpu_than_given", "suspect", {"cpus_used": 1.05}, {"cpus_used": 1.3}, "1.30 1 5"),
    (
        "latency_grew",
        "suspect",
        rate(1000) | {"latency_fall": Halves(fall=-0.10, margin=0.05)},
        rate(1000) | {"latency_fall": Halves(fall=-0.11, margin=0.05)},
        "11 10 1000",
    ),
    (
        "latency_grew_much",
        "invalid",
        rate(1000) | {"latency_fall": Halves(fall=-0.3, margin=0.31)},
        rate(1000) | {"latency_fall": Halves(fall=-0.26, margin=0.1)},
        "26 25 1000",
    ),
    (
        "latency_grew",
        "suspect",
        {},
        rate(1000) | {"latency_fall": Halves(fall=-0.11, margin=0.05), "idle_share": 0.2},
        "11 10 1000",
    ),
    (
        "latency_grew",
        "suspect",
        {},
        rate(1000) | {"latency_fall": Halves(fall=-0.11, margin=0.05), "idle_share": 0.21},
        "11 10 21",
    ),
    ("omission_possible", "suspect", {"silences_s": (2, 2, 2)}, {"silences_s": (2, 3)}, "5 2,460 4.1 1"),
    ("keepalive_refused", "suspect", {}, {"keepalive_requests": 59_999}, "59999 60000"),
]


@pytest.mark.parametrize(("rule", "level", "within", "beyond", "numbers"), CASES)
def test_a_rule_speaks_beyond_its_threshold_only(
    rule: str, level: str, within: dict[str, Any], beyond: dict[str, Any], numbers: str
) -> None:
    assert judge(GOOD | within) == ("valid", [])

    judgement = verdict.judge(Measured(**GOOD | beyond))

    (spoken,) = speaking(judgement.rules)
    assert (spoken.rule, spoken.outcome, spoken.level) == (rule, "failed", level)
    assert set(numbers.split()) <= figures(spoken.reason)
    assert (judgement.verdict, judgement.reasons) == (level, [spoken.reason])


def test_every_rule_has_a_case_in_which_it_fails_or_does_not_know() -> None:
    assert {rule.name for rule in RULES} == {case[0] for case in CASES} | {"compilers_unknown"}


def test_every_rule_tells_what_it_found() -> None:
    rules = verdict.judge(Measured(**GOOD)).rules

    assert [result.rule for result in rules] == [rule.name for rule in RULES]
    assert {result.outcome for result in rules} == {"passed", "does not apply"}
    assert all(result.reason for result in rules if result.outcome == "does not apply")


MISSING: list[tuple[str, dict[str, Any]]] = [
    ("too_many_errors", {"errors": None}),
    ("generator_wait_p99", {"generator_wait_p99_ms": None}),
    ("generator_quota generator_throttled", {"generator_measured": False}),
    ("backend_quota backend_throttled", {"backend_measured": False}),
    ("littles_law connections_idle", {"little_ratio": None}),
    ("too_many_errors", {"doubtful": 601}),
    ("more_cpu_than_given", {"cpus_used": None}),
    ("more_cpu_than_given", {"cpus_given": None}),
    ("stolen", {"stolen_of_needed": None}),
    ("rate_missed", OPEN | {"offered_rps": 1000.0, "started_rps": None}),
    ("started_too_late started_late", rate(1000) | {"worst_start_lag_p99_ms": None}),
    ("work_dropped", rate(1000) | {"dropped": None}),
    ("short_interior", {"interior_s": None}),
    ("throughput_impossible", {"throughput_rps": None}),
    ("few_waves connections_idle", {"waves": None}),
    ("omission_possible", {"p50_ms": None}),
    ("container_failed", {"container_known": False}),
    ("process_restarted", {"process_restarts": None}),
    ("gc_heavy", {"gc_share": None}),
    ("small_pool", {"backend_pool": None, "about_told": False}),
    ("few_threads", {"platform_threads": None, "about_told": False}),
    ("generator_cpus", {"generator_cpus_full": None}),
    ("generator_thread", {"generator_thread_full": None}),
    ("backend_cpus", {"backend_cpus_full": None}),
    ("backend_loop", {"backend_loop_full": None}),
    ("backend_late_mean", {"backend_lateness_mean_ms": None}),
    ("backend_late_p99", {"backend_lateness_p99_ms": None}),
    ("backend_delay_other", {"backend_delays": None}),
    ("backend_delay_other", {"backend_delays": BackendDelays(before=None, after="300")}),
    ("much_foreign_cpu foreign_cpu", {"foreign_cpu_share": None}),
    ("clock_stepped", {"clock_step_s": None, "host_sampled": False}),
    ("much_stolen stolen", {"steal_shares": None}),
    ("connections_lost", {"syn_retransmits": None}),
    ("connections_reopened", {"connections_opened": None}),
    ("other_backend_requests", {"backend_requests_per_request": None}),
    ("backend_reconnected", {"backend_connections_opened": None}),
    ("half_cold compilers_unknown warmup_failed", {"warmup": None}),
    ("backend_delay_other", {"backend_delays": BackendDelays(before="300", after=None)}),
    ("compilers_unknown", warmup(compiled=None)),
]


@pytest.mark.parametrize(("rules", "missing"), MISSING)
def test_what_was_not_measured_is_not_passed(rules: str, missing: dict[str, Any]) -> None:
    judgement = verdict.judge(Measured(**GOOD | missing))

    assert unknown(judgement.rules) == set(rules.split())
    assert judgement.verdict == "suspect"
    (said,) = judgement.reasons
    assert all(one.reason and one.reason in said for one in speaking(judgement.rules))


def test_what_a_run_may_be_made_again_for_is_measured_outside_of_the_approach() -> None:
    """What a run's own cost or speed brings about would else be measured until it does not show."""
    outside = {rule.name for rule in RULES if rule.level == "invalid" and rule.host_cause}

    assert outside == {
        "unfinished", "backend_delay_other", "much_foreign_cpu", "much_stolen", "clock_stepped", "monitoring_gone",
    }  # fmt: skip
