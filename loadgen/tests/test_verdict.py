"""Every rule of the verdict on both sides of its threshold, without the figure it needs, and where it applies."""

from typing import Any

import pytest

from good import LADDER, OPEN, fast, judge, lag, rate, warmup
from loomlab.judge.rules import RULES
from loomlab.records.measured import BackendDelays, Halves, Slow
from saying import failed, figures, speaking, unknown

MUCH_SLOW = Slow(requests=9_000, longest_ms=9_000, omitted=80_000)
FIGURES: list[tuple[str, str, str, Any, Any, str]] = [
    # rule, level, figure, within, beyond, numbers of its sentence
    ("unfinished", "invalid", "interrupted", False, True, ""),
    ("tool_failed", "invalid", "tool_failure", None, "ab ended without a report.", ""),
    ("too_many_errors", "invalid", "errors", 600, 601, "1 601 60000"),
    ("too_many_errors", "invalid", "requests", 1, 0, ""),
    ("too_many_errors", "invalid", "requests", 1, None, ""),
    ("container_failed", "invalid", "container_failure", None, "It was killed.", ""),
    ("process_restarted", "invalid", "process_restarts", 0, 1, "1 0"),
    ("swapped", "suspect", "swapped_ratio", 0.01, 0.011, "1.1 1"),
    ("other_approach", "invalid", "other_approach", None, "'another'", ""),
    ("generator_cpus", "invalid", "generator_cpus_full", 0.10, 0.11, "95 11 10"),
    ("generator_thread", "invalid", "generator_thread_full", 0.10, 0.11, "95 11 10"),
    ("generator_wait_mean", "invalid", "generator_wait_mean_ms", 48.0, 48.1, "48.1 5.01 960 5"),
    ("generator_wait_p99", "invalid", "generator_wait_p99_ms", 120.0, 120.1, "120.1 10 1,200"),
    ("generator_throttled", "invalid", "generator_throttled", 0.05, 0.06, "6 5"),
    ("backend_throttled", "invalid", "backend_throttled", 0.05, 0.06, "6 5"),
    ("backend_cpus", "invalid", "backend_cpus_full", 0.10, 0.11, "95 11 10"),
    ("backend_loop", "invalid", "backend_loop_full", 0.10, 0.11, "95 11 10"),
    ("backend_late_mean", "invalid", "backend_lateness_mean_ms", 16.0, 16.1, "16.1 3 5.03 960 5"),
    ("backend_late_p99", "invalid", "backend_lateness_p99_ms", 40.0, 40.4, "40.4 3 10.1 1,200 10"),
    ("clock_stepped", "invalid", "clock_step_s", 0.5, 0.6, "0.6 0.5"),
    ("foreign_cpu", "suspect", "foreign_cpu_share", 0.05, 0.051, "5.1 5"),
    ("much_foreign_cpu", "invalid", "foreign_cpu_share", 0.0, 0.21, "21 20"),
    ("much_stolen", "invalid", "steal_shares", {}, {"approach": 0.21}, "21 20"),
    ("littles_law", "invalid", "little_ratio", 1.009, 1.051, "1.051 1000 5"),
    ("littles_law", "invalid", "little_ratio", 0.991, 0.949, "0.949 1000 5"),
    ("throughput_impossible", "suspect", "throughput_rps", 1116, 1117, "1,117.0 1000 900 0.5"),
    ("metrics_missing", "invalid", "metrics_missing_ratio", 0.1, 0.11, "11 10"),
    ("silent_end", "invalid", "silent_end_s", 5, 6, "6 2 3 5.6"),
    ("gc_heavy", "suspect", "gc_share", 0.20, 0.21, "21 20"),
    ("gc_heavy", "suspect", "gc_cpu_share", 0.20, 0.33, "33 20"),
    ("throttled", "suspect", "throttled_ratio", 0.05, 0.06, "6 5"),
    ("connections_lost", "suspect", "syn_retransmits", 0, 1, "1 0"),
    ("generators_apart", "suspect", "generators_apart", 0.01, 0.011, "1.1 1"),
    ("short_interior", "suspect", "interior_s", 15, 14, "14 15"),
    ("short_interior", "suspect", "waves", 19.8, 19.7, "19.7 20"),
    ("small_pool", "suspect", "backend_pool", 1000, 999, "999 1000"),
    ("connections_reopened", "suspect", "connections_opened", 1013, 1014, "1014 1000 1"),
    ("other_backend_requests", "suspect", "backend_requests_per_request", 3.109, 3.111, "3.111 3 0.110"),
    ("other_backend_requests", "suspect", "backend_requests_per_request", 2.891, 2.889, "2.889 3 0.110"),
    ("backend_reconnected", "suspect", "backend_connections_opened", 1800, 1801, "1801 180000 1"),
    ("omission_possible", "suspect", "slow", Slow(requests=1, longest_ms=570_950, omitted=600),
     Slow(requests=2, longest_ms=286_900, omitted=601), "2 287 601 1"),
    ("omission_possible", "suspect", "silences_s", (2, 2, 2), (2, 3), "5 2,460 4.1 1"),
    ("connections_idle", "suspect", "little_ratio", 0.991, 0.989, "1.1 1000 1"),
    ("connections_idle", "suspect", "little_ratio", 1.009, 1.011, "1.1 1000 1"),
    ("more_cpu_than_given", "suspect", "cpus_used", 1.05, 1.3, "1.30 1 5"),
]  # fmt: skip


