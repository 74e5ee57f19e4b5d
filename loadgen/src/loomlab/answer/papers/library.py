"""The papers of the lab: a file each."""

from dataclasses import dataclass
from pathlib import Path

from loomlab.answer.papers.model import (
    Announced,
    Claim,
    ClaimLoad,
    Drawn,
    Levels,
    Machine,
    NoTest,
    Paper,
    Picture,
    RatioTest,
    Row,
    Side,
    SlopeTest,
    Table,
    ValueTest,
)
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.scenarios.model import names as scenario_names
from loomlab.records.yamlfile import Grammar, parse, path_of

PAPER = Grammar(
    Paper,
    kind="paper",
    fields="title and claims",
    parts={
        "machines": Machine,
        "levels": Levels,
        "tables": Table,
        "rows": Row,
        "pictures": Picture,
        "announced": Announced,
        "drawn": Drawn,
        "claims": Claim,
        "load": ClaimLoad,
        "ratio": RatioTest,
        "value": ValueTest,
        "slope": SlopeTest,
        "none": NoTest,
        "of": Side,
        "to": Side,
    },
    tagged=frozenset({"decided_by"}),
)


def paper_names(folder: Path) -> list[str]:
    """In order."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def load_paper(folder: Path, name: str) -> Paper:
    """The paper of that name; raises UsageError with the nearest names for another one."""
    path = path_of(folder, name, "paper", "make papers")
    return parse_paper(path.read_text(encoding="utf-8", errors="replace"), path.name)


def parse_paper(text: str, file: str) -> Paper:
    """Raises UsageError with one line for each mistake: file, line, field, value and what is allowed."""
    return parse(text, file, PAPER)


@dataclass(frozen=True)
class Listed:
    """A paper as `make papers` lists it."""

    name: str
    paper: Paper
    scenarios: list[str]


def listed(folder: Path, scenarios: Path) -> list[Listed]:
    """All papers, each with the scenarios that say they are from it."""
    published = {name: load_scenario(scenarios, name).published for name in scenario_names(scenarios)}
    return [
        Listed(
            name,
            load_paper(folder, name),
            [scenario for scenario, source in published.items() if source and source.experiment == name],
        )
        for name in paper_names(folder)
    ]
