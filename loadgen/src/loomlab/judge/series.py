"""Raw samples of counters and gauges, and what can be said of them over a window. Times are epoch seconds."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from loomlab.basics.errors import ParseError

RESET_BELOW = 0.99
MISSING_AFTER_S = 3.0
"""A gap between samples longer than this is missing data: three of the scrapes, which come once a second."""
type Born = Literal["before", "seen", "zero"]
"""How much a counter grew that appears within a window: unknown, from its first sample on, or from 0."""


@dataclass(frozen=True)
class Series:
    """Samples of one label set, in order of time."""

    labels: Mapping[str, str]
    samples: tuple[tuple[float, float], ...]


def parse_result(result: Any) -> list[Series]:
    """Prometheus' matrix result, without what is no number; raises ParseError for another."""
    try:
        return [Series(dict(row["metric"]), _numbers(row["values"])) for row in result]
    except (TypeError, KeyError, ValueError) as error:
        raise ParseError("metrics.json does not hold Prometheus results: measure again.") from error


def _numbers(samples: Iterable[tuple[float, str]]) -> tuple[tuple[float, float], ...]:
    return tuple((float(time), float(value)) for time, value in samples if math.isfinite(float(value)))


def select(group: Iterable[Series], name: str, **labels: str) -> list[Series]:
    """Those of that metric name whose labels have these values."""
    wanted = {"__name__": name} | labels
    return [series for series in group if wanted.items() <= series.labels.items()]


def without_resets(samples: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The counter made monotonic: a fall is a restart from 0, but for one of under 1 %, the kernel's imprecision."""
    offset = previous = 0.0
    straight = []
    for time, value in samples:
        if value < previous * RESET_BELOW:
            offset += previous
            previous = 0.0
        previous = max(value, previous)
        straight.append((time, previous + offset))
    return straight


def ratio(part: float | None, whole: float | None) -> float | None:
    """None where either was not measured, or the whole is 0."""
    return part / whole if part is not None and whole else None


def increase(counter: Series, start: float, end: float, born: Born = "before") -> float | None:
    """The counter's growth over the window, interpolated at both ends; None when the samples do not span it."""
    times, values = np.reshape(without_resets(counter.samples), (-1, 2)).T
    if not len(times) or end < times[0] or max(start, end) > times[-1] or (born == "before" and start < times[0]):
        return None
    first, last = np.interp((start, end), times, values)
    return float(last if born == "zero" and start < times[0] else last - first)


def total(group: Iterable[Series], start: float, end: float, born: Born = "before") -> float | None:
    """The sum of the growth of several label sets; None when none spans the window."""
    grown = [value for series in group if (value := increase(series, start, end, born)) is not None]
    return sum(grown) if grown else None


def values_within(group: Iterable[Series], start: float, end: float) -> list[float]:
    """The samples of a window, in order of time."""
    samples = sorted(sample for series in group for sample in series.samples)
    return [value for time, value in samples if start <= time <= end]


def highest(group: Iterable[Series], start: float, end: float) -> float | None:
    """The largest sample within the window."""
    return max(values_within(group, start, end), default=None)


def latest(group: Iterable[Series], end: float) -> float | None:
    """The last sample up to that time."""
    return next(reversed(values_within(group, -math.inf, end)), None)


def missing_ratio(counter: Series | None, start: float, end: float) -> float:
    """The share of the window in gaps of over 3 s between growth of a counter that always grows; 1 without any."""
    growth = itertools.pairwise([(start, None), *counter.samples]) if counter else ()
    times = [time for (_, had), (time, value) in growth if value != had and start <= time <= end]
    return missing_share(times, start, end) if times else 1.0


def missing_share(times: Sequence[float], start: float, end: float) -> float:
    """Of the window: what lies in gaps longer than 3 s between these times."""
    gaps = np.diff([start, *times, end])
    return float(gaps[gaps > MISSING_AFTER_S].sum()) / (end - start) if end > start else 1.0


def stretches(counter: Series, start: float, end: float, capacity: float) -> list[tuple[float, float]]:
    """Seconds between samples of a CPU-seconds counter in the window, and the share of `capacity` CPUs it grew by."""
    inside = [sample for sample in without_resets(counter.samples) if start <= sample[0] <= end]
    return [
        (after - before, (more - had) / capacity / (after - before))
        for (before, had), (after, more) in itertools.pairwise(inside)
        if after > before
    ]


def histogram_quantile(
    buckets: Iterable[Series], quantile: float, spans: Sequence[tuple[float, float]]
) -> float | None:
    """As Prometheus' function of that name; the highest finite bound where it lies above; None without observations."""
    counts: dict[float, float] = {}
    for bucket in buckets:
        bound = float(bucket.labels["le"])
        counts[bound] = counts.get(bound, 0.0) + sum(increase(bucket, *span, "zero") or 0.0 for span in spans)
    most = max(counts.values(), default=0)
    if most <= 0:
        return None
    bounds = sorted(bound for bound in counts if bound < math.inf)
    rank, below, lower = quantile * most, 0.0, 0.0
    for bound in bounds:
        if counts[bound] >= rank:
            return lower + (bound - lower) * (rank - below) / (counts[bound] - below)
        below, lower = counts[bound], bound
    return lower
