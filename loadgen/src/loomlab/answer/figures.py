"""The figures of a run: each is declared once, and how they are written."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean, geometric_mean

from loomlab.records.models import Run
from loomlab.statistics.comparison import CPU_PER_REQUEST
from loomlab.statistics.comparison import P99 as P99_LATENCY
from loomlab.statistics.comparison import Figure as Compared

UNKNOWN = "–"
MOST_DECIMALS = 8
"""Of a ratio; what is nearer to 1 is 1."""


@dataclass(frozen=True)
class Column:
    """Where the table on the screen and in summary.md has a figure: its heading, and its decimals."""

    heading: str
    decimals: int


@dataclass(frozen=True)
class Exported:
    """The metric that Prometheus and the dashboards have: its name below `lab_result_`, by what the figure is
    multiplied, and its heading, unit and decimals in the dashboards' table of runs."""

    name: str
    heading: str
    unit: str
    scale: float = 1
    decimals: int | None = None


@dataclass(frozen=True)
class Figure:
    """A figure of a run, declared once for all that shows it. `key` names its column in table.csv, with the unit;
    `meaning` is a line for docs and metrics; `compared`: how approaches are held against one another by it, None: they
    are not; `primary`: what an experiment is made for; `divisor` brings what run.json has to `unit`; `reported`: the
    report's tables have it."""

    key: str
    title: str
    unit: str
    meaning: str
    read: Callable[[Run], float | None]
    compared: Compared | None = None
    primary: bool = False
    divisor: float = 1
    reported: bool = True
    column: Column | None = None
    exported: Exported | None = None

    @property
    def by_difference(self) -> bool:
        """Whether it may be negative, so that approaches are compared by differences."""
        return self.compared is not None and self.compared.unit is not None

    def of(self, run: Run) -> float | None:
        """In its unit; None where it was not measured."""
        value = self.read(run)
        return None if value is None else value / self.divisor

    @property
    def label(self) -> str:
        """The title with the unit."""
        return f"{self.title}, {self.unit}" if self.unit else self.title


def _less(name: str, percentile: float | None = None) -> Compared:
    """Without a margin: nothing calls two of these the same."""
    return Compared(name, None, "has", "lower", "higher", percentile=percentile)


def _held(part: str) -> Callable[[Run], float | None]:
    return lambda run: getattr(run.live_bytes_per_request, part)


