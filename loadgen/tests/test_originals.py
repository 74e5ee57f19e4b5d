"""Figures are found at their place in a published text, and nowhere else."""

from pathlib import Path

import pytest

from loomlab.answer.papers.library import parse_paper
from loomlab.answer.papers.originals import Checked, Original, original_of
from loomlab.basics.errors import UsageError
from loomlab.cli import main
from paper import ORIGINAL, PAPER

ROW = "{label: p99, unit: ms, values: [310, 320.5], measured: latency_ms.p99}"


def checked(original: str, paper: str = PAPER) -> Checked:
    return Original(original).check(parse_paper(paper, "paper.yaml"))


def test_figures_are_found_below_their_place_with_their_line() -> None:
    found = checked(ORIGINAL)

    assert found.right
    assert (found.figures, found.matches, found.others) == (2, 2, 2)
    assert found.rows[0].lines == range(7, 8)


@pytest.mark.parametrize(
    ("part", "other", "there"),
    [
        ("320.5", "320.6", [310, 320.6]),
        ("320.5 |", "320.5 | 9 |", [310, 320.5, 9]),
        ("| 320.5", "", [310]),
        ("310", "31O", [320.5]),
        ("| p99 | 310", "| p98 | 310", []),
        ("### Tail", "### Middle", []),
        ("### Tail", "### The Tail of it", []),
    ],
)
def test_what_is_not_there_is_told_with_what_is(part: str, other: str, there: list[float]) -> None:
    found = checked(ORIGINAL.replace(part, other))

    assert not found.right
    assert [row.there for row in found.rows if not row.right] == [there]


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ("label: total, unit: s, values: [81]", "'total': ['00:01:21'],"),
        ("label: requests, unit: requests, values: [2400000]", "requests 2,400,000"),
        ("label: Took, columns: [all, last], unit: ms, values: [60000, 114.5]", "Took  [all, last]  1m0s, 114.5ms"),
        ('label: Latency, columns: ["50", "99"], unit: ms, values: [100.8, 163]', "Latency [50, 99] 100.8ms, 163ms"),
        ('label: "P90:", columns: [a, b], unit: ms, values: [193, 521]', "(P90: 193ms vs\n521ms, P99: 714ms)"),
        ("label: codes, columns: [code, count], unit: [code, answers], values: [200, 6]", "codes [code:count] 200:6"),
        ('label: "errors:", unit: requests, values: [77]', "errors:\n  [77] Get http://localhost:8080/x"),
        ('label: "3.114", unit: responses, values: [1]', "  3.114 [1]\t|■■■"),
        (
            "label: 5k-get, columns: [users, wait], unit: [users, ms], values: [5000, 100]",
            "[5k-get](#5k) | 5,000 | 100",
        ),
        ("label: slow, unit: s, values: [0.3]", "slow: 300ms"),
    ],
)
def test_figures_are_read_as_ps_go_markdown_and_prose_write_them(row: str, line: str) -> None:
    paper = PAPER.replace(ROW, f"{{{row}}}").replace("    levels: [100, 200]\n    rows", "    rows")
    found = checked(ORIGINAL.replace("| p99 | 310 | 320.5 |", line), paper)

    assert found.right, found.rows


def test_the_second_of_two_headings_alike_is_named_by_both() -> None:
    text = ORIGINAL + "### Tail\n| p99 | 7 | 8 |\n"
    twice = PAPER.replace("[Results, Tail]", "[Results, Tail, Tail]").replace("[310, 320.5]", "[7, 8]")

    assert checked(text, twice).right
    assert not checked(text, twice.replace("Tail, Tail", "Tail")).right


def test_a_row_between_others_that_is_not_kept_is_told() -> None:
    paper = PAPER.replace(ROW, ROW + "\n      - {label: max, unit: ms, values: [400, 500]}")
    found = checked(ORIGINAL + "| p99.9 | 330 | 340 |\n| max | 400 | 500 |\n", paper)

    assert found.left_out == ["line 8: | p99.9 | 330 | 340 |"]


def test_a_setting_a_picture_and_a_place_that_are_not_there_are_told() -> None:
    paper = PAPER.replace("JDK 21", "JDK 17").replace("place: [Results]\n", "place: [Summary]\n")
    paper += "pictures:\n  - {path: results/tail.png, shows: the tail}\n"

    assert checked(ORIGINAL, paper).missing == ["the place Summary", "JDK JDK 17", "the picture results/tail.png"]


def test_an_original_is_known_by_its_heading(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("# A paper, another one\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("9# A paper \nmore\n", encoding="utf-8")

    assert original_of(parse_paper(PAPER, "paper.yaml"), tmp_path).name == "b.txt"
    with pytest.raises(UsageError, match="begins with the heading 'Another'"):
        original_of(parse_paper(PAPER.replace("title: A paper", "title: Another"), "paper.yaml"), tmp_path)


@pytest.mark.parametrize(("value", "code"), [("320.5", 0), ("320.6", 1)])
def test_the_check_says_what_it_found_and_fails_for_what_it_did_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str, code: int
) -> None:
    for folder in ("papers", "originals"):
        (tmp_path / folder).mkdir()
    (tmp_path / "papers" / "small.yaml").write_text(PAPER.replace("below: 400", "below: 315"), encoding="utf-8")
    (tmp_path / "originals" / "a.md").write_text(ORIGINAL.replace("320.5", value), encoding="utf-8")

    with pytest.raises(SystemExit) as exit_:
        main(["check-papers", str(tmp_path / "originals"), "--papers-dir", str(tmp_path / "papers")])

    assert exit_.value.code == code
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"small: {2 - code} of 2 figures are in a.md"
    assert said[1] == f"  results, lines 7 to 7: {2 - code} of 2"
    wrong = "  NOT THERE 'p99', line 7: [310.0, 320.5] is kept, [310.0, 320.6] is there"
    assert (wrong in said) == bool(code)
    assert said[-1] == "  its own figures speak against tail: latency_ms.p99 of tomcat-virtual is 320.5 at 200"
