"""The page of the exporter, which Prometheus takes for cAdvisor's."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from engine_socket import Told, engine_of
from loomlab.basics.errors import CannotMeasureError
from loomlab.exporter.engine import Engine
from loomlab.exporter.page import ContainerFigures
from loomlab.exporter.seen import figures_of
from loomlab.exporter.trees import tree_at
from loomlab.run.collect import CONTAINER_METRICS
from loomlab.run.prometheus import get_text
from recorded import unpack
from test_cgroups import SYSTEMD, V2_OF_SYSTEMD, V2_WITHOUT

MEMINFO = "MemTotal:       2000000 kB\nMemFree:         100000 kB\nMemAvailable:   1500000 kB\nInactive(file):   9 kB\n"


@pytest.fixture
def engine() -> Iterator[Told]:
    with engine_of({V2_OF_SYSTEMD: "tomcat-virtual", V2_WITHOUT: "backend"}) as told:
        yield told


@pytest.fixture
def registry(engine: Told, tmp_path: Path) -> CollectorRegistry:
    (tmp_path / "meminfo").write_text(MEMINFO)
    found = CollectorRegistry()
    tree = tree_at(unpack(2, tmp_path / "cgroup"))
    found.register(ContainerFigures(tree, Engine(engine.socket), tmp_path / "meminfo"))
    return found


def labels_of(service: str, cgroup: str, **more: str) -> dict[str, str]:
    return {
        "id": cgroup,
        "name": f"loom-lab-{service}-1",
        "image": f"loom-lab/{service}:jdk25",
        "container_label_com_docker_compose_project": "loom-lab",
        "container_label_com_docker_compose_service": service,
    } | more


def test_every_metric_that_the_lab_collects_has_cadvisors_name_and_labels(registry: CollectorRegistry) -> None:
    expected = {
        "cpu_usage_seconds_total": 3.540013,
        "cpu_cfs_periods_total": 178,
        "cpu_cfs_throttled_periods_total": 81,
        "memory_rss": 35045376,
        "threads": 42,
        "oom_events_total": 2,
        "start_time_seconds": 1795428672,
        "spec_cpu_quota": 30_000,
        "spec_cpu_period": 100_000,
    }
    assert expected.keys() == set(CONTAINER_METRICS)

    for name, value in expected.items():
        more = {"cpu": "total"} if name == "cpu_usage_seconds_total" else {}
        told = registry.get_sample_value(f"container_{name}", labels_of("tomcat-virtual", SYSTEMD, **more))
        assert told == value, name


def test_a_container_without_a_quota_has_no_series_of_one(registry: CollectorRegistry) -> None:
    backend = labels_of("backend", f"/docker/{V2_WITHOUT}")

    assert registry.get_sample_value("container_threads", backend) == 12
    for name in ("cpu_cfs_periods_total", "cpu_cfs_throttled_periods_total", "spec_cpu_quota", "spec_cpu_period"):
        assert registry.get_sample_value(f"container_{name}", backend) is None


def test_a_memory_limit_is_told_and_none_where_there_is_none(registry: CollectorRegistry) -> None:
    limited, unlimited = labels_of("tomcat-virtual", SYSTEMD), labels_of("backend", f"/docker/{V2_WITHOUT}")

    assert registry.get_sample_value("container_spec_memory_limit_bytes", limited) == 96 << 20
    assert registry.get_sample_value("container_spec_memory_limit_bytes", unlimited) is None


def test_the_host_is_the_root_cgroup(registry: CollectorRegistry) -> None:
    root = dict.fromkeys(labels_of("", ""), "") | {"id": "/"}

    assert registry.get_sample_value("container_cpu_usage_seconds_total", root | {"cpu": "total"}) == 9.664
    assert registry.get_sample_value("container_memory_working_set_bytes", root) == 500_000 * 1024
    assert registry.get_sample_value("container_spec_memory_limit_bytes", root) == 2_000_000 * 1024


def test_figures_are_stamped_with_the_time_of_the_reading(registry: CollectorRegistry) -> None:
    before = time.time()
    page = generate_latest(registry).decode()
    stamps = [float(one) / 1000 for one in re.findall(r"^container_threads\{.*\} \S+ (\d+)$", page, re.MULTILINE)]

    assert len(stamps) == 2
    assert all(before - 0.001 <= stamp <= time.time() for stamp in stamps)


def test_a_container_is_there_as_soon_as_it_runs_and_gone_when_it_does_not(
    engine: Told, registry: CollectorRegistry
) -> None:
    backend = labels_of("backend", f"/docker/{V2_WITHOUT}")
    del engine.services[V2_WITHOUT]
    assert registry.get_sample_value("container_threads", backend) is None
    engine.services[V2_WITHOUT] = "backend"
    assert registry.get_sample_value("container_threads", backend) == 12


def test_one_that_has_ended_since_the_engine_told_of_it_does_not_disturb_the_others(
    registry: CollectorRegistry, tmp_path: Path
) -> None:
    generate_latest(registry)
    (tmp_path / "cgroup/docker" / V2_WITHOUT / "cpu.stat").unlink()

    page = generate_latest(registry).decode()

    assert V2_WITHOUT not in page
    assert V2_OF_SYSTEMD in page


def test_one_that_was_started_again_has_a_new_start(engine: Told, registry: CollectorRegistry, tmp_path: Path) -> None:
    backend = labels_of("backend", f"/docker/{V2_WITHOUT}")
    first = registry.get_sample_value("container_start_time_seconds", backend)
    cgroup = tmp_path / "cgroup/docker" / V2_WITHOUT
    cgroup.rename(tmp_path / "old")
    unpack(2, tmp_path / "cgroup")
    engine.started = "2026-11-23T10:11:22Z"

    assert first is not None
    assert registry.get_sample_value("container_start_time_seconds", backend) == first + 10


def test_the_engine_is_asked_once_for_each_start(engine: Told, registry: CollectorRegistry) -> None:
    for _ in range(3):
        generate_latest(registry)

    assert [target.partition("?")[0] for target in engine.asked] == [
        "/containers/json",
        f"/containers/{V2_OF_SYSTEMD}/json",
        f"/containers/{V2_WITHOUT}/json",
        "/containers/json",
        "/containers/json",
    ]


def test_an_engine_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotMeasureError, match=r"does not answer at .*none\.sock"):
        Engine(tmp_path / "none.sock").containers()


def test_the_server_tells_what_sees_containers_asks(engine: Told, tmp_path: Path) -> None:
    """Over HTTP, by the command that the container runs."""
    unpack(2, tmp_path)
    program = "from loomlab.cli import main; main()"
    options = ["--cgroups", str(tmp_path), "--engine", str(engine.socket), "--port", "18089"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    server = subprocess.Popen(  # noqa: S603 - this program
        [sys.executable, "-c", program, "export-cgroups", *options], env=environment
    )
    try:
        figures = figures_of(_answered("http://127.0.0.1:18089/metrics?max_age=0s"), V2_OF_SYSTEMD[:12])
    finally:
        server.terminate()
        server.wait(10)

    assert (figures.cpu_seconds, figures.rss_bytes, figures.threads) == (3.540013, 35045376, 42)


def _answered(url: str) -> str:
    deadline = time.monotonic() + 30
    while True:
        try:
            return get_text(url)
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