def falling(fall: float, margin: float = 0.1, peak: float = 0.0, figure: str = "latency_fall") -> dict[str, Any]:
    return {figure: Halves(fall=fall, margin=margin, peak=peak)}


def cpu_falling(fall: float, margin: float = 0.1, peak: float = 0.0) -> dict[str, Any]:
    return falling(fall, margin, peak, "cpu_fall")


def paired(partner_cpus: float, threads_started: float, opened: int = 0) -> dict[str, Any]:
    of_pair = {"partner": "other", "partner_cpus": partner_cpus, "threads_started": threads_started}
    return of_pair | {"ratio_shift": 0.0, "connections_opened": opened}


def missing(approach: float, backend: float) -> dict[str, Any]:
    return {"metrics_missing_ratio": approach, "backend_metrics_missing_ratio": backend}


def delays(before: str | None, after: str | None) -> dict[str, Any]:
    return {"backend_delays": BackendDelays(before=before, after=after)}


def steal(needed: float, approach: float, generator: float) -> dict[str, Any]:
    return {"stolen_of_needed": needed, "steal_shares": {"approach": approach, "load generator": generator}}


def asking(figure: str, share: float | None) -> dict[str, Any]:
    """Requests that ask the database."""
    called = {"backend_calls": 0, "backend_requests_per_request": 0.0, "delay_asked": None}
    told = {"database_connections": 22, "database_most_connections": 450, "database_checkpoints": 0}
    return called | {"database": True, "database_cpus_full": 0.0} | told | {figure: share}


