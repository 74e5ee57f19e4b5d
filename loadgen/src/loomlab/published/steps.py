"""The experiments that answer a paper, and which of them results/ lacks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from loomlab.answer.finish import foreign, planned
from loomlab.basics.errors import HostError
from loomlab.plan.host import Host
from loomlab.plan.lab import Lab
from loomlab.plan.planning import plan
from loomlab.plan.scenarios.model import load_scenario
from loomlab.plan.shell import seconds_left
from loomlab.published.paper import Claim, Published
from loomlab.published.runs import approach_cpus
from loomlab.records.order import Order
from loomlab.statistics.comparison import FEWEST_BLOCKS

DEFAULTS = {"DURATION": "60s"}
NO_DEMAND = {"REPEATS", "SEED"}
"""What experiments that are repeats of one another may differ in."""
STAMP = "20000101T000000Z"
MINUTE_S = 60


@dataclass(frozen=True)
class Step:
    """An experiment of `blocks` repeats; `variables` are what `bin/run` takes for `verb`, REPEATS apart."""

    verb: str
    variables: dict[str, str]
    blocks: int
    order: Order


@dataclass(frozen=True)
class Plan:
    """Lines for the host's shell, a verb with its settings each; sentences for the user; and how long it takes."""

    lines: list[str]
    notes: list[str]
    minutes: int


def plan_of(published: Published, given: Mapping[str, str], results: Path, host: Host, lab: Lab) -> Plan:
    """What is yet to be made for a paper: experiments that were cut off go on first. Raises UsageError for a variable
    that a paper does not take, and HostError where the host can hold none of its experiments."""
    steps, notes = _steps(published, lab.asked("reproduce", given).given, host, lab)
    if not steps:
        raise HostError(notes[0] if notes else f"PAPER={published.name} has no experiment.")
    lines: list[str] = []
    seconds = 0.0
    for step in steps:
        missing = step.blocks
        for folder, order in planned(results):
            if _demand(order.asked) == _demand(step.variables) and foreign(order, folder, host, lab.checksum) is None:
                missing -= max(run.request.repeat for run in order.runs)
                if any(run.state != "judged" for run in order.runs):
                    lines.append(f"finish RESUME={folder.name}")
                    seconds += seconds_left(order, order.runs).expected
        if missing > 0:
            settings = (f"{key}={value}" for key, value in step.variables.items() if key != "REPEATS")
            lines.append(" ".join([step.verb, *settings, f"REPEATS={missing}"]))
            blocks = max(run.request.repeat for run in step.order.runs)
            seconds += seconds_left(step.order, step.order.runs).expected * missing / blocks
    return Plan(lines, notes, round(seconds / MINUTE_S))


def _demand(asked: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in asked.items() if key not in NO_DEMAND}


def _steps(published: Published, given: Mapping[str, str], host: Host, lab: Lab) -> tuple[list[Step], list[str]]:
    """The experiments that the host can hold, and why it cannot hold others."""
    found: list[Step] = []
    notes: list[str] = []
    for verb, asked, blocks in _experiments(published, given, lab):
        try:
            full = {**asked, **_scale(published, asked, host, lab)}
            order = plan(lab.asked(verb, full), host, lab, STAMP)
            found.append(Step(verb, full, int(given.get("REPEATS", blocks)), order))
            notes += order.left_out
        except HostError as error:
            notes.append(f"{asked.get('NAME', verb)} is left out: {error}")
    return found, notes


def _experiments(published: Published, given: Mapping[str, str], lab: Lab) -> Iterator[tuple[str, dict[str, str], int]]:
    """Verb, variables and blocks: the paper's scenarios, then the loads that only claims have."""
    asked = {**DEFAULTS, **published.paper.sets, **given, "PAPER": published.name}
    claimed = {scenario for claim in published.paper.claims for scenario in claim.scenarios}
    for scenario in published.scenarios:
        blocks = max(FEWEST_BLOCKS if scenario in claimed else 1, load_scenario(lab.scenarios, scenario).repeats)
        yield "scenario", {**asked, "NAME": scenario}, blocks
    seen: list[dict[str, str]] = []
    asked.pop("SCALE", None)
    for claim in published.paper.claims:
        for load in _loads(claim):
            if load not in seen:
                seen.append(load)
                yield f"run-{claim.tool}", {**asked, **load}, FEWEST_BLOCKS


def _loads(claim: Claim) -> Iterator[dict[str, str]]:
    """The variables of a claim that no scenario shows: a load for each level and each JDK."""
    sides = [(one.approach, one.jdk) for one in (claim.of, claim.to) if one] or [
        (one, None) for one in claim.approaches
    ]
    for level in claim.levels if claim.tool else []:
        for jdk in dict.fromkeys(jdk for _, jdk in sides):
            approaches = ",".join(dict.fromkeys(approach for approach, of in sides if of == jdk))
            load = {"CONCURRENCY": str(level), "ENDPOINT": claim.endpoint or "", "APPROACH": approaches}
            yield load | ({"JDK": str(jdk)} if jdk else {})


def _scale(published: Published, asked: Mapping[str, str], host: Host, lab: Lab) -> dict[str, str]:
    """SCALE of a scenario: what the user asks for, else the paper's for the CPUs that the approach has, else auto."""
    per_cpu = published.paper.scale_per_cpu.get(asked.get("NAME", ""))
    if "SCALE" in asked or "NAME" not in asked:
        return {}
    if per_cpu is None:
        return {"SCALE": "auto"}
    cpus = approach_cpus(plan(lab.asked("scenario", {**asked, "SCALE": "auto"}), host, lab, STAMP))
    return {"SCALE": f"{min(1.0, per_cpu * cpus):.4f}".rstrip("0").rstrip(".")}
