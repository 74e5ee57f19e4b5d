"""The commands that plan."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from loomlab.plan.host import this_host
from loomlab.plan.lab import Lab
from loomlab.plan.planning import SCENARIO_CONNECTIONS, plan
from loomlab.plan.scenarios.capacity import full_size, largest_scale, need_of, room_of
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.scenarios.model import json_schema, names
from loomlab.plan.sizes import size_of
from loomlab.plan.variables import table
from loomlab.plan.walk import lines_of, told_of
from loomlab.records.files import write_json
from loomlab.records.order import order_file

STAMP = "%Y%m%dT%H%M%SZ"
WIDTH = 140
LabDir = Annotated[Path, typer.Option(help="The checkout.")]
ScenariosDir = Annotated[Path, typer.Option(help="Where the scenario files are.")]
Results = Annotated[Path, typer.Option(help="Where the experiments are.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to the program."""
    app.command(name="plan")(plan_experiment)
    app.command(name="scenarios")(scenarios)
    app.command(name="schema")(schema)
    app.command(name="variables")(variables)


def plan_experiment(
    verb: Annotated[str, typer.Argument(help="Of make: run-ab, run-hey, run-vegeta, run-users, scenario or sweep.")],
    lab_dir: LabDir = Path("/lab"),
    scenarios_dir: ScenariosDir = Path("/scenarios"),
    results: Results = Path("/results"),
    dry: Annotated[bool, typer.Option("--dry", help="Only print, write nothing.")] = False,
    tell: Annotated[bool, typer.Option("--tell", help="Print the plan for a reader, write nothing.")] = False,
) -> None:
    """Plan an experiment from the user's variables in the environment: writes order.json into a folder of its own and
    prints what the host's shell walks."""
    lab = Lab(lab_dir, scenarios_dir)
    order = plan(lab.asked(verb, os.environ), this_host(results), lab, datetime.now(UTC).strftime(STAMP))
    if not (dry or tell):
        folder = results / order.experiment
        (folder / "runs").mkdir(parents=True)
        write_json(order_file(folder), order)
    for line in told_of(order) if tell else lines_of(order):
        print(line)  # noqa: T201


def scenarios(lab_dir: LabDir = Path("/lab"), scenarios_dir: ScenariosDir = Path("/scenarios")) -> None:
    """List the scenarios, what each needs at full size, and how much of it this host can hold."""
    lab, host = Lab(lab_dir, scenarios_dir), this_host(Path("/"))
    room = room_of(host, size_of(os.environ.get("SIZE") or "auto", host, SCENARIO_CONNECTIONS, lab.sizes))
    found = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for title in (
        "scenario",
        "tool",
        "connections",
        "open files",
        "requests/s",
        "minutes",
        "CPUs for SCALE=1",
        "SCALE=auto on this host",
    ):
        text = title in {"scenario", "tool", "SCALE=auto on this host"}
        found.add_column(title, justify="left" if text else "right", no_wrap=True)
    for name in names(lab.scenarios):
        described = load_scenario(lab.scenarios, name)
        need = need_of(described, lab.scenarios)
        scale, limit = largest_scale(described, room, lab.scenarios)
        found.add_row(
            name,
            described.tool,
            f"{need.connections:,}",
            f"{need.open_files:,}",
            f"{need.rate_rps:,.0f}",
            f"{need.minutes:.0f}",
            f"{full_size(described, lab.scenarios).cpus}",
            "1" if limit is None else f"{scale:g} for {limit}",
        )
    Console(width=WIDTH).print(found)


def schema() -> None:
    """Print the JSON Schema of scenario files."""
    print(json.dumps(json_schema(), indent=2))  # noqa: T201


def variables() -> None:
    """Print bin/variables.tsv, from which the host's shell knows names, examples and verbs."""
    for row in table():
        print("\t".join(row[:3]))  # noqa: T201
