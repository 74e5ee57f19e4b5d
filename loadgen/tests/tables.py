"""What docs/draw puts into pages: `python tests/tables.py rooms|verdict|variables`. The verdict's words are in
tables/, its figures are the code's; defaults that .env holds come in the environment."""

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
from loomlab.plan.variables import FIELDS, table
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


def variables() -> list[str]:
    """A row for each variable that plans an experiment, but ports."""
    told = {
        "duration": f"{waves.WAVES} × the mean latency + {waves.ROUNDED_S} s, at least {waves.SHORTEST_RUN_S} s, at most "
        f"{waves.LONGEST_RUN_S} s; with `RATE`, {planning.OPEN_RUN_S} s",
        "repeats": f"1; with `sweep`, {planning.SWEEP_REPEATS}",
        "margins": f"{comparison.CPU_PER_REQUEST.margin:.2f} for CPU per request, {comparison.P99.margin:.2f} for p99",
        "warmup": f"{planning.default_cap_s(1, 0)} s, more with many connections or slow answers",
    }
    rows = ["| variable | meaning | default |", "|---|---|---|"]
    for name, _, _, default, meaning in table():
        if name in FIELDS and not name.endswith("_PORT"):
            rows.append(f"| `{name}` | {meaning} | {default.format(env=f'`{os.environ.get(name, "")}`', **told)} |")
    return rows


if __name__ == "__main__":
    match sys.argv[1]:
        case "rooms":
            lines = ["```mermaid", drawing(), "```"]
        case "verdict":
            lines = verdict()
        case _:
            lines = variables()
    print("\n".join(lines))  # noqa: T201
