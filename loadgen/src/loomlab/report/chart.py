"""Charts as SVG, by matplotlib: their ink is the page's, and they stand alone on paper; None: nothing was measured."""

import io
import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullFormatter

from loomlab.answer.figures import Figure, spread
from loomlab.answer.loads import LoadGroup
from loomlab.answer.text import readable
from loomlab.basics.errors import LoomlabError
from loomlab.basics.format import signed
from loomlab.basics.grouping import grouped
from loomlab.judge.series import select, without_resets
from loomlab.records.contrasts import Comparison
from loomlab.records.endpoints import delay_of, endpoint_of
from loomlab.records.files import RunFiles, read_record
from loomlab.records.models import Run, ToolRun
from loomlab.records.raw import MetricsLog
from loomlab.records.requestlog import LEVELS, Numbers, by_seconds, percentile
from loomlab.report.experiment import effect_cell
from loomlab.tools.known import tool
from loomlab.tools.several import requests_of

type Line = str | tuple[int, tuple[int, ...]]
OF_SERVERS: dict[str, tuple[str, str, Line]] = {
    "tomcat": ("o", "●", "-"), "jetty": ("s", "■", "-."), "netty": ("^", "▲", "--"), "microhttp": ("D", "◆", ":"),
    "helidon": ("v", "▼", (0, (5, 1, 1, 1, 1, 1))),
}  # fmt: skip
"""Marker as matplotlib calls it and as text has it, and line."""
OTHER_SHAPES: tuple[tuple[str, str, Line], ...] = (("P", "✚", "-"), ("X", "✖", "-."), ("*", "★", "--"))
OTHER_COLOURS = ("#1F74D6", "#D5630B", "#2E8A2E", "#8A5CD6", "#148FB8", "#CE3B47")
"""Of approaches without one in order.json; each stands out from both of the page's grounds."""
WIDTH_IN = 4.0  # of every chart, so that text is as large in all of them, also on a phone
MOST_LETTERS = 40  # of a line of a name
INK, SOFT, GRID, INVALID = "#1d2126", "#5a636d", "#e6e9ed", "#b3261e"
NAMES = {INK: "ink", SOFT: "soft", GRID: "grid", INVALID: "invalid"}
ON_PAGE = {colour: f"var(--{name}, {colour})" for colour, name in NAMES.items()}
"""The page's colours, which are others in dark mode; a file of its own has none and takes the second."""
mpl.rc_file(Path(__file__).with_name("chart.mplstyle"))
ROW_IN, EDGE_IN, PLOT_IN = 0.22, 0.6, 2.3
SMOOTH_S = 5  # of throughput: connections in step put one wave more into one second than into the next
LEAST_SPAN = 1.25  # a scale spans so much at least, that chance does not look like a difference: of ratios, 0.8 to 1.25
LEAST_DIFFERENCE = 1.0  # the same of differences, in their unit
GAP = "\N{EM SPACE}"  # which SVG keeps
TICKS = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
MOST_S = 86_400  # of a course
BEFORE_S, AFTER_S = 10, 5  # how much around the load is drawn
PANELS = (
    ("throughput", f"throughput, mean of {SMOOTH_S} s", "requests/s"), ("p50", "p50 latency", "ms"),
    ("p99", "p99 latency", "ms"), ("cpu", "CPU", "CPUs"), ("rss", "RSS", "MiB"), ("threads", "threads", ""),
)  # fmt: skip
type Points = tuple[Numbers, Numbers]
"""Seconds since the load began, and values."""
type Stretch = tuple[float, float]  # its start and its end, in epoch seconds


@dataclass(frozen=True)
class Look:
    """An approach's, the same in every chart: the colour of its model, the shape and line of its server."""

    colour: str
    marker: str
    sign: str = ""
    line: Line = "-"


type Looks = Mapping[str, Look]


