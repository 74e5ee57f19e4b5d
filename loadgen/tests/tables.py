"""What docs/draw puts into pages: `python tests/tables.py rooms|verdict|variables`. The tables' words are in tables/,
their figures are the code's; defaults that .env holds come in the environment."""

import os
import re
import sys
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template

from loomlab.basics import waves
from loomlab.basics.words import percent
from loomlab.judge import limits
from loomlab.judge.verdict import RULES
from loomlab.plan import planning
from loomlab.records import warmup
from loomlab.statistics import comparison
from rooms import drawing

FIGURES: dict[str, Any] = {**os.environ, "percent": percent}
for module in (limits, waves, warmup, planning, comparison):
    FIGURES |= vars(module)
HEAD = ["| level | rule | threshold | in `rules` |", "|---|---|---|---|"]


def filled(name: str) -> list[str]:
    page = Template((Path(__file__).parent / "tables" / f"{name}.md").read_text(), undefined=StrictUndefined)
    return str(page.render(FIGURES)).splitlines()


def verdict() -> list[str]:
    """Each row ends with its rules, from which its level follows."""
    levels = {rule.name: rule.level for rule in RULES}
    rows: list[str] = []
    told: set[str] = set()
    for row in filled("verdict"):
        names = set(re.findall(r"\w+", row.split("|")[-2]))
        (level,) = {levels[name] for name in names} or {"suspect"}
        rows.append(f"| {level} {row}")
        told |= names
    if told != levels.keys():
        sys.exit(f"These rules are in no row of tests/tables/verdict.md: {', '.join(sorted(levels.keys() - told))}.")
    return [*HEAD, *rows]


if __name__ == "__main__":
    match sys.argv[1]:
        case "rooms":
            lines = ["```mermaid", drawing(), "```"]
        case "verdict":
            lines = verdict()
        case name:
            lines = filled(name)
    print("\n".join(lines))  # noqa: T201
