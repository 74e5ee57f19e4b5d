"""The report's charts."""

import math
from collections.abc import Mapping, Sequence

from loomlab.answer.figures import Figure, spread
from loomlab.answer.loads import LoadGroup
from loomlab.records.contrasts import Comparison
from loomlab.records.models import Latency, Run
from loomlab.report.chart import INK, SOFT, Drawing, axes, dot, drawing, legend, named_rows, plain_ticks, ratio_ticks
from loomlab.report.comparisons import effect_text, interval_text
from loomlab.report.course import PANELS, Course
from loomlab.report.palette import Look
from loomlab.report.phases import PHASES, Phase

ROW_IN, EFFECT_ROW_IN, EDGE_IN, PLOT_IN = 0.23, 0.42, 0.62, 3.0
LEAST_SPAN = 1.25
"""A scale spans so much at least, that chance does not look like a difference: of ratios, 0.8 to 1.25."""
LEAST_DIFFERENCE = 1.0
"""The same of differences, in their unit."""
PERCENTILES = (
    (50.0, "p50"), (66.0, "p66"), (75.0, "p75"), (80.0, "p80"), (90.0, "p90"), (95.0, "p95"), (98.0, "p98"),
    (99.0, "p99"), (99.9, "p99_9"),
)  # fmt: skip
TICKS = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)


def repeats(figure: Figure, at: LoadGroup, looks: Mapping[str, Look]) -> Drawing | None:
    """A row for each approach at one load, a dot for each run, a stroke at the mean; None: nothing was measured."""
    rows = [(name, [run for run in at.of(name) if figure.of(run) is not None]) for name in looks]
    rows = [(name, runs) for name, runs in rows if runs]
    if not rows:
        return None
    chart = axes(ROW_IN * len(rows) + EDGE_IN)
    values = []
    for place, (name, runs) in enumerate(rows):
        for run in runs:
            values.append(figure.of(run) or 0)
            dot(chart, values[-1], place, looks[name], run.verdict)
        centre = spread(figure, at.counted(name))
        if centre is not None and centre.count > 1:
            chart.plot([centre.centre] * 2, [place - 0.35, place + 0.35], color=INK, linewidth=1.6)
    named_rows(chart, [name for name, _ in rows])
    chart.set_xlabel(figure.label)
    low, high = min(values), max(values)
    room = max((high - low) * 0.06, (low + high) / 2 * (math.sqrt(LEAST_SPAN) - 1) - (high - low) / 2, 1e-9)
    chart.set_xlim(0 if low >= 0 and high > 3 * low else low - room, high + room)
    plain_ticks(chart, x=True)
    return drawing(chart, f"{figure.title} by approach at {at.label}, every repeat a dot")


def effects(figure: Figure, found: Sequence[Comparison], looks: Mapping[str, Look]) -> Drawing:
    """A row for each contrast at one load: the ratio or the difference of each block a dot, the interval a bar."""
    chart = axes(EFFECT_ROW_IN * len(found) + EDGE_IN)
    for place, one in enumerate(found):
        if one.interval is not None:
            chart.plot([one.interval.low, one.interval.high], [place] * 2, color=SOFT, linewidth=4, alpha=0.5)
        if one.effect is not None:
            chart.plot([one.effect] * 2, [place - 0.25, place + 0.25], color=INK, linewidth=1.6)
        for block in one.blocks:
            dot(chart, block.effect, place, looks[one.a], "suspect" if block.suspect else "valid")
    over = "less" if figure.by_difference else "÷"
    named_rows(chart, [f"{one.a} {over}\n{one.b}: {_told(one)}" for one in found])
    for label, one in zip(chart.get_yticklabels(), found, strict=True):
        label.set_color(INK if one.kind == "controlled" else SOFT)
    chart.axvline(found[0].even, color=SOFT, linestyle="--", linewidth=1)
    what, of = ("difference", f"in {figure.unit} of") if figure.by_difference else ("ratio", "of")
    chart.set_xlabel(f"{what} {of} {figure.title}")
    furthest = _furthest(found)
    if figure.by_difference:
        chart.set_xlim(-furthest, furthest)
    else:
        chart.set_xscale("log")
        chart.set_xlim(math.exp(-furthest), math.exp(furthest))
        ratio_ticks(chart)
    return drawing(chart, f"{what}s {of} {figure.title} at {found[0].load}, each block a dot, intervals as bars")


def _told(found: Comparison) -> str:
    if found.effect is None:
        return "no block"
    return f"{effect_text(found)} ({interval_text(found)})" if found.interval else effect_text(found)


def _furthest(found: Sequence[Comparison]) -> float:
    """How far the scale reaches from equality: as far as intervals, but at most twice as far as the blocks."""
    straight = found[0].unit is not None

    def far(effect: float) -> float:
        return abs(effect) if straight else abs(math.log(effect)) if 0 < effect < math.inf else math.inf

    least = LEAST_DIFFERENCE if straight else math.log(LEAST_SPAN)
    blocks = max([far(block.effect) for one in found for block in one.blocks] + [least])
    ends = [far(end) for one in found if one.interval for end in one.interval]
    return 1.06 * max(blocks, min(max(ends, default=0.0), 2 * blocks))


