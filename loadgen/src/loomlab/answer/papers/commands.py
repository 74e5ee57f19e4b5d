"""The commands about papers."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from loomlab.answer.papers.keeping import declared_file, keep, left_out_file
from loomlab.answer.papers.keeping import found_of as experiments_of
from loomlab.answer.papers.library import listed, load_paper, paper_names
from loomlab.answer.papers.measured import read_measured
from loomlab.answer.papers.originals import Checked, Found, Original, original_of
from loomlab.answer.papers.own import Own, contradicted
from loomlab.answer.papers.page import answered, found_of, page_of, why_of
from loomlab.answer.papers.steps import plan_of, steps_of, take
from loomlab.basics import errors
from loomlab.basics.errors import HostError, UsageError
from loomlab.plan.host import this_host
from loomlab.plan.lab import Lab
from loomlab.records.files import write_json

WIDTH = 140
PapersDir = Annotated[Path, typer.Option(help="Where the papers' files are.")]
ScenariosDir = Annotated[Path, typer.Option(help="Where the scenario files are.")]
MeasuredDir = Annotated[Path, typer.Option(help="Where it is kept what was measured of the papers.")]
Results = Annotated[Path, typer.Option(help="Where the experiments are.")]
Name = Annotated[str, typer.Argument(help="The paper, as `make papers` lists it.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to the program."""
    app.command(name="papers")(papers)
    app.command(name="check-papers")(check_papers)
    app.command(name="reproduce")(reproduce)
    app.command(name="keep")(keep_measured)
    app.command(name="claims")(claims)
    app.command(name="reproduced")(reproduced)


def papers(
    papers_dir: PapersDir = Path("/lab/loadgen/published"), scenarios_dir: ScenariosDir = Path("/scenarios")
) -> None:
    """List the published experiments and the scenarios that run them."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for title in ("paper", "title", "author", "year", "levels", "claims", "scenarios"):
        text = title in {"title", "levels"}
        table.add_column(title, justify="right" if title == "claims" else "left", no_wrap=not text)
    for one in listed(papers_dir, scenarios_dir):
        paper = one.paper
        table.add_row(
            one.name,
            paper.title,
            paper.author or "not named",
            str(paper.year),
            f"{', '.join(f'{value:,}' for value in paper.levels.values)} {paper.levels.unit}",
            str(len(paper.claims)),
            "\n".join(one.scenarios),
            end_section=True,
        )
    Console(width=WIDTH).print(table)


def reproduce(
    name: Name,
    resume: Annotated[str, typer.Option(help="An experiment to take in: latest, or a folder below results/.")] = "",
    lab_dir: Annotated[Path, typer.Option(help="The checkout.")] = Path("/lab"),
    scenarios_dir: ScenariosDir = Path("/scenarios"),
    results: Results = Path("/results"),
    tell: Annotated[bool, typer.Option("--tell", help="Print the plan for a reader, write nothing.")] = False,
) -> None:
    """Print which experiments of a paper are still to be made on this host: lines that the host's shell walks."""
    lab, host = Lab(lab_dir, scenarios_dir), this_host(results)
    paper = load_paper(lab.papers, name)
    scenarios = next(one.scenarios for one in listed(lab.papers, lab.scenarios) if one.name == name)
    steps = steps_of(name, paper, scenarios, os.environ, host, lab)
    if not tell:
        write_json(left_out_file(results, name), dict(steps.left_out))
        write_json(declared_file(results, name), {step.name: step.declared for step in steps.steps})
    if not steps.steps:
        raise HostError(next(iter(steps.left_out.values()), f"PAPER={name} has no experiment."))
    begun = take(results, resume, name, steps.steps) if resume else None
    known = read_measured(lab.papers / "measured", name)
    plan = plan_of(steps, results, experiments_of(results, known, name, paper, scenarios_dir), host, lab)
    lines = [*([begun] if begun else []), *(line for line in plan.lines if line != begun)]
    for sentence in plan.notes:
        print(f"note: {sentence}", file=sys.stderr)  # noqa: T201
    missing = f"{len(lines)} experiment{'' if len(lines) == 1 else 's'}, about {round(plan.seconds / 60)} min"
    print(f"{name}: {missing if lines else 'everything is measured'}", file=sys.stderr)  # noqa: T201
    for line in lines:
        _say(line)


