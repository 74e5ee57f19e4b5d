"""From scenarios to loads and plans: what was published, and what a scale and a DURATION change."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.basics.errors import UsageError
from loomlab.plan.scenarios import FEWEST_PER_SPIKE, Scenario, hangs_of, load_scenario, names, scenario_loads
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Users, UserStage
from ordered import SCENARIOS, planned

OWN = [
    "cpu-work", "database-orders", "database-reads", "fan-out", "few-or-many-connections", "rate-ladder",
    "slow-backend", "soak",
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
def test_a_hang_keeps_its_share_and_length_while_it_fits(
    load: dict[str, Any], lasts_s: int | None, at_s: float | None
) -> None:
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
