"""docs/example-report: its sentences are of its table, and the README's figures are those of its sentences."""

import csv
import re
from pathlib import Path

import pytest

LAB = next(path for path in (Path(__file__).parents[2], Path("/lab")) if (path / "docs" / "example-report").is_dir())
"""The checkout, or what tests/tools.sh mounts of it."""
EXAMPLE = LAB / "docs" / "example-report"
SUMMARY = (EXAMPLE / "summary.md").read_text()
COLUMNS = {
    "CPU per request": "cpu_ms_per_request", "p50 latency": "p50_ms", "p99 latency": "p99_ms",
    "throughput": "throughput_rps", "": "live_kib_per_request",
}  # fmt: skip
SIZE = r"([\d.]+) (%|KiB) (less|more|lower|higher)"
SENTENCE = re.compile(
    rf"at ([\d,]+) connections (?:a waiting request of )?([a-z-]+) (?:needs|has|holds) {SIZE} ?(.*?) than (?:one of )?"
    r"([a-z-]+) \(95 % interval (.+?), (\d+) blocks",
    re.IGNORECASE,
)
SAID = [match.groups() for match in SENTENCE.finditer(SUMMARY)]
UNRESOLVED = re.findall(
    r"Not resolved at ([\d,]+) connections: whether ([a-z-]+) needs less or more CPU per request than ([a-z-]+) "
    r"\(95 % interval (.+?), \d+ blocks",
    SUMMARY,
)
RATIO = re.compile(r'data-label="(p50|throughput)"><span>([\d.]+)<small>([\d.]+) to ([\d.]+)</small>')


with (EXAMPLE / "table.csv").open() as source:
    ROWS = {(row["load"], row["approach"]): row for row in csv.DictReader(source)}


def pair_of(said: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    load = said[0].replace(",", "")
    return ROWS[load, said[1]], ROWS[load, said[6]]


def ends(span: str) -> tuple[float, float]:
    """Of an interval in words, as ratios."""
    last = span.rpartition(" ")[2]
    signed = [
        int(size) * (1 if (word or last) == "more" else -1)
        for size, word in re.findall(r"(\d+)(?: % (less|more))?", span)
    ]
    low, high = sorted(1 + each / 100 for each in signed)
    return low, high


def of_table(said: tuple[str, ...]) -> bool:
    """Whether every run of the table is in a block that counts."""
    return {int(row["valid"]) + int(row["suspect"]) for row in pair_of(said)} == {int(said[8])}


def test_most_sentences_of_the_example_can_be_held_against_its_table() -> None:
    assert sum(map(of_table, SAID)) >= 6
    assert {said[5] for said in SAID} >= {"p99 latency", ""}
    assert len(UNRESOLVED) + sum(said[5] == "CPU per request" for said in SAID) == 4


@pytest.mark.parametrize(("load", "one", "other", "span"), UNRESOLVED)
def test_an_interval_that_resolves_nothing_holds_the_ratio_of_its_table(
    load: str, one: str, other: str, span: str
) -> None:
    left, right = (float(ROWS[load.replace(",", ""), name]["cpu_ms_per_request"]) for name in (one, other))
    low, high = ends(span)

    assert low < left / right < high


@pytest.mark.parametrize(
    ("span", "expected"),
    [("4 to 41 % more", (1.04, 1.41)), ("2 % less to 24 % more", (0.98, 1.24)), ("4 to 12 % less", (0.88, 0.96))],
)
def test_an_interval_in_words_has_two_ends(span: str, expected: tuple[float, float]) -> None:
    assert ends(span) == pytest.approx(expected)


@pytest.mark.parametrize(
    "said", [said for said in SAID if of_table(said)], ids=lambda said: f"{said[5] or 'memory'}, {said[1]} at {said[0]}"
)
def test_a_sentence_of_the_example_is_that_of_its_table(said: tuple[str, ...]) -> None:
    _, _, size, unit, word, figure, *_ = said
    one, other = pair_of(said)
    left, right = (float(row[COLUMNS[figure]]) for row in (one, other))
    apart = left - right if unit == "KiB" else 100 * (left / right - 1)

    assert abs(apart) == pytest.approx(float(size), abs=0.501 / 10 ** len(size.partition(".")[2]))
    assert (apart < 0) == (word in {"less", "lower"})


def spans_of_page() -> set[tuple[str, str]]:
    """What a page says by a ratio alone, in the words of sentences: sizes, and intervals that exclude equality."""
    found = set()
    for _, *figures in RATIO.findall((EXAMPLE / "report.html").read_text()):
        ratio, low, high = map(float, figures)
        middle, near, far = (f"{100 * abs(1 - one):.0f}" for one in (ratio, low, high))
        if high < 1:
            found.add((f"{middle} % lower", f"{far} to {near} % lower"))
        if low > 1:
            found.add((f"{middle} % higher", f"{near} to {far} % higher"))
    return found


def test_the_readmes_figures_are_those_of_the_sentences() -> None:
    found = (LAB / "README.md").read_text().partition("## What it found")[2].partition("## Try it")[0]
    answer = " ".join(found.split())
    told = {(f"{size} {unit} {word}", span) for _, _, size, unit, word, _, _, span, _ in SAID} | spans_of_page()
    spans = {span for _, span in told} | set(re.findall(r"interval ([^()]+?), \d+ blocks", SUMMARY))

    figures = re.findall(rf"({SIZE})[^()\d]*\(([^()]*(?:less|more|lower|higher))\)", answer)
    assert {(size, span) for size, _, _, _, span in figures} <= told
    assert len(figures) >= 5
    assert set(re.findall(r"\(([^()]*(?:less|more|lower|higher))\)", answer)) <= spans


def test_the_readmes_intervals_that_resolve_nothing_are_those_of_the_sentences() -> None:
    found = (LAB / "README.md").read_text().partition("- **CPU.**")[2].partition("- **Memory.**")[0]
    told = re.findall(
        r"between (\d+ % less) and (\d+ % more)|interval is (\d+) (to \d+ % more)", " ".join(found.split())
    )

    assert {" to ".join(both[:2]) if both[0] else " ".join(both[2:]) for both in told} == {
        span for _, _, _, span in UNRESOLVED
    }
