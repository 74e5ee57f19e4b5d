"""From experiments' folders to what is kept of them."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from loomlab.answer.papers.figures import QUOTIENTS
from loomlab.answer.papers.measured import (
    KeptExperiment,
    KeptRun,
    Measured,
    demand_of,
    read_measured,
    step_name,
    write_measured,
)
from loomlab.answer.papers.model import NoTest, Paper
from loomlab.basics.cpus import parse_cpu_list
from loomlab.basics.errors import ParseError
from loomlab.plan.scenarios.cells import Scaling, loads_of
from loomlab.plan.scenarios.file import load_scenario
from loomlab.records.files import RunFiles, read_json, read_record
from loomlab.records.load import Load
from loomlab.records.models import Run, Summary
from loomlab.records.order import Order

ALWAYS = (
    "requests", "errors", "duration_s", "throughput_rps", "cpu_ms_per_request", "cpu_share", "rss_max_bytes",
    "threads_max", "gc.cpu_share", "latency_ms.min", "latency_ms.mean", "latency_ms.p50", "latency_ms.p99",
    "latency_ms.max",
)  # fmt: skip
"""Beside what claims and tables of the paper ask for."""
PICTURE = "published.svg"
"""In an experiment's folder: the paper's charts, drawn again."""
DIGITS = 6


type Key = tuple[int, float | None]
"""Connections and rate, which tell the loads of one experiment apart."""


def keep(results: Path, folder: Path, name: str, paper: Paper, scenarios: Path) -> list[str]:
    """Writes what experiments below `results` have measured for the paper, with the newest's picture; gives the steps
    whose file has changed. Of experiments that ask for something else than the newest, nothing is kept."""
    known = read_measured(folder, name)
    found: dict[str, dict[str, KeptExperiment]] = {
        step: {one.name: one for one in measured.experiments} for step, measured in known.items()
    }
    for path in sorted(results.glob("*/order.json")):
        order = None if path.parent.is_symlink() else _order(path)
        if order is not None and order.paper == name:
            kept = kept_experiment(path.parent, order, paper, scenarios)
            if kept is not None:
                found.setdefault(step_name(order), {})[kept.name] = kept
    changed = []
    for step, experiments in found.items():
        newest = max(experiments.values(), key=lambda one: one.started)
        alike = sorted(
            (one for one in experiments.values() if one.demand == newest.demand), key=lambda one: one.started
        )
        measured = Measured(paper=name, step=step, experiments=alike)
        if measured != known.get(step):
            write_measured(folder / name / f"{step}.json", measured)
            changed.append(step)
        picture = results / newest.name / PICTURE
        if picture.exists():
            shutil.copyfile(picture, folder / name / f"{step}.svg")
    return changed


def _order(path: Path) -> Order | None:
    """None where it is damaged, or of another version: it was told when the experiment was summed up."""
    try:
        return read_record(path, Order)
    except ParseError:
        return None


def kept_experiment(experiment_dir: Path, order: Order, paper: Paper, scenarios: Path) -> KeptExperiment | None:
    """None where no run was summed up yet."""
    summary = read_record(experiment_dir / "summary.json", Summary)
    if summary is None or not summary.runs:
        return None
    levels = _levels(order, paper, scenarios)
    wanted = [*dict.fromkeys([*ALWAYS, *_asked(paper)])]
    cpus = _approach_cpus(order)
    return KeptExperiment(
        name=experiment_dir.resolve().name,
        started=summary.started or order.planned,
        demand=demand_of(order),
        scale=order.scenario.scale if order.scenario else 1,
        duration_s=max(round(run.duration_s or 0) for run in summary.runs),
        setup=_setup(experiment_dir, order, summary, cpus),
        differs=order.scenario.differs if order.scenario else [],
        left_out=order.left_out,
        runs=[_kept(run, wanted, cpus, levels[_key(run.load)]) for run in summary.runs if _key(run.load) in levels],
    )


def _kept(run: Run, wanted: Iterable[str], cpus: float, at: tuple[int, float]) -> KeptRun:
    values = {name: figure_of(run, name, cpus) for name in wanted}
    return KeptRun(
        run=run.run,
        approach=run.approach,
        jdk=run.jdk,
        repeat=run.repeat,
        level=at[0],
        amount=at[1],
        verdict=run.verdict,
        failed=[one.rule for one in run.rules if one.outcome == "failed" and one.level == "invalid"],
        reasons=run.reasons,
        failures=run.failures,
        figures={name: float(f"{value:.{DIGITS}g}") for name, value in values.items() if value is not None},
    )


def figure_of(run: Run, name: str, cpus: float) -> float | None:
    """By the lab's name of it; None where it was not measured. `cpus` are those of the approach."""
    if name == "cpu_share":
        seconds = run.interior.seconds if run.interior else None
        return None if run.cpu_seconds is None or not seconds else run.cpu_seconds / seconds / cpus
    if name in QUOTIENTS:
        upper, lower = (figure_of(run, part, cpus) for part in QUOTIENTS[name])
        return None if upper is None or not lower else upper / lower
    value: Any = run
    for part in name.split("."):
        value = getattr(value, part, None)
    return float(value) if isinstance(value, int | float) else None


