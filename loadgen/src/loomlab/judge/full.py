"""How full a closed load was, of which starts are known to the second, and its answers come in waves."""

import math
from collections.abc import Sequence

import numpy as np

from loomlab.records.requestlog import RequestLog


class Starts:
    """Requests that ended, answered or failed, by the second they started in, from `first` up to before `last`."""

    def __init__(self, log: RequestLog, first: int, last: int) -> None:
        here = (first <= log.starts_s) & (log.starts_s < last)
        seconds = (np.floor(log.starts_s[here]) - first).astype(int)
        counts = np.bincount(seconds, minlength=last - first)
        busy_s = np.bincount(seconds, log.latencies_ms[here] / 1000, minlength=last - first)
        self.seconds = last - first
        self._counts: list[int] = [0, *np.cumsum(counts).tolist()]
        self._busy_s: list[float] = [0.0, *np.cumsum(busy_s).tolist()]

    def waves(self, begin: int, end: int) -> float:
        """Between two seconds, counted from the first: their distance in mean latencies; 0 without a request."""
        count, busy_s = self._counts[end] - self._counts[begin], self._busy_s[end] - self._busy_s[begin]
        return (end - begin) * count / busy_s if busy_s else 0.0

    def busy_s(self, end: int) -> float:
        """What the requests up to before a second took together."""
        return self._busy_s[end]

    def busy_share(self, connections: int, lengths: Sequence[int]) -> float:
        """Of the connections, 1 unless counts say otherwise: how many had a request at any time.

        A stretch of 33.9 waves holds 33 or 34 requests of a connection that is always busy, where all are in step; the
        count alone would be off by up to a wave. Stretches of so many seconds, at the beginning and at the end, bound
        the share; within the bounds it is what lies nearest to 1, and where these contradict one another, to the count.
        """
        low, high = 0.0, math.inf
        for length in lengths:
            for begin in {0, self.seconds - length}:
                waves = self.waves(begin, begin + length)
                if waves < 1:
                    continue
                each = (self._counts[begin + length] - self._counts[begin]) / connections
                low, high = max(low, each / math.ceil(waves)), min(high, each / math.floor(waves))
        nearest = 1.0 if low <= high else self._busy_s[-1] / connections / self.seconds
        return sorted((low, nearest, high))[1]
