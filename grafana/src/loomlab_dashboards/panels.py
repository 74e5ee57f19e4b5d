"""One function a kind of panel. What a panel must have (title, a sentence, a unit, a legend) is a parameter here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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

from loomlab_dashboards.palette import APPROACHES, FINE, IDLE, INVALID, OTHERS, series_of

DATA_SOURCE = options.DataSourceRef(type_val="prometheus", uid="${datasource}")
RESULTS = "${results:raw}"
"""Where browsers find the results; Prometheus knows it of whoever serves them."""
MIN_STEP = "2s"
"""Below it neighbouring points share almost all of their samples, at a scrape a second."""
NO_CONTAINERS = "No container's figures arrive: `make up` finds where this engine has them."
NO_QUOTA = "No container has a CPU quota."
AT_GENERATOR = ", at the generator"
"""Of a legend; only vegeta reports latency while it runs, the others afterwards, in the table."""
WHERE = (
    "in the server, from the start of its handler (in the idiomatic style, of its first filter), without any earlier "
    "wait for a connection or a thread; under vegeta also as the load generator saw it"
)
LIMIT = "limit"
MEAN_AND_MAX = ("lastNotNull", "mean", "max")
LAST_VALUE = ("lastNotNull",)
ROW_FIELD, COLUMN_FIELD = "seconds", "run"
MATRIX_FIELD = f"{ROW_FIELD}\\{COLUMN_FIELD}"
"""What Grafana's transformation groupingToMatrix calls its first field."""


@dataclass(frozen=True)
class Text:
    title: str
    description: str
    """What it shows; where it has a limit, also what to do beyond it."""
    unit: str
    """One of Grafana's."""


@dataclass(frozen=True)
class Query:
    expr: str
    legend: str = "{{service}}"


Panel = timeseries.Panel | trend.Panel | heatmap.Panel | statetimeline.Panel | stat.Panel | table.Panel


def range_targets(*queries: Query, form: PromQueryFormat = PromQueryFormat.TIME_SERIES) -> list[Builder[Dataquery]]:
    """The queries, asked over the dashboard's range."""
    return [_target(position, query, form).range() for position, query in enumerate(queries)]


def instant_targets(*queries: Query, form: PromQueryFormat = PromQueryFormat.TABLE) -> list[Builder[Dataquery]]:
    """The queries, asked at the end of the dashboard's range."""
    return [_target(position, query, form).instant() for position, query in enumerate(queries)]


def _target(position: int, query: Query, form: PromQueryFormat) -> prometheus.Dataquery:
    target = prometheus.Dataquery().ref_id(chr(ord("A") + position)).datasource(DATA_SOURCE).expr(query.expr)
    return target.legend_format(query.legend).format(form).interval(MIN_STEP)


def fill[P: (timeseries.Panel, trend.Panel, heatmap.Panel, statetimeline.Panel, stat.Panel, table.Panel)](
    panel: P, text: Text, targets: list[Builder[Dataquery]], empty: str | None = None
) -> P:
    """The panel with what every panel has; `empty` is said without data."""
    panel.title(text.title).description(text.description).unit(text.unit).datasource(DATA_SOURCE).targets(targets)
    return panel if empty is None else panel.no_value(empty)


def transform[P: (trend.Panel, table.Panel)](panel: P, **steps: object) -> P:
    """The panel with Grafana's transformations, by name, in their order."""
    for name, settings in steps.items():
        panel.with_transformation(model.DataTransformerConfig(id_val=name, options=settings))
    return panel


def sorting(field: str, **order: bool) -> dict[str, object]:
    """The settings of Grafana's transformation sortBy."""
    return {"fields": {}, "sort": [{"field": field, **order}]}


def properties(values: Mapping[str, object]) -> list[model.DynamicConfigValue]:
    """What an override sets of a field."""
    return [model.DynamicConfigValue(id_val=name, value=value) for name, value in values.items()]


def fixed(colour: str) -> dict[str, object]:
    """The property of a field that always has the colour."""
    return {"color": {"mode": "fixed", "fixedColor": colour}}


def _draw_lines[P: (timeseries.Panel, trend.Panel)](panel: P, calcs: Sequence[str] = MEAN_AND_MAX) -> P:
    legend = common.VizLegendOptions().display_mode(options.LegendDisplayMode.TABLE).show_legend(True)
    legend.placement(options.LegendPlacement.BOTTOM).calcs(list(calcs))
    tooltip = common.VizTooltipOptions().mode(options.TooltipDisplayMode.MULTI).sort(options.SortOrder.DESCENDING)
    for service, colour in (APPROACHES | OTHERS).items():
        panel.override_by_regexp(series_of(service), properties(fixed(colour)))
    return panel.min(0).line_width(2).legend(legend).tooltip(tooltip)


def _steps(*steps: tuple[float | None, str]) -> dashboard.ThresholdsConfig:
    levels = [model.Threshold(value=value, color=colour) for value, colour in steps]
    return dashboard.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(levels)


