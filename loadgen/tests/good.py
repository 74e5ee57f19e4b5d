"""The figures of a run that every rule passes, and of others like it."""

from types import SimpleNamespace
from typing import Any

from loomlab.judge import rules as verdict
from loomlab.records.measured import BackendDelays, Measured
from loomlab.records.raw import Burst, Warmup

BURST = Burst(phase="settle", start=0, duration_s=5, wait_ms=900, requests=5000, errors=0, mean_latency_ms=950)
WARMUP = Warmup(cap_s=140, compiled=True, changing=None, failed=False, duration_s=90, compiling_s=50, bursts=[BURST])
NONE = """errors metrics_missing_ratio backend_metrics_missing_ratio throttled_ratio syn_retransmits
    process_restarts backend_connections_opened generator_cpus_full generator_thread_full backend_cpus_full
    backend_loop_full swapped_ratio"""
EACH = "requests counted_requests"
CONNECTIONS = "concurrency backend_pool platform_threads connections_opened"
GOOD: dict[str, Any] = {
    **dict.fromkeys(NONE.split(), 0), **dict.fromkeys(EACH.split(), 60_000), **dict.fromkeys(CONNECTIONS.split(), 1000),
    "shortest_ms": 900, "throughput_rps": 1050.0, "little_ratio": 1.0, "cpus_used": 0.5, "cpus_given": 1, "waves": 50.0,
    "p50_ms": 950, "mean_ms": 960, "p99_ms": 1200, "generator_wait_mean_ms": 0.1, "generator_wait_p99_ms": 0.2,
    "interior_s": 50, "evaluated_s": 50, "warmup": WARMUP.digest, "delay_asked": "300",
    "backend_delays": BackendDelays(before="300", after="300"), "gc_share": 0.02, "backend_requests_per_request": 3.0,
    "backend_lateness_mean_ms": 0.1, "backend_lateness_p99_ms": 0.5, "about_told": True, "foreign_cpu_share": 0.01,
    "clock_step_s": 0.01, "steal_shares": {"approach": 0.01, "backend": 0.0}, "stolen_of_needed": 0.02,
    "generators": 2, "generators_apart": 0.001,
}  # fmt: skip
OPEN: dict[str, Any] = {
    "closed_model": False, "little_ratio": None, "waves": None, "worst_start_lag_p99_ms": 0.2, "lagged_p99_ms": 1200,
    "dropped": 0,
}  # fmt: skip
LADDER = OPEN | {"held_steps": (500.0,), "missed_steps": (1000.0,)}


def judge(**figures: Any) -> SimpleNamespace:
    """The fields of a verdict on the good run, but for these figures."""
    return SimpleNamespace(**verdict.judge(Measured(**GOOD | figures)))


def warmup(**changes: Any) -> dict[str, Any]:
    return {"warmup": WARMUP.model_copy(update=changes).digest}


def rate(started_rps: float, **figures: Any) -> dict[str, Any]:
    return OPEN | {"offered_rps": 1000.0, "started_rps": started_rps} | figures


def lag(start_lag_p99_ms: float, p99_ms: float = 1200.0) -> dict[str, Any]:
    return {"worst_start_lag_p99_ms": start_lag_p99_ms, "lagged_p99_ms": p99_ms}


def fast(start_lag_p99_ms: float) -> dict[str, Any]:
    """Answers after 5 ms, 10 ms at p99."""
    latency = {"mean_ms": 5.0, "p99_ms": 10.0, "p50_ms": 5.0}
    waits = dict.fromkeys(("generator_wait_mean_ms", "generator_wait_p99_ms"), 0.0)
    late = dict.fromkeys(("backend_lateness_mean_ms", "backend_lateness_p99_ms"), 0.01)
    return lag(start_lag_p99_ms, 10.0) | latency | waits | late
