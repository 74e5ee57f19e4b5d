"""The records that are written to files. Times are epoch seconds unless they are named ISO; None: not measured."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AliasPath, AwareDatetime, BaseModel, Field

from loomlab.basics.errors import ParseError
from loomlab.basics.grouping import parse_cpu_list
from loomlab.records.capacity import Capacity, Search
from loomlab.records.contrasts import Contrast
from loomlab.records.files import Counter, Figure, Margin, Moment, Name, Record, checked
from loomlab.records.load import MOST, MOST_GENERATORS, Load
from loomlab.records.measured import Measured
from loomlab.records.raw import LiveBytes

Verdict = Literal["valid", "suspect", "invalid"]
RuleOutcome = Literal["passed", "failed", "does not apply", "could not be checked"]
StopReason = Literal["stall", "hard cap", "interrupt", "slice"]
NEVER = datetime.min.replace(tzinfo=UTC)
Cpus = Annotated[str, checked(parse_cpu_list)]  # a cpuset list
Port = Annotated[int, Field(ge=1, le=65535)]
PATH = r"/[!-~]{0,500}"
Path = Annotated[str, Field(pattern=f"^{PATH}$")]
Origin = Annotated[str, Field(pattern=r"^https?://[A-Za-z0-9.:\[\]-]+:[0-9]{1,5}$")]
Iso = Annotated[str, Field(pattern="T.+Z$"), checked(datetime.fromisoformat)]
MOST_NODES = 100  # of a swarm
MOST_APPROACHES = 100  # every two of which are compared


class Hang(Record):
    """For `duration_s`, from `at_s` after the start of the measured run, the backend answers nothing."""

    at_s: float = Field(ge=0, le=MOST)
    duration_s: float = Field(gt=0, le=MOST)


class Foreign(Record):
    """How a service of the user's is asked, which tells what it likes of itself."""

    port: Port
    ready: Path | None = Field(description="Answered 2xx when it is ready")
    origin: Origin | None = Field(None, description="Where it answers, if the lab does not run it")
    metrics_port: Port | None = None
    metrics: Path | None = Field(None, description="Of Prometheus' format")
    companions: list[Name] = Field(default_factory=list, description="Services that it depends on")


class Request(Record):
    tool: Name
    approach: Name
    side: Name | None = None  # of several services of the approach, which one: `twin`, or the letter of a comparison
    partner: Name | None = None  # that it is loaded in turn with; None: it is alone
    slices: int = Field(default=0, ge=0)  # of each side, if it has a partner
    load: Load
    generators: int = Field(default=1, ge=1, le=MOST_GENERATORS)  # that share it
    foreign: Foreign | None = None  # it is a service of the user's
    delay: str  # the backend's, as its variable has it; `none`: it is not asked
    pool_asked: bool = False  # the size of the pool of connections to the backend
    hangs: list[Hang] = Field(default_factory=list, max_length=100)
    scenario: str | None = None
    cell: Counter = Field(default=1, ge=1)  # number of the load
    search: Search | None = None  # for the capacity of the process, whose loads then are shares of it
    capacity_share: float | None = Field(default=None, gt=0, le=2)
    repeat: Counter = Field(ge=1)
    jdk: Counter | None
    gc: str | None
    http_client: str | None = None
    style: str | None = None
    generator_cpus: Cpus
    backend_cpus: Cpus
    approach_cpus: Cpus
    quota_cpus: int | None = Field(None, description="By a CFS quota that was asked for")
    monitoring_cpus: Cpus | None = None
    warmup_cap_s: float = Field(ge=0)
    start_s: Figure | None = None  # until the approach was ready
    waited_s: Figure = 0  # for the lab then
    fit_duration: bool = False  # it is left to the lab, which sets it after the warm-up; so are the requests:
    fit_requests: bool = False
    started: Moment = 0
    finished: bool = False  # the measurement came to its end

    @property
    def outside(self) -> bool:
        """Whether the lab does not run the service, and sees its answers alone."""
        return self.foreign is not None and self.foreign.origin is not None

    @property
    def name(self) -> str:
        """Of the service under test, and of its runs."""
        return f"{self.approach}-{self.side}" if self.side else self.approach

    @property
    def in_one_process(self) -> bool:
        """Whether the runs of its block are made together."""
        return self.partner is not None or self.capacity_share is not None

    @property
    def endpoint(self) -> str:
        return self.load.targets[0].target


