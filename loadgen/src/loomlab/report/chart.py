"""Charts as SVG, by matplotlib: their ink is the page's, and they stand alone on paper; None: nothing was measured."""

import io
import itertools
import math
import re
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import AutoLocator, FixedLocator, LogLocator, NullFormatter

from loomlab.answer.figures import Figure, spread
from loomlab.answer.loads import LoadGroup
from loomlab.basics.errors import LoomlabError
from loomlab.judge.series import parse_result, select, without_resets
from loomlab.records.contrasts import Comparison
from loomlab.records.endpoints import delay_of, endpoint_of
from loomlab.records.files import RunFiles, read_json, read_record
from loomlab.records.models import Run, ToolRun
from loomlab.records.requestlog import LEVELS, Numbers, by_seconds, percentile
from loomlab.report.experiment import effect_cell, with_interval
from loomlab.tools.known import tool
from loomlab.tools.tool import requests_of

OF_SERVERS = {
    "tomcat": ("o", "●", "-"), "jetty": ("s", "■", "-."), "netty": ("^", "▲", "--"), "microhttp": ("D", "◆", ":"),
    "helidon": ("v", "▼", (0, (5, 1, 1, 1, 1, 1))),
}  # fmt: skip
"""Marker as matplotlib calls it and as text has it, and line."""
OTHER_SHAPES = (("P", "✚", "-"), ("X", "✖", "-"), ("*", "★", "-"))
WIDTH_IN = 5.0  # of every chart, so that text is as large in all of them, also on a phone
MOST_LETTERS = 40  # of a line of a name
INK, SOFT, GRID = "#1d2126", "#5a636d", "#e6e9ed"
ON_PAGE = {INK: f"var(--ink, {INK})", SOFT: f"var(--soft, {SOFT})", GRID: f"var(--grid, {GRID})"}
"""The page's colours, which are others in dark mode; a file of its own has none and takes the second."""
DOTS: dict[str, dict[str, Any]] = {
    "valid": {"markeredgecolor": INK},
    "suspect": {"markeredgecolor": INK, "alpha": 0.4},
    "invalid": {"markeredgecolor": "#b3261e", "markerfacecolor": "none"},
}
"""How the dot of a run looks, by its verdict."""
mpl.rc_file(Path(__file__).with_name("chart.mplstyle"))
ROW_IN, EFFECT_ROW_IN, EDGE_IN, PLOT_IN = 0.23, 0.42, 0.62, 3.0
SMOOTH_S = 5  # of throughput: connections in step put one wave more into one second than into the next
LEAST_SPAN = 1.25  # a scale spans so much at least, that chance does not look like a difference: of ratios, 0.8 to 1.25
LEAST_DIFFERENCE = 1.0  # the same of differences, in their unit
HEADROOM = 1.05
TICKS = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
BEFORE_S, AFTER_S = 10, 5  # how much around the load is drawn, as far as samples reach
PANELS = (
    ("throughput", f"throughput, mean of {SMOOTH_S} s", "requests/s"),
    ("p50", "p50 latency", "ms"),
    ("p99", "p99 latency", "ms"),
    ("cpu", "CPU", "CPUs"),
    ("rss", "RSS", "MiB"),
    ("threads", "threads", ""),
)
type Points = tuple[Numbers, Numbers]
"""Seconds since the load began, and values, which are NaN where samples do not reach."""
type Stretch = tuple[float, float]  # its start and its end, in epoch seconds


@dataclass(frozen=True)
class Look:
    """An approach's, the same in every chart: the colour of its model, the shape and line of its server."""

    colour: str
    marker: str
    sign: str = ""
    line: str | tuple[int, tuple[int, ...]] = "-"


type Looks = Mapping[str, Look]


def looks(approaches: Sequence[str], recorded: Mapping[str, str], servers: Mapping[str, str]) -> dict[str, Look]:
    """One for each approach, in the colour that order.json has for it, or else one of matplotlib's."""
    others = itertools.cycle(OTHER_SHAPES)
    return {
        name: Look(recorded.get(name) or to_hex(f"C{i}"), *(OF_SERVERS.get(servers.get(name, "")) or next(others)))
        for i, name in enumerate(approaches)
    }


def new_axes(height_in: float) -> Axes:
    return Canvas(figsize=(WIDTH_IN, height_in)).subplots()


