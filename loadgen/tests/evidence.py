"""Evidence from figures by one name each."""

from typing import Any

from loomlab.judge.evidence import Asked, BackendSide, Evidence, Generator, HostSide, Loaded, Told, UnderTest

CONCERNS = {
    "asked": Asked,
    "told": Told,
    "loaded": Loaded,
    "under_test": UnderTest,
    "backend": BackendSide,
    "generator": Generator,
    "host": HostSide,
}
PLACES: dict[str, tuple[str, str]] = {
    "concurrency": ("asked", "concurrency"),
    "backend_calls": ("asked", "backend_calls"),
    "at_once": ("asked", "at_once"),
    "closed_model": ("asked", "closed_model"),
    "steady": ("asked", "steady"),
    "tool": ("asked", "tool"),
    "offered_rps": ("asked", "offered_rps"),
    "finished": ("asked", "finished"),
    "shortest_ms": ("asked", "shortest_ms"),
    "delay_asked": ("asked", "delay"),
    "tool_failure": ("told", "failure"),
    "attempted": ("told", "attempted"),
    "errors": ("told", "errors"),
    "completed": ("told", "completed"),
    "dropped": ("told", "dropped"),
    "doubtful": ("told", "doubtful"),
    "keepalive_requests": ("told", "keepalive_requests"),
    "throughput_rps": ("loaded", "throughput_rps"),
    "started_rps": ("loaded", "started_rps"),
    "start_lag_p99_ms": ("loaded", "start_lag_p99_ms"),
    "lagged_p99_ms": ("loaded", "lagged_p99_ms"),
    "missed_steps": ("loaded", "missed_steps"),
    "held_steps": ("loaded", "held_steps"),
    "little_ratio": ("loaded", "little_ratio"),
    "rounding": ("loaded", "rounding"),
    "silent_end_s": ("loaded", "silent_end_s"),
    "silences_s": ("loaded", "silences_s"),
    "slow_ms": ("loaded", "slow_ms"),
    "p50_ms": ("loaded", "p50_ms"),
    "mean_ms": ("loaded", "mean_ms"),
    "p99_ms": ("loaded", "p99_ms"),
    "whole_run": ("loaded", "whole_run"),
    "interior_s": ("loaded", "interior_s"),
    "evaluated_s": ("loaded", "evaluated_s"),
    "waves": ("loaded", "waves"),
    "cpu_fall": ("loaded", "cpu_fall"),
    "latency_fall": ("loaded", "latency_fall"),
    "counted_requests": ("loaded", "requests"),
    "container_known": ("under_test", "known"),
    "container_failure": ("under_test", "failure"),
    "process_restarts": ("under_test", "process_restarts"),
    "oom_kills": ("under_test", "oom_kills"),
    "metrics_missing_ratio": ("under_test", "metrics_missing_ratio"),
    "gc_share": ("under_test", "gc_share"),
    "gc_cpu_share": ("under_test", "gc_cpu_share"),
    "throttled_ratio": ("under_test", "throttled_ratio"),
    "cpus_used": ("under_test", "cpus_used"),
    "cpus_given": ("under_test", "cpus_given"),
    "idle_share": ("under_test", "idle_share"),
    "jit_cpu_share": ("under_test", "jit_cpu_share"),
    "jit_cpu_fall": ("under_test", "jit_cpu_fall"),
    "jit_cores_fall": ("under_test", "jit_cores_fall"),
    "about_told": ("under_test", "told"),
    "backend_pool": ("under_test", "backend_pool"),
    "platform_threads": ("under_test", "platform_threads"),
    "backend_cpus_full": ("backend", "cpus_full"),
    "backend_quota_full": ("backend", "quota_full"),
    "backend_loop_full": ("backend", "loop_full"),
    "backend_lateness_mean_ms": ("backend", "lateness_mean_ms"),
    "backend_lateness_p99_ms": ("backend", "lateness_p99_ms"),
    "backend_delays": ("backend", "delays"),
    "backend_requests_per_request": ("backend", "requests_per_request"),
    "backend_connections_opened": ("backend", "connections_opened"),
    "generator_cpus_full": ("generator", "cpus_full"),
    "generator_thread_full": ("generator", "thread_full"),
    "generator_quota_full": ("generator", "quota_full"),
    "stolen_of_needed": ("host", "stolen_of_needed"),
    "foreign_share": ("host", "foreign_share"),
    "host_sampled": ("host", "sampled"),
    "clock_step_s": ("host", "clock_step_s"),
    "backend_metrics_missing_ratio": ("host", "backend_metrics_missing_ratio"),
    "steal_shares": ("host", "steal_shares"),
    "generator_measured": ("generator", "measured"),
    "waits_told": ("generator", "waits_told"),
    "backend_measured": ("backend", "measured"),
    "generator_wait_mean_ms": ("generator", "wait_mean_ms"),
    "generator_wait_p99_ms": ("generator", "wait_p99_ms"),
    "generator_throttled": ("generator", "throttled_ratio"),
    "backend_throttled": ("backend", "throttled_ratio"),
    "syn_retransmits": ("generator", "syn_retransmits"),
    "connections_opened": ("generator", "connections_opened"),
}


def evidence(**figures: Any) -> Evidence:
    """Of the figures that are named; the others are as they are by default."""
    parts: dict[str, dict[str, Any]] = {concern: {} for concern in CONCERNS}
    for name, value in figures.items():
        if name != "warmup":
            concern, field = PLACES[name]
            parts[concern][field] = value
    built = {concern: CONCERNS[concern](**fields) for concern, fields in parts.items()}
    return Evidence(**built, warmup=figures.get("warmup"))