def looks(approaches: Sequence[str], recorded: Mapping[str, str], servers: Mapping[str, str]) -> dict[str, Look]:
    """One for each approach, in the colour that order.json has for it, or else another."""
    shapes, colours = itertools.cycle(OTHER_SHAPES), itertools.cycle(OTHER_COLOURS)
    return {
        name: Look(recorded.get(name) or next(colours), *(OF_SERVERS.get(servers.get(name, "")) or next(shapes)))
        for name in approaches
    }


def plain(value: float) -> str:
    return f"{value:,.7g}"


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


def drawing(chart: Axes, title: str, of_x: Callable[[float], str] = plain) -> Drawing:
    figure, written = chart.figure, io.BytesIO()
    assert isinstance(figure, Canvas)
    for axis, write in ((chart.xaxis, of_x), (chart.yaxis, plain)):
        if not isinstance(axis.get_major_locator(), FixedLocator):
            _ticks(axis, write)
    figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    label = f'<svg role="img" aria-label="{Markup.escape(title)}" '
    text = label + written.getvalue().decode().partition("<svg ")[2]
    return Drawing(title, Markup(re.sub("|".join(ON_PAGE), lambda ink: ON_PAGE[ink[0]], text)))  # noqa: S704 - drawn here


def dot(chart: Axes, x: float, y: float, look: Look, verdict: str = "valid") -> None:
    """Filled; hollow of a suspect run, and red, too, of an invalid one."""
    inside = look.colour if verdict == "valid" else "none"
    edge = INVALID if verdict == "invalid" else look.colour
    chart.plot([x], [y], look.marker, markersize=5, markeredgewidth=0.9, markeredgecolor=edge, markerfacecolor=inside)


