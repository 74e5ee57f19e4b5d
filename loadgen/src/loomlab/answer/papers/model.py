"""A published experiment as its file has it: source, set-up, figures and claims."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from loomlab.answer.papers.figures import Figure, factor
from loomlab.judge.verdict import RULES
from loomlab.plan.scenarios.model import ApproachName, Part, ToolName
from loomlab.plan.scenarios.units import Count

Text = Annotated[str, StringConstraints(min_length=1)]
Value = Annotated[float, Field(allow_inf_nan=False)]


def _rule(name: str) -> str:
    if name not in {rule.name for rule in RULES}:
        raise ValueError("use the name of a rule, as run.json has it under rules")
    return name


RuleName = Annotated[str, AfterValidator(_rule)]
OneOrMore = BeforeValidator(lambda value: value if isinstance(value, list) else [value])
Place = Annotated[
    list[Text], Field(min_length=1, description="Headings and lines, one below the other, without markup.")
]


def _each[T](found: list[T], count: int) -> list[T]:
    return found if len(found) == count else found * count


class Machine(Part):
    """`name` stands in the text; `memory_gib` is None where it is not told."""

    name: Text
    cpus: Count
    memory_gib: Value | None = None
    runs: Text


class Row(Part):
    """The figures that follow `label` in the text. `unit` is one for all or one for each; so is `measured`, the lab's
    figure of the same thing."""

    label: Text
    columns: list[Text] = Field(default_factory=list)
    unit: Annotated[list[Text], OneOrMore, Field(min_length=1)]
    values: list[Value] = Field(min_length=1)
    measured: Annotated[list[Figure | None], OneOrMore] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_or_each(self) -> Self:
        count = len(self.values)
        for name, found in (("unit", self.unit), ("measured", self.measured)):
            if len(found) not in {0, 1, count}:
                raise ValueError(
                    f"the row {self.label!r} has {count} values and {len(found)} of {name}: give one, or {count}"
                )
        if self.columns and len(self.columns) != count:
            raise ValueError(f"the row {self.label!r} has {count} values and {len(self.columns)} columns")
        for unit, figure in zip(self.units, self.figures, strict=True):
            if figure and factor(unit, figure) is None:
                raise ValueError(f"the row {self.label!r} is in {unit}, which cannot be turned into {figure}")
        return self

    @property
    def units(self) -> list[str]:
        return _each(self.unit, len(self.values))

    @property
    def figures(self) -> list[str | None]:
        unknown: list[str | None] = [None]
        return _each(self.measured or unknown, len(self.values))


@dataclass(frozen=True)
class Cell:
    """One published figure; `value` is in `unit`."""

    table: str
    row: str
    column: str | None
    approach: str | None
    level: int | None
    repeat: int
    unit: str
    value: float
    figure: str | None

    @property
    def measured(self) -> float | None:
        """In the unit of the lab's figure; None where the lab has none."""
        scale = factor(self.unit, self.figure) if self.figure else None
        return None if scale is None else self.value * scale


class Table(Part):
    """The columns are `levels`, or `approaches`, or have names; rows may have columns of their own. `notes`: what of
    its rows is not the same thing as the lab's figure."""

    name: Text
    place: Place
    approach: ApproachName | None = None
    level: Count | None = None
    repeat: Count = 1
    levels: list[Count] = Field(default_factory=list)
    approaches: list[ApproachName] = Field(default_factory=list)
    columns: list[Text] = Field(default_factory=list)
    notes: list[Text] = Field(default_factory=list)
    rows: list[Row] = Field(min_length=1)

    @model_validator(mode="after")
    def _as_many_values(self) -> Self:
        kinds = [kind for kind in (self.levels, self.approaches, self.columns) if kind]
        if len(kinds) > 1:
            raise ValueError(f"the columns of {self.name!r} are either levels, or approaches, or have names")
        columns = len(kinds[0]) if kinds else 1
        for row in self.rows:
            if not row.columns and len(row.values) != columns:
                raise ValueError(f"the row {row.label!r} of {self.name!r} has {len(row.values)} values, not {columns}")
        return self

    def cells(self) -> Iterator[Cell]:
        """Every figure of the table."""
        for row in self.rows:
            for index, value in enumerate(row.values):
                names = row.columns or self.columns
                own = bool(row.columns)
                yield Cell(
                    table=self.name,
                    row=row.label,
                    column=names[index] if names else None,
                    approach=self.approaches[index] if self.approaches and not own else self.approach,
                    level=self.levels[index] if self.levels and not own else self.level,
                    repeat=self.repeat,
                    unit=row.units[index],
                    value=value,
                    figure=row.figures[index],
                )