class Answer(Record):
    """`headers` in their order, `kept`: the connection served another request; a chunked body is not read."""

    status: str
    headers: list[tuple[str, str]]
    body_bytes: int | None
    kept: bool


class Probe(Record):
    """raw/probe.json; `answers` by HTTP version, `error`: why one is missing."""

    target: str
    answers: dict[str, Answer] = Field(default_factory=dict)
    error: str | None = None


class ToolRun(Record):
    command: list[str]
    started: Moment
    ended: Moment
    exit_code: int
    stopped_by: StopReason | None = None
    killed: bool = False


class Container(BaseModel):
    """raw/container.json is an array of one (`docker inspect`)."""

    restart_count: int = Field(validation_alias="RestartCount")
    running: bool = Field(validation_alias=AliasPath("State", "Running"))
    oom_killed: bool | None = Field(None, validation_alias=AliasPath("State", "OOMKilled"))  # no swarm tells it
    exit_code: int | None = Field(None, validation_alias=AliasPath("State", "ExitCode"))
    started_at: AwareDatetime = Field(validation_alias=AliasPath("State", "StartedAt"))
    finished_at: AwareDatetime = Field(NEVER, validation_alias=AliasPath("State", "FinishedAt"))


class HostSample(Record):
    """Cumulative counters at one moment."""

    time: float
    monotonic: float | None = None  # of a clock that nobody sets
    cpus: dict[str, Annotated[list[Counter], Field(min_length=8, max_length=8)]]  # jiffies by CPU, as in /proc/stat
    tool_threads: dict[str, float]  # CPU seconds of each thread
    tool_waits: dict[str, tuple[float, Counter]] | None = None  # seconds ready without a CPU; how often it got one


class HostLog(Record):
    samples: list[HostSample]
    network_before: dict[str, Counter]  # of the load generator's own namespace
    network_after: dict[str, Counter]
    peaks_reset: bool = False  # the approach's high-water marks were reset when the run began
    boot_id: str | None = None  # another one after each start of the host


class Latency(Record):
    """In ms; `withheld`: why a percentile of that name is None."""

    min: Figure | None = None
    mean: Figure | None = None
    stdev: Figure | None = None
    p50: Figure | None = None
    p66: Figure | None = None
    p75: Figure | None = None
    p80: Figure | None = None
    p90: Figure | None = None
    p95: Figure | None = None
    p98: Figure | None = None
    p99: Figure | None = None
    p99_9: Figure | None = None
    max: Figure | None = None
    withheld: dict[str, str] = Field(default_factory=dict)


class Interior(Record):
    start: Figure
    seconds: Figure
    requests: Counter = Field(description="Answers counted; figures per request are of throughput × seconds")
    whole_run: bool = Field(description="Too short for an interior, so figures are of the whole run")


class SliceFigures(Record):
    started: Figure
    seconds: Figure
    requests: Counter = Field(description="Answered requests")
    cpu_ms_per_request: Figure | None = Field(description="By the process's own count, without compilers and idle use")
    mean_latency_ms: Figure | None = Field(description="Without the first and the last wave, as throughput")
    throughput_rps: Figure | None


class KindFigures(Record):
    """One of several kinds of request, of the interior."""

    request: str = Field(description="Method and path, as the file of requests has it")
    requests: Counter = Field(description="Answered requests")
    errors: Counter
    latency_ms: Latency


class Step(Record):
    """One step of an open-model run, without its first moments."""

    offered_rps: Figure
    started_rps: Figure
    throughput_rps: Figure
    errors: Counter
    latency_ms: Latency
    latency_from_start_ms: Latency | None = None
    start_lag_p99_ms: Figure | None = None
    cpu_ms_per_request: Figure | None = None
    start: Figure
    seconds: Figure
    held: bool
    missed: str | None = Field(None, description="Why the step did not hold")


