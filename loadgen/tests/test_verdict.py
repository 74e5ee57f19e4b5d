"""Every rule of the verdict on both sides of its threshold."""

import re
from typing import Any

import pytest

from evidence import evidence
from loomlab.judge import verdict
from loomlab.judge.verdict import INVALID, SUSPECT
from loomlab.records.models import BackendDelays, Burst, Halves, Verdict, Warmup

BURST = Burst(
    phase="settle",
    start=0,
    duration_s=5,
    wait_ms=900,
    requests=5000,
    errors=0,
    throughput_rps=1000,
    mean_latency_ms=950,
)
GOOD: dict[str, Any] = {
    "concurrency": 1000,
    "attempted": 60_000,
    "completed": 60_000,
    "errors": 0,
    "metrics_missing_ratio": 0,
    "little_ratio": 1.0,
    "waves": 50.0,
    "p50_ms": 950,
    "mean_ms": 960,
    "p99_ms": 1200,
    "max_ms": 1500,
    "interior_s": 50,
    "keepalive_requests": 60_000,
    "backend_pool": 1000,
    "warmup": Warmup(
        cap_s=140, compiled=True, changing=None, failed=False, duration_s=90, compiling_s=50, bursts=[BURST]
    ),
    "delay_asked": "300",
    "backend_delays": BackendDelays(before="300", after="300"),
    "gc_share": 0.02,
    "throttled_ratio": 0.0,
    "syn_retransmits": 0,
    "platform_threads": 1000,
    "connections_opened": 1000,
    "backend_requests_per_request": 3.0,
    "counted_requests": 60_000,
    "backend_connections_opened": 0.0,
}


def judge(figures: dict[str, Any]) -> tuple[Verdict, list[str]]:
    return verdict.judge(evidence(**figures))


def warmup(**changes: Any) -> dict[str, Any]:
    return {"warmup": GOOD["warmup"].model_copy(update=changes)}


def rate(started_rps: float) -> dict[str, Any]:
    return {"offered_rps": 1000.0, "started_rps": started_rps}


def steps_500_1000() -> dict[str, Any]:
    return {"held_steps": (500.0,), "missed_steps": (1000.0,)}


CASES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("invalid", {}, {"finished": False}, "interrupted"),
    ("invalid", {}, {"tool_failure": "ab ended without a report."}, "without a report"),
    ("invalid", {"errors": 600}, {"errors": 601}, "1 % of the requests failed"),
    ("invalid", {"attempted": 1}, {"attempted": 0}, "No request"),
    ("invalid", {"errors": None}, {"attempted": None}, "No request"),
    ("invalid", {}, {"container_failure": "It was killed."}, "killed"),
    ("invalid", {"process_restarts": 0}, {"process_restarts": 1}, "started anew 1 times"),
    ("invalid", {"oom_kills": 0.0}, {"oom_kills": 1.0}, "for memory 1 times"),
    ("invalid", {"generator_cpus_full": 0.10}, {"generator_cpus_full": 0.11}, "load generator limited .* 11 %"),
    ("invalid", {"generator_thread_full": 0.10}, {"generator_thread_full": 0.11}, "busiest thread"),
    ("invalid", {"generator_quota_full": 0.10}, {"generator_quota_full": 0.11}, "load generator .* quota"),
    ("invalid", {"backend_cpus_full": 0.10}, {"backend_cpus_full": 0.11}, "backend limited"),
    ("invalid", {"backend_quota_full": 0.10}, {"backend_quota_full": 0.11}, "backend .* quota"),
    ("invalid", {"backend_loop_full": 0.10}, {"backend_loop_full": 0.11}, "event loop"),
    (
        "invalid",
        {"backend_lateness_mean_ms": 16.0},
        {"backend_lateness_mean_ms": 16.1},
        "16.1 ms late on average, in 3 calls up to 5.03 % of the mean latency of 960 ms .the limit is 5 %",
    ),
    (
        "invalid",
        {"backend_lateness_p99_ms": 40.0},
        {"backend_lateness_p99_ms": 40.4},
        "40.4 ms late at p99, in 3 calls up to 10.1 % of the p99 latency of 1,200 ms .the limit is 10 %",
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
        "kept its delay of 300 is unknown: it did not answer right after the run",
    ),
    ("invalid", {"little_ratio": 1.0499}, {"little_ratio": 1.051}, "Little's law"),
    ("invalid", {"little_ratio": 0.9501}, {"little_ratio": 0.949}, "Little's law"),
    ("invalid", rate(980), rate(979), "979.0 requests a second, 2.1 % fewer than the 1000.0 asked for"),
    ("invalid", rate(1020), rate(1021), "1021.0 requests a second, 2.1 % more than the 1000.0"),
    ("invalid", {"dropped": 0}, {"dropped": 1}, "ab dropped 1 requests"),
    ("invalid", {}, {"missed_steps": (500.0, 1000.0)}, "lowest offered rate, 500 requests a second"),
    ("invalid", {"metrics_missing_ratio": 0.1}, {"metrics_missing_ratio": 0.11}, "missing for 11 %"),
    ("invalid", {"silent_end_s": 5}, {"silent_end_s": 6}, "last 6 s .* 5.6 s"),
    ("suspect", {}, {"container_known": False}, "unknown"),
    ("suspect", {"gc_share": 0.20}, {"gc_share": 0.21}, "Garbage collection took 21 %"),
    ("suspect", {"gc_cpu_share": 0.20}, {"gc_cpu_share": 0.33}, "33 % of the approach's CPU time"),
    ("suspect", {}, {"gc_share": None}, "garbage collection took is unknown"),
    ("suspect", {"throttled_ratio": 0.05}, {"throttled_ratio": 0.06}, "throttled in 6 %"),
    ("suspect", {"syn_retransmits": 0}, {"syn_retransmits": 1}, "1 connection attempts"),
    ("suspect", {"interior_s": 15}, {"interior_s": 14}, "14 s only"),
    ("suspect", {}, {"interior_s": None, "whole_run": True}, "too short"),
    ("suspect", {"waves": 19.8}, {"waves": 19.7}, "19.7 waves"),
    ("suspect", {"held_steps": (500.0,)}, steps_500_1000(), "steps of 1000 requests a second did not hold"),
    (
        "suspect",
        {},
        warmup(compiled=False),
        "its cap of 140 s: there was no time for its first phase; use WARMUP_CAP=280s",
    ),
    ("suspect", {}, warmup(compiled=None), "Whether the compilers were at rest is unknown"),
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
    ("suspect", {"max_ms": 9500}, {"max_ms": 9501}, "Coordinated omission"),
    ("suspect", {"longest_silence_s": 9}, {"longest_silence_s": 10}, "stall of 10.0 s"),
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


