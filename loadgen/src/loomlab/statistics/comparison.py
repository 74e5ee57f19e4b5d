"""What is compared: figures of runs, within blocks."""

from dataclasses import dataclass

from loomlab.records.contrasts import Kind

FEWEST_BLOCKS, FEWEST_FINE_BLOCKS = 3, 5  # for an interval, and for one that is not called coarse
CONFIDENCE, ERROR_RATE = 0.95, 0.05
"""Of each interval by itself; of the words lower and higher, over all contrasts declared together."""
POWER = 0.80  # with which a number of blocks is likely to be enough


@dataclass(frozen=True)
class ComparedFigure:
    """How a figure is compared; its words are those of "a needs 20 % less CPU per request than b"."""

    name: str
    unit: str
    margin: float | None
    """Equivalence margin: of two that are equivalent neither exceeds the other by as much as this share. None: nothing
    calls two equivalent."""
    verb: str
    less: str
    more: str
    by_difference: bool = False  # in the unit, because it may be 0 or less; else by ratio
    percentile: float | None = None  # of latency


CPU_MARGIN, P99_MARGIN = 0.10, 0.15
CPU_PER_REQUEST = ComparedFigure("CPU per request", "ms", CPU_MARGIN, "needs", "less", "more")
CAPACITY_RPS = ComparedFigure("capacity", "requests/s", CPU_MARGIN, "has", "lower", "higher")
P99 = ComparedFigure("p99 latency", "ms", P99_MARGIN, "has", "lower", "higher", percentile=99)
MEMORY_PER_REQUEST = ComparedFigure(
    "memory per in-flight request", "KiB", None, "needs", "less", "more", by_difference=True
)


@dataclass(frozen=True)
class Observation:
    block: int
    approach: str
    load: str  # tells loads apart and is how sentences call them, such as "2,000 connections"
    value: float | None  # none: it does not count, for this reason
    reason: str | None = None
    suspect: bool = False
    resolution: float = 0  # the value was rounded to multiples of it; 0: it was not
    lower_bound: bool = False  # the truth may be above the value
    left_out: float | None = None
    """The figure of a run that does not count for a cause that its own cost may have brought about."""
    lost: bool = False  # such a run has no figure
    made_again: bool = False


@dataclass(frozen=True)
class Pair:
    a: str
    b: str
    load: str
    kind: Kind = "unknown"
    cell: int = 1
