"""The part of a run that counts: after the connect wave, before the last wave drains
(docs/explanation/how-a-run-works.md)."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loomlab.basics.waves import FEWEST_WAVES, SHORTEST_INTERIOR_S
from loomlab.records.load import Closed, Load, OpenRate
from loomlab.records.models import Interior, Latency
from loomlab.records.requestlog import LEVELS, Numbers, RequestLog, latency_figures, percentile, rank

FEWEST_SECONDS = 3
KEPT_SHARE, WAVE_ERROR = 0.8, 0.01
IDLE_SHARE = 0.01
TAIL_LAG_LIMIT = 0.05
FEWEST_ABOVE, FEWEST_WAVES_ABOVE = 10, 5
SHORTEST_WAVE_S = 1  # some tools tell starts to the second
UNSURE_SHARE = 0.01  # how far a percentile may be from what it could be as well
OF_ONE_LOAD = ("started_rps", "throughput_rps", "latency_ms", "latency_from_start_ms", "start_lag_p99_ms")
"""Figures that Run and Step have, too."""


@dataclass(frozen=True)
class InteriorFigures:
    """Of the requests that started in `window`; None: not of this kind of load or of a whole run, or not told.
    `recorded_s` is the window before it was cut to whole waves; `unplaced` failed or were not sent at unknown times."""

    window: Interior
    requests: float
    latency_ms: Latency
    answered_p99_ms: float | None
    latency_from_start_ms: Latency | None = None
    start_lag_p99_ms: float | None = None
    little_ratio: float | None = None
    waves: float | None = None
    started_rps: float | None = None
    recorded_s: int | None = None
    unplaced: int = 0

    @property
    def throughput_rps(self) -> float:
        return self.requests / self.window.seconds


def figures_of(
    log: RequestLog, load: Load, started: float, ended: float, *, quotas: bool = False, drains: bool = False
) -> InteriorFigures | None:
    """The figures that suit the load's shape; None without an answer. `quotas` and `drains` are the tool's."""
    if not len(log):
        return None
    match load.shape:
        case Closed():
            full_until = _last_full_second(log, load.connections, ended) if quotas else ended
            interior = _closed_figures(log, load.connections, full_until, drains=drains)
        case OpenRate():
            # From where the first second's requests have ended up to the last second in which some started throughout.
            begun, last = math.floor(log.starts_s.min()), math.floor(log.starts_s.max())
            first_ones = np.sort(log.latency_ms[log.within(begun, begun + 2)])
            first = begun + 1 + (math.ceil(percentile(first_ones, 99) / 1000) if len(first_ones) else 0)
            interior = window_figures(log, first, last, load.rate_rps) if last - first >= FEWEST_SECONDS else None
        case _:
            interior = None
            started, ended = float(log.starts_s.min()), float((log.start_s + log.latency_ms / 1000).max())
    return interior or InteriorFigures(
        Interior(start=started, seconds=max(ended - started, 0.001), requests=len(log), whole_run=True),
        requests=len(log),
        **_latencies(log, log.untimed + log.unsent),
    )


def _last_full_second(log: RequestLog, concurrency: int, ended: float) -> float:
    """The last second at which all connections but a hundredth were busy; `ended` where none is found."""
    starts, ends = np.sort(log.starts_s), np.sort(log.starts_s + log.latencies_ms / 1000)
    full = concurrency - max(IDLE_SHARE * concurrency, 1)
    seconds = np.arange(math.floor(ended), math.floor(starts[0]), -1)
    busy = np.searchsorted(starts, seconds, side="right") - np.searchsorted(ends, seconds, side="right")
    return float(max(seconds[busy >= full], default=ended))


def window_figures(log: RequestLog, first: int, last: int, offered_rps: float | None = None) -> InteriorFigures:
    """Of requests that started from `first` up to before `last`, unplaced ones as the rate leaves room for, or all."""
    seconds = last - first
    inside = log.between(first, last)
    started = len(inside) + len(inside.failed_start_s)
    room = math.inf if offered_rps is None else max(math.ceil(offered_rps * seconds) - started, 0)
    unplaced = round(min(log.untimed + log.unsent, room))
    return InteriorFigures(
        Interior(start=first, seconds=seconds, requests=len(inside), whole_run=False),
        requests=len(inside),
        started_rps=started / seconds,
        unplaced=unplaced,
        **_latencies(inside, unplaced),
    )


def _latencies(inside: RequestLog, unplaced: int) -> dict[str, Any]:
    """Fields of InteriorFigures. p99.9 is withheld where starts lag so much that it is the tool's."""
    lags_ms = np.sort(np.concatenate([inside.lag_ms, inside.failed_lag_ms]))
    latency = latency_of_due(inside, inside.from_due_ms, unplaced)
    figures = {"latency_ms": latency, "answered_p99_ms": latency_figures(inside.from_due_ms).p99}
    if not len(lags_ms):
        return figures
    if latency.p99_9 is not None and percentile(lags_ms, 99.9) > TAIL_LAG_LIMIT * latency.p99_9:
        why = f"over {TAIL_LAG_LIMIT:.0%} of it is how late requests started"
        latency = latency.model_copy(update={"p99_9": None, "withheld": latency.withheld | {"p99_9": why}})
    return figures | {
        "latency_ms": latency,
        "latency_from_start_ms": latency_of_due(inside, inside.latency_ms, unplaced),
        "start_lag_p99_ms": percentile(lags_ms, 99),
    }


