"""How much of a scenario a host can hold."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.plan.capacity import Room, largest_scale, need_of, rounded_down
from loomlab.plan.host import APPROACH_FILES
from loomlab.plan.scenarios import RequestKind, Scenario, load_scenario, names
from ordered import SCENARIOS

ALL = {name: load_scenario(SCENARIOS, name) for name in names(SCENARIOS)}
HUGE = ALL["60k-vus-smooth-spike-get-post-movies"]
SPIKE = HUGE.model_copy(update={"load": HUGE.load.model_copy(update={"users": 100_000})})
WORK = ALL["cpu-work"].model_copy(update={"requests": [RequestKind(get="/capabilities?cpuMicros=4500")]})
FANNING_OUT = SPIKE.model_copy(
    update={
        "approaches": ["tomcat-platform"],
        "load": SPIKE.load.model_copy(update={"users": 10_000}),
        "requests": [RequestKind(get="/capabilities?calls=5&parallel=true")],
    }
)
BIG = Room(approach_cpus=256, generator_cpus=256, shared=False, generator_memory_mb=512_000, open_files=1_048_576)
ROOMS = st.builds(
    Room,
    approach_cpus=st.integers(1, 64),
    generator_cpus=st.integers(1, 64),
    shared=st.booleans(),
    generator_memory_mb=st.integers(256, 256_000),
    open_files=st.integers(1024, 2_000_000),
)


@given(name=st.sampled_from(sorted(ALL)), room=ROOMS)
def test_more_room_never_gives_a_smaller_scale(name: str, room: Room) -> None:
    scale, limit = largest_scale(ALL[name], room)
    larger = replace(room, approach_cpus=2 * room.approach_cpus, open_files=2 * room.open_files)

    assert 0 < scale <= largest_scale(ALL[name], larger)[0] <= 1
    assert (limit is None) is (scale == 1.0)


@pytest.mark.parametrize(
    ("scenario", "room", "scale", "limit"),
    [
        (ALL["loom-vs-webflux"], replace(BIG, approach_cpus=1), 0.1, "the approach's CPU"),
        (ALL["loom-vs-webflux"], replace(BIG, generator_cpus=1), 0.25, "vegeta's CPU"),
        (ALL["loom-vs-webflux"], replace(BIG, generator_cpus=1, shared=True), 0.16, "vegeta's CPU"),
        (ALL["project-loom-comparison"], replace(BIG, open_files=10_500), 0.25, "open files"),
        (HUGE, replace(BIG, open_files=30_500), 0.5, "open files"),
        (HUGE, replace(BIG, generator_memory_mb=181), 0.1, "the memory of users"),
        (SPIKE, BIG, 0.64, "the ports of one address"),
        (SPIKE.model_copy(update={"approaches": ["tomcat-platform"]}), BIG, 0.32, "threads"),
        (FANNING_OUT, BIG, 0.53, "threads"),
        (ALL["cpu-work"], replace(BIG, approach_cpus=1), 1.0, None),
        (WORK, replace(BIG, approach_cpus=1), 0.5, "the approach's CPU"),
        (ALL["project-loom-comparison"], BIG, 0.49, "ab's CPU"),
        (ALL["smoketest"], replace(BIG, approach_cpus=1, generator_cpus=1, shared=True), 1.0, None),
        *((scenario, BIG, 1.0, None) for scenario in ALL.values() if scenario.tool != "ab"),
    ],
)
def test_what_limits_the_scale_is_named(scenario: Scenario, room: Room, scale: float, limit: str | None) -> None:
    assert largest_scale(scenario, room) == (scale, limit)


@pytest.mark.parametrize(
    ("name", "connections", "open_files", "rate_rps", "minutes"),
    [
        ("project-loom-comparison-spring", 20_000, 40_500, 20_000 / 0.9, 3 * 5 * (120 * 0.9 + 75 + 28) / 60),
        ("loom-vs-webflux", 10_000, 10_500, 10_000, 2 * 2 * (60 + 75 + 28) / 60),
        ("25k-vus-smooth-spike-get-movies", 25_000, 25_500, 25_000 / 2.1, 3 * (300 + 75 + 28) / 60),
        ("fan-out", 1_000, 6 * 1_000 + APPROACH_FILES, 300, 4 * (60 + 75 + 28) / 60),
        ("rate-ladder", 8_000, 16_500, 4000, 3 * (300 + 75 + 28) / 60),
    ],
)
def test_a_need_is_that_of_the_largest_load_and_of_all_runs(
    name: str, connections: int, open_files: int, rate_rps: float, minutes: float
) -> None:
    need = need_of(ALL[name])

    assert (need.connections, need.open_files) == (connections, open_files)
    assert (need.rate_rps, need.minutes) == pytest.approx((rate_rps, minutes))


@pytest.mark.parametrize(
    ("number", "figures", "expected"),
    [(0.999, 2, 0.99), (0.29, 2, 0.29), (0.0216, 2, 0.021), (0.00079, 2, 0.00079), (1900, 1, 1000)],
)
def test_figures_are_rounded_down(number: float, figures: int, expected: float) -> None:
    assert rounded_down(number, figures) == expected
