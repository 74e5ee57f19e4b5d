"""The figures of a run: each is declared once, for all that shows it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean, geometric_mean

from loomlab.basics.format import fixed
from loomlab.records.models import Run
from loomlab.statistics.comparison import CAPACITY_RPS, CPU_PER_REQUEST, MEMORY_PER_REQUEST, ComparedFigure
from loomlab.statistics.comparison import P99 as P99_LATENCY


@dataclass(frozen=True)
class Exported:
    """The metric that Prometheus and the dashboards have; heading, unit and decimals are of the dashboards' table."""

    name: str  # below `lab_result_`
    heading: str
    unit: str
    scale: float = 1  # by what the figure is multiplied
    decimals: int | None = None


@dataclass(frozen=True)
class Figure:
    key: str  # names its column in table.csv, with the unit
    title: str
    unit: str
    meaning: str  # a line for docs and metrics
    read: Callable[[Run], float | None]
    compared: ComparedFigure | None = None  # how approaches are held against one another by it; None: they are not
    primary: bool = False  # its controlled contrasts are declared beforehand
    divisor: float = 1  # brings what run.json has to `unit`
    column: tuple[str, int | Callable[[Run], str]] | None = None
    """Of the table of runs: heading, and decimals or how a run's cell is written."""
    exported: Exported | None = None

    @property
    def by_difference(self) -> bool:
        """Whether it may be negative, so that approaches are compared by differences."""
        return self.compared is not None and self.compared.by_difference

    def of(self, run: Run) -> float | None:
        """In its unit; None where it was not measured."""
        value = self.read(run)
        return None if value is None else value / self.divisor

    def cell(self, run: Run) -> str:
        _, form = self.column or ("", 0)
        return fixed(self.of(run), form) if isinstance(form, int) else form(run)

    @property
    def label(self) -> str:
        return f"{self.title}, {self.unit}" if self.unit else self.title


def _without_margin(name: str, unit: str, percentile: float | None = None) -> ComparedFigure:
    return ComparedFigure(name, unit, None, "has", "lower", "higher", percentile=percentile)


def _live(part: str) -> Callable[[Run], float | None]:
    return lambda run: getattr(run.live_bytes_per_request, part)


def _with_database(run: Run) -> float | None:
    own, its = run.cpu_ms_per_request, run.database_cpu_ms_per_request
    return None if own is None or its is None else own + its


def _share_of_errors(run: Run) -> str:
    if not run.errors or not run.requests:
        return fixed(run.errors)
    share = 100 * run.errors / run.requests
    return f"{run.errors:,} ({share:.0f}%)" if share >= 10 else f"{run.errors:,} ({share:.2g}%)"


