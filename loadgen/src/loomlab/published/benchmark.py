"""A published benchmark, as `loadgen/published/` has it, and the lab's own runs of it."""

import csv
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import reduce
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, model_validator

from loomlab.answer.loads import counting_try, torn_runs, tries_of, unmade_blocks
from loomlab.answer.summary import foreign, planned
from loomlab.basics.errors import HostError, ParseError, told
from loomlab.basics.grouping import grouped, parse_cpu_list
from loomlab.judge.series import ratio
from loomlab.plan.host import Host, Lab
from loomlab.plan.planning import plan, seconds_left
from loomlab.plan.scenarios import load_scenario, scenario_loads
from loomlab.records.files import Record, check_links, path_of, read_record
from loomlab.records.load import Load
from loomlab.records.models import Run, Summary
from loomlab.records.order import Order
from loomlab.statistics.comparison import FEWEST_BLOCKS

ANY = {"REPEATS": "", "SEED": ""}  # what experiments that are repeats of one another may differ in
QUEUE = ("latency_ms.min", "latency_ms.mean", "time_out_share")  # figures that tell whether requests queued
DEFAULTS = {"DURATION": "60s", "REPEATS": str(FEWEST_BLOCKS), "SCALE": "auto"}
STAMP = "20000101T000000Z"


class Outcome(StrEnum):
    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    UNTESTED = "not tested"


class Claim(Record):
    """A value of each approach of `of`, or its ratio to that of `to`, or its growth from `from_level` on."""

    says: str = Field(description="In the lab's own words")
    untestable: str | None = Field(None, description="Why nothing that the lab measures would show it")
    loads: list[str] = Field([], description="Scenarios, or tool and endpoint; none: all of the benchmark's scenarios")
    levels: list[int] = Field([], description="Published loads; none: all that were run")
    figures: list[str] = Field([], description="As run.json names them, or as published.runs derives them")
    of: list[str] = Field([], description="Approaches, such as `tomcat-virtual` or `tomcat-virtual on JDK 21`")
    to: str | None = None
    from_level: int | None = Field(None, description="The published load of `to`, where it is not the claim's")
    above: float = Field(-math.inf, description="It holds where the whole interval is above")
    below: float = math.inf
    queues: bool = Field(True, description="Only runs in which requests queue are a test of it")
    per_cpu: bool = Field(False, description="Only as much load for each CPU as was published is a test of it")
    unscaled: bool = Field(False, description="Only the published load is a test of it")
    lasts_s: int | None = Field(None, description="Only runs of that length are a test of it")
    despite: list[str] = Field([], description="Rules of the verdict that may fail, as they do not touch the figures")
    note: str | None = Field(None, description="What speaks for or against it beforehand")

    @model_validator(mode="after")
    def _can_be_tested(self) -> Self:
        tested = bool(self.figures and self.of) and (self.above, self.below) != (-math.inf, math.inf)
        if tested == (self.untestable is not None):
            raise ValueError(f"{self.says!r} needs figures, approaches and limits, or says why it is untestable")
        return self

    def sides(self, of: str, level: int) -> list[tuple[str, int]]:
        """The approach and its published load, and those that it is held against, if any."""
        base = [(self.to or of, self.from_level or level)] if self.to or self.from_level else []
        return [(of, level), *base]

    def value(self, figures: Sequence[float], loads: Sequence[float]) -> float | None:
        """What it is about, from the figure of each side; None for a ratio of nothing."""
        if self.to:
            return figures[0] / figures[1] if min(figures) > 0 else None
        return (figures[0] - figures[1]) / (loads[0] - loads[1]) if self.from_level else figures[0]

    def outcome(self, low: float, high: float) -> Outcome:
        """Of an interval: one that reaches over a limit decides nothing."""
        if self.above < low and high < self.below:
            return Outcome.REPRODUCED
        return Outcome.NOT_REPRODUCED if high <= self.above or low >= self.below else Outcome.INCONCLUSIVE


class PublishedRun(Record):
    experiment: str
    load: str = Field(description="The scenario, or tool and endpoint")
    host: str
    cpus: float
    approach: str
    jdk: int
    repeat: int
    level: int = Field(description="The published load that it stands for")
    amount: float = Field(description="The load that was run")
    lasts_s: int
    verdict: str
    failed: str = Field(description="The rules that make it invalid, words in a row")
    figures: dict[str, float] = Field(description="By name, without those that were not measured")

    @property
    def place(self) -> tuple[float, str, float]:
        return self.amount, self.host, self.cpus

    def is_of(self, approach: str, level: int) -> bool:
        return self.level == level and approach in {self.approach, f"{self.approach} on JDK {self.jdk}"}


