"""The runs of results/ that may answer a paper's claims, and the experiments that are still lacking."""

import math
import warnings
from collections.abc import Iterable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

from loomlab.answer.finish import foreign, planned
from loomlab.answer.loads import torn_runs, unmade_blocks
from loomlab.answer.tries import counting_try, tries_of
from loomlab.basics.cpus import parse_cpu_list
from loomlab.basics.errors import HostError
from loomlab.judge.series import ratio
from loomlab.plan.host import Host
from loomlab.plan.lab import Lab
from loomlab.plan.planning import plan, seconds_left
from loomlab.plan.scenarios import load_scenario, scenario_loads
from loomlab.published.paper import Paper, PublishedRun
from loomlab.records.files import read_record
from loomlab.records.load import Load
from loomlab.records.models import Run, Summary
from loomlab.records.order import Order
from loomlab.statistics.comparison import FEWEST_BLOCKS

ANY = {"REPEATS": "", "SEED": ""}  # what experiments that are repeats of one another may differ in
QUEUE = ("latency_ms.min", "latency_ms.mean", "time_out_share")  # figures that tell whether requests queued
DEFAULTS = {"DURATION": "60s", "REPEATS": str(FEWEST_BLOCKS), "SCALE": "auto"}
STAMP = "20000101T000000Z"


def load_of(order: Order) -> str:
    """The name of what an experiment ran: its scenario, or tool and endpoint."""
    request = order.runs[0].request
    return order.scenario.name if order.scenario else f"{request.tool} {request.endpoint.partition('?')[0]}"


def approach_cpus(order: Order) -> float:
    """The approach's CPUs: its quota where there is one, else its set."""
    settings = order.settings
    return float(settings["APPROACH_CPUS"]) or len(parse_cpu_list(settings["APPROACH_CPUSET"]) or {"0"})


def runs_in(results: Path, paper: Paper, scenarios: Path) -> list[PublishedRun]:
    """The runs for the paper that count, of finished experiments with the variables of a load's newest one."""
    asked: dict[str, dict[str, str]] = {}
    found: list[PublishedRun] = []
    wanted = {*QUEUE, *(figure for claim in paper.claims for figure in claim.figures)}
    for folder, order in reversed(planned(results)):
        if order.paper != paper.name and load_of(order) not in paper.scenarios:
            continue
        summary = read_record(folder / "summary.json", Summary)
        runs = summary.runs if summary else []
        if asked.get(load_of(order), order.asked | ANY) != order.asked | ANY:
            continue
        if unmade := unmade_blocks(order, runs):
            warnings.warn(f"{folder.name} is left out: {unmade}", stacklevel=2)
            continue
        asked[load_of(order)] = order.asked | ANY
        levels, cpus, torn = _levels(order, paper.unit, scenarios), approach_cpus(order), torn_runs(runs, order)
        for run in map(counting_try, tries_of(runs)):
            amount = _amount(run.load, paper.unit)
            if amount not in levels or run.run in torn:
                continue
            failed = [rule.rule for rule in run.rules if rule.outcome == "failed" and rule.level == "invalid"]
            found.append(
                PublishedRun(
                    experiment=folder.name,
                    load=load_of(order),
                    host=str(order.host.get("cpu_model") or "unknown CPU"),
                    cpus=cpus,
                    approach=run.approach,
                    jdk=run.jdk,
                    repeat=run.repeat,
                    level=levels[amount],
                    amount=amount,
                    lasts_s=run.load.shape.duration_s,
                    verdict=run.verdict,
                    failed=" ".join(failed),
                    figures=claimed_figures(run, wanted, cpus),
                )
            )
    return found


def _levels(order: Order, unit: str, scenarios: Path) -> dict[float, int]:
    """The published load of each that was run: without a scenario, the same."""
    here = full = [run.request.load for run in order.runs]
    if order.scenario is not None:
        scenario = load_scenario(scenarios, order.scenario.name)
        here, full = (scenario_loads(scenario, scenarios, scale) for scale in (order.scenario.scale, 1.0))
    return {_amount(one, unit): round(_amount(other, unit)) for one, other in zip(here, full, strict=True)}


def _amount(load: Load, unit: str) -> float:
    return load.rate_rps if unit == "requests/s" and load.rate_rps is not None else load.connections


def claimed_figures(run: Run, names: Iterable[str], cpus: float) -> dict[str, float]:
    """Those of the run's figures that were measured, with six digits; `cpus` are the approach's."""
    requests, errors = run.requests, run.errors
    answers = None if requests is None or errors is None else requests - errors
    causes_known = errors == 0 or (errors is not None and run.failures)
    time_outs = run.failures.get("time-out", 0) if causes_known else None
    derived = {
        "time_outs": time_outs,
        "time_out_share": ratio(time_outs, requests),
        "error_share": ratio(errors, requests),
        "rate_share": ratio(ratio(answers, run.duration_s), run.rate),
        "cpu_share": ratio(run.cpu_seconds, run.interior.seconds * cpus if run.interior else None),
    }
    record: Any = run
    found = {
        name: derived.get(name, reduce(lambda part, word: getattr(part, word, None), name.split("."), record))
        for name in names
    }
    numbers = {name: value for name, value in found.items() if isinstance(value, int | float) and math.isfinite(value)}
    return {name: float(f"{value:.6g}") for name, value in numbers.items()}


def missing_steps(
    paper: Paper, given: Mapping[str, str], results: Path, host: Host, lab: Lab
) -> tuple[list[str], list[str]]:
    """Lines for the host's shell, a verb with its settings each, and sentences for the user. Raises UsageError for a
    variable not taken, HostError where the host can hold none of them."""
    given = lab.asked("reproduce", given).given | {"PAPER": paper.name}
    orders: list[tuple[str, Order]] = []
    notes: list[str] = []
    for verb, variables in paper.commands:
        try:
            orders.append((verb, _order(verb, variables, given, host, lab)))
        except HostError as error:
            notes.append(f"{variables.get('NAME', verb)} is left out: {error}")
    if not orders:
        raise HostError(notes[0])
    lines: list[str] = []
    seconds = 0.0
    for verb, order in orders:
        blocks = missing = int(order.asked["REPEATS"])
        for folder, begun in planned(results):
            if begun.asked | ANY == order.asked | ANY and foreign(begun, folder, host, lab.checksum) is None:
                missing -= max(run.request.repeat for run in begun.runs)
                if any(run.state != "judged" for run in begun.runs):
                    lines.append(f"finish RESUME={folder.name}")
                    seconds += seconds_left(begun.runs)[0]
        if missing > 0:
            settings = order.asked | {"REPEATS": str(missing)}
            lines.append(" ".join([verb, *(f"{name}={value}" for name, value in settings.items())]))
            seconds += seconds_left(order.runs)[0] * missing / blocks
    left = f"{len(lines)} experiments, about {seconds / 60:.0f} min" if lines else "everything is measured"
    return lines, [*(f"note: {note}" for note in notes), f"{paper.name}: {left}"]


def _order(verb: str, variables: Mapping[str, str], given: Mapping[str, str], host: Host, lab: Lab) -> Order:
    """The whole experiment: with what the user asks for, else with what the paper says."""
    wanted = {**DEFAULTS, **variables, **given}
    order = plan(lab.asked(verb, wanted), host, lab, STAMP)
    if "SCALE_PER_CPU" not in variables or "SCALE" in given:
        return order
    scale = round(min(1, float(variables["SCALE_PER_CPU"]) * approach_cpus(order)), 4)
    return plan(lab.asked(verb, wanted | {"SCALE": f"{scale:g}"}), host, lab, STAMP)
