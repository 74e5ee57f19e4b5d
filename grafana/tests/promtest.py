"""Prints a test of promtool: every query of the committed dashboards, with the exact answers of exact.toml.

python tests/promtest.py | promtool test rules /dev/stdin
"""

import json
import sys
import tomllib
from pathlib import Path

from lab import COMMITTED
from loomlab_dashboards.frame import Json
from loomlab_dashboards.substitute import Window, queries, values_of

AT_S = 30
EXACT_TO = 1_000_000
"""promtool compares every bit of a number."""
EXACT: Json = tomllib.loads((Path(__file__).parent / "exact.toml").read_text())


def expressions() -> dict[str, str]:
    """By dashboard, panel and legend; what a panel asks twice under one legend has numbers."""
    found: dict[str, str] = {}
    for document in COMMITTED.values():
        names = {variable["name"] for variable in document["templating"]["list"]}
        chosen = {name: value for name, value in EXACT["variables"].items() if name in names}
        for query in queries(document, values_of(document, Window(0, AT_S), chosen)):
            name = f"{query.dashboard}, {query.panel}, {query.legend}"
            while name in found:
                name += " again"
            found[name] = query.expr
    return found


def answers(name: str) -> list[Json]:
    """Of exact.toml; none of a query that has none there, which promtool then tells."""
    return [
        {"labels": labels, "value": round(value * EXACT_TO)} for labels, value in EXACT["answers"].get(name, {}).items()
    ]


def samples() -> list[Json]:
    rows = (row.rsplit("  ", 1) for row in EXACT["samples"].splitlines() if row)
    return [{"series": series, "values": values} for series, values in rows]


def test_file() -> Json:
    asked = expressions()
    unknown = EXACT["answers"].keys() - asked.keys()
    if unknown:
        sys.exit(f"exact.toml has answers to what no panel asks: {', '.join(sorted(unknown))}.")
    tests = [
        {"expr": f"round({EXACT_TO} * ({expr}))", "eval_time": f"{AT_S}s", "exp_samples": answers(name)}
        for name, expr in asked.items()
    ]
    one = {"interval": "1s", "input_series": samples(), "promql_expr_test": tests}
    return {"rule_files": [], "evaluation_interval": "1s", "tests": [one]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(test_file(), indent=1))
