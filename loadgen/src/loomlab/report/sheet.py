"""Panels side by side as one SVG file, which carries its own colours and fonts."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from loomlab.report.dots import MARKS
from loomlab.report.palette import Look
from loomlab.report.svg import WIDTH, Panel, mark, tag, text

GAP, HEAD, KEYS = 16, 20, 30
ANY = Look("#7f7f7f", "circle")
"""Of a key that stands for every approach."""
STYLE = """\
text { font: 11.5px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: #1d2126 }
.tick, .axis { fill: #5a636d } .tick { font-size: 10.5px } .head { font-weight: 600 }
.paper { fill: #ffffff } .grid { stroke: #e6e9ed } .centre { stroke: #1d2126; stroke-width: 2 }
.curve { fill: none; stroke-width: 1.75 } .curve.thin { stroke-width: 1 } .curve.dashed { stroke-dasharray: 4 3 }
.mark { stroke: #1d2126; stroke-width: .7 } .mark.suspect { fill-opacity: .35 }
.mark.invalid, .bar.failed { fill: none; stroke: #b3261e; stroke-dasharray: 3 2 }
.curve.invalid { stroke-dasharray: 4 3 }
.even { stroke: #5a636d; stroke-dasharray: 3 3 } .interval { stroke: #1d2126; stroke-width: 5; opacity: .35 }
.phase.start { fill: #c9ced5 } .phase.compile { fill: #e3b27c } .phase.settle { fill: #f0d9b5 }
.phase.edge { fill: #9cc3e6 } .phase.interior { fill: #2b6ca3 }
"""
"""The page's own, in light colours: a file is seen where the page's style is not."""

type Key = tuple[str, Look, str]
"""Its text, and the look and the class of its mark."""


def sheet(title: str, columns: Sequence[str], rows: Sequence[Sequence[Panel | None]], looks: Mapping[str, Look]) -> str:
    """`columns` are their headings; each row has a panel for each column, None where there is nothing to draw."""
    width = len(columns) * (WIDTH + GAP) + GAP
    drawn = "".join(str(part) for row in rows for panel in row if panel is not None for part in panel.parts)
    keys, below = _keys([*((name, look, MARKS["valid"]) for name, look in looks.items()), *_verdicts(drawn)], width)
    parts = [tag("style", Markup(STYLE)), *keys]  # noqa: S704 - ours
    top = below + HEAD
    parts += [text(GAP + place * (WIDTH + GAP), top - 6, name, class_="head") for place, name in enumerate(columns)]
    for row in rows:
        parts += [
            _placed(panel, GAP + place * (WIDTH + GAP), top) for place, panel in enumerate(row) if panel is not None
        ]
        top += max((panel.height for panel in row if panel is not None), default=0) + GAP
    paper = tag("rect", width=width, height=top, class_="paper")
    whole = tag(
        "svg",
        paper,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=top,
        viewBox=f"0 0 {width} {top:g}",
        role="img",
        aria_label=title,
    )
    return f"{whole}\n"


def _placed(panel: Panel, x: float, y: float) -> Markup:
    return tag("g", tag("title", panel.title), *panel.parts, transform=f"translate({x:g} {y:g})")


def _verdicts(drawn: str) -> list[Key]:
    """Of marks of runs that are not valid, where there are such."""
    marks = [(verdict, css) for verdict, css in MARKS.items() if verdict != "valid" and f'class="{css}"' in drawn]
    return [(f"{verdict} run", ANY, css) for verdict, css in marks]


def _keys(told: Sequence[Key], width: float) -> tuple[list[Markup], float]:
    """What each colour, shape and mark is, and where that ends."""
    parts, x, y = [], float(GAP), KEYS / 2
    for name, look, css in told:
        wide = 7 * len(name) + 34
        if x > GAP and x + wide > width:
            x, y = float(GAP), y + GAP
        parts += [mark(x + 6, y - 1, look, "", css), text(x + 16, y + 3, name)]
        x += wide
    return parts, y + KEYS / 2
