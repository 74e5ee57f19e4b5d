"""Figures over load, and how latency is distributed."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from loomlab.answer.loads import At
from loomlab.records.models import Latency
from loomlab.report.dots import MARKS
from loomlab.report.figures import Figure, number, spread
from loomlab.report.palette import Look
from loomlab.report.svg import WIDTH, Panel, Scale, drawing, left_axis, line, mark, path, scale_of, text

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 52, 12, 26, 38, 250
PERCENTILES = (
    (50.0, "p50"), (66.0, "p66"), (75.0, "p75"), (80.0, "p80"), (90.0, "p90"), (95.0, "p95"), (98.0, "p98"),
    (99.0, "p99"), (99.9, "p99_9"),
)  # fmt: skip
SHOWN = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)


@dataclass(frozen=True)
class Dot:
    """A value at a load; `class_` is how its verdict is drawn."""

    load: float
    value: float
    tip: str
    class_: str = "mark"


@dataclass(frozen=True)
class Curve:
    """Dots, and a line through `centres`, a value at each load."""

    dots: list[Dot]
    centres: list[tuple[float, float]]


def over_load(figure: Figure, loads: Sequence[At], looks: Mapping[str, Look]) -> Markup | None:
    """Lines through the geometric means, dots for the repeats; None where fewer than two loads have the figure."""
    if sum(any(spread(figure, at.counted(name)) for name in looks) for at in loads) < 2:
        return None
    curves = {name: _curve(figure, loads, name) for name in looks}
    amounts = [at.amount for at in loads]
    return curves_panel(f"{figure.title} over load", figure.label, (amounts, loads[0].unit), curves, looks).drawn


def _curve(figure: Figure, loads: Sequence[At], name: str) -> Curve:
    dots = [
        Dot(at.amount, value, f"{run.run}: {number(value)}", MARKS[run.verdict])
        for at in loads
        for run in at.of(name)
        if (value := figure.of(run)) is not None
    ]
    centres = [(at.amount, found.centre) for at in loads if (found := spread(figure, at.counted(name))) is not None]
    return Curve(dots, centres)


def curves_panel(
    title: str,
    label: str,
    loads: tuple[Sequence[float], str],
    curves: Mapping[str, Curve],
    looks: Mapping[str, Look],
    *,
    straight: bool = False,
) -> Panel:
    """`label` is that of the values, `loads` are all that there are, and their unit; `straight`: both scales are."""
    bottom = HEIGHT - BOTTOM
    xs = scale_of(loads[0], LEFT + 10, WIDTH - RIGHT - 10, log=not straight)
    values = [dot.value for curve in curves.values() for dot in curve.dots]
    wide = bool(values) and min(values) > 0 and max(values) > 20 * min(values)
    ys = scale_of(values, bottom, TOP, log=wide and not straight, zero=True)
    parts = [*left_axis(ys, LEFT, WIDTH - RIGHT, label), *_load_axis(xs, loads, bottom)]
    for name, curve in curves.items():
        if curve.centres:
            way = [(xs.at(load), ys.at(centre)) for load, centre in curve.centres]
            parts.append(path(way, "curve", looks[name].colour))
    parts += [
        mark(xs.at(dot.load), ys.at(dot.value), looks[name], dot.tip, dot.class_)
        for name, curve in curves.items()
        for dot in curve.dots
    ]
    return Panel(title, HEIGHT, parts)


def _load_axis(xs: Scale, loads: tuple[Sequence[float], str], bottom: float) -> list[Markup]:
    """The loads themselves, as far as their labels do not lie over one another."""
    parts, free = [text((xs.start + xs.end) / 2, bottom + 30, loads[1], "middle", "axis")], 0.0
    for amount in loads[0]:
        x = xs.at(amount)
        parts.append(line(x, TOP, x, bottom, "grid"))
        label = f"{amount:,g}"
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
    points = [(percent, float(value)) for percent, value in told if value is not None and value > 0]
    return points if all(one[1] <= other[1] for one, other in itertools.pairwise(points)) else []


def _rare(percent: float) -> float:
    """Each nine takes as much room as the one before."""
    first, last = -math.log10(0.5), -math.log10(0.001)
    share = (-math.log10(1 - percent / 100) - first) / (last - first)
    return LEFT + 10 + share * (WIDTH - RIGHT - LEFT - 26)