def keep_measured(
    name: Name,
    papers_dir: PapersDir = Path("/lab/loadgen/published"),
    scenarios_dir: ScenariosDir = Path("/scenarios"),
    results: Results = Path("/results"),
    measured_dir: MeasuredDir = Path("/measured"),
) -> None:
    """Keep what experiments of results/ have measured for a paper."""
    kept = keep(results, measured_dir, name, load_paper(papers_dir, name), scenarios_dir)
    for step in kept.changed:
        _say(f"kept: {name}/{step}")
    for sentence in kept.others:
        _say(f"not kept: {sentence}")


def claims(
    name: Name,
    papers_dir: PapersDir = Path("/lab/loadgen/published"),
    scenarios_dir: ScenariosDir = Path("/scenarios"),
) -> None:
    """Print a paper's claims with their answers, from what is kept of it."""
    load_paper(papers_dir, name)
    listing = [one for one in listed(papers_dir, scenarios_dir) if one.name == name]
    (found,) = answered(listing, papers_dir / "measured")
    unit, table = found.paper.levels.unit, Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for title in ("claim", "answer", "here and why"):
        table.add_column(title)
    for answer in found.answers:
        told = "\n".join([*found_of(answer, unit), *why_of(answer, unit)])
        table.add_row(escape(answer.claim.says), answer.outcome, escape(told), end_section=True)
    Console(width=WIDTH).print(table)


def reproduced(
    papers_dir: PapersDir = Path("/lab/loadgen/published"), scenarios_dir: ScenariosDir = Path("/scenarios")
) -> None:
    """Print docs/reproduced.md, from what is kept of all papers."""
    print(page_of(answered(listed(papers_dir, scenarios_dir), papers_dir / "measured")), end="")  # noqa: T201


def check_papers(
    originals: Annotated[Path, typer.Argument(help="The folder with the published texts, a file each.")],
    papers_dir: PapersDir = Path("/lab/loadgen/published"),
) -> None:
    """Look for every published figure that is kept at its place in the original."""
    if not originals.is_dir():
        raise UsageError(f"There is no folder {originals}: give the one with the originals.")
    right = True
    for name in paper_names(papers_dir):
        paper = load_paper(papers_dir, name)
        path = original_of(paper, originals)
        checked = Original(path.read_text(encoding="utf-8", errors="replace")).check(paper)
        right = right and checked.right
        _say(f"{name}: {checked.matches} of {checked.figures} figures are in {path.name}")
        for line in (*_tables(checked), *_others(checked), *_claims(contradicted(paper))):
            _say(f"  {line}")
    if not right:
        raise typer.Exit(errors.EXIT_INVALID)


def _say(text: str) -> None:
    print(text)  # noqa: T201


def _tables(checked: Checked) -> list[str]:
    said: list[str] = []
    for name in dict.fromkeys(row.table for row in checked.rows):
        rows = [row for row in checked.rows if row.table == name]
        lines = [number for row in rows for number in row.lines or ()]
        where = f"lines {min(lines)} to {max(lines)}" if lines else "nowhere"
        said.append(f"{name}, {where}: {sum(row.matches for row in rows)} of {sum(len(row.wanted) for row in rows)}")
        said += [_wrong(row) for row in rows if not row.right]
    return said


def _wrong(row: Found) -> str:
    if row.lines is None:
        return f"NOT THERE {row.row!r}"
    return f"NOT THERE {row.row!r}, line {row.lines.start}: {row.wanted} is kept, {row.there} is there"


def _others(checked: Checked) -> list[str]:
    there = checked.others - len(checked.missing)
    return [
        f"places, settings, machines and pictures: {there} of {checked.others}",
        *(f"NOT THERE {what}" for what in checked.missing),
        *(f"not kept, {line}" for line in checked.left_out),
    ]


def _claims(against: dict[str, list[Own]]) -> list[str]:
    said: list[str] = []
    for claim, found in against.items():
        for figure, of in dict.fromkeys((one.figure, one.of) for one in found):
            where = [_told(one) for one in found if (one.figure, one.of) == (figure, of)]
            said.append(f"its own figures speak against {claim}: {figure} of {of} is {', '.join(where)}")
    return said


def _told(own: Own) -> str:
    values = " and ".join(f"{value:.4g}" for value in own.values)
    return f"{values} at {own.level:,}"
