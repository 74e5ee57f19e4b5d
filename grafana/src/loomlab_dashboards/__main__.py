"""The command line: write the dashboards, list their queries."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from loomlab_dashboards.compare import compare
from loomlab_dashboards.frame import Json, text
from loomlab_dashboards.lab_health import lab_health
from loomlab_dashboards.one_run import one_run
from loomlab_dashboards.substitute import Window, annotations, queries, values_of

DASHBOARDS: dict[str, Callable[[], Json]] = {"compare": compare, "one-run": one_run, "lab-health": lab_health}
DEFAULT_RANGE_S = 900


def write(directory: Path) -> None:
    """Writes the JSON that Grafana is given, a file a dashboard."""
    for name, build in DASHBOARDS.items():
        (directory / f"{name}.json").write_text(text(build()))


def all_expressions(window: Window) -> Iterator[str]:
    """What the panels and annotations of all dashboards ask."""
    for build in DASHBOARDS.values():
        document = build()
        values = values_of(document, window, {})
        yield from (query.expr for query in queries(document, values))
        yield from annotations(document, values)


def print_queries(name: str, start: float | None, end: float | None, chosen: dict[str, str]) -> None:
    """Prints a JSON object a line."""
    document, last = DASHBOARDS[name](), end or time.time()
    values = values_of(document, Window(start or last - DEFAULT_RANGE_S, last), chosen)
    for query in queries(document, values):
        sys.stdout.write(json.dumps(asdict(query)) + "\n")


def print_rules() -> None:
    """Prints every query as a recording rule, which promtool can check."""
    expressions = enumerate(all_expressions(Window(0, DEFAULT_RANGE_S)))
    rules = [{"record": f"dashboards:query:{number}", "expr": expr} for number, expr in expressions]
    sys.stdout.write(json.dumps({"groups": [{"name": "dashboards", "rules": rules}]}, indent=1) + "\n")


def _variable(setting: str) -> tuple[str, str]:
    name, value = setting.split("=", 1)
    return name, value


def main() -> None:
    parser = argparse.ArgumentParser(prog="loomlab_dashboards", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("write", help="write the JSON for Grafana").add_argument("directory", type=Path)
    verbs.add_parser("rules", help="print every query as a recording rule")
    verb = verbs.add_parser("queries", help="print a dashboard's queries, a JSON object a line")
    verb.add_argument("dashboard", choices=DASHBOARDS)
    verb.add_argument("--start", type=float, help="Unix seconds (default: 15 minutes before the end)")
    verb.add_argument("--end", type=float, help="Unix seconds (default: now)")
    verb.add_argument("--set", type=_variable, action="append", default=[], metavar="VARIABLE=REGULAR_EXPRESSION")
    arguments = parser.parse_args()
    match arguments.verb:
        case "write":
            write(arguments.directory)
        case "rules":
            print_rules()
        case _:
            try:
                print_queries(arguments.dashboard, arguments.start, arguments.end, dict(arguments.set))
            except ValueError as error:
                sys.exit(str(error))


if __name__ == "__main__":
    main()
