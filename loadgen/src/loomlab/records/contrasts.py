"""What two approaches differ in, and by how much."""

from typing import Literal

from pydantic import Field

from loomlab.records.record import Record

Kind = Literal["controlled", "stack", "unknown", "same"]


class Difference(Record):
    """Which part of a stack it is, and what the two approaches have there."""

    part: str
    a: str
    b: str


class BlockRatio(Record):
    """`suspect`: one of its two runs is."""

    block: int
    ratio: float
    suspect: bool = False


class Comparison(Record):
    """Of one figure at one load (`cell`), within blocks: the ratio of a's figure to b's, with its interval at 95 %.
    `word` holds for all contrasts declared together, `p_holm` is adjusted for them; `dropped`: blocks that do not
    count; `within_margin`: the whole interval is; to resolve what is not, `blocks_needed` whatever the difference is,
    and `blocks_likely`, with 80 % power, if it is as seen. Lower bounds have no margin. `made_again` and `left_out`:
    how many runs of a and of b were, the latter for causes of their own; `swayed`: with such runs there would be
    another word."""

    figure: str
    cell: int
    load: str
    margin: float | None
    blocks: list[BlockRatio]
    dropped: list[str]
    ratio: float | None
    low: float | None
    high: float | None
    coarse: bool
    p_value: float | None
    p_holm: float | None
    word: Literal["lower", "higher", "no difference", "equivalent", "not resolved", "exploratory"]
    within_margin: bool = False
    lower_bounds: bool = False
    blocks_needed: int | None
    blocks_likely: int | None = None
    made_again: tuple[int, int] = (0, 0)
    left_out: tuple[int, int] = (0, 0)
    swayed: bool = False
    sentence: str


class Contrast(Record):
    """Of two approaches; controlled: they differ in the concurrency model alone; same: they are one, measured twice.
    `comparisons` are made where there are three blocks or more."""

    a: str
    b: str
    kind: Kind
    differs: list[Difference]
    comparisons: list[Comparison] = Field(default_factory=list)
