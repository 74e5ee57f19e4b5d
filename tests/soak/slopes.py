"""`python slopes.py READINGS`: prints the median of each figure of each container after the first third, and by how
much an hour it grew; exits with 1 where that is too much, or where a container did not live through it."""

import csv
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

from scipy.stats import theilslopes

MOST = 0.1  # an hour
EVERY_S = 30  # there is a reading of each container, at least
LEAST = {"memory": 32 << 20, "descriptors": 20, "threads": 20, "disk": 20 << 20}
"""Growth is a share of the median, or of this where that is less. The engine keeps 20 MiB of a container's log."""
BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def number(text: str) -> float:
    """Also of what docker stats tells of memory."""
    digits = text.rstrip("BKMGi")
    return float(digits) * BYTES[text.removeprefix(digits) or "B"]


def main(readings: Path) -> None:
    seen: dict[str, list[list[float]]] = defaultdict(list)
    with readings.open(encoding="utf-8") as source:
        for time, name, *figures in csv.reader(source, delimiter="\t"):
            seen[name].append([float(time), *map(number, figures)])
    times = sorted({one[0] for every in seen.values() for one in every})
    from_s = times[0] + (times[-1] - times[0]) / 3
    bad = False
    say(f"{'':32}" + "".join(f"{figure:>24}" for figure in LEAST))
    for name, every in sorted(seen.items()):
        moments, *columns = zip(*(one for one in every if one[0] >= from_s), strict=True)
        told = f"{name:32}"
        for values, least in zip(columns, LEAST.values(), strict=True):
            share = 3600 * float(theilslopes(values, moments).slope) / max(median(values), least) or 0.0
            told += f"{median(values):>15,.0f} {share:>+8.1%}"
            bad |= share >= MOST
        if every[0][0] > times[0] + EVERY_S or every[-1][0] < times[-1] - EVERY_S:
            told, bad = f"{told}  did not live through it", True
        say(told)
    sys.exit(bad)


main(Path(sys.argv[1]))