@dataclass(frozen=True)
class Drawing:
    title: str  # what a screen reader says
    svg: Markup

    @property
    def file(self) -> str:
        head = self.title.partition(", ")[0].replace(",", "").lower()
        return re.sub(r"[^a-z0-9.]+", "-", head).strip("-.") + ".svg"


def drawing(chart: Axes, title: str) -> Drawing:
    figure, written = chart.figure, io.BytesIO()
    assert isinstance(figure, Canvas)
    for axis in (chart.xaxis, chart.yaxis):
        if not isinstance(axis.get_major_locator(), FixedLocator):
            _plain_ticks(axis)
    figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    label = f'<svg role="img" aria-label="{Markup.escape(title)}" '
    text = label + written.getvalue().decode().partition("<svg ")[2]
    return Drawing(title, Markup(re.sub("|".join(ON_PAGE), lambda ink: ON_PAGE[ink[0]], text)))  # noqa: S704 - drawn here


def dot(chart: Axes, x: float, y: float, look: Look, verdict: str = "valid") -> None:
    style = {"markerfacecolor": look.colour} | DOTS[verdict]
    chart.plot([x], [y], look.marker, markersize=5.5, markeredgewidth=0.7, **style)


def _plain_ticks(axis: Axis) -> None:
    if axis.get_scale() == "log":
        low, high = axis.get_view_interval()
        within = LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,))
        axis.set_major_locator(within if high > 8 * low else AutoLocator())
    axis.set_major_formatter(lambda value, _: f"{value:,.7g}")
    axis.set_minor_formatter(NullFormatter())


def _broken(name: str) -> str:
    return "\n".join(fill(line, MOST_LETTERS, break_on_hyphens=False) for line in name.splitlines())


def named_rows(chart: Axes, names: Sequence[str]) -> None:
    """A row for each name, from the top."""
    chart.set_yticks(range(len(names)), [_broken(name) for name in names])
    chart.set_ylim(len(names) - 0.5, -0.5)
    chart.grid(visible=False, axis="y")
    chart.tick_params(axis="y", labelcolor=INK)


def legend(chart: Axes, looks: Looks, names: Container[str]) -> None:
    """What each colour and shape is, below the chart; of these names alone."""
    handles = [
        chart.plot([], [], look.marker, linestyle=look.line, color=look.colour, markersize=5, label=_broken(name))[0]
        for name, look in looks.items()
        if name in names
    ]
    columns = max(1, 70 // (8 + max(len(name) for name in looks if name in names)))
    chart.figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=1.5, columnspacing=1.2)


@dataclass(frozen=True)
class Course:
    run: Run
    load: Stretch
    panels: dict[str, Points]  # second by second


def course_of(run: Run, files: RunFiles | None) -> Course | None:
    """As far as the raw files tell; None without them."""
    process = read_record(files.tool, ToolRun) if files else None
    if not (files and process):
        return None
    load = (process.started, process.ended)
    return Course(run, load, _latencies(run, files, load[0]) | _samples(run, files, *load))


def _latencies(run: Run, files: RunFiles, began: float) -> dict[str, Points]:
    """What the answered requests of each second show; nothing of a tool that left no requests, or broken ones."""
    log = None
    with suppress(OSError, LoomlabError):
        log = requests_of(files, tool(run.tool), endpoint_of(run.endpoint, delay_of(run.delay)).floor_ms)
    if not log:
        return {}
    by_second = by_seconds(log.start_s, log.latency_ms)
    seconds = np.array([*by_second], dtype=np.float64) - math.floor(began)
    groups = [np.sort(latencies_ms) for latencies_ms in by_second.values()]
    return {
        "throughput": (seconds, _smooth(np.array([len(group) for group in groups], dtype=np.float64))),
        "p50": (seconds, np.array([percentile(group, 50) for group in groups])),
        "p99": (seconds, np.array([percentile(group, 99) for group in groups])),
    }


def _smooth(counts: Numbers) -> Numbers:
    """Means of windows around each second, which are shorter at the ends."""
    window = np.ones(min(SMOOTH_S, len(counts)))
    smooth: Numbers = np.convolve(counts, window, "same") / np.convolve(np.ones_like(counts), window, "same")
    return smooth


