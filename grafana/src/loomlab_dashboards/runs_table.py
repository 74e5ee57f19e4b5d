"""The table of judged runs: a row a run, its verdict and figures of its measured phase."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.builders import table

from loomlab_dashboards.palette import FINE, INVALID, SUSPECT
from loomlab_dashboards.panels import RESULTS, Query, Text, fill, instant_targets, properties, sorting, transform

FIGURES = Path(__file__).parents[2] / "figures.json"
"""Written by docs/tools/draw."""
TIME = "dateTimeAsIso"
LABELS = "experiment, run, approach, load, jdk, verdict"
VERDICTS = {"valid": FINE, "suspect": SUSPECT, "invalid": INVALID}
COMPARE, ONE_RUN = "/d/loomlab-compare/compare", "/d/loomlab-one-run/one-run"
CHOICE = "var-experiment=${__data.fields.experiment}"
NOTHING_JUDGED = "None of these runs has a verdict yet, or the lab is down."
Properties = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A column whose values are those of a query."""

    column: str
    expr: str
    unit: str
    properties: Properties = field(default_factory=dict)


def _result(name: str, matchers: str) -> str:
    return f"max by ({LABELS}) (lab_result_{name}{{{matchers}}})"


def _of_experiment(aggregation: str, name: str, matchers: str) -> str:
    """Of the whole experiment, on each of its runs."""
    each = _result(name, matchers)
    whole = f"{aggregation} by (experiment) (lab_result_{name})"
    return f"1000 * (0 * {each} + on (experiment) group_left () {whole})"


def _figures(matchers: str) -> list[Figure]:
    hidden = {"custom.hideFrom.viz": True}
    figures = [
        Figure(
            figure["heading"],
            _result(figure["name"], matchers),
            figure["unit"],
            {} if figure["decimals"] is None else {"decimals": figure["decimals"]},
        )
        for figure in json.loads(FIGURES.read_text(encoding="utf-8"))
    ]
    times = [
        Figure("began", f"1000 * {_result('started_seconds', matchers)}", TIME),
        Figure("ended", f"1000 * {_result('finished_seconds', matchers)}", TIME),
        Figure("experiment_began", _of_experiment("min", "started_seconds", matchers), TIME, hidden),
        Figure("experiment_ended", _of_experiment("max", "finished_seconds", matchers), TIME, hidden),
    ]
    return [*figures, *times]


def _within(start: str, end: str) -> str:
    return f"from=${{__data.fields.{start}.numeric}}&to=${{__data.fields.{end}.numeric}}"


def _links(*links: tuple[str, str]) -> Properties:
    return {"links": [{"title": title, "url": url, "targetBlank": url.startswith(RESULTS)} for title, url in links]}


def _of_labels() -> dict[str, Properties]:
    verdicts = {name: {"text": name, "color": colour} for name, colour in VERDICTS.items()}
    one_run = f"{ONE_RUN}?{CHOICE}&var-run=${{__data.fields.run}}&{_within('began', 'ended')}"
    of_experiment = f"{COMPARE}?{CHOICE}&{_within('experiment_began', 'experiment_ended')}"
    report = f"{RESULTS}/${{__data.fields.experiment}}/report.html"
    return {
        "run": _links(("One run", one_run)) | {"custom.width": 190},
        "verdict": {
            "mappings": [{"type": "value", "options": verdicts}],
            "custom.cellOptions": {"type": "color-background", "mode": "basic"},
        },
        "reasons": {"custom.wrapText": True, "custom.minWidth": 300},
        "experiment": _links(("Compare its runs", of_experiment), ("Its report", report)) | {"custom.width": 260},
    }


BEFORE_FIGURES, BEFORE_TIMES = ("run", "load", "jdk", "verdict"), ("reasons", "experiment")


def runs(text: Text, matchers: str) -> table.Panel:
    """Of the runs that these matchers choose, the newest first; without a warm-up in any figure."""
    figures = _figures(matchers)
    info = Query(f"max by ({LABELS}, reasons) (lab_result_info{{{matchers}}})", "verdict")
    targets = instant_targets(info, *(Query(figure.expr, figure.column) for figure in figures))
    panel = fill(table.Panel(), text, targets, NOTHING_JUDGED)
    columns = _of_labels() | {figure.column: {"unit": figure.unit, **figure.properties} for figure in figures}
    for column, settings in columns.items():
        panel.override_by_name(column, properties(settings))
    return transform(panel, merge={}, organize=_organized(figures), sortBy=sorting("began", desc=True))


def _organized(figures: Sequence[Figure]) -> dict[str, Any]:
    field_of = {figure.column: f"Value #{chr(ord('B') + position)}" for position, figure in enumerate(figures)}
    names = [figure.column for figure in figures]
    times = names.index("began")
    order = [*BEFORE_FIGURES, *names[:times], *BEFORE_TIMES, *names[times:]]
    return {
        "indexByName": {field_of.get(column, column): position for position, column in enumerate(order)},
        "renameByName": {name: column for column, name in field_of.items()},
        "excludeByName": {"Time": True, "Value #A": True, "approach": True},
    }
