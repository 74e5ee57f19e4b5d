"""Draws a dashboard as Grafana would lay it out, with the answers of a Prometheus to its own queries."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from math import ceil, log2
from pathlib import Path
from textwrap import shorten

import matplotlib as mpl

mpl.use("agg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.table import Table
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from loomlab_dashboards.frame import Json
from loomlab_dashboards.prometheus import Prometheus
from loomlab_dashboards.series import Line, cells, colour, line, lines_by_seconds, name_of, override, table
from loomlab_dashboards.substitute import PanelQuery, Window, panel_queries, replaced
from loomlab_dashboards.units import written

COLUMN_INCHES, UNIT_INCHES = 0.8, 0.38
GAP_INCHES, LEFT_INCHES, TOP_INCHES, BOTTOM_INCHES, LEGEND_INCHES = 0.12, 0.85, 0.35, 0.35, 0.17
DPI = 100
TICKS_PER_PICTURE = 25
LONGEST_CELL = 60
CLASSIC = ["#73BF69", "#F2CC0C", "#5794F2", "#FF9830", "#F2495C", "#B877D9"]
"""The first of Grafana's own colours, for series whose colour is not fixed."""


def render(document: Json, prometheus: Prometheus, window: Window, values: Mapping[str, str], out: Path) -> None:
    """Writes a PNG of all panels of the dashboard."""
    picture = Picture(document, prometheus, window, values)
    picture.draw()
    picture.save(out)