def _samples(run: Run, files: RunFiles, began: float, ended: float) -> dict[str, Points]:
    """What was sampled of the approach's container, interpolated to whole seconds as far as samples reach."""
    recorded = parse_result((read_json(files.metrics) or {}).get("containers", []))
    seconds = np.arange(-BEFORE_S, math.ceil(ended - began) + AFTER_S + 1, dtype=np.float64)

    def values_of(name: str, **labels: str) -> Numbers:
        own = select(recorded, f"container_{name}", service=(not run.partner and run.twin_of) or run.approach, **labels)
        samples = own[0].samples if own else ()
        values = without_resets(samples) if name.endswith("_total") else samples
        known: Numbers = np.array(values or [(math.inf, math.nan)])
        return np.interp(began + seconds, known[:, 0], known[:, 1], left=math.nan, right=math.nan)

    panels = {
        "cpu": np.diff(values_of("cpu_usage_seconds_total", cpu="total")),
        "rss": values_of("memory_rss")[:-1] / 2**20,
        "threads": values_of("threads")[:-1],
    }
    return {name: (seconds[:-1], values) for name, values in panels.items() if np.isfinite(values).any()}


def repeats(figure: Figure, load: LoadGroup, looks: Looks) -> Drawing | None:
    """A row for each approach at one load, a dot for each run, a stroke at the mean."""
    known = [(run, value) for run in load.runs if (value := figure.of(run)) is not None]
    names = [name for name in looks if name in {run.approach for run, _ in known}]
    if not names:
        return None
    axes = new_axes(ROW_IN * len(names) + EDGE_IN)
    for run, value in known:
        dot(axes, value, names.index(run.approach), looks[run.approach], run.verdict)
    for row, name in enumerate(names):
        mean = spread(figure, load.counted(name))
        if mean is not None and mean.count > 1:
            axes.plot([mean.centre] * 2, [row - 0.35, row + 0.35], color=INK, linewidth=1.6)
    named_rows(axes, names)
    axes.set_xlabel(figure.label)
    low, high = min(value for _, value in known), max(value for _, value in known)
    room = max((high - low) * 0.06, (low + high) / 2 * (math.sqrt(LEAST_SPAN) - 1) - (high - low) / 2, 1e-9)
    axes.set_xlim(0 if low >= 0 and high > 3 * low else low - room, high + room)
    return drawing(axes, f"{figure.title} by approach at {load.label}, every repeat a dot")


def effects(figure: Figure, comparisons: Sequence[Comparison], looks: Looks) -> Drawing | None:
    """A row for each contrast at each load: ratio or difference of each block a dot, the interval a bar, the equivalence
    margin a band."""
    by = figure.compared
    if by is None or not any(comparison.blocks for comparison in comparisons):
        return None
    axes = new_axes(EFFECT_ROW_IN * len(comparisons) + EDGE_IN)
    for row, comparison in enumerate(comparisons):
        if comparison.margin is not None:
            width = 1 + comparison.margin
            axes.fill_betweenx([row - 0.5, row + 0.5], 1 / width, width, color=GRID, linewidth=0)
        if comparison.interval is not None:
            axes.plot(comparison.interval, [row] * 2, color=SOFT, linewidth=4, alpha=0.5)
        if comparison.effect is not None:
            axes.plot([comparison.effect] * 2, [row - 0.25, row + 0.25], color=INK, linewidth=1.6)
        for block in comparison.blocks:
            dot(axes, block.effect, row, looks[comparison.a], "suspect" if block.suspect else "valid")
    over = "−" if by.by_difference else "÷"
    labels = [f"{one.a} {over}\n{one.b}\n{one.load}: {with_interval(*effect_cell(one))}" for one in comparisons]
    named_rows(axes, labels)
    axes.axvline(comparisons[0].even, color=SOFT, linestyle="--", linewidth=1)
    axes.set_xlabel(f"← {by.less}   {figure.label if by.by_difference else f'{figure.title}, ratio'}   {by.more} →")
    reach = _reach(comparisons)
    axes.set_xscale("linear" if by.by_difference else "log")
    axes.set_xlim((-reach, reach) if by.by_difference else (math.exp(-reach), math.exp(reach)))
    what = "differences" if by.by_difference else "ratios"
    return drawing(axes, f"{what} of {figure.title}, each block a dot, intervals as bars")


