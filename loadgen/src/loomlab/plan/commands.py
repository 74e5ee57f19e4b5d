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
from loomlab.plan.planning import plan
from loomlab.plan.scenarios.capacity import largest_scale, need_of, room_of
from loomlab.plan.scenarios.model import Scenario, load_scenario, names
from loomlab.plan.shell import description, shell_lines
from loomlab.plan.variables import table
from loomlab.records.files import write_json
from loomlab.records.order import order_file

STAMP = "%Y%m%dT%H%M%SZ"
WIDTH = 140
LabDir = Annotated[Path, typer.Option(help="The checkout.")]
ScenariosDir = Annotated[Path, typer.Option(help="Where the scenario files are.")]
Results = Annotated[Path, typer.Option(help="Where the experiments are.")]


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
    print("\n".join(description(order) if tell else shell_lines(order)))  # noqa: T201


def scenarios(lab_dir: LabDir = Path("/lab"), scenarios_dir: ScenariosDir = Path("/scenarios")) -> None:
    """List the scenarios, what each needs at full size, and how much of it this host can hold."""
    lab, host = Lab(lab_dir, scenarios_dir), this_host(Path("/"))
    room = room_of(host, os.environ.get("SIZE") or "auto", lab.sizes)
    rows = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    texts = ("scenario", "tool", "SCALE=auto on this host")
    numbers = ("connections", "open files", "requests/s", "minutes", "CPUs for SCALE=1")
    for title in (*texts[:2], *numbers, texts[2]):
        rows.add_column(title, justify="left" if title in texts else "right", no_wrap=True)
    for name in names(lab.scenarios):
        scenario = load_scenario(lab.scenarios, name)
        need = need_of(scenario, lab.scenarios)
        scale, limit = largest_scale(scenario, room, lab.scenarios)
        rows.add_row(
            name,
            scenario.tool,
            f"{need.connections:,}",
            f"{need.open_files:,}",
            f"{need.rate_rps:,.0f}",
            f"{need.minutes:.0f}",
            f"{need.cpus}",
            "1" if limit is None else f"{scale:g} for {limit}",
        )
    Console(width=WIDTH).print(rows)


def schema() -> None:
    """Print the JSON Schema of scenario files."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$comment": "Written by `loomlab schema`."}
    print(json.dumps(head | Scenario.model_json_schema(), indent=2))  # noqa: T201


def variables() -> None:
    """Print bin/variables.tsv, from which the host's shell knows names, examples and verbs."""
    print("\n".join("\t".join(row[:3]) for row in table()))  # noqa: T201
