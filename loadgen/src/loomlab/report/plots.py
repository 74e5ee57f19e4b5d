"""The report's charts; None in place of one where nothing was measured for it."""

import math
from collections.abc import Sequence

import numpy as np

from loomlab.answer.figures import Figure, spread
from loomlab.answer.loads import LoadGroup
from loomlab.records.contrasts import Comparison
from loomlab.records.requestlog import LEVELS
from loomlab.report import chart
from loomlab.report.chart import INK, SOFT, Drawing, Looks
from loomlab.report.course import PANELS, Course
from loomlab.report.experiment import effect_cell, with_interval

ROW_IN, EFFECT_ROW_IN, EDGE_IN, PLOT_IN = 0.23, 0.42, 0.62, 3.0
LEAST_SPAN = 1.25  # a scale spans so much at least, that chance does not look like a difference: of ratios, 0.8 to 1.25
LEAST_DIFFERENCE = 1.0  # the same of differences, in their unit
HEADROOM = 1.05
TICKS = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)


def repeats(figure: Figure, load: LoadGroup, looks: Looks) -> Drawing | None:
    """A row for each approach at one load, a dot for each run, a stroke at the mean."""
    known = [(run, value) for run in load.runs if (value := figure.of(run)) is not None]
    names = [name for name in looks if name in {run.approach for run, _ in known}]
    if not names:
        return None
    axes = chart.axes(ROW_IN * len(names) + EDGE_IN)
    for run, value in known:
        chart.dot(axes, value, names.index(run.approach), looks[run.approach], run.verdict)
    for row, name in enumerate(names):
        mean = spread(figure, load.counted(name))
        if mean is not None and mean.count > 1:
            axes.plot([mean.centre] * 2, [row - 0.35, row + 0.35], color=INK, linewidth=1.6)
    chart.named_rows(axes, names)
    axes.set_xlabel(figure.label)
    low, high = min(value for _, value in known), max(value for _, value in known)
    room = max((high - low) * 0.06, (low + high) / 2 * (math.sqrt(LEAST_SPAN) - 1) - (high - low) / 2, 1e-9)
    axes.set_xlim(0 if low >= 0 and high > 3 * low else low - room, high + room)
    return chart.drawing(axes, f"{figure.title} by approach at {load.label}, every repeat a dot")


def effects(figure: Figure, comparisons: Sequence[Comparison], looks: Looks) -> Drawing | None:
    """A row for each contrast at one load: the ratio or the difference of each block a dot, the interval a bar."""
    if not any(comparison.blocks for comparison in comparisons):
        return None
    axes = chart.axes(EFFECT_ROW_IN * len(comparisons) + EDGE_IN)
    for row, comparison in enumerate(comparisons):
        if comparison.interval is not None:
            axes.plot(comparison.interval, [row] * 2, color=SOFT, linewidth=4, alpha=0.5)
        if comparison.effect is not None:
            axes.plot([comparison.effect] * 2, [row - 0.25, row + 0.25], color=INK, linewidth=1.6)
        for block in comparison.blocks:
            chart.dot(axes, block.effect, row, looks[comparison.a], "suspect" if block.suspect else "valid")
    over = "less" if figure.by_difference else "÷"
    chart.named_rows(axes, [f"{one.a} {over}\n{one.b}: {with_interval(*effect_cell(one))}" for one in comparisons])
    for label, comparison in zip(axes.get_yticklabels(), comparisons, strict=True):
        label.set_color(INK if comparison.kind == "controlled" else SOFT)
    axes.axvline(comparisons[0].even, color=SOFT, linestyle="--", linewidth=1)
    what, of = ("difference", f"in {figure.unit} of") if figure.by_difference else ("ratio", "of")
    axes.set_xlabel(f"{what} {of} {figure.title}")
    reach = _reach(comparisons)
    axes.set_xscale("linear" if figure.by_difference else "log")
    axes.set_xlim((-reach, reach) if figure.by_difference else (math.exp(-reach), math.exp(reach)))
    load = comparisons[0].load
    return chart.drawing(axes, f"{what}s {of} {figure.title} at {load}, each block a dot, intervals as bars")


def _reach(comparisons: Sequence[Comparison]) -> float:
    """How far the scale goes from equality: as far as intervals, but at most twice as far as the blocks."""
    by_difference = comparisons[0].unit is not None

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
    axes = chart.axes(PLOT_IN)
    for name, look in looks.items():
        points = [(amount, mean.centre) for amount, own, mean in means if own == name and mean]
        axes.plot(*np.reshape(points, (-1, 2)).T, color=look.colour)
    known = [(load, run, value) for load in loads for run in load.runs if (value := figure.of(run)) is not None]
    for load, run, value in known:
        chart.dot(axes, load.amount, value, looks[run.approach], run.verdict)
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
    chart.legend(axes, looks, looks)
    return chart.drawing(axes, f"{figure.title} over load")


def distribution(load: LoadGroup, looks: Looks) -> Drawing | None:
    """Latency by percentile, a line for each run, each nine as wide as the one before."""
    drawn = [run for run in load.runs if sum(bool(getattr(run.latency_ms, name)) for name in LEVELS) > 1]
    if not drawn:
        return None
    axes, every = chart.axes(PLOT_IN), list[float]()
    for run in drawn:
        known = [(percent, ms) for name, percent in LEVELS.items() if (ms := getattr(run.latency_ms, name))]
        places, values = [_nines(percent) for percent, _ in known], [ms for _, ms in known]
        look, style = looks[run.approach], "--" if run.verdict == "invalid" else "-"
        axes.plot(places, values, style, color=look.colour)
        chart.dot(axes, places[-1], values[-1], look, run.verdict)
        every += values
    if max(every) > 4 * min(every):
        axes.set_yscale("log")
    axes.set_xticks([_nines(percent) for percent in TICKS], [f"p{percent:g}" for percent in TICKS])
    axes.set_title(f"latency at {load.label}, ms")
    chart.legend(axes, looks, {run.approach for run in drawn})
    return chart.drawing(axes, f"latency by percentile at {load.label}")


def _nines(percent: float) -> float:
    return -math.log10(1 - percent / 100)


def courses(load: LoadGroup, every: Sequence[Course], looks: Looks) -> list[Drawing]:
    """A chart for each figure recorded by the second, a line a run; dashed: where loads began and ended."""
    drawn = []
    for key, title, unit in PANELS:
        measured = [course for course in every if course.run.cell == load.cell and key in course.panels]
        if not measured:
            continue
        axes = chart.axes(PLOT_IN)
        for course in measured:
            axes.plot(*course.panels[key], color=looks[course.run.approach].colour, linewidth=1)
            started, ended = course.load
            for second in (0.0, ended - started):
                axes.axvline(second, color=SOFT, linestyle="--", linewidth=0.6)
        axes.set_title(f"{title}, {unit}" if unit else title)
        axes.set_xlabel(f"seconds since the load began, {load.label}")
        axes.set_ylim(0, HEADROOM * max(np.nanmax(course.panels[key][1]) for course in measured) or 1)
        chart.legend(axes, looks, {course.run.approach for course in measured})
        drawn.append(chart.drawing(axes, f"{title}, second by second, at {load.label}"))
    return drawn
