"""The commands that show whether the statistics keep their promise, and that put them into tables of benchmarks."""

import json
import math
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from loomlab.statistics.comparison import CONFIDENCE

COLUMNS = (
    "what disturbs the runs",
    "blocks",
    "coverage %",
    "half width %",
    "false words %",
    "false *no difference* %",
    "*lower*, of 0.8, %",
    "*no difference*, of equals, %",
    "promise missed, points",
)


def register(app: typer.Typer) -> None:
    """Adds the commands to the program."""
    app.command(name="simulate")(simulate)
    app.command(name="ratios")(ratios)


def simulate(
    draws: Annotated[int, typer.Option(min=100, help="Experiments a row.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same experiments.")] = 1,
) -> None:
    """Draw experiments whose truth is known, and print how often intervals and words hold."""
    from loomlab.statistics import promises  # noqa: PLC0415 - other commands start often, and without scipy

    _print_row(COLUMNS)
    _print_row([":--", *["--:"] * (len(COLUMNS) - 2), ":--"])
    for row in promises.rows(draws, seed):
        got = row.rates
        shares = (got.coverage, got.half_width, got.family_error, got.false_no_difference, got.lower, got.no_difference)
        figures = [f"{100 * share:.1f}" for share in shares]
        _print_row([row.world.title, str(row.blocks), *figures, "; ".join(got.missed) or "none"])
    print()  # noqa: T201
    for blocks in promises.BOOTSTRAPPED:
        coverage = promises.bootstrap_coverage(draws, blocks, seed)
        print(f"The percentile bootstrap covers {100 * coverage:.1f} % with {blocks} blocks, in the first of these.")  # noqa: T201
    for looks in promises.LOOKS:
        share = promises.looking(draws, seed, looks)
        told = ", ".join(map(str, looks))
        print(f"Looking at equals at {told} blocks finds a difference in {100 * share:.1f} % of the first of these.")  # noqa: T201


def ratios() -> None:
    """Print the texts of stdin, a JSON object a line: {0}, {1}, … of `text` stand for the lists of `ratios`, then for
    the pairs of `shares`, if there are any. Of ratios their geometric mean is told and, from three on, its 95 %
    interval; – where there are none. Of a share, how many of how many, with an exact 95 % interval (Clopper and
    Pearson 1934)."""
    for line in sys.stdin:
        told = json.loads(line)
        values = [_ratio(values) for values in told["ratios"]]
        print(told["text"].format(*values, *(_share(*pair) for pair in told.get("shares", []))))  # noqa: T201


def _ratio(values: Sequence[float]) -> str:
    from loomlab.statistics.student import estimates  # noqa: PLC0415 - as above

    if not values:
        return "–"
    found = estimates([math.log(value) for value in values])
    mean, half = float(found.mean), float(found.half_width)
    ends = "" if math.isnan(half) else f" [{math.exp(mean - half):.3f}, {math.exp(mean + half):.3f}]"
    return f"{math.exp(mean):.3f}{ends}"


def _share(count: int, of: int) -> str:
    from scipy.stats import binomtest  # noqa: PLC0415 - as above

    if not of:
        return "–"
    ends = binomtest(count, of).proportion_ci(CONFIDENCE, method="exact")
    return f"{count} of {of} [{100 * ends.low:.0f} to {100 * ends.high:.0f} %]"


def _print_row(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)  # noqa: T201
