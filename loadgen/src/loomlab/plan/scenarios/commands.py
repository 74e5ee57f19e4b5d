"""The commands that read scenarios."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from loomlab.basics.cpus import parse_cpu_list
from loomlab.basics.errors import UsageError
from loomlab.plan.scenarios.capacity import THREADS, Host, largest_scale, need_of
from loomlab.plan.scenarios.cells import Scaling, hangs_of, loads_of
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.scenarios.model import json_schema, names
from loomlab.plan.scenarios.sidebyside import side_by_side
from loomlab.records.files import write_json

SCENARIOS = Path("/scenarios")
WIDTH = 140
ScenariosDir = Annotated[Path, typer.Option(help="Where the scenario files are.")]
Cpus = Annotated[str, typer.Option(help="A CPU set.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to the program."""
    app.command(name="scenarios")(scenarios)
    app.command(name="plan-scenario")(plan_scenario)
    app.command(name="describe-scenario")(describe_scenario)
    app.command(name="schema")(schema)


def scenarios(
    approach_cpus: Cpus,
    backend_cpus: Cpus,
    generator_cpus: Cpus,
    generator_memory_mb: Annotated[int, typer.Option(help="What k6 may use.")],
    open_files: Annotated[int, typer.Option(help="The hard limit of one process.")],
    scenarios_dir: ScenariosDir = SCENARIOS,
) -> None:
    """List the scenarios, what each needs at full size, and how much of it this host can hold."""
    host = _host(approach_cpus, backend_cpus, generator_cpus, generator_memory_mb, open_files)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for title in ("scenario", "tool", "connections", "open files", "requests/s", "minutes", "SCALE=auto on this host"):
        text = title in {"scenario", "tool", "SCALE=auto on this host"}
        table.add_column(title, justify="left" if text else "right", no_wrap=True)
    for name in names(scenarios_dir):
        described = load_scenario(scenarios_dir, name)
        need = need_of(described, scenarios_dir)
        scale, limit = largest_scale(described, host, scenarios_dir)
        table.add_row(
            name,
            described.tool,
            f"{need.connections:,}",
            f"{need.open_files:,}",
            f"{need.rate_rps:,.0f}",
            f"{need.minutes:.0f}",
            "1" if limit is None else f"{scale:g} for {limit}",
        )
    Console(width=WIDTH).print(table)


def plan_scenario(
    name: str,
    scale: Annotated[str, typer.Option(help="A factor from 0.0001 to 1, or auto.")],
    approach_cpus: Cpus,
    backend_cpus: Cpus,
    generator_cpus: Cpus,
    generator_memory_mb: Annotated[int, typer.Option()],
    open_files: Annotated[int, typer.Option()],
    duration_s: Annotated[int, typer.Option(min=0, help="Instead of the scenario's; 0: the scenario's.")] = 0,
    scenarios_dir: ScenariosDir = SCENARIOS,
) -> None:
    """Print the settings of a scenario as KEY=VALUE lines; CELLS has `number:connections:threads` of each load."""
    described = load_scenario(scenarios_dir, name)
    host = _host(approach_cpus, backend_cpus, generator_cpus, generator_memory_mb, open_files)
    factor = largest_scale(described, host, scenarios_dir)[0] if scale == "auto" else _factor(scale)
    scaling = Scaling(factor, duration_s or None)
    loads = loads_of(described, scaling, scenarios_dir)
    hangs_of(described, scaling)
    cells = [
        f"{number}:{load.connections}:{described.platform_threads or min(load.connections, THREADS)}"
        for number, load in enumerate(loads, 1)
    ]
    lines = {
        "TOOL": described.tool,
        "APPROACH": ",".join(described.approaches),
        "CONCURRENCY": max(load.connections for load in loads),
        "ENDPOINT": loads[0].targets[0].target,
        "DELAY": described.delay,
        "DURATION": f"{max(load.shape.duration_s for load in loads)}s",
        "REPEATS": described.repeats,
        "JDK": described.jdk,
        "SCALE": f"{factor:g}",
        "CELLS": " ".join(cells),
    }
    if described.warm_up is not None:
        lines["WARMUP_CAP"] = f"{described.warm_up:.0f}s"
    for key, value in lines.items():
        print(f"{key}={value}")  # noqa: T201


def describe_scenario(
    name: str,
    out: Annotated[Path, typer.Option(help="The file to write.")],
    scale: Annotated[float, typer.Option()] = 1,
    duration_s: Annotated[int, typer.Option(min=0)] = 0,
    scenarios_dir: ScenariosDir = SCENARIOS,
) -> None:
    """Write what was published and what is run, side by side, as JSON."""
    described = load_scenario(scenarios_dir, name)
    write_json(out, side_by_side(name, described, Scaling(scale, duration_s or None), scenarios_dir))


def schema() -> None:
    """Print the JSON Schema of scenario files."""
    print(json.dumps(json_schema(), indent=2))  # noqa: T201


def _host(approach_cpus: str, backend_cpus: str, generator_cpus: str, memory_mb: int, open_files: int) -> Host:
    approach, backend, generator = (_cpus(text) for text in (approach_cpus, backend_cpus, generator_cpus))
    return Host(
        approach_cpus=len(approach) or 1,
        generator_cpus=len(generator) or 1,
        shared=not backend or bool(backend & generator),
        generator_memory_mb=memory_mb,
        open_files=open_files,
    )


def _cpus(text: str) -> set[str]:
    try:
        return parse_cpu_list(text) or set()
    except ValueError:
        raise UsageError(f"The CPU set is {text!r}: it must be a CPU list such as 0-2,5, or empty.") from None


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 0.0001 <= factor <= 1:
        raise UsageError(f"SCALE={text} is no factor from 0.0001 to 1: use for instance SCALE=0.02, or SCALE=auto.")
    return factor