PAUSES = {"think_s": 1.0}
HANGING = PAUSES | {"steady": False, "backend_hangs": True}
CASES: list[tuple[str, str, dict[str, Any], dict[str, Any], str]] = [
    *((rule, level, {name: within}, {name: beyond}, said) for rule, level, name, within, beyond, said in FIGURES),
    ("backend_delay_other", "invalid", {}, delays("40", "300"), "40 300"),
    ("backend_delay_other", "invalid", {}, delays("300", "7"), "300 7"),
    *(
        (f"database_{name}", "invalid", asking(figure, most), asking(figure, beyond), said)
        for name, figure, most, beyond, said in (
            ("cpus", "database_cpus_full", 0.10, 0.11, "95 11 10"),
            ("throttled", "database_throttled", 0.05, 0.06, "6 5"),
            ("connections", "database_connections", 449, 450, "450"),
        )
    ),
    ("database_checkpoints", "suspect", asking("database_checkpoints", 0), asking("database_checkpoints", 1), "1 0"),
    ("stolen", "suspect", steal(0.05, 0.05, 0.2), steal(0.06, 0.01, 0.21), "6 5 21 20"),
    ("rate_missed", "invalid", rate(980), rate(979), "979.0 2.1 1000.0 2"),
    ("rate_missed", "invalid", rate(1020), rate(1021), "1021.0 2.1 1000.0 2"),
    ("work_dropped", "invalid", rate(1000), rate(1000, dropped=1), "1 0"),
    ("started_late", "suspect", rate(1000) | lag(60), rate(1000) | lag(60.1), "60.1 5.01 5"),
    ("started_late", "suspect", rate(1000) | fast(2.0), rate(1000) | fast(2.1), "2.1 21 5"),
    ("started_late", "suspect", PAUSES | fast(2.0), PAUSES | fast(2.1), "2.1 21 5"),
    ("started_too_late", "invalid", PAUSES | lag(1000, 20_000), PAUSES | lag(1001, 20_000), "1.0 1"),
    ("started_too_late", "invalid", rate(1000) | lag(1000, 20_000), rate(1000) | lag(1001, 20_000), "1.0 1"),
    ("no_step_held", "invalid", OPEN | {"held_steps": (500.0,)}, OPEN | {"missed_steps": (500.0, 1000.0)}, "500"),
    ("steps_missed", "suspect", OPEN | {"held_steps": (500.0,)}, LADDER, "1000"),
    ("monitoring_gone", "invalid", missing(0.10, 0.11), missing(0.12, 0.11), "11 10"),
    ("short_interior", "suspect", {}, {"interior_s": None, "whole_run": True}, ""),
    ("half_cold", "suspect", {}, warmup(compiled=False), "140 280"),
    ("half_cold", "suspect", {}, warmup(changing="latency still fell"), "140 280"),
    ("half_cold", "suspect", {}, warmup(failed=True, changing="there were too few"), "1"),
    ("still_falling", "suspect", falling(0.10, 0.0), falling(0.11, 0.02), "11 2 10"),
    ("still_falling", "suspect", cpu_falling(0.10, 0.01), cpu_falling(0.2) | {"jit_cpu_share": 0.3}, "20 10 30"),
    ("small_pool", "suspect", {"backend_pool": 5000, "at_once": 5}, {"backend_pool": 4999, "at_once": 5}, "4999 5"),
    ("latency_grew", "suspect", falling(-0.10, 0.05), falling(-0.11, 0.05), "11 10"),
    ("latency_grew", "suspect", rate(1000) | falling(-0.10, 0.05), rate(1000) | falling(-0.11, 0.05), "11 10 1000"),
    ("latency_grew", "suspect", {}, rate(1000, idle_share=0.2) | falling(-0.11, 0.05), "11 10 1000"),
    ("latency_grew", "suspect", {}, rate(1000, idle_share=0.21) | falling(-0.11, 0.05), "11 10 21"),
    ("latency_grew_much", "invalid", falling(-0.3, 0.31), falling(-0.26), "26 25"),
    ("latency_grew_much", "invalid", rate(1000) | falling(-0.3, 0.31), rate(1000) | falling(-0.26), "26 25 1000"),
    ("cpu_grew", "suspect", cpu_falling(-0.25), cpu_falling(-0.26), "26 25"),
    ("cpu_grew", "suspect", rate(1000) | cpu_falling(-0.3, 0.21), rate(1000) | cpu_falling(-0.3, 0.19), "30 25"),
    ("uneven", "suspect", falling(0, peak=0.25) | cpu_falling(0, peak=1), falling(0, peak=0.26), "26 25"),
    ("uneven", "suspect", rate(1000), rate(1000) | cpu_falling(0, peak=1.1), "110 100"),
    ("connections_reopened", "suspect", paired(0, 0, opened=13), paired(0, 0, opened=14), "14 1000 1"),
    ("partner_busy", "suspect", paired(0.03, 0), paired(0.031, 0), "3.1 3"),
    ("pools_trimmed", "suspect", paired(0, 50), paired(0, 51), "51 5"),
]


@pytest.mark.parametrize(("rule", "level", "within", "beyond", "numbers"), CASES)
def test_a_threshold(rule: str, level: str, within: dict[str, Any], beyond: dict[str, Any], numbers: str) -> None:
    good, judgement = judge(**within), judge(**beyond)

    assert (good.verdict, good.reasons) == ("valid", [])
    (spoken,) = speaking(judgement.rules)
    assert (spoken.rule, spoken.outcome, spoken.level) == (rule, "failed", level)
    assert set(numbers.split()) <= figures(spoken.reason)
    assert (judgement.verdict, judgement.reasons) == (level, [spoken.reason])


def test_every_rule_has_a_case_in_which_it_fails_or_does_not_know() -> None:
    assert {rule.name for rule in RULES} == {case[0] for case in CASES}


def test_every_rule_tells_what_it_found() -> None:
    rules = judge().rules

    assert [result.rule for result in rules] == [rule.name for rule in RULES]
    assert {result.outcome for result in rules} == {"passed", "does not apply"}
    assert all(result.reason for result in rules if result.outcome == "does not apply")