def _ticks(axis: Axis, write: Callable[[float], str]) -> None:
    if axis.get_scale() == "log":
        low, high = axis.get_view_interval()
        within = LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,))
        axis.set_major_locator(within if high > 8 * low else MaxNLocator(5, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(lambda value, _: write(value))
    axis.set_minor_formatter(NullFormatter())


def _broken(name: str) -> str:
    return "\n".join(fill(readable(line), MOST_LETTERS, break_on_hyphens=False) for line in name.splitlines())


def named_rows(chart: Axes, names: Sequence[str]) -> None:
    chart.set_yticks(range(len(names)), [_broken(name) for name in names])
    chart.set_ylim(len(names) - 0.5, -0.5)
    chart.grid(visible=False, axis="y")
    chart.tick_params(axis="y", labelcolor=INK)


def trace(chart: Axes, points: Points, name: str, look: Look, marked: Sequence[int] = ()) -> None:
    (line,) = chart.plot(*points, look.marker, markersize=5, markevery=[*marked], label=_broken(name))
    line.set(color=look.colour, linestyle=look.line, linewidth=1.3)


def legend(chart: Axes) -> None:
    handles = [line for line in chart.get_lines() if not str(line.get_label()).startswith("_child")]
    names = [str(line.get_label()) for line in handles]
    style = {"ncols": max(1, 56 // (8 + max(map(len, names)))), "handlelength": 1.5, "columnspacing": 1.2}
    chart.figure.legend(handles, names, loc="outside lower center", **style)


@dataclass(frozen=True)
class Course:
    run: Run
    load: Stretch
    panels: dict[str, Points]  # second by second


def course_of(run: Run, files: RunFiles | None) -> Course | None:
    process = read_record(files.tool, ToolRun) if files else None
    if not (files and process):
        return None
    load = (process.started, process.ended)
    return Course(run, load, _latencies(run, files, load[0]) | _samples(run, files, *load))


def _latencies(run: Run, files: RunFiles, began: float) -> dict[str, Points]:
    """What the answered requests of each second show; nothing of a tool that left no requests, or broken ones."""
    log = None
    with suppress(OSError, LoomlabError):
        log = requests_of(tool(run.tool), files.raw, endpoint_of(run.endpoint, delay_of(run.delay)).floor_ms)
    if not log or np.ptp(log.start_s) > MOST_S:
        return {}
    by_second = by_seconds(log.start_s, log.latency_ms)
    seconds = np.arange(min(by_second), max(by_second) + 1.0)
    groups = [np.sort(by_second.get(int(second), [])) for second in seconds]
    silent = math.nan if run.partner else 0  # between slices nothing is sent
    counts = np.array([len(group) or silent for group in groups])
    around = [counts[max(place - SMOOTH_S // 2, 0) : place + SMOOTH_S // 2 + 1] for place in range(len(counts))]
    panels = {
        "throughput": counts * 0 + [np.nansum(near) / max(np.isfinite(near).sum(), 1) for near in around],
        "p50": np.array([percentile(group, 50) if len(group) else math.nan for group in groups]),
        "p99": np.array([percentile(group, 99) if len(group) else math.nan for group in groups]),
    }
    return {name: (seconds - math.floor(began), values) for name, values in panels.items()}


def _samples(run: Run, files: RunFiles, began: float, ended: float) -> dict[str, Points]:
    """What was sampled of the approach's container, also shortly before and after the load."""
    recorded = (read_record(files.metrics, MetricsLog) or MetricsLog()).containers

    def sampled(name: str, **labels: str) -> Points:
        own = select(recorded, f"container_{name}", service=run.approach, **labels)
        samples = max((one.samples for one in own), key=len, default=())
        times, values = np.reshape(without_resets(samples) if name.endswith("_total") else samples, (-1, 2)).T
        near = (began - BEFORE_S <= times) & (times <= ended + AFTER_S)
        return times[near] - began, values[near]

    (seconds, spent_s), (times, rss) = sampled("cpu_usage_seconds_total", cpu="total"), sampled("memory_rss")
    cpu = (seconds[1:], np.diff(spent_s) / np.diff(seconds))
    panels = {"cpu": cpu, "rss": (times, rss / 2**20), "threads": sampled("threads")}
    return {name: points for name, points in panels.items() if len(points[0])}


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
    axes.set_xlim(*_limits([value for _, value in known]))
    return drawing(axes, f"{figure.title} by approach at {load.label}, every repeat a dot")


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Of a scale that shows their differences: from 0 only where they go far down."""
    low, high = min(values), max(values)
    room = max((high - low) * 0.06, (low + high) / 2 * (math.sqrt(LEAST_SPAN) - 1) - (high - low) / 2, 1e-9)
    return 0 if low >= 0 and high > 3 * low else low - room, high + room


def effects(figure: Figure, comparisons: Sequence[Comparison], looks: Looks) -> Drawing | None:
    """Below the names of each pair a row for each load: each block a dot, the interval a bar, the equivalence margin a
    band."""
    by = figure.compared
    if by is None or not any(comparison.blocks for comparison in comparisons):
        return None
    rows: list[str | Comparison] = []
    for pair, own in grouped(comparisons, lambda one: f"{one.a} vs {one.b}").items():
        rows += [pair, *own]
    axes = new_axes(ROW_IN * len(rows) + EDGE_IN)
    beside = axes.get_yaxis_transform()
    for place, row in enumerate(rows):
        if isinstance(row, str):
            axes.text(0, place, _broken(row), transform=beside, va="center")
            continue
        if row.margin is not None:
            width = 1 + row.margin
            axes.fill_betweenx([place - 0.5, place + 0.5], 1 / width, width, color=SOFT, alpha=0.2, linewidth=0)
        axes.plot([row.even] * 2, [place - 0.5, place + 0.5], color=SOFT, linestyle="--", linewidth=1)
        if row.interval is not None:
            axes.plot(row.interval, [place] * 2, color=SOFT, linewidth=4, alpha=0.5)
        for block in row.blocks:
            dot(axes, block.effect, place, looks[row.a], "suspect" if block.suspect else "valid")
        if row.effect is not None:
            axes.plot([row.effect] * 2, [place - 0.35, place + 0.35], color=INK, linewidth=1.6)
        axes.text(1.02, place, effect_cell(row)[0], transform=beside, va="center")
    named_rows(axes, ["" if isinstance(row, str) else row.load for row in rows])
    unit = by.unit if by.by_difference else "%"
    axes.set_xlabel(f"← {by.less}{GAP}{figure.title}, {unit}{GAP}{by.more} →")
    reach = _reach(comparisons)
    axes.set_xscale("linear" if by.by_difference else "log")
    axes.set_xlim((-reach, reach) if by.by_difference else (math.exp(-reach), math.exp(reach)))
    title = f"{figure.title} compared, each block a dot, intervals as bars"
    return drawing(axes, title, lambda effect: signed(effect if by.by_difference else 100 * (effect - 1)))


def _reach(comparisons: Sequence[Comparison]) -> float:
    """How far the scale goes from equality: somewhat farther than the blocks, whatever the intervals are."""
    effects = [block.effect for comparison in comparisons for block in comparison.blocks]
    if comparisons[0].by_difference:
        return 1.2 * max(LEAST_DIFFERENCE, *map(abs, effects))
    return 1.2 * max(math.log(LEAST_SPAN), *(abs(math.log(effect)) for effect in effects))


def over_load(figure: Figure, loads: Sequence[LoadGroup], looks: Looks) -> Drawing | None:
    """A line through each approach's means and a dot for each run; None where fewer than two loads have the figure,
    or their units differ."""
    means = [(load.amount, name, spread(figure, load.counted(name))) for load in loads for name in looks]
    if len({amount for amount, _, mean in means if mean}) < 2 or len({load.unit for load in loads}) > 1:
        return None
    axes = new_axes(PLOT_IN)
    for name, look in looks.items():
        points = [(amount, mean.centre) for amount, own, mean in means if own == name and mean]
        places, centres = np.reshape(points, (-1, 2)).T
        trace(axes, (places, centres), name, look)
    known = [(load, run, value) for load in loads for run in load.runs if (value := figure.of(run)) is not None]
    for load, run, value in known:
        dot(axes, load.amount, value, looks[run.approach], run.verdict)
    axes.set_xscale("log")
    axes.set_xticks([load.amount for load in loads], [f"{load.amount:,g}" for load in loads])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(loads[0].unit)
    axes.set_title(figure.label)
    values = [value for *_, value in known]
    if min(values) > 0 and max(values) > 20 * min(values):
        axes.set_yscale("log")
    else:
        axes.set_ylim(*_limits(values))
    legend(axes)
    return drawing(axes, f"{figure.title} over load")


def distribution(load: LoadGroup, looks: Looks) -> Drawing | None:
    """Latency by percentile, each nine as wide as the one before: of an approach the mean of its runs, and a band from
    the lowest to the highest."""
    axes, every = new_axes(PLOT_IN), list[float]()
    for name, look in looks.items():
        runs = [run.latency_ms for run in load.counted(name)]
        levels = [level for level in LEVELS if runs and all(getattr(latency, level) for latency in runs)]
        if len(levels) < 2:
            continue
        places = [-math.log10(1 - LEVELS[level] / 100) for level in levels]
        values = np.array([[getattr(latency, level) for level in levels] for latency in runs])
        axes.fill_between(places, values.min(axis=0), values.max(axis=0), color=look.colour, alpha=0.2, linewidth=0)
        trace(axes, (np.array(places), values.mean(axis=0)), name, look, [len(places) - 1])
        every += [float(values.min()), float(values.max())]
    if not every:
        return None
    if max(every) > 4 * min(every):
        axes.set_yscale("log")
    axes.set_xticks([-math.log10(1 - percent / 100) for percent in TICKS], [f"p{percent:g}" for percent in TICKS])
    axes.set_title(f"latency at {load.label}, ms")
    legend(axes)
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
            trace(axes, course.panels[key], course.run.approach, looks[course.run.approach])
            for second in (0.0, course.load[1] - course.load[0]):
                axes.axvline(second, color=SOFT, linestyle=":", linewidth=0.6)
        axes.set_title(f"{title}, {unit}" if unit else title)
        axes.set_xlabel(f"seconds since the load began, {load.label}")
        axes.set_ylim(*_limits([value for course in measured for value in course.panels[key][1]]))
        legend(axes)
        drawn.append(drawing(axes, f"{title}, second by second, at {load.label}"))
    return drawn