class Picture(Part):
    """What was published as a picture only; `path` is as the text links it."""

    path: Text
    shows: Text
    scenario: Text | None = None
    approach: ApproachName | None = None


class Drawn(Part):
    """The paper's own chart, to be drawn again: `levels`, its figures over its levels; `course`, a run of each approach
    over time; `iterations`, the latencies of its repeats over time; `two-by-two`, how long each approach took and what
    failed."""

    kind: Literal["levels", "course", "iterations", "two-by-two"]
    figures: list[Figure] = Field(default_factory=list)


class Announced(Part):
    """What the text says will follow and does not have; the lab's figures of it."""

    place: Place
    what: Text
    measured: list[Figure] = Field(min_length=1)


class Levels(Part):
    """The loads that were run; `unit` is what is counted."""

    unit: Literal["connections", "users", "requests/s"]
    values: list[Count] = Field(min_length=1)


class ClaimLoad(Part):
    """The lab's scenarios that show it, or a tool and an endpoint; without `levels` every level of the scenarios. What
    does not test it: a run in which nothing queues, if `saturated`, which a claim that is not about load is not; with
    less load a CPU of the approach than was published, if `per_cpu`; with another load than the published one, if
    `unscaled`; that is to last another time than `lasts_s`."""

    scenarios: list[Text] = Field(default_factory=list)
    tool: ToolName | None = None
    endpoint: Annotated[str | None, Field(pattern=r"^/[!-~]*$")] = None
    levels: list[Count] = Field(default_factory=list)
    saturated: bool = True
    per_cpu: bool = False
    unscaled: bool = False
    lasts_s: Count | None = None

    @model_validator(mode="after")
    def _either(self) -> Self:
        if bool(self.scenarios) == (self.tool is not None):
            raise ValueError("use either scenarios, or tool with endpoint and levels")
        if (self.tool is None) != (self.endpoint is None) or (self.tool and not self.levels):
            raise ValueError("a tool goes with endpoint and levels, scenarios with neither tool nor endpoint")
        return self


class Side(Part):
    """One side of a ratio; without `level` that of the claim."""

    approach: ApproachName
    level: Count | None = None
    jdk: Literal[21, 25] | None = None

    def __str__(self) -> str:
        at = f" at {self.level:,}" if self.level else ""
        return self.approach + at + (f" on JDK {self.jdk}" if self.jdk else "")


class Limits(Part):
    """Reproduced: the whole interval is above the one and below the other."""

    above: Value | None = None
    below: Value | None = None

    @model_validator(mode="after")
    def _limited(self) -> Self:
        if self.above is None and self.below is None:
            raise ValueError("give above, or below, or both")
        if self.above is not None and self.below is not None and self.above >= self.below:
            raise ValueError(f"nothing is above {self.above:g} and below {self.below:g}")
        return self

    def hold(self, value: float) -> bool:
        """Whether the value lies between them."""
        return (self.above is None or value > self.above) and (self.below is None or value < self.below)


class RatioTest(Limits):
    """The figure of one side, divided by that of the other."""

    kind: Literal["ratio"]
    figures: list[Figure] = Field(min_length=1)
    of: Side
    to: Side

    @property
    def name(self) -> str:
        return f"{self.of} ÷ {self.to}"