class Picture:
    def __init__(self, document: Json, prometheus: Prometheus, window: Window, values: Mapping[str, str]) -> None:
        self._document, self._prometheus, self._window, self._values = document, prometheus, window, values
        self._rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in document["panels"])
        self._size = (24 * COLUMN_INCHES, (self._rows + 1) * UNIT_INCHES)
        self.figure = pyplot.figure(figsize=self._size, dpi=DPI, facecolor="#F4F5F5")
        self._kinds: dict[str, Callable[[Axes, Json], None]] = {
            "timeseries": self._over_time,
            "trend": self._by_run_time,
            "heatmap": self._density,
            "state-timeline": self._states,
            "stat": self._number,
            "table": self._table,
        }

    def draw(self) -> None:
        start = datetime.fromtimestamp(self._window.start, UTC)
        self._write(0, 0, f"{self._document['title']}   {start:%Y-%m-%d}, UTC", 15)
        for panel in self._document["panels"]:
            if panel["type"] == "row":
                self._write(0, panel["gridPos"]["y"] + 1, panel["title"], 12)
            else:
                self._kinds[panel["type"]](self._axes(panel), panel)

    def save(self, out: Path) -> None:
        self.figure.savefig(out)
        pyplot.close(self.figure)

    def _write(self, column: float, row: float, words: str, points: float) -> None:
        x, y = self._at(column * COLUMN_INCHES + GAP_INCHES, row * UNIT_INCHES + UNIT_INCHES / 2)
        self.figure.text(x, y, words, fontsize=points, weight="bold", va="center")

    def _at(self, left_inches: float, top_inches: float) -> tuple[float, float]:
        return left_inches / self._size[0], 1 - top_inches / self._size[1]

    def _axes(self, panel: Json) -> Axes:
        """The panel's white box with its title, and within it the axes, above the lines of the legend."""
        place = panel["gridPos"]
        left, top = place["x"] * COLUMN_INCHES, (place["y"] + 1) * UNIT_INCHES
        width, height = place["w"] * COLUMN_INCHES, place["h"] * UNIT_INCHES
        x, bottom = self._at(left, top + height)
        gap_x, gap_y = GAP_INCHES / self._size[0] / 2, GAP_INCHES / self._size[1] / 2
        box = (x + gap_x, bottom + gap_y), width / self._size[0] - 2 * gap_x, height / self._size[1] - 2 * gap_y
        self.figure.add_artist(Rectangle(*box, facecolor="white", edgecolor="#D8D9DA", zorder=-1))
        self._write(place["x"] + 0.05, place["y"] + 1, panel["title"], 9)
        inner_x, inner_y = self._at(left + LEFT_INCHES, top + height - BOTTOM_INCHES)
        inner_width = (width - LEFT_INCHES - 2 * GAP_INCHES) / self._size[0]
        axes = self.figure.add_axes(
            (inner_x, inner_y, inner_width, (height - TOP_INCHES - BOTTOM_INCHES) / self._size[1])
        )
        axes.tick_params(labelsize=7, length=2)
        axes.grid(visible=True, color="#EEEEEE")
        axes.set_axisbelow(True)
        return axes

    def _queries(self, panel: Json) -> list[PanelQuery]:
        return list(panel_queries(self._document, panel, self._values))

    def _over_time(self, axes: Axes, panel: Json) -> None:
        for query in self._queries(panel):
            for series in self._prometheus.over(self._window, query.expr):
                self._plot(axes, panel, line(series, query.legend, self._window.step_s))
        self._clock(axes)
        self._annotate(axes)
        self._limit(axes, panel)
        self._finish(axes, panel)

    def _by_run_time(self, axes: Axes, panel: Json) -> None:
        for query in self._queries(panel):
            for each in lines_by_seconds(self._prometheus.at(self._window.end, query.expr)):
                self._plot(axes, panel, each)
        axes.set_xlabel("s since the run's measure phase began", fontsize=7, labelpad=1)
        self._finish(axes, panel)

    def _plot(self, axes: Axes, panel: Json, drawn: Line) -> None:
        known = colour(panel, drawn.name) or CLASSIC[len(axes.lines) % len(CLASSIC)]
        form = "--" if override(panel, drawn.name, "custom.lineStyle") else ".-"
        label = "   ".join([drawn.name, *self._calcs(panel, drawn)])
        axes.plot(drawn.x, drawn.y, form, markersize=1.5, color=known, linewidth=1.5, label=label)

    @staticmethod
    def _calcs(panel: Json, drawn: Line) -> list[str]:
        """What the legend tells of the line; the last value only where it tells no other."""
        calcs, unit = panel["options"]["legend"]["calcs"], panel["fieldConfig"]["defaults"]["unit"]
        finite = drawn.y[drawn.y == drawn.y]
        told = {"mean": finite.mean(), "max": finite.max(), "lastNotNull": finite[-1]} if finite.size else {}
        shown = [name for name in told if name in calcs and (name != "lastNotNull" or len(calcs) == 1)]
        return [f"{name.removesuffix('NotNull')} {written(told[name], unit)}" for name in shown]

    def _clock(self, axes: Axes) -> None:
        axes.set_xlim(self._window.start, self._window.end)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{datetime.fromtimestamp(x, UTC):%H:%M:%S}"))
        ticks = round(TICKS_PER_PICTURE * axes.get_position().width)
        axes.xaxis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 3, 6, 10]))

    def _annotate(self, axes: Axes) -> None:
        for annotation in self._document["annotations"]["list"]:
            expr = replaced(annotation["target"]["expr"], self._values)
            for series in self._prometheus.over(self._window, expr):
                times = [time for time, value in series["values"] if float(value) > 0]
                shade = annotation["iconColor"]
                axes.axvspan(times[0], times[-1] + self._window.step_s, color=shade, alpha=0.08, linewidth=0)
                axes.axvline(times[-1] + self._window.step_s, color=shade, linewidth=0.8, linestyle="dashed")

    def _limit(self, axes: Axes, panel: Json) -> None:
        for step in panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [])[1:]:
            axes.axhline(step["value"], color=step["color"], linewidth=0.8, linestyle="dashed")

    def _finish(self, axes: Axes, panel: Json) -> None:
        handles, _ = axes.get_legend_handles_labels()
        if not handles:
            self._empty(axes, panel)
            return
        unit = panel["fieldConfig"]["defaults"]["unit"]
        top = 1.1 * axes.dataLim.y1 or 1
        axes.set_ylim(0, top)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: written(y, unit)))
        if unit == "bytes":
            axes.yaxis.set_major_locator(MultipleLocator(2 ** ceil(log2(top / 6))))
        self._make_room(axes, len(handles))
        place = panel["gridPos"]
        corner = self._at(place["x"] * COLUMN_INCHES, (place["y"] + 1 + place["h"]) * UNIT_INCHES)
        axes.legend(
            loc="lower left",
            bbox_to_anchor=corner,
            bbox_transform=self.figure.transFigure,
            borderaxespad=1,
            fontsize=7,
            frameon=False,
            labelspacing=0.25,
            handlelength=1,
        )

    def _empty(self, axes: Axes, panel: Json) -> None:
        words = panel["fieldConfig"]["defaults"].get("noValue", "No data")
        axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", color="#808080")
        axes.set_yticks([])

    def _make_room(self, axes: Axes, lines: int) -> None:
        place = axes.get_position()
        taken = lines * LEGEND_INCHES / self._size[1]
        axes.set_position((place.x0, place.y0 + taken, place.width, place.height - taken))

    def _density(self, axes: Axes, panel: Json) -> None:
        (query,) = self._queries(panel)
        found = cells(self._prometheus.over(self._window, query.expr))
        self._clock(axes)
        if found is None:
            self._empty(axes, panel)
            return
        rows = range(len(found.bounds) + 1)
        edges = [*found.times, found.times[-1] + self._window.step_s]
        axes.pcolormesh(edges, list(rows), found.values, cmap="Oranges")
        every = max(1, len(found.bounds) // 10)
        axes.set_yticks([row + 1 for row in rows[:-1]][::every])
        axes.set_yticklabels([written(bound, query.unit) for bound in found.bounds[::every]])

    def _states(self, axes: Axes, panel: Json) -> None:
        (query,) = self._queries(panel)
        words = panel["fieldConfig"]["defaults"]["mappings"][0]["options"]
        found = sorted(self._prometheus.over(self._window, query.expr), key=lambda each: name_of(each, query.legend))
        for row, series in enumerate(found):
            for time, value in series["values"]:
                axes.barh(row, self._window.step_s, left=time, color=words[value]["color"], height=0.8)
        axes.set_yticks(range(len(found)))
        axes.set_yticklabels([name_of(series, query.legend) for series in found], fontsize=6)
        self._clock(axes)
        if not found:
            self._empty(axes, panel)

    def _table(self, axes: Axes, panel: Json) -> None:
        if len(panel["targets"]) == 1:
            self._labels(axes, panel)
            return
        axes.set_axis_off()
        rows = table(panel, [self._prometheus.at(self._window.end, query.expr) for query in self._queries(panel)])
        if not rows:
            self._empty(axes, panel)
            return
        text = [[shorten(cell, LONGEST_CELL, placeholder="…") for cell in row.values()] for row in rows]
        drawn = axes.table(text, colLabels=list(rows[0]), loc="upper left", cellLoc="left", edges="horizontal")
        self._fit(drawn, len(rows[0]))

    @staticmethod
    def _fit(drawn: Table, columns: int) -> None:
        drawn.auto_set_font_size(False)
        drawn.set_fontsize(9)
        drawn.auto_set_column_width(list(range(columns)))

    def _labels(self, axes: Axes, panel: Json) -> None:
        (query,) = self._queries(panel)
        found = self._prometheus.at(self._window.end, query.expr)
        axes.set_axis_off()
        if not found:
            self._empty(axes, panel)
            return
        order = panel["transformations"][0]["options"]["indexByName"]
        columns = sorted(order, key=lambda name: order[name])
        rows = sorted([series["metric"].get(name, "") for name in columns] for series in found)
        drawn = axes.table(rows, colLabels=columns, loc="upper left", cellLoc="left", edges="horizontal")
        self._fit(drawn, len(columns))

    def _number(self, axes: Axes, panel: Json) -> None:
        (query,) = self._queries(panel)
        found = self._prometheus.at(self._window.end, query.expr)
        axes.set_axis_off()
        if not found:
            self._empty(axes, panel)
            return
        value = written(float(found[0]["value"][1]), query.unit)
        axes.text(0.35, 0.5, value, transform=axes.transAxes, ha="center", fontsize=32)
