"""The commands about papers."""

from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from loomlab.answer.papers.library import listed, load_paper, paper_names
from loomlab.answer.papers.originals import Checked, Found, Original, original_of
from loomlab.answer.papers.own import Own, contradicted
from loomlab.basics import errors
from loomlab.basics.errors import UsageError

WIDTH = 140
PapersDir = Annotated[Path, typer.Option(help="Where the papers' files are.")]
ScenariosDir = Annotated[Path, typer.Option(help="Where the scenario files are.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to the program."""
    app.command(name="papers")(papers)
    app.command(name="check-papers")(check_papers)


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
    return values if own.level is None else f"{values} at {own.level:,}"
