"""How much of a scenario a host can hold."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.plan.host import Host
from loomlab.plan.limits import APPROACH_FILES, GENERATOR_FILES, PORTS, THREADS
from loomlab.plan.scenarios.capacity import (
    APPROACH_MS,
    BACKEND_MS,
    BUSY_LIMIT,
    GENERATOR_MS,
    USER_MB,
    Room,
    full_size,
    largest_scale,
    need_of,
    room_of,
    two_figures,
)
from loomlab.plan.scenarios.cells import Scaling
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.scenarios.model import Scenario, names
from loomlab.plan.sizes import auto_size

SCENARIOS = Path(__file__).parent.parent / "scenarios"
ALL = {name: load_scenario(SCENARIOS, name) for name in names(SCENARIOS)}
BIG = Room(approach_cpus=256, generator_cpus=256, shared=False, generator_memory_mb=512_000, open_files=1_048_576)
RATE_RPS = 10_000
APPROACH = two_figures(1000 * BUSY_LIMIT / APPROACH_MS / RATE_RPS)
VEGETA_ALONE = two_figures(1000 * BUSY_LIMIT / GENERATOR_MS["vegeta"] / RATE_RPS)
VEGETA_SHARING = two_figures(1000 * BUSY_LIMIT / (GENERATOR_MS["vegeta"] + BACKEND_MS) / RATE_RPS)
USERS_6000_MB = math.ceil(6000 * USER_MB) + 1
HOSTS = st.builds(
    Room,
    approach_cpus=st.integers(1, 64),
    generator_cpus=st.integers(1, 64),
    shared=st.booleans(),
    generator_memory_mb=st.integers(256, 256_000),
    open_files=st.integers(1024, 2_000_000),
)


def beyond(scenario: Scenario, host: Room, scale: float) -> list[str]:
    """The host's limits that the scenario at that scale exceeds."""
    need = need_of(scenario, SCENARIOS, Scaling(scale))
    generator_ms = GENERATOR_MS[scenario.tool] + (BACKEND_MS if host.shared else 0)
    platform = any(name.endswith("-platform") for name in scenario.approaches)
    limits = {
        "approach's CPU": need.rate_rps * (APPROACH_MS + need.work_ms) / 1000
        <= host.approach_cpus * BUSY_LIMIT * 1.000001,
        "tool's CPU": need.rate_rps * generator_ms / 1000 <= host.generator_cpus * BUSY_LIMIT * 1.000001,
        "open files": need.open_files <= host.open_files,
        "open files of the tool": need.connections + GENERATOR_FILES <= host.open_files,
        "ports": need.connections + GENERATOR_FILES <= PORTS,
        "ports to the backend": need.connections * need.backend_connections <= PORTS,
        "threads": not platform or need.connections * need.platform_threads <= THREADS,
        "memory": scenario.tool != "users" or need.connections * USER_MB <= host.generator_memory_mb,
    }
    return [limit for limit, kept in limits.items() if not kept]


@given(name=st.sampled_from(sorted(ALL)), host=HOSTS)
def test_at_its_largest_scale_a_scenario_exceeds_no_limit_of_the_host(name: str, host: Room) -> None:
    scale, limit = largest_scale(ALL[name], host, SCENARIOS)

    assert 0 < scale <= 1
    assert (limit is None) is (scale == 1.0)
    assert beyond(ALL[name], host, scale) == []


@given(name=st.sampled_from(sorted(ALL)), host=HOSTS)
def test_the_scale_is_no_smaller_than_the_host_wants(name: str, host: Room) -> None:
    scale, limit = largest_scale(ALL[name], host, SCENARIOS)

    if limit is not None:
        assert beyond(ALL[name], host, scale * 1.25) or scale * 1.25 > 1


@pytest.mark.parametrize("name", ALL)
def test_a_big_host_runs_every_scenario_at_full_size(name: str) -> None:
    assert largest_scale(ALL[name], BIG, SCENARIOS) == (1.0, None)


@pytest.mark.parametrize(
    ("name", "host", "scale", "limit"),
    [
        ("loom-vs-webflux", replace(BIG, approach_cpus=1), APPROACH, "the approach's CPU"),
        ("loom-vs-webflux", replace(BIG, generator_cpus=1), VEGETA_ALONE, "vegeta's CPU"),
        ("loom-vs-webflux", replace(BIG, generator_cpus=1, shared=True), VEGETA_SHARING, "vegeta's CPU"),
        ("project-loom-comparison", replace(BIG, open_files=20_500), 0.5, "open files"),
        ("60k-vus-smooth-spike-get-post-movies", replace(BIG, open_files=30_500), 0.5, "open files"),
        ("60k-vus-smooth-spike-get-post-movies", replace(BIG, generator_memory_mb=USERS_6000_MB), 0.1, "users' memory"),
        ("smoketest", replace(BIG, approach_cpus=1, generator_cpus=1, shared=True), 1.0, None),
    ],
)
def test_what_limits_the_scale_is_named(name: str, host: Room, scale: float, limit: str | None) -> None:
    assert largest_scale(ALL[name], host, SCENARIOS) == (scale, limit)


