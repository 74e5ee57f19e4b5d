"""Samples over time, and what they say between two moments. Times are epoch seconds."""

import math
import statistics
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Series:
    """Samples (time, value) in the order of time, with the labels that tell them from others; no NaN, no infinity."""

    samples: tuple[tuple[float, float], ...]
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def values(self) -> list[float]:
        return [value for _, value in self.samples]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def between(self, start: float, end: float) -> "Series":
        """The samples of that time, both ends included."""
        return Series(tuple(sample for sample in self.samples if start <= sample[0] <= end), self.labels)

    def at(self, time: float) -> float:
        """The value then, on a straight line between its neighbours; raises ValueError outside the samples."""
        place = bisect_left(self.samples, (time, -math.inf))
        if place < len(self.samples) and self.samples[place][0] == time:
            return self.samples[place][1]
        if not 0 < place < len(self.samples):
            raise ValueError(f"There is no sample on both sides of {time:.3f}.")
        (before, low), (after, high) = self.samples[place - 1], self.samples[place]
        return low + (high - low) * (time - before) / (after - before)

    def growth(self, start: float, end: float) -> float:
        """Of a counter that never went back."""
        return self.at(end) - self.at(start)
