"""Raw samples of counters, gauges and /proc, and what can be said of them over a window. Times are epoch seconds."""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from loomlab.judge.limits import BUSY_CPU, BUSY_SECONDS_LIMIT, METRICS_MISSING_LIMIT
from loomlab.records.models import HostSample
from loomlab.records.raw import Series
from loomlab.run.process import IDLE, IOWAIT
from loomlab.run.shares import MISSING_AFTER_S, Span, moved

RESET_BELOW = 0.99
type Born = Literal["before", "seen", "zero"]
"""How much a counter grew that appears within a window: unknown, from its first sample on, or from 0."""
type Stretch = tuple[float, float]  # seconds between two samples, and the share of them (0 to 1) that was used


def select(group: Iterable[Series], name: str, **labels: str) -> list[Series]:
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


def together(values: Iterable[float | None]) -> float | None:
    """The sum; None where one is not known."""
    every = [*values]
    return None if None in every else sum(value or 0.0 for value in every)


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
    samples = sorted(sample for series in group for sample in series.samples)
    return [value for time, value in samples if start <= time <= end]


def highest(group: Iterable[Series], start: float, end: float) -> float | None:
    return max(values_within(group, start, end), default=None)


def latest(group: Iterable[Series], end: float) -> float | None:
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


def stretches(counter: Series, start: float, end: float) -> list[Stretch]:
    """Between the samples of a CPU-seconds counter in the window, of one CPU."""
    inside = [sample for sample in without_resets(counter.samples) if start <= sample[0] <= end]
    return [
        (after - before, (more - had) / (after - before))
        for (before, had), (after, more) in itertools.pairwise(inside)
        if after > before
    ]


def histogram_quantile(buckets: list[Series], quantile: float, spans: Sequence[tuple[float, float]]) -> float | None:
    """As Prometheus' function of that name; the highest finite bound where it lies above; None without observations."""
    counts: dict[float, float] = {}
    for bucket in buckets:
        bound = float(bucket.labels.get("le", math.inf))
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


def full_share(stretches: Sequence[Stretch]) -> float | None:
    """Share of the time in which 95 % or more was used; None where that depends on the inside of long stretches."""
    length_s, used = np.array(stretches, dtype=np.float64).reshape(-1, 2).T
    if length_s.sum() <= 0:
        return None
    spread = np.where((used < BUSY_CPU) & (length_s > MISSING_AFTER_S), used, np.maximum(used - 1, 0))
    share = length_s[used >= BUSY_CPU].sum() / length_s.sum()
    hidden = (length_s * spread).sum() / BUSY_CPU / length_s.sum()
    return None if share <= BUSY_SECONDS_LIMIT < share + hidden else float(share)


def cpus_full_share(samples: Sequence[HostSample], cpus: set[str] | None) -> float | None:
    """As `full_share`, of every CPU of the set (None: of the host); idle and iowait are not busy, steal is."""
    times, counters = moved(samples, cpus)
    spent = np.diff(counters, axis=0)
    busy = 1 - (spent[..., IDLE] + spent[..., IOWAIT]) / spent.sum(axis=2)
    return full_share([*zip(np.diff(times), busy.min(axis=1, initial=1), strict=True)])


def busiest_thread_full_share(samples: Sequence[HostSample]) -> float | None:
    """Share of the time in which one thread of the tool used a whole CPU; None as `full_share`."""
    stretches: list[Stretch] = []
    for before, after in itertools.pairwise(samples):
        both = before.tool_threads.keys() & after.tool_threads.keys()
        length_s = after.time - before.time
        if both and length_s > 0:
            used_s = max(after.tool_threads[thread] - before.tool_threads[thread] for thread in both)
            stretches.append((length_s, used_s / length_s))
    return full_share(stretches)


def tool_cpu_seconds(samples: Sequence[HostSample], start: float, end: float) -> float | None:
    """What the tool's threads took between two times, by the samples there; None of fewer than two."""
    inside = [one for one in samples if start <= one.time <= end and one.tool_threads]
    if len(inside) < 2 or inside[-1].time <= inside[0].time:
        return None
    spent_s = sum(
        after.tool_threads[thread] - before.tool_threads.get(thread, 0.0)
        for before, after in itertools.pairwise(inside)
        for thread in after.tool_threads
    )
    return spent_s * (end - start) / (inside[-1].time - inside[0].time)


def cpu_waits_ms(samples: Sequence[HostSample], spans: Sequence[Span]) -> tuple[float | None, float | None]:
    """Of the tool's threads, a turn: mean, and mean of the worst hundredth of the seconds; None with many holes."""
    waits: list[tuple[float, float]] = []
    for start, end in spans:
        inside = [sample for sample in samples if start <= sample.time <= end and sample.tool_waits]
        if not inside or missing_share([sample.time for sample in inside], start, end) > METRICS_MISSING_LIMIT:
            return None, None
        begun, waited_s, turns = inside[0].time, 0.0, 0
        for before, after in itertools.pairwise(inside):
            old, new = before.tool_waits or {}, after.tool_waits or {}
            both = old.keys() & new.keys()
            waited_s += sum(new[name][0] - old[name][0] for name in both)
            turns += sum(new[name][1] - old[name][1] for name in both)
            if turns:
                waits.append((waited_s / turns, after.time - begun))
                begun, waited_s, turns = after.time, 0.0, 0
    if not waits:
        return None, None
    waits_s, lengths_s = np.array(sorted(waits)).T
    counted_s = lengths_s.sum()
    better_s = np.cumsum(lengths_s) - lengths_s
    worst_s = np.clip(better_s + lengths_s - 0.99 * counted_s, 0, lengths_s)
    mean_s, worst = np.average(waits_s, weights=lengths_s), np.average(waits_s, weights=worst_s)
    return float(1000 * mean_s), float(1000 * worst)
