"""What was measured of a published experiment, small enough to be kept in the repository: a file an experiment."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from loomlab.records.files import read_record, write_text
from loomlab.records.models import Verdict
from loomlab.records.order import Order, PlannedRun
from loomlab.records.record import Record
from loomlab.statistics.tries import MOST_TRIES

SCHEMA: Literal["loom-lab/measured/v1"] = "loom-lab/measured/v1"
DEMANDED = ("APPROACH_MEMORY", "APPROACH_CPUS", "ERROR_SHARE", "SAVE_MOVIES")
"""Of the settings that all runs of an experiment share."""


class KeptRun(Record):
    """`level` is the published load that it stands for, `amount` the one that was run, in the same unit, for `lasts_s`
    at most; `failed` are the rules that make it invalid, `spoilt`: one of them for a cause outside of the approach;
    `torn`: why its block counts for nothing; `figures` are by the lab's names of them, what was not measured is not
    there."""

    run: str
    approach: str
    jdk: int
    repeat: int
    level: int
    amount: float
    lasts_s: int
    verdict: Verdict
    failed: list[str]
    spoilt: bool
    torn: str | None = None
    reasons: list[str]
    failures: dict[str, int]
    figures: dict[str, float]


class KeptExperiment(Record):
    """`demand` is the same of experiments whose runs may be taken together; `asked` are the variables that ask for it
    again, `cpus` the approach's, `setup` is what tables tell beside what was published."""

    name: str
    started: str
    demand: str
    asked: dict[str, str]
    cpus: float
    setup: dict[str, str]
    differs: list[str]
    left_out: list[str]
    runs: list[KeptRun]


class Measured(Record):
    """Experiments of one demand, oldest first; `declared` are the numbers of blocks at which claims are answered, each
    asked for before its blocks were made; `drawn_from` is the experiment that the picture beside it shows, `left_out`
    why the host that was asked last can hold none."""

    schema_: Literal["loom-lab/measured/v1"] = Field(default=SCHEMA, alias="schema")
    paper: str
    step: str
    left_out: str | None = None
    drawn_from: str | None = None
    declared: list[int] = Field(default_factory=list)
    experiments: list[KeptExperiment]

    @property
    def early(self) -> str | None:
        """Why no claim is answered yet; None: each is, also where some blocks are spoilt however often they are
        made."""
        blocks, wanted = blocks_of(self.experiments), max(self.declared, default=0)
        if blocks.counted >= wanted or blocks.made >= MOST_TRIES * wanted:
            return None
        return f"{blocks.counted} of {wanted} blocks are made, and claims are answered when all of them are"


def read_measured(folder: Path, paper: str) -> dict[str, Measured]:
    """By step; raises ParseError for a file that is something else."""
    found = (read_record(path, Measured) for path in sorted((folder / paper).glob("*.json")))
    return {one.step: one for one in found if one is not None}


def step_name(order: Order) -> str:
    """Of the scenario, or of tool, endpoint, connections and JDK."""
    if order.scenario is not None:
        return order.scenario.name
    request = order.runs[0].request
    return f"{load_name(request.tool, request.endpoint)}-{request.load.connections}-jdk{request.jdk}"


def load_name(tool: str, endpoint: str) -> str:
    """Of a load that no scenario has, as a file's name begins."""
    return "-".join([tool, *(part for part in endpoint.partition("?")[0].split("/") if part)])


def demand_of(order: Order) -> str:
    """Of everything that a run's figures depend on but its place in the order; of CPUs, the sets; of the lab, what the
    images are built from, the JDK among it."""
    parts = sorted({json.dumps(_demand(run), sort_keys=True) for run in order.runs})
    told = [*parts, *(order.settings.get(name, "") for name in DEMANDED), order.lab_sha256 or ""]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def _demand(run: PlannedRun) -> dict[str, Any]:
    request = run.request.model_dump(mode="json")
    load = request["load"]
    shape = {key: value for key, value in load["shape"].items() if not (request["fit_requests"] and key == "requests")}
    if request["fit_duration"]:
        shape.pop("duration_s", None)
    names = (
        "tool", "approach", "delay", "hangs", "jdk", "gc", "http_client", "style", "generator_cpus", "backend_cpus",
        "approach_cpus", "warmup_cap_s",
    )  # fmt: skip
    return {name: request[name] for name in names} | {"load": load | {"shape": shape}, "settings": run.settings}


@dataclass(frozen=True)
class Blocks:
    """Of experiments of one demand: how many were `made`, and at the load that has the fewest, how many `counted`: they
    are not torn, and have no run that was spoilt from outside."""

    made: int = 0
    counted: int = 0


def blocks_of(experiments: Sequence[KeptExperiment]) -> Blocks:
    """A block has every approach that any of the experiments has at its load."""
    wanted: dict[int, set[str]] = {}
    made: dict[tuple[int, str, int], set[str]] = {}
    spoilt: set[tuple[int, str, int]] = set()
    for experiment in experiments:
        for run in experiment.runs:
            block = (run.level, experiment.name, run.repeat)
            wanted.setdefault(run.level, set()).add(run.approach)
            made.setdefault(block, set()).add(run.approach)
            spoilt |= {block} if run.spoilt or run.torn else set()
    whole = [block for block, approaches in made.items() if approaches == wanted[block[0]]]
    if not wanted:
        return Blocks()
    return Blocks(
        made=min(sum(block[0] == level for block in whole) for level in wanted),
        counted=min(sum(block[0] == level for block in whole if block not in spoilt) for level in wanted),
    )


def write_measured(path: Path, measured: Measured) -> None:
    """A run a line, so that what is added shows as that."""
    told = measured.model_dump(mode="json", by_alias=True)
    runs: list[str] = []
    for experiment in told["experiments"]:
        for place, run in enumerate(experiment["runs"]):
            experiment["runs"][place] = f"@{len(runs)}@"
            runs.append(json.dumps(run, separators=(",", ":")))
    text = json.dumps(told, indent=1)
    for place, run in enumerate(runs):
        text = text.replace(f'"@{place}@"', run)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text + "\n")
