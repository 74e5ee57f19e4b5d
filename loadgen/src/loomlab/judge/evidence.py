"""What the verdict is found on, by concern. A figure that is None was not measured."""

from dataclasses import dataclass, field

from loomlab.records.models import BackendDelays, Halves, Warmup


@dataclass(frozen=True)
class Asked:
    """The load as it was asked for: one request makes `backend_calls`; `delay` is what the backend's should have been,
    None where no request depends on it; `steady`: the load is the same from beginning to end, and so is the backend;
    `finished`: the measurement came to its end."""

    concurrency: int
    backend_calls: int = 3
    closed_model: bool = True
    steady: bool = True
    tool: str = "ab"
    offered_rps: float | None = None
    delay: str | None = None
    finished: bool = True


@dataclass(frozen=True)
class Told:
    """By the tool of the whole run; `failure` is why it left no figures, or only some."""

    failure: str | None = None
    attempted: int | None = None
    errors: int | None = None
    completed: int | None = None
    dropped: int | None = None
    keepalive_requests: int | None = None


@dataclass(frozen=True)
class Loaded:
    """What requests show: on the interior, of `requests` answers, but for silences, `p50_ms` and `max_ms`, which are of
    the whole run; the steps are offered rates."""

    started_rps: float | None = None
    missed_steps: tuple[float, ...] = ()
    held_steps: tuple[float, ...] = ()
    little_ratio: float | None = None
    silent_end_s: int = 0
    longest_silence_s: int = 0
    p50_ms: float | None = None
    mean_ms: float | None = None
    p99_ms: float | None = None
    max_ms: float | None = None
    whole_run: bool = False
    interior_s: float | None = None
    waves: float | None = None
    requests: int | None = None
    cpu_fall: Halves | None = None
    latency_fall: Halves | None = None


@dataclass(frozen=True)
class UnderTest:
    """The container under test and its process; `known`: its state after the run was recorded."""

    known: bool = True
    failure: str | None = None
    process_restarts: int = 0
    oom_kills: float | None = None
    metrics_missing_ratio: float = 1.0
    gc_share: float | None = None
    gc_cpu_share: float | None = None
    throttled_ratio: float | None = None
    jit_cpu_share: float | None = None
    backend_pool: int | None = None
    platform_threads: int | None = None


@dataclass(frozen=True)
class BackendSide:
    """The `_full` figures are shares (0 to 1) of the seconds spent at the limit."""

    cpus_full: float | None = None
    quota_full: float | None = None
    loop_full: float | None = None
    lateness_mean_ms: float | None = None
    lateness_p99_ms: float | None = None
    delays: BackendDelays | None = None
    requests_per_request: float | None = None
    connections_opened: float | None = None


@dataclass(frozen=True)
class Generator:
    """As BackendSide; the counters are those of its network namespace."""

    cpus_full: float | None = None
    thread_full: float | None = None
    quota_full: float | None = None
    syn_retransmits: int | None = None
    connections_opened: int | None = None


@dataclass(frozen=True)
class Evidence:
    """What is known of a run."""

    asked: Asked
    told: Told = field(default_factory=Told)
    loaded: Loaded = field(default_factory=Loaded)
    under_test: UnderTest = field(default_factory=UnderTest)
    backend: BackendSide = field(default_factory=BackendSide)
    generator: Generator = field(default_factory=Generator)
    warmup: Warmup | None = None

    @property
    def cold(self) -> bool:
        """Nothing was sent before the run."""
        return self.warmup is not None and not self.warmup.bursts
