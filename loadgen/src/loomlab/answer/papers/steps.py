"""The experiments that answer a paper, one after another, and what of them is still to be made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loomlab.answer.finish import foreign, unfinished
from loomlab.answer.papers.measured import Measured, blocks_of, demand_of, step_name
from loomlab.answer.papers.model import Claim, NoTest, Paper, RatioTest, ValueTest
from loomlab.basics.errors import HostError, ParseError, UsageError
from loomlab.plan.asked import asked_of
from loomlab.plan.host import Host
from loomlab.plan.lab import Lab
from loomlab.plan.planning import plan
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.variables import stanzas
from loomlab.records.order import Order, changing, order_file, read_order
from loomlab.statistics.comparison import FEWEST_BLOCKS

DEFAULTS = {"SCALE": "auto", "DURATION": "60s"}
TAKEN = ("PAPER", "SCALE", "DURATION", "WARMUP_CAP", "REPEATS", "SEED", "SIZE", "GC", "HTTP_CLIENT")
"""What a user may ask of a paper's experiments; the paper says all else."""
STAMP = "20000101T000000Z"


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


@dataclass(frozen=True)
class Plan:
    """`lines` are what the host's shell walks, `left_out` sentences; `seconds` in all, by experience."""

    lines: list[str]
    left_out: list[str]
    seconds: int


def plan_of(
    name: str,
    paper: Paper,
    scenarios: Sequence[str],
    variables: Mapping[str, str],
    host: Host,
    lab: Lab,
    results: Path,
    measured: Mapping[str, Measured],
) -> Plan:
    """What is missing of the paper's experiments on this host. Raises UsageError for a variable that a paper does not
    take, and HostError where the host can hold none of them."""
    for key in stanzas():
        if variables.get(key) and key not in TAKEN and not key.endswith("_PORT"):
            raise UsageError(
                f"{key}={variables[key]} does not go with PAPER={name}, because the paper sets it: leave it out."
            )
    given = {key: variables[key] for key in TAKEN if variables.get(key)}
    steps, left_out = [], []
    for verb, asked, blocks, round_ in _experiments(paper, scenarios, given, lab):
        full = {**asked, "PAPER": name}
        try:
            order = plan(asked_of(verb, full, lab), host, lab, STAMP)
            steps.append(Step(verb, full, int(given.get("REPEATS", blocks)), round_, order))
            left_out += [f"{step_name(order)}: {one}" for one in order.left_out]
        except HostError as error:
            left_out.append(f"{asked.get('NAME', verb)} is left out: {error}")
    if not steps:
        raise HostError(left_out[0] if left_out else f"PAPER={name} has no experiment.")
    begun = [one for one in _begun(results) if foreign(one[1], one[0].name, host, lab.checksum) is None]
    return _missing(steps, left_out, begun, measured)


def _experiments(
    paper: Paper, scenarios: Sequence[str], given: Mapping[str, str], lab: Lab
) -> Iterator[tuple[str, dict[str, str], int, str]]:
    """Verb, variables, blocks and round: the paper's scenarios, then the loads that only claims have."""
    own = {key: value for key, value in given.items() if key not in {"SCALE", "REPEATS"}}
    claimed = {scenario for claim in paper.claims if claim.load for scenario in claim.load.scenarios}
    for scenario in scenarios:
        repeats = max(FEWEST_BLOCKS if scenario in claimed else 1, load_scenario(lab.scenarios, scenario).repeats)
        yield "scenario", {**DEFAULTS, **given, "NAME": scenario}, repeats, scenario
    known: dict[str, dict[str, str]] = {}
    for claim in paper.claims:
        for asked in _loads_of_claim(claim):
            if known.setdefault(" ".join(asked.values()), asked) is asked:
                tool = claim.load.tool if claim.load else None
                yield str(tool), {**own, **asked}, FEWEST_BLOCKS, f"{tool} {asked['ENDPOINT']} {asked['CONCURRENCY']}"


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


def _missing(
    steps: list[Step], left_out: list[str], begun: Sequence[tuple[Path, Order]], measured: Mapping[str, Measured]
) -> Plan:
    """What is neither kept nor begun; what was begun and cut off goes on first."""
    lines: list[str] = []
    runs: list[tuple[Order, int]] = []
    lacking: list[tuple[Step, int]] = []
    for step in steps:
        demand = demand_of(step.order)
        blocks = step.blocks - _kept_blocks(step, demand, measured)
        for folder, order in begun:
            if blocks > 0 and order.paper == step.order.paper and demand_of(order) == demand:
                lines.append(f"finish RESUME={folder.name}")
                runs.append((order, sum(run.state != "judged" for run in order.runs)))
                blocks -= max(run.request.repeat for run in order.runs)
        if blocks > 0:
            lacking.append((step, blocks))
    for step, blocks in _alternating(lacking):
        settings = " ".join(f"{key}={value}" for key, value in step.variables.items() if key != "REPEATS")
        lines.append(f"{step.verb} {settings} REPEATS={blocks}")
        once = len(step.order.runs) // max(run.request.repeat for run in step.order.runs)
        runs.append((step.order, once * blocks))
    return Plan(lines, left_out, sum(order.expected_s * count for order, count in runs))


def _kept_blocks(step: Step, demand: str, measured: Mapping[str, Measured]) -> int:
    kept = measured.get(step.name)
    return sum(blocks_of(one, step.order) for one in kept.experiments if one.demand == demand) if kept else 0


def _begun(results: Path) -> list[tuple[Path, Order]]:
    """The experiments that lack a run."""
    found = []
    for path in sorted(results.glob("*/order.json")):
        try:
            order = read_order(path.parent)
        except ParseError:
            continue
        if not path.parent.is_symlink() and any(run.state != "judged" for run in order.runs):
            found.append((path.parent, order))
    return found


def _alternating(lacking: Sequence[tuple[Step, int]]) -> Iterator[tuple[Step, int]]:
    """Steps of one round a block each in turn, so that they meet the same state of the host; others at once."""
    for round_ in dict.fromkeys(step.round for step, _ in lacking):
        here = [(step, blocks) for step, blocks in lacking if step.round == round_]
        if len(here) == 1:
            yield here[0]
            continue
        for turn in range(max(blocks for _, blocks in here)):
            yield from ((step, 1) for step, blocks in here if blocks > turn)


def take(results: Path, folder_name: str, name: str) -> str | None:
    """Makes an experiment of results/ one of the paper's; gives the line that makes the runs that it lacks. Raises
    UsageError where it is another paper's, or none's."""
    folder = unfinished(results, folder_name) if folder_name == "latest" else results / folder_name
    if not order_file(folder).exists():
        raise UsageError(
            f"RESUME={folder_name} is no folder of results/ with an order.json: name one, or use RESUME=latest."
        )
    with changing(folder) as order:
        of = order.paper or (order.scenario.experiment if order.scenario else None)
        if of != name:
            whose, cure = (f"of the paper {of}", f"use PAPER={of}") if of else ("of no paper", "leave it out")
            raise UsageError(f"RESUME={folder.name} is {whose}, not of {name}: {cure}.")
        order.paper = name
    return f"finish RESUME={folder.name}" if any(run.state != "judged" for run in order.runs) else None
