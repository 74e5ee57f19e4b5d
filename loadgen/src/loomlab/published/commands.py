"""The commands about published experiments."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from loomlab.plan.commands import print_table
from loomlab.plan.host import this_host
from loomlab.plan.lab import Lab
from loomlab.published.answers import COLUMNS, answers_of, row_of
from loomlab.published.paper import keep, read_paper, read_papers
from loomlab.published.runs import missing_steps, runs_in

Name = Annotated[str, typer.Argument(help="The paper, as `make papers` lists it.")]
Loadgen = Annotated[Path, typer.Option(help="The checkout's folder with published/ and scenarios/.")]
Results = Annotated[Path, typer.Option(help="Where the experiments are.")]
LOADGEN, RESULTS = Path("/lab/loadgen"), Path("/results")


def list_papers(loadgen: Loadgen = LOADGEN) -> None:
    """List the published experiments and the scenarios that run them."""
    rows = [
        (one.name, one.title, one.author or "not named", str(one.year), str(len(one.claims)), "\n".join(one.scenarios))
        for one in read_papers(loadgen / "published")
    ]
    print_table(("paper", "title", "author", "year", "claims", "scenarios"), rows)


def plan_paper(name: Name, loadgen: Loadgen = LOADGEN, results: Results = RESULTS) -> None:
    """Print which experiments of a paper are still to be made on this host: lines that the host's shell walks."""
    lab = Lab(loadgen.parent, loadgen / "scenarios")
    lines, sentences = missing_steps(read_paper(lab.papers, name), os.environ, results, this_host(results), lab)
    print("\n".join(sentences), file=sys.stderr)  # noqa: T201
    print("\n".join(lines))  # noqa: T201


def show_claims(name: Name, loadgen: Loadgen = LOADGEN, results: Results = RESULTS) -> None:
    """Print a paper's claims with their answers, from the experiments of results/."""
    paper = read_paper(loadgen / "published", name)
    print_table(COLUMNS, map(row_of, answers_of(paper, runs_in(results, paper, loadgen / "scenarios"))))


def keep_runs(name: Name, loadgen: Loadgen = LOADGEN, results: Results = RESULTS) -> None:
    """Put the runs of results/ that were made for a paper in place of older ones that the repository keeps."""
    paper = read_paper(loadgen / "published", name)
    keep(loadgen / "published", paper, runs_in(results, paper, loadgen / "scenarios"))
