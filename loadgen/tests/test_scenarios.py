"""From scenarios to loads and plans: what was published, and what a scale and a DURATION change; files of scenarios and
of REQUESTS_FILE, and every kind of mistake in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loomlab.basics.errors import UsageError
from loomlab.plan.requests import targets_of
from loomlab.plan.scenarios import (
    FEWEST_PER_SPIKE,
    Scenario,
    hangs_of,
    load_scenario,
    names,
    rate_rps,
    scenario_loads,
    seconds,
    span_seconds,
)
from loomlab.records.files import parse
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Users, UserStage
from ordered import SCENARIOS, planned

OWN = [
    "cpu-work", "fan-out", "few-or-many-connections", "rate-ladder", "slow-backend", "soak",
]  # fmt: skip
CLOSED = {"shape": "closed", "connections": [1000, 5000], "requests_per_connection": 120}
RATE = {"shape": "rate", "rate": ["100/s", "300/s"], "connections": 50, "duration": "2m"}
LADDER = {"shape": "rate-ladder", "rates": ["250/s", "500/s", "1000/s"], "connections": 8000, "step": "60s"}
SMOOTH = {"shape": "smooth-spike", "users": 25_000, "think_time": "1s-3s", "duration": "5m"}
STEPS = [UserStage(users, lasts_s) for users in (6250, 12_500, 18_750, 25_000) for lasts_s in (18, 42)]
STEPPED = SMOOTH | {"shape": "stepped-spike"}


def scenario(load: dict[str, Any], **changes: Any) -> Scenario:
    fields = {
        "title": "A load", "question": "Does it load?", "tool": "users", "approaches": ["tomcat-virtual"],
        "requests": [{"get": "/capabilities"}], "load": load,
    }  # fmt: skip
    return Scenario.model_validate(fields | changes)


def loads(load: dict[str, Any], factor: float = 1.0, duration_s: int | None = None) -> list[Load]:
    return scenario_loads(scenario(load), Path("scenarios"), factor, duration_s)


def test_a_scenario_is_of_a_published_run_and_says_what_differs_or_is_the_labs_own() -> None:
    every = {name: load_scenario(SCENARIOS, name) for name in names(SCENARIOS)}

    assert [name for name, one in every.items() if one.published is None] == OWN
    assert all(one.published.run and one.published.differs for one in every.values() if one.published)
    schema = "# yaml-language-server: $schema=scenario.schema.json\n"
    assert all((SCENARIOS / f"{name}.yaml").read_text().startswith(schema) for name in every)


@pytest.mark.parametrize(
    ("load", "factor", "expected"),
    [
        (CLOSED, 1, [(1000, Closed(120_000, 3600)), (5000, Closed(600_000, 3600))]),
        (CLOSED, 0.02, [(20, Closed(2400, 3600)), (100, Closed(12_000, 3600))]),
        (CLOSED, 0.0001, [(1, Closed(120, 3600)), (1, Closed(120, 3600))]),
        (RATE, 0.5, [(25, OpenRate((RateStep(50, 120),))), (25, OpenRate((RateStep(150, 120),)))]),
        (
            RATE | {"rate": "500/s", "connections": [100, 5000]}, 0.1,
            [(10, OpenRate((RateStep(50, 120),))), (500, OpenRate((RateStep(50, 120),)))],
        ),
        (LADDER, 0.02, [(160, OpenRate((RateStep(5, 60), RateStep(10, 60), RateStep(20, 60))))]),
        (SMOOTH, 0.02, [(500, Users((UserStage(500, 240), UserStage(0, 60)), (1, 3)))]),
        (STEPPED, 1, [(25_000, Users((*STEPS, UserStage(0, 60)), (1, 3)))]),
    ],
)  # fmt: skip
def test_a_scale_changes_connections_rates_and_users(load: dict[str, Any], factor: float, expected: list[Any]) -> None:
    assert [(one.connections, one.shape) for one in loads(load, factor)] == expected


@pytest.mark.parametrize("load", [CLOSED, RATE, LADDER, SMOOTH, STEPPED], ids=lambda load: str(load["shape"]))
def test_a_duration_replaces_the_scenarios_and_steps_share_it_without_its_remainder(load: dict[str, Any]) -> None:
    assert {one.shape.duration_s for one in loads(load, duration_s=32)} == {30 if load is LADDER else 32}
    assert {one.shape.duration_s for one in loads(load)} == {scenario(load).load.duration}


@given(shape=st.sampled_from([SMOOTH, STEPPED]), lasts_s=st.integers(FEWEST_PER_SPIKE, 4000), factor=st.floats(1e-4, 1))
def test_the_stages_of_a_spike_fill_its_duration(shape: dict[str, Any], lasts_s: int, factor: float) -> None:
    (load,) = loads(shape, factor, lasts_s)

    assert isinstance(load.shape, Users)
    assert load.shape.duration_s == lasts_s
    assert min(stage.duration_s for stage in load.shape.stages) >= 1
    *rise, last = (stage.users for stage in load.shape.stages)
    assert rise == sorted(rise)
    assert last == 0


@pytest.mark.parametrize(
    ("load", "lasts_s", "cure"),
    [(LADDER, 23, "use 24s or more"), (SMOOTH, 15, "use 16s or more"), (STEPPED, 15, "use 16s or more")],
)
def test_a_duration_too_short_for_the_shape_is_refused(load: dict[str, Any], lasts_s: int, cure: str) -> None:
    with pytest.raises(UsageError, match=f"DURATION={lasts_s}s is too short .*: {cure}"):
        loads(load, duration_s=lasts_s)
    assert loads(load, duration_s=lasts_s + 1)


@pytest.mark.parametrize(
    ("load", "lasts_s", "at_s"),
    [(RATE, None, 60), (RATE, 60, 30), (RATE, 21, 10.5), (RATE, 20, None), (RATE, 240, 120), (LADDER, 62, 20)],
)
def test_a_hang_keeps_its_share_and_length(load: dict[str, Any], lasts_s: int | None, at_s: float | None) -> None:
    hanging = scenario(load, hangs=[{"at": "60s", "duration": "10s"}])

    if at_s is None:
        with pytest.raises(UsageError, match=rf"hang of 10 s .*{lasts_s} s: use a longer DURATION"):
            hangs_of(hanging, lasts_s)
    else:
        assert [(hang.at_s, hang.duration_s) for hang in hangs_of(hanging, lasts_s)] == [(at_s, 10)]


def test_a_request_carries_its_headers_and_a_body_that_is_there(tmp_path: Path) -> None:
    mixed = scenario(CLOSED, requests=[{"get": "/meetings"}, {"post": "/movies?delayInMillis=5", "body": "m.json"}])
    with pytest.raises(UsageError, match=r"There is no m\.json beside the scenario"):
        scenario_loads(mixed, tmp_path)
    (tmp_path / "m.json").write_text("[]")
    get, post = scenario_loads(mixed, tmp_path)[0].targets

    assert (get.method, get.headers, get.body) == ("GET", ("Authorization: Bearer loom-lab",), None)
    assert (post.target, post.method) == ("/movies?delayInMillis=5", "POST")
    assert (post.headers, post.body) == (("Content-Type: application/json",), tmp_path / "m.json")


def test_a_scenario_has_a_block_for_each_load_and_says_its_scale(tmp_path: Path) -> None:
    order = planned(tmp_path, scenario="project-loom-comparison-spring", scale="0.02", connections=None)

    assert order.experiment.endswith("-project-loom-comparison-spring")
    blocks = [(run.request.cell, run.request.load.connections) for run in order.runs[::3]]
    assert blocks == [(1, 20), (2, 100), (3, 200), (4, 300), (5, 400)]
    assert [run.settings["PLATFORM_THREADS"] for run in order.runs[::3]] == ["20", "100", "200", "300", "400"]
    assert order.scenario is not None
    assert order.scenario.scale == 0.02
    assert not order.runs[0].request.fit_duration
    threads = planned(tmp_path, scenario="virtual-threads-hey").runs[0].settings["PLATFORM_THREADS"]
    assert threads == "4"


def test_auto_is_the_largest_scale_the_host_can_hold(tmp_path: Path) -> None:
    scaled = planned(tmp_path, scenario="loom-vs-webflux", scale="auto")
    whole = planned(tmp_path, scenario="smoketest", scale="auto")

    assert scaled.scenario is not None
    assert 0 < scaled.scenario.scale < 1
    assert scaled.runs[0].request.load.connections == round(10_000 * scaled.scenario.scale)
    assert whole.scenario is not None
    assert whole.scenario.scale == 1


@pytest.mark.parametrize(
    ("name", "old", "new", "parts"),
    [
        ("soak", "tomcat-virtual", "tomcat-green", "soak.yaml tomcat-green tomcat-platform,"),
        ("soak", "tool: vegeta", "tool: ab", "ab vegeta"),
        ("soak", "tool: vegeta", "tool: users", "users vegeta"),
        ("slow-backend", "at: 60s", "at: 110s", "10 120 DURATION"),
    ],
)
def test_scenario_that_is_wrong_in_itself_is_refused(tmp_path: Path, name: str, old: str, new: str, parts: str) -> None:
    text = (SCENARIOS / f"{name}.yaml").read_text()
    assert old in text
    (tmp_path / f"{name}.yaml").write_text(text.replace(old, new))

    with pytest.raises(UsageError) as refused:
        planned(tmp_path, scenarios=tmp_path, scenario=name)
    assert [part for part in parts.split() if part not in str(refused.value)] == []


RATE_FILE = """\
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
LADDER_FILE = RATE_FILE.replace("shape: rate\n  rate: 500/s", "shape: rate-ladder\n  rates: [250/s, 500/s]")
LADDER_FILE = LADDER_FILE.replace("  duration: 60s\nhangs", "  step: 60s\nhangs")
SPIKE_FILE = RATE_FILE.replace(
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
        (RATE_FILE, "tool: vegeta", "tool: vegeta\nspeed: 9", "speed: "),
        (RATE_FILE, "rate: 500/s", "rate: 500/s\n  users: 3", "load.users: "),
        (RATE_FILE, "tool: vegeta", "tool: wrk", "tool is 'wrk': "),
        (RATE_FILE, "[tomcat-virtual]", "[]", "approaches is []: "),
        (RATE_FILE, "tool: vegeta", "tool: vegeta\njdk: 17", "jdk is 17: "),
        (RATE_FILE, "get: /capabilities", "get: capabilities", "requests.0.get is 'capabilities': "),
        (RATE_FILE, "get: /capabilities", "post: /x", "requests.0: use either get"),
        (RATE_FILE, "get: /capabilities", "post: /x\n    body: ../x.json", "body is '../x.json': "),
        (RATE_FILE, "rate: 500/s", "rate: 500", "load.rate.0 is 500: use a rate above 0"),
        (RATE_FILE, "  rate: 500/s\n", "", "load.rate: Field required"),
        (RATE_FILE, "shape: rate", "shape: ramp", "load: "),
        (RATE_FILE, "connections: 1000", "connections: 0", "connections.0 is 0: "),
        (RATE_FILE, "connections: 1000", "connections: 1000001", "is 1000001: "),
        (RATE_FILE, "rate: 500/s\n  connections: 1000", LISTS, "load: only one of rate and connections"),
        (RATE_FILE, "duration: 60s", "duration: 0s", "load.duration is '0s': "),
        (RATE_FILE, "duration: 60s", "duration: 1h", "load.duration is '1h': "),
        (RATE_FILE, "at: 20s\n    duration: 10s", "at: 20s\n    duration: 61s", "hangs.0.duration is 61: "),
        (RATE_FILE, "tool: vegeta", "tool: vegeta\ndelay: 300ms", "delay is '300ms': "),
        (LADDER_FILE, "[250/s, 500/s]", "[250/s, 250/s]", "load.rates is ['250/s', '250/s']: "),
        (SPIKE_FILE, "1s-3s", "3s-1s", "load.think_time is '3s-1s': use two times"),
        (RATE_FILE, RATE_FILE, "title: a\n\ttool: b", "not YAML"),
        (RATE_FILE, RATE_FILE, "--- 1\n--- 2\n", "not YAML"),
        (RATE_FILE, RATE_FILE, "", "the file is None: "),
    ],
)
def test_a_mistake_is_told_with_file_field_and_value(good: str, part: str, mistake: str, where: str) -> None:
    assert parse(good, "good.yaml", Scenario, "load").repeats == 1
    assert good.count(part) == 1

    said = refused(good.replace(part, mistake))

    assert any(where in one for one in said)
    assert all(one.startswith("bad.yaml") and one.endswith(".") for one in said)


def test_every_mistake_of_a_file_is_told_at_once() -> None:
    said = refused(RATE_FILE.replace("tool: vegeta", "tool: wrk").replace("500/s", "fast").replace("60s", "soon"))

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


@given(st.text() | st.lists(st.sampled_from([*RATE_FILE.splitlines(), *SPIKE_FILE.splitlines()])).map("\n".join))
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
