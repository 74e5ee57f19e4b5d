"""From experiments' folders to what is kept of them."""

import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loomlab.answer.again import spoilt
from loomlab.answer.blocks import torn_blocks
from loomlab.answer.papers.figures import QUOTIENTS
from loomlab.answer.papers.measured import (
    KeptExperiment,
    KeptRun,
    Measured,
    blocks_of,
    demand_of,
    read_measured,
    step_name,
    write_measured,
)
from loomlab.answer.papers.model import NoTest, Paper
from loomlab.answer.strays import strays_of
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


@dataclass(frozen=True)
class Kept:
    """`changed` are the steps whose file has changed, `others` sentences on what is not kept."""

    changed: list[str]
    others: list[str]


def keep(results: Path, folder: Path, name: str, paper: Paper, scenarios: Path) -> Kept:
    """Writes what experiments below `results` have measured for the paper, with the picture of the largest, and which
    of its scenarios the host cannot hold. Of experiments that ask for different things those are kept that have the
    most blocks that count, of as many the newest."""
    known = read_measured(folder, name)
    changed: list[str] = []
    others: list[str] = []
    left_out = _left_out(results, name, known)
    found = found_of(results, known, name, paper, scenarios)
    for step in dict.fromkeys([*found, *left_out, *known]):
        alike = _most(found.get(step, []))
        told = None if alike else left_out.get(step)
        if not alike and told is None:
            for kept in (folder / name).glob(f"{step}.*"):
                kept.unlink()
            continue
        drawn = _keep_picture(results, folder / name / f"{step}.svg", alike, known.get(step))
        declared = _declared(results, name, step, known.get(step), alike)
        measured = Measured(
            paper=name, step=step, left_out=told, drawn_from=drawn, declared=declared, experiments=alike
        )
        if measured != known.get(step):
            write_measured(folder / name / f"{step}.json", measured)
            changed.append(step)
        others += _not_kept(step, found.get(step, []), alike)
    return Kept(changed, others)


def found_of(
    results: Path, known: Mapping[str, Measured], name: str, paper: Paper, scenarios: Path
) -> dict[str, list[KeptExperiment]]:
    """By step, oldest first: what is kept, and what is measured below `results`, whatever it asks for."""
    found: dict[str, dict[str, KeptExperiment]] = {
        step: {one.name: one for one in measured.experiments}
        for step, measured in known.items()
        if measured.experiments
    }
    for path in sorted(results.glob("*/order.json")):
        order = None if path.parent.is_symlink() else _order(path)
        if order is not None and order.paper == name:
            kept = kept_experiment(path.parent, order, paper, scenarios)
            if kept is not None:
                found.setdefault(step_name(order), {})[kept.name] = kept
    return {step: sorted(ones.values(), key=lambda one: one.started) for step, ones in found.items()}


def _most(experiments: Sequence[KeptExperiment]) -> list[KeptExperiment]:
    by_demand: dict[str, list[KeptExperiment]] = {}
    for one in experiments:
        by_demand.setdefault(one.demand, []).append(one)
    return max(by_demand.values(), key=lambda alike: (blocks_of(alike).counted, alike[-1].started), default=[])


def _not_kept(step: str, experiments: Sequence[KeptExperiment], alike: Sequence[KeptExperiment]) -> Iterator[str]:
    """Of what is newer than all that is kept."""
    if not alike or experiments[-1] in alike:
        return
    newest = experiments[-1]
    others = [one for one in experiments if one.demand == newest.demand]
    count, more = blocks_of(others).counted, blocks_of(alike).counted
    yield (
        f"{step}: of {newest.name} no block is kept, because it has {count} that count, and what is kept has "
        f"{more}: use REPEATS={more}, or more."
    )


