"""Whether the measured part was still getting cheaper or faster: its first half against its second."""

import itertools
import math
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from loomlab.basics.trend import trend
from loomlab.judge.series import ratio
from loomlab.records.measured import Halves
from loomlab.records.models import Interior
from loomlab.records.requestlog import RequestLog

MOST_PARTS, FEWEST_PARTS = 8, 4
SHORTEST_PART_S, WAVES_A_PART = 2, 2
CONFIDENCE = 95

type CpuSeconds = Callable[[float, float], float | None]
"""The approach's CPU time between two times."""


class Parts:
    """The window in equal stretches between whole seconds, between which starts are counted exactly; none where there
    is no room for four of two waves each. An open load has no waves (0)."""

    def __init__(
        self, log: RequestLog, window: Interior, wave_s: float, shortest_part_s: float = SHORTEST_PART_S
    ) -> None:
        count = min(MOST_PARTS, math.floor(window.seconds / max(shortest_part_s, WAVES_A_PART * wave_s)))
        usable = count >= FEWEST_PARTS and not window.whole_run
        edges = [round(window.start + part * window.seconds / count) for part in range(count + 1)] if usable else []
        self._spans = list(itertools.pairwise(edges))
        place = np.searchsorted(edges, log.start_s, side="right")
        inside = (place > 0) & (place <= len(self._spans))
        self._counts = np.bincount(place[inside] - 1, minlength=len(self._spans)).tolist()
        sums_ms = np.bincount(place[inside] - 1, log.from_due_ms[inside], minlength=len(self._spans)).tolist()
        self._mean_ms = [ratio(sum_ms, count) for sum_ms, count in zip(sums_ms, self._counts, strict=True)]

    def latency_fall(self) -> Halves | None:
        """Of the mean latency."""
        return _fall(self._mean_ms)

    def cpu_fall(self, connections: int | None, cpu_seconds: CpuSeconds) -> Halves | None:
        """Of the CPU per request. In a closed model (`connections`) the requests of a part are connections × seconds ÷
        mean latency, for a count is off by up to a wave; in the open one (None) they are counted."""
        costs: list[float | None] = []
        for (first, last), count, mean_ms in zip(self._spans, self._counts, self._mean_ms, strict=True):
            requests = count if connections is None else ratio(1000 * connections * (last - first), mean_ms)
            costs.append(ratio(cpu_seconds(first, last), requests) or None)
        return _fall(costs)


def _fall(values: Sequence[float | None]) -> Halves | None:
    line = trend(values)
    if line is None:
        return None
    apart = len(values) / 2
    second, margin = math.exp(line.slope * apart), line.margin(CONFIDENCE) * apart
    towards_none = margin if second < 1 else -margin
    known = [value for value in values if value]
    peak = max(known) / median(known) - 1
    return Halves(fall=1 - second, margin=abs(second * math.expm1(towards_none)), peak=peak)