def _asked(paper: Paper) -> Iterable[str]:
    for claim in paper.claims:
        if not isinstance(claim.decided_by, NoTest):
            yield from claim.decided_by.figures
    yield from (figure for cell in paper.cells() if (figure := cell.figure))
    yield from (figure for announced in paper.announced for figure in announced.measured)


def _levels(order: Order, paper: Paper, scenarios: Path) -> dict[Key, tuple[int, float]]:
    """Of each load that was run, the published one and itself, in the paper's unit; without a scenario they are the
    same."""
    here = full = list({_key(run.request.load): run.request.load for run in order.runs}.values())
    if order.scenario is not None:
        scenario = load_scenario(scenarios, order.scenario.name)
        here, full = (loads_of(scenario, Scaling(factor), scenarios) for factor in (order.scenario.scale, 1.0))
    unit = paper.levels.unit
    return {_key(one): (round(_amount(other, unit)), _amount(one, unit)) for one, other in zip(here, full, strict=True)}


def _key(load: Load) -> Key:
    return load.connections, load.rate_rps


def _amount(load: Load, unit: str) -> float:
    return load.rate_rps if unit == "requests/s" and load.rate_rps is not None else load.connections


def _approach_cpus(order: Order) -> float:
    """The quota where there is one, else the set."""
    quota = float(order.settings.get("APPROACH_CPUS") or 0)
    return quota or float(len(parse_cpu_list(order.settings.get("APPROACH_CPUSET", "")) or {"0"}))


def _setup(experiment_dir: Path, order: Order, summary: Summary, cpus: float) -> dict[str, str]:
    environment = summary.environment
    abouts = [_about(experiment_dir, run.run) for run in summary.runs]
    versions = dict.fromkeys(text for about in abouts if (text := _words(about, "jvm", "version")))
    servers = dict.fromkeys(text for about in abouts if (text := _words(about, "inbound", "server", "version")))
    stand_ins = ", stand-in base images" if environment.get("stand_in_images") else ""
    memory = environment.get("memory_bytes")
    told = {
        "JDK": ", ".join(versions) or str(order.runs[0].request.jdk),
        "servers": ", ".join(servers),
        "machine": f"one of {order.host['cpus']} CPUs"
        + (f" and {memory / 2**30:.1f} GiB" if isinstance(memory, int | float) else "")
        + f", {cpus:g} of them the approach's",
        "system": f"{environment.get('os', '')}, kernel {environment.get('kernel', '')}{stand_ins}",
    }
    return {key: value for key, value in told.items() if value.strip(", ")}


def _words(about: dict[str, Any], part: str, *names: str) -> str:
    told = about.get(part)
    return " ".join(str(told[name]) for name in names if told.get(name)) if isinstance(told, dict) else ""


def _about(experiment_dir: Path, run: str) -> dict[str, Any]:
    try:
        about = read_json(RunFiles(experiment_dir / "runs" / run).about)
    except ParseError:
        return {}
    return about if isinstance(about, dict) else {}