NEEDED = """errors generator_wait_p99_ms little_ratio cpus_used interior_s throughput_rps process_restarts swapped_ratio
    gc_share generator_cpus_full generator_thread_full backend_cpus_full backend_loop_full
    backend_lateness_mean_ms backend_lateness_p99_ms foreign_cpu_share syn_retransmits generators_apart
    connections_opened backend_requests_per_request backend_connections_opened"""
MISSING: list[tuple[str, dict[str, Any]]] = [
    *((" ".join({one[0]: None for one in FIGURES if one[2] == name}), {name: None}) for name in NEEDED.split()),
    ("generator_throttled", {"generator_measured": False}),
    ("backend_throttled", {"backend_measured": False}),
    ("database_throttled", asking("database_measured", False)),
    ("database_connections", asking("database_connections", None)),
    ("database_connections", asking("database_most_connections", None)),
    ("database_checkpoints", asking("database_checkpoints", None)),
    ("too_many_errors", {"doubtful": 601}),
    ("too_many_errors", {"errors": 300, "doubtful": 301}),
    ("more_cpu_than_given", {"cpus_given": None}),
    ("stolen", {"stolen_of_needed": None}),
    ("rate_missed", OPEN | {"offered_rps": 1000.0, "started_rps": None}),
    ("started_too_late started_late", rate(1000, worst_start_lag_p99_ms=None)),
    ("work_dropped", rate(1000, dropped=None)),
    ("short_interior connections_idle", {"waves": None}),
    ("omission_possible", {"p50_ms": None}),
    ("container_failed", {"container_known": False}),
    ("other_approach small_pool", {"backend_pool": None, "about_told": False}),
    ("backend_delay_other", {"backend_delays": None}),
    ("backend_delay_other", delays(None, "300")),
    ("clock_stepped", {"clock_step_s": None, "host_sampled": False}),
    ("much_stolen stolen", {"steal_shares": None}),
    ("half_cold", {"warmup": None}),
    ("backend_delay_other", delays("300", None)),
    ("half_cold", warmup(compiled=None)),
]


def test_of_a_service_of_the_users_nothing_is_asked_that_it_need_not_tell() -> None:
    untold = {
        "sight": "container", "about_told": False, "process_restarts": None, "swapped_ratio": None,
        "gc_share": None, "platform_threads": None, "connections_opened": 5000, "backend_requests_per_request": 7.0,
        "backend_calls": 0, "backend_connections_opened": 100,
    }  # fmt: skip
    judgement = judge(**untold, **warmup(compiled=None))
    assert (judgement.verdict, judgement.reasons) == ("valid", [])
    outcomes = {one.rule: one.outcome for one in judgement.rules}
    names = ("gc_heavy", "process_restarted", "connections_reopened", "other_backend_requests")
    assert {outcomes[name] for name in names} == {"does not apply"}
    assert outcomes["half_cold"] == "passed"

    jvm = {one.rule: one.outcome for one in judge(**untold | {"sight": "jvm"}, **warmup(compiled=None)).rules}
    assert {jvm[name] for name in ("gc_heavy", "process_restarted", "half_cold")} == {"could not be checked"}
    assert jvm["other_approach"] == "does not apply"


@pytest.mark.parametrize(("rules", "missing"), MISSING)
def test_what_was_not_measured_is_not_passed(rules: str, missing: dict[str, Any]) -> None:
    judgement = judge(**missing)

    assert unknown(judgement.rules) == set(rules.split())
    assert judgement.verdict == "suspect"
    (said,) = judgement.reasons
    assert all(one.reason and one.reason in said for one in speaking(judgement.rules))


def waits_of(delay: str) -> dict[str, Any]:
    return delays(delay, delay) | {"delay_asked": delay}


