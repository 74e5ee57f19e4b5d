"""On a swarm the CPUs of each node tell of what ran there, and those of the load generator's host of it alone."""

from pathlib import Path
from typing import Any

import pytest

from rawrun import APPROACH_CPU, BACKEND_CPU, GENERATOR_CPU, RawRun, cpu, matrix, ramp
from saying import failed, told

EXPORTER_CPU = 0.02


def node(instance: str, busy: float, stolen: float = 0.0) -> list[dict[str, Any]]:
    """Of two CPUs, one of them idle."""
    each = {"0": {"user": busy, "idle": 1 - busy - stolen, "steal": stolen}, "1": {"user": 0.0, "idle": 1.0}}
    return [
        matrix("host_cpu_seconds_total", ramp(share), instance=instance, cpu=number, mode=mode)
        for number, modes in each.items()
        for mode, share in modes.items()
    ]


@pytest.fixture
def run() -> RawRun:
    """The approach has CPUs of which its plan knows nothing."""
    run = RawRun()
    run.request["approach_cpus"], run.request["backend_cpus"] = "7", "2"
    for service in run.metrics["containers"]:
        service["metric"]["instance"] = service["metric"]["service"]
    run.metrics["containers"].append(cpu("cadvisor", ramp(EXPORTER_CPU)))
    run.metrics["containers"][-1]["metric"]["instance"] = "app"
    run.metrics["nodes"] = [
        *node("app", APPROACH_CPU + EXPORTER_CPU), *node("backend", BACKEND_CPU), *node("loadgen", GENERATOR_CPU),
    ]  # fmt: skip
    return run


def test_a_container_has_all_cpus_of_its_node_and_shares_them_with_the_exporter(run: RawRun, tmp_path: Path) -> None:
    got = run.judged(tmp_path)

    assert (got.verdict, got.reasons) == ("valid", [])
    assert got.foreign_cpu_share == pytest.approx(0, abs=0.005)
    assert got.idle_share == pytest.approx(1 - (APPROACH_CPU + EXPORTER_CPU) / 2, abs=0.01)


def test_others_on_the_approachs_node_are_foreign(run: RawRun, tmp_path: Path) -> None:
    run.metrics["nodes"] = [*node("app", APPROACH_CPU + 0.2), *node("backend", BACKEND_CPU)]
    got = run.judged(tmp_path)

    assert failed(got.rules) == {"foreign_cpu"}
    assert told(got.rules, "foreign_cpu", "9 5")


def test_stolen_time_is_that_of_the_services_node(run: RawRun, tmp_path: Path) -> None:
    run.metrics["nodes"] = [*node("app", APPROACH_CPU + EXPORTER_CPU), *node("backend", BACKEND_CPU, 0.45)]
    got = run.judged(tmp_path)

    assert failed(got.rules) == {"stolen"}
    assert "backend" in got.reasons[0]


def test_where_the_approachs_node_does_not_tell_nothing_is_known_of_its_cpus(run: RawRun, tmp_path: Path) -> None:
    run.metrics["nodes"] = node("backend", BACKEND_CPU)
    got = run.judged(tmp_path)

    assert (got.foreign_cpu_share, got.idle_share, got.steal_shares) == (None, None, None)
