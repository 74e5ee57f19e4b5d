"""What can be run: the command, and the table that it shares with others."""

import os
from collections.abc import Container, Iterable, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from loomlab.plan.capacity import largest_scale, need_of, room_of
from loomlab.plan.host import this_host
from loomlab.plan.lab import Lab
from loomlab.plan.scenarios import load_scenario, names

WIDTH = 140


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Container[str] = ()) -> None:
    """Rows of text are set apart, columns of numbers are aligned right."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for title in columns:
        table.add_column(title, justify="right" if title in numbers else "left")
    for row in rows:
        table.add_row(*map(escape, row), end_section=not numbers)
    Console(width=WIDTH).print(table)


def scenarios() -> None:
    """List the scenarios, what each needs at full size, and how much of it this host can hold."""
    lab, rows = Lab(), []
    room = room_of(this_host(Path("/")), os.environ.get("SIZE") or "auto", lab.sizes)
    for name in names(lab.scenarios):
        scenario = load_scenario(lab.scenarios, name)
        need = need_of(scenario)
        scale, limit = largest_scale(scenario, room)
        figures = (need.connections, need.open_files, need.rate_rps, need.minutes)
        held = f"{scale:g} for {limit}" if limit else "1"
        rows.append((name, scenario.tool, *(f"{figure:,.0f}" for figure in figures), held))
    numbers = ("connections", "open files", "requests/s", "minutes")
    print_table(("scenario", "tool", *numbers, "SCALE=auto on this host"), rows, numbers)
