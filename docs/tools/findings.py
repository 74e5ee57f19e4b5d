"""Whether the ratios in the pages are those of benchmarks/: `python findings.py LAB`, for make lint."""

import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

from loomlab.statistics.student import estimates

RATIO = re.compile(r"(\d+\.\d+) \[(\d+\.\d+), (\d+\.\d+)\]")
FIGURE = "CPU per request"
type Line = dict[str, Any]
type Ratio = tuple[float, float, float]
"""The mean, and the ends of its interval."""


def of_slices(lines: Sequence[Line]) -> Iterator[Ratio]:
    """Of each sweep, and of all that asked the same."""
    pooled = defaultdict[tuple[Any, ...], list[float]](list)
    for line in lines:
        for one in line["comparisons"]:
            if one["figure"] == FIGURE and one.get("low") is not None:
                yield one["effect"], one["low"], one["high"]
                alike = tuple(line.get(name) for name in ("what", "design")), one["a"], one["b"], one["load"]
                pooled[alike] += [math.log(block["effect"]) for block in one["blocks"]]
    yield from map(_ratio, pooled.values())


def of_waiting(lines: Sequence[Line]) -> Iterator[Ratio]:
    """Of any two sides, within rounds."""
    rounds = defaultdict[tuple[Any, ...], dict[str, float]](dict)
    for line in lines:
        rounds[line["series"], line["jdk"], line["clients"], line["round"]][line["side"]] = line["cpu_us_per_wait"]
    for a, b in permutations({line["side"] for line in lines}, 2):
        logs = [math.log(sides[a] / sides[b]) for sides in rounds.values() if {a, b} <= sides.keys()]
        if len(logs) > 2:
            yield _ratio(logs)


def _ratio(logs: Sequence[float]) -> Ratio:
    found = estimates(logs)
    mean, half = float(found.mean), float(found.half_width)
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def written(ratio: Ratio) -> Iterator[str]:
    """As a page may have it, either way up."""
    centre, low, high = ratio
    for digits in (2, 3):
        for one in (ratio, (1 / centre, 1 / high, 1 / low)):
            yield "{:.{d}f} [{:.{d}f}, {:.{d}f}]".format(*one, d=digits)


def main(lab: Path) -> None:
    folder = lab / "benchmarks"
    sources = {"slices.jsonl": of_slices, "waiting.jsonl": of_waiting}
    lines = {name: map(json.loads, (folder / name).read_text().splitlines()) for name in sources}
    known = {text for name, read in sources.items() for one in read([*lines[name]]) for text in written(one)}
    pages = [lab / "README.md", *(lab / "docs").rglob("*.md")]
    told = {
        (page.relative_to(lab), found[0])
        for page in pages
        for found in RATIO.finditer(" ".join(page.read_text().split()))
    }
    if len(told) < 10:
        sys.exit(f"The pages have only {len(told)} ratios: how are they written now?")
    if wrong := [f"{page}: {text}" for page, text in sorted(told) if text not in known]:
        sys.exit(f"No line of benchmarks/ gives {'; '.join(wrong)}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
