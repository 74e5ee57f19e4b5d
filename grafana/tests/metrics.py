"""Prints the metrics that the dashboards ask for, a name a line; of a histogram its own. For make lint."""

import re
from collections.abc import Iterator

import promql_parser

from loomlab_dashboards.__main__ import all_expressions
from loomlab_dashboards.substitute import Window

OF_PROMETHEUS = {"up", "scrape_duration_seconds", "ALERTS"}
"""Which Prometheus makes itself, of every target and of its alerts."""


def metrics_in(expr: str) -> Iterator[str]:
    names: list[str] = []

    def note(part: promql_parser.Expr) -> None:
        selector = part.vector_selector if isinstance(part, promql_parser.MatrixSelector) else part
        if isinstance(selector, promql_parser.VectorSelector) and selector.name:
            names.append(selector.name)

    promql_parser.walk(promql_parser.parse(expr), note)
    yield from names


if __name__ == "__main__":
    asked = {name for expr in all_expressions(Window(0, 900)) for name in metrics_in(expr)}
    print("\n".join(sorted({re.sub("_bucket$", "", name) for name in asked - OF_PROMETHEUS})))  # noqa: T201