CPU = Figure(
    "cpu_ms_per_request", "CPU per request", "ms", "CPU time of the container per request, of the interior",
    lambda run: run.cpu_ms_per_request, CPU_PER_REQUEST, primary=True, column=("CPU ms", 3),
    exported=Exported("cpu_ms_per_request", "CPU per request", "ms", decimals=3),
)  # fmt: skip
CPU_WITH_DATABASE = Figure(
    "cpu_with_database_ms_per_request", "CPU per request with the database's", "ms",
    "CPU time of the approach and of the database per request, of the interior", _with_database,
    _without_margin("CPU per request with the database's", "ms"),
)  # fmt: skip
CAPACITY = Figure(
    "capacity_rps", "capacity", "requests/s", "the highest rate that a process held the objective at",
    lambda run: run.capacity.rps if run.capacity else None, CAPACITY_RPS, primary=True,
)  # fmt: skip
P50 = Figure(
    "p50_ms", "p50", "ms", "median latency, of the interior", lambda run: run.latency_ms.p50,
    _without_margin("p50 latency", "ms", 50), column=("p50 ms", 0),
)  # fmt: skip
P99 = Figure(
    "p99_ms", "p99", "ms", "p99 as the load generator saw it, of all requests that were due in the interior",
    lambda run: run.latency_ms.p99, P99_LATENCY, column=("p99 ms", 0),
    exported=Exported("latency_p99_seconds", "p99", "s", scale=0.001),
)  # fmt: skip
P99_9 = Figure(
    "p99_9_ms", "p99.9", "ms", "p99.9 latency, of the interior", lambda run: run.latency_ms.p99_9,
    _without_margin("p99.9 latency", "ms", 99.9),
)  # fmt: skip
REQUESTS = Figure("requests", "requests", "", "requests that were sent, of the whole run", lambda run: run.requests)
ERRORS = Figure(
    "errors", "errors", "", "requests that failed, of the whole run", lambda run: run.errors,
    column=("errors", _share_of_errors),
)  # fmt: skip
THROUGHPUT = Figure(
    "throughput_rps", "throughput", "requests/s", "answered requests a second, of the interior",
    lambda run: run.throughput_rps, _without_margin("throughput", "requests/s"), column=("req/s", 0),
    exported=Exported("throughput_rps", "req/s", "none", decimals=0),
)  # fmt: skip
THREADS = Figure(
    "threads_max", "threads", "", "largest sample of the container's threads", lambda run: run.threads_max,
    column=("threads", 0), exported=Exported("threads_max", "threads", "none", decimals=0),
)  # fmt: skip
RSS = Figure(
    "rss_max_mib", "RSS", "MiB", "largest sample of the container's RSS", lambda run: run.rss_max_bytes, divisor=2**20,
    column=("RSS MiB", 0), exported=Exported("rss_max_bytes", "RSS", "bytes", scale=2**20),
)  # fmt: skip
MEMORY = Figure(
    "live_kib_per_request", "memory per in-flight request", "KiB", "measured after the run, with requests that wait",
    _live("total"), MEMORY_PER_REQUEST, primary=True, divisor=2**10, column=("mem KiB", 0),
    exported=Exported("live_bytes_per_request", "memory per in-flight request", "bytes", scale=2**10),
)  # fmt: skip
PARTS = tuple(
    Figure(
        f"live_{part}_kib_per_request",
        f"{where} per in-flight request",
        "KiB",
        f"memory per in-flight request: {where} only",
        _live(part),
        divisor=2**10,
        exported=Exported(f"live_{part}_bytes_per_request", f"of which {where}", "bytes", scale=2**10),
    )
    for part, where in (("heap", "heap"), ("stacks_off_heap", "stacks and off-heap"), ("kernel", "kernel"))
)
ALLOCATED = Figure(
    "allocated_kib_per_request", "allocated per request", "KiB",
    "what a request allocates in the heap, of the interior",
    lambda run: run.allocated_bytes_per_request, divisor=2**10, column=("alloc KiB", 0),
    exported=Exported("allocated_bytes_per_request", "allocated per request", "bytes", scale=2**10),
)  # fmt: skip
GC = Figure(
    "gc_cpu_percent", "garbage collection", "%", "the collector's part of the approach's CPU time, of the whole run",
    lambda run: run.gc.cpu_share, divisor=0.01, column=("GC %", 1),
)  # fmt: skip
EVERY = (
    CAPACITY, THROUGHPUT, P50, P99, REQUESTS, ERRORS, P99_9, CPU, CPU_WITH_DATABASE, ALLOCATED, MEMORY, *PARTS, GC,
    RSS, THREADS,
)  # fmt: skip
FIGURES = (
    CAPACITY, CPU, CPU_WITH_DATABASE, MEMORY, P50, P99, P99_9, THROUGHPUT, REQUESTS, ERRORS, GC, RSS, THREADS,
)  # fmt: skip
"""The report's."""
SUMMED_UP = (CAPACITY, CPU, CPU_WITH_DATABASE, MEMORY, P99)  # those by which summary.json compares


def measured_figures(runs: Iterable[Run]) -> list[Figure]:
    """Those of the report that one of the runs has at least."""
    several = list(runs)
    return [figure for figure in FIGURES if any(figure.of(run) is not None for run in several)]


@dataclass(frozen=True)
class Spread:
    centre: float
    lowest: float
    highest: float
    count: int


def spread(figure: Figure, runs: Iterable[Run]) -> Spread | None:
    """The centre is the geometric mean, or the arithmetic one of what is compared by differences or is 0 somewhere."""
    values = [value for run in runs if (value := figure.of(run)) is not None]
    if not values:
        return None
    straight = figure.by_difference or min(values) <= 0
    centre = fmean(values) if straight else geometric_mean(values)
    return Spread(min(max(centre, min(values)), max(values)), min(values), max(values), len(values))
