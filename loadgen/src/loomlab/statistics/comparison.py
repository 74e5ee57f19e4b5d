"""What is compared, and what comes of it: ratios of a's figure to b's, or differences, a less b."""

import math
from dataclasses import dataclass
from typing import Literal

FEWEST_BLOCKS, FEWEST_FINE_BLOCKS = 3, 5
"""For an interval, and for one that is not called coarse."""
CONFIDENCE, ERROR_RATE = 0.95, 0.05
"""Of each interval by itself; of the words lower and higher, over all contrasts declared together."""
POWER = 0.80
"""With which a number of blocks is likely to be enough."""
NEAREST = 1e-9
"""Logarithms, or shares, that differ by less are the same."""
MEDIAN = 50

type Word = Literal["lower", "higher", "no difference", "equivalent", "not resolved", "exploratory"]


@dataclass(frozen=True)
class Figure:
    """`margin`: of two that are equivalent neither exceeds the other by as much as this share, None: no word is said
    of it; the words are those of "a needs 20 % less CPU per request than b". With a `unit` approaches are compared
    by differences in it, else by ratios; `subject`: what of an approach has the figure, where it is not the approach;
    `percentile`: of latency, which one. Raises ValueError for a margin that is not above 0."""

    name: str
    margin: float | None
    verb: str
    less: str
    more: str
    unit: str | None = None
    subject: str | None = None
    percentile: float | None = None

    def __post_init__(self) -> None:
        if self.margin is not None and not 0 < self.margin < math.inf:
            raise ValueError(f"The margin of {self.name} is {self.margin:g}: use a share above 0, such as 0.1.")

    @property
    def even(self) -> float:
        """The effect between equals."""
        return 1.0 if self.unit is None else 0.0

    @property
    def tail(self) -> bool:
        """Whether it leaves out most where requests that were due were not sent."""
        return self.percentile is not None and self.percentile > MEDIAN


CPU_MARGIN, P99_MARGIN = 0.10, 0.15
CPU_PER_REQUEST = Figure("CPU per request", CPU_MARGIN, "needs", "less", "more")
P99 = Figure("p99 latency", P99_MARGIN, "has", "lower", "higher", percentile=99)


@dataclass(frozen=True)
class Observation:
    """A figure of one run, in the figure's unit; a run whose figure does not count has None and the reason. `load`
    tells loads apart and is how sentences call them, such as "2,000 connections". A suspect run counts, and is told.
    The value was rounded to multiples of `resolution`, 0: it was not; `lower_bound`: the truth may be above it.
    `left_out`: the figure of a run that does not count for a cause that its own cost may have brought about; `lost`: it
    has none; `made_again`: it is a further try."""

    block: int
    approach: str
    load: str
    value: float | None
    reason: str | None = None
    suspect: bool = False
    resolution: float = 0
    lower_bound: bool = False
    left_out: float | None = None
    lost: bool = False
    made_again: bool = False


@dataclass(frozen=True)
class Pair:
    a: str
    b: str
    load: str


@dataclass(frozen=True)
class BlockEffect:
    """The ratio, or the difference, within a block; `suspect`: one of its two runs is."""

    block: int
    effect: float
    suspect: bool = False


@dataclass(frozen=True)
class Dropped:
    """A block that does not count for a pair."""

    block: int
    reason: str


@dataclass(frozen=True)
class Interval:
    """Of the effect, at 95 %."""

    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """`effect` is the mean of the blocks' (of ratios the geometric one), None without a block; interval and p value are
    None with fewer than three. `declared`: how many contrasts the words hold for together, None: exploratory, so no
    word is said; `within_margin`: the whole interval is, which of *lower bounds* is never said; for what is not
    resolved, as far as the spread is known: with how many blocks there is a word whatever the difference is
    (`blocks_needed`), and with how many probably if it is as seen (`blocks_likely`). `made_again` and `left_out`: how
    many runs of a and of b were, the latter for causes of their own; `swayed`: with such runs there would be another
    word, so that none is said."""

    figure: Figure
    pair: Pair
    declared: int | None
    effects: tuple[BlockEffect, ...]
    dropped: tuple[Dropped, ...]
    effect: float | None
    interval: Interval | None
    p_value: float | None
    p_holm: float | None
    word: Word
    within_margin: bool
    blocks_needed: int | None
    blocks_likely: int | None
    lower_bounds: bool
    made_again: tuple[int, int] = (0, 0)
    left_out: tuple[int, int] = (0, 0)
    swayed: bool = False

    @property
    def blocks(self) -> int:
        """How many count."""
        return len(self.effects)

    @property
    def apart(self) -> bool:
        """Whether the interval excludes equality."""
        return self.interval is not None and not self.interval.low <= self.figure.even <= self.interval.high

    @property
    def coarse(self) -> bool:
        """Whether the interval is of so few blocks that its own width is uncertain."""
        return self.interval is not None and self.blocks < FEWEST_FINE_BLOCKS
