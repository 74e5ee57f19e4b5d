"""The page's plots as files of their own, for slides."""

import re
from collections.abc import Iterable, Mapping
from html import unescape

from markupsafe import Markup

from loomlab.report.palette import Look
from loomlab.report.sheet import sheet
from loomlab.report.svg import Panel

DRAWING = re.compile(r'<svg viewBox="0 0 [\d.]+ ([\d.]+)" role="img" aria-label="([^"]*)">(.*)</svg>', re.DOTALL)


def files_of(plots: Iterable[Markup], looks: Mapping[str, Look]) -> dict[str, str]:
    """By name."""
    files = {}
    for plot in plots:
        found = DRAWING.fullmatch(plot)
        if found:
            title = unescape(found[2])
            head = title.partition(", ")[0]
            panel = Panel(title, float(found[1]), [Markup(found[3])])  # noqa: S704 - drawn by this program
            files[f"{_slug(head)}.svg"] = sheet(title, [head], [[panel]], looks)
    return files


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", title.replace(",", "").lower()).strip("-.")
