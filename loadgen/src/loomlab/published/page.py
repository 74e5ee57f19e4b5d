"""docs/reproduced.md and its charts: what five published experiments claim, and what the lab finds."""

import re
from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from loomlab.published.answers import ClaimAnswer, answers_of
from loomlab.published.paper import Claim, Outcome, Paper
from loomlab.report.chart import INK, SOFT, Drawing, axes, drawing, named_rows

COLUMNS = ("claim", "answer", "published", "here")
UNITS = {
    "_bytes$": (2**20, " MiB"),
    "_share$": (0.01, " %"),
    "^latency_|_ms_per_request$": (1, " ms"),
    "_s$": (1, " s"),
    "_rps$": (1, " requests/s"),
}
ROW_IN, EDGE_IN = 0.4, 0.75
COLOURS = {Outcome.REPRODUCED: "#1a7431", Outcome.NOT_REPRODUCED: "#b3261e"}
REACH = 1.15  # of a chart's scale, beyond all that it shows


def page_of(papers: Sequence[Paper]) -> str:
    """The page, in Markdown, from the runs that the repository keeps."""
    templates = Environment(  # noqa: S701 - Markdown of the repository's own texts
        loader=PackageLoader("loomlab.published"),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template("reproduced.md").render(
        answered=[(paper, answers_of(paper, paper.kept)) for paper in papers],
        outcomes=[*Outcome],
        columns=COLUMNS,
        row_of=row_of,
    )


def row_of(answer: ClaimAnswer) -> tuple[str, str, str, str]:
    """Claim and answer, what was published, and what was found that decides it."""
    claim, finding = answer.claim, answer.deciding
    if finding is None:
        return claim.says, answer.outcome, "", claim.untestable or ""
    published = " and ".join(_number(value, finding.figure, claim) for value in finding.published)
    if finding.centre is None:
        return claim.says, answer.outcome, published, finding.why
    of = f" of {finding.of}" if claim.to or len(claim.of) > 1 else ""
    load = f"{finding.level:,}" + (f" [{finding.amount:,g}]" if finding.amount != finding.level else "")
    ends = (finding.centre, finding.low, finding.high)
    middle, low, high = (_number(value, finding.figure, claim) for value in ends)
    interval = middle if low == high else f"{middle} ({low.split()[0]} to {high.split()[0]})"
    parts, alike = len(answer.findings), sum(other.outcome == answer.outcome for other in answer.findings)
    more = finding.why or (f"so in {alike} of {parts}" if parts > 1 else "")
    told = f"{finding.name}{of} at {load}: {interval}" + (f"; {more}" if more else "")
    return claim.says, answer.outcome, published, told


def _number(value: float, figure: str, claim: Claim) -> str:
    """A figure in a unit that people read, or a ratio."""
    if claim.to:
        return f"{value:.3g}"
    if claim.from_level:
        return f"{value / 1024:,.0f} KiB"
    divisor, unit = next((found for pattern, found in UNITS.items() if re.search(pattern, figure)), (1, ""))
    return f"{value / divisor:,.4g}{unit}"


def forest(paper: Paper) -> Drawing:
    """A row for each ratio that claims are about, at the load that decides, in the colour of the outcome."""
    deciding = [answer.deciding for answer in answers_of(paper, paper.kept) if answer.claim.to]
    rows = [finding for finding in deciding if finding and finding.centre]
    chart = axes(ROW_IN * len(rows) + EDGE_IN)
    for row, finding in enumerate(rows):
        colour = COLOURS.get(finding.outcome, SOFT)
        chart.plot([finding.low, finding.high], [row] * 2, color=colour, linewidth=4, alpha=0.5)
        chart.plot([finding.centre or 1], [row], "o", color=colour, markersize=5)
        chart.plot(finding.published, [row] * len(finding.published), "x", color=INK, markersize=6)
    named_rows(chart, [f"{finding.name} at {finding.level:,}\n{finding.of}" for finding in rows])
    chart.axvline(1, color=SOFT, linestyle="--", linewidth=1)
    chart.set_xscale("log")
    ratios = [ratio for finding in rows for ratio in (finding.low, finding.high, *finding.published)]
    chart.set_xlim(min([*ratios, 1 / REACH]) / REACH, max([*ratios, REACH]) * REACH)
    chart.set_xlabel("bar: here, cross: published")
    return drawing(chart, f"reproduced-{paper.name}")
