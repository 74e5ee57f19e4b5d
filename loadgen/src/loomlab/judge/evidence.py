"""What the verdict is found on. A figure that is None was not measured."""

from dataclasses import dataclass

from loomlab.records.models import BackendDelays, Halves, Warmup


@dataclass(frozen=True)
class Evidence:
    """What is known of a run; the `_full` figures are shares (0 to 1) of the seconds spent at the limit; one request
    makes `backend_calls`; `counted_requests` are those that `backend_requests_per_request` was taken on; `delay_asked`
    is what the backend's delay should have been, None where no request depends on it; `steady`: the load is the same
    from beginning to end, and so is the backend; the steps are offered rates; `cold`: nothing was sent before the
    run."""

    concurrency: int
    backend_calls: int = 3
    closed_model: bool = True
    steady: bool = True
    tool: str = "ab"
    offered_rps: float | None = None
    started_rps: float | None = None
    dropped: int | None = None
    missed_steps: tuple[float, ...] = ()
    held_steps: tuple[float, ...] = ()
    finished: bool = True
    tool_failure: str | None = None
    attempted: int | None = None
    errors: int | None = None
    container_known: bool = True
    container_failure: str | None = None
    process_restarts: int = 0
    oom_kills: float | None = None
    generator_cpus_full: float | None = None
    generator_thread_full: float | None = None
    generator_quota_full: float | None = None
    backend_cpus_full: float | None = None
    backend_quota_full: float | None = None
    backend_loop_full: float | None = None
    backend_lateness_mean_ms: float | None = None
    backend_lateness_p99_ms: float | None = None
    backend_delays: BackendDelays | None = None
    delay_asked: str | None = None
    little_ratio: float | None = None
    metrics_missing_ratio: float = 1.0
    silent_end_s: int = 0
    longest_silence_s: int = 0
    p50_ms: float | None = None
    mean_ms: float | None = None
    p99_ms: float | None = None
    max_ms: float | None = None
    gc_share: float | None = None
    gc_cpu_share: float | None = None
    throttled_ratio: float | None = None
    syn_retransmits: int | None = None
    whole_run: bool = False
    interior_s: float | None = None
    waves: float | None = None
    warmup: Warmup | None = None
    cpu_fall: Halves | None = None
    latency_fall: Halves | None = None
    jit_cpu_share: float | None = None
    cold: bool = False
    backend_pool: int | None = None
    platform_threads: int | None = None
    connections_opened: int | None = None
    backend_requests_per_request: float | None = None
    counted_requests: int | None = None
    backend_connections_opened: float | None = None
    keepalive_requests: int | None = None
    completed: int | None = None
