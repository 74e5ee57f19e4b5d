"""The commands about published experiments."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from loomlab.plan.host import this_host
from loomlab.plan.lab import Lab
from loomlab.published.answers import answers_of
from loomlab.published.forest import forest
from loomlab.published.page import page_of, reproduced, told_of
from loomlab.published.paper import published
from loomlab.published.runs import keep, kept_runs, runs_in
from loomlab.published.steps import plan_of

WIDTH = 140
PapersDir = Annotated[Path, typer.Option(help="Where the papers are.")]
ScenariosDir = Annotated[Path, typer.Option(help="Where the scenarios are.")]
Results = Annotated[Path, typer.Option(help="Where the experiments are.")]
Name = Annotated[str, typer.Argument(help="The paper, as `make papers` lists it.")]
PAPERS, SCENARIOS, RESULTS = Path("/lab/loadgen/published"), Path("/scenarios"), Path("/results")


def _table(*titles: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for title in titles:
        table.add_column(title)
    return table


def list_papers(papers_dir: PapersDir = PAPERS, scenarios_dir: ScenariosDir = SCENARIOS) -> None:
    """List the published experiments and the scenarios that run them."""
    table = _table("paper", "title", "author", "year", "claims", "scenarios")
    for one in reproduced(papers_dir, scenarios_dir):
        paper, scenarios = one.published.paper, "\n".join(one.published.scenarios)
        told = (one.published.name, paper.title, paper.author or "not named", str(paper.year), str(len(paper.claims)))
        table.add_row(*told, scenarios, end_section=True)
    Console(width=WIDTH).print(table)


def plan_paper(
    name: Name,
    lab_dir: Annotated[Path, typer.Option(help="The checkout.")] = Path("/lab"),
    scenarios_dir: ScenariosDir = SCENARIOS,
    results: Results = RESULTS,
) -> None:
    """Print which experiments of a paper are still to be made on this host: lines that the host's shell walks."""
    lab = Lab(lab_dir, scenarios_dir)
    plan = plan_of(published(lab.papers, name, scenarios_dir), os.environ, results, this_host(results), lab)
    missing = f"{len(plan.lines)} experiments, about {plan.minutes} min" if plan.lines else "everything is measured"
    for sentence in (*(f"note: {note}" for note in plan.notes), f"{name}: {missing}"):
        print(sentence, file=sys.stderr)  # noqa: T201
    for line in plan.lines:
        print(line)  # noqa: T201


def show_claims(
    name: Name, papers_dir: PapersDir = PAPERS, scenarios_dir: ScenariosDir = SCENARIOS, results: Results = RESULTS
) -> None:
    """Print a paper's claims with their answers, from the experiments of results/."""
    paper = published(papers_dir, name, scenarios_dir)
    table = _table("claim", "answer", "published", "here")
    for answer in answers_of(paper, runs_in(results, paper, scenarios_dir)):
        told = (answer.claim.says, answer.outcome, *told_of(answer))
        table.add_row(*map(escape, told), end_section=True)
    Console(width=WIDTH).print(table)


def keep_runs(
    name: Name, papers_dir: PapersDir = PAPERS, scenarios_dir: ScenariosDir = SCENARIOS, results: Results = RESULTS
) -> None:
    """Add the runs of results/ that were made for a paper to those that the repository keeps, in place of older ones of
    the same load."""
    paper, path = published(papers_dir, name, scenarios_dir), papers_dir / "measured" / f"{name}.csv"
    new = runs_in(results, paper, scenarios_dir)
    loads = {run.load for run in new}
    every = [*(run for run in kept_runs(path) if run.load not in loads), *new]
    keep(path, sorted(every, key=lambda run: (run.load, run.experiment, run.repeat, run.level)))


def write_page(
    docs: Annotated[Path, typer.Argument(help="Where the page and its images go.")],
    papers_dir: PapersDir = PAPERS,
    scenarios_dir: ScenariosDir = SCENARIOS,
) -> None:
    """Write reproduced.md and its charts, from the runs that the repository keeps."""
    every = reproduced(papers_dir, scenarios_dir)
    (docs / "images").mkdir(parents=True, exist_ok=True)
    (docs / "reproduced.md").write_text(page_of(every), encoding="utf-8")
    for one in every:
        chart = forest(one)
        (docs / "images" / chart.file).write_text(chart.svg, encoding="utf-8")