def test_the_ports_of_one_address_and_the_threads_of_one_host_are_limits_whatever_its_size() -> None:
    huge = ALL["60k-vus-smooth-spike-get-post-movies"]
    spike = huge.load.model_copy(update={"users": 100_000})
    virtual = huge.model_copy(update={"load": spike})
    platform = virtual.model_copy(update={"approaches": ["tomcat-platform"]})

    assert largest_scale(virtual, BIG, SCENARIOS) == (0.64, "the ports of one address")
    assert largest_scale(platform, BIG, SCENARIOS) == (0.32, "threads")


def test_a_need_is_that_of_the_largest_load_and_of_all_runs() -> None:
    need = need_of(ALL["project-loom-comparison-spring"], SCENARIOS)

    assert (need.connections, need.open_files) == (20_000, 2 * 20_000 + APPROACH_FILES)
    assert need.rate_rps == pytest.approx(20_000 / 0.9)
    assert need.minutes == pytest.approx(3 * 5 * (120 * 0.9 + 75 + 28) / 60)


def test_an_approach_that_calls_no_backend_needs_one_file_a_connection() -> None:
    need = need_of(ALL["loom-vs-webflux"], SCENARIOS)

    assert (need.connections, need.open_files, need.rate_rps) == (10_000, 10_000 + APPROACH_FILES, 10_000)
    assert need.minutes == pytest.approx(2 * 2 * (60 + 75 + 28) / 60)


def test_calls_at_once_need_a_file_and_a_thread_each() -> None:
    need = need_of(ALL["fan-out"], SCENARIOS)

    assert (need.backend_connections, need.platform_threads) == (5, 6)
    assert need.open_files == 6 * need.connections + APPROACH_FILES


def test_work_that_requests_ask_for_is_the_approachs() -> None:
    need = need_of(ALL["cpu-work"], SCENARIOS)
    narrow = replace(BIG, approach_cpus=1)

    assert need.work_ms == 2
    assert largest_scale(ALL["cpu-work"], narrow, SCENARIOS) == (1.0, None)
    heavier = ALL["cpu-work"].model_copy(
        update={"requests": [ALL["cpu-work"].requests[0].model_copy(update={"get": "/capabilities?cpuMicros=4500"})]}
    )
    assert largest_scale(heavier, narrow, SCENARIOS) == (0.5, "the approach's CPU")


def test_the_rate_of_a_ladder_is_that_of_its_highest_step() -> None:
    assert need_of(ALL["rate-ladder"], SCENARIOS).rate_rps == 4000


def test_users_ask_once_an_answer_and_a_thought() -> None:
    assert need_of(ALL["25k-vus-smooth-spike-get-movies"], SCENARIOS).rate_rps == pytest.approx(25_000 / 2.1)


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.999, 0.99), (0.29, 0.29), (0.057, 0.057), (0.0216, 0.021), (0.00079, 0.00079), (0.1, 0.1), (0.07, 0.07)],
)
def test_two_figures_are_rounded_down(share: float, expected: float) -> None:
    assert two_figures(share) == expected


@given(st.floats(1e-6, 1, exclude_max=True))
def test_two_figures_stay_below_and_near(share: float) -> None:
    got = two_figures(share)

    assert got <= share < got * 1.1
    assert two_figures(got) == got
    assert math.isclose(float(f"{got:.1e}"), got)


@pytest.mark.parametrize("name", ALL)
def test_a_full_size_host_holds_the_whole_scenario_and_a_smaller_one_does_not(name: str) -> None:
    needed = full_size(ALL[name], SCENARIOS)

    def scale(cpus: int) -> float:
        host = Host(
            cpus=cpus,
            memory_mb=needed.memory_gib * 1024,
            open_files=needed.open_files,
            cpu_order=list(range(cpus)),
            free_mb=100_000,
        )
        return largest_scale(ALL[name], room_of(host, auto_size(host, 60_000)), SCENARIOS)[0]

    assert scale(needed.cpus) == 1
    assert needed.cpus == 2 or scale(needed.cpus - 2) < 1