def latency_of_due(log: RequestLog, latency_ms: Numbers, unplaced: int = 0) -> Latency:
    """Mean and extremes of these answers, percentiles of all requests, failed ones (and `unplaced` more) above them."""
    plain = latency_figures(latency_ms)
    if plain.mean is None:
        return plain
    order = np.argsort(latency_ms, kind="stable")
    ordered_ms = latency_ms[order]
    spread_ms = _spread_ms(log, log.start_s[order], ordered_ms, max(plain.mean / 1000, SHORTEST_WAVE_S))
    percentiles = {name: _percentile(log, ordered_ms, percent, spread_ms, unplaced) for name, percent in LEVELS.items()}
    withheld = {name: value for name, value in percentiles.items() if isinstance(value, str)}
    return plain.model_copy(update=percentiles | dict.fromkeys(withheld) | {"withheld": withheld})


def _spread_ms(log: RequestLog, start_s: Numbers, ordered_ms: Numbers, wave_s: float) -> float:
    """The highest latency that requests of five waves reached or failed; -1 where there were not five."""
    failed = np.unique(np.floor(log.failed_start_s / wave_s))
    lacking = FEWEST_WAVES_ABOVE - len(failed)
    if lacking <= 0:
        return math.inf
    waves, first = np.unique(np.floor(start_s[::-1] / wave_s), return_index=True)
    slowest = np.sort(first[~np.isin(waves, failed)])
    return float(ordered_ms[::-1][slowest[lacking - 1]]) if len(slowest) >= lacking else -1


def _percentile(log: RequestLog, ordered_ms: Numbers, percent: float, spread_ms: float, unplaced: int) -> float | str:
    known = len(ordered_ms) + len(log.failed_start_s)
    lowest, highest = rank(known, percent), rank(known + unplaced, percent) + log.unmarked
    above = known - lowest
    if above < FEWEST_ABOVE:
        return f"only {above} of {known:,} requests lie above it ({FEWEST_ABOVE} are needed)"
    if lowest > len(ordered_ms):
        return f"requests that failed reach it, so it is at least {ordered_ms[-1]:,.0f} ms"
    low_ms = float(ordered_ms[lowest - 1])
    high_ms = float(ordered_ms[highest - 1]) if highest <= len(ordered_ms) else math.inf
    unsure_ms = max(UNSURE_SHARE * low_ms, log.rounded_ms)
    if low_ms - spread_ms > unsure_ms:
        return (
            f"the requests above it came within fewer than {FEWEST_WAVES_ABOVE} waves, as in one hiccup; a longer "
            "DURATION has more waves"
        )
    if high_ms - low_ms > unsure_ms:
        limit = "" if math.isinf(high_ms) else f" and at most {high_ms:,.0f} ms"
        fact = f"it is at least {low_ms:,.0f} ms{limit}: {unplaced + log.unmarked:,} requests failed"
        return f"{fact} or were not sent, and it is not known which"
    return high_ms


