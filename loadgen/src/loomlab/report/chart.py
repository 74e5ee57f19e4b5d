"""Charts as SVG, by matplotlib: their ink is the page's, and they stand alone on paper, too."""

import io
import itertools
import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
OTHERS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C564B", "#7F7F7F", "#6A3D9A", "#F0E442")
"""For approaches whose colour the experiment did not record (Okabe and Ito, Color Universal Design, and two more)."""
SHAPES = (("o", "●"), ("s", "■"), ("^", "▲"), ("D", "◆"), ("v", "▼"))
"""As matplotlib calls them, and as text has them."""
RATIOS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.67, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100)
MOST_TICKS = 8
WIDTH_IN = 5.0
"""Of every chart, so that text is as large in all of them, also on a phone."""
INK, SOFT, GRID = "#1d2126", "#5a636d", "#e6e9ed"
ON_PAGE = {INK: f"var(--ink, {INK})", SOFT: f"var(--soft, {SOFT})", GRID: f"var(--grid, {GRID})"}
"""The page's colours, which are others in dark mode; a file of its own has none and takes the second."""
VERDICTS: dict[str, dict[str, Any]] = {
    "valid": {"markeredgecolor": INK},
    "suspect": {"markeredgecolor": INK, "alpha": 0.4},
    "invalid": {"markeredgecolor": "#b3261e", "markerfacecolor": "none"},
}
"""How the dot of a run looks."""
mpl.rc_file(Path(__file__).with_name("chart.mplstyle"))


@dataclass(frozen=True)
class Look:
    """An approach's, the same in every chart; shapes tell approaches apart where colours do not."""

    colour: str
    marker: str
    sign: str = ""

    @property
    def key(self) -> Markup:
        """For tables."""
        return Markup('<span class="key" style="color:{}">{}</span> ').format(self.colour, self.sign)


type Looks = Mapping[str, Look]


def looks(approaches: Sequence[str], recorded: Mapping[str, str]) -> dict[str, Look]:
    """One for each approach; `recorded` is what order.json has, of which what is no colour is not taken."""
    known = {name: recorded[name].upper() for name in approaches if COLOUR.fullmatch(recorded.get(name, ""))}
    free = itertools.cycle([colour for colour in OTHERS if colour not in known.values()] or OTHERS)
    shapes = zip(approaches, itertools.cycle(SHAPES))
    return {name: Look(known[name] if name in known else next(free), *shape) for name, shape in shapes}


def axes(height_in: float) -> Axes:
    """The axes of a new chart."""
    return Figure(figsize=(WIDTH_IN, height_in)).subplots()


@dataclass(frozen=True)
class Drawing:
    """A finished chart."""

    title: str
    """What a screen reader says."""
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
    figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    label = f'<svg role="img" aria-label="{Markup.escape(title)}" '
    text = label + written.getvalue().decode().partition("<svg ")[2]
    return Drawing(title, Markup(re.sub("|".join(ON_PAGE), lambda ink: ON_PAGE[ink[0]], text)))  # noqa: S704 - drawn here


def dot(chart: Axes, x: float, y: float, look: Look, verdict: str = "valid") -> None:
    """A run or a block, in its approach's colour and shape."""
    style = {"markerfacecolor": look.colour} | VERDICTS[verdict]
    chart.plot([x], [y], look.marker, markersize=5.5, markeredgewidth=0.7, **style)


def plain_ticks(chart: Axes, axis: str) -> None:
    """Ticks as people write them, on a logarithmic axis, too."""
    ticked = chart.xaxis if axis == "x" else chart.yaxis
    ticked.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.7g}"))
    ticked.set_minor_formatter(NullFormatter())


def ratio_ticks(chart: Axes) -> None:
    """Round ratios within the limits of a logarithmic x axis, 1 and others that leave room for their labels."""
    low, high = map(math.log, chart.get_xlim())
    ticks: list[float] = []
    for ratio in sorted(RATIOS, key=lambda ratio: abs(math.log(ratio))):
        room = all(abs(math.log(ratio / tick)) >= (high - low) / MOST_TICKS for tick in ticks)
        if low <= math.log(ratio) <= high and room:
            ticks.append(ratio)
    chart.set_xticks(ticks)
    plain_ticks(chart, "x")


def named_rows(chart: Axes, names: Sequence[str]) -> None:
    """A row for each name, from the top."""
    chart.set_yticks(range(len(names)), names)
    chart.set_ylim(len(names) - 0.5, -0.5)
    chart.grid(visible=False, axis="y")
    chart.tick_params(axis="y", labelcolor=INK)


def legend(chart: Axes, looks: Looks, names: Container[str]) -> None:
    """What each colour and shape is, below the chart; of these names alone."""
    handles = [
        chart.plot([], [], look.marker + "-", color=look.colour, markersize=5, label=name)[0]
        for name, look in looks.items()
        if name in names
    ]
    columns = max(1, 70 // (8 + max(len(name) for name in looks if name in names)))
    chart.figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=1.5, columnspacing=1.2)
