"""Latency of all requests that were due, so that none that failed or was not sent improves a percentile."""

import math
from dataclasses import dataclass, field

import numpy as np

from loomlab.records.models import Latency
from loomlab.records.requestlog import LEVELS, Numbers, latency_figures, rank

FEWEST_ABOVE, FEWEST_WAVES_ABOVE = 10, 5
SHORTEST_WAVE_S = 1
"""Some tools tell starts to the second."""
UNSURE_SHARE = 0.01
"""How far a percentile may be from what it could be as well."""


@dataclass(frozen=True)
class Due:
    """The requests of a window: start and latency of each that was answered, starts of those that failed; so many
    more that failed or were not sent, or none of them (`unplaced`: it is not told when they were due), and how many of
    the answered may have failed (`unmarked`). Latencies are told to `rounded_ms`."""

    start_s: Numbers
    latency_ms: Numbers
    failed_start_s: Numbers = field(default_factory=lambda: np.empty(0))
    unplaced: int = 0
    unmarked: int = 0
    rounded_ms: float = 0

    def latency(self) -> Latency:
        """Mean, extremes and deviation of the answers; nearest-rank percentiles of all requests, of which failed ones
        rank above every answer; where it is not known which failed, the upper bound, if the lower one is near."""
        plain = latency_figures(self.latency_ms)
        if plain.mean is None:
            return plain
        order = np.argsort(self.latency_ms, kind="stable")
        ordered_ms = self.latency_ms[order]
        spread_ms = self._spread_ms(self.start_s[order], ordered_ms, max(plain.mean / 1000, SHORTEST_WAVE_S))
        percentiles = {name: self._percentile(ordered_ms, percent, spread_ms) for name, percent in LEVELS.items()}
        withheld = {name: value for name, value in percentiles.items() if isinstance(value, str)}
        return plain.model_copy(update=percentiles | dict.fromkeys(withheld) | {"withheld": withheld})

    def _spread_ms(self, start_s: Numbers, ordered_ms: Numbers, wave_s: float) -> float:
        """The highest latency that requests of five waves reached or failed; -1 where there were not five."""
        failed = np.unique(np.floor(self.failed_start_s / wave_s))
        if len(failed) >= FEWEST_WAVES_ABOVE:
            return math.inf
        waves, first = np.unique(np.floor(start_s[::-1] / wave_s), return_index=True)
        slowest = np.sort(first[~np.isin(waves, failed)])
        lacking = FEWEST_WAVES_ABOVE - len(failed)
        return float(ordered_ms[::-1][slowest[lacking - 1]]) if len(slowest) >= lacking else -1

    def _percentile(self, ordered_ms: Numbers, percent: float, spread_ms: float) -> float | str:
        """The figure, or why there is none."""
        known = len(ordered_ms) + len(self.failed_start_s)
        lowest = rank(known, percent)
        highest = rank(known + self.unplaced, percent) + self.unmarked
        above = known - lowest
        if above < FEWEST_ABOVE:
            return f"only {above} of {known:,} requests lie above it ({FEWEST_ABOVE} are needed)"
        if lowest > len(ordered_ms):
            return f"requests that failed reach it, so it is at least {ordered_ms[-1]:,.0f} ms"
        low_ms = float(ordered_ms[lowest - 1])
        unsure_ms = max(UNSURE_SHARE * low_ms, self.rounded_ms)
        if low_ms - spread_ms > unsure_ms:
            return f"the requests above it are of fewer than {FEWEST_WAVES_ABOVE} waves"
        high_ms = ordered_ms[highest - 1] if highest <= len(ordered_ms) else math.inf
        if high_ms - low_ms > unsure_ms:
            limit = "" if math.isinf(high_ms) else f" and at most {high_ms:,.0f} ms"
            return (
                f"it is at least {low_ms:,.0f} ms{limit}: {self.unplaced + self.unmarked:,} requests failed or were "
                "not sent, and it is not known which"
            )
        return float(high_ms)
