"""Every rule of the verdict on both sides of its threshold, and without the figure it needs."""

import re
from typing import Any

import pytest

from evidence import evidence
from good import GOOD, OPEN, fast, judge, lag, rate, steps_500_1000, warmup
from loomlab.judge import verdict
from loomlab.judge.verdict import RULES
from loomlab.records.models import BackendDelays, Halves

CASES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("invalid", {}, {"finished": False}, "interrupted"),
    ("invalid", {}, {"tool_failure": "ab ended without a report."}, "without a report"),
    ("invalid", {"errors": 600}, {"errors": 601}, "1 % of the requests failed"),
    ("invalid", {"attempted": 1}, {"attempted": 0}, "No request"),
    ("invalid", {}, {"attempted": None}, "No request"),
    ("invalid", {}, {"container_failure": "It was killed."}, "killed"),
    ("invalid", {"process_restarts": 0}, {"process_restarts": 1}, "started again 1 times"),
    ("invalid", {"oom_kills": 0.0}, {"oom_kills": 1.0}, "the container 1 times"),
    ("invalid", {"generator_cpus_full": 0.10}, {"generator_cpus_full": 0.11}, "load generator limited .* 11 %"),
    ("invalid", {"generator_thread_full": 0.10}, {"generator_thread_full": 0.11}, "busiest thread"),
    ("invalid", {"generator_quota_full": 0.10}, {"generator_quota_full": 0.11}, "load generator .* quota"),
    (
        "invalid",
        {"generator_wait_mean_ms": 48.0},
        {"generator_wait_mean_ms": 48.1},
        "waited 48.1 ms for a CPU on average",
    ),
    ("invalid", {"generator_wait_p99_ms": 120.0}, {"generator_wait_p99_ms": 120.1}, "waited 120.1 ms for a CPU at p99"),
    ("invalid", {"generator_throttled": 0.05}, {"generator_throttled": 0.06}, "load generator .* throttled in 6 %"),
    ("invalid", {"backend_throttled": 0.05}, {"backend_throttled": 0.06}, "backend .* throttled in 6 %"),
    ("invalid", {"backend_cpus_full": 0.10}, {"backend_cpus_full": 0.11}, "backend limited"),
    ("invalid", {"backend_quota_full": 0.10}, {"backend_quota_full": 0.11}, "backend .* quota"),
    ("invalid", {"backend_loop_full": 0.10}, {"backend_loop_full": 0.11}, "event loop"),
    (
        "invalid",
        {"backend_lateness_mean_ms": 16.0},
        {"backend_lateness_mean_ms": 16.1},
        "16.1 ms late on average, over 3 calls up to 5.03 % of the mean latency of 960 ms .the limit is 5 %",
    ),
    (
        "invalid",
        {"backend_lateness_p99_ms": 40.0},
        {"backend_lateness_p99_ms": 40.4},
        "40.4 ms late at p99, over 3 calls up to 10.1 % of the p99 latency of 1,200 ms .the limit is 10 %",
    ),
    (
        "invalid",
        {},
        {"backend_delays": BackendDelays(before="40", after="300")},
        "was 40 before and 300 after the run, not the 300 asked for",
    ),
    (
        "invalid",
        {},
        {"backend_delays": BackendDelays(before="300", after="7")},
        "was 300 before and 7 after the run, not the 300",
    ),
    (
        "suspect",
        {},
        {"backend_delays": BackendDelays(before="300", after=None)},
        "which delay the backend had, because it did not answer right after the run",
    ),
    ("invalid", {"clock_step_s": 0.5}, {"clock_step_s": 0.6}, "clock was set by 0.6 s"),
    ("suspect", {"foreign_share": 0.05}, {"foreign_share": 0.051}, "Other programs took 5.1 % .*the limit is 5 %"),
    ("invalid", {"foreign_share": 0.0}, {"foreign_share": 0.21}, "Other programs took 21 % .*the limit is 20 %"),
    (
        "suspect",
        {"steal_shares": {"approach": 0.05, "load generator": 0.2}},
        {"steal_shares": {"approach": 0.06, "load generator": 0.21}},
        "6 % of the approach's CPUs .the limit is 5 %., 21 % of the load generator's CPUs .the limit is 20 %",
    ),
    (
        "invalid",
        {"steal_shares": {}},
        {"steal_shares": {"approach": 0.21}},
        "21 % of the approach's CPUs .the limit is 20",
    ),
    ("invalid", {"little_ratio": 1.0499}, {"little_ratio": 1.051}, "Little's law"),
    ("invalid", {"little_ratio": 0.98}, {"little_ratio": 0.949}, "Little's law"),
    ("invalid", rate(980), rate(979), "979.0 requests a second, 2.1 % fewer than the 1000.0 asked for"),
    ("invalid", rate(1020), rate(1021), "1021.0 requests a second, 2.1 % more than the 1000.0"),
    ("invalid", rate(1000) | {"dropped": 0}, rate(1000) | {"dropped": 1}, "ab dropped 1 requests"),
    ("suspect", rate(1000) | lag(60), rate(1000) | lag(60.1), "60.1 ms late at p99, 5.01 % of the p99 latency"),
    ("suspect", rate(1000) | fast(2.0), rate(1000) | fast(2.1), "2.1 ms late at p99, 21 % of the p99 latency"),
    ("invalid", rate(1000) | lag(1000, 20_000), rate(1000) | lag(1001, 20_000), "started requests 1.0 s late at p99"),
    (
        "invalid",
        OPEN | {"held_steps": (500.0,)},
        OPEN | {"missed_steps": (500.0, 1000.0)},
        "lowest offered rate, 500 requests a second",
    ),
    ("invalid", {"metrics_missing_ratio": 0.1}, {"metrics_missing_ratio": 0.11}, "missing for 11 %"),
    ("invalid", {"silent_end_s": 5}, {"silent_end_s": 6}, "last 6 s .* 5.6 s"),
    ("suspect", {}, {"container_known": False}, "Not known"),
    ("suspect", {"gc_share": 0.20}, {"gc_share": 0.21}, "Garbage collection took 21 %"),
    ("suspect", {"gc_cpu_share": 0.20}, {"gc_cpu_share": 0.33}, "33 % of the approach's CPU time"),
    ("suspect", {}, {"gc_share": None}, "Not known: what garbage collection took"),
    ("suspect", {"throttled_ratio": 0.05}, {"throttled_ratio": 0.06}, "throttled in 6 %"),
    ("suspect", {"syn_retransmits": 0}, {"syn_retransmits": 1}, "1 connection attempts"),
    ("suspect", {"interior_s": 15}, {"interior_s": 14}, "only 14 s"),
    ("suspect", {}, {"interior_s": None, "whole_run": True}, "too short"),
    ("suspect", {"waves": 19.8}, {"waves": 19.7}, "19.7 waves"),
    ("suspect", OPEN | {"held_steps": (500.0,)}, steps_500_1000(), "steps of 1000 requests a second did not hold"),
    (
        "suspect",
        {},
        warmup(compiled=False),
        "its cap of 140 s: there was no time for its first phase; use WARMUP_CAP=280s",
    ),
    ("suspect", {}, warmup(compiled=None), "Not known: whether the JIT compilers were at rest"),
    ("suspect", {}, warmup(changing="latency still fell"), "its cap of 140 s: latency still fell;"),
    ("suspect", {}, warmup(failed=True, changing="there were too few"), "no request of its burst 1 was answered"),
    (
        "suspect",
        {"cpu_fall": Halves(fall=0.10, margin=0.01), "latency_fall": Halves(fall=0.10, margin=0.0)},
        {
            "cpu_fall": Halves(fall=0.11, margin=0.02),
            "latency_fall": Halves(fall=0.2, margin=0.1),
            "jit_cpu_share": 0.3,
        },
        "CPU per request fell by 11 % .± 2 %. and mean latency fell by 20 % .* second .*, while compilers took 30 %",
    ),
    ("suspect", {"backend_pool": 1000}, {"backend_pool": 999}, "pool of 999"),
    (
        "suspect",
        {"backend_pool": 5000, "at_once": 5},
        {"backend_pool": 4999, "at_once": 5},
        "pool of 4999 backend connections is smaller than the concurrency of 1000, whose requests make 5 calls at once",
    ),
    ("suspect", {"platform_threads": 1000}, {"platform_threads": 4}, "pool of 4 platform threads"),
    ("suspect", {"connections_opened": 1013}, {"connections_opened": 1014}, "opened 1014 for 1000"),
    (
        "suspect",
        {"backend_requests_per_request": 3.109},
        {"backend_requests_per_request": 3.111},
        "3.111 .* not 3",
    ),
    (
        "suspect",
        {"backend_requests_per_request": 2.891},
        {"backend_requests_per_request": 2.889},
        "2.889 .* not 3",
    ),
    ("suspect", {"backend_connections_opened": 1800.0}, {"backend_connections_opened": 1801.0}, "1801 were opened"),
    (
        "suspect",
        {"slow_ms": (950.0 * 601,)},
        {"slow_ms": (950.0 * 301, 950.0 * 302)},
        "2 requests took up to 286.9 s, .* about 601 requests are missing, 1 % of those answered",
    ),
    ("suspect", {"little_ratio": 0.976}, {"little_ratio": 0.974}, "2.6 % of the 1000 connections had no request"),
    (
        "suspect",
        rate(1000) | {"latency_fall": Halves(fall=-0.10, margin=0.05)},
        rate(1000) | {"latency_fall": Halves(fall=-0.11, margin=0.05)},
        "latency grew by 11 % .*1000 requests a second are more than the approach can sustain",
    ),
    (
        "invalid",
        rate(1000) | {"latency_fall": Halves(fall=-0.3, margin=0.31)},
        rate(1000) | {"latency_fall": Halves(fall=-0.26, margin=0.1)},
        "latency grew by 26 %",
    ),
    (
        "suspect",
        {},
        rate(1000) | {"latency_fall": Halves(fall=-0.11, margin=0.05), "idle_share": 0.2},
        "1000 requests a second are more than the approach can sustain, .*; use a lower RATE[.]",
    ),
    (
        "suspect",
        {},
        rate(1000) | {"latency_fall": Halves(fall=-0.11, margin=0.05), "idle_share": 0.21},
        "requests queue although 21 % of the approach's CPU time was idle, and latency depends",
    ),
    (
        "suspect",
        {"silences_s": (2, 2, 2)},
        {"silences_s": (2, 3)},
        "no answer came for 5 s, .* about 2,460 requests are missing, 4.1 % of those answered .the limit is 1 %",
    ),
    ("suspect", {}, {"keepalive_requests": 59_999}, "Only 59999 of 60000"),
]