UNASKED = {"backend_calls": 0, "delay_asked": None, "backend_pool": 5}
ONE_CALL = {"backend_calls": 1, "backend_requests_per_request": 1.0}
LATE = {"backend_lateness_mean_ms": 20.0, "backend_lateness_p99_ms": 72.0}
QUICK = fast(0.0) | {"mean_ms": 0.5, "p99_ms": 1.0, "p50_ms": 0.5, "backend_lateness_mean_ms": 0.001}
SLOW_RATE = rate(20.0, offered_rps=20.0, counted_requests=1200, requests=1200)
FANNING_OUT = SLOW_RATE | {"at_once": 5, "backend_pool": 5000}
RARE = rate(0.0, offered_rps=0.3, interior_s=50)
ALL_HELD = OPEN | {"held_steps": (500.0, 1000.0)}
SCOPE: list[tuple[dict[str, Any], str]] = [
    # figures, the rules that fail
    # A run made before the clock was watched is not blamed, nor is one on a kernel that does not tell of waits.
    ({"clock_step_s": None}, ""),
    ({"waits_told": False, "generator_wait_mean_ms": None, "generator_wait_p99_ms": None}, ""),
    # Below twenty waves one wave is the limit of Little's law, and a count of idle connections is off by more.
    ({"waves": 10.0, "little_ratio": 1.09}, "short_interior"),
    ({"waves": 10.0, "little_ratio": 1.11}, "short_interior littles_law"),
    ({"waves": 19.7, "little_ratio": 0.97}, "short_interior"),
    # What a tool rounds away is no idle connection; idle ones are told once, of tools that leave out what never ended.
    ({"little_ratio": 0.93, "rounding": 0.07}, ""),
    ({"little_ratio": 0.93, "rounding": 0.01}, "littles_law"),
    ({"little_ratio": 0.97, "rounding": 0.01}, "connections_idle"),
    ({"little_ratio": 0.98, "rounding": 0.02}, ""),
    ({"little_ratio": 0.9}, "littles_law"),
    ({"little_ratio": 0.98, "tells_unended": True}, ""),
    # Answers that may be cut count beside those that failed.
    ({"errors": 300, "doubtful": 300}, ""),
    ({"errors": 601, "doubtful": 301}, "too_many_errors"),
    # Figures that grow by design or step by step are not judged, nor are errors of steps that did not hold.
    (ALL_HELD | falling(-0.5) | cpu_falling(-0.5), ""),
    (ALL_HELD | {"dropped": 5}, "work_dropped"),
    (LADDER | {"errors": 30_000, "dropped": 500}, "steps_missed"),
    ({"missed_steps": (250.0, 500.0), "errors": 30_000}, "too_many_errors no_step_held"),
    # Long waits that were asked for are no omission, but silences are; an open model has none, nor waves.
    (waits_of("lognormal:100:1000") | {"slow": MUCH_SLOW}, ""),
    (waits_of("lognormal:100:1000") | {"silences_s": (30,)}, "omission_possible"),
    (waits_of("uniform:200:400") | {"slow": MUCH_SLOW}, "omission_possible"),
    (OPEN | {"silences_s": (30,), "slow": MUCH_SLOW}, ""),
    (lag(0.0) | {"steady": False, "think_s": 5.0, "silences_s": (9, 9)}, ""),
    (lag(0.0) | {"steady": False, "think_s": 1.0, "silences_s": (9, 9)}, "omission_possible"),
    # During a hang silence is what was asked for; late starts are the tool's all the same.
    (lag(61.0) | HANGING | {"silences_s": (9, 9)}, "started_late"),
    (lag(0.0) | HANGING | {"silences_s": (9, 9)}, ""),
    # A backend that no request asks says nothing unless it was asked; its delay may be any if none depends on it.
    (UNASKED | {"backend_requests_per_request": 0.02, "backend_cpus_full": 0.5}, ""),
    ({"database_cpus_full": 0.5, "database_throttled": 0.5}, ""),
    (UNASKED | {"backend_requests_per_request": 0.021}, "other_backend_requests"),
    ({"delay_asked": None} | delays("7", None), ""),
    ({"delay_asked": None, "backend_delays": None}, ""),
    # Lateness counts by what it adds, call by call; below the backend's first bucket it is punctual.
    (LATE | {"mean_ms": 4000.0, "p99_ms": 9000.0}, ""),
    (LATE | {"mean_ms": 900.0, "p99_ms": 950.0}, "backend_late_mean backend_late_p99"),
    ({"backend_lateness_mean_ms": 9.0, "mean_ms": None, "p99_ms": None}, ""),
    (ONE_CALL | {"backend_lateness_mean_ms": 48.0}, ""),
    (ONE_CALL | {"backend_lateness_mean_ms": 48.1}, "backend_late_mean"),
    (QUICK | {"backend_lateness_p99_ms": 0.05}, ""),
    (QUICK | {"backend_lateness_p99_ms": 0.051}, "backend_late_p99"),
    # Companions of a service of the user's may limit the run; a quota that was asked for may throttle.
    ({"sight": "container", "backend_calls": 0, "backend_cpus_full": 0.5}, "backend_cpus"),
    ({"throttled_ratio": 0.5, "quota_cpus": 1}, ""),
    # A change within its noise is none; growth is told once.
    (cpu_falling(0.2, 0.21), ""),
    (cpu_falling(-0.3, 0.31), ""),
    (falling(-0.3, 0.1, 0.4), "latency_grew_much"),
    # CPU per request that falls without compilers is the host's doing; latency that falls is not.
    (cpu_falling(0.2) | {"jit_cpu_fall": 0.075, "jit_cores_fall": 0.05}, ""),
    (cpu_falling(0.2) | {"jit_cpu_fall": -0.1, "jit_cores_fall": -0.1}, ""),
    (cpu_falling(0.2) | {"jit_cpu_fall": 0.076, "jit_cores_fall": 0.01}, "still_falling"),
    (cpu_falling(0.2) | {"jit_cpu_fall": 0.01, "jit_cores_fall": 0.051}, "still_falling"),
    (cpu_falling(0.2), "still_falling"),
    (falling(0.2) | {"jit_cpu_fall": 0.0, "jit_cores_fall": 0.0}, "still_falling"),
    # A closed model has no rate to miss; in an open one, one request more or fewer is no other rate.
    ({"offered_rps": 1000.0}, ""),
    ({"started_rps": 500.0}, ""),
    (RARE | {"started_rps": 0.319}, ""),
    (RARE | {"started_rps": 0.321}, "rate_missed"),
    # At a low rate few requests are in flight, whatever the concurrency.
    (SLOW_RATE | {"backend_requests_per_request": 3.1}, ""),
    (SLOW_RATE | {"backend_requests_per_request": 3.12}, "other_backend_requests"),
    (SLOW_RATE | {"backend_connections_opened": 55.0}, ""),
    (SLOW_RATE | {"backend_connections_opened": 56.0}, "backend_reconnected"),
    (FANNING_OUT | {"backend_connections_opened": 131.0}, ""),
    (FANNING_OUT | {"backend_connections_opened": 134.0}, "backend_reconnected"),
    # Without a warm-up every connection is a first one.
    (warmup(bursts=[]) | {"backend_connections_opened": 2800}, ""),
    (warmup(bursts=[]) | {"backend_connections_opened": 2801}, "backend_reconnected"),
    # A load that changes is short and silent by its nature, a rate is not.
    ({"steady": False, "whole_run": True, "interior_s": None, "silences_s": (30,)}, ""),
    (OPEN | {"whole_run": True, "interior_s": None}, "short_interior"),
]


