"""One function a kind of panel. What a panel must have (title, a sentence, a unit, a legend) is a parameter here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from grafana_foundation_sdk.builders import (
    common,
    dashboard,
    heatmap,
    prometheus,
    stat,
    statetimeline,
    table,
    timeseries,
    trend,
)
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import common as options
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from loomlab_dashboards.palette import APPROACHES, FINE, IDLE, INVALID, OTHERS, fixed, series_of

DATA_SOURCE = options.DataSourceRef(type_val="prometheus", uid="${datasource}")
RESULTS = "${results:raw}"
"""Where browsers find the results; Prometheus knows it of whoever serves them."""
MIN_STEP = "2s"
"""Below it neighbouring points share almost all of their samples, at a scrape a second."""
NO_QUOTA = "No container has a CPU quota."
NOT_TOLD_LIVE = "Only vegeta reports latency while it runs; the table shows it afterwards."
AT_GENERATOR = "as the load generator saw it"
IN_THE_SERVER = (
    "in the server from the start of its handler (in the idiomatic style, of its first filter), without any earlier "
    "wait for a connection or a thread"
)
LIMIT = "limit"
FIGURES = ("lastNotNull", "mean", "max")
LAST = ("lastNotNull",)
ROW_FIELD, COLUMN_FIELD = "seconds", "run"
MATRIX_FIELD = f"{ROW_FIELD}\\{COLUMN_FIELD}"
"""What Grafana's transformation groupingToMatrix calls its first field."""


@dataclass(frozen=True)
class Text:
    title: str
    description: str
    """One sentence."""
    unit: str
    """One of Grafana's, see units.UNITS."""


@dataclass(frozen=True)
class Query:
    expr: str
    legend: str = "{{service}}"


@dataclass(frozen=True)
class Size:
    width: int = 8
    """Of Grafana's 24 columns."""
    height: int = 8


class _Panel(Protocol):
    """What the builders of all kinds of panel have."""

    def title(self, title: str, /) -> Self: ...
    def description(self, description: str, /) -> Self: ...
    def unit(self, unit: str, /) -> Self: ...
    def datasource(self, datasource: options.DataSourceRef, /) -> Self: ...
    def span(self, w: int, /) -> Self: ...
    def height(self, h: int, /) -> Self: ...
    def targets(self, targets: list[Builder[Dataquery]], /) -> Self: ...


class _Lines(_Panel, Protocol):
    """What time series and trends have."""

    def min(self, min_val: float, /) -> Self: ...
    def line_width(self, line_width: float, /) -> Self: ...
    def legend(self, legend: Builder[options.VizLegendOptions], /) -> Self: ...
    def tooltip(self, tooltip: Builder[options.VizTooltipOptions], /) -> Self: ...
    def override_by_regexp(self, regexp: str, properties: list[model.DynamicConfigValue], /) -> Self: ...


def dataquery(position: int, query: Query, form: PromQueryFormat = PromQueryFormat.TIME_SERIES) -> prometheus.Dataquery:
    target = prometheus.Dataquery().ref_id(chr(ord("A") + position)).datasource(DATA_SOURCE).expr(query.expr)
    return target.legend_format(query.legend).format(form).interval(MIN_STEP)


def _ranges(queries: tuple[Query, ...]) -> list[Builder[Dataquery]]:
    return [dataquery(position, query).range() for position, query in enumerate(queries)]


def filled[P: _Panel](panel: P, text: Text, size: Size, targets: list[Builder[Dataquery]]) -> P:
    panel.title(text.title).description(text.description).unit(text.unit).datasource(DATA_SOURCE)
    return panel.span(size.width).height(size.height).targets(targets)


def _lines[P: _Lines](panel: P, calcs: Sequence[str] = FIGURES) -> P:
    legend = common.VizLegendOptions().display_mode(options.LegendDisplayMode.TABLE).show_legend(True)
    legend.placement(options.LegendPlacement.BOTTOM).calcs(list(calcs))
    tooltip = common.VizTooltipOptions().mode(options.TooltipDisplayMode.MULTI).sort(options.SortOrder.DESCENDING)
    for service, colour in (APPROACHES | OTHERS).items():
        panel.override_by_regexp(series_of(service), [fixed(colour)])
    return panel.min(0).line_width(2).legend(legend).tooltip(tooltip)


def _steps(*steps: tuple[float | None, str]) -> dashboard.ThresholdsConfig:
    thresholds = [model.Threshold(value=value, color=colour) for value, colour in steps]
    return dashboard.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(thresholds)


def over_time(
    text: Text,
    *queries: Query,
    size: Size = Size(),
    limits: Sequence[float] = (),
    limit: str | None = None,
    empty: str | None = None,
    calcs: Sequence[str] = FIGURES,
) -> timeseries.Panel:
    """Lines over clock time; `limits`, in the panel's unit, and the answer to `limit` are drawn as dashed lines,
    `empty` is said without data, and `calcs` are told of each line."""
    asked = queries if limit is None else (*queries, Query(f"max({limit})", LIMIT))
    panel = _lines(filled(timeseries.Panel(), text, size, _ranges(asked)), calcs)
    if limit is not None:
        dashes = {"fill": "dash", "dash": [10, 10]}
        panel.override_by_name(LIMIT, [fixed(INVALID), model.DynamicConfigValue("custom.lineStyle", dashes)])
    if limits:
        dashed = common.GraphThresholdsStyleConfig().mode(options.GraphThresholdsStyleMode.DASHED)
        panel.thresholds(_steps((None, "transparent"), *((limit, "red") for limit in limits))).thresholds_style(dashed)
    return panel if empty is None else panel.no_value(empty)


