"""Every repeat a dot: figures by approach, and ratios within blocks."""

import math
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from loomlab.answer.comparisons import Held
from loomlab.answer.loads import At
from loomlab.report.comparisons import effect_text, interval_text, written
from loomlab.report.figures import Figure, number, spread
from loomlab.report.palette import Look
from loomlab.report.svg import LETTER, WIDTH, Scale, bottom_axis, drawing, line, mark, scale_of, shortened, text
from loomlab.statistics.comparison import Comparison

ROW, EFFECT_ROW, TOP, BOTTOM, EDGE = 17, 42, 6, 36, 12
LABEL_WIDTH = 128
LEAST_SPAN = 1.25
"""A scale spans so much at least, that chance does not look like a difference: of ratios, 0.8 to 1.25."""
LEAST_DIFFERENCE = 1.0
"""The same of differences, in their unit."""
MARKS = {"valid": "mark", "suspect": "mark suspect", "invalid": "mark invalid"}


def dots(figure: Figure, at: At, looks: Mapping[str, Look]) -> Markup | None:
    """One row an approach, at one load; a stroke marks the mean. None where nothing was measured."""
    rows = [(name, [run for run in at.of(name) if figure.of(run) is not None]) for name in looks]
    rows = [(name, runs) for name, runs in rows if runs]
    if not rows:
        return None
    values = [value for _, runs in rows for run in runs if (value := figure.of(run)) is not None]
    middle = (min(values) + max(values)) / 2
    scale = scale_of(
        [*values, middle / LEAST_SPAN**0.5, middle * LEAST_SPAN**0.5],
        LABEL_WIDTH,
        WIDTH - EDGE,
        zero=max(values) > 3 * min(values),
    )
    bottom = TOP + ROW * len(rows)
    parts = bottom_axis(scale, TOP, bottom, figure.label)
    for place, (name, runs) in enumerate(rows):
        y = TOP + ROW * (place + 0.5)
        parts.append(text(LABEL_WIDTH - 8, y + 4, shortened(name, LABEL_WIDTH - 8), "end"))
        centre = spread(figure, at.counted(name))
        if centre is not None and centre.count > 1:
            x = scale.at(centre.centre)
            parts.append(line(x, y - 7, x, y + 7, "centre"))
        parts += [
            mark(scale.at(value), y, looks[name], f"{run.run}: {number(value)} {figure.unit}", MARKS[run.verdict])
            for run in runs
            if (value := figure.of(run)) is not None
        ]
    return drawing(bottom + BOTTOM, f"{figure.title} by approach at {at.label}, every repeat a dot", parts)


def effect_rows(figure: Figure, held: Sequence[Held], looks: Mapping[str, Look]) -> Markup:
    """One row a contrast, at one load: the ratio or the difference of each block a dot, the interval a bar."""
    scale = _effect_scale([one.found for one in held])
    bottom = TOP + EFFECT_ROW * len(held)
    what, of = ("difference", f"in {figure.unit}") if figure.by_difference else ("ratio", "of")
    parts = [*bottom_axis(scale, TOP, bottom, f"{what} {of} {figure.title}")]
    even = scale.at(held[0].found.figure.even)
    parts.append(line(even, TOP, even, bottom, "even"))
    for place, one in enumerate(held):
        parts += _effect_row(one, scale, TOP + EFFECT_ROW * place, looks)
    load = held[0].found.pair.load
    title = f"{what}s {of} {figure.title} at {load}, each block a dot, intervals as bars"
    return drawing(bottom + BOTTOM, title, parts)


def _effect_row(held: Held, scale: Scale, top: float, looks: Mapping[str, Look]) -> Iterator[Markup]:
    found, y = held.found, top + 27
    figures = _figures(found)
    over = "less" if found.figure.unit else "÷"
    names = shortened(f"{found.pair.a} {over} {found.pair.b}", WIDTH - 2 * EDGE - LETTER * (len(figures) + 1))
    yield text(EDGE, top + 13, names, "start", "row" if held.kind == "controlled" else "stack")
    yield text(WIDTH - EDGE, top + 13, figures, "end", "axis")
    if found.interval is not None:
        low, high = (min(max(end, scale.low), scale.high) for end in (found.interval.low, found.interval.high))
        yield line(scale.at(low), y, scale.at(high), y, "interval")
    if found.effect is not None:
        yield line(scale.at(found.effect), y - 7, scale.at(found.effect), y + 7, "centre")
    for one in found.effects:
        told = f"block {one.block}: {written(found.figure, one.effect)}"
        yield mark(scale.at(one.effect), y, looks[found.pair.a], told)


def _figures(found: Comparison) -> str:
    if found.effect is None:
        return "no block"
    if found.interval is None:
        return effect_text(found)
    return f"{effect_text(found)} ({interval_text(found)})"


def _effect_scale(found: Sequence[Comparison]) -> Scale:
    """Of intervals, as much as is twice as far from equality as the furthest block: a coarse one may have no end."""
    straight = found[0].figure.unit is not None
    far = abs if straight else _log_distance
    least = LEAST_DIFFERENCE if straight else math.log(LEAST_SPAN)
    blocks = max([far(block.effect) for one in found for block in one.effects] + [least])
    wide = max([far(end) for one in found if one.interval for end in (one.interval.low, one.interval.high)] + [0.0])
    furthest = max(blocks, min(wide, 2 * blocks))
    ends = [-furthest, furthest] if straight else [math.exp(-furthest), math.exp(furthest)]
    return scale_of(ends, EDGE + 8, WIDTH - EDGE - 8, log=not straight)


def _log_distance(ratio: float) -> float:
    return abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf
