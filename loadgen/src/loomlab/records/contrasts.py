"""What two approaches differ in, and by how much."""

from typing import Literal

from pydantic import ConfigDict, Field

from loomlab.records.files import Record

Kind = Literal["controlled", "settings", "stack", "unknown", "same"]
Word = Literal["lower", "higher", "no difference", "equivalent", "not significant", "exploratory"]


class Difference(Record):
    part: str = Field(description="Of a stack")
    a: str = Field(description="What a has there")
    b: str = Field(description="What b has there")


class BlockEffect(Record):
    model_config = ConfigDict(allow_inf_nan=True)

    block: int
    effect: float = Field(description="a's figure ÷ b's; of what may be negative, a's − b's")
    suspect: bool = Field(False, description="One of its two runs is")


class Comparison(Record):
    """Two approaches by one figure at one load, within blocks. summary.json has a, b and kind once, in the contrast."""

    model_config = ConfigDict(allow_inf_nan=True)

    a: str = Field("", exclude=True)
    b: str = Field("", exclude=True)
    kind: Kind = Field("unknown", exclude=True)
    unit: str = Field("", exclude=True)
    by_difference: bool = Field(False, exclude=True, description="Effects are differences in the unit, else ratios")
    declared: int | None = Field(None, exclude=True, description="Contrasts that the words hold for; None: exploratory")
    figure: str
    cell: int = Field(description="Number of the load")
    load: str = Field(description="As sentences call it")
    margin: float | None = Field(description="None: nothing calls two equivalent, as of lower bounds")
    blocks: list[BlockEffect] = Field(description="Those that count")
    dropped: list[str] = Field(description="Blocks that do not count, with what spoils them")
    a_mean: float | None = Field(None, description="Of a's figure; geometric, of differences arithmetic")
    b_mean: float | None = Field(None, description="The same of b's")
    effect: float | None = Field(description="Mean of the blocks, of ratios the geometric one")
    low: float | None = Field(description="Of the interval at 95 %, from three blocks on")
    high: float | None
    coarse: bool = Field(description="So few blocks that the interval's own width is uncertain")
    p_value: float | None
    p_holm: float | None = Field(None, description="Adjusted for all contrasts declared together")
    word: Word = Field("exploratory", description="Holds for all contrasts declared together")
    within_margin: bool = Field(False, description="The whole interval is")
    lower_bounds: bool = Field(False, description="The truth may be above the figures")
    blocks_likely: int | None = Field(None, description="For a word, with 80 % power, if the difference is as seen")
    made_again: tuple[int, int] = Field((0, 0), description="Runs of a and of b")
    left_out: tuple[int, int] = Field((0, 0), description="Runs of a and of b, for causes of their own")
    swayed: bool = Field(False, description="With the runs left out there would be another word")
    sentence: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def even(self) -> float:
        return 0.0 if self.by_difference else 1.0

    @property
    def apart(self) -> bool:
        return self.interval is not None and not self.interval[0] <= self.even <= self.interval[1]


class Contrast(Record):
    a: str
    b: str
    kind: Kind = Field(
        description="controlled: they differ in the concurrency model alone; settings: sides of `compare`; same: one, "
        "measured twice"
    )
    differs: list[Difference]
    comparisons: list[Comparison] = Field(default_factory=list, description="Where there are three blocks or more")
