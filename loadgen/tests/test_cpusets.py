"""What CPUs do, from counters of /proc/stat."""

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from loomlab.run.cpusets import CpuSets
from loomlab.run.hoststat import CLOCK_TICKS


@pytest.fixture(autouse=True)
def on_cpu_3(monkeypatch: pytest.MonkeyPatch) -> None:
    """The load generator's."""
    monkeypatch.setattr("loomlab.run.cpusets.os.sched_getaffinity", lambda _: {3})


def registry(
    proc: Path,
    backend_cpus: str,
    approach_cpus: str,
    *idle_and_iowait: tuple[int, int],
    monitoring_cpus: str | None = "1",
) -> CollectorRegistry:
    """Of a host with a CPU for each pair, in seconds."""
    told = CollectorRegistry()
    write_stat(proc, *idle_and_iowait)
    told.register(CpuSets(backend_cpus, approach_cpus, monitoring_cpus, proc))
    return told


def write_stat(proc: Path, *idle_and_iowait: tuple[int, int]) -> None:
    lines = [
        f"cpu{cpu} {50 * CLOCK_TICKS} {2 * CLOCK_TICKS} {30 * CLOCK_TICKS} {idle * CLOCK_TICKS} {iowait * CLOCK_TICKS} "
        f"{70 * CLOCK_TICKS} {80 * CLOCK_TICKS} {(cpu + 1) * CLOCK_TICKS} 0 0\n"
        for cpu, (idle, iowait) in enumerate(idle_and_iowait)
    ]
    (proc / "stat").write_text("cpu  1 2 3 4 5 6 7 8 9 10\n" + "".join(lines))


def of_role(told: CollectorRegistry, name: str, role: str) -> float | None:
    return told.get_sample_value(f"lab_{name}", {"role": role})


def test_figures_are_those_of_the_cpus_a_role_may_run_on(tmp_path: Path) -> None:
    told = registry(tmp_path, "1-2", "0", (1, 0), (20, 5), (300, 0), (4000, 50))

    assert [of_role(told, "available_cpus", role) for role in ("loadgen", "backend", "approach")] == [1, 2, 1]
    assert [of_role(told, "idle_cpu_seconds_total", role) for role in ("loadgen", "backend", "approach")] == [
        4050,
        325,
        1,
    ]


def test_interrupts_are_not_busy_and_stolen_time_is_apart(tmp_path: Path) -> None:
    told = registry(tmp_path, "1-2", "0", (1, 0), (20, 5), (300, 0), (4000, 50))

    assert [of_role(told, "busy_cpu_seconds_total", role) for role in ("approach", "backend")] == [82, 164]
    assert [of_role(told, "stolen_cpu_seconds_total", role) for role in ("approach", "backend")] == [1, 2 + 3]


@pytest.mark.parametrize("approach_cpus", ["", "1", "3", "0-1"])
def test_of_cpus_that_the_approach_shares_with_the_lab_nothing_is_told(tmp_path: Path, approach_cpus: str) -> None:
    told = registry(tmp_path, "1", approach_cpus, (1, 0), (20, 5), (300, 0), (4000, 50))

    assert of_role(told, "available_cpus", "approach") is None


@pytest.mark.parametrize(("monitoring_cpus", "told"), [("1,3", True), (None, True), ("0-1", False), ("", False)])
def test_neither_is_it_of_cpus_that_it_shares_with_monitoring(
    tmp_path: Path, monitoring_cpus: str | None, told: bool
) -> None:
    found = registry(tmp_path, "1", "0", (1, 0), (20, 5), (3, 0), (4, 5), monitoring_cpus=monitoring_cpus)

    assert (of_role(found, "available_cpus", "approach") is not None) is told


def test_a_backend_without_a_set_may_run_on_every_cpu(tmp_path: Path) -> None:
    told = registry(tmp_path, "", "", (1, 0), (20, 0))

    assert of_role(told, "available_cpus", "backend") == 2
    assert of_role(told, "idle_cpu_seconds_total", "backend") == 21


def test_idle_time_never_falls(tmp_path: Path) -> None:
    told = registry(tmp_path, "0", "0", (10, 5))
    assert of_role(told, "idle_cpu_seconds_total", "backend") == 15
    write_stat(tmp_path, (10, 4))
    assert of_role(told, "idle_cpu_seconds_total", "backend") == 15
    write_stat(tmp_path, (10, 6))
    assert of_role(told, "idle_cpu_seconds_total", "backend") == 16
