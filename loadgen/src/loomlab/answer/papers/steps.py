"""The experiments that answer a paper, one after another, and what of them is still to be made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loomlab.answer.finish import foreign, planned, unfinished, unsafe
from loomlab.answer.papers.keeping import approach_cpus
from loomlab.answer.papers.measured import KeptExperiment, blocks_of, demand_of, step_name
from loomlab.answer.papers.model import Claim, NoTest, Paper, RatioTest, ValueTest
from loomlab.basics.errors import HostError, UsageError
from loomlab.plan.asked import asked_of
from loomlab.plan.host import Host
from loomlab.plan.lab import Lab
from loomlab.plan.planning import plan
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.variables import stanzas
from loomlab.records.order import Order, changing
from loomlab.statistics.comparison import FEWEST_BLOCKS
from loomlab.statistics.tries import MOST_TRIES

DEFAULTS = {"DURATION": "60s"}
TAKEN = ("PAPER", "SCALE", "DURATION", "WARMUP_CAP", "REPEATS", "SEED", "SIZE", "GC", "HTTP_CLIENT", "PLAN")
"""What a user may ask of a paper's experiments; the paper says all else."""
STAMP = "20000101T000000Z"
SMALLEST_SCALE = 0.0001


@dataclass(frozen=True)
class Step:
    """An experiment of `blocks` repeats; `variables` are what `bin/run` takes for `verb`, REPEATS apart. Steps of one
    `round` alternate, a block each."""

    verb: str
    variables: dict[str, str]
    blocks: int
    round: str
    order: Order

    @property
    def name(self) -> str:
        return step_name(self.order)

    @property
    def declared(self) -> dict[str, Any]:
        """How many blocks are to be made before claims are answered, of what."""
        return {"demand": demand_of(self.order), "blocks": max(self.blocks, FEWEST_BLOCKS)}


@dataclass(frozen=True)
class Steps:
    """`notes` are sentences on levels that the host cannot hold; `left_out` are whole scenarios that it cannot, and
    why."""

    steps: list[Step]
    notes: list[str]
    left_out: dict[str, str]


@dataclass(frozen=True)
class Plan:
    """`lines` are what the host's shell walks, `notes` sentences; `seconds` in all, by experience."""

    lines: list[str]
    notes: list[str]
    seconds: int


def steps_of(
    name: str, paper: Paper, scenarios: Sequence[str], variables: Mapping[str, str], host: Host, lab: Lab
) -> Steps:
    """All of the paper's experiments on this host. Raises UsageError for a variable that a paper does not take."""
    for key in stanzas():
        if variables.get(key) and key not in TAKEN and not key.endswith("_PORT"):
            raise UsageError(
                f"{key}={variables[key]} does not go with PAPER={name}, because the paper sets it: leave it out."
            )
    given = {key: variables[key] for key in TAKEN if variables.get(key) and key != "PLAN"}
    found = Steps([], [], {})
    for verb, asked, blocks, round_ in _experiments(paper, scenarios, given, lab):
        full = {**asked, "PAPER": name}
        try:
            full |= _own_scale(paper, full, host, lab)
            order = plan(asked_of(verb, full, lab), host, lab, STAMP)
            found.steps.append(Step(verb, full, int(given.get("REPEATS", blocks)), round_, order))
            found.notes.extend(f"{step_name(order)}: {one}" for one in order.left_out)
        except HostError as error:
            found.left_out[asked.get("NAME", round_)] = str(error)
    return found


def _own_scale(paper: Paper, asked: Mapping[str, str], host: Host, lab: Lab) -> dict[str, str]:
    """Of a scenario: what the user asks for, else what the paper says for the CPUs that the approach has here, else
    what the host holds."""
    if "NAME" not in asked or "SCALE" in asked:
        return {}
    per_cpu = paper.scale_per_cpu.get(asked["NAME"])
    if per_cpu is None:
        return {"SCALE": "auto"}
    cpus = approach_cpus(plan(asked_of("scenario", {**asked, "SCALE": "auto"}, lab), host, lab, STAMP))
    scale = min(1.0, max(per_cpu * cpus, SMALLEST_SCALE))
    return {"SCALE": f"{scale:.4f}".rstrip("0").rstrip(".")}


