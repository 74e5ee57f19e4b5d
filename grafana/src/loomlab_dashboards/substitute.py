"""A dashboard's queries as Grafana would send them: its variables and intervals replaced by values."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loomlab_dashboards.frame import Json
from loomlab_dashboards.panels import MIN_STEP

MIN_STEP_S = int(MIN_STEP.removesuffix("s"))
MAX_POINTS = 600
ANYTHING = ".*"
VARIABLE = re.compile(r"\$(\w+)")


@dataclass(frozen=True)
class PanelQuery:
    dashboard: str
    panel: str
    kind: str
    """`range` or `instant`."""
    expr: str
    unit: str
    legend: str


@dataclass(frozen=True)
class Window:
    start: float
    end: float
    """Unix times, in seconds."""

    def values(self) -> dict[str, str]:
        """What Grafana puts for the intervals in this window."""
        step_s = max(MIN_STEP_S, round((self.end - self.start) / MAX_POINTS))
        return {
            "__interval": f"{step_s}s",
            "__rate_interval": f"{max(step_s + MIN_STEP_S, 4 * MIN_STEP_S)}s",
            "__range": f"{max(round(self.end - self.start), 1)}s",
        }


def replaced(expr: str, values: Mapping[str, str]) -> str:
    """The expression with `$name` by its value; `$1`, which belongs to label_replace, stays."""
    return VARIABLE.sub(lambda match: match[0] if match[1].isdigit() else values[match[1]], expr)


def values_of(document: Json, window: Window, chosen: Mapping[str, str]) -> dict[str, str]:
    """A value for every variable: a chosen one, which is a regular expression, or one that matches anything. Raises
    ValueError for a variable that the dashboard does not have."""
    names = [variable["name"] for variable in document["templating"]["list"]]
    unknown = chosen.keys() - set(names)
    if unknown:
        raise ValueError(f"{document['title']} has no variable {min(unknown)}: use one of {', '.join(names)}.")
    return dict.fromkeys(names, ANYTHING) | dict(chosen) | window.values()


def panels(document: Json) -> list[Json]:
    """Without the rows."""
    return [panel for panel in document["panels"] if panel["type"] != "row"]


def queries(document: Json, values: Mapping[str, str]) -> Iterator[PanelQuery]:
    """Every query of every panel."""
    for panel in panels(document):
        unit = panel["fieldConfig"]["defaults"]["unit"]
        for target in panel["targets"]:
            kind = "instant" if target["instant"] else "range"
            expr = replaced(target["expr"], values)
            yield PanelQuery(document["title"], panel["title"], kind, expr, unit, target["legendFormat"])


def annotations(document: Json, values: Mapping[str, str]) -> Iterator[str]:
    """What the dashboard's annotations ask, over its range."""
    for annotation in document["annotations"]["list"]:
        yield replaced(annotation["target"]["expr"], values)
