"""Latency of all requests that were due, so that none that failed or was not sent improves a percentile."""

import math

import numpy as np

from loomlab.records.models import Latency
from loomlab.records.requestlog import LEVELS, Numbers, RequestLog, latency_figures, rank

FEWEST_ABOVE, FEWEST_WAVES_ABOVE = 10, 5
SHORTEST_WAVE_S = 1
"""Some tools tell starts to the second."""
UNSURE_SHARE = 0.01
"""How far a percentile may be from what it could be as well."""


def latency_of_due(log: RequestLog, latency_ms: Numbers, unplaced: int = 0) -> Latency:
    """Mean, extremes and deviation of the answers, whose latencies these are; nearest-rank percentiles of all requests
    of the log, of which failed ones rank above every answer; where it is not known which failed, the upper bound, if
    the lower one is near. So many more failed or were not sent, or none of them (`unplaced`: it is not told when they
    were due)."""
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
    """The figure, or why there is none."""
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
        return f"the requests above it are of fewer than {FEWEST_WAVES_ABOVE} waves"
    if high_ms - low_ms > unsure_ms:
        limit = "" if math.isinf(high_ms) else f" and at most {high_ms:,.0f} ms"
        return (
            f"it is at least {low_ms:,.0f} ms{limit}: {unplaced + log.unmarked:,} requests failed or were "
            "not sent, and it is not known which"
        )
    return high_ms
