"""The shipped scenarios are what was published, and editors are told what a file may hold."""

import json
from pathlib import Path

import pytest

from loomlab.plan.scenarios.capacity import full_size
from loomlab.plan.scenarios.cells import Scaling, loads_of
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.scenarios.model import Scenario, duration_s, json_schema, names
from loomlab.records.load import Closed, OpenRate, RateStep, Users, UserStage

SCENARIOS = Path(__file__).parent.parent / "scenarios"
LEVELS = (1000, 5000, 10_000, 15_000, 20_000)
MOVIES = "/movies?directorLastName=Allen&delayInMillis=100"
RATES = {
    "loom-vs-webflux": ("vegeta", 10_000, 10_000, 60, "/epoch-millis?delayInMillis=100", 2),
    "smoketest": ("vegeta", 5, 5, 60, "/epoch-millis?delayInMillis=100", 1),
    "5k-vus-and-rps-get-time": ("vegeta", 5000, 5000, 300, "/epoch-millis?delayInMillis=100", 1),
    "5k-vus-and-rps-get-movies": ("vegeta", 5000, 5000, 300, MOVIES, 1),
    "10k-vus-and-rps-get-movies": (
        "vegeta",
        10_000,
        10_000,
        300,
        "/movies?directorLastName=Allen&delayInMillis=100",
        1,
    ),
}
SPIKES = {
    "25k-vus-stepped-spike-get-movies": (25_000, ["Allen"]),
    "25k-vus-smooth-spike-get-movies": (25_000, ["Allen"]),
    "25k-vus-smooth-spike-get-post-movies": (25_000, ["Allen", "Kubrick", "Hitchcock", "POST"]),
    "60k-vus-smooth-spike-get-post-movies": (60_000, ["Allen", "Kubrick", "Hitchcock", "POST"]),
}
LOOM_WEBFLUX_BENCHMARKS = [*SPIKES, *(name for name in RATES if name != "loom-vs-webflux")]
PUBLISHED = ["project-loom-comparison", "project-loom-comparison-spring", "virtual-threads-hey", *RATES, *SPIKES]
OWN = ["cpu-work", "fan-out", "few-or-many-connections", "rate-ladder", "slow-backend", "soak"]


def scenario(name: str) -> Scenario:
    return load_scenario(SCENARIOS, name)


def test_what_was_published_can_be_run_by_name_and_so_can_the_labs_own() -> None:
    assert names(SCENARIOS) == sorted(PUBLISHED + OWN)
    assert len(PUBLISHED) == 12


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_run_says_where_it_is_from_and_what_is_not_followed(name: str) -> None:
    published = scenario(name).published

    assert published is not None
    assert published.experiment
    assert published.run
    assert published.differs


@pytest.mark.parametrize("name", OWN)
def test_the_labs_own_scenarios_claim_no_publication(name: str) -> None:
    assert scenario(name).published is None


@pytest.mark.parametrize("name", LOOM_WEBFLUX_BENCHMARKS)
def test_a_run_of_loom_webflux_benchmarks_has_its_name_its_approaches_and_its_timeout(name: str) -> None:
    got = scenario(name)

    assert got.published is not None
    assert (got.published.experiment, got.published.run) == ("loom-webflux-benchmarks", name)
    assert got.approaches == ["tomcat-virtual", "virtual-netty", "webflux-netty"]
    assert got.timeout == 60


@pytest.mark.parametrize(
    ("name", "target", "delay", "approaches"),
    [
        (
            "project-loom-comparison",
            "/meetings",
            "333",
            ["microhttp-platform", "microhttp-virtual", "microhttp-async"],
        ),
        (
            "project-loom-comparison-spring",
            "/capabilities",
            "300",
            ["jetty-platform", "jetty-virtual", "webflux-netty"],
        ),
    ],
)
def test_the_comparisons_by_ab_have_five_levels_of_120_requests_a_connection(
    name: str, target: str, delay: str, approaches: list[str]
) -> None:
    got = scenario(name)
    loads = loads_of(got, Scaling(), SCENARIOS)

    assert (got.tool, got.delay, got.approaches) == ("ab", delay, approaches)
    assert tuple(load.connections for load in loads) == LEVELS
    for load in loads:
        assert isinstance(load.shape, Closed)
        assert load.shape.requests == 120 * load.connections
        assert [one.target for one in load.targets] == [target]


