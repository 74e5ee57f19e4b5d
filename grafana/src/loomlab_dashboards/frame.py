"""What the three dashboards have in common: settings, variables, links, annotations, and where panels lie."""

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from grafana_foundation_sdk.builders import dashboard, prometheus
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as model

from loomlab_dashboards.panels import DATA_SOURCE, RESULTS, Panel

TAG = "loom-lab"
DEFAULT_URL = "http://127.0.0.1:9080"
"""Of the results, where nobody says another one."""
RUNS = '__name__=~"lab_run_info|lab_result_info"'
"""Those that go on, or went on in the time that is shown, and the newest that were judged."""
Json = dict[str, Any]


class Row:
    def __init__(self, title: str, *lines: Sequence[Panel]) -> None:
        self.title = title
        self.panels = chain.from_iterable(lines)


def line(*panels: Panel, height: int = 8, widths: Sequence[int] = ()) -> Sequence[Panel]:
    """The panels beside each other; `widths`, of Grafana's 24 columns, are equal where they are not given."""
    for panel, width in zip(panels, widths or [24 // len(panels)] * len(panels), strict=True):
        panel.span(width).height(height)
    return panels


def _labels_of(name: str, label: str, query: str, sort: model.VariableSort) -> dashboard.QueryVariable:
    variable = dashboard.QueryVariable(name).label(label).datasource(DATA_SOURCE).sort(sort)
    variable.query({"qryType": 1, "query": query, "refId": name})
    return variable.refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)


def many(name: str, label: str, query: str) -> dashboard.QueryVariable:
    """Any number of a label's values, at first all; `All` also matches a label that is missing."""
    variable = _labels_of(name, label, query, model.VariableSort.NATURAL_ASC)
    variable.multi(True).include_all(True).all_value(".*")
    return variable.current(model.VariableOption(text=["All"], value=["$__all"]))


def newest(name: str, label: str, query: str) -> dashboard.QueryVariable:
    """One of a label's values, at first the last by name."""
    return _labels_of(name, label, query, model.VariableSort.NATURAL_DESC)


def newest_of_many(name: str, label: str, query: str) -> dashboard.QueryVariable:
    """Any number of a label's values, at first the last by name: Grafana would begin with `All` if there were it."""
    return newest(name, label, query).multi(True)


def results() -> dashboard.QueryVariable:
    """The address that RESULTS stands for; nobody has to choose it."""
    variable = _labels_of("results", "Results", "label_values(lab_results_info, url)", model.VariableSort.DISABLED)
    variable.current(model.VariableOption(text=DEFAULT_URL, value=DEFAULT_URL))
    return variable.hide(model.VariableHide.HIDE_VARIABLE)


def finished_runs(matchers: str) -> dashboard.AnnotationQuery:
    """Where runs ended. Variables are not replaced in an annotation's text, labels are."""
    ending = f'lab_run_phase{{phase="collect"}} * on (service) group_left (experiment, run) lab_run_info{{{matchers}}}'
    served = f"({ending}) * on () group_left (url) (lab_results_info @ end())"
    default = f'label_replace({ending}, "url", "{DEFAULT_URL}", "", "")'
    return annotation(
        "Finished runs",
        f"max_over_time(({served} or on (service) {default})[$__interval:1s]) == 1",
        "{{run}} finished",
        'Results: <a href="{{url}}/{{experiment}}/" target="_blank">{{experiment}}</a>',
        "blue",
    )


def annotation(name: str, expr: str, title: str, text: str, colour: str) -> dashboard.AnnotationQuery:
    """Where the query has a series, over the dashboard's range."""
    target = prometheus.Dataquery().ref_id("Anno").datasource(DATA_SOURCE).expr(expr).interval("1s").range()
    query = dashboard.AnnotationQuery().name(name).datasource(DATA_SOURCE).enable(True).icon_color(colour)
    return query.target(target).title_format(title).text_format(text)


def _links() -> list[Builder[model.DashboardLink]]:
    others = dashboard.DashboardLink("Dashboards").type(model.DashboardLinkType.DASHBOARDS).tags([TAG]).keep_time(True)
    results = dashboard.DashboardLink("Results").type(model.DashboardLinkType.LINK).url(RESULTS).icon("doc")
    return [others, results.target_blank(True).tooltip("The folders of all experiments")]


def _lay_out(frame: dashboard.Dashboard, rows: Sequence[Row]) -> None:
    """Row n has the id 100 n and its panels those after it, so that a new panel moves no other row's ids."""
    for number, row in enumerate(rows, start=1):
        frame.with_row(dashboard.Row(row.title).id(100 * number).collapsed(False))
        for position, panel in enumerate(row.panels, start=1):
            panel.build().id_val = 100 * number + position
            frame.with_panel(panel)


def build(
    uid: str,
    title: str,
    description: str,
    variables: Sequence[Builder[model.VariableModel]],
    annotations: list[Builder[model.AnnotationQuery]],
    rows: Sequence[Row],
) -> Json:
    frame = dashboard.Dashboard(title).uid(uid).description(description).tags([TAG]).readonly()
    frame.tooltip(model.DashboardCursorSync.CROSSHAIR).time("now-1h", "now").refresh("").timezone("browser")
    frame.timepicker(dashboard.TimePicker().refresh_intervals(["2s", "5s", "10s", "30s", "1m"]))
    prometheus_here = model.VariableOption(text="Prometheus", value="loomlab-prometheus")
    source = dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus").current(prometheus_here)
    frame.variables([source, results(), *variables]).links(_links())
    frame.annotations(annotations)
    _lay_out(frame, rows)
    return visible(json.loads(JSONEncoder().encode(frame.build())))


def visible(document: Json) -> Json:
    """The SDK puts all links and annotations into a menu: `placement` knows no other value there."""
    placed: list[dict[str, object]] = [*document["links"], *document["annotations"]["list"]]
    for each in placed:
        each.pop("placement", None)
    return document


def text(document: Mapping[str, object]) -> str:
    """As it is written to a file."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
