"""The page of the exporter, which Prometheus takes for cAdvisor's, and whether a page tells what a container does."""

import json
import re
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from loomlab.basics.errors import CannotMeasureError, HostError
from loomlab.exporter import engine as exporter
from loomlab.exporter.engine import (
    CPU,
    PROJECT,
    RSS,
    SERVICE,
    THREADS,
    ContainerFigures,
    NodeCpus,
    page_figures,
    sees_containers,
)
from loomlab.run.process import CLOCK_TICKS
from loomlab.run.prometheus import CONTAINER_METRICS, answered
from served import serving

MEMINFO = "MemTotal:       2000000 kB\nMemFree:         100000 kB\nMemAvailable:   1500000 kB\nInactive(file):   9 kB\n"
LIMITED, FREE = "a" * 64, "b" * 64
QUOTA = ("cpu_cfs_periods_total", "cpu_cfs_throttled_periods_total", "spec_cpu_quota", "spec_cpu_period")
ID = "4f1c9a03be67"
STATS: dict[str, Any] = {
    "read": "2026-11-27T21:22:33.85294311Z",
    "pids_stats": {"current": 42},
    "cpu_stats": {
        "cpu_usage": {"total_usage": 3_540_013_000},
        "system_cpu_usage": 9_664_000_000,
        "throttling_data": {"periods": 178, "throttled_periods": 81},
    },
    "memory_stats": {"stats": {"total_rss": 35_045_376}, "limit": 96 << 20},
}
"""What Docker Engine 26.1 tells on a host with cgroups of version 1, as far as it is read."""


@dataclass
class FakeEngine:
    """What it answers."""

    socket: Path
    services: dict[str, str]  # by the IDs of their containers
    started: str = "2026-11-23T10:11:12.123456789Z"
    quotas_ncpu: dict[str, int] = field(default_factory=dict)
    stats: dict[str, dict[str, Any]] = field(default_factory=dict)  # what is other than STATS, by ID

    def answer(self, target: str) -> Any:
        """None: there is no such container."""
        path, _, query = target.partition("?")
        if path == "/containers/json":
            assert json.loads(unquote(parse_qs(query)["filters"][0])) == {"label": [PROJECT]}
            return [{"Id": container} for container in self.services]
        _, _, container, what = path.split("/")
        service = self.services.get(container)
        if service is None:
            return None
        if what == "stats":
            assert query == "stream=false&one-shot=true"
            return STATS | self.stats.get(container, {})
        return {
            "Id": container, "Name": f"/loom-lab-{service}-1", "State": {"StartedAt": self.started},
            "Config": {"Image": f"loom-lab/{service}:jdk25", "Labels": {PROJECT: "loom-lab", SERVICE: service}},
            "HostConfig": {"NanoCpus": self.quotas_ncpu.get(container, 0), "CpuQuota": 0, "CpuPeriod": 0, "Memory": 9},
        }  # fmt: skip


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    with tempfile.TemporaryDirectory() as folder:  # a socket's path must be short
        services, quotas = {LIMITED: "tomcat-virtual", FREE: "backend"}, {LIMITED: 300_000_000}
        engine = FakeEngine(Path(folder) / "docker.sock", services, quotas_ncpu=quotas)

        def reply(asked: str) -> tuple[int, bytes]:
            answer = engine.answer(asked.removeprefix("GET "))
            return 404 if answer is None else 200, json.dumps(answer).encode()

        with serving(reply, path=engine.socket):
            yield engine


@pytest.fixture
def registry(engine: FakeEngine, tmp_path: Path) -> CollectorRegistry:
    (tmp_path / "meminfo").write_text(MEMINFO)
    registry = CollectorRegistry()
    registry.register(ContainerFigures(engine.socket, tmp_path / "meminfo"))
    return registry


def value(registry: CollectorRegistry, metric: str, container: str = FREE) -> float | None:
    """Of a container, or of the host, whose id is /."""
    labels = {"id": container}
    if service := {LIMITED: "tomcat-virtual", FREE: "backend"}.get(container):
        labels = {
            "id": f"/docker/{container}", "name": f"loom-lab-{service}-1", "image": f"loom-lab/{service}:jdk25",
            "container_label_com_docker_compose_project": "loom-lab",
            "container_label_com_docker_compose_service": service,
        }  # fmt: skip
    if metric == "cpu_usage_seconds_total":
        labels["cpu"] = "total"
    return registry.get_sample_value(f"container_{metric}", labels)


def test_every_metric_has_cadvisors_name_and_labels_but_a_quota_that_is_none(registry: CollectorRegistry) -> None:
    expected = {
        "cpu_usage_seconds_total": 3.540013, "cpu_cfs_periods_total": 178, "cpu_cfs_throttled_periods_total": 81,
        "memory_rss": 35_045_376, "threads": 42, "start_time_seconds": 1795428672, "spec_memory_limit_bytes": 9,
        "spec_cpu_quota": 30_000, "spec_cpu_period": 100_000,
    }  # fmt: skip

    assert set(CONTAINER_METRICS) <= expected.keys()
    assert {name: value(registry, name, LIMITED) for name in expected} == expected
    assert [value(registry, name) for name in ("threads", *QUOTA)] == [42, *[None] * 4]