def over_load(figure: Figure, loads: Sequence[LoadGroup], looks: Mapping[str, Look]) -> Drawing | None:
    """A line through each approach's means and a dot for each run; None where fewer than two loads have the figure."""
    if sum(any(spread(figure, at.counted(name)) for name in looks) for at in loads) < 2:
        return None
    chart = axes(PLOT_IN)
    values = []
    for name, look in looks.items():
        means = [(at.amount, found.centre) for at in loads if (found := spread(figure, at.counted(name))) is not None]
        chart.plot(*zip(*means, strict=True), color=look.colour) if means else None
        for at in loads:
            for run in at.of(name):
                if (value := figure.of(run)) is not None:
                    values.append(value)
                    dot(chart, at.amount, value, look, run.verdict)
    chart.set_xscale("log")
    chart.set_xticks([at.amount for at in loads], [f"{at.amount:,g}" for at in loads])
    chart.set_xlabel(loads[0].unit)
    chart.set_title(figure.label)
    if min(values) > 0 and max(values) > 20 * min(values):
        chart.set_yscale("log")
    elif min(values) >= 0:
        chart.set_ylim(bottom=0)
    plain_ticks(chart, y=True)
    legend(chart, looks.items())
    return drawing(chart, f"{figure.title} over load")


def distribution(at: LoadGroup, looks: Mapping[str, Look]) -> Drawing | None:
    """Latency by percentile, a line for each run, each nine as wide as the one before; None where none was measured."""
    curves = [(run, points) for run in at.runs if len(points := _points(run.latency_ms)) > 1]
    if not curves:
        return None
    chart = axes(PLOT_IN)
    for run, points in curves:
        look = looks[run.approach]
        xs = [_nines(percent) for percent, _ in points]
        chart.plot(xs, [ms for _, ms in points], color=look.colour, linestyle="--" if run.verdict == "invalid" else "-")
        dot(chart, xs[-1], points[-1][1], look, run.verdict)
    values = [ms for _, points in curves for _, ms in points]
    if max(values) > 4 * min(values):
        chart.set_yscale("log")
    chart.set_xticks([_nines(percent) for percent in TICKS], [f"p{percent:g}" for percent in TICKS])
    chart.set_title(f"latency at {at.label}, ms")
    plain_ticks(chart, y=True)
    here = {run.approach for run, _ in curves}
    legend(chart, [(name, look) for name, look in looks.items() if name in here])
    return drawing(chart, f"latency by percentile at {at.label}")


def _points(latency: Latency) -> list[tuple[float, float]]:
    """Percentile and ms, of those that were measured."""
    told = [(percent, getattr(latency, name)) for percent, name in PERCENTILES]
    return [(percent, float(value)) for percent, value in told if value]


def _nines(percent: float) -> float:
    return -math.log10(1 - percent / 100)


def timeline(rows: Sequence[tuple[Run, Sequence[Phase]]]) -> Drawing | None:
    """A row for each run, in the order they were made, with its phases; None where nothing tells when."""
    starts = [phase.start for _, phases in rows for phase in phases]
    if not starts:
        return None
    chart = axes(ROW_IN * len(rows) + EDGE_IN + 0.4)
    for place, (_, phases) in enumerate(rows):
        for phase in phases:
            begin, length = (phase.start - min(starts)) / 60, (phase.end - phase.start) / 60
            chart.barh(place, length, 0.7, begin, color=PHASES[phase.kind].colour)
    named_rows(chart, [run.run for run, _ in rows])
    chart.set_xlabel("minutes since the first run began")
    legend(chart, [(one.means, Look(one.colour, "circle")) for one in PHASES.values()])
    return drawing(chart, "the runs over time, with their phases")


def courses(at: LoadGroup, found: Sequence[Course], looks: Mapping[str, Look]) -> list[Drawing]:
    """A chart for each figure that was recorded second by second: a line for each run at one load; dashed strokes are
    where loads began and ended."""
    drawn = []
    here = [one for one in found if one.run.cell == at.cell]
    for key, title, unit in PANELS:
        told = [one for one in here if one.panels.get(key)]
        if not told:
            continue
        chart = axes(PLOT_IN)
        for one in told:
            seconds, values = zip(*sorted(one.panels[key].items()), strict=True)
            chart.plot(seconds, values, color=looks[one.run.approach].colour, linewidth=1)
            for second in one.loaded:
                chart.axvline(second, color=SOFT, linestyle="--", linewidth=0.6)
        chart.set_title(f"{title}{f', {unit}' if unit else ''}")
        chart.set_xlabel(f"seconds since the load began, {at.label}")
        chart.set_ylim(bottom=0)
        plain_ticks(chart, y=True)
        names = {one.run.approach for one in told}
        legend(chart, [(name, look) for name, look in looks.items() if name in names])
        drawn.append(drawing(chart, f"{title}, second by second, at {at.label}"))
    return drawn
