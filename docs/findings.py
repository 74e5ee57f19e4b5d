"""Whether the README's findings are those of docs/example-report: `python docs/findings.py LAB`, for make lint."""

import re
import sys
from pathlib import Path

SIZE = r"([\d.]+ (?:%|KiB) (?:less|more|lower|higher))"
RATIO = re.compile(r'data-label="(?:p50|throughput)"><span>([\d.]+)<small>([\d.]+) to ([\d.]+)</small>')


def of_ratio(ratio: float, low: float, high: float) -> tuple[str, str]:
    """What the page says by a ratio alone, in the words of sentences."""
    word, near, far = ("higher", low, high) if low > 1 else ("lower", high, low)
    middle, near, far = (100 * abs(1 - one) for one in (ratio, near, far))
    return f"{middle:.0f} % {word}", f"{near:.0f} to {far:.0f} % {word}"


def missing(readme: str, summary: str, page: str) -> list[str]:
    """Figures of "What it found" that no sentence and no ratio of the report has: an interval alone, or a size with the
    interval that follows it in brackets."""
    found = " ".join(readme.partition("## What it found")[2].partition("## Try it")[0].split())
    spans = set(re.findall(r"interval ([^()]+?), \d+ blocks", summary))
    told = set(re.findall(rf"{SIZE}[^()]*\((?:coarse )?95 % interval ([^()]+?), \d+ blocks", summary))
    told |= {of_ratio(*map(float, ratio)) for ratio in RATIO.findall(page)}
    pairs = set(re.findall(rf"{SIZE}[^()\d]*\(([^()]*(?:less|more|lower|higher))\)", found))
    alone = {f"{low} to {high}" for low, high in re.findall(r"between (\d+ % less) and (\d+ % more)", found)}
    alone |= set(re.findall(r"interval is (\d+ to \d+ % more)", found))
    if len(pairs) < 5 or len(alone) < 4:
        return [f"only {len(pairs)} sizes and {len(alone)} intervals"]
    return sorted(alone - spans) + [f"{size} ({span})" for size, span in sorted(pairs - told)]


if __name__ == "__main__":
    lab = Path(sys.argv[1])
    example = lab / "docs" / "example-report"
    texts = [file.read_text() for file in (lab / "README.md", example / "summary.md", example / "report.html")]
    if wrong := missing(*texts):
        sys.exit(f"README.md has figures that docs/example-report does not have: {'; '.join(wrong)}.")