@pytest.mark.parametrize(("measured", "rules"), SCOPE)
def test_where_a_rule_applies(measured: dict[str, Any], rules: str) -> None:
    levels = {rule.level for rule in RULES if rule.name in rules.split()}

    judgement = judge(**measured)

    assert failed(judgement.rules) == set(rules.split())
    assert judgement.verdict == ("invalid" if "invalid" in levels else "suspect" if levels else "valid")


@pytest.mark.parametrize("think_s", [None, 0.0])
def test_no_request_is_late_that_is_due_when_the_last_one_is_answered(think_s: float | None) -> None:
    rules = judge(think_s=think_s, **lag(0.0)).rules
    assert {one.outcome for one in rules if one.rule.startswith("started_")} == {"does not apply"}


def test_what_makes_a_run_invalid_is_not_drowned_in_what_is_not_known() -> None:
    judgement = judge(errors=30_000, foreign_cpu_share=None)
    assert unknown(judgement.rules) == {"foreign_cpu", "much_foreign_cpu"}
    assert judgement.reasons == [one.reason for one in judgement.rules if one.rule == "too_many_errors"]


def test_what_a_run_may_be_made_again_for_is_measured_outside_of_the_approach() -> None:
    """What a run's own cost or speed brings about would else be measured until it does not show."""
    outside = {rule.name for rule in RULES if rule.level == "invalid" and rule.host_cause}

    assert outside == {
        "unfinished", "backend_delay_other", "much_foreign_cpu", "much_stolen", "clock_stepped", "monitoring_gone",
        "other_approach",
    }  # fmt: skip
