"""order.json: what an experiment is to run, in which order, and how far it has come."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.files import Counter, Margin, Name, Record, read_record, write_json
from loomlab.records.models import Request, ScaledScenario

State = Literal["planned", "running", "finished", "judged", "failed"]
Setting = Annotated[str, Field(pattern="^[A-Z_]+$")]  # the host's shell knows which of them a plan may set
Variable = Annotated[str, Field(pattern="^[A-Za-z_][A-Za-z0-9_]*$")]  # of a container
Value = Annotated[str, Field(pattern=r"^[A-Za-z0-9.:;,=+_-]*$")]
Colour = Annotated[str, Field(pattern=r"^#[0-9A-Fa-f]{6}$")]
IMAGE = "[a-z0-9]([A-Za-z0-9._/:@-]{0,250}[A-Za-z0-9])?"
Image = Annotated[str, Field(pattern=f"^{IMAGE}$")]
Stamp = Annotated[str, Field(pattern="^[0-9]{8}T[0-9]{6}Z$")]  # which the experiment's name begins with
Line = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
MOST_RUNS = 5_000


class PlannedRun(Record):
    run: Name = Field(description="Its folder's name")
    block: Counter = Field(description="Of runs of every approach, once each, at one load")
    expected_s: Counter = Field(0, description="With all around it, as `longest_s`")
    longest_s: Counter = 0
    state: State = Field("planned", description="`finished`: its raw files are complete, `failed`: they will not be")
    settings: dict[Setting, Value] = Field(description="Compose's variables that are this run's own")
    request: Request

    @model_validator(mode="after")
    def _loads_its_own_approach(self) -> Self:
        foreign = self.request.foreign
        origin = (foreign and foreign.origin) or f"http://{self.request.name}:{foreign.port if foreign else 8080}"
        if self.request.load.origin != origin:
            raise ValueError("the load goes elsewhere than to the approach")
        return self


JAVA_OPTIONS = "JAVA_TOOL_OPTIONS"  # which every JVM reads


class Side(Record):
    """One of several services of an approach, with what it has of its own."""

    told: Line = Field("", description="As the user wrote it")
    settings: dict[Setting, Value] = Field(default_factory=dict, description="Variables of the lab")
    environment: dict[Variable, Line] = Field(default_factory=dict, description="Variables of the container")
    image: Image | None = None

    @property
    def variables(self) -> dict[str, str]:
        """Of the container, but for those that the lab's settings are."""
        parts = (part.partition("=") for part in self.told.split("; "))
        names = {name.removeprefix("ENV:") for name, *_ in parts if name.startswith("ENV:")} | {JAVA_OPTIONS}
        return {name: value for name, value in self.environment.items() if name in names}


class Subject(Record):
    """A service of the user's, without what may be secret of it."""

    service: Name
    image: Image
    companions: list[Name] = Field(default_factory=list, description="Services that it depends on")
    told: list[Line] = Field(default_factory=list, description="What differs from how approaches run")


class Limit(Record):
    """Of a figure of run.json: by how much a side may be above side A, or, where that is negative, below it."""

    figure: Literal[
        "cpu_ms_per_request", "live_bytes_per_request", "latency_ms.p50", "latency_ms.p99", "latency_ms.p99_9",
        "throughput_rps", "capacity_rps",
    ]  # fmt: skip
    share: float = Field(gt=-1, le=10)

    def __str__(self) -> str:
        return f"{self.figure}{'<' if self.share < 0 else '>'}{100 * self.share:+g}%"


class Order(Record):
    """Whoever reads one, the host's shell among them, relies on its types: a folder of results may be a stranger's."""

    schema_: Literal["loom-lab/order/v1"] = Field("loom-lab/order/v1", alias="schema")
    experiment: Name
    planned: Stamp
    seed: int
    size: str
    settings: dict[Setting, Value] = Field(description="Compose's variables for every run")
    host: dict[str, Any]
    note: Line | None = None
    suspect: list[str] = Field(default_factory=list, description="Reasons that hold for every run")
    scenario: ScaledScenario | None = None
    sweep: bool = False
    tool_version: str | None = None
    lab_sha256: str | None = Field(None, description="Of the sources that make and judge runs")
    margin: Margin | None = Field(None, description="As the summary has it")
    asked: dict[Setting, str] = Field(default_factory=dict, description="The user's variables")
    benchmark: str | None = Field(None, description="The published benchmark it is made for")
    subject: Subject | None = None
    sides: dict[Name, Side] = Field(default_factory=dict, description="Of `compare`, by the names of their services")
    limits: list[Limit] = Field(default_factory=list, description="That FAIL sets to the sides")
    colours: dict[str, Colour] = Field(default_factory=dict, description="The approaches', #RRGGBB, for reports")
    runs: list[PlannedRun] = Field(min_length=1, max_length=MOST_RUNS)

    @property
    def recorded(self) -> bool:
        """Whether JFR records what pins virtual threads."""
        return "JFR" in self.asked

    @property
    def outside(self) -> bool:
        """Whether the lab does not run what it measures."""
        return any(run.request.outside for run in self.runs)

    @property
    def verb(self) -> str:
        """The verb of make that plans it."""
        verb = "sweep" if self.sweep else f"run-{self.runs[0].request.tool}"
        verb = "scenario" if self.scenario else "compare" if self.sides else verb
        return "capacity" if self.runs[0].request.search else verb

    def run(self, name: str) -> PlannedRun:
        if run := next((run for run in self.runs if run.run == name), None):
            return run
        raise UsageError(f"{name} is no run of {self.experiment}: use one of its runs, such as {self.runs[0].run}.")


def order_file(experiment_dir: Path) -> Path:
    return experiment_dir / "order.json"


def order_of(experiment_dir: Path) -> Order | None:
    """The order, None where there is none; raises ParseError for one that cannot be read."""
    return read_record(order_file(experiment_dir), Order)


def read_order(experiment_dir: Path) -> Order:
    """The order; raises UsageError where there is none, and ParseError as `order_of`."""
    order = order_of(experiment_dir)
    if order is None:
        fact = f"{experiment_dir} has no order.json"
        raise UsageError(f"{fact}: it was not planned by this version of the lab; measure again.")
    return order


@contextmanager
def changing(experiment_dir: Path) -> Iterator[Order]:
    """The order, written again afterwards; one process at a time."""
    read_order(experiment_dir)
    with os.fdopen(os.open(experiment_dir / ".order.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        order = read_order(experiment_dir)
        yield order
        write_json(order_file(experiment_dir), order)


def set_state(run_dir: Path, state: State) -> None:
    """Notes the state of a run in its experiment's order; a run that was made without one has no state."""
    run_dir = run_dir.resolve()
    with suppress(UsageError, ParseError), changing(run_dir.parent.parent) as order:
        order.run(run_dir.name).state = state