def _keep_picture(results: Path, to: Path, alike: Sequence[KeptExperiment], known: Measured | None) -> str | None:
    """Of the experiment with the most repeats, the newest of several; gives its name. Where results/ does not have it,
    the kept one stays, as long as its experiment is kept."""
    largest = max(alike, key=lambda one: (len({run.repeat for run in one.runs}), one.started), default=None)
    picture = results / (largest.name if largest else "") / PICTURE
    if largest and picture.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, to)
        return largest.name
    drawn = known.drawn_from if known else None
    if drawn in {one.name for one in alike}:
        return drawn
    to.unlink(missing_ok=True)
    return None


def declared_file(results: Path, name: str) -> Path:
    """How many blocks were asked for, by step, of which demand: `reproduce` writes it before they are made."""
    return results / f".declared-{name}.json"


def _declared(
    results: Path, name: str, step: str, known: Measured | None, alike: Sequence[KeptExperiment]
) -> list[int]:
    """As it is kept, and what was asked for last, if it is more: in the place of what was not reached yet."""
    if not alike:
        return []
    before = known.declared if known and {one.demand for one in known.experiments} == {alike[0].demand} else []
    told = read_json(declared_file(results, name))
    asked = told.get(step) if isinstance(told, dict) else None
    if not isinstance(asked, dict) or asked.get("demand") != alike[0].demand:
        return before
    if asked["blocks"] <= max(before, default=0):
        return before
    return [*(before[:-1] if known and known.early else before), asked["blocks"]]


def left_out_file(results: Path, name: str) -> Path:
    """What the host cannot hold of the paper, by step: `reproduce` finds it, `keep` keeps it."""
    return results / f".left-out-{name}.json"


def _left_out(results: Path, name: str, known: Mapping[str, Measured]) -> dict[str, str]:
    """As the host was asked last, else as it is kept."""
    told = read_json(left_out_file(results, name))
    if not isinstance(told, dict):
        return {step: one.left_out for step, one in known.items() if one.left_out}
    return {str(step): str(why) for step, why in told.items()}


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
    cpus = approach_cpus(order)
    runs = strays_of(summary.runs, order).without(summary.runs)
    torn = torn_blocks(runs, order)
    return KeptExperiment(
        name=experiment_dir.resolve().name,
        started=summary.started or order.planned,
        demand=demand_of(order),
        asked=_asked_for(order),
        cpus=cpus,
        setup=_setup(experiment_dir, order, summary, cpus),
        differs=order.scenario.differs if order.scenario else [],
        left_out=order.left_out,
        runs=[
            _kept(run, wanted, cpus, levels[_key(run.load)], torn.get((run.cell, run.repeat)))
            for run in runs
            if _key(run.load) in levels
        ],
    )


def _asked_for(order: Order) -> dict[str, str]:
    request = order.runs[0].request
    told = {
        "SCALE": f"{order.scenario.scale:g}" if order.scenario else "",
        "DURATION": "" if request.fit_duration else f"{request.load.shape.duration_s}s",
        "WARMUP_CAP": f"{request.warmup_cap_s:.0f}s" if request.warmup_cap_s >= 1 else "",
        "REPEATS": str(max(run.request.repeat for run in order.runs)),
        "SEED": str(order.seed),
        "SIZE": order.size,
        "GC": request.gc,
        "HTTP_CLIENT": request.http_client or "",
    }
    return {name: value for name, value in told.items() if value}


def _kept(run: Run, wanted: Iterable[str], cpus: float, at: tuple[int, float], torn: str | None) -> KeptRun:
    values = {name: figure_of(run, name, cpus) for name in wanted}
    return KeptRun(
        run=run.run,
        approach=run.approach,
        jdk=run.jdk,
        repeat=run.repeat,
        level=at[0],
        amount=at[1],
        lasts_s=run.load.shape.duration_s,
        verdict=run.verdict,
        failed=[one.rule for one in run.rules if one.outcome == "failed" and one.level == "invalid"],
        spoilt=spoilt(run),
        torn=torn,
        reasons=run.reasons,
        failures=run.failures,
        figures={
            name: float(f"{value:.{DIGITS}g}")
            for name, value in values.items()
            if value is not None and math.isfinite(value)
        },
    )


