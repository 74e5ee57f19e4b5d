"""How much of a scenario a host can hold."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.plan.host import Host
from loomlab.plan.limits import APPROACH_FILES, GENERATOR_FILES, PORTS, THREADS
from loomlab.plan.scenarios.capacity import (
    APPROACH_MS,
    BACKEND_MS,
    BUSY_LIMIT,
    Room,
    largest_scale,
    need_of,
    room_of,
    two_figures,
)
from loomlab.plan.scenarios.model import RequestKind, Scenario, load_scenario, names
from loomlab.plan.scenarios.scaling import Scaling
from ordered import SCENARIOS

ALL = {name: load_scenario(SCENARIOS, name) for name in names(SCENARIOS)}
HUGE = ALL["60k-vus-smooth-spike-get-post-movies"]
SPIKE = HUGE.model_copy(update={"load": HUGE.load.model_copy(update={"users": 100_000})})
WORK = ALL["cpu-work"].model_copy(update={"requests": [RequestKind(get="/capabilities?cpuMicros=4500")]})
BIG = Room(approach_cpus=256, generator_cpus=256, shared=False, generator_memory_mb=512_000, open_files=1_048_576)
ROOMS = st.builds(
    Room,
    approach_cpus=st.integers(1, 64),
    generator_cpus=st.integers(1, 64),
    shared=st.booleans(),
    generator_memory_mb=st.integers(256, 256_000),
    open_files=st.integers(1024, 2_000_000),
)


def beyond(scenario: Scenario, room: Room, scale: float) -> list[str]:
    """The room's limits that the scenario at that scale exceeds."""
    need = need_of(scenario, SCENARIOS, Scaling(scale))
    generator_ms = need.tool.cpu_ms_per_request + (BACKEND_MS if room.shared else 0)
    busy_ms = 1000 * BUSY_LIMIT * 1.000001
    platform = any(name.endswith("-platform") for name in scenario.approaches)
    within = {
        "approach's CPU": need.rate_rps * (APPROACH_MS + need.work_ms) <= room.approach_cpus * busy_ms,
        "tool's CPU": need.rate_rps * generator_ms <= room.generator_cpus * busy_ms,
        "open files": need.open_files <= room.open_files,
        "open files of the tool": need.connections + GENERATOR_FILES <= room.open_files,
        "ports": need.connections + GENERATOR_FILES <= PORTS,
        "ports to the backend": need.connections * need.backend_connections <= PORTS,
        "threads": not platform or need.connections * need.platform_threads <= THREADS,
        "memory": need.connections * need.tool.memory_mb_per_connection <= room.generator_memory_mb,
    }
    return [limit for limit, kept in within.items() if not kept]


@given(name=st.sampled_from(sorted(ALL)), room=ROOMS)
def test_the_largest_scale_exceeds_no_limit_and_a_larger_one_does(name: str, room: Room) -> None:
    scale, limit = largest_scale(ALL[name], room, SCENARIOS)

    assert 0 < scale <= 1
    assert (limit is None) is (scale == 1.0)
    assert beyond(ALL[name], room, scale) == []
    assert limit is None or scale * 1.25 > 1 or beyond(ALL[name], room, scale * 1.25)