def by_run_time(text: Text, expr: str, size: Size = Size(), empty: str | None = None) -> trend.Panel:
    """Lines over the seconds since the start of each run; `expr` comes from queries.by_seconds."""
    target = dataquery(0, Query(expr, f"{{{{{COLUMN_FIELD}}}}}"), PromQueryFormat.TABLE).instant()
    panel = _lines(filled(trend.Panel(), text, size, [target])).x_field(MATRIX_FIELD)
    matrix = {"columnField": COLUMN_FIELD, "rowField": ROW_FIELD, "valueField": "Value", "emptyValue": "null"}
    number = {"targetField": MATRIX_FIELD, "destinationType": "number"}
    for name, settings in (
        ("groupingToMatrix", matrix),
        ("convertFieldType", {"fields": {}, "conversions": [number]}),
        ("sortBy", {"fields": {}, "sort": [{"field": MATRIX_FIELD}]}),
    ):
        panel.with_transformation(model.DataTransformerConfig(id_val=name, options=settings))
    axis = [
        model.DynamicConfigValue(id_val="unit", value="s"),
        model.DynamicConfigValue(id_val="custom.axisLabel", value="since the run's measure phase began"),
    ]
    panel.override_by_name(MATRIX_FIELD, axis)
    return panel if empty is None else panel.no_value(empty)


def density(text: Text, query: Query, cell_unit: str, size: Size = Size()) -> heatmap.Panel:
    """A heat map of a histogram's buckets by `le`, over clock time; the text's unit is that of the buckets."""
    target = dataquery(0, query, PromQueryFormat.HEATMAP).range()
    panel = filled(heatmap.Panel(), text, size, [target]).calculate(False).show_legend()
    colour = heatmap.HeatmapColorOptions().mode(HeatmapColorMode.SCHEME).scheme("Oranges").steps(64)
    axis = heatmap.YAxisConfig().unit(text.unit).axis_placement(options.AxisPlacement.LEFT)
    return panel.color(colour).y_axis(axis).cell_values(heatmap.CellValues().unit(cell_unit))


def states(
    text: Text, query: Query, values: dict[str, tuple[str, str]], size: Size = Size(), empty: str | None = None
) -> statetimeline.Panel:
    """Coloured bars over clock time; `values` maps a value to its word and colour, `empty` is said without any."""
    panel = filled(statetimeline.Panel(), text, size, _ranges((query,)))
    mapped = {value: model.ValueMappingResult(text=word, color=colour) for value, (word, colour) in values.items()}
    legend = common.VizLegendOptions().display_mode(options.LegendDisplayMode.LIST).show_legend(True)
    panel.mappings([model.ValueMap(options=mapped)]).legend(legend.placement(options.LegendPlacement.BOTTOM))
    panel.merge_values(True).show_value(options.VisibilityMode.NEVER).row_height(0.8)
    return panel if empty is None else panel.no_value(empty)


def labels(
    text: Text,
    query: Query,
    columns: Sequence[str],
    size: Size = Size(),
    wide: str | None = None,
    empty: str | None = None,
) -> table.Panel:
    """A row a series, its labels in these columns, sorted by the first; without the value, which says nothing. The
    texts of the column `wide` are wrapped, `empty` is said without any row."""
    panel = filled(table.Panel(), text, size, [dataquery(0, query, PromQueryFormat.TABLE).instant()])
    order = {name: position for position, name in enumerate(columns)}
    for name, settings in (
        ("organize", {"indexByName": order, "excludeByName": {"Time": True, "Value": True}}),
        ("sortBy", {"fields": {}, "sort": [{"field": columns[0]}]}),
    ):
        panel.with_transformation(model.DataTransformerConfig(id_val=name, options=settings))
    if wide is not None:
        wrapped = {"custom.wrapText": True, "custom.minWidth": 600}
        panel.override_by_name(wide, [model.DynamicConfigValue(id_val=one, value=wrapped[one]) for one in wrapped])
    return panel if empty is None else panel.no_value(empty)


def number(text: Text, query: Query, bad_from: float, empty: str, size: Size = Size()) -> stat.Panel:
    """The newest value, large: green from 0, red from `bad_from` on; `empty`, in grey, without one."""
    panel = filled(stat.Panel(), text, size, [dataquery(0, query).instant()]).no_value(empty)
    panel.thresholds(_steps((None, IDLE), (0, FINE), (bad_from, INVALID))).graph_mode(options.BigValueGraphMode.NONE)
    newest = common.ReduceDataOptions().calcs(["lastNotNull"]).values(False)
    return panel.color_mode(options.BigValueColorMode.BACKGROUND).reduce_options(newest)
