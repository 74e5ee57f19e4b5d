"""Draws experiments whose truth is known, and prints how often intervals and words hold: `python simulate.py [DRAWS]`."""

import sys
from collections.abc import Sequence

import promises

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


def simulate(draws: int, seed: int = 1) -> None:
    """Prints a row for each kind of disturbance and number of blocks."""
    _print_row(COLUMNS)
    _print_row([":--", *["--:"] * (len(COLUMNS) - 2), ":--"])
    for row in promises.rows(draws, seed):
        got = row.rates
        shares = (got.coverage, got.half_width, got.family_error, got.false_no_difference, got.lower, got.no_difference)
        figures = [f"{100 * share:.1f}" for share in shares]
        _print_row([row.world.title, str(row.blocks), *figures, "; ".join(got.missed) or "none"])
    print()
    for blocks in promises.BOOTSTRAPPED:
        coverage = promises.bootstrap_coverage(draws, blocks, seed)
        print(f"The percentile bootstrap covers {100 * coverage:.1f} % with {blocks} blocks, in the first of these.")
    for looks in promises.LOOKS:
        share = promises.looking(draws, seed, looks)
        told = ", ".join(map(str, looks))
        print(f"Looking at equals at {told} blocks finds a difference in {100 * share:.1f} % of the first of these.")


def _print_row(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    simulate(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
