"""What is told of a swarm's nodes, and what of it `make doctor` finds wrong."""

import json
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from loomlab.exporter.engine import ToldNode
from loomlab.exporter.nodes import findings, told_by_nodes
from loomlab.records.models import NodeFacts
from served import serving

HERE, OTHER = "sha256:" + "a" * 64, "sha256:" + "b" * 64
GOOD = NodeFacts(
    name="one",
    role="backend",
    kernel="6.1",
    open_files=20_500,
    threads=12_000,
    mtu=1450,
    clock_off_ms=3,
    image_ids=HERE,
)
NEEDED = [("backend", "loom-lab/backend:jdk25", HERE), ("approach", "loom-lab/tomcat-virtual:jdk25", HERE)]


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Of a node of our making."""
    for name, text in {
        "proc/sys/vm/max_map_count": "65530", "proc/sys/kernel/pid_max": "32768",
        "proc/sys/kernel/threads-max": "99999",
        "sys/class/net/eth0/mtu": "1450", "sys/class/net/eth1/mtu": "1500", "sys/class/net/lo/mtu": "9",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    monkeypatch.setenv("NODE", "one")
    engine, registry = tmp_path / "docker.sock", CollectorRegistry()
    registry.register(ToldNode(engine, tmp_path))
    with serving(lambda _: (200, json.dumps([{"Id": HERE}, {"Id": OTHER}]).encode()), path=engine):
        return generate_latest(registry)


def test_what_an_exporter_tells_is_added_to_what_the_manager_knows(page: bytes) -> None:
    listed = [NodeFacts(name="one", role="backend", nano_cpus=10**9), NodeFacts(name="two", role="approach")]
    with serving(lambda _: (200, page)) as exporter:
        one, two = told_by_nodes(listed, ["127.0.0.1", "127.0.0.2"], exporter.port)

    assert (one.role, one.nano_cpus, one.threads, one.mtu) == ("backend", 10**9, 32765, 1450)
    assert one.image_ids.split() == [HERE, OTHER]
    assert one.clock_off_ms is not None
    assert -5000 < one.clock_off_ms <= 0  # the page was made before
    assert two == listed[1]


def test_a_node_that_has_all_is_fine() -> None:
    assert [kind for kind, *_ in findings([GOOD], NEEDED, 20_500, 12_000)] == ["fine"]


@pytest.mark.parametrize(
    ("changed", "kind", "name", "value"),
    [
        ({"kernel": None}, "fails", "node one", "does not answer"),
        ({"image_ids": OTHER}, "fails", "images one", "loom-lab/backend:jdk25"),
        ({"image_ids": OTHER, "role": "approach"}, "caveat", "images one", "loom-lab/tomcat-virtual:jdk25"),
        ({"clock_off_ms": -101}, "caveat", "clock one", "101 ms behind"),
        ({"open_files": 20_499}, "caveat", "open files one", "20499"),
        ({"threads": 11_999}, "caveat", "threads one", "11999"),
    ],
)
def test_what_a_node_lacks_is_named_with_its_value(
    changed: dict[str, object], kind: str, name: str, value: str
) -> None:
    found = [one for one in findings([GOOD.model_copy(update=changed)], NEEDED, 20_500, 12_000) if one[0] != "fine"]

    assert [one[:2] for one in found] == [(kind, name)]
    assert value in found[0][2]


def test_nodes_whose_packets_have_different_lengths_are_named() -> None:
    *_, last = findings([GOOD, GOOD.model_copy(update={"name": "two", "mtu": 1400})], NEEDED, 20_500, 12_000)
    assert last[:3] == ("caveat", "MTU", "one 1450, two 1400")
