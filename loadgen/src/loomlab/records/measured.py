"""What was measured of a run and its verdict is given on."""

from typing import Literal, get_args

from pydantic import Field

from loomlab.records.files import Counter, Figure, Name, Record
from loomlab.records.load import MOST_STEPS
from loomlab.records.raw import WarmupDigest

MOST_SILENCES = 100  # the longest
Sight = Literal["answers", "container", "jvm", "lab"]
SIGHTS: tuple[Sight, ...] = get_args(Sight)
"""What can be seen of a service, each with what is before it: its answers; its container; a JVM's figures; all that the
lab's own services tell."""


class Halves(Record):
    """How the interior's second half differs from its first, by a straight line through its parts."""

    fall: Figure = Field(description="The share by which the second half was lower (negative: it grew)")
    margin: Figure = Field(description="By how much chance may have exaggerated it (95 %, one-sided)")
    peak: Figure = Field(0.0, description="How far the highest part was above the median of all, as a share of it")


class Slow(Record):
    requests: Counter
    longest_ms: Figure
    omitted: Figure = Field(description="Requests that would have been sent meanwhile")


class BackendDelays(Record):
    """raw/backend.json: the backend's delay right before and after the measured run; None where it did not answer."""

    before: str | None
    after: str | None


class Measured(Record):
    """A flat record, which rules read; None: not measured; figures are of the interior unless their text tells."""

    concurrency: Counter = Field(description="Connections")
    backend_calls: Counter = Field(3, description="Calls per request")
    at_once: Counter = Field(1, description="The last calls of a request that run concurrently")
    database: bool = Field(False, description="Requests ask the database")
    quota_cpus: Counter | None = Field(None, description="CPUs of the approach, by a CFS quota that was asked for")
    pool_asked: bool = Field(False, description="The size of the backend pool was asked for")
    capacity_share: Figure | None = Field(None, description="Of the rate that the process was found to hold")
    sight: Sight = Field(
        "lab", description="How much of the service is seen: `answers`, its `container`, a `jvm`'s figures, `lab`: all"
    )
    closed_model: bool = True
    steady: bool = Field(True, description="Load and backend do not change during the run")
    tool: str = "ab"
    tells_unended: bool = Field(False, description="The tool reports requests that never ended")
    offered_rps: Figure | None = None
    delay_asked: str | None = Field(None, description="The backend's delay; null if no request depends on it")
    interrupted: bool = Field(False, description="The measurement was interrupted")
    shortest_ms: Figure = Field(0, description="Shortest possible answer, averaged over kinds of request")
    think_s: Figure | None = Field(None, description="Users' longest pause")
    backend_hangs: bool = Field(False, description="The backend was told to hang for a while")
    tool_failure: str | None = Field(None, description="Why the tool left no figures, or only some")
    requests: Counter | None = Field(None, description="Requests of the whole run, as the tool counts them")
    errors: Counter | None = None
    doubtful: Counter = Field(0, description="Answers that may have failed as well")
    dropped: Counter | None = None
    keepalive_requests: Counter | None = None
    throughput_rps: Figure | None = None
    started_rps: Figure | None = None
    worst_start_lag_p99_ms: Figure | None = Field(None, description="Of several rates, the largest of those that held")
    lagged_p99_ms: Figure | None = Field(None, description="p99 latency of the requests whose starts lag most")
    missed_steps: tuple[Figure, ...] = Field(
        (), max_length=MOST_STEPS, description="Offered rates, requests per second"
    )
    missed_because: tuple[str, ...] = Field((), max_length=MOST_STEPS)
    held_steps: tuple[Figure, ...] = Field((), max_length=MOST_STEPS)
    little_ratio: Figure | None = Field(None, description="Throughput x mean latency / connections")
    rounding: Figure = Field(0, description="Share by which the tool's rounding can shift mean latency")
    silent_end_s: Counter = Field(0, description="Seconds without an answer at the end of the run")
    silences_s: tuple[Counter, ...] = Field((), max_length=MOST_SILENCES)
    slow: Slow | None = Field(None, description="Waits of several times the p50, failures included")
    p50_ms: Figure | None = Field(None, description="p50 of the whole run")
    mean_ms: Figure | None = None
    p99_ms: Figure | None = Field(None, description="p99 of the answers")
    whole_run: bool = Field(False, description="The run was too short for an interior")
    interior_s: Figure | None = None
    evaluated_s: Figure | None = None
    waves: Figure | None = Field(None, description="Length of the interior, in mean latencies")
    counted_requests: Figure | None = Field(None, description="Answers that the per-request figures are divided by")
    cpu_fall: Halves | None = None
    latency_fall: Halves | None = None
    partner: Name | None = Field(None, description="The other approach of the pair")
    partner_cpus: Figure | None = Field(None, description="CPU of the idle partner, without its compilers")
    threads_started: Figure | None = Field(None, description="Threads that a slice added (median)")
    ratio_shift: Figure | None = Field(None, description="Growth of ln(CPU per request ÷ partner's), from half to half")
    container_known: bool = Field(True, description="The container's state after the run was recorded")
    container_failure: str | None = None
    process_restarts: Counter | None = None
    swapped_ratio: Figure | None = Field(None, description="Memory of the process in swap ÷ its RSS, highest of each")
    metrics_missing_ratio: Figure = 1.0
    gc_share: Figure | None = Field(None, description="Of the run, in pauses")
    gc_cpu_share: Figure | None = Field(None, description="Of the approach's CPU time")
    throttled_ratio: Figure | None = Field(None, description="Throttled share of the approach's CPU quota periods")
    cpus_used: Figure | None = None
    cpus_given: Figure | None = Field(None, description="CPUs of the approach, by its set and its quota")
    idle_share: Figure | None = Field(None, description="Idle share of the approach's CPUs; null under a quota")
    jit_cpu_share: Figure | None = Field(None, description="The JIT compilers' share of the approach's CPU time")
    jit_cpu_fall: Figure | None = Field(None, description="Fall of the compilers' part from half to half, of all CPU")
    jit_cores_fall: Figure | None = Field(None, description="The same in CPUs")
    about_told: bool = Field(False, description="The approach reported its configuration")
    other_approach: str | None = Field(None, description="What the approach calls itself, if not as it was asked for")
    backend_pool: Counter | None = None
    database_pool: Counter | None = None
    platform_threads: Counter | None = None
    limit: Counter | None = Field(None, description="Requests that are served at once, where threads do not bound them")
    backend_measured: bool = Field(True, description="Its CPU was recorded, so a missing value means no quota")
    backend_cpus_full: Figure | None = Field(None, description="Share of seconds with all CPUs of its set busy")
    backend_throttled: Figure | None = None
    backend_loop_full: Figure | None = Field(None, description="The same for its busiest event loop")
    backend_lateness_mean_ms: Figure | None = None
    backend_lateness_p99_ms: Figure | None = None
    backend_delays: BackendDelays | None = None
    backend_requests_per_request: Figure | None = None
    backend_connections_opened: Counter | None = None
    database_measured: bool = Field(True, description="As the backend's, like the two below")
    database_cpus_full: Figure | None = None
    database_throttled: Figure | None = None
    database_connections: Figure | None = Field(None, description="The most at once, the exporter's own among them")
    database_most_connections: Figure | None = Field(None, description="That the database takes")
    database_checkpoints: Counter | None = Field(None, description="Begun in the interior")
    generators: Counter = Field(1, description="Load generators that shared the load")
    generators_apart: Figure | None = Field(None, description="Time between their starts ÷ length of the load")
    generator_measured: bool = True
    waits_told: bool = Field(True, description="The kernel reports how long threads wait for a CPU")
    generator_wait_mean_ms: Figure | None = Field(None, description="How long its ready threads waited for a CPU")
    generator_wait_p99_ms: Figure | None = None
    generator_throttled: Figure | None = None
    generator_cpus_full: Figure | None = None
    generator_thread_full: Figure | None = None
    syn_retransmits: Counter | None = None
    connections_opened: Counter | None = None
    lab_connections: Counter = Field(3, description="The lab's own connections among them")
    host_sampled: bool = True
    backend_metrics_missing_ratio: Figure = Field(1.0, description="Share of the run without the backend's metrics")
    foreign_cpu_share: Figure | None = Field(
        None, description="Share of the approach's CPUs that other programs took; seen by `answers`, of the generator's"
    )
    clock_step_s: Figure | None = Field(None, description="How far the clock was set during the run")
    steal_shares: dict[str, Figure] | None = Field(None, description="Share that the hypervisor took, by part")
    stolen_of_needed: Figure | None = Field(None, description="The same, of the time the approach needed its CPUs")
    warmup: WarmupDigest | None = None

    @property
    def in_flight(self) -> float:
        """Requests at once: the connections of a closed load; of an open one, by Little's law, what its rate keeps."""
        if self.closed_model or not self.offered_rps or not self.mean_ms:
            return self.concurrency
        return min(self.offered_rps * self.mean_ms / 1000, self.concurrency)

    @property
    def queued(self) -> float | None:
        """Requests in flight beyond what its pools serve at once, so that they wait for a thread, a permit or a
        connection; None where no pool is so small."""
        pool = self.backend_pool // self.at_once if self.backend_pool and self.backend_calls else None
        bounds = [bound for bound in (pool, self.database_pool, self.platform_threads, self.limit) if bound]
        waiting = self.in_flight - min(bounds) if bounds and not self.think_s else 0.0
        return waiting if waiting > 0 else None

    @property
    def foreign(self) -> bool:
        """Whether the service is the user's own."""
        return self.sight != "lab"

    @property
    def monitoring_missing_ratio(self) -> float:
        """The share of the run for which neither approach nor backend has container metrics."""
        return min(self.metrics_missing_ratio, self.backend_metrics_missing_ratio)

    @property
    def cold(self) -> bool:
        return self.warmup is not None and not self.warmup.bursts
