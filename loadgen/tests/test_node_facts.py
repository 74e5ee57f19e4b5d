"""What is told of a swarm's nodes, and what of it `make doctor` finds wrong."""

import io
import json
import platform
import re
import resource
import time
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from loomlab.exporter.engine import ToldNode
from loomlab.exporter.nodes import check_nodes, findings, tell_nodes, told_by_nodes
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
    image_ids=f"{OTHER} {HERE}",
)
NEEDED = [("backend", "loom-lab/backend:jdk25", HERE), ("approach", "loom-lab/tomcat-virtual:jdk25", HERE)]


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> bytes:
    """Of a node of our making; the test may say what else its files hold."""
    for name, text in {
        "proc/sys/vm/max_map_count": "65530", "proc/sys/kernel/pid_max": "32768",
        "proc/sys/kernel/threads-max": "99999",
        "sys/class/net/eth0/mtu": "1450", "sys/class/net/eth1/mtu": "1500", "sys/class/net/lo/mtu": "9",
        "proc/cpuinfo": "model name\t: A CPU", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave",
        **getattr(request, "param", {}),
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    monkeypatch.setenv("NODE", "one")
    engine, registry = tmp_path / "docker.sock", CollectorRegistry()
    registry.register(ToldNode(engine, tmp_path))
    with serving(lambda _: (200, json.dumps([{"Id": HERE}, {"Id": OTHER}]).encode()), path=engine) as served:
        told = generate_latest(registry)
    assert served.asked == ["GET /images/json"]
    return told


def test_what_an_exporter_tells_is_added_to_what_the_manager_knows(page: bytes) -> None:
    listed = [NodeFacts(name="one", role="backend", nano_cpus=10**9), NodeFacts(name="two", role="approach")]
    ahead = re.sub(rb"(?m)^(lab_node_clock_seconds) .*", rb"\1 %f" % (time.time() + 60), page)
    with serving(lambda _: (200, ahead)) as exporter:
        one, two = told_by_nodes(listed, ["127.0.0.1", "127.0.0.2"], exporter.port)
    with serving(lambda _: (200, b"")) as another:
        assert told_by_nodes(listed, ["127.0.0.1"], another.port) == listed

    assert (one.role, one.nano_cpus, one.threads, one.mtu) == ("backend", 10**9, 32765, 1450)
    assert (one.kernel, one.cpu_model, one.governor) == (platform.release(), "A CPU", "powersave")
    assert one.open_files == resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert one.image_ids.split() == [HERE, OTHER]
    assert one.clock_off_ms is not None
    assert 50_000 < one.clock_off_ms <= 60_000
    assert two == listed[1]


@pytest.mark.parametrize(
    "page", [{f"proc/sys/kernel/{name}": "20000"} for name in ("pid_max", "threads-max")], indirect=True
)
def test_a_node_has_as_many_threads_as_the_lowest_limit_of_its_kernel_allows(page: bytes) -> None:
    assert b'threads="20000"' in page


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"clock_off_ms": 100},
        {"clock_off_ms": None},
        {"open_files": None, "threads": None},
        {"role": "monitor", "image_ids": ""},
    ],
)
def test_a_node_that_has_all_as_far_as_it_is_known_is_fine(changed: dict[str, object]) -> None:
    node = GOOD.model_copy(update=changed)
    assert [kind for kind, *_ in findings([node], NEEDED, 20_500, 12_000)] == ["fine"]


def test_the_size_of_a_node_is_told() -> None:
    ((_, _, what, *_),) = findings(
        [GOOD.model_copy(update={"nano_cpus": 16 * 10**9, "memory_bytes": 3 * 2**29})], [], 0, 0
    )
    assert ", 16 CPUs (" in what
    assert "), 1.5 GiB, " in what


def test_one_that_does_not_answer_hides_neither_itself_nor_others() -> None:
    silent, lacking = {"kernel": None, "open_files": 0}, {"name": "two", "threads": 0}
    found = [
        one[:2]
        for one in findings([GOOD.model_copy(update=each) for each in (silent, lacking)], NEEDED, 20_500, 12_000)
    ]
    assert found == [("fails", "node one"), ("fine", "node two"), ("caveat", "threads two")]


def test_nodes_of_one_name_whose_facts_nobody_can_tell_apart_are_refused() -> None:
    found = [one[:3] for one in findings([GOOD, GOOD], NEEDED, 20_500, 12_000)]
    assert found[0] == ("fails", "node one", "2 nodes have this name")


@pytest.mark.parametrize(
    ("changed", "kind", "name", "value"),
    [
        ({"kernel": None}, "fails", "node one", "does not answer"),
        ({"image_ids": OTHER}, "fails", "images one", "loom-lab/backend:jdk25"),
        ({"image_ids": OTHER, "role": "approach"}, "caveat", "images one", "loom-lab/tomcat-virtual:jdk25"),
        ({"clock_off_ms": -101}, "caveat", "clock one", "101 ms behind"),
        ({"clock_off_ms": 101}, "caveat", "clock one", "101 ms ahead"),
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
    same, unknown, other = (GOOD.model_copy(update={"name": "two", "mtu": mtu}) for mtu in (1450, None, 1400))
    *_, last = findings([GOOD, other], NEEDED, 20_500, 12_000)
    assert last[:3] == ("caveat", "MTU", "one 1450, two 1400")
    for alike in (same, unknown):
        assert [kind for kind, *_ in findings([GOOD, alike], NEEDED, 20_500, 12_000)] == ["fine", "fine"]


def test_commands_ask_the_exporter_of_each_node_that_stdin_lists(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[str]] = []

    def told(_: object, addresses: list[str]) -> list[NodeFacts]:
        asked.append(addresses)
        return [GOOD.model_copy(update={"image_ids": OTHER, "name": address}) for address in addresses]

    found = [(None, None, None, "", (f"10.0.0.{last}", 8081)) for last in (2, 1, 2)]
    monkeypatch.setattr("loomlab.exporter.nodes.told_by_nodes", told)
    monkeypatch.setattr("socket.getaddrinfo", lambda *_: found)
    monkeypatch.setattr("sys.stdin", io.StringIO("[]"))
    tell_nodes()
    nodes = [NodeFacts.model_validate(one) for one in json.loads(f"[{capsys.readouterr().out}]")]
    monkeypatch.setattr("sys.stdin", io.StringIO("[]"))
    check_nodes([f"backend=loom-lab/backend:jdk25={HERE}"], files=1, threads=1)
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]

    assert asked == [["10.0.0.1", "10.0.0.2"]] * 2
    assert nodes == [GOOD.model_copy(update={"image_ids": "", "name": address}) for address in asked[0]]
    assert [line[:2] for line in lines] == [
        [kind, f"{what} {name}"] for name in asked[0] for kind, what in (("fine", "node"), ("fails", "images"))
    ]
    assert lines[1][3] == "docker save loom-lab/backend:jdk25 | ssh 10.0.0.1 docker load"


def test_without_an_exporter_nodes_are_as_they_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown(*_: object) -> None:
        raise OSError

    listed = NodeFacts(name="one", role="backend", nano_cpus=10**9)
    monkeypatch.setattr("socket.getaddrinfo", unknown)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"[{listed.model_dump_json()}]"))
    tell_nodes()
    assert NodeFacts.model_validate_json(capsys.readouterr().out) == listed
