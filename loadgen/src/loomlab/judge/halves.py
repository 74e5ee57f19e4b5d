"""Whether the measured part was still getting cheaper or faster: its first half against its second."""

import itertools
import math
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from loomlab.basics.trend import trend
from loomlab.records.measured import Halves
from loomlab.records.models import Interior
from loomlab.records.requestlog import Numbers, RequestLog

MOST_PARTS, FEWEST_PARTS = 8, 4
SHORTEST_PART_S, WAVES_A_PART = 2, 2
CONFIDENCE = 95


class Parts:
    """The window in equal stretches between whole seconds, between which starts are counted exactly; none where there
    is no room for four of two waves each. An open load has no waves (0)."""

    def __init__(
        self, log: RequestLog, window: Interior, wave_s: float, shortest_part_s: float = SHORTEST_PART_S
    ) -> None:
        shortest_part_s = max(shortest_part_s, WAVES_A_PART * wave_s)
        count = min(MOST_PARTS, math.floor(window.seconds / shortest_part_s))
        usable = count >= FEWEST_PARTS and not window.whole_run
        edges = [round(window.start + part * window.seconds / count) for part in range(count + 1)] if usable else []
        self._parts = list(itertools.pairwise(edges))
        self._start = edges[0] if edges else 0
        inside = log.within(edges[0], edges[-1]) if edges else log.within(0, 0)
        seconds = (np.floor(log.start_s[inside]) - self._start).astype(int)
        length = edges[-1] - edges[0] if edges else 0
        self._counts = np.bincount(seconds, minlength=length)
        self._latency_ms = np.bincount(seconds, log.from_due_ms[inside], minlength=length)

    def latency_fall(self) -> Halves | None:
        """Of the mean latency."""
        return _fall([self._mean_latency_ms(part) for part in self._parts])

    def cpu_fall(self, connections: int | None, cpu_seconds: Callable[[float, float], float | None]) -> Halves | None:
        """Of the CPU per request, from CPU seconds between two times. In a closed model (`connections`) the requests of
        a part are connections × seconds ÷ mean latency, for a count is off by up to a wave; in the open one (None)
        they are counted."""
        costs: list[float | None] = []
        for part in self._parts:
            spent_s, requests = cpu_seconds(*part), self._requests(part, connections)
            costs.append(spent_s / requests if spent_s and requests else None)
        return _fall(costs)

    def _requests(self, part: tuple[int, int], connections: int | None) -> float | None:
        if connections is None:
            return self._sum(self._counts, part)
        latency_ms = self._mean_latency_ms(part)
        return 1000 * connections * (part[1] - part[0]) / latency_ms if latency_ms else None

    def _mean_latency_ms(self, part: tuple[int, int]) -> float | None:
        count = self._sum(self._counts, part)
        return self._sum(self._latency_ms, part) / count if count else None

    def _sum(self, by_second: Numbers, part: tuple[int, int]) -> float:
        return float(by_second[part[0] - self._start : part[1] - self._start].sum())


def _fall(values: Sequence[float | None]) -> Halves | None:
    line = trend(values) if values else None
    if line is None:
        return None
    apart = len(values) / 2
    second, margin = math.exp(line.slope * apart), line.margin(CONFIDENCE) * apart
    towards_none = margin if second < 1 else -margin
    known = [value for value in values if value]
    peak = max(known) / median(known) - 1
    return Halves(fall=1 - second, margin=abs(second * math.expm1(towards_none)), peak=peak)
