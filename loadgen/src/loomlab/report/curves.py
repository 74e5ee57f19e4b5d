"""Figures over load, and how latency is distributed."""

import itertools
import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from loomlab.answer.loads import At
from loomlab.records.models import Latency
from loomlab.report.dots import MARKS
from loomlab.report.figures import Figure, number, spread
from loomlab.report.palette import Look
from loomlab.report.svg import WIDTH, Scale, drawing, left_axis, line, mark, path, scale_of, text

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 52, 12, 26, 38, 250
PERCENTILES = (
    (50.0, "p50"), (66.0, "p66"), (75.0, "p75"), (80.0, "p80"), (90.0, "p90"), (95.0, "p95"), (98.0, "p98"),
    (99.0, "p99"), (99.9, "p99_9"),
)  # fmt: skip
SHOWN = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)


def over_load(figure: Figure, loads: Sequence[At], looks: Mapping[str, Look]) -> Markup | None:
    """Lines through the geometric means, dots for the repeats; None where fewer than two loads have the figure."""
    centres = {
        name: [(at, found.centre) for at in loads if (found := spread(figure, at.counted(name))) is not None]
        for name in looks
    }
    runs = [run for at in loads for run in at.runs if figure.of(run) is not None]
    if len({at.cell for points in centres.values() for at, _ in points}) < 2:
        return None
    bottom = HEIGHT - BOTTOM
    xs = scale_of([at.amount for at in loads], LEFT + 10, WIDTH - RIGHT - 10, log=True)
    values = [value for run in runs if (value := figure.of(run)) is not None]
    ys = scale_of(values, bottom, TOP, log=min(values) > 0 and max(values) > 20 * min(values), zero=True)
    parts = [*left_axis(ys, LEFT, WIDTH - RIGHT, figure.label), *_load_axis(xs, loads, bottom)]
    for name, points in centres.items():
        if points:
            parts.append(
                path([(xs.at(at.amount), ys.at(centre)) for at, centre in points], "curve", looks[name].colour)
            )
    parts += [
        mark(xs.at(at.amount), ys.at(value), looks[run.approach], f"{run.run}: {number(value)}", MARKS[run.verdict])
        for at in loads
        for run in at.runs
        if (value := figure.of(run)) is not None
    ]
    return drawing(HEIGHT, f"{figure.title} over load", parts)


def _load_axis(xs: Scale, loads: Sequence[At], bottom: float) -> list[Markup]:
    """The loads themselves, as far as their labels do not lie over one another."""
    parts, free = [text((xs.start + xs.end) / 2, bottom + 30, loads[0].unit, "middle", "axis")], 0.0
    for at in loads:
        x = xs.at(at.amount)
        parts.append(line(x, TOP, x, bottom, "grid"))
        label = f"{at.amount:,g}"
        if x - 4 * len(label) >= free:
            parts.append(text(x, bottom + 14, label, "middle", "tick"))
            free = x + 4 * len(label)
    return parts


def distribution(at: At, looks: Mapping[str, Look]) -> Markup | None:
    """Latency by percentile, a line a run; the further to the right, the rarer. None where none was measured."""
    curves = [(run, points) for run in at.runs if len(points := _points(run.latency_ms)) > 1]
    if not curves:
        return None
    bottom = HEIGHT - BOTTOM
    values = [value for _, points in curves for _, value in points]
    ys = scale_of(values, bottom, TOP, log=max(values) > 4 * min(values))
    parts = left_axis(ys, LEFT, WIDTH - RIGHT, "latency, ms")
    for percent in SHOWN:
        parts.append(line(_rare(percent), TOP, _rare(percent), bottom, "grid"))
        parts.append(text(_rare(percent), bottom + 14, f"p{percent:g}", "middle", "tick"))
    parts.append(text((LEFT + WIDTH) / 2, bottom + 30, "percentile", "middle", "axis"))
    for run, points in curves:
        way = [(_rare(percent), ys.at(value)) for percent, value in points]
        parts.append(path(way, "curve invalid" if run.verdict == "invalid" else "curve", looks[run.approach].colour))
    for run, points in curves:
        percent, value = points[-1]
        tip = f"{run.run}: p{percent:g} {number(value)} ms"
        parts.append(mark(_rare(percent), ys.at(value), looks[run.approach], tip, MARKS[run.verdict]))
    return drawing(HEIGHT, f"latency by percentile at {at.label}", parts)


def _points(latency: Latency) -> list[tuple[float, float]]:
    """Percentile and ms, as long as they are measurements that do not fall."""
    told = [(percent, getattr(latency, name)) for percent, name in PERCENTILES]
    points = [
        (percent, float(value)) for percent, value in told if value is not None and math.isfinite(value) and value > 0
    ]
    return points if all(one[1] <= other[1] for one, other in itertools.pairwise(points)) else []


def _rare(percent: float) -> float:
    """Each nine takes as much room as the one before."""
    first, last = -math.log10(0.5), -math.log10(0.001)
    share = (-math.log10(1 - percent / 100) - first) / (last - first)
    return LEFT + 10 + share * (WIDTH - RIGHT - LEFT - 26)