def test_the_run_by_hey_has_100_requests_50_at_a_time_and_four_threads() -> None:
    got = scenario("virtual-threads-hey")
    (load,) = loads_of(got, Scaling(), SCENARIOS)

    assert (got.tool, got.platform_threads) == ("hey", 4)
    assert load.connections == 50
    assert isinstance(load.shape, Closed)
    assert load.shape.requests == 100
    assert load.targets[0].target == "/httpbin/block/3"
    assert load.timeout_s == 20


@pytest.mark.parametrize("name", RATES)
def test_a_published_rate_is_offered_over_its_connections(name: str) -> None:
    tool, rate_rps, connections, lasts_s, target, repeats = RATES[name]
    got = scenario(name)
    (load,) = loads_of(got, Scaling(), SCENARIOS)

    assert (got.tool, got.repeats) == (tool, repeats)
    assert (load.connections, load.shape) == (connections, OpenRate((RateStep(rate_rps, lasts_s),)))
    assert [one.target for one in load.targets] == [target]


@pytest.mark.parametrize("name", SPIKES)
def test_a_published_spike_has_its_users_who_think_for_one_to_three_seconds(name: str) -> None:
    users, kinds = SPIKES[name]
    got = scenario(name)
    (load,) = loads_of(got, Scaling(), SCENARIOS)

    assert got.tool == "users"
    assert isinstance(load.shape, Users)
    assert load.shape.think_s == (1, 3)
    assert load.shape.duration_s == 300
    assert max(stage.users for stage in load.shape.stages) == load.connections == users
    assert len(load.targets) == len(kinds)
    for target, kind in zip(load.targets, kinds, strict=True):
        assert target.target.endswith("delayInMillis=100")
        assert target.method == "POST" if kind == "POST" else f"directorLastName={kind}&" in target.target


def test_a_smooth_spike_rises_in_four_minutes_and_falls_in_one() -> None:
    (load,) = loads_of(scenario("25k-vus-smooth-spike-get-movies"), Scaling(), SCENARIOS)

    assert isinstance(load.shape, Users)
    assert load.shape.stages == (UserStage(25_000, 240), UserStage(0, 60))


def test_a_stepped_spike_has_four_risers_of_18_s_and_treads_of_42_s() -> None:
    (load,) = loads_of(scenario("25k-vus-stepped-spike-get-movies"), Scaling(), SCENARIOS)

    assert isinstance(load.shape, Users)
    assert load.shape.stages == (
        UserStage(6250, 18),
        UserStage(6250, 42),
        UserStage(12_500, 18),
        UserStage(12_500, 42),
        UserStage(18_750, 18),
        UserStage(18_750, 42),
        UserStage(25_000, 18),
        UserStage(25_000, 42),
        UserStage(0, 60),
    )


def test_the_labs_ladder_climbs_from_250_to_4000_requests_a_second() -> None:
    (load,) = loads_of(scenario("rate-ladder"), Scaling(), SCENARIOS)

    assert isinstance(load.shape, OpenRate)
    assert [step.rate_rps for step in load.shape.steps] == [250, 500, 1000, 2000, 4000]
    assert {step.duration_s for step in load.shape.steps} == {60}


def test_the_body_that_is_posted_is_json() -> None:
    (load,) = loads_of(scenario("60k-vus-smooth-spike-get-post-movies"), Scaling(), SCENARIOS)
    post = load.targets[-1]

    assert post.body is not None
    assert json.loads(post.body.read_text())
    assert "Content-Type: application/json" in post.headers


@pytest.mark.parametrize("name", names(SCENARIOS))
def test_a_scenario_lasts_as_long_as_its_loads(name: str) -> None:
    got = scenario(name)

    assert {load.shape.duration_s for load in loads_of(got, Scaling(), SCENARIOS)} == {duration_s(got.load)}


def test_the_schema_beside_the_files_is_the_current_one() -> None:
    stored = (SCENARIOS / "scenario.schema.json").read_text(encoding="utf-8")

    assert stored == json.dumps(json_schema(), indent=2) + "\n", "write it anew: loomlab schema > scenario.schema.json"


@pytest.mark.parametrize("name", names(SCENARIOS))
def test_editors_are_pointed_to_the_schema(name: str) -> None:
    first = (SCENARIOS / f"{name}.yaml").read_text().splitlines()[0]

    assert first == "# yaml-language-server: $schema=scenario.schema.json"


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_scenarios_file_says_what_its_full_size_takes(name: str) -> None:
    needed = full_size(scenario(name), SCENARIOS)

    assert (SCENARIOS / f"{name}.yaml").read_text().splitlines()[1] == f"# SCALE=1 takes {needed}."
