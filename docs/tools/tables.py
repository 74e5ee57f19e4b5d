"""What draw writes into pages and files from the code: `python tables.py` and the name of a table. Defaults
that .env holds come in the environment."""

import csv
import inspect
import io
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from pydantic import BaseModel

from loomlab.answer.figures import EVERY
from loomlab.basics import waves
from loomlab.judge import limits as shared
from loomlab.judge.rules import DECLARING, RULES
from loomlab.plan import planning, work
from loomlab.plan.scenarios import Scenario
from loomlab.plan.variables import OTHERS, VARIABLES
from loomlab.records.models import Run
from loomlab.statistics import comparison

HEAD = ["| what is looked at | threshold | in `rules` |", "|---|---|---|"]
LIMIT = re.compile(r"[A-Z0-9_]+(_LIMIT|_CPU)")
"""A constant of the verdict that is one."""
BESIDE = (
    ("The parity audit found a difference that nothing explains, or an answer or `/about` was not recorded", "any"),
    ("The experiment was resumed with other images or on another host", "any"),
    ("A rule could not be checked", "any"),
)
"""What makes a run suspect and is no rule."""


def verdict() -> list[str]:
    """A row for each rule, those that make a run invalid first."""
    rows: dict[str, list[str]] = {"invalid": [], "suspect": []}
    for rule in RULES:
        what = " ".join((inspect.getdoc(rule.check) or "").partition("\n\n")[0].split()).removesuffix(".")
        rows[rule.level].append(f"| {what} | {rule.limit} | `{rule.name}` |")
    rows["suspect"] += (f"| {what} | {limit} | |" for what, limit in BESIDE)
    return [line for level in rows for line in ("", f"### {level.capitalize()}", "", *HEAD, *rows[level], "")]


def limits() -> list[str]:
    """The verdict's limits by name, as JSON, of which alerts and panels show some."""
    named = {name: value for module in (shared, *DECLARING) for name, value in vars(module).items()}
    return [json.dumps({name: value for name, value in sorted(named.items()) if LIMIT.fullmatch(name)}, indent=1)]


def figures() -> list[str]:
    """A row for each figure of a run that Prometheus has."""
    rows = ["| metric | unit | what it is |", "|---|---|---|"]
    for figure in EVERY:
        if exported := figure.exported:
            unit = "" if exported.unit == "none" else exported.unit
            rows.append(f"| `lab_result_{exported.name}` | {unit} | {figure.meaning} |")
    return rows


def results(record: type[BaseModel] = Run, prefix: str = "") -> list[str]:
    """A row for each field of run.json that has a text, as CSV."""
    rows = [] if prefix else ["field of a run,meaning"]
    for name, field in record.model_fields.items():
        if field.description:
            csv.writer(row := io.StringIO(), lineterminator="").writerow([f"{prefix}{name}", field.description])
            rows.append(row.getvalue())
        for part in (field.annotation, *get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                rows += [row for row in results(part, f"{prefix}{name}.") if row not in rows]
    return rows


def variables(*, planning_ones: bool) -> list[str]:
    """A row for each variable that plans an experiment; or for each other one, and ports."""
    told = {
        "duration": f"{waves.WAVES} × the mean latency + {waves.ROUNDED_S} s, at least {waves.SHORTEST_RUN_S} s, "
        f"at most {waves.LONGEST_RUN_S} s; with `RATE`, {work.OPEN_RUN_S} s",
        "repeats": f"1; with `sweep` and `compare`, {work.SWEEP_REPEATS}; with `capacity`, {work.SEARCH_REPEATS}",
        "margins": f"{comparison.CPU_PER_REQUEST.margin:.2f} for CPU per request, {comparison.P99.margin:.2f} for p99",
        "warmup": f"{planning.default_cap_s(1, 0)} s, more with many connections or slow answers",
    }
    rows = ["| variable | meaning | default |", "|---|---|---|"]
    for name, _, _, default, meaning, _ in (*VARIABLES.values(), *OTHERS):
        if planning_ones == (name in VARIABLES and not name.endswith("_PORT")):
            rows.append(f"| `{name}` | {meaning} | {default.format(env=f'`{os.environ.get(name, "")}`', **told)} |")
    return rows


def names() -> list[str]:
    """Of every variable what the host's shell knows: name, example, verbs, and `plan` where a plan sets it."""
    return ["\t".join([*each[:3], *["plan"] * each.handed_on]) for each in (*VARIABLES.values(), *OTHERS)]


def schema() -> list[str]:
    """The JSON Schema of scenario files."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$comment": "Written by docs/tools/draw."}
    return [json.dumps(head | Scenario.model_json_schema(), indent=2)]


def exported() -> list[str]:
    """The figures that the dashboards know, for grafana/figures.json."""
    return [json.dumps([asdict(figure.exported) for figure in EVERY if figure.exported], indent=1)]


def faults() -> list[str]:
    """A row for each kind of fault, of the tries that were kept."""
    kinds = defaultdict(list)
    for line in (Path(__file__).parents[2] / "benchmarks" / "faults.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        kinds[one["mode"], one["kind"]].append(one)
    rows = [
        "| tried | fault | tries | runs lost | otherwise wrong | left-overs | until |",
        "|---|---|--:|--:|--:|--:|---|",
    ]
    for (mode, kind), tries in sorted(kinds.items()):
        bad = [sum(_times(one.get(name)) for one in tries) for name in ("lost", "wrong", "left")]
        count = sum(one.get("tries", 1) for one in tries)
        told = [f"{count:,}", *bad, max(one["ended"][:10] for one in tries)]
        rows.append("| " + " | ".join([mode, kind, *map(str, told)]) + " |")
    return rows


def _times(told: object) -> int:
    """A number of times, or what went wrong once, if anything."""
    return told if isinstance(told, int) else bool(told)


TABLES: dict[str, Callable[[], list[str]]] = {
    "verdict": verdict,
    "limits": limits,
    "figures": figures,
    "results": results,
    "variables": lambda: variables(planning_ones=True),
    "names": names,
    "schema": schema,
    "exported": exported,
    "faults": faults,
    "other-variables": lambda: variables(planning_ones=False),
}

if __name__ == "__main__":
    print("\n".join(TABLES[sys.argv[1]]()))  # noqa: T201