class ValueTest(Limits):
    """The figure of each of the approaches; `in_every_block`: of counts that are 0 or not, whose interval would mean
    nothing, each block is held against the limits by itself."""

    kind: Literal["value"]
    figures: list[Figure] = Field(min_length=1)
    approaches: list[ApproachName] = Field(min_length=1)
    jdk: Literal[21, 25] | None = None
    in_every_block: bool = False


class SlopeTest(Limits):
    """How much the figure grows from the lowest level of the claim to its highest, per connection or user."""

    kind: Literal["slope"]
    figures: list[Figure] = Field(min_length=1)
    approaches: list[ApproachName] = Field(min_length=1)


class NoTest(Part):
    """Nothing that the lab measures would show it."""

    kind: Literal["none"]
    why: Text


Test = RatioTest | ValueTest | SlopeTest
Decision = Annotated[RatioTest | ValueTest | SlopeTest | NoTest, Field(discriminator="kind")]


class Claim(Part):
    """`says` is the content in the lab's own words; `remark` what speaks for or against it beforehand; `despite` are
    rules of the verdict that may fail, because what fails them is what the claim is about, or does not touch its
    figures."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    says: Text
    place: Place
    load: ClaimLoad | None = None
    decided_by: Decision
    despite: list[RuleName] = Field(default_factory=list)
    remark: Text | None = None

    @model_validator(mode="after")
    def _has_load(self) -> Self:
        if (self.load is None) != (self.decided_by.kind == "none"):
            raise ValueError(f"the claim {self.id}: a load goes with a ratio, a value or a slope, and only with these")
        if isinstance(self.decided_by, SlopeTest) and self.load and len(self.load.levels) < 2:
            raise ValueError(f"the claim {self.id}: a slope needs two levels at least")
        return self


class Paper(Part):
    """A published experiment. `author` and `url` are None where they are not known; `year_told_by` is what the year is
    concluded from; what `setup` maps to stands in the text; `pictures_at` precedes the pictures' paths. `scale_per_cpu`
    is, by scenario, the scale that one CPU of the approach takes, where the host's own would not show what claims are
    about. `asks` are variables of the paper's experiments, unless the user sets them."""

    title: Text
    author: Text | None
    url: Text | None
    year: Annotated[int, Field(ge=2018, le=2100)]
    year_told_by: Text
    machines: list[Machine] = Field(default_factory=list)
    setup: dict[str, Text]
    levels: Levels
    scale_per_cpu: dict[Text, Annotated[Value, Field(gt=0, le=1)]] = Field(default_factory=dict)
    asks: dict[Literal["HTTP_CLIENT", "GC", "DURATION"], Text] = Field(default_factory=dict)
    tables: list[Table] = Field(default_factory=list)
    pictures_at: Text | None = None
    pictures: list[Picture] = Field(default_factory=list)
    announced: list[Announced] = Field(default_factory=list)
    drawn: Drawn | None = None
    remarks: list[Text] = Field(default_factory=list)
    claims: list[Claim] = Field(min_length=1)

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        for what, names in (("table", [one.name for one in self.tables]), ("claim", [one.id for one in self.claims])):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice:
                raise ValueError(f"there are two of the {what} {twice!r}: give each a name of its own")
        per_cpu = next((claim.id for claim in self.claims if claim.load and claim.load.per_cpu), None)
        if per_cpu and self.approach_cpus is None:
            raise ValueError(f"the claim {per_cpu} is per_cpu: name the machine that runs the approach, with its cpus")
        return self

    @property
    def approach_cpus(self) -> int | None:
        """Of the machine that ran nothing but the approach."""
        return next((one.cpus for one in self.machines if one.runs == "approach"), None)

    def cells(self) -> Iterator[Cell]:
        """Every published figure."""
        for table in self.tables:
            yield from table.cells()