def _experiments(
    paper: Paper, scenarios: Sequence[str], given: Mapping[str, str], lab: Lab
) -> Iterator[tuple[str, dict[str, str], int, str]]:
    """Verb, variables, blocks and round: the paper's scenarios, then the loads that only claims have."""
    defaults = DEFAULTS | paper.asks
    own = {key: value for key, value in given.items() if key not in {"SCALE", "REPEATS"}}
    claimed = {scenario for claim in paper.claims if claim.load for scenario in claim.load.scenarios}
    for scenario in scenarios:
        repeats = max(FEWEST_BLOCKS if scenario in claimed else 1, load_scenario(lab.scenarios, scenario).repeats)
        yield "scenario", {**defaults, **given, "NAME": scenario}, repeats, scenario
    known: dict[str, dict[str, str]] = {}
    for claim in paper.claims:
        for asked in _loads_of_claim(claim):
            if known.setdefault(" ".join(asked.values()), asked) is asked:
                tool = claim.load.tool if claim.load else None
                round_ = f"{tool} {asked['ENDPOINT']} {asked['CONCURRENCY']}"
                yield str(tool), {**defaults, **own, **asked}, FEWEST_BLOCKS, round_


def _loads_of_claim(claim: Claim) -> Iterator[dict[str, str]]:
    """Of one that no scenario shows: a load for each level and each JDK."""
    if claim.load is None or claim.load.tool is None:
        return
    for level in claim.load.levels:
        for jdk, approaches in _sides(claim).items():
            asked = {"CONCURRENCY": str(level), "ENDPOINT": claim.load.endpoint or "", "APPROACH": ",".join(approaches)}
            yield asked | ({"JDK": str(jdk)} if jdk else {})


def _sides(claim: Claim) -> dict[int | None, list[str]]:
    """Approaches by the JDK that they are to run on; None: the lab's own."""
    match claim.decided_by:
        case RatioTest(of=of, to=to):
            sides = [(of.jdk, of.approach), (to.jdk, to.approach)]
        case NoTest():
            sides = []
        case ValueTest(approaches=approaches, jdk=jdk):
            sides = [(jdk, approach) for approach in approaches]
        case other:
            sides = [(None, approach) for approach in other.approaches]
    return {jdk: [*dict.fromkeys(name for one, name in sides if one == jdk)] for jdk, _ in sides}


