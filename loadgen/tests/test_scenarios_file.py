"""Files of scenarios and of REQUESTS_FILE, and every kind of mistake in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loomlab.basics.errors import UsageError
from loomlab.plan.requests import targets_of
from loomlab.plan.scenarios import Scenario, load_scenario, rate_rps, seconds, span_seconds
from loomlab.records.files import parse
from ordered import SCENARIOS

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
LADDER = RATE.replace("shape: rate\n  rate: 500/s", "shape: rate-ladder\n  rates: [250/s, 500/s]")
LADDER = LADDER.replace("  duration: 60s\nhangs", "  step: 60s\nhangs")
SPIKE = RATE.replace(
    "shape: rate\n  rate: 500/s\n  connections: 1000", "shape: smooth-spike\n  users: 9\n  think_time: 1s-3s"
)
LISTS = "rate: [500/s, 600/s]\n  connections: [1, 2]"


def refused(text: str) -> list[str]:
    with pytest.raises(UsageError) as error:
        parse(text, "bad.yaml", Scenario, "load")
    return str(error.value).splitlines()


@pytest.mark.parametrize(
    ("good", "part", "mistake", "where"),
    [
        (RATE, "tool: vegeta", "tool: vegeta\nspeed: 9", "speed: "),
        (RATE, "rate: 500/s", "rate: 500/s\n  users: 3", "load.users: "),
        (RATE, "tool: vegeta", "tool: wrk", "tool is 'wrk': "),
        (RATE, "[tomcat-virtual]", "[]", "approaches is []: "),
        (RATE, "tool: vegeta", "tool: vegeta\njdk: 17", "jdk is 17: "),
        (RATE, "get: /capabilities", "get: capabilities", "requests.0.get is 'capabilities': "),
        (RATE, "get: /capabilities", "post: /x", "requests.0: use either get"),
        (RATE, "get: /capabilities", "post: /x\n    body: ../x.json", "body is '../x.json': "),
        (RATE, "rate: 500/s", "rate: 500", "load.rate.0 is 500: use a rate above 0"),
        (RATE, "  rate: 500/s\n", "", "load.rate: Field required"),
        (RATE, "shape: rate", "shape: ramp", "load: "),
        (RATE, "connections: 1000", "connections: 0", "connections.0 is 0: "),
        (RATE, "connections: 1000", "connections: 1000001", "is 1000001: "),
        (RATE, "rate: 500/s\n  connections: 1000", LISTS, "load: only one of rate and connections"),
        (RATE, "duration: 60s", "duration: 0s", "load.duration is '0s': "),
        (RATE, "at: 20s\n    duration: 10s", "at: 20s\n    duration: 61s", "hangs.0.duration is 61: "),
        (RATE, "tool: vegeta", "tool: vegeta\ndelay: 300ms", "delay is '300ms': "),
        (LADDER, "[250/s, 500/s]", "[250/s, 250/s]", "load.rates is ['250/s', '250/s']: "),
        (SPIKE, "1s-3s", "3s-1s", "load.think_time is '3s-1s': use two times"),
        (RATE, RATE, "title: a\n\ttool: b", "not YAML"),
        (RATE, RATE, "--- 1\n--- 2\n", "not YAML"),
        (RATE, RATE, "", "the file is None: "),
    ],
)
def test_a_mistake_is_told_with_file_field_and_value(good: str, part: str, mistake: str, where: str) -> None:
    assert parse(good, "good.yaml", Scenario, "load").repeats == 1
    assert good.count(part) == 1

    said = refused(good.replace(part, mistake))

    assert any(where in one for one in said)
    assert all(one.startswith("bad.yaml") and one.endswith(".") for one in said)


def test_every_mistake_of_a_file_is_told_at_once() -> None:
    said = refused(RATE.replace("tool: vegeta", "tool: wrk").replace("500/s", "fast").replace("60s", "soon"))

    assert [one.split(":")[0] for one in said] == [
        "bad.yaml, tool is 'wrk'", "bad.yaml, load.rate.0 is 'fast'", "bad.yaml, load.duration is 'soon'",
    ]  # fmt: skip


def test_aliases_are_refused_before_a_few_lines_become_millions() -> None:
    levels = (", ".join([f"*x{level - 1}"] * 9 if level else ["1"]) for level in range(6))
    (said,) = refused("\n".join(f"x{level}: &x{level} [{own}]" for level, own in enumerate(levels)) + "\ntitle: *x5")
    assert "aliases" in said


@pytest.mark.parametrize(("name", "said"), [("smoketset", "smoketest"), ("§§§", "`make scenarios` lists them")])
def test_an_unknown_name_is_told_with_the_nearest_ones(name: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        load_scenario(SCENARIOS, name)
    assert said in str(error.value)


@given(st.text() | st.lists(st.sampled_from([*RATE.splitlines(), *SPIKE.splitlines()])).map("\n".join))
@example("&a {title: *a}")
@example("[" * 1000)
@example("a: !!int ''")
@example("? [a]\n: b")
@example("? !!str {=: a}\n: b")
@example('load: {shape: "a\\nb"}')
def test_any_text_is_a_scenario_or_a_mistake(text: str) -> None:
    try:
        assert parse(text, "any.yaml", Scenario, "load").approaches
    except UsageError as error:
        assert all(line.startswith("any.yaml") and line.endswith(".") for line in str(error).split("\n"))


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (seconds, "300ms", 0.3), (seconds, "0s", 0), (seconds, "60s", 60), (seconds, "1.5m", 90),
        (span_seconds, "1s-3s", (1, 3)), (span_seconds, "0s-500ms", (0, 0.5)), (span_seconds, "2s-2s", (2, 2)),
        (rate_rps, "10000/s", 10_000), (rate_rps, "0.5/s", 0.5),
    ],
)  # fmt: skip
def test_times_and_rates_are_read_with_their_unit(read: Callable[[object], Any], text: str, value: Any) -> None:
    assert read(text) == value


MIX = """requests:
  - {get: "/orders/{id}?name={name}", values: ids.csv, weight: 2, headers: {Authorization: "Bearer ${TOKEN}"}}
  - {post: /orders, body: order.json}
