"""What the lab makes of a scenario on a host of two CPUs with 20,000 open files, and what it refuses."""

from pathlib import Path

import pytest

from loomlab.basics.errors import UsageError
from ordered import SCENARIOS, planned
from test_planning import first, refused


def test_a_scenario_has_a_block_for_each_load_and_what_was_published_beside_it(tmp_path: Path) -> None:
    order = planned(tmp_path, scenario="project-loom-comparison-spring", scale="0.02", connections=None)

    assert order.experiment.endswith("-project-loom-comparison-spring")
    assert [run.request.load.connections for run in order.runs[::3]] == [20, 100, 200, 300, 400]
    assert [run.settings["PLATFORM_THREADS"] for run in order.runs[::3]] == ["20", "100", "200", "300", "400"]
    assert [run.request.cell for run in order.runs[::3]] == [1, 2, 3, 4, 5]
    assert order.scenario is not None
    assert order.scenario.scale == 0.02
    assert not first(order).request.fit_duration


def test_a_scenario_says_its_threads(tmp_path: Path) -> None:
    run = first(planned(tmp_path, scenario="virtual-threads-hey", connections=None))

    assert run.settings["PLATFORM_THREADS"] == "4"


def test_a_duration_replaces_the_scenarios(tmp_path: Path) -> None:
    soak = planned(tmp_path, scenario="soak", connections=None, duration_s=90)

    assert first(soak).request.load.shape.duration_s == 90


def test_auto_is_the_largest_scale_the_host_can_hold(tmp_path: Path) -> None:
    scaled = planned(tmp_path, scenario="loom-vs-webflux", scale="auto", connections=None)
    whole = planned(tmp_path, scenario="smoketest", scale="auto", connections=None)

    assert scaled.scenario is not None
    assert 0 < scaled.scenario.scale < 1
    assert first(scaled).request.load.connections == round(10_000 * scaled.scenario.scale)
    assert whole.scenario is not None
    assert whole.scenario.scale == 1


@pytest.mark.parametrize(
    ("scenario", "duration_s", "part"),
    [
        ("smoketset", None, "the nearest are smoketest"),
        ("slow-backend", 20, "DURATION=20s ends before"),
        ("rate-ladder", 4, "DURATION=4s is too short"),
        ("25k-vus-smooth-spike-get-movies", 15, "DURATION=15s is too short"),
    ],
)
def test_a_scenario_that_cannot_be_run_is_refused(
    tmp_path: Path, scenario: str, duration_s: int | None, part: str
) -> None:
    assert part in refused(UsageError, tmp_path, scenario=scenario, duration_s=duration_s, connections=None)


def test_a_scenario_of_an_approach_that_is_none_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "scenarios"
    own.mkdir()
    (own / "soak.yaml").write_text((SCENARIOS / "soak.yaml").read_text().replace("tomcat-virtual", "tomcat-green"))

    said = refused(UsageError, tmp_path, scenarios=own, scenario="soak", connections=None)
    assert said.startswith("soak.yaml names tomcat-green: ")
    assert "tomcat-platform, tomcat-virtual" in said


def test_a_broken_scenario_is_told_by_file_line_and_field(tmp_path: Path) -> None:
    broken = tmp_path / "scenarios"
    broken.mkdir()
    (broken / "soak.yaml").write_text((SCENARIOS / "soak.yaml").read_text().replace("500/s", "500"))

    said = refused(UsageError, tmp_path, scenarios=broken, scenario="soak", connections=None)
    assert said.startswith("soak.yaml, line 10, load.rate.0 is 500: ")
