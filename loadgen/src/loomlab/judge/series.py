"""Raw samples of counters and gauges, and what can be said of them over a window. Times are epoch seconds."""

import itertools
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, FiniteFloat, TypeAdapter

RESET_BELOW = 0.99
MISSING_AFTER_S = 3.0
"""A gap between samples longer than this is missing data: three of the scrapes, which come once a second."""


@dataclass(frozen=True)
class Series:
    """Samples of one label set, in order of time."""

    labels: Mapping[str, str]
    samples: tuple[tuple[float, float], ...]


def _with_bound(labels: dict[str, str]) -> dict[str, str]:
    float(labels.get("le", 0))
    return labels


BEYOND = 1e20
"""Nanoseconds of three thousand years."""


class Result(BaseModel):
    """One of Prometheus' matrix; a histogram's bucket has a number as its bound."""

    metric: Annotated[dict[str, str], AfterValidator(_with_bound)]
    values: list[tuple[FiniteFloat, float]]


RESULTS = TypeAdapter(list[Result])


def parse_result(result: Any) -> list[Series]:
    """Prometheus' matrix result, without what is no number, or none that can be; raises ValidationError for another."""
    return [
        Series(row.metric, tuple(sample for sample in row.values if abs(sample[1]) < BEYOND))
        for row in RESULTS.validate_python(result)
    ]


def select(group: Iterable[Series], name: str, **labels: str) -> list[Series]:
    """Those of that metric name whose labels have these values."""
    wanted = {"__name__": name} | labels
    return [series for series in group if all(series.labels.get(key) == value for key, value in wanted.items())]


def without_resets(samples: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The counter made monotonic: a fall is a restart from 0, as Prometheus' `increase` takes it, but for one of less
    than a hundredth, which is the kernel's imprecision."""
    offset = previous = 0.0
    straight = []
    for time, value in samples:
        if value < previous * RESET_BELOW:
            offset += previous
            previous = 0.0
        previous = max(value, previous)
        straight.append((time, previous + offset))
    return straight


def value_at(samples: list[tuple[float, float]], time: float) -> float | None:
    """Linear interpolation between the neighbouring samples; None outside of them."""
    index = bisect_left(samples, (time, float("-inf")))
    if index < len(samples) and samples[index][0] == time:
        return samples[index][1]
    if index in (0, len(samples)):
        return None
    (t0, v0), (t1, v1) = samples[index - 1], samples[index]
    return v0 + (v1 - v0) * (time - t0) / (t1 - t0)


def increase(
    counter: Series, start: float, end: float, born: Literal["before", "seen", "zero"] = "before"
) -> float | None:
    """The counter's growth over the window, interpolated at both ends; None when the samples do not span it. Of a
    counter that appears within the window: from its first sample on (`seen`), or from 0, as one that appears with its
    first event (`zero`)."""
    samples = without_resets(counter.samples)
    if not samples:
        return None
    begun = samples[0][0]
    first = (
        0.0 if born == "zero" and begun > start else value_at(samples, max(start, begun) if born == "seen" else start)
    )
    last = value_at(samples, end)
    return None if first is None or last is None else last - first


def total(
    group: Iterable[Series], start: float, end: float, born: Literal["before", "seen", "zero"] = "before"
) -> float | None:
    """The sum of the growth of several label sets; None when none spans the window."""
    grown = [value for series in group if (value := increase(series, start, end, born)) is not None]
    return sum(grown) if grown else None


def values_within(group: Iterable[Series], start: float, end: float) -> list[float]:
    """The samples of a window, in order of time."""
    return [
        value
        for _, value in sorted(sample for series in group for sample in series.samples if start <= sample[0] <= end)
    ]


def highest(group: Iterable[Series], start: float, end: float) -> float | None:
    """The largest sample within the window."""
    return max(values_within(group, start, end), default=None)


def latest(group: Iterable[Series], end: float) -> float | None:
    """The last sample up to that time."""
    return next(reversed(values_within(group, -math.inf, end)), None)


def first_from(group: Iterable[Series], start: float) -> float | None:
    """The first sample from that time on."""
    return next(iter(values_within(group, start, math.inf)), None)


def missing_ratio(counter: Series | None, start: float, end: float) -> float:
    """The share of the window that lies in gaps longer than 3 s between samples of a counter that always grows, where
    one that stands still has none; 1 without any sample in it."""
    growth = itertools.pairwise([(start, None), *counter.samples]) if counter else ()
    times = [time for (_, had), (time, value) in growth if value != had and start <= time <= end]
    return missing_share(times, start, end) if times and end > start else 1.0


def missing_share(times: Sequence[float], start: float, end: float) -> float:
    """Of the window: what lies in gaps longer than 3 s between these times."""
    edges = [start, *times, end]
    gaps = (after - before for before, after in itertools.pairwise(edges))
    return sum(gap for gap in gaps if gap > MISSING_AFTER_S) / (end - start)


def stretches(counter: Series, start: float, end: float, capacity: float) -> list[tuple[float, float]]:
    """Seconds between two samples of a CPU-seconds counter in the window, and the share of `capacity` CPUs that it grew
    by."""
    inside = [sample for sample in without_resets(counter.samples) if start <= sample[0] <= end]
    return [
        (after - before, (more - had) / capacity / (after - before))
        for (before, had), (after, more) in itertools.pairwise(inside)
        if after > before
    ]


def histogram_quantile(buckets: Iterable[Series], quantile: float, start: float, end: float) -> float | None:
    """The quantile of what a classic histogram counted in the window, linear within its bucket, as Prometheus'
    function of that name; the highest finite bound when it lies above it; None without observations."""
    counts: dict[float, float] = {}
    for bucket in buckets:
        growth = increase(bucket, start, end, "zero")
        if growth is not None:
            bound = float(bucket.labels["le"])
            counts[bound] = counts.get(bound, 0.0) + growth
    bounds = sorted(counts)
    if not bounds or counts[bounds[-1]] <= 0:
        return None
    rank = quantile * counts[bounds[-1]]
    lower, below = 0.0, 0.0
    for bound in bounds:
        if counts[bound] >= rank:
            if bound == float("inf"):
                return lower
            return lower + (bound - lower) * (rank - below) / (counts[bound] - below)
        lower, below = bound, counts[bound]
    return lower
