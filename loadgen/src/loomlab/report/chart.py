"""Charts as SVG, by matplotlib: their ink is the page's, and they stand alone on paper, too."""

import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from loomlab.report.palette import Look

RATIOS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.67, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100)
MOST_TICKS = 8
WIDTH_IN = 5.0
"""Of every chart, so that text is as large in all of them, also on a phone."""
INK, SOFT, GRID = "#1d2126", "#5a636d", "#e6e9ed"
ON_PAGE = {
    INK: "var(--ink, #1d2126)",
    SOFT: "var(--soft, #5a636d)",
    GRID: "var(--grid, #e6e9ed)",
}
"""The page's colours, which are others in dark mode; a file of its own has none and takes the second."""
mpl.rcParams |= {
    "svg.fonttype": "none",
    "svg.hashsalt": "loom-lab",
    "font.family": "sans-serif",
    "font.size": 8.5,
    "axes.edgecolor": GRID,
    "axes.labelcolor": SOFT,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": GRID,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.frameon": False,
    "legend.fontsize": 8,
}
VERDICTS: dict[str, dict[str, Any]] = {
    "valid": {"markeredgecolor": INK},
    "suspect": {"markeredgecolor": INK, "alpha": 0.4},
    "invalid": {"markeredgecolor": "#b3261e", "markerfacecolor": "none"},
}
"""How the dot of a run looks."""


def axes(height_in: float) -> Axes:
    """The axes of a new chart."""
    found = Figure(figsize=(WIDTH_IN, height_in), layout="constrained").subplots()
    found.set_axisbelow(True)
    found.tick_params(length=0)
    return found


@dataclass(frozen=True)
class Drawing:
    """A finished chart; `title` is what a screen reader says."""

    title: str
    svg: Markup

    @property
    def file(self) -> str:
        """A name for a file of its own."""
        head = self.title.partition(", ")[0].replace(",", "").lower()
        return re.sub(r"[^a-z0-9.]+", "-", head).strip("-.") + ".svg"


def drawing(chart: Axes, title: str) -> Drawing:
    """The finished chart."""
    written = io.BytesIO()
    figure = chart.get_figure(root=True)
    assert figure is not None
    figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = written.getvalue().decode()
    label = f'<svg role="img" aria-label="{Markup.escape(title)}" '
    text = text[text.index("<svg ") :].replace("<svg ", label, 1)
    return Drawing(title, Markup(re.sub("|".join(ON_PAGE), lambda found: ON_PAGE[found[0]], text)))  # noqa: S704 - drawn here


def dot(chart: Axes, x: float, y: float, look: Look, verdict: str = "valid") -> None:
    """A run or a block, in its approach's colour and shape."""
    style = {"markerfacecolor": look.colour, "markeredgewidth": 0.7, "markersize": 5.5} | VERDICTS[verdict]
    chart.plot([x], [y], look.marker, **style)


def plain_ticks(chart: Axes, *, x: bool = False, y: bool = False) -> None:
    """Ticks as people write them, on logarithmic axes, too."""
    for wanted, axis in ((x, chart.xaxis), (y, chart.yaxis)):
        if wanted:
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.7g}"))
            axis.set_minor_formatter(NullFormatter())


def ratio_ticks(chart: Axes) -> None:
    """Round ratios within the limits of a logarithmic x axis, 1 and others that leave room for their labels."""
    low, high = map(math.log, chart.get_xlim())
    ticks: list[float] = []
    for ratio in sorted(RATIOS, key=lambda ratio: abs(math.log(ratio))):
        room = all(abs(math.log(ratio / tick)) >= (high - low) / MOST_TICKS for tick in ticks)
        if low <= math.log(ratio) <= high and room:
            ticks.append(ratio)
    chart.set_xticks(ticks)
    plain_ticks(chart, x=True)


def named_rows(chart: Axes, names: Sequence[str]) -> None:
    """A row for each name, from the top."""
    chart.set_yticks(range(len(names)), names)
    chart.set_ylim(len(names) - 0.5, -0.5)
    chart.grid(visible=False, axis="y")
    chart.tick_params(axis="y", labelcolor=INK)


def legend(chart: Axes, looks: Iterable[tuple[str, Look]]) -> None:
    """What each colour and shape is, below the chart."""
    every = [*looks]
    handles = [
        chart.plot([], [], look.marker + "-", color=look.colour, markersize=5, label=name)[0] for name, look in every
    ]
    figure = chart.get_figure(root=True)
    assert figure is not None
    columns = max(1, 70 // (8 + max(len(name) for name, _ in every)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=1.5, columnspacing=1.2)
