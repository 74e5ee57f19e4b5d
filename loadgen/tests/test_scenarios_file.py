"""Scenario files: those that are shipped, and every kind of mistake."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from loomlab.basics.errors import UsageError
from loomlab.plan.scenarios.file import load_scenario, parse_scenario
from loomlab.plan.scenarios.model import names
from othervalues import VALUES, places

SCENARIOS = Path(__file__).parent.parent / "scenarios"
RATE = """\
title: A rate
question: Does it load?
tool: vegeta
approaches: [tomcat-virtual]
requests:
  - get: /capabilities
load:
  shape: rate
  rate: 500/s
  connections: 1000
  duration: 60s
hangs:
  - at: 20s
    duration: 10s
"""
CLOSED = """\
title: A closed loop
question: Does it load?
tool: ab
approaches: [tomcat-virtual]
requests:
  - get: /capabilities
load:
  shape: closed
  connections: 1000
  requests_per_connection: 120
"""
LADDER = RATE.replace("shape: rate\n", "shape: rate-ladder\n").replace("rate: 500/s", "rates: [250/s, 500/s]")
LADDER = LADDER.replace("  duration: 60s\nhangs", "  step: 60s\nhangs")
SPIKE = RATE.replace("tool: vegeta", "tool: users").replace(
    "shape: rate\n  rate: 500/s\n  connections: 1000", "shape: smooth-spike\n  users: 9\n  think_time: 1s-3s"
)
MIXED = RATE.replace("- get: /capabilities", "- get: /a\n  - post: /b\n    body: b.json")
GOOD = {"RATE": RATE, "MIXED": MIXED, "CLOSED": CLOSED, "LADDER": LADDER, "SPIKE": SPIKE}


def refused(text: str) -> list[str]:
    with pytest.raises(UsageError) as error:
        parse_scenario(text, "bad.yaml")
    return str(error.value).splitlines()


@pytest.mark.parametrize("name", names(SCENARIOS))
def test_every_shipped_scenario_loads_with_the_bodies_it_sends(name: str) -> None:
    scenario = load_scenario(SCENARIOS, name)

    assert all((SCENARIOS / kind.body).is_file() for kind in scenario.requests if kind.body)


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_the_files_the_mistakes_are_made_in_are_good(text: str) -> None:
    assert parse_scenario(text, "good.yaml").repeats == 1


MISTAKES: list[tuple[str, str, str, int, str]] = [
    (RATE, "tool: vegeta", "tool: vegeta\nspeed: 9", 4, "speed"),
    (RATE, "rate: 500/s", "rate: 500/s\n  users: 3", 10, "load.users"),
    (RATE, "get: /capabilities", "put: /x", 6, "requests.0.put"),
    (RATE, "at: 20s", "after: 20s", 13, "hangs.0.after"),
    (RATE, "tool: vegeta", "tool: wrk", 3, "tool is 'wrk'"),
    (RATE, "[tomcat-virtual]", "[Tomcat]", 4, "approaches.0 is 'Tomcat'"),
    (RATE, "[tomcat-virtual]", "[]", 4, "approaches is []"),
    (RATE, "tool: vegeta", "tool: vegeta\njdk: 17", 4, "jdk is 17"),
    (RATE, "get: /capabilities", "get: capabilities", 6, "requests.0.get is 'capabilities'"),
    (RATE, "get: /capabilities", "post: /x", 6, "requests.0"),
    (RATE, "get: /capabilities", "get: /x\n    post: /y", 6, "requests.0"),
    (RATE, "get: /capabilities", "post: /x\n    body: ../x.json", 7, "body is '../x.json'"),
    (RATE, "rate: 500/s", "rate: 500", 9, "load.rate.0 is 500"),
    (RATE, "rate: 500/s", "rate: 500/m", 9, "load.rate.0 is '500/m'"),
    (RATE, "rate: 500/s", "rate: -500/s", 9, "load.rate.0 is '-500/s'"),
    (RATE, "rate: 500/s", "rate: 0/s", 9, "load.rate.0 is '0/s'"),
    (RATE, "rate: 500/s", "rate: [500/s, fast]", 9, "load.rate.1 is 'fast'"),
    (RATE, "  rate: 500/s\n", "", 7, "load.rate"),
    (RATE, "question: Does it load?\n", "", 1, "question"),
    (RATE, "  shape: rate\n", "", 7, "load"),
    (RATE, "shape: rate", "shape: ramp", 7, "load"),
    (RATE, "connections: 1000", "connections: 1k", 10, "connections.0 is '1k'"),
    (RATE, "connections: 1000", "connections: -1", 10, "connections.0 is -1"),
    (RATE, "connections: 1000", "connections: 1.5", 10, "connections.0 is 1.5"),
    (RATE, "connections: 1000", "connections: 1000001", 10, "is 1000001"),
    (RATE, "connections: 1000", "connections: []", 10, "load.connections is []"),
    (RATE, "duration: 60s", "duration: 60", 11, "load.duration is 60"),
    (RATE, "duration: 60s", "duration: 1h", 11, "load.duration is '1h'"),
    (RATE, "duration: 60s", "duration: 0s", 11, "load.duration is '0s'"),
    (RATE, "tool: vegeta", "tool: vegeta\ndelay: 300ms", 4, "delay is '300ms'"),
    (RATE, "tool: vegeta", "tool: vegeta\nrepeats: 0", 4, "repeats is 0"),
    (RATE, "tool: vegeta", "tool: vegeta\ntimeout: 0.5s", 4, "timeout is '0.5s'"),
    (RATE, "at: 20s", "at: 55s", 1, "the scenario"),
    (RATE, "at: 20s", "at: 50s", 1, "the scenario"),
    (RATE, "title: A rate", "title: 5", 1, "title is 5"),
    (RATE, "requests:\n  - get: /capabilities", "requests: /capabilities", 5, "requests is '/cap"),
    (RATE, "tool: vegeta", "tool: vegeta\nrepeats: 1\nrepeats: 2", 5, "repeats"),
    (RATE, "  rate: 500/s", "  rate: 500/s\n  rate: 600/s", 10, "rate"),
    (RATE, "  - get: /capabilities", "  - get: /a\n  - get: /a\n    get: /b", 8, "get"),
    (RATE, "tool: vegeta", "tool: ab", 1, "the scenario"),
    (RATE, "tool: vegeta", "tool: users", 1, "the scenario"),
    (CLOSED, "tool: ab", "tool: vegeta", 1, "the scenario"),
    (CLOSED, "- get: /capabilities", "- get: /a\n  - get: /b", 1, "the scenario"),
    (CLOSED, "connections: 1000", "connections: 1000\n  rate: 5/s", 10, "load.rate"),
    (LADDER, "[250/s, 500/s]", "[500/s, 250/s]", 9, "load.rates is ['500/s', '250/s']"),
    (LADDER, "[250/s, 500/s]", "[250/s, 250/s]", 9, "load.rates is ['250/s', '250/s']"),
    (LADDER, "[250/s, 500/s]", "[250/s]", 9, "load.rates is ['250/s']"),
    (LADDER, "tool: vegeta", "tool: users", 1, "the scenario"),
    (SPIKE, "1s-3s", "3s-1s", 10, "load.think_time is '3s-1s'"),
    (SPIKE, "1s-3s", "2s", 10, "load.think_time is '2s'"),
    (SPIKE, "tool: users", "tool: hey", 1, "the scenario"),
    (SPIKE, "tool: users", "tool: vegeta", 1, "the scenario"),
]


@pytest.mark.parametrize(("good", "part", "mistake", "line", "where"), MISTAKES)
def test_a_mistake_is_told_with_file_line_field_and_value(
    good: str, part: str, mistake: str, line: int, where: str
) -> None:
    assert good.count(part) == 1

    said = [one for one in refused(good.replace(part, mistake)) if one.startswith(f"bad.yaml, line {line}, ")]

    assert any(where in one for one in said)
    assert all(one.endswith(".") for one in said)


BOTH_LISTS = RATE.replace("rate: 500/s", "rate: [500/s, 600/s]").replace("connections: 1000", "connections: [1, 2]")


def test_what_is_allowed_is_told_in_the_approved_words(snapshot: SnapshotAssertion) -> None:
    texts = [good.replace(part, mistake) for good, part, mistake, *_ in MISTAKES]

    assert "\n".join(line for text in [*texts, BOTH_LISTS, "42", "title: ["] for line in refused(text)) == snapshot


def test_rates_and_connections_cannot_both_be_lists() -> None:
    (said,) = refused(BOTH_LISTS)

    assert said.startswith("bad.yaml, line 7, load: ")


def test_every_mistake_of_a_file_is_told_at_once() -> None:
    said = refused(RATE.replace("tool: vegeta", "tool: wrk").replace("500/s", "fast").replace("60s", "soon"))

    assert [one.split(":")[0] for one in said] == [
        "bad.yaml, line 3, tool is 'wrk'",
        "bad.yaml, line 9, load.rate.0 is 'fast'",
        "bad.yaml, line 11, load.duration is 'soon'",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [("title: [", 1), ("title: a\n\ttool: b", 2), ("a: b: c", 1), ("--- 1\n--- 2\n", 2), ("title: !secret x", 1)],
)
def test_what_is_no_yaml_is_told_with_its_line(text: str, line: int) -> None:
    (said,) = refused(text)

    assert said.startswith(f"bad.yaml, line {line}: ")


@pytest.mark.parametrize("text", ["", "# nothing", "- a\n- b", "42", "null"])
def test_what_is_no_mapping_is_told(text: str) -> None:
    (said,) = refused(text)

    assert said.startswith("bad.yaml, line 1: ")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("smoketset", "smoketest"),
        ("5k-vus-and-rps", "5k-vus-and-rps-get-time"),
        ("project-loom", "project-loom-comparison"),
        ("§§§", "`make scenarios` lists them"),
        ("../scenarios/soak", "'../scenarios/soak'"),
        ("", "''"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest_ones(name: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        load_scenario(SCENARIOS, name)

    assert said in str(error.value)


def parsed_or_refused(text: str) -> None:
    try:
        scenario = parse_scenario(text, "any.yaml")
    except UsageError as error:
        assert all(line.startswith("any.yaml") and line.endswith(".") for line in str(error).split("\n"))
        return
    assert scenario.approaches


@given(st.text() | st.lists(st.sampled_from([*RATE.splitlines(), *SPIKE.splitlines()])).map("\n".join))
@example("&a {title: *a}")
@example("[" * 1000)
@example("a: !!int ''")
@example("a: !!bool maybe")
@example("a: !!timestamp soon")
@example("a: 2001-99-99")
@example("? [a]\n: b")
@example("? !!str {=: a}\n: b")
@example("\x00")
@example("1: 2")
@example("<<: 3")
def test_any_text_is_a_scenario_or_a_mistake(text: str) -> None:
    parsed_or_refused(text)


@given(
    good=st.sampled_from([yaml.safe_load(text) for text in GOOD.values()]),
    where=st.integers(min_value=0),
    value=VALUES,
    remove=st.booleans(),
)
def test_a_good_file_with_another_value_anywhere_is_a_scenario_or_a_mistake(
    good: dict[str, Any], where: int, value: Any, remove: bool
) -> None:
    changed = copy.deepcopy(good)
    every = list(places(changed))
    *path, last = every[where % len(every)]
    part: Any = changed
    for key in path:
        part = part[key]
    if remove:
        del part[last]
    else:
        part[last] = value

    parsed_or_refused(yaml.safe_dump(changed))
