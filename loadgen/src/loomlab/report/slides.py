"""The page's plots as files of their own, for slides."""

import re
from collections.abc import Iterable, Mapping

from markupsafe import Markup

from loomlab.report.palette import Look
from loomlab.report.svg import MARK, WIDTH, box, mark, tag, text

ROW, COLUMN = 16, WIDTH / 2
VIEW = re.compile(r'<svg viewBox="0 0 [\d.]+ ([\d.]+)" role="img" aria-label="([^"]*)">(.*)</svg>', re.DOTALL)
VARIABLE = re.compile(r"--([a-z]+): ([^;]+);")
OWN = "svg { font-family: sans-serif; }\n.paper { fill: #ffffff; }\n"


def files_of(plots: Iterable[Markup], style: str, looks: Mapping[str, Look]) -> dict[str, str]:
    """By name. Variables of CSS, which few programs for slides know, are resolved; the approaches' marks are
    explained."""
    colours = dict(VARIABLE.findall(style))
    plain = re.sub(r"var\(--([a-z]+)\)", lambda found: colours[found[1]], style[style.index("}") + 1 :])
    files = {}
    for plot in plots:
        found = VIEW.fullmatch(plot)
        if found:
            inner = Markup(found[3])  # noqa: S704 - drawn by this program
            files[f"{_slug(found[2])}.svg"] = _whole(float(found[1]), inner, OWN + plain, looks)
    return files


def _slug(title: str) -> str:
    """Of what it says before any explanation."""
    return re.sub(r"[^a-z0-9.]+", "-", title.partition(", ")[0].replace(",", "").lower()).strip("-.")


def _whole(height: float, inner: Markup, style: str, looks: Mapping[str, Look]) -> str:
    legend = []
    for place, (name, look) in enumerate(looks.items()):
        x, y = 12 + COLUMN * (place % 2), height + 8 + ROW * (place // 2)
        legend += [mark(x, y, look, ""), text(x + 2 * MARK, y + 4, name)]
    whole = height + ROW * (1 + len(looks) // 2)
    drawn = tag(
        "svg",
        tag("style", Markup(style)),  # noqa: S704 - the page's own
        box(0, 0, WIDTH, whole, "paper"),
        inner,
        *legend,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {whole:g}",
        width=2 * WIDTH,
        height=2 * whole,
    )
    return f"{drawn}\n"