class Benchmark(Record):
    """A published benchmark; `figures` are by figure, approach and load, a value for each published run."""

    name: str
    title: str
    author: str | None
    url: str | None
    year: int
    ran_on: str = Field(description="Machines and versions")
    notes: list[str] = Field([], description="What a reader has to know of the text, or of what differs here")
    unit: Literal["connections", "users", "requests/s"] = Field(description="What its loads are counted in")
    cpus: float | None = Field(None, description="Those of the machine that ran nothing but the approach")
    experiments: list[str] = Field(
        min_length=1,
        description="What `make` runs for it; SCALE_PER_CPU is SCALE for each CPU of the approach, without it auto",
    )
    claims: list[Claim]
    figures: dict[tuple[str, str, int], list[float]]
    kept: list[PublishedRun] = Field(description="The runs that answer it on reproduced.md")

    @property
    def commands(self) -> list[tuple[str, dict[str, str]]]:
        words = [line.split() for line in self.experiments]
        return [(verb, dict(setting.split("=", 1) for setting in settings)) for verb, *settings in words]

    @property
    def scenarios(self) -> list[str]:
        return [variables["NAME"] for verb, variables in self.commands if verb == "scenario"]

    def values(self, claim: Claim, figure: str, sides: Sequence[tuple[str, int]]) -> tuple[float, ...]:
        """What was published of the same, a value for each published run."""
        runs = [self.figures.get((figure, approach, level), []) for approach, level in sides]
        if len(runs[-1]) == 1:
            runs[-1] = runs[-1] * len(runs[0])
        values = (claim.value(row, [level for _, level in sides]) for row in zip(*runs, strict=False))
        return tuple(value for value in values if value is not None)


HEAD = [name for name in PublishedRun.model_fields if name != "figures"]


def read_benchmark(folder: Path, name: str) -> Benchmark:
    """The benchmark of that name; raises UsageError with the nearest names for another one."""
    path = path_of(folder, name, "published benchmark", "make published")
    published = grouped(_rows(path.with_suffix(".csv")), lambda row: (row["figure"], row["approach"], row["level"]))
    figures = {what: [row["value"] for row in rows] for what, rows in published.items()}
    kept = [
        {column: row.pop(column) for column in HEAD} | {"figures": {name: text for name, text in row.items() if text}}
        for row in _rows(folder / "measured" / path.with_suffix(".csv").name)
    ]
    fields = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Benchmark.model_validate(fields | {"name": name, "figures": figures, "kept": kept})


def read_benchmarks(folder: Path) -> list[Benchmark]:
    return [read_benchmark(folder, path.stem) for path in sorted(folder.glob("*.yaml"))]


def _rows(path: Path) -> list[dict[str, str]]:
    """None where there is no file."""
    return [*csv.DictReader(path.read_text(encoding="utf-8").splitlines())] if path.exists() else []


