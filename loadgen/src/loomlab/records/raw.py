"""What a run did beside its load: warm-up, slices, memory held. Times are epoch seconds; None: not measured."""

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field
from pydantic.dataclasses import dataclass

from loomlab.records.files import Counter, Figure, Moment, Record, checked

BurstPhase = Literal["compile", "settle", "hold"]
ENOUGH_REQUESTS = 20_000
"""In the first phase of a warm-up: four times HotSpot's Tier4InvocationThreshold, for code that runs once a request."""
REST_CORES = 0.05
"""CPU that compilers take of one core once they are at rest: what trickles on was 0.01 to 0.04 in every approach."""


class Burst(Record):
    """One load of the warm-up, or the one that holds requests after the run."""

    phase: BurstPhase
    start: float
    duration_s: float
    wait_ms: int  # of a request, at least
    requests: int | None
    errors: int | None
    mean_latency_ms: float | None
    cpu_ms_per_request: float | None = None
    cpu_s: float | None = None  # of the process; of that its compilers
    jit_cpu_s: float | None = None
    compiling_s: float | None = None  # elapsed, where no compilers' CPU time is told
    rss_bytes: float | None = None  # after the burst

    @property
    def jit_cores(self) -> float:
        """CPU seconds a second that the compilers took, or at most took; infinite where it is not known."""
        took_s = self.compiling_s if self.jit_cpu_s is None else self.jit_cpu_s
        return math.inf if took_s is None or not self.duration_s else took_s / self.duration_s

    @property
    def request_cores(self) -> float:
        """CPU seconds a second of all but the compilers; infinite where it is not known."""
        if self.cpu_s is None or not self.duration_s:
            return math.inf
        return (self.cpu_s - (self.jit_cpu_s or 0)) / self.duration_s


class WarmupDigest(Record):
    bursts: int
    duration_s: float
    compiling_s: float = Field(description="Seconds of `duration_s` spent on the compilers' phase")
    capped: bool = Field(description="Its cap cut it short")
    failed: bool
    cap_s: float = 0
    compiled: bool | None = Field(True, description="The compilers finished; null: unknown")
    cause: str = Field("", description="What was not steady when the cap cut it short")


class Warmup(Record):
    cap_s: float
    compiled: bool | None  # the compilers came to rest; None: that could not be told
    changing: str | None  # what was not steady when time was up
    failed: bool  # its last burst had no answer
    duration_s: float
    compiling_s: float
    bursts: list[Burst]

    @property
    def digest(self) -> WarmupDigest:
        """`capped` before the approach was warm."""
        common = self.model_dump(exclude={"bursts", "changing"})
        cause = " and ".join(cause for cause in (self._busy_compilers(), self.changing) if cause)
        return WarmupDigest(**common, bursts=len(self.bursts), capped=bool(cause), cause=cause)

    def _busy_compilers(self) -> str | None:
        """Why they did not come to rest."""
        if self.compiled is not False:
            return None
        compiling = [burst for burst in self.bursts if burst.phase == "compile"]
        if not compiling:
            return "there was no time for its first phase"
        if (requests := sum(burst.requests or 0 for burst in compiling)) < ENOUGH_REQUESTS:
            return f"its first phase had {requests:,} of {ENOUGH_REQUESTS:,} requests after {self.compiling_s:.0f} s"
        if compiling[-1].jit_cores <= REST_CORES:
            return f"requests left the JIT compilers too little CPU even after {self.compiling_s:.0f} s"
        return f"the JIT compilers were still busy after {self.compiling_s:.0f} s"


class MemoryAnswer(Record):
    """What `POST /memory` answered, after a full collection; `error` says why there is no answer."""

    asked: float
    answered: float
    answer: dict[str, Any] | None = None
    error: str | None = None

    def figure(self, name: str) -> float | None:
        """None where the process did not tell it, or told no number."""
        value = (self.answer or {}).get(name)
        known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        return value if known else None


class Hold(Record):
    """The short load after the run: `connections` send one request each, which waits `wait_ms` at a time."""

    connections: int
    wait_ms: int
    started: float
    duration_s: float
    requests: int | None
    errors: int | None


class MemoryLog(Record):
    before: MemoryAnswer  # its first request
    loaded: MemoryAnswer | None = None  # after the run
    hold: Hold | None = None
    waiting: MemoryAnswer | None = None  # while requests did
    idle: MemoryAnswer | None = None  # after them
    error: str | None = None  # why there was no short load


class LiveBytes(Record):
    heap: Figure | None = None
    stacks_off_heap: Figure | None = None  # the threads' stacks, and other memory outside of the heap
    kernel: Figure | None = None

    @property
    def total(self) -> float | None:
        if self.heap is None or self.stacks_off_heap is None or self.kernel is None:
            return None
        return self.heap + self.stacks_off_heap + self.kernel


def platform_threads(about: Any) -> int | None:
    """The most worker threads, where they are platform threads."""
    threads = about_number(about, "inbound", "max_threads")
    return threads if threads is not None and about.get("concurrency") == "platform-threads" else None


def about_number(about: Any, part: str, name: str) -> int | None:
    """What an approach tells of itself in GET /about; None where it does not."""
    try:
        value = about[part][name]
    except (TypeError, KeyError):
        return None
    return value if isinstance(value, int) else None


class Slice(Record):
    """One load of a side, between two moments at which nothing was in flight; CPU is the processes' own count."""

    started: Moment
    ended: Moment
    requests: Counter
    cpu_s: float | None
    jit_cpu_s: float | None = Field(description="Of that the compilers'")
    idle_cpu_s: float | None = Field(description="That the idle partner took meanwhile, without its compilers")
    allocated_bytes: float | None
    threads_started: float | None = Field(description="Threads more after it than before it")


Slices = Annotated[list[Slice], Field(max_length=100)]


class SliceLog(Record):
    """raw/slices.json: those of a side that count, and of its partner; when the first began and the last ended."""

    partner: str
    started: Moment
    ended: Moment
    slices: Slices
    partners: Slices
    left_out: Slices = Field(default_factory=list, description="Of this side, before those that count")
    disturbed: Slices = Field(
        default_factory=list, description="Of this side, made again: the hypervisor took CPU time"
    )
    again: Counter = Field(default=0, description="Slices of both sides that were made again")


WithBound = checked(lambda labels: float(labels.get("le", 0)))
Finite = AfterValidator(lambda samples: tuple(one for one in samples if math.isfinite(sum(one))))


@dataclass(frozen=True)
class Series:
    """Of Prometheus' matrix results, without what is no number: epoch seconds and values."""

    labels: Annotated[dict[str, str], WithBound] = Field(validation_alias="metric")
    samples: Annotated[tuple[tuple[float, float], ...], Finite] = Field(validation_alias="values")


CPU_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""A CPU's columns in /proc/stat (proc_stat(5)); those beyond are guest time, which is in user already."""


class MetricsLog(BaseModel):
    """raw/metrics.json, of which more is kept than is read."""

    containers: list[Series] = []
    approach: list[Series] = []
    backend: list[Series] = []
    database: list[Series] = []
    nodes: list[Series] = []  # what the CPUs did of each node of a swarm
    clock_off_s: Moment = 0  # by so much the load generator's clock differed from that of the samples, at least
