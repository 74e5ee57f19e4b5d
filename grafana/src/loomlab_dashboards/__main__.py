"""The command line: write the dashboards, list their queries, draw them."""

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
from loomlab_dashboards.prometheus import Prometheus, QueryError
from loomlab_dashboards.render import render
from loomlab_dashboards.substitute import UnknownVariableError, Window, annotations, queries, values_of

DASHBOARDS: dict[str, Callable[[], Json]] = {"compare": compare, "one-run": one_run, "lab-health": lab_health}
DEFAULT_RANGE_S = 900
BAD_REQUEST = 2


def write(directory: Path) -> None:
    """The JSON that Grafana is given, a file a dashboard."""
    for name, build in DASHBOARDS.items():
        (directory / f"{name}.json").write_text(text(build()))


def all_expressions(window: Window) -> Iterator[str]:
    """What the panels and annotations of all dashboards ask."""
    for build in DASHBOARDS.values():
        document = build()
        values = values_of(document, window, {})
        yield from (query.expr for query in queries(document, values))
        yield from annotations(document, values)


def rule_file(expressions: Iterator[str]) -> Json:
    """The expressions as recording rules, which promtool can check."""
    rules = [{"record": f"dashboards:query:{number}", "expr": expr} for number, expr in enumerate(expressions)]
    return {"groups": [{"name": "dashboards", "rules": rules}]}


def _variable(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{given!r} sets no variable: write NAME=REGULAR_EXPRESSION")
    return name, value


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="loomlab_dashboards", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("write", help="write the JSON for Grafana").add_argument("directory", type=Path)
    verbs.add_parser("rules", help="print every query as a recording rule")
    asking = verbs.add_parser("queries", help="print a dashboard's queries, a JSON object a line")
    drawing = verbs.add_parser("render", help="draw a dashboard, with a Prometheus' answers, as a PNG")
    for verb in (asking, drawing):
        verb.add_argument("dashboard", choices=DASHBOARDS)
        verb.add_argument("--start", type=float, help="Unix seconds (default: 15 minutes before the end)")
        verb.add_argument("--end", type=float, help="Unix seconds (default: now)")
        verb.add_argument("--set", type=_variable, action="append", default=[], metavar="VARIABLE=REGULAR_EXPRESSION")
    drawing.add_argument("--prometheus", required=True, metavar="URL")
    drawing.add_argument("--out", type=Path, required=True, metavar="FILE.png")
    return parser.parse_args()


def _on_dashboard(arguments: argparse.Namespace) -> None:
    document = DASHBOARDS[arguments.dashboard]()
    end = arguments.end or time.time()
    window = Window(arguments.start or end - DEFAULT_RANGE_S, end)
    values = values_of(document, window, dict(arguments.set))
    if arguments.verb == "render":
        render(document, Prometheus(arguments.prometheus), window, values, arguments.out)
        return
    for query in queries(document, values):
        sys.stdout.write(json.dumps(asdict(query)) + "\n")


def main() -> int:
    arguments = _arguments()
    try:
        match arguments.verb:
            case "write":
                write(arguments.directory)
            case "rules":
                window = Window(0, DEFAULT_RANGE_S)
                sys.stdout.write(json.dumps(rule_file(all_expressions(window)), indent=1) + "\n")
            case _:
                _on_dashboard(arguments)
    except (QueryError, UnknownVariableError) as error:
        sys.stderr.write(f"{error}\n")
        return BAD_REQUEST
    return 0


if __name__ == "__main__":
    sys.exit(main())