"""


def written(folder: Path, mix: str = MIX, ids: str = "id,name\n1,a\n2,b\n3,c\n") -> Path:
    (folder / "ids.csv").write_text(ids)
    (folder / "order.json").write_text("{}")
    (folder / "mix.yaml").write_text(mix)
    return folder / "mix.yaml"


def test_rounds_have_as_many_of_each_as_it_weighs_and_rows_come_in_turn(tmp_path: Path) -> None:
    got = targets_of(written(tmp_path))

    assert [(one.method, one.target) for one in got] == [
        ("GET", "/orders/1?name=a"), ("GET", "/orders/2?name=b"), ("POST", "/orders"),
        ("GET", "/orders/3?name=c"), ("GET", "/orders/1?name=a"), ("POST", "/orders"),
    ]  # fmt: skip
    assert got[0].headers == ("Authorization: Bearer ${TOKEN}",)
    assert (got[0].body, got[2].body) == (None, tmp_path / "order.json")


@pytest.mark.parametrize(
    ("old", "new", "cure"),
    [
        ("weight: 2", "weight: 0", "weight is 0"),
        ("get: ", "put: ", "put: there is no such field"),
        (", body: order.json", "", "post with a path and a body"),
        ("body: order.json", "body: ../order.json", "body is '../order.json'"),
        ("body: order.json", "body: other.json", "there is no other.json beside it"),
        ("values: ids.csv", "values: other.csv", "there is no other.csv beside it"),
        ("{id}", "{number}", "ids.csv has no column number"),
        (", values: ids.csv", "", "no values name id"),
        ("${TOKEN}", "${TOKEN:-dev}", "Authorization is"),
        ("Authorization", "Host", "Host is what the load generator sends itself"),
    ],
)
def test_what_is_no_mix_is_refused_with_the_cure(old: str, new: str, cure: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        targets_of(written(tmp_path, MIX.replace(old, new)))
    assert cure in str(refused.value)


@pytest.mark.parametrize(
    ("ids", "cure"), [("id,name\n", "no rows"), ("id,name\n1\n", "other columns"), ("id,name\n1,a b\n", "encode")]
)
def test_values_that_no_path_takes_are_refused(ids: str, cure: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=cure):
        targets_of(written(tmp_path, ids=ids))
    with pytest.raises(UsageError, match=r"there is no none\.yaml"):
        targets_of(tmp_path / "none.yaml")


def test_ten_thousand_requests_are_the_most(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="use at most 10,000"):
        targets_of(written(tmp_path, ids="id,name\n" + "1,a\n" * 7000))