class Episode(Record):
    start: Figure
    end: Figure
    before_p50_ms: Figure | None
    worst_ms: Figure | None
    recovery_s: Figure | None = Field(description="Until the medians of 3 s in a row were within 20 % of that before")


class Gc(Record):
    """The JVM's collector over the whole run; the length of ZGC's concurrent phases says nothing of their cost."""

    pause_seconds: Figure | None = None
    concurrent_seconds: Figure | None = Field(None, description="Length of concurrent phases, not in `share`")
    cpu_seconds: Figure | None = None
    share: Figure | None = Field(None, description="Of the run, in pauses")
    pauses: Counter | None = None
    longest_pause_ms: Figure | None = Field(None, description="Upper bound: the gauge decays and may show the warm-up")
    cpu_share: Figure | None = Field(None, description="Of the container's CPU time")


class RuleResult(Record):
    rule: str = Field(pattern="^[a-z0-9_]+$")
    outcome: RuleOutcome
    level: Literal["invalid", "suspect"] = Field(description="Verdict on a run that fails it")
    host_cause: bool = Field(False, description="Its cause is measured outside of the approach")
    reason: str | None = Field(None, description="A failure's sentence, why it does not apply, or what is missing")


class Run(Measured):
    """run.json, and one of summary.json's `runs`. A run of several rates has no throughput or latency of its own."""

    schema_: Literal["loom-lab/run/v1"] = Field("loom-lab/run/v1", alias="schema")
    run: Name
    approach: str = Field(min_length=1, description="Its name, or that of a side")
    twin_of: str | None = Field(None, description="The approach that a twin (`AA=1`) or a side of `compare` is")
    scenario: str | None = None
    cell: Counter = Field(1, description="Number of the load within the experiment")
    endpoint: str = Field(description="Path and query as requested; of several kinds of request, the first")
    load: Load = Field(description="Targets, connections, shape (`closed`, `open-rate`, `users`), time-out")
    rate: Figure | None = Field(description="The offered rate, if it is constant")
    repeat: Counter
    jdk: Counter | None = Field(description="null of a service of the user's, as `gc_name`")
    gc_name: str | None
    http_client: str | None = Field(None, description="As asked for (`default`: its own); event-driven: reactor-netty")
    style: str | None = Field(None, description="`lean` or `idiomatic`")
    delay: str = Field(description="The backend's, in the format of `DELAY`")
    failures: dict[str, Counter] = Field(default_factory=dict, description="Number of failed requests by reason")
    failed_latency_ms: Latency = Field(default_factory=Latency, description="Of failed requests; not in `latency_ms`")
    duration_s: Figure | None
    latency_ms: Latency = Field(description="From when a request was due")
    latency_from_start_ms: Latency | None = Field(None, description="Latency from its start; null under ab and hey")
    start_lag_p99_ms: Figure | None = Field(None, description="p99 of the lag between the two")
    cpu_seconds: Figure | None
    cpu_ms_per_request: Figure | None
    backend_cpu_ms_per_request: Figure | None
    database_cpu_ms_per_request: Figure | None = None
    generator_cpu_ms_per_request: Figure | None
    rss_max_bytes: Figure | None = Field(description="The highest sample, one a second; null under ZGC")
    rss_hwm_bytes: Figure | None = Field(None, description="High-water mark since the run's start, with mapped files")
    vsz_max_bytes: Figure | None
    live_bytes_per_request: LiveBytes = Field(default_factory=LiveBytes, description="Memory per in-flight request")
    live_requests: Counter | None = Field(None, description="How many requests waited then")
    allocated_bytes_per_request: Figure | None = Field(None, description="Heap allocation, without that of scrapes")
    threads_max: Figure | None = Field(description="The highest sample, one a second")
    gc: Gc
    jit_cpu_seconds: Figure | None = Field(None, description="CPU time of the JVM's compiler threads")
    virtual_threads_pinned: Counter | None = Field(None, description="Pins of more than 20 ms, as JFR counts them")
    response_bytes_per_request: Figure | None = Field(
        None, description="As the tool counts: with headers ab alone; vegeta 4 MiB of an answer at most"
    )
    capacity: Capacity | None = Field(
        None, description="What a search found; the other figures are of its trial at capacity"
    )
    slices: list[SliceFigures] = Field(default_factory=list, description="The slices that count; of a pair")
    kinds: list[KindFigures] = Field(default_factory=list, description="Where the load has several kinds of request")
    steps: list[Step] = Field(default_factory=list, description="The steps of a rate ladder")
    episodes: list[Episode] = Field(default_factory=list, description="Hangs of the backend")
    interior: Interior | None = Field(description="The part that figures are taken on")
    start_s: Figure | None = Field(None, description="Seconds until the approach was ready")
    waited_s: Figure = Field(0, description="After that, for monitoring, the backend or the verdict on the run before")
    started: Iso
    finished: Iso | None = Field(description="null: the measurement was interrupted")
    boot_id: str | None = Field(None, description="Changes each time the host boots")
    verdict: Verdict = "valid"
    reasons: list[str] = Field(default_factory=list, description="Sentences, those that invalidate first")
    notes: list[str] = Field(default_factory=list, description="Figures that are missing; the verdict is the same")
    rules: list[RuleResult] = Field(default_factory=list, description="Every rule of the verdict and what it found")
    raw_sha256: str | None = Field(None, description="Checksum of the raw files behind the figures")

    @property
    def is_side(self) -> bool:
        """Of `compare`."""
        return self.twin_of is not None and self.approach != f"{self.twin_of}-twin"

    @property
    def pair(self) -> tuple[str, ...]:
        return tuple(sorted((self.approach, self.partner))) if self.partner else ()


