"""Runs that may answer a claim: those of results/, and those that the repository keeps, a row each."""

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from loomlab.answer.loads import torn_blocks
from loomlab.answer.tries import counting_try, tries_of
from loomlab.basics.cpus import parse_cpu_list
from loomlab.plan.scenarios.cells import Scaling, loads_of
from loomlab.plan.scenarios.file import load_scenario
from loomlab.published.paper import Published
from loomlab.records.files import read_record
from loomlab.records.load import Load
from loomlab.records.models import Run, Summary
from loomlab.records.order import Order, order_of

QUEUE = ("latency_ms.min", "latency_ms.mean", "throughput_rps", "time_outs")
"""Figures that tell whether requests queued."""


class PublishedRun(BaseModel):
    """A run of a paper's load. `load` is the scenario, or the tool, endpoint and JDK; `level` the published load that
    it stands for and `amount` the one that was run; `failed` are the rules that make it invalid, words in a row;
    `figures` are by name, without those that were not measured."""

    model_config = ConfigDict(frozen=True)

    experiment: str
    load: str
    host: str
    cpus: float
    approach: str
    jdk: int
    repeat: int
    level: int
    amount: float
    lasts_s: int
    verdict: str
    failed: str
    figures: dict[str, float]

    @property
    def block(self) -> tuple[str, int]:
        """The experiment and the repeat, whose runs are compared with one another."""
        return self.experiment, self.repeat

    @property
    def date(self) -> str:
        """The day it was made on, in UTC."""
        return f"{self.experiment[:4]}-{self.experiment[4:6]}-{self.experiment[6:8]}"


HEAD = [name for name in PublishedRun.model_fields if name != "figures"]


def load_of(order: Order) -> str:
    """The name of what an experiment ran: its scenario, or tool, endpoint and JDK."""
    if order.scenario is not None:
        return order.scenario.name
    request = order.runs[0].request
    return f"{request.tool} {request.endpoint.partition('?')[0]} jdk{request.jdk}"


def approach_cpus(order: Order) -> float:
    """The approach's CPUs: its quota where there is one, else its set."""
    quota = float(order.settings.get("APPROACH_CPUS") or 0)
    return quota or float(len(parse_cpu_list(order.settings.get("APPROACH_CPUSET", "")) or {"0"}))


def runs_in(results: Path, paper: Published, scenarios: Path) -> list[PublishedRun]:
    """The runs of results/ that were made for the paper, or of one of its scenarios; of several tries the one that
    counts, and none of a block during which the host was started again."""
    found: list[PublishedRun] = []
    for path in sorted(results.glob("*/summary.json")):
        order = None if path.parent.is_symlink() else order_of(path.parent)
        summary = read_record(path, Summary) if order else None
        if order and summary and (order.paper == paper.name or load_of(order) in paper.scenarios):
            found += _of_experiment(path.parent.name, order, summary.runs, paper, scenarios)
    return found


def _of_experiment(
    name: str, order: Order, runs: list[Run], paper: Published, scenarios: Path
) -> Iterator[PublishedRun]:
    levels, cpus, torn = _levels(order, paper.paper.unit, scenarios), approach_cpus(order), torn_blocks(runs, order)
    wanted = [*dict.fromkeys([*QUEUE, *(figure for claim in paper.paper.claims for figure in claim.figures)])]
    for run in (counting_try(tries) for tries in tries_of(runs)):
        level, amount = levels.get(_key(run.load), (0, 0.0))
        if not level or (run.cell, run.repeat) in torn:
            continue
        values = {figure: figure_of(run, figure, cpus) for figure in wanted}
        yield PublishedRun(
            experiment=name,
            load=load_of(order),
            host=str(order.host.get("cpu_model") or "unknown CPU"),
            cpus=cpus,
            approach=run.approach,
            jdk=run.jdk,
            repeat=run.repeat,
            level=level,
            amount=amount,
            lasts_s=run.load.shape.duration_s,
            verdict=run.verdict,
            failed=" ".join(one.rule for one in run.rules if one.outcome == "failed" and one.level == "invalid"),
            figures={figure: float(f"{value:.6g}") for figure, value in values.items() if value is not None},
        )


def _levels(order: Order, unit: str, scenarios: Path) -> dict[tuple[int, float | None], tuple[int, float]]:
    """The published load and the one that was run, of each of the order's loads: without a scenario, the same."""
    here = full = list({_key(run.request.load): run.request.load for run in order.runs}.values())
    if order.scenario is not None:
        scenario = load_scenario(scenarios, order.scenario.name)
        here, full = (loads_of(scenario, Scaling(scale), scenarios) for scale in (order.scenario.scale, 1.0))
    return {_key(one): (round(_amount(other, unit)), _amount(one, unit)) for one, other in zip(here, full, strict=True)}


def _key(load: Load) -> tuple[int, float | None]:
    return load.connections, load.rate_rps


def _amount(load: Load, unit: str) -> float:
    return load.rate_rps if unit == "requests/s" and load.rate_rps is not None else load.connections


def _answers(run: Run, _: float) -> float | None:
    return None if run.requests is None or run.errors is None else run.requests - run.errors


def _time_outs(run: Run, _: float) -> float | None:
    unknown = run.errors is None or (run.errors and not run.failures)
    return None if unknown else float(run.failures.get("time-out", 0))


def _share(upper: float | None, lower: float | None) -> float | None:
    return None if upper is None or not lower else upper / lower


def _cpu_share(run: Run, cpus: float) -> float | None:
    return _share(run.cpu_seconds, run.interior and run.interior.seconds * cpus)


DERIVED: Mapping[str, Callable[[Run, float], float | None]] = {
    "time_outs": _time_outs,
    "error_share": lambda run, _: _share(run.errors, run.requests),
    "rate_share": lambda run, cpus: _share(_share(_answers(run, cpus), run.duration_s), run.rate),
    "cpu_share": _cpu_share,
}
"""Figures that run.json does not have, from a run and the approach's CPUs: requests that timed out; errors by requests;
answers by what the offered rate asks for; CPU time by what the CPUs have."""


def figure_of(run: Run, name: str, cpus: float) -> float | None:
    """A figure by its name, None where it was not measured; `cpus` are the approach's."""
    value: Any = run
    if name in DERIVED:
        value = DERIVED[name](run, cpus)
    else:
        for part in name.split("."):
            value = getattr(value, part, None)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def kept_runs(path: Path) -> list[PublishedRun]:
    """The runs that the repository keeps of a paper; none where it has no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as rows:
        return [
            PublishedRun.model_validate(
                {**row, "figures": {name: value for name, value in row.items() if name not in HEAD and value}}
            )
            for row in csv.DictReader(rows)
        ]


def keep(path: Path, runs: Iterable[PublishedRun]) -> None:
    """Writes a paper's runs, a row each."""
    every = list(runs)
    figures = sorted({name for run in every for name in run.figures})
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, [*HEAD, *figures], lineterminator="\n")
        rows.writeheader()
        rows.writerows(run.model_dump(exclude={"figures"}) | run.figures for run in every)
