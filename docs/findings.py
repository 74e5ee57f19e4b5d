"""Whether the README's results are those of their pages: `python docs/findings.py LAB`, for make lint."""

import re
import sys
from html import unescape
from pathlib import Path

SIZE = r"([\d.]+ (?:%|KiB) (?:less|more|lower|higher))"
SPAN = r"95 % interval ([^()]+?), \d+ blocks"
RATIO = re.compile(r"([\d.]+) \[([\d.]+), ([\d.]+)\]")


def of_ratio(ratio: float, low: float, high: float) -> tuple[str, str]:
    """What a page says by a ratio alone, in the words of sentences."""
    word = "more" if ratio >= 1 else "less"
    middle, near, far = (f"{100 * abs(1 - one):.0f} %" for one in (ratio, low, high))
    if low < 1 < high:
        return f"{middle} {word}", f"{near} less to {far} more"
    ends = (near, far) if ratio >= 1 else (far, near)
    return f"{middle} {word}", f"{ends[0].removesuffix(' %')} to {ends[1]} {word}"


def missing(readme: str, report: str, ratios: str) -> list[str]:
    """Figures of the README's results that no sentence of the report and no ratio of the other page has: an interval
    alone, or a size with the interval that follows it in brackets."""
    found = " ".join(readme.partition("<!-- results -->")[2].partition("<!-- /results -->")[0].split())
    sentences = unescape(re.sub(r"<[^>]+>", " ", report))
    spans = set(re.findall(SPAN, sentences))
    told = set(re.findall(rf"{SIZE}[^()]*\((?:coarse )?{SPAN}", sentences))
    told |= {of_ratio(*map(float, ratio)) for ratio in RATIO.findall(ratios)}
    pairs = set(re.findall(rf"{SIZE}[^()\d]*\(([^()]*(?:less|more|lower|higher))\)", found))
    alone = {f"{low} to {high}" for low, high in re.findall(r"between (\d+ % less) and (\d+ % more)", found)}
    alone |= {f"{low} to {high}" for low, high in re.findall(r"between (\d+) and (\d+ % more)", found)}
    if len(pairs) < 5 or len(alone) < 3:
        return [f"only {len(pairs)} sizes and {len(alone)} intervals"]
    return sorted(alone - spans) + [f"{size} ({span})" for size, span in sorted(pairs - told)]


if __name__ == "__main__":
    lab = Path(sys.argv[1])
    pages = ("README.md", "docs/results/example-report/report.html", "docs/explanation/cost-per-request.md")
    if wrong := missing(*((lab / page).read_text() for page in pages)):
        sys.exit(f"README.md has figures that its pages do not have: {'; '.join(wrong)}.")
