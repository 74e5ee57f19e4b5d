"""Charts as SVG, by matplotlib: their ink is the page's, and they stand alone on paper, too."""

import io
import itertools
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator, FixedLocator, LogLocator, NullFormatter

SHAPES = (("o", "●"), ("s", "■"), ("^", "▲"), ("D", "◆"), ("v", "▼"))  # as matplotlib calls them, and as text has them
WIDTH_IN = 5.0  # of every chart, so that text is as large in all of them, also on a phone
MOST_LETTERS = 40  # of a line of a name
INK, SOFT, GRID = "#1d2126", "#5a636d", "#e6e9ed"
ON_PAGE = {INK: f"var(--ink, {INK})", SOFT: f"var(--soft, {SOFT})", GRID: f"var(--grid, {GRID})"}
"""The page's colours, which are others in dark mode; a file of its own has none and takes the second."""
DOTS: dict[str, dict[str, Any]] = {
    "valid": {"markeredgecolor": INK},
    "suspect": {"markeredgecolor": INK, "alpha": 0.4},
    "invalid": {"markeredgecolor": "#b3261e", "markerfacecolor": "none"},
}
"""How the dot of a run looks, by its verdict."""
mpl.rc_file(Path(__file__).with_name("chart.mplstyle"))


@dataclass(frozen=True)
class Look:
    """An approach's, the same in every chart; shapes tell approaches apart where colours do not."""

    colour: str
    marker: str
    sign: str = ""


type Looks = Mapping[str, Look]


def looks(approaches: Sequence[str], recorded: Mapping[str, str]) -> dict[str, Look]:
    """One for each approach, in the colour that order.json has for it, or else one of matplotlib's."""
    shapes = itertools.cycle(SHAPES)
    return {
        name: Look(recorded.get(name) or to_hex(f"C{place}"), *next(shapes)) for place, name in enumerate(approaches)
    }


def axes(height_in: float) -> Axes:
    """The axes of a new chart."""
    return Figure(figsize=(WIDTH_IN, height_in)).subplots()


@dataclass(frozen=True)
class Drawing:
    """A finished chart."""

    title: str  # what a screen reader says
    svg: Markup

    @property
    def file(self) -> str:
        """A name for a file of its own."""
        head = self.title.partition(", ")[0].replace(",", "").lower()
        return re.sub(r"[^a-z0-9.]+", "-", head).strip("-.") + ".svg"


def drawing(chart: Axes, title: str) -> Drawing:
    """The finished chart."""
    figure, written = chart.figure, io.BytesIO()
    assert isinstance(figure, Figure)
    for axis in (chart.xaxis, chart.yaxis):
        if not isinstance(axis.get_major_locator(), FixedLocator):
            _plain_ticks(axis)
    figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    label = f'<svg role="img" aria-label="{Markup.escape(title)}" '
    text = label + written.getvalue().decode().partition("<svg ")[2]
    return Drawing(title, Markup(re.sub("|".join(ON_PAGE), lambda ink: ON_PAGE[ink[0]], text)))  # noqa: S704 - drawn here


def dot(chart: Axes, x: float, y: float, look: Look, verdict: str = "valid") -> None:
    """A run or a block, in its approach's colour and shape."""
    style = {"markerfacecolor": look.colour} | DOTS[verdict]
    chart.plot([x], [y], look.marker, markersize=5.5, markeredgewidth=0.7, **style)


def _plain_ticks(axis: Axis) -> None:
    """Ticks as people write them, at round numbers on a logarithmic axis, too."""
    if axis.get_scale() == "log":
        low, high = axis.get_view_interval()
        within = LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,))
        axis.set_major_locator(within if high > 8 * low else AutoLocator())
    axis.set_major_formatter(lambda value, _: f"{value:,.7g}")
    axis.set_minor_formatter(NullFormatter())


def _broken(name: str) -> str:
    """In lines that leave room for the chart."""
    return "\n".join(fill(line, MOST_LETTERS, break_on_hyphens=False) for line in name.splitlines())


def named_rows(chart: Axes, names: Sequence[str]) -> None:
    """A row for each name, from the top."""
    chart.set_yticks(range(len(names)), [_broken(name) for name in names])
    chart.set_ylim(len(names) - 0.5, -0.5)
    chart.grid(visible=False, axis="y")
    chart.tick_params(axis="y", labelcolor=INK)


def legend(chart: Axes, looks: Looks, names: Container[str]) -> None:
    """What each colour and shape is, below the chart; of these names alone."""
    handles = [
        chart.plot([], [], look.marker + "-", color=look.colour, markersize=5, label=_broken(name))[0]
        for name, look in looks.items()
        if name in names
    ]
    columns = max(1, 70 // (8 + max(len(name) for name in looks if name in names)))
    chart.figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=1.5, columnspacing=1.2)