def _closed_figures(log: RequestLog, connections: int, ended: float, *, drains: bool) -> InteriorFigures | None:
    """Figures of whole waves between whole seconds (docs/explanation/how-a-run-works.md); None where there are none."""
    if len(log) < connections:
        return None
    seconds = np.floor(log.start_s)
    connecting = seconds <= np.partition(seconds, connections - 1)[connections - 1]
    first = math.ceil(((seconds[connecting] * 1000 + 999 + log.latency_ms[connecting]) / 1000).max())
    last = math.floor(ended - percentile(np.sort(log.latency_ms), 99) / 1000)
    last = min(last, math.floor(log.start_s.max())) if drains else last
    if last - first < FEWEST_SECONDS:
        return None
    starts, longest_s = Starts(log, first, last), last - first
    waves = starts.waves(0, longest_s)
    needed_s = max(KEPT_SHARE * longest_s, SHORTEST_INTERIOR_S, FEWEST_WAVES * longest_s / waves if waves else 0)
    lengths = range(longest_s, math.ceil(min(needed_s, longest_s)) - 1, -1)
    length = min(lengths, key=lambda seconds: abs(math.remainder(seconds * (waves / longest_s), 1)) / seconds)
    inside = log.between(first, first + length)
    if not len(inside):
        return None
    busy_s, share = starts.busy_s[length], starts.busy_share(connections, lengths)
    return InteriorFigures(
        Interior(start=first, seconds=length, requests=len(inside), whole_run=False),
        requests=share * connections * length * len(inside) / busy_s if busy_s else len(inside),
        little_ratio=share if busy_s else 0.0,
        waves=starts.waves(0, length) if busy_s else None,
        recorded_s=longest_s,
        **_latencies(inside, log.untimed + log.unsent),
    )


class Starts:
    """Requests that ended, by the second they started in, from `first` up to before `last`."""

    def __init__(self, log: RequestLog, first: int, last: int) -> None:
        inside = (first <= log.starts_s) & (log.starts_s < last)
        seconds = (np.floor(log.starts_s[inside]) - first).astype(int)
        self.counts, self.busy_s = (
            np.concatenate([[0], np.cumsum(np.bincount(seconds, weights, last - first))]).tolist()
            for weights in (None, log.latencies_ms[inside] / 1000)
        )
        """How many there were up to before each second, from the first on; and what these took together."""

    def waves(self, begin: int, end: int) -> float:
        """Between two seconds, counted from the first: their distance in mean latencies; 0 without a request."""
        count, busy_s = self.counts[end] - self.counts[begin], self.busy_s[end] - self.busy_s[begin]
        return float((end - begin) * count / busy_s) if busy_s else 0.0

    def busy_share(self, connections: int, lengths: Sequence[int]) -> float:
        """How many of the connections had a request at any time, nearest to 1 (docs/explanation/how-a-run-works.md)."""
        low, high, longest_s = 0.0, math.inf, len(self.counts) - 1
        for begin, length in itertools.chain.from_iterable(((0, each), (longest_s - each, each)) for each in lengths):
            waves = self.waves(begin, begin + length)
            if waves >= 1:
                each = (self.counts[begin + length] - self.counts[begin]) / connections
                low, high = max(low, each / math.ceil(waves)), min(high, each / math.floor(waves))
        nearest = 1.0 if low <= high else self.busy_s[-1] / connections / longest_s
        return sorted((low, nearest, high))[1]