class ScaledScenario(Record):
    name: Name
    title: str
    question: str
    experiment: str | None = None  # where it was published; None: one of the lab's own
    run: str | None = None
    differs: list[str] = Field(default_factory=list)  # what of the publication is not followed
    scale: float


def check_approaches(runs: Sequence[Run]) -> None:
    """Raises ParseError where there are more approaches than any experiment has."""
    if (count := len({run.approach for run in runs})) > MOST_APPROACHES:
        fact = f"Its runs name {count} approaches, and an experiment has at most {MOST_APPROACHES}"
        raise ParseError(f"{fact}: move its folder out of results/.")


class NodeFacts(BaseModel):
    """Of a swarm, as its manager and the exporter on it tell it."""

    name: str
    role: str | None = None
    architecture: str | None = None
    nano_cpus: Counter | None = None
    memory_bytes: Counter | None = None
    engine: str | None = None
    kernel: str | None = None
    """None: its exporter did not answer."""
    cpu_model: str | None = None
    governor: str | None = None
    open_files: Counter | None = None
    threads: Counter | None = None
    """That its kernel lets a JVM have."""
    mtu: Counter | None = None
    clock_off_ms: Counter | None = None
    """Ahead of the manager's."""
    image_ids: str = ""


class EngineFacts(BaseModel, strict=True):
    """engine.json and environment.json, without what is only shown."""

    memory_bytes: Counter | None = None
    images: dict[str, str] = {}
    nodes: Annotated[list[NodeFacts], Field(max_length=MOST_NODES)] = []
    inherited: dict[str, str] = {}
    sizes: dict[str, Any] = {}
    notes: list[str] = []
    suspect: list[str] = []


class Summary(Record):
    schema_: Literal["loom-lab/summary/v1"] = Field("loom-lab/summary/v1", alias="schema")
    experiment: str
    started: str | None
    finished: str | None  # None: the experiment was interrupted
    notes: list[str]
    environment: Annotated[dict[str, Any], checked(EngineFacts.model_validate)]
    missing: list[str] = Field(default_factory=list)  # planned runs without a verdict
    scenario: ScaledScenario | None = None
    margin: Margin | None = None  # None: each figure has its own
    contrasts: list[Contrast] = Field(default_factory=list, max_length=MOST_APPROACHES**2 // 2)
    runs: Annotated[list[Run], checked(check_approaches)]
