"""What the verdict is found on, by concern. A figure that is None was not measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from loomlab.records.models import BackendDelays, Halves
from loomlab.records.warmup import Warmup


@dataclass(frozen=True)
class Asked:
    """The load as it was asked for: one request makes `backend_calls`, the last `at_once` of them at the same time;
    `delay` is what the backend's should have been, None where no request depends on it; `steady`: the load is the same
    from beginning to end, and so is the backend; `finished`: the measurement came to its end; a correct answer takes
    `shortest_ms` at least, on average over the kinds of request. `think_s`: the longest pause of users who come and go,
    None where there are none, or the backend hangs; `tells_unended`: the tool tells of requests that never ended."""

    concurrency: int
    backend_calls: int = 3
    at_once: int = 1
    closed_model: bool = True
    steady: bool = True
    tool: str = "ab"
    tells_unended: bool = False
    offered_rps: float | None = None
    delay: str | None = None
    finished: bool = True
    shortest_ms: float = 0
    think_s: float | None = None


@dataclass(frozen=True)
class Told:
    """By the tool of the whole run; `failure` is why it left no figures, or only some; of its answers so many as are
    `doubtful` may have failed, too."""

    failure: str | None = None
    attempted: int | None = None
    errors: int | None = None
    doubtful: int = 0
    completed: int | None = None
    dropped: int | None = None
    keepalive_requests: int | None = None


@dataclass(frozen=True)
class Loaded:
    """What requests show: on the interior, of `requests` answers, but for the silence at the end and `p50_ms`, which
    are of the whole run; `slow_ms` is what answers and failures took that lasted several p50; the steps are offered
    rates; starts lag behind their schedule, of several rates in the step that held and lags most by its own
    `lagged_p99_ms` of latency; p99 is that of answers; the tool's rounding may move mean latency by a share."""

    throughput_rps: float | None = None
    started_rps: float | None = None
    start_lag_p99_ms: float | None = None
    lagged_p99_ms: float | None = None
    missed_steps: tuple[float, ...] = ()
    missed_because: tuple[str, ...] = ()
    held_steps: tuple[float, ...] = ()
    little_ratio: float | None = None
    rounding: float = 0.0
    silent_end_s: int = 0
    silences_s: tuple[int, ...] = ()
    slow_ms: tuple[float, ...] = ()
    p50_ms: float | None = None
    mean_ms: float | None = None
    p99_ms: float | None = None
    whole_run: bool = False
    interior_s: float | None = None
    evaluated_s: float | None = None
    waves: float | None = None
    requests: float | None = None
    cpu_fall: Halves | None = None
    latency_fall: Halves | None = None


@dataclass(frozen=True)
class UnderTest:
    """The container under test and its process; `known`: its state after the run was recorded; `told`: it told its
    configuration, in which what has no limit has no figure; `cpus_used` of the `cpus_given` by its set and its quota is
    a mean over the interior; `idle_share` is of its CPUs, on the interior, and None
    where a quota limits it. The `jit_` falls are how much less compilers took in the second half of the interior than
    in the first, as a share of the approach's CPU and in CPUs."""

    known: bool = True
    failure: str | None = None
    process_restarts: int | None = None
    oom_kills: float | None = None
    metrics_missing_ratio: float = 1.0
    gc_share: float | None = None
    gc_cpu_share: float | None = None
    throttled_ratio: float | None = None
    cpus_used: float | None = None
    cpus_given: float | None = None
    idle_share: float | None = None
    jit_cpu_share: float | None = None
    jit_cpu_fall: float | None = None
    jit_cores_fall: float | None = None
    told: bool = False
    backend_pool: int | None = None
    platform_threads: int | None = None


@dataclass(frozen=True)
class BackendSide:
    """The `_full` figures are shares (0 to 1) of the seconds spent at the limit. `measured`: the container's CPU was
    recorded, so that what has no figure has no quota."""

    measured: bool = True

    cpus_full: float | None = None
    quota_full: float | None = None
    throttled_ratio: float | None = None
    loop_full: float | None = None
    lateness_mean_ms: float | None = None
    lateness_p99_ms: float | None = None
    delays: BackendDelays | None = None
    requests_per_request: float | None = None
    connections_opened: float | None = None


@dataclass(frozen=True)
class Generator:
    """As BackendSide; the counters are those of its network namespace; `wait_` is how long its threads were ready and
    had no CPU, each time, on the interior, where the kernel tells (`waits_told`)."""

    measured: bool = True
    waits_told: bool = True
    wait_mean_ms: float | None = None
    wait_p99_ms: float | None = None
    throttled_ratio: float | None = None

    cpus_full: float | None = None
    thread_full: float | None = None
    quota_full: float | None = None
    syn_retransmits: int | None = None
    connections_opened: int | None = None


@dataclass(frozen=True)
class HostSide:
    """Shares (0 to 1) of the time of CPU sets, on the interior: what others than the lab took of the approach's, and
    what the hypervisor took, by whose set it is; `stolen_of_needed` is its share of the time in which the approach's
    CPUs were busy or should have been. `clock_step_s`: how far the clock was set during the run; `sampled`: there are
    samples of the host; `backend_metrics_missing_ratio` is of a container that no approach can end."""

    sampled: bool = True
    backend_metrics_missing_ratio: float = 1.0
    foreign_share: float | None = None
    clock_step_s: float | None = None
    steal_shares: Mapping[str, float] | None = None
    stolen_of_needed: float | None = None


@dataclass(frozen=True)
class Evidence:
    """What is known of a run."""

    asked: Asked
    told: Told = field(default_factory=Told)
    loaded: Loaded = field(default_factory=Loaded)
    under_test: UnderTest = field(default_factory=UnderTest)
    backend: BackendSide = field(default_factory=BackendSide)
    generator: Generator = field(default_factory=Generator)
    host: HostSide = field(default_factory=HostSide)
    warmup: Warmup | None = None

    @property
    def in_flight(self) -> float:
        """Requests at once: the connections of a closed load; of an open one, by Little's law, what its rate keeps."""
        loaded = self.loaded
        if self.asked.closed_model or not self.asked.offered_rps or not loaded.mean_ms:
            return self.asked.concurrency
        return min(self.asked.offered_rps * loaded.mean_ms / 1000, self.asked.concurrency)

    @property
    def monitoring_missing_ratio(self) -> float:
        return min(self.under_test.metrics_missing_ratio, self.host.backend_metrics_missing_ratio)

    @property
    def cold(self) -> bool:
        """Nothing was sent before the run."""
        return self.warmup is not None and not self.warmup.bursts
