"""Panels side by side as one SVG file, which carries its own colours and fonts."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from loomlab.report.palette import Look
from loomlab.report.svg import WIDTH, Panel, mark, tag, text

GAP, HEAD, KEYS = 16, 20, 30
STYLE = """\
text { font: 11.5px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: #1d2126 }
.tick, .axis { fill: #5a636d } .tick { font-size: 10.5px } .head { font-weight: 600 }
.paper { fill: #ffffff } .grid { stroke: #e6e9ed } .centre { stroke: #1d2126; stroke-width: 2 }
.curve { fill: none; stroke-width: 1.75 } .curve.thin { stroke-width: 1 } .curve.dashed { stroke-dasharray: 4 3 }
.mark { stroke: #1d2126; stroke-width: .7 } .mark.suspect { fill-opacity: .35 }
.mark.invalid, .bar.failed { fill: none; stroke: #b3261e; stroke-dasharray: 3 2 }
"""
"""The page's own, in light colours: a file is seen where the page's style is not."""


def sheet(title: str, columns: Sequence[str], rows: Sequence[Sequence[Panel | None]], looks: Mapping[str, Look]) -> str:
    """`columns` are their headings; each row has a panel for each column, None where there is nothing to draw."""
    width = len(columns) * (WIDTH + GAP) + GAP
    parts = [tag("style", Markup(STYLE)), *_keys(looks)]  # noqa: S704 - ours
    top = float(KEYS + HEAD)
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


def _keys(looks: Mapping[str, Look]) -> list[Markup]:
    """What each colour and shape is."""
    parts, x = [], float(GAP)
    for name, look in looks.items():
        parts += [mark(x + 6, 14, look, ""), text(x + 16, 18, name)]
        x += 7 * len(name) + 34
    return parts
