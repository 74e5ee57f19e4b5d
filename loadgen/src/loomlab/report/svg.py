"""Drawing with SVG: elements, scales, axes. Every text is escaped; colours and fonts are the page's, by class."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from loomlab.report.palette import Look

WIDTH = 420
"""Units of every drawing, so that text is as large in all of them, also on a phone."""
FEWEST_TICKS, MOST_TICKS = 3, 6
MARK = 4.0
LETTER = 6.4
"""How wide one is, on average and at most."""
CORNERS: dict[str, list[tuple[float, float]]] = {
    "square": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
    "triangle": [(0, -1), (1, 0.8), (-1, 0.8)],
    "down": [(0, 1), (1, -0.8), (-1, -0.8)],
    "diamond": [(0, -1.15), (1.15, 0), (0, 1.15), (-1.15, 0)],
}
Attribute = str | float | None


def tag(name: str, *children: str | Markup, **attributes: Attribute) -> Markup:
    """`class_` is `class`, `text_anchor` is `text-anchor`; None leaves an attribute out."""
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _value(value))
        for key, value in attributes.items()
        if value is not None
    )
    inner = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, inner)  # noqa: S704 - names are the caller's own


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def drawing(height: float, title: str, parts: Iterable[Markup]) -> Markup:
    """`title` is what a screen reader says."""
    return tag("svg", *parts, viewBox=f"0 0 {WIDTH} {_value(height)}", role="img", aria_label=title)


@dataclass(frozen=True)
class Panel:
    """A drawing that may stand by itself or beside others; `title` is what a screen reader says."""

    title: str
    height: float
    parts: list[Markup]

    @property
    def drawn(self) -> Markup:
        return drawing(self.height, self.title, self.parts)


def text(x: float, y: float, words: str, anchor: str = "start", class_: str | None = None) -> Markup:
    return tag("text", words, x=x, y=y, text_anchor=anchor, class_=class_)


def shortened(words: str, width: float) -> str:
    """So that it fits into that many units."""
    most = int(width / LETTER)
    return words if len(words) <= most else f"{words[: most - 1]}…"


def line(x1: float, y1: float, x2: float, y2: float, class_: str, colour: str | None = None) -> Markup:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_, stroke=colour)


def box(x: float, y: float, width: float, height: float, class_: str, tip: str | None = None) -> Markup:
    children = [] if tip is None else [tag("title", tip)]
    return tag("rect", *children, x=x, y=y, width=max(width, 0.5), height=height, class_=class_)


def path(points: Sequence[tuple[float, float]], class_: str, colour: str) -> Markup:
    way = "L".join(f"{_value(x)},{_value(y)}" for x, y in points)
    return tag("path", d=f"M{way}", class_=class_, stroke=colour)


def mark(x: float, y: float, look: Look, tip: str, class_: str = "mark") -> Markup:
    """A dot in the approach's colour and shape."""
    told = tag("title", tip) if tip else ""
    if look.shape == "circle":
        return tag("circle", told, cx=x, cy=y, r=MARK, fill=look.colour, class_=class_)
    size = MARK * 1.15
    points = " ".join(f"{_value(x + size * dx)},{_value(y + size * dy)}" for dx, dy in CORNERS[look.shape])
    return tag("polygon", told, points=points, fill=look.colour, class_=class_)


def key_of(look: Look) -> Markup:
    """The approach's dot for a legend or a table."""
    size = 3 * MARK
    return tag(
        "svg", mark(size / 2, size / 2, look, ""), viewBox=f"0 0 {size:g} {size:g}", class_="key", aria_hidden="true"
    )


@dataclass(frozen=True)
class Scale:
    """From values to places on the drawing; `log`: equal ratios take equal room."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        one, low, high = (self._straight(each) for each in (value, self.low, self.high))
        return self.start + (self.end - self.start) * (one - low) / (high - low)

    def _straight(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def ticks(self) -> list[float]:
        """Round values within the scale."""
        if not self.log:
            return _round_values(self.low, self.high)
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
            found = [digit * 10.0**power for power in powers for digit in digits]
            within = [value for value in found if self.low <= value <= self.high]
            if len(within) >= FEWEST_TICKS:
                return within if len(within) <= MOST_TICKS else within[:: math.ceil(len(within) / MOST_TICKS)]
        return _round_values(self.low, self.high)


def _round_values(low: float, high: float) -> list[float]:
    rough = (high - low) / (MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(digit * power for digit in (1, 2, 2.5, 5, 10) if digit * power >= rough * 0.999)
    return [step * count for count in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def scale_of(values: Iterable[float], start: float, end: float, *, log: bool = False, zero: bool = False) -> Scale:
    """With room at either end; `log` needs positive values; `zero` begins a straight scale there, or where a negative
    value is."""
    found = [value for value in values if value > 0 or not log] or [1.0]
    low, high = min(found), max(found)
    if log:
        room = max((high / low) ** 0.06, 1.02)
        return Scale(low / room, high * room, start, end, log=True)
    room = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return Scale(0.0 if zero and low >= 0 else low - room, high + room, start, end)


def _tick(value: float) -> str:
    return f"{value:,.7g}"


def bottom_axis(scale: Scale, top: float, bottom: float, label: str) -> list[Markup]:
    parts = []
    for tick in scale.ticks():
        parts.append(line(scale.at(tick), top, scale.at(tick), bottom, "grid"))
        parts.append(text(scale.at(tick), bottom + 14, _tick(tick), "middle", "tick"))
    return [*parts, text((scale.start + scale.end) / 2, bottom + 29, label, "middle", "axis")]


def left_axis(scale: Scale, left: float, right: float, label: str) -> list[Markup]:
    parts = []
    for tick in scale.ticks():
        parts.append(line(left, scale.at(tick), right, scale.at(tick), "grid"))
        parts.append(text(left - 5, scale.at(tick) + 4, _tick(tick), "end", "tick"))
    return [*parts, text(2, min(scale.start, scale.end) - 9, label, "start", "axis")]