@pytest.mark.parametrize(
    ("stats", "expected"),
    [
        ({"memory_stats": {"stats": {"anon": 7}}}, {"memory_rss": 7}),
        ({"memory_stats": {}, "pids_stats": {}}, {"memory_rss": None, "threads": None}),
    ],
    ids=["cgroups of version 2", "what the engine does not tell"],
)
def test_engines(
    engine: FakeEngine, registry: CollectorRegistry, stats: dict[str, Any], expected: dict[str, float | None]
) -> None:
    engine.stats[FREE] = stats
    assert {name: value(registry, name) for name in expected} == expected


def test_the_host_is_the_root_cgroup(registry: CollectorRegistry) -> None:
    assert value(registry, "cpu_usage_seconds_total", "/") == 9.664
    assert value(registry, "memory_working_set_bytes", "/") == 500_000 * 1024
    assert value(registry, "spec_memory_limit_bytes", "/") == 2_000_000 * 1024


def test_a_nodes_cpus_are_those_that_the_exporter_may_run_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stat").write_text("cpu 9 9\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 100 0 0 200 0 0 0 50 9 9\nintr 1\n")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1})
    registry = CollectorRegistry()
    registry.register(NodeCpus(tmp_path))

    told = [sample for family in registry.collect() for sample in family.samples if sample.value]

    assert {one.name for one in told} == {"host_cpu_seconds_total"}
    assert {(one.labels["cpu"], one.labels["mode"], one.value) for one in told} == {
        ("1", "user", 100 / CLOCK_TICKS), ("1", "idle", 200 / CLOCK_TICKS), ("1", "steal", 50 / CLOCK_TICKS),
    }  # fmt: skip


def test_figures_are_stamped_with_the_time_of_the_reading(registry: CollectorRegistry) -> None:
    page = generate_latest(registry).decode()
    stamps = [float(one) / 1000 for one in re.findall(r"^container_threads\{.*\} \S+ (\d+)$", page, re.MULTILINE)]
    assert stamps == pytest.approx([datetime.fromisoformat(STATS["read"]).timestamp()] * 2, abs=0.001)


@pytest.mark.parametrize(
    "told",
    [
        {"cpu_stats": {"cpu_usage": {}}},  # as of one that has ended
        {"cpu_stats": None}, {"cpu_stats": STATS["cpu_stats"] | {"throttling_data": 1}}, {"read": "yesterday"},
        {"read": None}, {"pids_stats": {"current": "many"}}, {"memory_stats": {"stats": {"anon": 10**400}}},
    ],
    ids=str,
)  # fmt: skip
def test_nonsense_disturbs_no_other(engine: FakeEngine, registry: CollectorRegistry, told: dict[str, Any]) -> None:
    engine.stats[FREE] = told

    page = generate_latest(registry).decode()

    assert FREE not in page
    assert LIMITED in page


def test_an_engine_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotMeasureError, match=r"does not answer at .*none\.sock"):
        list(ContainerFigures(tmp_path / "none.sock").collect())


def test_the_server_tells_what_sees_containers_asks(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setattr("signal.pause", lambda: pages.append(answered(f"http://127.0.0.1:{port}/metrics?max_age=0s")))

    exporter.export_containers(engine.socket, port)

    assert page_figures(pages[0], LIMITED[:12]) == {CPU: 3.540013, RSS: 35_045_376, THREADS: 42}


def page(cpu_s: float, identity: str) -> str:
    labels = f'{{id="{identity}",container_label_com_docker_compose_service="loadgen"'
    return (
        f'{CPU}{labels},cpu="total"}} {cpu_s} 1795428672000\n'
        f"{RSS}{labels}}} 4e+07 1795428672000\n"
        f"{THREADS}{labels}}} 9 1795428672000\n"
        f'{THREADS}{{id="/docker/0123"}} 77\n'
    )


@pytest.mark.parametrize(
    ("identity", "known"),
    [
        (f"/docker/{ID}d8", True), (f"/system.slice/docker-{ID}d8.scope", True), (f"/docker/77/docker/{ID}", True),
        ("/docker/0", False),
    ],
)  # fmt: skip
def test_a_container_is_known_by_the_beginning_of_its_id(identity: str, known: bool) -> None:
    assert page_figures(page(10.0, identity), ID) == ({CPU: 10.0, RSS: 40e6, THREADS: 9} if known else {})


def test_a_page_must_tell_the_container_that_it_is_asked_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: ID)
    monkeypatch.setattr(exporter, "CAP_S", 0.5)

    pages = {"own": page(1.0, f"/docker/{ID}"), "idle": page(0.0, f"/docker/{ID}"), "other": page(1.0, "/docker/0")}

    with serving(lambda asked: (200, pages[asked.rpartition("/")[2]].encode())) as served:
        sees_containers(f"{served.origin}/own")
        for name in ("idle", "other"):
            with pytest.raises(HostError, match="of this container"):
                sees_containers(f"{served.origin}/{name}")
    with pytest.raises(HostError, match=r"cannot be read: http://127\.0\.0\.1:1/metrics did not answer"):
        sees_containers("http://127.0.0.1:1/metrics")
