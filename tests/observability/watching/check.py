"""Whether the answer to a query can be true: there, with its labels, and of a plausible size."""

from collections.abc import Sequence
from dataclasses import dataclass

from watching.series import Series

WIDEST = 1000
"""A plausible range this wide would let a figure pass that is off by the factor of a wrong unit."""


@dataclass(frozen=True)
class Plausible:
    """Bounds of a figure, both included. `zero` says why it may be 0 all the time where nothing is wrong, `empty` why
    there may be no data at all."""

    low: float
    high: float
    zero: str = ""
    empty: str = ""

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.high < WIDEST * self.low:
            raise ValueError(f"{self.low:g} to {self.high:g} is no range that tells a wrong unit: narrow it.")

    def admits(self, value: float) -> bool:
        return self.low <= value <= self.high or (bool(self.zero) and 0 <= value <= self.high)


def problems(
    answer: Sequence[Series],
    wanted: Plausible,
    labels: Sequence[str] = (),
    services: Sequence[str] = (),
) -> list[str]:
    """What is wrong with an answer, a sentence each: no data, a series without one of the labels, a service of which
    there is no series, or a largest median that is out of bounds."""
    filled = [series for series in answer if series.samples]
    if not filled:
        return [] if wanted.empty else ["There is no data."]
    found = [
        f"The label {label} is missing on {dict(series.labels)}."
        for label in labels
        for series in filled
        if not series.labels.get(label)
    ]
    there = {series.labels.get("service") for series in filled}
    found += [f"There is no series of {service}." for service in services if service not in there]
    value = max(series.median for series in filled)
    if not wanted.admits(value):
        found.append(f"{value:.4g} is not between {wanted.low:.4g} and {wanted.high:.4g}.")
    return found
