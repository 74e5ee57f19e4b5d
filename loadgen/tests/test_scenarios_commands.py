"""The commands that read scenarios, as a host script uses them."""

import json
from pathlib import Path

import pytest

from loomlab.cli import main

SCENARIOS = Path(__file__).parent.parent / "scenarios"
HOST = {
    "--approach-cpus": "0",
    "--backend-cpus": "1",
    "--generator-cpus": "1",
    "--generator-memory-mb": "2048",
    "--open-files": "1048576",
    "--scenarios-dir": str(SCENARIOS),
}
BIG = HOST | {
    "--approach-cpus": "0-127",
    "--backend-cpus": "128-191",
    "--generator-cpus": "192-255",
    "--generator-memory-mb": "512000",
}


def words(options: dict[str, str]) -> list[str]:
    return [word for pair in options.items() for word in pair]


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as exit_:
        main(list(arguments))
    assert exit_.value.code == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as exit_:
        main(list(arguments))
    problem = capsys.readouterr().err.strip()
    assert exit_.value.code == 2
    assert problem.startswith("loomlab: ")
    assert "Traceback" not in problem
    return problem


def plan(capsys: pytest.CaptureFixture[str], name: str, scale: str, *more: str) -> dict[str, str]:
    lines = said(capsys, "plan-scenario", name, "--scale", scale, *words(HOST), *more).splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_a_plan_has_a_cell_for_each_load(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(capsys, "project-loom-comparison-spring", "0.02") == {
        "TOOL": "ab",
        "APPROACH": "jetty-platform,jetty-virtual,webflux-netty",
        "CONCURRENCY": "400",
        "ENDPOINT": "/capabilities",
        "DELAY": "300",
        "DURATION": "600s",
        "REPEATS": "1",
        "JDK": "25",
        "SCALE": "0.02",
        "CELLS": "1:20:20 2:100:100 3:200:200 4:300:300 5:400:400",
    }


def test_a_plan_has_the_threads_and_the_warm_up_the_scenario_wants(capsys: pytest.CaptureFixture[str]) -> None:
    got = plan(capsys, "virtual-threads-hey", "1")

    assert (got["CELLS"], got["WARMUP_CAP"]) == ("1:50:4", "0s")


def test_a_duration_replaces_the_scenarios(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(capsys, "soak", "1", "--duration-s", "90")["DURATION"] == "90s"


def test_auto_is_the_largest_scale_the_host_can_hold(capsys: pytest.CaptureFixture[str]) -> None:
    got = plan(capsys, "loom-vs-webflux", "auto")

    assert 0 < float(got["SCALE"]) < 1
    assert int(got["CONCURRENCY"]) == round(10_000 * float(got["SCALE"]))
    assert plan(capsys, "smoketest", "auto")["SCALE"] == "1"


@pytest.mark.parametrize("scale", ["0", "1.1", "-1", "nan", "big", "0.00001"])
def test_what_is_no_scale_is_refused(capsys: pytest.CaptureFixture[str], scale: str) -> None:
    assert f"SCALE={scale}" in refused(capsys, "plan-scenario", "soak", f"--scale={scale}", *words(HOST))


@pytest.mark.parametrize(
    ("name", "duration_s", "part"),
    [
        ("smoketset", "0", "the nearest are smoketest"),
        ("slow-backend", "20", "DURATION=20s ends before"),
        ("rate-ladder", "4", "DURATION=4s is too short"),
        ("25k-vus-smooth-spike-get-movies", "15", "DURATION=15s is too short"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused(
    capsys: pytest.CaptureFixture[str], name: str, duration_s: str, part: str
) -> None:
    arguments = ("plan-scenario", name, "--scale", "1", "--duration-s", duration_s)

    assert part in refused(capsys, *arguments, *words(HOST))


def test_a_broken_file_is_told_before_anything_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = (SCENARIOS / "soak.yaml").read_text().replace("500/s", "500")
    (tmp_path / "soak.yaml").write_text(text)

    problem = refused(
        capsys, "plan-scenario", "soak", "--scale", "1", *words(HOST | {"--scenarios-dir": str(tmp_path)})
    )

    assert "soak.yaml, line 10, load.rate.0 is 500: use a rate above 0 with its unit such as 500/s." in problem


@pytest.mark.parametrize("command", [["scenarios"], ["plan-scenario", "soak", "--scale", "1"]])
def test_what_is_no_cpu_set_is_refused(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert "'1-x'" in refused(capsys, *command, *words(HOST | {"--backend-cpus": "1-x"}))


def test_the_list_shows_every_scenario_with_its_needs(capsys: pytest.CaptureFixture[str]) -> None:
    small, big = (said(capsys, "scenarios", *words(host)).splitlines() for host in (HOST, BIG))

    names = [path.stem for path in SCENARIOS.glob("*.yaml")]
    assert len(names) > 12
    for name in names:
        assert len([line for line in small if line.split()[:1] == [name]]) == 1
        assert next(line for line in big if line.split()[:1] == [name]).split()[-1] == "1"
    spike = next(line for line in small if "60k-vus" in line)
    assert "60,000" in spike
    assert "60,500" in spike
    assert spike.rstrip().endswith("0.035 for the approach's CPU")
    assert max(map(len, small)) <= 120


def test_a_description_is_written_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "scenario.json"

    said(
        capsys, "describe-scenario", "loom-vs-webflux", "--out", str(out), "--scale", "0.1",
        "--scenarios-dir", str(SCENARIOS),
    )  # fmt: skip

    got = json.loads(out.read_text())
    assert (got["name"], got["scale"]) == ("loom-vs-webflux", 0.1)
    assert {"name": "connections", "published": "10,000", "here": "1,000"} in got["parameters"]


def test_the_schema_that_is_printed_is_the_one_beside_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "schema") == (SCENARIOS / "scenario.schema.json").read_text()