def plan_of(
    found: Steps, results: Path, measured: Mapping[str, Sequence[KeptExperiment]], host: Host, lab: Lab
) -> Plan:
    """What is neither measured nor begun; what was begun and cut off goes on first. `measured` are experiments by step,
    whatever they ask for."""
    begun = [one for one in _begun(results) if foreign(one[1], one[0], host, lab.checksum) is None]
    lines: list[str] = []
    runs: list[tuple[Order, int]] = []
    lacking: list[tuple[Step, int]] = []
    notes = [f"{name} is left out: {why}" for name, why in found.left_out.items()] + found.notes
    for step in found.steps:
        demand = demand_of(step.order)
        going = [
            (path, order) for path, order in begun if order.paper == step.order.paper and demand_of(order) == demand
        ]
        blocks, note = _lacking(step, demand, measured.get(step.name, []), {path.name for path, _ in going})
        notes += note
        for folder, order in going:
            if blocks > 0:
                lines.append(f"finish RESUME={folder.name}")
                runs.append((order, sum(run.state != "judged" for run in order.runs)))
                blocks -= max(run.request.repeat for run in order.runs)
        if blocks > 0:
            lacking.append((step, blocks))
    for step, blocks in _alternating(lacking):
        settings = " ".join(f"{key}={value}" for key, value in step.variables.items() if key != "REPEATS")
        lines.append(f"{step.verb} {settings} REPEATS={blocks}")
        runs.append((step.order, len(step.order.runs) // max(run.request.repeat for run in step.order.runs) * blocks))
    return Plan(lines, notes, sum(_seconds(order, count) for order, count in runs))


def _lacking(step: Step, demand: str, measured: Sequence[KeptExperiment], going: set[str]) -> tuple[int, list[str]]:
    """How many blocks are to be made, without the experiments that go on; those that the host spoilt are made again, up
    to so many in all, and that they are not made any more is told."""
    blocks = blocks_of([one for one in measured if one.demand == demand and one.name not in going])
    missing = step.blocks - blocks.counted
    left = MOST_TRIES * step.blocks - blocks.made
    if missing <= 0 or missing <= left:
        return max(missing, 0), []
    count = f"{blocks.counted} of {blocks.made}"
    return max(left, 0), [
        f"{step.name}: the host spoilt runs of all blocks but {count}; so many are made, and no more: "
        "look at the reasons in docs/reproduced.md, and use another SCALE."
    ]


def _seconds(order: Order, runs: int) -> int:
    """Of so many of its runs, whose loads take turns."""
    return round(sum(run.expected_s or order.expected_s for run in order.runs) / len(order.runs) * runs)


def _begun(results: Path) -> list[tuple[Path, Order]]:
    """The experiments that lack a run."""
    return [one for one in planned(results) if any(run.state != "judged" for run in one[1].runs)]


def _alternating(lacking: Sequence[tuple[Step, int]]) -> Iterator[tuple[Step, int]]:
    """Steps of one round a block each in turn, so that they meet the same state of the host; others at once."""
    for round_ in dict.fromkeys(step.round for step, _ in lacking):
        here = [(step, blocks) for step, blocks in lacking if step.round == round_]
        if len(here) == 1:
            yield here[0]
            continue
        for turn in range(max(blocks for _, blocks in here)):
            yield from ((step, 1) for step, blocks in here if blocks > turn)


def take(results: Path, folder_name: str, name: str, steps: Sequence[Step]) -> str | None:
    """Makes an experiment of results/ one of the paper's; gives the line that makes the runs that it lacks. Raises
    UsageError where it is another paper's, or none's, or asks for something else than the paper's steps."""
    folder = unfinished(results, folder_name)
    if problem := unsafe(folder):
        raise UsageError(problem)
    with changing(folder) as order:
        of = order.paper or (order.scenario.experiment if order.scenario else None)
        if of != name:
            whose, cure = (f"of the paper {of}", f"use PAPER={of}") if of else ("of no paper", "leave it out")
            raise UsageError(f"RESUME={folder.name} is {whose}, not of {name}: {cure}.")
        if demand_of(order) not in {demand_of(step.order) for step in steps}:
            raise UsageError(
                f"RESUME={folder.name} {_otherwise(order, steps)}, so that its runs are no blocks of PAPER={name} as "
                "it is asked for now: give the variables that it was made with, or leave it out."
            )
        order.paper = name
    return f"finish RESUME={folder.name}" if any(run.state != "judged" for run in order.runs) else None


def _otherwise(order: Order, steps: Sequence[Step]) -> str:
    """What is another, as far as it is easily told."""
    wanted = next((step.order for step in steps if step.name == step_name(order)), None)
    if wanted is None:
        return "has a load that the paper does not have"
    if order.lab_sha256 != wanted.lab_sha256:
        return "was made with other sources of the lab"
    if order.scenario and wanted.scenario and order.scenario.scale != wanted.scenario.scale:
        return f"has SCALE={order.scenario.scale:g} and not {wanted.scenario.scale:g}"
    return "has another load, or other settings"