@pytest.mark.parametrize(
    ("scenario", "room", "scale", "limit"),
    [
        (ALL["loom-vs-webflux"], replace(BIG, approach_cpus=1), 0.1, "the approach's CPU"),
        (ALL["loom-vs-webflux"], replace(BIG, generator_cpus=1), 0.25, "vegeta's CPU"),
        (ALL["loom-vs-webflux"], replace(BIG, generator_cpus=1, shared=True), 0.16, "vegeta's CPU"),
        (ALL["project-loom-comparison"], replace(BIG, open_files=20_500), 0.5, "open files"),
        (HUGE, replace(BIG, open_files=30_500), 0.5, "open files"),
        (HUGE, replace(BIG, generator_memory_mb=181), 0.1, "users' memory"),
        (SPIKE, BIG, 0.64, "the ports of one address"),
        (SPIKE.model_copy(update={"approaches": ["tomcat-platform"]}), BIG, 0.32, "threads"),
        (ALL["cpu-work"], replace(BIG, approach_cpus=1), 1.0, None),
        (WORK, replace(BIG, approach_cpus=1), 0.5, "the approach's CPU"),
        (ALL["smoketest"], replace(BIG, approach_cpus=1, generator_cpus=1, shared=True), 1.0, None),
        *((scenario, BIG, 1.0, None) for scenario in ALL.values()),
    ],
)
def test_what_limits_the_scale_is_named(scenario: Scenario, room: Room, scale: float, limit: str | None) -> None:
    assert largest_scale(scenario, room, SCENARIOS) == (scale, limit)


@pytest.mark.parametrize(
    ("name", "connections", "open_files", "rate_rps", "minutes"),
    [
        ("project-loom-comparison-spring", 20_000, 40_500, 20_000 / 0.9, 3 * 5 * (120 * 0.9 + 75 + 28) / 60),
        ("loom-vs-webflux", 10_000, 10_500, 10_000, 2 * 2 * (60 + 75 + 28) / 60),
        ("25k-vus-smooth-spike-get-movies", 25_000, 25_500, 25_000 / 2.1, 3 * (300 + 75 + 28) / 60),
        ("rate-ladder", 8_000, 16_500, 4000, 3 * (300 + 75 + 28) / 60),
    ],
)
def test_a_need_is_that_of_the_largest_load_and_of_all_runs(
    name: str, connections: int, open_files: int, rate_rps: float, minutes: float
) -> None:
    need = need_of(ALL[name], SCENARIOS)

    assert (need.connections, need.open_files) == (connections, open_files)
    assert need.rate_rps == pytest.approx(rate_rps)
    assert need.minutes == pytest.approx(minutes)


def test_calls_at_once_need_a_file_and_a_thread_each_and_work_that_is_asked_for_is_the_approachs() -> None:
    need = need_of(ALL["fan-out"], SCENARIOS)

    assert (need.backend_connections, need.platform_threads) == (5, 6)
    assert need.open_files == 6 * need.connections + APPROACH_FILES
    assert need_of(ALL["cpu-work"], SCENARIOS).work_ms == 2


@pytest.mark.parametrize("name", ALL)
def test_a_scenario_runs_at_full_size_on_its_cpus_and_not_on_fewer(name: str) -> None:
    need = need_of(ALL[name], SCENARIOS)

    def scale(cpus: int) -> float:
        order = list(range(cpus))
        host = Host(cpus=cpus, memory_mb=99_000, open_files=need.open_files, cpu_order=order, free_mb=100_000)
        return largest_scale(ALL[name], room_of(host, "auto", SCENARIOS), SCENARIOS)[0]

    assert scale(need.cpus) == 1
    assert need.cpus == 2 or scale(need.cpus - 2) < 1
    needed = re.search(r"^# SCALE=1 takes (\d+) CPUs, .* ([\d,]+) open files\.$", text_of(name), re.MULTILINE)
    assert (needed is None) is (ALL[name].published is None)
    assert needed is None or needed.groups() == (f"{need.cpus}", f"{need.open_files:,}")


def text_of(name: str) -> str:
    return (SCENARIOS / f"{name}.yaml").read_text()


@pytest.mark.parametrize(("share", "expected"), [(0.999, 0.99), (0.29, 0.29), (0.0216, 0.021), (0.00079, 0.00079)])
def test_two_figures_are_rounded_down(share: float, expected: float) -> None:
    assert two_figures(share) == expected


@given(st.floats(1e-6, 1, exclude_max=True))
def test_two_figures_stay_below_and_near(share: float) -> None:
    assert two_figures(share) <= share < two_figures(share) * 1.1