def test_every_rule_has_a_case() -> None:
    spoken = {
        rule.__name__
        for _, _, beyond, _ in CASES
        for rule in (*INVALID, *SUSPECT)
        if rule(evidence(**GOOD | beyond)) is not None
    }

    assert spoken == {rule.__name__ for rule in (*INVALID, *SUSPECT)}


def test_below_twenty_waves_one_wave_is_the_limit_of_littles_law() -> None:
    assert judge(dict(GOOD, waves=10.0, little_ratio=1.09))[0] == "suspect"
    assert judge(dict(GOOD, waves=10.0, little_ratio=1.11))[0] == "invalid"


def test_what_was_not_measured_accuses_nobody_but_missing_metrics_do() -> None:
    unknown = {"concurrency": 10, "attempted": 100, "interior_s": 50, "gc_share": 0.0}

    assert judge(unknown) == (
        "invalid",
        ["Container metrics are missing for 100 % of the run (the limit is 10 %)."],
    )


def test_an_open_model_has_no_waves_and_no_omission() -> None:
    assert judge(dict(GOOD, closed_model=False, waves=3.0, max_ms=90_000)) == ("valid", [])


def test_a_backend_that_no_request_asks_says_nothing_unless_it_was_asked() -> None:
    unasked = dict(GOOD, backend_calls=0, delay_asked=None, backend_pool=5, backend_requests_per_request=0.0)

    assert judge(unasked) == ("valid", [])
    assert judge(dict(unasked, backend_requests_per_request=0.02)) == ("valid", [])
    assert "not 0" in judge(dict(unasked, backend_requests_per_request=0.021))[1][0]


def test_lateness_counts_by_what_it_adds_whatever_the_delay_is() -> None:
    slow: dict[str, Any] = {
        "mean_ms": 4000.0,
        "p99_ms": 9000.0,
        "backend_lateness_mean_ms": 20.0,
        "backend_lateness_p99_ms": 72.0,
    }

    assert judge(GOOD | slow) == ("valid", [])
    assert judge(dict(GOOD, **slow | {"mean_ms": 900.0, "p99_ms": 950.0}))[0] == "invalid"
    assert judge(dict(GOOD, backend_lateness_mean_ms=9.0, mean_ms=None, p99_ms=None)) == ("valid", [])


def test_lateness_of_one_call_counts_once() -> None:
    one_call = dict(GOOD, backend_calls=1, backend_requests_per_request=1.0)

    assert judge(dict(one_call, backend_lateness_mean_ms=48.0)) == ("valid", [])
    assert judge(dict(one_call, backend_lateness_mean_ms=48.1))[0] == "invalid"


def test_a_delay_that_no_request_depends_on_may_be_any() -> None:
    told = BackendDelays(before="7", after=None)

    assert judge(dict(GOOD, delay_asked=None, backend_delays=told)) == ("valid", [])
    assert judge(dict(GOOD, backend_delays=None)) == ("valid", [])


def test_a_fall_within_its_noise_is_none() -> None:
    assert judge(dict(GOOD, cpu_fall=Halves(fall=0.2, margin=0.21))) == ("valid", [])
    assert judge(dict(GOOD, cpu_fall=Halves(fall=-0.3, margin=0.01))) == ("valid", [])


def test_the_offered_rate_itself_is_not_missed() -> None:
    assert judge(GOOD | rate(1000)) == ("valid", [])
    assert judge(dict(GOOD, offered_rps=1000.0)) == ("valid", [])
    assert judge(dict(GOOD, started_rps=500.0)) == ("valid", [])


def test_errors_and_dropped_requests_of_steps_that_did_not_hold_do_not_count() -> None:
    beyond = dict(GOOD, **steps_500_1000(), errors=30_000, dropped=500)

    level, reasons = judge(beyond)

    assert (level, len(reasons)) == ("suspect", 1)
    assert "only the figures of the other steps count" in reasons[0]


def test_without_a_step_that_held_errors_count() -> None:
    level, reasons = judge(dict(GOOD, missed_steps=(250.0, 500.0), errors=30_000))

    assert level == "invalid"
    assert [reason.split()[0] for reason in reasons] == ["50", "Not"]


def test_a_load_that_changes_is_short_and_silent_by_its_nature() -> None:
    changing = dict(GOOD, steady=False, whole_run=True, interior_s=None, longest_silence_s=30)

    assert judge(changing) == ("valid", [])


def test_a_short_open_run_says_so() -> None:
    assert "too short" in judge(dict(GOOD, closed_model=False, whole_run=True, interior_s=None))[1][0]
