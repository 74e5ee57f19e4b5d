"""The table of judged runs: a row a run, its verdict and figures of its measured phase."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.builders import table
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from loomlab_dashboards.palette import FINE, INVALID, SUSPECT
from loomlab_dashboards.panels import RESULTS, Query, Size, Text, dataquery, filled

FIGURES = Path(__file__).parents[2] / "figures.json"
"""Written by `loomlab figures`."""
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
    known = json.loads(FIGURES.read_text(encoding="utf-8"))
    return [
        *(
            Figure(
                one["heading"],
                _result(one["name"], matchers),
                one["unit"],
                {} if one["decimals"] is None else {"decimals": one["decimals"]},
            )
            for one in known
        ),
        Figure("began", f"1000 * {_result('started_seconds', matchers)}", "dateTimeAsIso"),
        Figure("ended", f"1000 * {_result('finished_seconds', matchers)}", "dateTimeAsIso"),
        Figure("experiment_began", _of_experiment("min", "started_seconds", matchers), "dateTimeAsIso", hidden),
        Figure("experiment_ended", _of_experiment("max", "finished_seconds", matchers), "dateTimeAsIso", hidden),
    ]


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


FIRST, LAST = ("run", "load", "jdk", "verdict"), ("reasons", "experiment")
"""Columns before the figures, and before the times."""


def runs(text: Text, matchers: str, size: Size) -> table.Panel:
    """Of the runs that these matchers choose, the newest first; without a warm-up in any figure."""
    figures = _figures(matchers)
    info = Query(f"max by ({LABELS}, reasons) (lab_result_info{{{matchers}}})", "verdict")
    queries = [info, *(Query(figure.expr, figure.column) for figure in figures)]
    targets: list[Builder[Dataquery]] = [
        dataquery(place, query, PromQueryFormat.TABLE).instant() for place, query in enumerate(queries)
    ]
    panel = filled(table.Panel(), text, size, targets).no_value(NOTHING_JUDGED)
    for name, settings in _transformations(figures):
        panel.with_transformation(model.DataTransformerConfig(id_val=name, options=settings))
    properties = _of_labels() | {one.column: {"unit": one.unit, **one.properties} for one in figures}
    for column, of_column in properties.items():
        panel.override_by_name(
            column, [model.DynamicConfigValue(id_val=name, value=of_column[name]) for name in of_column]
        )
    return panel


def _transformations(figures: Sequence[Figure]) -> list[tuple[str, dict[str, Any]]]:
    value_of = {figure.column: f"Value #{chr(ord('B') + place)}" for place, figure in enumerate(figures)}
    names = [figure.column for figure in figures]
    times = names.index("began")
    order = [*FIRST, *names[:times], *LAST, *names[times:]]
    organised = {
        "indexByName": {value_of.get(column, column): place for place, column in enumerate(order)},
        "renameByName": {name: column for column, name in value_of.items()},
        "excludeByName": {"Time": True, "Value #A": True, "approach": True},
    }
    return [
        ("merge", {}),
        ("organize", organised),
        ("sortBy", {"fields": {}, "sort": [{"field": "began", "desc": True}]}),
    ]
