"""A paper's charts over its levels, and its two by two: published beside measured, in the same style."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from loomlab.answer.papers.figures import unit_of
from loomlab.answer.papers.measured import KeptRun
from loomlab.answer.papers.model import Paper
from loomlab.answer.papers.own import Published
from loomlab.report.curves import Curve, Dot, curves_panel
from loomlab.report.dots import MARKS
from loomlab.report.figures import number
from loomlab.report.palette import Look
from loomlab.report.svg import WIDTH, Panel, Scale, bottom_axis, line, tag, text

TITLES = {
    "throughput_rps": ("throughput", "requests/s", 1.0),
    "cpu_seconds": ("CPU time", "s", 1.0),
    "cpu_share": ("CPU", "% of the approach's CPUs", 0.01),
    "cpu_ms_per_request": ("CPU per request", "ms", 1.0),
    "rss_max_bytes": ("RSS", "MiB", 2**20),
    "live_bytes_per_request.heap": ("heap of a waiting request", "KiB", 1024.0),
    "rss_hwm_bytes": ("RSS at most", "MiB", 2**20),
    "vsz_max_bytes": ("virtual memory", "GiB", 2**30),
    "threads_max": ("threads", "", 1.0),
    "latency_ms.mean": ("mean latency", "ms", 1.0),
}
"""Title, unit, and what a value is divided by."""
BAR, BAR_GAP, BAR_TOP, LABEL_WIDTH, BAR_END = 22, 12, 30, 70, 150


def level_panels(
    paper: Paper, runs: Sequence[KeptRun], looks: Mapping[str, Look]
) -> Iterator[tuple[Panel | None, Panel | None]]:
    """Of each figure that the paper draws: as published, None where it was not, and as measured."""
    for figure in paper.drawn.figures if paper.drawn else ():
        title, unit, divisor = TITLES.get(figure, (figure, unit_of(figure) or "", 1.0))
        label = f"{title}, {unit}" if unit else title
        published = {name: _published(paper, figure, name, divisor) for name in looks}
        here = {name: _measured(figure, [run for run in runs if run.approach == name], divisor) for name in looks}
        yield (
            _panel(
                f"{title} over load, as published", label, (paper.levels.values, paper.levels.unit), published, looks
            ),
            _panel(
                f"{title} over load, here",
                label,
                (sorted({run.amount for run in runs}), f"{paper.levels.unit}, scaled"),
                here,
                looks,
            ),
        )


def _panel(
    title: str, label: str, loads: tuple[Sequence[float], str], curves: Mapping[str, Curve], looks: Mapping[str, Look]
) -> Panel | None:
    drawn = {name: curve for name, curve in curves.items() if curve.dots}
    return curves_panel(title, label, loads, drawn, looks, straight=True) if drawn else None


def _published(paper: Paper, figure: str, approach: str, divisor: float) -> Curve:
    told = Published(paper)
    points = [
        (level, value / divisor) for level in paper.levels.values for value in told.values(figure, approach, level)
    ]
    return Curve([Dot(level, value, f"{approach}: {number(value)}") for level, value in points], [*points])


def _measured(figure: str, runs: Iterable[KeptRun], divisor: float) -> Curve:
    told = [(run, run.figures[figure] / divisor) for run in runs if figure in run.figures]
    dots = [Dot(run.amount, value, f"{run.run}: {number(value)}", MARKS[run.verdict]) for run, value in told]
    counted = [(run.amount, value) for run, value in told if run.verdict != "invalid"]
    amounts = sorted({amount for amount, _ in counted})
    return Curve(dots, [(amount, fmean(value for one, value in counted if one == amount)) for amount in amounts])


def two_by_two(paper: Paper, runs: Sequence[KeptRun], looks: Mapping[str, Look]) -> list[list[Panel | None]]:
    """How long each approach took, as published and here, two a row; a hollow bar was ended by requests that failed."""
    told, (level, *_) = Published(paper), paper.levels.values
    published = {name: told.values("duration_s", name, level) for name in looks}
    longest = max(
        [value for values in published.values() for value in values]
        + [run.figures.get("duration_s", 0.0) for run in runs],
        default=1.0,
    )
    scale = Scale(0, longest, LABEL_WIDTH, WIDTH - BAR_END)
    panels: list[Panel | None] = []
    named = dict.fromkeys(table.approach for table in paper.tables if table.approach in looks)
    for name in (str(one) for one in named):
        here = [run for run in runs if run.approach == name]
        failed = told.values("errors", name, level)
        panels.append(_bars(name, scale, (published[name], failed), here, looks[name]))
    return [panels[place : place + 2] for place in range(0, len(panels), 2)]


def _bars(
    name: str, scale: Scale, published: tuple[list[float], list[float]], runs: Sequence[KeptRun], look: Look
) -> Panel:
    bottom = BAR_TOP + 2 * (BAR + BAR_GAP)
    parts = [*bottom_axis(scale, BAR_TOP - 6, bottom, "seconds until the last request was over")]
    parts.append(text(2, 16, name, class_="row"))
    values = [run.figures["duration_s"] for run in runs if "duration_s" in run.figures]
    errors = [run.figures.get("errors", 0.0) for run in runs]
    others = {reason for run in runs for reason in run.failures} - {"time-out"}
    rows = (("published", *published, "timed out"), ("here", values, errors, "failed" if others else "timed out"))
    for place, (label, took, failed, how) in enumerate(rows):
        y = BAR_TOP + place * (BAR + BAR_GAP)
        parts.append(text(LABEL_WIDTH - 6, y + BAR / 2 + 4, label, "end"))
        if not took:
            parts.append(text(LABEL_WIDTH + 4, y + BAR / 2 + 4, "not measured", class_="axis"))
            continue
        count, seconds = fmean(failed) if failed else 0.0, fmean(took)
        width = scale.at(seconds) - scale.start
        colour = None if count else look.colour
        parts.append(
            tag(
                "rect",
                x=scale.start,
                y=y,
                width=width,
                height=BAR,
                fill=colour,
                class_="bar failed" if count else "bar",
            )
        )
        parts += [line(scale.at(one), y, scale.at(one), y + BAR, "centre") for one in took if len(took) > 1]
        said = f"{number(seconds)} s" + (f", {count:.0f} {how}" if count else "")
        parts.append(text(scale.at(max(took)) + 6, y + BAR / 2 + 4, said))
    return Panel(f"{name}: seconds, published and here", bottom + 36, parts)
