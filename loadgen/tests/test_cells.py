"""From scenarios to loads: what a scale and a DURATION change, and what they do not."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.basics.errors import UsageError
from loomlab.plan.scenarios.cells import FEWEST_PER_SPIKE, Scaling, hangs_of, loads_of
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.scenarios.model import Scenario, names
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Users

SCENARIOS = Path(__file__).parent.parent / "scenarios"
CLOSED = {"shape": "closed", "connections": [1000, 5000], "requests_per_connection": 120}
RATE = {"shape": "rate", "rate": ["100/s", "300/s"], "connections": 50, "duration": "2m"}
LADDER = {"shape": "rate-ladder", "rates": ["250/s", "500/s", "1000/s"], "connections": 8000, "step": "60s"}
SMOOTH = {"shape": "smooth-spike", "users": 25_000, "think_time": "1s-3s", "duration": "5m"}
STEPPED = SMOOTH | {"shape": "stepped-spike"}
SHAPES = {"closed": CLOSED, "rate": RATE, "ladder": LADDER, "smooth": SMOOTH, "stepped": STEPPED}
ALL = [pytest.param(shape, id=name) for name, shape in SHAPES.items()]


def scenario(load: dict[str, object], **changes: object) -> Scenario:
    tool = "vegeta" if str(load["shape"]).startswith("rate") else "users"
    fields = {
        "title": "A load", "question": "Does it load?", "tool": tool, "approaches": ["tomcat-virtual"],
        "requests": [{"get": "/capabilities"}], "load": load,
    }  # fmt: skip
    return Scenario.model_validate(fields | changes)


def loads(load: dict[str, object], factor: float = 1.0, duration_s: int | None = None) -> list[Load]:
    return loads_of(scenario(load), Scaling(factor, duration_s), Path("scenarios"), "http://app:8080")


def test_each_number_of_connections_is_a_closed_load_of_its_own() -> None:
    assert [(load.connections, load.shape) for load in loads(CLOSED)] == [
        (1000, Closed(requests=120_000, duration_s=3600)),
        (5000, Closed(requests=600_000, duration_s=3600)),
    ]


def test_a_closed_load_scales_its_connections_and_keeps_their_requests() -> None:
    assert [(load.connections, load.shape) for load in loads(CLOSED, 0.02)] == [
        (20, Closed(requests=2400, duration_s=3600)),
        (100, Closed(requests=12_000, duration_s=3600)),
    ]


def test_each_rate_is_a_load_of_its_own_and_scales_with_its_connections() -> None:
    assert [(load.connections, load.shape) for load in loads(RATE, 0.5)] == [
        (25, OpenRate((RateStep(50, 120),))),
        (25, OpenRate((RateStep(150, 120),))),
    ]


def test_each_number_of_connections_of_a_rate_is_a_load_of_its_own() -> None:
    got = loads(RATE | {"rate": "500/s", "connections": [100, 5000]}, 0.1)

    assert [(load.connections, load.rate_rps) for load in got] == [(10, 50), (500, 50)]


def test_a_ladder_is_one_load_whose_rates_scale() -> None:
    (load,) = loads(LADDER, 0.02)

    assert load.connections == 160
    assert load.shape == OpenRate((RateStep(5, 60), RateStep(10, 60), RateStep(20, 60)))
    assert load.rate_rps is None


def test_a_spike_scales_its_users_and_not_their_thinking() -> None:
    (load,) = loads(SMOOTH, 0.02)

    assert isinstance(load.shape, Users)
    assert load.connections == max(stage.users for stage in load.shape.stages) == 500
    assert load.shape.think_s == (1, 3)


@pytest.mark.parametrize("factor", [0.0001, 0.02, 0.3, 1])
@pytest.mark.parametrize("name", names(SCENARIOS))
def test_no_scale_leaves_nothing_of_a_shipped_scenario(name: str, factor: float) -> None:
    for load in loads_of(load_scenario(SCENARIOS, name), Scaling(factor), SCENARIOS):
        assert load.connections >= 1
        match load.shape:
            case Closed(requests):
                assert requests >= load.connections
            case OpenRate(steps):
                assert all(step.rate_rps > 0 for step in steps)
            case Users(stages):
                assert max(stage.users for stage in stages) == load.connections


@pytest.mark.parametrize("load", ALL)
def test_a_duration_replaces_the_scenarios(load: dict[str, object]) -> None:
    assert {one.shape.duration_s for one in loads(load, duration_s=30)} == {30}


@given(shape=st.sampled_from([SMOOTH, STEPPED]), lasts_s=st.integers(FEWEST_PER_SPIKE, 4000), factor=st.floats(1e-4, 1))
def test_the_stages_of_a_spike_fill_its_duration(shape: dict[str, object], lasts_s: int, factor: float) -> None:
    (load,) = loads(shape, factor, lasts_s)

    assert isinstance(load.shape, Users)
    assert load.shape.duration_s == lasts_s
    assert min(stage.duration_s for stage in load.shape.stages) >= 1
    *rise, last = (stage.users for stage in load.shape.stages)
    assert rise == sorted(rise)
    assert last == 0


@given(lasts_s=st.integers(24, 4000))
def test_the_steps_of_a_ladder_are_alike_and_within_its_duration(lasts_s: int) -> None:
    (load,) = loads(LADDER, duration_s=lasts_s)

    assert isinstance(load.shape, OpenRate)
    assert len({step.duration_s for step in load.shape.steps}) == 1
    assert lasts_s - 3 < load.shape.duration_s <= lasts_s


@pytest.mark.parametrize(
    ("load", "lasts_s", "cure"),
    [(LADDER, 23, "use 24s or more"), (SMOOTH, 15, "use 16s or more"), (STEPPED, 15, "use 16s or more")],
)
def test_a_duration_too_short_for_the_shape_is_refused(load: dict[str, object], lasts_s: int, cure: str) -> None:
    with pytest.raises(UsageError, match=f"DURATION={lasts_s}s is too short .*: {cure}"):
        loads(load, duration_s=lasts_s)


def hanging(at: str, duration: str, load: dict[str, object] = RATE) -> Scenario:
    return scenario(load, hangs=[{"at": at, "duration": duration}])


@pytest.mark.parametrize(("lasts_s", "at_s"), [(None, 60), (120, 60), (60, 30), (30, 15), (240, 120)])
def test_a_hang_keeps_its_share_of_the_run_and_its_length(lasts_s: int | None, at_s: float) -> None:
    (hang,) = hangs_of(hanging("60s", "10s"), Scaling(0.02, lasts_s))

    assert (hang.at_s, hang.duration_s) == (at_s, 10)


@pytest.mark.parametrize("lasts_s", [20, 10, 1])
def test_a_hang_that_no_longer_fits_is_refused(lasts_s: int) -> None:
    with pytest.raises(UsageError, match=f"DURATION={lasts_s}s ends before the backend's hang of 10 s: use 120s"):
        hangs_of(hanging("60s", "10s"), Scaling(duration_s=lasts_s))


@given(lasts_s=st.integers(24, 400), at_s=st.integers(1, 170))
def test_a_hang_ends_before_its_load_does(lasts_s: int, at_s: int) -> None:
    described, scaling = hanging(f"{at_s}s", "5s", LADDER), Scaling(duration_s=lasts_s)
    try:
        (hang,) = hangs_of(described, scaling)
    except UsageError:
        return
    (load,) = loads_of(described, scaling, Path("scenarios"))
    assert hang.at_s + hang.duration_s < load.shape.duration_s


def test_a_request_carries_its_headers_and_body(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text("[]")
    described = scenario(CLOSED, requests=[{"get": "/meetings"}, {"post": "/movies?delayInMillis=5", "body": "m.json"}])
    get, post = loads_of(described, Scaling(), tmp_path)[0].targets

    assert (get.method, get.headers, get.body) == ("GET", ("Authorization: Bearer loom-lab",), None)
    assert (post.target, post.method) == ("/movies?delayInMillis=5", "POST")
    assert (post.headers, post.body) == (("Content-Type: application/json",), tmp_path / "m.json")


def test_a_body_that_is_not_there_is_refused(tmp_path: Path) -> None:
    described = scenario(CLOSED, requests=[{"post": "/movies?delayInMillis=5", "body": "m.json"}])

    with pytest.raises(UsageError, match=r"There is no m\.json beside the scenario"):
        loads_of(described, Scaling(), tmp_path)


def test_a_load_knows_its_origin_and_timeout() -> None:
    load = loads_of(scenario(CLOSED, timeout="20s"), Scaling(), Path("scenarios"), "http://app:8080")[0]

    assert (load.url, load.timeout_s) == ("http://app:8080/capabilities", 20)
