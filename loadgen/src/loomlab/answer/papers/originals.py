"""Finds what a paper's file says in the original's text."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from loomlab.answer.papers.model import Paper, Row, Table
from loomlab.basics.errors import UsageError

QUANTITY = re.compile(
    r"""(?<![\w.])(?:
        (?P<hours>\d+):(?P<minutes>\d\d):(?P<seconds>\d\d)
      | (?:(?P<whole_minutes>\d+)m)?(?P<time>\d+(?:\.\d+)?)(?P<unit>ms|s)
      | (?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)
    )(?!\w)""",
    re.VERBOSE,
)
"""As ps, Go and Markdown tables write them: 00:01:21, 1m0s, 114.508ms, 2,400,000."""


@dataclass(frozen=True)
class Found:
    """A row, the lines that its figures stand on (None: its label, or its place, was not found) and what stands
    there."""

    table: str
    row: str
    lines: range | None
    wanted: list[float]
    there: list[float]

    @property
    def matches(self) -> int:
        """How many figures are there as they are kept."""
        same = (math.isclose(a, b, rel_tol=1e-12) for a, b in zip(self.wanted, self.there, strict=False))
        return sum(same)

    @property
    def right(self) -> bool:
        return self.matches == len(self.wanted) == len(self.there)


@dataclass(frozen=True)
class Checked:
    """`missing` are places, settings, machines and pictures that the text does not have; `left_out` are lines with
    figures between a table's first row and its last that no row has."""

    rows: list[Found]
    others: int
    missing: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def figures(self) -> int:
        return sum(len(row.wanted) for row in self.rows)

    @property
    def matches(self) -> int:
        return sum(row.matches for row in self.rows)

    @property
    def right(self) -> bool:
        return not self.missing and all(row.right for row in self.rows)


class Original:
    """A published text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.splitlines()

    def check(self, paper: Paper) -> Checked:
        """Looks for every figure at its place, and for all else that the file takes from the text."""
        rows: list[Found] = []
        left_out: list[str] = []
        for table in paper.tables:
            found = list(self._rows(table))
            rows += found
            left_out += self._left_out(found)
        places = [(f"the place {' / '.join(place)}", self._place(place) is not None) for place in _places(paper)]
        words = [*_words(paper)]
        others = places + [(what, self._after(text, 0) is not None) for what, text in words]
        return Checked(rows, len(others), [what for what, there in others if not there], left_out)

    def _rows(self, table: Table) -> Iterator[Found]:
        position = self._place(table.place)
        for row in table.rows:
            begin = None if position is None else self._after(row.label, position)
            if begin is None:
                yield Found(table.name, row.label, None, row.values, [])
            else:
                there, end = self._quantities(begin, row, row.columns or table.columns)
                yield Found(table.name, row.label, range(self._line(begin), self._line(end) + 1), row.values, there)
                position = end

    def _quantities(self, begin: int, row: Row, columns: list[str]) -> tuple[list[float], int]:
        """All of the label's line, and of those below as many as lack; the names of the columns may come first."""
        heading = self._after(f"[{', '.join(columns)}]", begin, adjoining=True)
        position = heading or begin
        line_end = self._line_end(position)
        there: list[float] = []
        for match in QUANTITY.finditer(self._text, position):
            if match.start() >= line_end and len(there) >= len(row.values):
                break
            there.append(_value(match, row.units[min(len(there), len(row.units) - 1)]))
            position = match.end()
        return there, position

    def _left_out(self, rows: list[Found]) -> Iterator[str]:
        covered = [row.lines for row in rows if row.lines]
        if not covered:
            return
        taken = {line for lines in covered for line in lines}
        for number in range(covered[0].start, covered[-1].stop):
            if number not in taken and QUANTITY.search(self._lines[number - 1]):
                yield f"line {number}: {self._lines[number - 1].strip()}"

    def _place(self, place: list[str]) -> int | None:
        """Behind the last of these lines, each sought below the one before; markup around them does not count."""
        position: int | None = 0
        for words in place:
            line = re.compile(rf"^(?:<\w+>|[^\w\n])*{_spaced(words)}(?:</\w+>|[^\w\n])*$", re.MULTILINE)
            match = line.search(self._text, position or 0)
            if match is None:
                return None
            position = match.end()
        return position

    def _after(self, words: str, position: int, *, adjoining: bool = False) -> int | None:
        """Behind the words; `adjoining`: only if nothing but space is before them."""
        if adjoining:
            match = re.compile(rf"\s*{_spaced(words)}").match(self._text, position)
        else:
            match = re.compile(rf"(?<!\w){_spaced(words)}").search(self._text, position)
        return match and match.end()

    def _line(self, position: int) -> int:
        return self._text.count("\n", 0, position) + 1

    def _line_end(self, position: int) -> int:
        end = self._text.find("\n", position)
        return len(self._text) if end < 0 else end


def original_of(paper: Paper, folder: Path) -> Path:
    """The file that begins with the paper's title; raises UsageError where there is none."""
    for path in sorted(path for path in folder.glob("*") if path.is_file()):
        with path.open(encoding="utf-8", errors="replace") as source:
            first = source.readline()
        if first.partition("# ")[2].strip() == paper.title:
            return path
    raise UsageError(
        f"No file in {folder} begins with the heading {paper.title!r}: give the folder with the originals."
    )


def _spaced(words: str) -> str:
    return r"\s+".join(map(re.escape, words.split()))


def _value(match: re.Match[str], unit: str) -> float:
    """Times in the row's unit, all else as it stands there."""
    if match["number"]:
        return float(match["number"].replace(",", ""))
    seconds: float
    if match["hours"]:
        seconds = int(match["hours"]) * 3600 + int(match["minutes"]) * 60 + int(match["seconds"])
    else:
        scale = 0.001 if match["unit"] == "ms" else 1.0
        seconds = int(match["whole_minutes"] or 0) * 60 + float(match["time"]) * scale
    return seconds * 1000 if unit == "ms" else seconds


def _places(paper: Paper) -> list[list[str]]:
    found = [*(one.place for one in paper.announced), *(one.place for one in paper.claims)]
    return [list(place) for place in dict.fromkeys(map(tuple, found))]


def _words(paper: Paper) -> Iterator[tuple[str, str]]:
    yield from ((f"the machine {one.name}", one.name) for one in paper.machines)
    yield from ((f"{what} {text}", text) for what, text in paper.setup.items())
    yield from ((f"the picture {one.path}", one.path) for one in paper.pictures)
