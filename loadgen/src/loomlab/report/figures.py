"""The figures that the page shows of a run, and how they are written."""

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
class Figure:
    """`key` names its column in table.csv, with the unit; `compared`: how approaches are held against one another by
    it, None: they are not; `primary`: what an experiment is made for; `divisor` brings what run.json has to `unit`."""

    key: str
    title: str
    unit: str
    read: Callable[[Run], float | None]
    compared: Compared | None = None
    primary: bool = False
    divisor: float = 1

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
        return f"{self.title}, {self.unit}" if self.unit else self.title


def _less(name: str, percentile: float | None = None) -> Compared:
    """Without a margin: nothing calls two of these the same."""
    return Compared(name, None, "has", "lower", "higher", percentile=percentile)


CPU = Figure(
    "cpu_ms_per_request",
    "CPU per request",
    "ms",
    lambda run: run.cpu_ms_per_request,
    compared=CPU_PER_REQUEST,
    primary=True,
)
P50 = Figure("p50_ms", "p50", "ms", lambda run: run.latency_ms.p50, compared=_less("p50 latency", 50))
P99 = Figure("p99_ms", "p99", "ms", lambda run: run.latency_ms.p99, compared=P99_LATENCY)
P99_9 = Figure("p99_9_ms", "p99.9", "ms", lambda run: run.latency_ms.p99_9, compared=_less("p99.9 latency", 99.9))
THROUGHPUT = Figure(
    "throughput_rps", "throughput", "requests/s", lambda run: run.throughput_rps, compared=_less("throughput")
)
THREADS = Figure("threads_max", "threads", "", lambda run: run.threads_max)
RSS = Figure("rss_max_mib", "RSS", "MiB", lambda run: run.rss_max_bytes, divisor=2**20)
WAITING = Figure(
    "live_kib_per_request",
    "held by a waiting request",
    "KiB",
    lambda run: run.live_bytes_per_request.total,
    compared=Compared(
        "memory held by a waiting request", None, "holds", "less", "more", unit="KiB", subject="a waiting request"
    ),
    divisor=2**10,
)
FIGURES = (CPU, P50, P99, P99_9, THROUGHPUT, THREADS, RSS, WAITING)


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
