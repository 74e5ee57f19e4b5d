"""A paper's ratios, as published and as measured."""

from loomlab.published.answers import NOT_REPRODUCED, REPRODUCED, Answer, Part
from loomlab.published.page import Reproduced
from loomlab.report.chart import INK, SOFT, Drawing, axes, drawing, named_rows, ratio_ticks

ROW_IN, EDGE_IN = 0.4, 0.75
COLOURS = {REPRODUCED: "#1a7431", NOT_REPRODUCED: "#b3261e"}
REACH = 1.15
"""Of the scale, beyond all that it shows."""


def forest(one: Reproduced) -> Drawing:
    """A row for each ratio that claims are about, at the load that decides: a cross as published, a bar for the
    interval here, green where the claim is reproduced and red where it is not."""
    rows = [(answer, part) for answer in one.answers if answer.claim.of and (part := answer.deciding) and part.centre]
    chart = axes(ROW_IN * len(rows) + EDGE_IN)
    shown = [1 / REACH, REACH]
    for place, (answer, part) in enumerate(rows):
        colour = COLOURS.get(answer.outcome, SOFT)
        low, centre, high = (float(end or 1) for end in (part.low, part.centre, part.high))
        chart.plot([low, high], [place] * 2, color=colour, linewidth=4, alpha=0.5)
        chart.plot([centre], [place], "o", color=colour, markersize=5)
        chart.plot(part.published, [place] * len(part.published), "x", color=INK, markersize=6)
        shown += [low, high, *part.published]
    named_rows(chart, [_name(answer, part) for answer, part in rows])
    chart.axvline(1, color=SOFT, linestyle="--", linewidth=1)
    chart.set_xscale("log")
    chart.set_xlim(min(shown) / REACH, max(shown) * REACH)
    ratio_ticks(chart)
    chart.set_xlabel("bar: here, cross: published")
    return drawing(chart, f"reproduced-{one.published.name}")


def _name(answer: Answer, part: Part) -> str:
    figure = part.figure.removeprefix("latency_from_start_ms.").removeprefix("latency_ms.")
    return f"{figure} at {part.level:,}\n{answer.claim.of} ÷ {answer.claim.to}"