def keep(folder: Path, benchmark: Benchmark, new: Sequence[PublishedRun]) -> None:
    """Writes the benchmark's runs, a row each; new ones take the place of those of the same load."""
    loads = {run.load for run in new}
    every = [*(run for run in benchmark.kept if run.load not in loads), *new]
    every.sort(key=lambda run: (run.load, run.experiment, run.repeat, run.level))
    figures = sorted({figure for run in every for figure in run.figures})
    with (folder / "measured" / f"{benchmark.name}.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, [*HEAD, *figures], lineterminator="\n")
        rows.writeheader()
        rows.writerows(run.model_dump(exclude={"figures"}) | run.figures for run in every)


def load_of(order: Order) -> str:
    request = order.runs[0].request
    return order.scenario.name if order.scenario else f"{request.tool} {request.endpoint.partition('?')[0]}"


def approach_cpus(order: Order) -> float:
    """The approach's CPUs: its quota where there is one, else its set."""
    settings = order.settings
    return float(settings["APPROACH_CPUS"]) or len(parse_cpu_list(settings["APPROACH_CPUSET"]) or {"0"})


def runs_in(results: Path, benchmark: Benchmark, scenarios: Path, host: Host | None = None) -> list[PublishedRun]:
    """The runs for the benchmark that count, of finished experiments with the variables of a load's newest one; with a
    host, of those that were measured on it."""
    asked: dict[str, dict[str, str]] = {}
    found: list[PublishedRun] = []
    for folder, order in planned(results):
        if order.benchmark != benchmark.name and load_of(order) not in benchmark.scenarios:
            continue
        if asked.get(load_of(order), order.asked | ANY) != order.asked | ANY:
            continue
        try:
            found += [*_runs_of(folder, order, benchmark, scenarios, host)]
            asked[load_of(order)] = order.asked | ANY
        except Exception as error:  # of one folder, whoever made it
            warnings.warn(f"{folder.name} is left out: {told(error)}", stacklevel=2)
    return found


def _runs_of(
    folder: Path, order: Order, benchmark: Benchmark, scenarios: Path, host: Host | None
) -> Iterator[PublishedRun]:
    """Raises LoomlabError where the experiment does not count."""
    check_links(folder)
    wanted = {*QUEUE, *(figure for claim in benchmark.claims for figure in claim.figures)}
    summary = read_record(folder / "summary.json", Summary)
    runs = summary.runs if summary else []
    if unmade := unmade_blocks(order, runs):
        raise ParseError(unmade)
    if host and (order.host.get("cpus"), order.host.get("cpu_model")) != (host.cpus, host.cpu_model):
        raise HostError("it was measured on another host: keep it there.")
    levels, cpus, torn = _levels(order, benchmark.unit, scenarios), approach_cpus(order), torn_runs(runs, order)
    for run in map(counting_try, tries_of(runs)):
        amount = _amount(run.load, benchmark.unit)
        if amount not in levels or run.run in torn:
            continue
        failed = [rule.rule for rule in run.rules if rule.outcome == "failed" and rule.level == "invalid"]
        yield PublishedRun(
            experiment=folder.name, load=load_of(order), host=str(order.host.get("cpu_model") or "unknown CPU"),
            cpus=cpus, approach=run.approach, jdk=run.jdk, repeat=run.repeat, level=levels[amount], amount=amount,
            lasts_s=run.load.shape.duration_s, verdict=run.verdict, failed=" ".join(failed),
            figures=claimed_figures(run, wanted, cpus),
        )  # fmt: skip


def _levels(order: Order, unit: str, scenarios: Path) -> dict[float, int]:
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
    benchmark: Benchmark, given: Mapping[str, str], results: Path, host: Host, lab: Lab
) -> tuple[list[str], list[str]]:
    """Lines for the host's shell, a verb with its settings each, and sentences; HostError where it can hold none."""
    given = lab.asked("reproduce", given).given | {"BENCHMARK": benchmark.name}
    orders: list[tuple[str, Order]] = []
    notes: list[str] = []
    for verb, variables in benchmark.commands:
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
            if begun.asked | ANY == order.asked | ANY and foreign(begun, folder, host, lab) is None:
                missing -= max(run.request.repeat for run in begun.runs)
                if any(run.state != "judged" for run in begun.runs):
                    lines.append(f"finish RESUME={folder.name}")
                    seconds += seconds_left(begun.runs)[0]
        if missing > 0:
            settings = order.asked | {"REPEATS": str(missing)}
            lines.append(" ".join([verb, *(f"{name}={value}" for name, value in settings.items())]))
            seconds += seconds_left(order.runs)[0] * missing / blocks
    left = f"{len(lines)} experiments, about {seconds / 60:.0f} min" if lines else "everything is measured"
    return lines, [*(f"note: {note}" for note in notes), f"{benchmark.name}: {left}"]


def _order(verb: str, variables: Mapping[str, str], given: Mapping[str, str], host: Host, lab: Lab) -> Order:
    """The whole experiment: with what the user asks for, else with what the benchmark says."""
    wanted = {**DEFAULTS, **variables, **given}
    order = plan(lab.asked(verb, wanted), host, lab, STAMP)
    if "SCALE_PER_CPU" not in variables or "SCALE" in given:
        return order
    scale = round(min(1, float(variables["SCALE_PER_CPU"]) * approach_cpus(order)), 4)
    return plan(lab.asked(verb, wanted | {"SCALE": f"{scale:g}"}), host, lab, STAMP)