CPU = Figure(
    "cpu_ms_per_request", "CPU per request", "ms", "CPU time of the container per request, of the interior",
    lambda run: run.cpu_ms_per_request, CPU_PER_REQUEST, primary=True, column=Column("CPU ms", 3),
    exported=Exported("cpu_ms_per_request", "CPU per request", "ms", decimals=3),
)  # fmt: skip
P50 = Figure(
    "p50_ms", "p50", "ms", "median latency, of the interior", lambda run: run.latency_ms.p50,
    _less("p50 latency", 50), column=Column("p50 ms", 0),
)  # fmt: skip
P99 = Figure(
    "p99_ms", "p99", "ms", "p99 as the load generator saw it, of all requests that were due in the interior",
    lambda run: run.latency_ms.p99, P99_LATENCY, column=Column("p99 ms", 0),
    exported=Exported("latency_p99_seconds", "p99", "s", scale=0.001),
)  # fmt: skip
P99_9 = Figure(
    "p99_9_ms", "p99.9", "ms", "p99.9 latency, of the interior", lambda run: run.latency_ms.p99_9,
    _less("p99.9 latency", 99.9),
)  # fmt: skip
THROUGHPUT = Figure(
    "throughput_rps", "throughput", "requests/s", "answered requests a second, of the interior",
    lambda run: run.throughput_rps, _less("throughput"), column=Column("req/s", 0),
    exported=Exported("throughput_rps", "req/s", "none", decimals=0),
)  # fmt: skip
THREADS = Figure(
    "threads_max", "threads", "", "largest sample of the container's threads", lambda run: run.threads_max,
    column=Column("threads", 0), exported=Exported("threads_max", "threads", "none", decimals=0),
)  # fmt: skip
RSS = Figure(
    "rss_max_mib", "RSS", "MiB", "largest sample of the container's RSS", lambda run: run.rss_max_bytes, divisor=2**20,
    column=Column("RSS MiB", 0), exported=Exported("rss_max_bytes", "RSS", "bytes", scale=2**20),
)  # fmt: skip
WAITING = Figure(
    "live_kib_per_request", "held by a waiting request", "KiB",
    "what a waiting request holds in all, measured after the run", _held("total"),
    Compared(
        "memory held by a waiting request", None, "holds", "less", "more", unit="KiB", subject="a waiting request"
    ),
    divisor=2**10, exported=Exported("held_bytes_per_request", "held per waiting request", "bytes", scale=2**10),
)  # fmt: skip
PARTS = tuple(
    Figure(
        f"live_{part}_kib_per_request", f"held {where}", "KiB", f"the part of that {where}", _held(part),
        divisor=2**10, reported=False,
        exported=Exported(f"held_{part}_bytes_per_request", f"held {where}", "bytes", scale=2**10),
    )
    for part, where in (
        ("heap", "in the heap"), ("stacks_off_heap", "in stacks and off-heap"), ("kernel", "in the kernel"),
    )
)  # fmt: skip
ALLOCATED = Figure(
    "allocated_kib_per_request", "allocated per request", "KiB",
    "what a request allocates in the heap, of the interior",
    lambda run: run.allocated_bytes_per_request, divisor=2**10, reported=False, column=Column("alloc KiB", 0),
    exported=Exported("allocated_bytes_per_request", "allocated per request", "bytes", scale=2**10),
)  # fmt: skip
GC = Figure(
    "gc_cpu_percent", "garbage collection", "%", "the collector's part of the approach's CPU time, of the whole run",
    lambda run: run.gc.cpu_share, divisor=0.01, reported=False, column=Column("GC %", 1),
)  # fmt: skip
EVERY = (THROUGHPUT, P50, P99, P99_9, CPU, ALLOCATED, WAITING, *PARTS, GC, RSS, THREADS)
FIGURES = (CPU, P50, P99, P99_9, THROUGHPUT, THREADS, RSS, WAITING)
"""Those of the report, in its order."""


def told_of(runs: Iterable[Run]) -> list[Figure]:
    """Those that one of the runs has at least."""
    found = list(runs)
    return [figure for figure in FIGURES if any(figure.of(run) is not None for run in found)]


@dataclass(frozen=True)
class Spread:
    """A figure over the repeats of an approach at a load."""

    centre: float
    lowest: float
    highest: float
    count: int


def spread(figure: Figure, runs: Iterable[Run]) -> Spread | None:
    """The centre is the geometric mean, because approaches are compared by ratios; the arithmetic one of what is
    compared by differences, and where a value is 0. None where nothing was measured."""
    values = [value for run in runs if (value := figure.of(run)) is not None]
    if not values:
        return None
    straight = figure.by_difference or min(values) <= 0
    centre = fmean(values) if straight else geometric_mean(values)
    return Spread(min(max(centre, min(values)), max(values)), min(values), max(values), len(values))


def number(value: float | None) -> str:
    """With three digits that count; from 100 on, and where it is whole from 10 on, without decimals."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    if abs(value) >= 10 and math.isclose(value, round(value)):
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 6)}f}"


def ratio_text(ratio: float) -> str:
    """As `number`, with as many decimals more as show on which side of 1 it is, if any do."""
    text = number(ratio)
    if not math.isfinite(ratio):
        return text
    finer = (f"{ratio:.{decimals}f}" for decimals in range(3, MOST_DECIMALS + 1))
    return next((told for told in (text, *finer) if _side(float(told.replace(",", ""))) == _side(ratio)), text)


def _side(ratio: float) -> int:
    return (ratio > 1) - (ratio < 1)


def percent(share: float | None) -> str:
    """Of a share from 0 to 1."""
    return UNKNOWN if share is None else f"{100 * share:.1f}"
