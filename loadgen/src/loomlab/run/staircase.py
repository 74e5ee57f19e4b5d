"""The search for the highest rate that a process holds: up a ramp until one fails, then by halves between the two."""

import math
from collections import Counter
from dataclasses import dataclass, field

from loomlab.records.capacity import Outcome

STEP = 1.025  # of the grid
RAMP = 9  # rungs, about ×1.25
BELOW = 4  # rungs, about ÷1.1: where a process begins whose like is known
FAILURES = 2  # that decide: one never does
MOST_SPOILT = 4
NEAR = 0.05  # of a rung, for rates are told in thousandths


def rung_of(rate_rps: float) -> int:
    """The highest rung that is not above the rate."""
    return math.floor(math.log(rate_rps) / math.log(STEP) + NEAR)


def rate_of(rung: int) -> float:
    """Requests a second."""
    return round(STEP**rung, 3)


@dataclass
class Staircase:
    """Rungs of a grid of rates. Nothing above a rung that failed twice is offered, and nothing below one that held."""

    start: int
    highest: int  # that may be offered
    lowest: int = 0
    tries: list[tuple[int, Outcome]] = field(default_factory=list)

    def tell(self, rung: int, outcome: Outcome) -> None:
        self.tries.append((rung, outcome))

    @property
    def held(self) -> int | None:
        """The highest that held; None: none did yet."""
        return max((rung for rung, outcome in self.tries if outcome == "held"), default=None)

    @property
    def failed(self) -> int | None:
        """The lowest that failed twice; None: none did yet."""
        return min((rung for rung, count in self._failures.items() if count >= FAILURES), default=None)

    @property
    def spoilt(self) -> bool:
        """Whether so many trials say nothing that the search ends."""
        return sum(outcome == "spoilt" for _, outcome in self.tries) >= MOST_SPOILT

    @property
    def _failures(self) -> Counter[int]:
        held = self.held
        return Counter(rung for rung, outcome in self.tries if outcome == "failed" and (held is None or rung > held))

    @property
    def next(self) -> int | None:
        """The rung to offer; None: the search is at its end."""
        held, failed = self.held, self.failed
        if self.spoilt:
            return None
        if held is None:
            return self._descending()
        if failed is None:
            once = [rung for rung in self._failures if rung <= held + RAMP]
            rung = min([*once, held + RAMP, self.highest])
            return rung if rung > held else None
        once = [rung for rung in self._failures if rung < failed]
        if once:
            return min(once)
        return (held + failed) // 2 if failed - held > 1 else None

    def _descending(self) -> int | None:
        """Ever farther down while nothing has held, for what a service costs may be unknown."""
        tried = Counter(rung for rung, outcome in self.tries if outcome == "failed")
        if not tried:
            return min(self.start, self.highest)
        bottom = min(tried)
        if bottom <= self.lowest:
            return bottom if tried[bottom] < FAILURES else None
        farther: int = RAMP * 2 ** (len(tried) - 1)
        return max(bottom - farther, self.lowest)
