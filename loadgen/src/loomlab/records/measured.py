"""What was measured of a run and its verdict is given on."""

from pydantic import Field

from loomlab.records.files import Name, Record
from loomlab.records.raw import WarmupDigest


class Halves(Record):
    """How the interior's second half differs from its first, by a straight line through its parts."""

    fall: float = Field(description="The share by which the second half was lower (negative: it grew)")
    margin: float = Field(description="By how much chance may have exaggerated it (95 %, one-sided)")
    peak: float = Field(0.0, description="How far the highest part was above the median of all, as a share of it")


class BackendDelays(Record):
    """raw/backend.json: the backend's delay right before and after the measured run; None where it did not answer."""

    before: str | None
    after: str | None


class Measured(Record):
    """A flat record, which rules read; None: not measured; figures are of the interior unless their text tells."""

    concurrency: int = Field(description="Connections")
    backend_calls: int = Field(3, description="Calls of one request")
    at_once: int = Field(1, description="The last calls of a request, made at the same time")
    closed_model: bool = True
    steady: bool = Field(True, description="Load and backend are the same from beginning to end")
    tool: str = "ab"
    tells_unended: bool = Field(False, description="The tool reports requests that never ended")
    offered_rps: float | None = None
    delay_asked: str | None = Field(None, description="The backend's delay; None where no request depends on it")
    interrupted: bool = Field(False, description="The measurement was interrupted")
    shortest_ms: float = Field(0, description="A correct answer takes so long at least, on average over kinds")
    think_s: float | None = Field(None, description="The longest pause of users")
    backend_hangs: bool = Field(False, description="It was to answer nothing for a while")
    tool_failure: str | None = Field(None, description="Why the tool left no figures, or only some")
    requests: int | None = Field(None, description="Of the whole run, by the tool")
    errors: int | None = None
    doubtful: int = Field(0, description="Answers that may have failed, too")
    completed: int | None = None
    dropped: int | None = None
    keepalive_requests: int | None = None
    throughput_rps: float | None = None
    started_rps: float | None = None
    worst_start_lag_p99_ms: float | None = Field(None, description="Of several rates, the largest of those that held")
    lagged_p99_ms: float | None = Field(None, description="p99 of the answers whose starts lag so")
    missed_steps: tuple[float, ...] = Field((), description="Offered rates, requests per second")
    missed_because: tuple[str, ...] = ()
    held_steps: tuple[float, ...] = ()
    little_ratio: float | None = Field(None, description="Throughput x mean latency / connections")
    rounding: float = Field(0, description="By this share the tool's rounding may move mean latency")
    silent_end_s: int = Field(0, description="Without an answer at the end of the run")
    silences_s: tuple[int, ...] = ()
    slow_ms: tuple[float, ...] = Field((), description="What answers and failures took that lasted several p50")
    p50_ms: float | None = Field(None, description="Of the whole run")
    mean_ms: float | None = None
    p99_ms: float | None = Field(None, description="Of answers")
    whole_run: bool = Field(False, description="Too short for an interior")
    interior_s: float | None = None
    evaluated_s: float | None = None
    waves: float | None = Field(None, description="The interior in mean latencies")
    counted_requests: float | None = Field(None, description="Answers that figures per request are of")
    cpu_fall: Halves | None = None
    latency_fall: Halves | None = None
    partner: Name | None = Field(None, description="The approach that it was loaded in turn with")
    partner_cpus: float | None = Field(None, description="CPUs that the idle partner used, without its compilers")
    threads_started: float | None = Field(None, description="Threads that a slice added, the median")
    ratio_shift: float | None = Field(None, description="Growth of ln(CPU per request ÷ partner's), from half to half")
    container_known: bool = Field(True, description="The container's state after the run was recorded")
    container_failure: str | None = None
    process_restarts: int | None = None
    oom_kills: float | None = None
    metrics_missing_ratio: float = 1.0
    gc_share: float | None = Field(None, description="Of the run, in pauses")
    gc_cpu_share: float | None = Field(None, description="Of the approach's CPU time")
    throttled_ratio: float | None = Field(None, description="Periods of the approach's CPU quota")
    cpus_used: float | None = None
    cpus_given: float | None = Field(None, description="By set and quota")
    idle_share: float | None = Field(None, description="Of the approach's CPUs; None where a quota limits it")
    jit_cpu_share: float | None = Field(None, description="Of the approach's CPU time, by compilers")
    jit_cpu_fall: float | None = Field(None, description="By which that fell from half to half, a share of all CPU")
    jit_cores_fall: float | None = Field(None, description="The same in CPUs")
    about_told: bool = Field(False, description="The approach reported its configuration")
    backend_pool: int | None = None
    platform_threads: int | None = None
    backend_measured: bool = Field(True, description="Its CPU was recorded, so no figure means no quota")
    backend_cpus_full: float | None = Field(None, description="Seconds in which all CPUs of its set were full")
    backend_quota_full: float | None = None
    backend_throttled: float | None = None
    backend_loop_full: float | None = Field(None, description="Of its busiest event loop")
    backend_lateness_mean_ms: float | None = None
    backend_lateness_p99_ms: float | None = None
    backend_delays: BackendDelays | None = None
    backend_requests_per_request: float | None = None
    backend_connections_opened: int | None = None
    generator_measured: bool = True
    waits_told: bool = Field(True, description="The kernel reports how long threads wait for a CPU")
    generator_wait_mean_ms: float | None = Field(None, description="Of its threads, ready and without a CPU")
    generator_wait_p99_ms: float | None = None
    generator_throttled: float | None = None
    generator_cpus_full: float | None = None
    generator_thread_full: float | None = None
    generator_quota_full: float | None = None
    syn_retransmits: int | None = None
    connections_opened: int | None = None
    lab_connections: int = Field(3, description="Of those the lab's own")
    host_sampled: bool = True
    backend_metrics_missing_ratio: float = Field(1.0, description="Of a container that no approach can end")
    foreign_cpu_share: float | None = Field(None, description="Others than the lab took of the approach's CPUs")
    clock_step_s: float | None = Field(None, description="How far the clock was set during the run")
    steal_shares: dict[str, float] | None = Field(None, description="What the hypervisor took, by whose CPUs")
    stolen_of_needed: float | None = Field(None, description="Of the time in which the approach needed its CPUs")
    warmup: WarmupDigest | None = None

    @property
    def in_flight(self) -> float:
        """Requests at once: the connections of a closed load; of an open one, by Little's law, what its rate keeps."""
        if self.closed_model or not self.offered_rps or not self.mean_ms:
            return self.concurrency
        return min(self.offered_rps * self.mean_ms / 1000, self.concurrency)

    @property
    def monitoring_missing_ratio(self) -> float:
        """The share of the run for which neither approach nor backend has container metrics."""
        return min(self.metrics_missing_ratio, self.backend_metrics_missing_ratio)

    @property
    def cold(self) -> bool:
        return self.warmup is not None and not self.warmup.bursts
