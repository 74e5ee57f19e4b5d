"""The page of the exporter, which Prometheus takes for cAdvisor's."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from engine_socket import STATS, Told, engine_of
from loomlab.basics.errors import CannotMeasureError
from loomlab.exporter.engine import Engine
from loomlab.exporter.page import ContainerFigures
from loomlab.exporter.seen import figures_of
from loomlab.run.prometheus import CONTAINER_METRICS, answered

MEMINFO = "MemTotal:       2000000 kB\nMemFree:         100000 kB\nMemAvailable:   1500000 kB\nInactive(file):   9 kB\n"
LIMITED, FREE = "a" * 64, "b" * 64


@pytest.fixture
def engine() -> Iterator[Told]:
    with engine_of({LIMITED: "tomcat-virtual", FREE: "backend"}) as told:
        told.quotas_ncpu[LIMITED] = 300_000_000
        yield told


@pytest.fixture
def registry(engine: Told, tmp_path: Path) -> CollectorRegistry:
    (tmp_path / "meminfo").write_text(MEMINFO)
    found = CollectorRegistry()
    found.register(ContainerFigures(Engine(engine.socket), tmp_path / "meminfo"))
    return found


def labels_of(service: str, container: str, **more: str) -> dict[str, str]:
    return {
        "id": f"/docker/{container}",
        "name": f"loom-lab-{service}-1",
        "image": f"loom-lab/{service}:jdk25",
        "container_label_com_docker_compose_project": "loom-lab",
        "container_label_com_docker_compose_service": service,
    } | more


BACKEND = labels_of("backend", FREE)


def test_every_metric_that_the_lab_collects_has_cadvisors_name_and_labels(registry: CollectorRegistry) -> None:
    expected = {
        "cpu_usage_seconds_total": 3.540013,
        "cpu_cfs_periods_total": 178,
        "cpu_cfs_throttled_periods_total": 81,
        "memory_rss": 35_045_376,
        "threads": 42,
        "start_time_seconds": 1795428672,
        "spec_cpu_quota": 30_000,
        "spec_cpu_period": 100_000,
    }
    assert expected.keys() == set(CONTAINER_METRICS) - {"oom_events_total"}

    for name, value in expected.items():
        more = {"cpu": "total"} if name == "cpu_usage_seconds_total" else {}
        told = registry.get_sample_value(f"container_{name}", labels_of("tomcat-virtual", LIMITED, **more))
        assert told == value, name


def test_a_container_without_a_quota_has_no_series_of_one(registry: CollectorRegistry) -> None:
    assert registry.get_sample_value("container_threads", BACKEND) == 42
    for name in ("cpu_cfs_periods_total", "cpu_cfs_throttled_periods_total", "spec_cpu_quota", "spec_cpu_period"):
        assert registry.get_sample_value(f"container_{name}", BACKEND) is None


def test_memory_is_that_of_either_version_of_cgroups(engine: Told, registry: CollectorRegistry) -> None:
    engine.stats[FREE] = {"memory_stats": {"stats": {"anon": 7}, "limit": 9}}

    assert registry.get_sample_value("container_memory_rss", BACKEND) == 7
    assert registry.get_sample_value("container_spec_memory_limit_bytes", BACKEND) == 9


def test_what_the_engine_does_not_tell_has_no_series(engine: Told, registry: CollectorRegistry) -> None:
    engine.stats[FREE] = {"memory_stats": {}, "pids_stats": {}}

    assert registry.get_sample_value("container_memory_rss", BACKEND) is None
    assert registry.get_sample_value("container_threads", BACKEND) is None


def test_the_host_is_the_root_cgroup(registry: CollectorRegistry) -> None:
    root = dict.fromkeys(BACKEND, "") | {"id": "/"}

    assert registry.get_sample_value("container_cpu_usage_seconds_total", root | {"cpu": "total"}) == 9.664
    assert registry.get_sample_value("container_memory_working_set_bytes", root) == 500_000 * 1024
    assert registry.get_sample_value("container_spec_memory_limit_bytes", root) == 2_000_000 * 1024


def test_figures_are_stamped_with_the_time_of_the_reading(registry: CollectorRegistry) -> None:
    page = generate_latest(registry).decode()
    stamps = [float(one) / 1000 for one in re.findall(r"^container_threads\{.*\} \S+ (\d+)$", page, re.MULTILINE)]

    assert stamps == pytest.approx([datetime.fromisoformat(STATS["read"]).timestamp()] * 2, abs=0.001)


def test_a_container_is_there_as_soon_as_it_runs_and_gone_when_it_does_not(
    engine: Told, registry: CollectorRegistry
) -> None:
    del engine.services[FREE]
    assert registry.get_sample_value("container_threads", BACKEND) is None
    engine.services[FREE] = "backend"
    assert registry.get_sample_value("container_threads", BACKEND) == 42


def test_one_that_has_ended_since_the_engine_told_of_it_does_not_disturb_the_others(
    engine: Told, registry: CollectorRegistry
) -> None:
    engine.stats[FREE] = {"cpu_stats": {"cpu_usage": {}}}

    page = generate_latest(registry).decode()

    assert FREE not in page
    assert LIMITED in page


def test_one_that_was_started_again_has_a_new_start(engine: Told, registry: CollectorRegistry) -> None:
    first = registry.get_sample_value("container_start_time_seconds", BACKEND)
    engine.started = "2026-11-23T10:11:22Z"
    engine.stats[FREE] = {"cpu_stats": {"cpu_usage": {"total_usage": 1}}}

    assert first is not None
    assert registry.get_sample_value("container_start_time_seconds", BACKEND) == first + 10


def test_the_engine_is_asked_once_for_what_does_not_change(engine: Told, registry: CollectorRegistry) -> None:
    for _ in range(3):
        generate_latest(registry)

    assert engine.asked.count("/containers/json") == 3
    for one in (LIMITED, FREE):
        assert engine.asked.count(f"/containers/{one}/json") == 1
        assert engine.asked.count(f"/containers/{one}/stats") == 3


def test_an_engine_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotMeasureError, match=r"does not answer at .*none\.sock"):
        Engine(tmp_path / "none.sock").running()


def test_the_server_tells_what_sees_containers_asks(engine: Told) -> None:
    """Over HTTP, by the command that the container runs."""
    program = "from loomlab.cli import main; main()"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    options = ["--engine", str(engine.socket), "--port", "18089"]
    server = subprocess.Popen(  # noqa: S603 - this program
        [sys.executable, "-c", program, "export-containers", *options], env=environment
    )
    try:
        figures = figures_of(_answered("http://127.0.0.1:18089/metrics?max_age=0s"), LIMITED[:12])
    finally:
        server.terminate()
        server.wait(10)

    assert (figures.cpu_seconds, figures.rss_bytes, figures.threads) == (3.540013, 35_045_376, 42)


def _answered(url: str) -> str:
    deadline = time.monotonic() + 30
    while True:
        try:
            return answered(url)
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
