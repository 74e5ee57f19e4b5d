"""The commands that plan experiments, and tell of scenarios and published benchmarks."""

import json
import os
import re
import sys
from collections.abc import Container, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from loomlab.answer.gate import expectation
from loomlab.basics.format import plain
from loomlab.plan.capacity import largest_scale, need_of, room_of
from loomlab.plan.host import Lab, this_host
from loomlab.plan.overlay import overlay_lines
from loomlab.plan.planning import description, plan, shell_lines
from loomlab.plan.scenarios import load_scenario, names
from loomlab.plan.stack import stack_of
from loomlab.plan.subject import Model
from loomlab.plan.variables import Asked
from loomlab.published.answers import COLUMNS, answers_of, row_of
from loomlab.published.benchmark import keep, missing_steps, read_benchmark, read_benchmarks, runs_in
from loomlab.records.files import write_json
from loomlab.records.order import order_file, read_order

WIDTH = 140
LOADGEN, RESULTS = Path("/lab/loadgen"), Path("/results")


def plan_experiment(verb: str, tell: bool = False) -> None:
    """Plan an experiment of that verb of make from the user's variables in the environment: write order.json, and print
    what the host's shell walks; or only tell a reader. `up` has values that may be wrong, and no plan."""
    lab = Lab()
    asked = lab.asked(verb, os.environ)
    if verb == "up":
        return
    order = plan(asked, this_host(RESULTS), lab, f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}", model_of_user(asked))
    if not tell:
        folder = RESULTS / order.experiment
        (folder / "runs").mkdir(parents=True)
        write_json(order_file(folder), order)
    expected = expectation(order, RESULTS)
    lines = description(order, expected) if tell else shell_lines(order, expected)
    print("\n".join(lines))  # noqa: T201


def model_of_user(asked: Asked) -> Model | None:
    """What Compose made of the user's file, on stdin, or of an image alone; None where approaches are measured."""
    if asked.subjects:
        return dict(json.load(sys.stdin))
    if asked.image:
        name = asked.service or re.sub(
            "[^a-z0-9]+", "-", asked.image.rpartition("/")[2].partition(":")[0].partition("@")[0]
        )
        return {"services": {name: {"image": asked.image, "ports": [{}]}}}
    return None


def print_overlay(experiment_dir: Path, root: str) -> None:
    """Print what Compose reads beside compose.yaml for the services of an experiment; `root` is the lab on the host."""
    order = read_order(experiment_dir)
    model = None
    if order.subject:
        model = model_of_user(Lab().asked("sweep", order.asked))
    print("\n".join(overlay_lines(order, root, model)))  # noqa: T201


def print_targets(experiment_dir: Path) -> None:
    """Print what Prometheus is to scrape of a service of the user's."""
    foreign = {run.request.name: run.request.foreign for run in read_order(experiment_dir).runs}
    told = [
        {"targets": [f"{name}:{one.metrics_port}"], "labels": {"__metrics_path__": one.metrics, "service": name}}
        for name, one in foreign.items()
        if one and one.metrics
    ]
    print(json.dumps(told))  # noqa: T201


def print_stack(folder: str = "", image: list[str] = [], lost: bool = False) -> None:  # noqa: B006 - typer's
    """Print what `docker stack deploy` takes of the model that Compose made, on stdin; or what is lost of it. `image`
    is NAME=ID, `folder` the lab's on the host."""
    stack = stack_of(json.load(sys.stdin), folder, dict(one.split("=", 1) for one in image))
    print("\n".join(stack.sentences()) if lost else json.dumps(stack.file))  # noqa: T201


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Container[str] = ()) -> None:
    """Rows of text are set apart, columns of numbers are aligned right."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for title in columns:
        table.add_column(title, justify="right" if title in numbers else "left")
    for row in rows:
        table.add_row(*(escape(plain(cell)) for cell in row), end_section=not numbers)
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


def list_published(loadgen: Path = LOADGEN) -> None:
    """List the published benchmarks and the scenarios that run them."""
    rows = (
        (one.name, one.title, one.author or "not named", str(one.year), str(len(one.claims)), ", ".join(one.scenarios))
        for one in read_benchmarks(loadgen / "published")
    )
    print_table(("benchmark", "title", "author", "year", "claims", "scenarios"), rows)


def plan_published(name: str, loadgen: Path = LOADGEN, results: Path = RESULTS) -> None:
    """Print which experiments of a benchmark are still to be made on this host: lines that the host's shell walks."""
    lab = Lab(loadgen.parent, loadgen / "scenarios")
    lines, sentences = missing_steps(read_benchmark(lab.published, name), os.environ, results, this_host(results), lab)
    print("\n".join(sentences), file=sys.stderr)  # noqa: T201
    print("\n".join(lines))  # noqa: T201


def show_claims(name: str, loadgen: Path = LOADGEN, results: Path = RESULTS) -> None:
    """Print a benchmark's claims with their answers, from the experiments of results/."""
    benchmark = read_benchmark(loadgen / "published", name)
    print_table(COLUMNS, map(row_of, answers_of(benchmark, runs_in(results, benchmark, loadgen / "scenarios"))))


def keep_runs(name: str, loadgen: Path = LOADGEN, results: Path = RESULTS) -> None:
    """Put the runs of results/ that were made for a benchmark in place of older ones that the repository keeps."""
    benchmark = read_benchmark(loadgen / "published", name)
    keep(loadgen / "published", benchmark, runs_in(results, benchmark, loadgen / "scenarios", this_host(results)))