def _answers(run: Run) -> float | None:
    return None if run.requests is None or run.errors is None else run.requests - run.errors


def _time_outs(run: Run) -> float | None:
    """None where the tool does not tell why requests failed."""
    if run.errors is None or (run.errors and not run.failures):
        return None
    return run.failures.get("time-out", 0)


COUNTS: dict[str, Callable[[Run], float | None]] = {"answers": _answers, "time_outs": _time_outs}


def figure_of(run: Run, name: str, cpus: float) -> float | None:
    """By the lab's name of it; None where it was not measured. `cpus` are those of the approach."""
    if name == "cpu_share":
        seconds = run.interior.seconds if run.interior else None
        return None if run.cpu_seconds is None or not seconds else run.cpu_seconds / seconds / cpus
    if name in COUNTS:
        return COUNTS[name](run)
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


def approach_cpus(order: Order) -> float:
    """The quota where there is one, else the set."""
    quota = float(order.settings.get("APPROACH_CPUS") or 0)
    return quota or float(len(parse_cpu_list(order.settings.get("APPROACH_CPUSET", "")) or {"0"}))


def _setup(experiment_dir: Path, order: Order, summary: Summary, cpus: float) -> dict[str, str]:
    environment = summary.environment
    abouts = [_about(experiment_dir, run.run) for run in summary.runs]
    versions = dict.fromkeys(text for about in abouts if (text := _words(about, "jvm", "version")))
    servers = dict.fromkeys(text for about in abouts if (text := _words(about, "inbound", "server", "version")))
    clients = dict.fromkeys(
        f"{text} in {run.approach}"
        for run, about in zip(summary.runs, abouts, strict=True)
        if (text := _words(about, "outbound", "client", "version"))
    )
    heaps = {int(text) for about in abouts if (text := _words(about, "jvm", "max_heap_bytes"))}
    stand_ins = ", stand-in base images" if environment.get("stand_in_images") else ""
    told = {
        "JDK": ", ".join(versions) or str(order.runs[0].request.jdk),
        "servers": ", ".join(servers) + (f"; clients of the backend: {', '.join(clients)}" if clients else ""),
        "machine": _machine(order.host, environment.get("memory_bytes"), cpus),
        "system": f"{environment.get('os', '')}, kernel {environment.get('kernel', '')}{stand_ins}",
        "heap": _heap(heaps, order.runs[0].request.gc),
    }
    return {key: value for key, value in told.items() if value.strip(", ")}


def _heap(sizes_bytes: Set[int], collector: str) -> str:
    if not sizes_bytes:
        return ""
    sizes = dict.fromkeys(f"{size / 2**20:,.0f}" for size in (min(sizes_bytes), max(sizes_bytes)))
    return f"{' to '.join(sizes)} MiB, all of it from the start; collector {collector}"


def _machine(host: Mapping[str, Any], memory: Any, cpus: float) -> str:
    """Nothing where the order does not say how many CPUs it has."""
    if "cpus" not in host:
        return ""
    return (
        f"one of {host['cpus']} CPUs"
        + (f" ({host['cpu_model']})" if host.get("cpu_model") else "")
        + (f" and {memory / 2**30:.1f} GiB" if isinstance(memory, int | float) else "")
        + f", {cpus:g} of them the approach's"
    )


def _words(about: dict[str, Any], part: str, *names: str) -> str:
    told = about.get(part)
    return " ".join(str(told[name]) for name in names if told.get(name)) if isinstance(told, dict) else ""


def _about(experiment_dir: Path, run: str) -> dict[str, Any]:
    try:
        about = read_json(RunFiles(experiment_dir / "runs" / run).about)
    except ParseError:
        return {}
    return about if isinstance(about, dict) else {}
