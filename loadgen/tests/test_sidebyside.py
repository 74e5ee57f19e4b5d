"""What was published beside what is run."""

from pathlib import Path

from loomlab.plan.scenarios.cells import Scaling
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.scenarios.sidebyside import side_by_side
from loomlab.records.models import SideBySide

SCENARIOS = Path(__file__).parent.parent / "scenarios"


def described(name: str, scaling: Scaling) -> SideBySide:
    return side_by_side(name, load_scenario(SCENARIOS, name), scaling, SCENARIOS)


def pairs(got: SideBySide) -> dict[str, tuple[str, str]]:
    return {one.name: (one.published, one.here) for one in got.parameters}


def test_a_scaled_closed_load_shows_both_sizes() -> None:
    got = described("project-loom-comparison-spring", Scaling(0.02, 30))

    assert got.scale == 0.02
    assert got.experiment == "spring-boot-edition"
    assert len(got.differs) == 7
    assert pairs(got) == {
        "tool": ("ab", "ab"),
        "requests": ("GET /capabilities", "GET /capabilities"),
        "backend's delay, ms": ("300", "300"),
        "connections": ("1,000, 5,000, 10,000, 15,000, 20,000", "20, 100, 200, 300, 400"),
        "requests in all": (
            "120,000, 600,000, 1,200,000, 1,800,000, 2,400,000",
            "2,400, 12,000, 24,000, 36,000, 48,000",
        ),
        "duration, s": ("at most 600", "at most 30"),
        "time-out, s": ("30", "30"),
        "repeats": ("1", "1"),
    }


def test_a_rate_and_a_spike_show_what_is_theirs() -> None:
    rate = pairs(described("loom-vs-webflux", Scaling(0.1)))
    spike = pairs(described("60k-vus-smooth-spike-get-post-movies", Scaling(0.01)))

    assert rate["offered rate, requests/s"] == ("10,000", "1,000")
    assert rate["duration, s"] == ("60", "60")
    assert spike["users at most"] == ("60,000", "600")
    assert spike["think time, s"] == ("1 to 3", "1 to 3")
    assert "POST /movies?delayInMillis=100" in spike["requests"][0]


def test_a_ladder_shows_its_steps() -> None:
    assert pairs(described("rate-ladder", Scaling(0.5)))["offered rate, requests/s"] == (
        "250, 500, 1,000, 2,000, 4,000",
        "125, 250, 500, 1,000, 2,000",
    )


def test_threads_and_hangs_are_told_where_there_are_any() -> None:
    assert pairs(described("virtual-threads-hey", Scaling()))["platform threads"] == ("4", "4")
    assert pairs(described("slow-backend", Scaling()))["the backend hangs for, s"] == ("10", "10")


def test_a_scenario_of_the_labs_own_has_no_experiment() -> None:
    got = described("soak", Scaling())

    assert (got.experiment, got.run, got.differs) == (None, None, [])
