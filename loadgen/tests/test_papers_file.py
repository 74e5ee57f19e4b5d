"""Files of papers: every kind of mistake."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from loomlab.answer.papers.library import load_paper, parse_paper
from loomlab.basics.errors import UsageError
from othervalues import VALUES, places
from paper import PAPER

PUBLISHED = Path(__file__).parent.parent / "published"
LOAD = "load: {scenarios: [soak], levels: [100, 200]}"
CLAIM = "claims:\n  - id: tail\n    says: a\n    place: [b]\n    decided_by: {kind: none, why: c}\n"


def test_the_file_the_mistakes_are_made_in_is_good() -> None:
    assert [cell.value for cell in parse_paper(PAPER, "good.yaml").cells()] == [310, 320.5]


MISTAKES: list[tuple[str, str, int, str, str]] = [
    ("author: A. Author\n", "", 1, "author", "the field is missing"),
    ("title: A paper", "title: A paper\nname: x", 2, "name", "use one of title, author, url, year"),
    ("title: A paper", "title: ''", 1, "title is ''", "use a text that is not empty"),
    ("year: 2024", "year: soon", 4, "year is 'soon'", "use a whole number"),
    ("year: 2024", "year: 1999", 4, "year is 1999", "use a number from 2018 on"),
    ("  JDK: JDK 21", "  JDK: 21", 7, "setup.JDK is 21", "use a text"),
    ("setup:\n  JDK: JDK 21", "setup: [JDK]", 6, "setup is ['JDK']", "use a mapping"),
    ("unit: connections", "unit: threads", 8, "levels.unit is 'threads'", "use one of 'connections', 'users' or"),
    ("[310, 320.5]", "[310]", 10, "tables.0", "the row 'p99' of 'results' has 1 values, not 2"),
    ("[310, 320.5]", "[310, fast]", 15, "tables.0.rows.0.values.1 is 'fast'", "use a number without a unit"),
    ("[310, 320.5]", "[310, .inf]", 15, "tables.0.rows.0.values.1 is inf", "use a finite number"),
    ("unit: ms", "unit: [ms, ms, ms]", 15, "tables.0.rows.0", "has 2 values and 3 of unit: give one, or 2"),
    ("unit: ms", "unit: KiB", 15, "tables.0.rows.0", "is in KiB, which cannot be turned into latency_ms.p99"),
    ("measured: latency_ms.p99", "measured: p99", 15, "measured.0 is 'p99'", "use a figure of run.json such as"),
    ("measured: latency_ms.p99", "measured: latency_ms", 15, "measured.0 is 'latency_ms'", "or one of error_share"),
    ("label: p99", "label: p99, columns: [x]", 15, "tables.0.rows.0", "has 2 values and 1 columns"),
    (
        "    levels: [100, 200]\n    rows",
        "    levels: [100, 200]\n    columns: [x, y]\n    rows",
        10,
        "tables.0",
        "either levels, or approaches, or have names",
    ),
    (LOAD, "load: {levels: [100]}", 20, "claims.0.load", "use either scenarios, or tool with endpoint and levels"),
    (LOAD, "load: {tool: ab, endpoint: /x}", 20, "claims.0.load", "a tool goes with endpoint and levels"),
    (LOAD, "load: {tool: wrk}", 20, "claims.0.load.tool is 'wrk'", "use one of 'ab'"),
    (f"    {LOAD}\n", "", 17, "claims.0", "the claim tail: a load goes with a ratio, a value or a slope"),
    ("kind: value, ", "", 21, "claims.0.decided_by", "the field kind is missing"),
    ("kind: value", "kind: guess", 21, "claims.0.decided_by", "the kind 'guess' is unknown, use one of 'ratio'"),
    (", below: 400", "", 21, "claims.0.decided_by", "give above, or below, or both"),
    ("below: 400", "below: 400, above: 400", 21, "claims.0.decided_by", "nothing is above 400 and below 400"),
    ("below: 400", "below: 400, of: x", 21, "claims.0.decided_by.of", "use one of above, below, kind, figures"),
    ("figures: [latency_ms.p99]", "figures: []", 21, "decided_by.figures is []", "use at least 1"),
    ("id: tail", "id: The Tail", 17, "claims.0.id is 'The Tail'", "use a text like"),
    (
        ", levels: [100, 200]}\n    decided",
        ", per_cpu: true}\n    decided",
        1,
        "the paper",
        "the claim tail is per_cpu: name the",
    ),
    ("levels: {unit", "scale_per_cpu: {soak: 2}\nlevels: {unit", 8, "scale_per_cpu.soak is 2", "use a number up to 1"),
    ("claims:\n", CLAIM, 1, "the paper", "there are two of the claim 'tail'"),
]


@pytest.mark.parametrize(("part", "mistake", "line", "where", "allowed"), MISTAKES)
def test_a_mistake_is_told_with_file_line_field_value_and_what_is_allowed(
    part: str, mistake: str, line: int, where: str, allowed: str
) -> None:
    assert PAPER.count(part) == 1

    with pytest.raises(UsageError) as error:
        parse_paper(PAPER.replace(part, mistake), "bad.yaml")

    said = next(one for one in str(error.value).splitlines() if allowed in one)
    assert said.startswith(f"bad.yaml, line {line}, ")
    assert where in said
    assert said.endswith(".")


def test_a_slope_needs_two_levels() -> None:
    text = PAPER.replace("kind: value", "kind: slope").replace(
        "levels: [100, 200]}\n    decided", "levels: [9]}\n    decided"
    )

    with pytest.raises(UsageError, match="a slope needs two levels at least"):
        parse_paper(text, "bad.yaml")


@pytest.mark.parametrize("text", ["", "- a", "42"])
def test_what_is_no_mapping_is_told(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_paper(text, "bad.yaml")

    assert str(error.value) == "bad.yaml, line 1: a paper is a mapping of fields such as title and claims."


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("spring-boot", "There is no paper 'spring-boot': the nearest are spring-boot-edition"),
        ("virtual-threads", "the nearest are virtual-threads-hey"),
        ("loom", "loom-vs-webflux"),
        ("§§§", "`make papers` lists them"),
        ("../scenarios/soak", "There is no paper"),
        ("", "There is no paper ''"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest_ones(name: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        load_paper(PUBLISHED, name)

    assert said in str(error.value)


@settings(max_examples=200, deadline=None)
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