def over_time(
    text: Text,
    *queries: Query,
    limits: Sequence[float] = (),
    limit: str | None = None,
    empty: str | None = None,
    calcs: Sequence[str] = MEAN_AND_MAX,
) -> timeseries.Panel:
    """Lines over clock time; `limits`, in the panel's unit, and the answer to `limit` are drawn as dashed lines, and
    the legend has `calcs` of each line."""
    drawn = queries if limit is None else (*queries, Query(f"max({limit})", LIMIT))
    panel = _draw_lines(fill(timeseries.Panel(), text, range_targets(*drawn), empty), calcs)
    if limit is not None:
        dashes = {"custom.lineStyle": {"fill": "dash", "dash": [10, 10]}}
        panel.override_by_name(LIMIT, properties(fixed(INVALID) | dashes))
    if limits:
        dashed = common.GraphThresholdsStyleConfig().mode(options.GraphThresholdsStyleMode.DASHED)
        panel.thresholds(_steps((None, "transparent"), *((limit, "red") for limit in limits))).thresholds_style(dashed)
    return panel


def by_run_time(text: Text, expr: str, empty: str | None = None) -> trend.Panel:
    """Lines over the seconds since the start of each run; `expr` comes from queries.by_seconds."""
    targets = instant_targets(Query(expr, f"{{{{{COLUMN_FIELD}}}}}"))
    panel = _draw_lines(fill(trend.Panel(), text, targets, empty)).x_field(MATRIX_FIELD)
    axis = {"unit": "s", "custom.axisLabel": "since the run's measure phase began"}
    panel.override_by_name(MATRIX_FIELD, properties(axis))
    matrix = {"columnField": COLUMN_FIELD, "rowField": ROW_FIELD, "valueField": "Value", "emptyValue": "null"}
    conversion = {"fields": {}, "conversions": [{"targetField": MATRIX_FIELD, "destinationType": "number"}]}
    return transform(panel, groupingToMatrix=matrix, convertFieldType=conversion, sortBy=sorting(MATRIX_FIELD))


def density(text: Text, query: Query, cell_unit: str) -> heatmap.Panel:
    """A heat map of a histogram's buckets by `le`, over clock time; the text's unit is that of the buckets."""
    targets = range_targets(query, form=PromQueryFormat.HEATMAP)
    panel = fill(heatmap.Panel(), text, targets).calculate(False).show_legend()
    colour = heatmap.HeatmapColorOptions().mode(HeatmapColorMode.SCHEME).scheme("Oranges").steps(64)
    axis = heatmap.YAxisConfig().unit(text.unit).axis_placement(options.AxisPlacement.LEFT)
    return panel.color(colour).y_axis(axis).cell_values(heatmap.CellValues().unit(cell_unit))


def states(
    text: Text, query: Query, values: dict[str, tuple[str, str]], empty: str | None = None
) -> statetimeline.Panel:
    """Coloured bars over clock time; `values` maps a value to its word and colour."""
    panel = fill(statetimeline.Panel(), text, range_targets(query), empty)
    mapped = {value: model.ValueMappingResult(text=word, color=colour) for value, (word, colour) in values.items()}
    legend = common.VizLegendOptions().display_mode(options.LegendDisplayMode.LIST).show_legend(True)
    panel.mappings([model.ValueMap(options=mapped)]).legend(legend.placement(options.LegendPlacement.BOTTOM))
    return panel.merge_values(True).show_value(options.VisibilityMode.NEVER).row_height(0.8)


def labels(
    text: Text, query: Query, columns: Sequence[str], wide: str | None = None, empty: str | None = None
) -> table.Panel:
    """A row a series, its labels in these columns, sorted by the first; without the value, which says nothing. The
    texts of the column `wide` are wrapped."""
    panel = fill(table.Panel(), text, instant_targets(query), empty)
    order = {name: position for position, name in enumerate(columns)}
    if wide is not None:
        panel.override_by_name(wide, properties({"custom.wrapText": True, "custom.minWidth": 600}))
    organized = {"indexByName": order, "excludeByName": {"Time": True, "Value": True}}
    return transform(panel, organize=organized, sortBy=sorting(columns[0]))


def number(text: Text, query: Query, bad_from: float, empty: str) -> stat.Panel:
    """The newest value, large: green from 0, red from `bad_from` on; `empty`, in grey, without one."""
    panel = fill(stat.Panel(), text, instant_targets(query, form=PromQueryFormat.TIME_SERIES), empty)
    panel.thresholds(_steps((None, IDLE), (0, FINE), (bad_from, INVALID))).graph_mode(options.BigValueGraphMode.NONE)
    newest = common.ReduceDataOptions().calcs(["lastNotNull"]).values(False)
    return panel.color_mode(options.BigValueColorMode.BACKGROUND).reduce_options(newest)
