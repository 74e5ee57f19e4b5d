"""Files of papers: every kind of mistake."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from loomlab.answer.papers.library import load_paper, parse_paper
from loomlab.basics.errors import UsageError
from othervalues import VALUES, places
from paper import PAPER

PUBLISHED = Path(__file__).parent.parent / "published"
LOAD = "load: {scenarios: [soak], levels: [100, 200]}"
CLAIM = "claims:\n  - id: tail\n    says: a\n    place: [b]\n    decided_by: {kind: none, why: c}\n"


def test_the_file_the_mistakes_are_made_in_is_good() -> None:
    assert [cell.value for cell in parse_paper(PAPER, "good.yaml").cells()] == [310, 320.5]


MISTAKES: list[tuple[str, str, int, str]] = [
    ("author: A. Author\n", "", 1, "author"),
    ("title: A paper", "title: A paper\nname: x", 2, "name"),
    ("title: A paper", "title: ''", 1, "title is ''"),
    ("year: 2024", "year: soon", 4, "year is 'soon'"),
    ("year: 2024", "year: 1999", 4, "year is 1999"),
    ("  JDK: JDK 21", "  JDK: 21", 7, "setup.JDK is 21"),
    ("setup:\n  JDK: JDK 21", "setup: [JDK]", 6, "setup is ['JDK']"),
    ("unit: connections", "unit: threads", 8, "levels.unit is 'threads'"),
    ("[310, 320.5]", "[310]", 10, "tables.0"),
    ("[310, 320.5]", "[310, fast]", 15, "tables.0.rows.0.values.1 is 'fast'"),
    ("[310, 320.5]", "[310, .inf]", 15, "tables.0.rows.0.values.1 is inf"),
    ("unit: ms", "unit: [ms, ms, ms]", 15, "tables.0.rows.0"),
    ("unit: ms", "unit: KiB", 15, "tables.0.rows.0"),
    ("measured: latency_ms.p99", "measured: p99", 15, "measured.0 is 'p99'"),
    ("measured: latency_ms.p99", "measured: latency_ms", 15, "measured.0 is 'latency_ms'"),
    ("label: p99", "label: p99, columns: [x]", 15, "tables.0.rows.0"),
    ("    levels: [100, 200]\n    rows", "    levels: [100, 200]\n    columns: [x, y]\n    rows", 10, "tables.0"),
    (LOAD, "load: {levels: [100]}", 20, "claims.0.load"),
    (LOAD, "load: {tool: ab, endpoint: /x}", 20, "claims.0.load"),
    (LOAD, "load: {tool: wrk}", 20, "claims.0.load.tool is 'wrk'"),
    (f"    {LOAD}\n", "", 17, "claims.0"),
    ("kind: value, ", "", 21, "claims.0.decided_by"),
    ("kind: value", "kind: guess", 21, "claims.0.decided_by"),
    (", below: 400", "", 21, "claims.0.decided_by"),
    ("below: 400", "below: 400, above: 400", 21, "claims.0.decided_by"),
    ("below: 400", "below: 400, of: x", 21, "claims.0.decided_by.of"),
    ("figures: [latency_ms.p99]", "figures: []", 21, "decided_by.figures is []"),
    ("id: tail", "id: The Tail", 17, "claims.0.id is 'The Tail'"),
    (", levels: [100, 200]}\n    decided", ", per_cpu: true}\n    decided", 1, "the paper"),
    ("levels: {unit", "scale_per_cpu: {soak: 2}\nlevels: {unit", 8, "scale_per_cpu.soak is 2"),
    ("claims:\n", CLAIM, 1, "the paper"),
]


def refused(text: str) -> list[str]:
    with pytest.raises(UsageError) as error:
        parse_paper(text, "bad.yaml")
    return str(error.value).splitlines()


@pytest.mark.parametrize(("part", "mistake", "line", "where"), MISTAKES)
def test_a_mistake_is_told_with_file_line_field_and_value(part: str, mistake: str, line: int, where: str) -> None:
    assert PAPER.count(part) == 1

    said = [one for one in refused(PAPER.replace(part, mistake)) if one.startswith(f"bad.yaml, line {line}, ")]

    assert any(where in one for one in said)
    assert all(one.endswith(".") for one in said)


SHORT_SLOPE = PAPER.replace("kind: value", "kind: slope").replace(
    "levels: [100, 200]}\n    decided", "levels: [9]}\n    decided"
)


def test_what_is_allowed_is_told_in_the_approved_words(snapshot: SnapshotAssertion) -> None:
    texts = [PAPER.replace(part, mistake) for part, mistake, *_ in MISTAKES]

    assert "\n".join(line for text in [*texts, SHORT_SLOPE, "42"] for line in refused(text)) == snapshot


def test_a_slope_needs_two_levels() -> None:
    assert any("slope" in one for one in refused(SHORT_SLOPE))


@pytest.mark.parametrize("text", ["", "- a", "42"])
def test_what_is_no_mapping_is_told(text: str) -> None:
    (said,) = refused(text)

    assert said.startswith("bad.yaml, line 1: ")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("spring-boot", "spring-boot-edition"),
        ("virtual-threads", "virtual-threads-hey"),
        ("loom", "loom-vs-webflux"),
        ("§§§", "`make papers` lists them"),
        ("../scenarios/soak", "'../scenarios/soak'"),
        ("", "''"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest_ones(name: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        load_paper(PUBLISHED, name)

    assert said in str(error.value)


@given(where=st.integers(min_value=0), value=VALUES, remove=st.booleans())
def test_a_good_file_with_another_value_anywhere_is_a_paper_or_a_mistake(where: int, value: Any, remove: bool) -> None:
    changed = copy.deepcopy(yaml.safe_load(PAPER))
    every = list(places(changed))
    *path, last = every[where % len(every)]
    part: Any = changed
    for key in path:
        part = part[key]
    if remove:
        del part[last]
    else:
        part[last] = value

    try:
        paper = parse_paper(yaml.safe_dump(changed), "any.yaml")
    except UsageError as error:
        assert all(line.startswith("any.yaml") and line.endswith(".") for line in str(error).split("\n"))
        return
    assert paper.claims