def _reach(comparisons: Sequence[Comparison]) -> float:
    """How far the scale goes from equality: as far as intervals, but at most twice as far as the blocks."""
    by_difference = comparisons[0].by_difference

    def far(effect: float) -> float:
        return abs(effect) if by_difference else abs(math.log(effect)) if 0 < effect < math.inf else math.inf

    least = LEAST_DIFFERENCE if by_difference else math.log(LEAST_SPAN)
    blocks = max(least, *(far(block.effect) for comparison in comparisons for block in comparison.blocks))
    ends = max((far(end) for comparison in comparisons for end in comparison.interval or ()), default=0)
    return 1.06 * max(blocks, min(ends, 2 * blocks))


def over_load(figure: Figure, loads: Sequence[LoadGroup], looks: Looks) -> Drawing | None:
    """A line through each approach's means and a dot for each run; None where fewer than two loads have the figure."""
    means = [(load.amount, name, spread(figure, load.counted(name))) for load in loads for name in looks]
    if len({amount for amount, _, mean in means if mean}) < 2:
        return None
    axes = new_axes(PLOT_IN)
    for name, look in looks.items():
        points = [(amount, mean.centre) for amount, own, mean in means if own == name and mean]
        axes.plot(*np.reshape(points, (-1, 2)).T, color=look.colour, linestyle=look.line)
    known = [(load, run, value) for load in loads for run in load.runs if (value := figure.of(run)) is not None]
    for load, run, value in known:
        dot(axes, load.amount, value, looks[run.approach], run.verdict)
    axes.set_xscale("log")
    axes.set_xticks([load.amount for load in loads], [f"{load.amount:,g}" for load in loads])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(loads[0].unit)
    axes.set_title(figure.label)
    low, high = min(value for *_, value in known), max(value for *_, value in known)
    if low > 0 and high > 20 * low:
        axes.set_yscale("log")
    elif low >= 0:
        axes.set_ylim(0, HEADROOM * high or 1)
    legend(axes, looks, looks)
    return drawing(axes, f"{figure.title} over load")


def distribution(load: LoadGroup, looks: Looks) -> Drawing | None:
    """Latency by percentile, each nine as wide as the one before: of an approach the mean of its runs, and a band from
    the lowest to the highest."""
    axes, every = new_axes(PLOT_IN), list[float]()
    drawn = []
    for name, look in looks.items():
        runs = [run.latency_ms for run in load.counted(name)]
        levels = [level for level in LEVELS if runs and all(getattr(latency, level) for latency in runs)]
        if len(levels) < 2:
            continue
        places = [-math.log10(1 - LEVELS[level] / 100) for level in levels]
        values = np.array([[getattr(latency, level) for level in levels] for latency in runs])
        axes.fill_between(places, values.min(axis=0), values.max(axis=0), color=look.colour, alpha=0.2, linewidth=0)
        axes.plot(places, values.mean(axis=0), color=look.colour, linestyle=look.line)
        dot(axes, places[-1], float(values[:, -1].mean()), look)
        every += [float(values.min()), float(values.max())]
        drawn.append(name)
    if not drawn:
        return None
    if max(every) > 4 * min(every):
        axes.set_yscale("log")
    axes.set_xticks([-math.log10(1 - percent / 100) for percent in TICKS], [f"p{percent:g}" for percent in TICKS])
    axes.set_title(f"latency at {load.label}, ms")
    legend(axes, looks, drawn)
    return drawing(axes, f"latency by percentile at {load.label}")


def courses(load: LoadGroup, every: Sequence[Course], looks: Looks) -> list[Drawing]:
    """A chart for each figure recorded by the second, a line a run; dashed: where loads began and ended."""
    drawn = []
    for key, title, unit in PANELS:
        measured = [course for course in every if key in course.panels]
        if not measured:
            continue
        axes = new_axes(PLOT_IN)
        for course in measured:
            look = looks[course.run.approach]
            axes.plot(*course.panels[key], color=look.colour, linestyle=look.line, linewidth=1.2)
            started, ended = course.load
            for second in (0.0, ended - started):
                axes.axvline(second, color=SOFT, linestyle=":", linewidth=0.6)
        axes.set_title(f"{title}, {unit}" if unit else title)
        axes.set_xlabel(f"seconds since the load began, {load.label}")
        axes.set_ylim(0, HEADROOM * max(np.nanmax(course.panels[key][1]) for course in measured) or 1)
        legend(axes, looks, {course.run.approach for course in measured})
        drawn.append(drawing(axes, f"{title}, second by second, at {load.label}"))
    return drawn
