"""What Prometheus answers, as what a panel draws: named lines, or the cells of a heat map."""

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loomlab_dashboards.frame import Json
from loomlab_dashboards.panels import COLUMN_FIELD, ROW_FIELD
from loomlab_dashboards.prometheus import Series
from loomlab_dashboards.units import written

Numbers = NDArray[np.float64]
LABEL = re.compile(r"{{\s*(\w+)\s*}}")


@dataclass(frozen=True)
class Line:
    name: str
    x: Numbers
    """Unix seconds, or seconds since a run began."""
    y: Numbers


@dataclass(frozen=True)
class Cells:
    times: list[float]
    bounds: list[float]
    """Upper bounds of the buckets, ascending."""
    values: Numbers
    """By bucket and time; none is NaN."""


def name_of(series: Series, legend: str) -> str:
    return LABEL.sub(lambda found: str(series["metric"].get(found[1], "")), legend) or "value"


def line(series: Series, legend: str, step_s: float) -> Line:
    """A series over clock time, broken where samples are missing."""
    samples = np.array(series["values"], dtype=float)
    holes = np.flatnonzero(np.diff(samples[:, 0]) > 1.5 * step_s) + 1
    x = np.insert(samples[:, 0], holes, samples[holes - 1, 0] + step_s)
    return Line(name_of(series, legend), x, np.insert(samples[:, 1], holes, np.nan))


def lines_by_seconds(found: list[Series]) -> list[Line]:
    """The answer to queries.by_seconds: a line a run."""
    runs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for series in found:
        labels = series["metric"]
        runs[labels[COLUMN_FIELD]].append((float(labels[ROW_FIELD]), float(series["value"][1])))
    sorted_runs = {name: np.array(sorted(points)) for name, points in sorted(runs.items())}
    return [Line(name, points[:, 0], points[:, 1]) for name, points in sorted_runs.items()]


def _by_bucket(found: list[Series]) -> dict[tuple[float, float], float]:
    """Cumulative counts by `le`, as counts of each bucket alone."""
    by_bound = {float(series["metric"]["le"]): dict(series["values"]) for series in found}
    cells = {}
    for lower, upper in pairwise([None, *sorted(by_bound)]):
        assert upper is not None
        for time, value in by_bound[upper].items():
            below = 0.0 if lower is None else float(by_bound[lower].get(time, 0))
            cells[float(time), upper] = float(value) - below
    return cells


def cells(found: list[Series]) -> Cells | None:
    """A histogram's buckets over time, from the lowest that is used to the highest; None if all are empty."""
    counts = _by_bucket(found)
    used = [bound for (_, bound), count in counts.items() if count > 0]
    if not used:
        return None
    times = sorted({time for time, _ in counts})
    bounds = sorted({bound for _, bound in counts if min(used) <= bound <= max(used)})
    values = [[counts.get((time, bound), 0.0) or np.nan for time in times] for bound in bounds]
    return Cells(times, bounds, np.array(values))


def override(panel: Json, name: str, property_id: str) -> Any:
    """What the panel's overrides set of a series of that name; None where none does."""
    for one in panel["fieldConfig"]["overrides"]:
        matcher = one["matcher"]
        if matcher["options"] == name if matcher["id"] == "byName" else re.search(matcher["options"][1:-1], name):
            for each in one["properties"]:
                if each["id"] == property_id:
                    return each["value"]
    return None


def colour(panel: Json, name: str) -> str | None:
    """The colour that is fixed for a series of that name."""
    fixed = override(panel, name, "color")
    return fixed["fixedColor"] if fixed else None


def table(panel: Json, answers: list[list[Series]]) -> list[dict[str, str]]:
    """The rows of a panel of judged runs, as its transformations make them of its queries' answers: columns by name in
    their order, with figures as they are written; an empty cell where a run lacks a figure."""
    settings = {one["id"]: one["options"] for one in panel["transformations"]}
    order, names = settings["organize"]["indexByName"], settings["organize"]["renameByName"]
    properties = {
        one["matcher"]["options"]: {each["id"]: each["value"] for each in one["properties"]}
        for one in panel["fieldConfig"]["overrides"]
    }
    merged: dict[str, dict[str, str]] = {}
    began: dict[str, float] = {}
    for place, answer in enumerate(answers):
        column = names.get(f"Value #{chr(ord('A') + place)}")
        for series in answer:
            labels = dict(series["metric"])
            key = f"{labels.get('experiment')}/{labels.get('run')}"
            row = merged.setdefault(key, {})
            row |= labels
            if column:
                value = float(series["value"][1])
                row[column] = written(value, properties[column]["unit"])
                began[key] = value if column == settings["sortBy"]["sort"][0]["field"] else began.get(key, 0)
    shown = [names.get(one, one) for one in sorted(order, key=lambda name: order[name])]
    shown = [one for one in shown if not properties.get(one, {}).get("custom.hideFrom.viz")]
    return [
        {one: merged[key].get(one, "") for one in shown} for key in sorted(merged, key=lambda key: -began.get(key, 0))
    ]
