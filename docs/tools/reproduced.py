"""results/reproduced.md, charts and table, from the runs that are kept: `python reproduced.py LOADGEN FOLDER`."""

import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from loomlab.published.answers import COLUMNS, answers_of, row_of
from loomlab.published.benchmark import Benchmark, Outcome, read_benchmarks
from loomlab.report.chart import INK, SOFT, Drawing, drawing, named_rows, new_axes

ROW_IN, EDGE_IN = 0.4, 0.75
COLOURS = {Outcome.REPRODUCED: "#1a7431", Outcome.NOT_REPRODUCED: "#b3261e"}
REACH = 1.15  # of a chart's scale, beyond all that it shows


def page_of(benchmarks: Sequence[Benchmark]) -> str:
    """The page, in Markdown, from the runs that the repository keeps."""
    templates = Environment(  # noqa: S701 - Markdown of the repository's own texts
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template("reproduced.md.jinja").render(
        answered=[(benchmark, answers_of(benchmark, benchmark.kept)) for benchmark in benchmarks],
        outcomes=[*Outcome],
    )


def table_of(benchmarks: Sequence[Benchmark]) -> str:
    """A row for each claim, with the figures that decide it, as CSV."""
    writer = csv.writer(table := io.StringIO(), lineterminator="\n")
    writer.writerow(("benchmark", *COLUMNS))
    for benchmark in benchmarks:
        writer.writerows((benchmark.name, *row_of(answer)) for answer in answers_of(benchmark, benchmark.kept))
    return table.getvalue()


def forest(benchmark: Benchmark) -> Drawing:
    """A row for each ratio that claims are about, at the load that decides, in the colour of the outcome."""
    deciding = [answer.deciding for answer in answers_of(benchmark, benchmark.kept) if answer.claim.to]
    rows = [finding for finding in deciding if finding and finding.centre]
    chart = new_axes(ROW_IN * len(rows) + EDGE_IN)
    for row, finding in enumerate(rows):
        colour = COLOURS.get(finding.outcome, SOFT)
        chart.plot([finding.low, finding.high], [row] * 2, color=colour, linewidth=4, alpha=0.5)
        chart.plot([finding.centre or 1], [row], "o", color=colour, markersize=5)
        chart.plot(finding.published, [row] * len(finding.published), "x", color=INK, markersize=6)
    named_rows(chart, [f"{finding.figure.rpartition('.')[2]} at {finding.level:,}\n{finding.of}" for finding in rows])
    chart.axvline(1, color=SOFT, linestyle="--", linewidth=1)
    chart.set_xscale("log")
    ratios = [ratio for finding in rows for ratio in (finding.low, finding.high, *finding.published)]
    chart.set_xlim(min([*ratios, 1 / REACH]) / REACH, max([*ratios, REACH]) * REACH)
    chart.set_xlabel("bar: here, cross: published")
    return drawing(chart, f"reproduced-{benchmark.name}")


def write(loadgen: Path, folder: Path) -> None:
    """Page and table into results/, charts into images/ of the folder."""
    benchmarks = read_benchmarks(loadgen / "published")
    (folder / "results" / "reproduced.md").write_text(page_of(benchmarks), encoding="utf-8")
    (folder / "results" / "reproduced.csv").write_text(table_of(benchmarks), encoding="utf-8")
    for chart in map(forest, benchmarks):
        (folder / "images" / chart.file).write_text(chart.svg, encoding="utf-8")


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:]))