@pytest.mark.parametrize(("level", "within", "beyond", "said"), CASES)
def test_a_rule_speaks_beyond_its_threshold_only(
    level: str, within: dict[str, Any], beyond: dict[str, Any], said: str
) -> None:
    assert judge(GOOD | within) == ("valid", [])

    got, reasons = judge(GOOD | beyond)

    assert got == level
    assert len(reasons) == 1
    assert re.search(said, reasons[0])
    assert reasons[0].endswith(".")


def test_every_rule_has_a_case_in_which_it_fails_or_does_not_know() -> None:
    spoken = {
        result.rule
        for _, _, beyond, _ in CASES
        for result in verdict.judge(evidence(**GOOD | beyond)).rules
        if result.outcome in {"failed", "could not be checked"}
    }

    assert spoken == {rule.name for rule in RULES}


def test_every_rule_tells_what_it_found() -> None:
    rules = verdict.judge(evidence(**GOOD)).rules

    assert [result.rule for result in rules] == [rule.name for rule in RULES]
    assert {result.outcome for result in rules} == {"passed", "does not apply"}
    assert all(result.reason for result in rules if result.outcome == "does not apply")


MISSING = [
    ({"errors": None}, "how many requests failed"),
    ({"generator_wait_p99_ms": None}, "how long the load generator waited"),
    ({"generator_measured": False}, "what CPU the containers beside the approach used"),
    ({"backend_measured": False}, "what CPU the containers beside the approach used"),
    ({"little_ratio": None}, "throughput and latency"),
    (OPEN | {"offered_rps": 1000.0, "started_rps": None}, "how many requests were started a second"),
    (rate(1000) | {"start_lag_p99_ms": None}, "how late requests started"),
    (rate(1000) | {"dropped": None}, "how many requests were dropped"),
    ({"interior_s": None}, "requests one by one"),
    ({"waves": None}, "requests one by one"),
    ({"p50_ms": None}, "requests one by one"),
    ({"container_known": False}, "its state was not recorded"),
    ({"process_restarts": None}, "whether the process under test was started again"),
    ({"gc_share": None}, "what garbage collection took"),
    ({"backend_pool": None, "about_told": False}, "the size of the backend pool"),
    ({"platform_threads": None, "about_told": False}, "the size of the thread pool"),
    ({"generator_cpus_full": None}, "how busy the load generator's CPUs were"),
    ({"generator_thread_full": None}, "how busy the load generator's threads were"),
    ({"backend_cpus_full": None}, "how busy the backend's CPUs were"),
    ({"backend_loop_full": None}, "how busy the backend's event loops were"),
    ({"backend_lateness_mean_ms": None}, "how late the backend was"),
    ({"backend_lateness_p99_ms": None}, "how late the backend was"),
    ({"backend_delays": None}, "which delay the backend had"),
    ({"backend_delays": BackendDelays(before=None, after="300")}, "because it did not answer right before the run"),
    ({"foreign_share": None}, "how much of the approach's CPUs other programs took"),
    ({"clock_step_s": None, "host_sampled": False}, "whether the clock was set"),
    ({"steal_shares": None}, "how much CPU time the hypervisor took (steal)"),
    ({"syn_retransmits": None}, "how many connection attempts were repeated"),
    ({"connections_opened": None}, "how many connections the load generator opened"),
    ({"backend_requests_per_request": None}, "how many requests the backend answered"),
    ({"backend_connections_opened": None}, "how many connections to the backend were opened"),
    ({"warmup": None}, "its warm-up was not recorded"),
]


@pytest.mark.parametrize(("missing", "said"), MISSING)
def test_what_was_not_measured_is_not_passed(missing: dict[str, Any], said: str) -> None:
    got, reasons = judge(GOOD | missing)

    assert got == "suspect"
    assert len(reasons) == 1
    assert reasons[0].startswith("Not known: ")
    assert said in reasons[0]
