"""A service of the user's: what is planned and started of its Compose file, what it and the counter of its container
tell, over real HTTP, and what is kept of it."""

import io
import json
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from good import WARMUP
from loads import load_of, rate, request_of
from loomlab.basics.errors import HostError, UsageError
from loomlab.cli.planning import model_of_user, print_targets
from loomlab.cli.results import hide_secrets
from loomlab.plan.overlay import overlay_lines
from loomlab.plan.planning import plan, shell_lines
from loomlab.plan.subject import HIDDEN, hide, secrets_of
from loomlab.records.endpoints import NO_DELAY
from loomlab.records.files import read_record, write_json
from loomlab.records.models import Foreign, Probe
from loomlab.records.order import Order, order_file
from loomlab.records.raw import MemoryAnswer
from loomlab.run import foreign
from loomlab.run.console import Progress, Stop
from loomlab.run.foreign import ForeignService
from loomlab.run.management import Process
from loomlab.run.measure import Measurement
from ordered import STAMP, TWO_CPUS, lab_in
from served import NOBODY, Served, serving

SECRET = "c0rrect horse"  # noqa: S105 - of a test
MODEL: dict[str, Any] = yaml.safe_load("""
name: shop
services:
  orders:
    build: {context: /shop}
    environment: {PAYMENTS_URL: "http://payments:8080", PASSWORD: c0rrect horse$$, JAVA_TOOL_OPTIONS: -Xss1m}
    ports: [{target: 8080, published: "80"}]
    depends_on: {payments: {condition: service_started, required: true}}
    deploy: {resources: {limits: {memory: 1g}}}
    volumes:
      - {type: volume, source: data, target: /data}
      - {type: bind, source: /shop/conf, target: /conf, read_only: true}
    cap_add: [NET_ADMIN]
    dns: [10.0.0.1]
    container_name: mine
  payments: {image: "payments:2", depends_on: {db: {condition: service_healthy}}}
  db:
    image: postgres:17
    container_name: my-db
    networks: {default: {aliases: [db.internal]}, other: null}
    environment: {POSTGRES_PASSWORD: hunter22}
  unrelated: {image: x}
secrets: {token: {file: /shop/token}}
""")
GIVEN = {"SUBJECTS": "~/shop/compose.yaml", "READY": "/ready", "ENDPOINT": "/orders/1?x=%2F", "CONCURRENCY": "200"}


def planned(folder: Path, verb: str = "sweep", model: Any = None, **given: str) -> Order:
    lab = lab_in(folder)
    asked = {name: value for name, value in (GIVEN | {"SEED": "1"} | given).items() if value}
    return plan(lab.asked(verb, asked), TWO_CPUS, lab, STAMP, deepcopy(model or MODEL))


def services(order: Order) -> dict[str, Any]:
    lines = [line for line in overlay_lines(order, "/lab", MODEL) if line.startswith("  ")]
    return {json.loads(name.strip()): json.loads(value) for name, _, value in (line.partition(": ") for line in lines)}


def test_a_service_is_loaded_at_its_port_and_no_request_asks_the_labs_backend(tmp_path: Path) -> None:
    order = planned(tmp_path, METRICS="9000/metrics", AA="1", REPEATS="1")

    first = order.runs[0].request
    assert {run.request.load.origin for run in order.runs} == {"http://orders:8080", "http://orders-twin:8080"}
    assert (first.delay, first.jdk, first.gc, first.endpoint) == (NO_DELAY, None, None, GIVEN["ENDPOINT"])
    assert first.foreign
    assert (first.foreign.ready, first.foreign.metrics_port, first.foreign.metrics) == ("/ready", 9000, "/metrics")
    lines = [*shell_lines(order)]
    assert "SUBJECT=orders" in lines
    assert "COMPANIONS=payments,db" in lines
    assert "DELAY=300" in lines  # the backend's own
    assert order.subject
    assert order.subject.told == ["cap_add is ['NET_ADMIN']", "its root can be written", "without its dns"]
    assert "orders runs as your Compose file has it: cap_add is ['NET_ADMIN']" in (order.note or "")
    assert SECRET not in order.model_dump_json()


def test_how_much_a_service_holds_needs_no_other_load(tmp_path: Path) -> None:
    order = planned(tmp_path, "capacity", SLO="p99<1s", CONCURRENCY="")

    assert [run.request.capacity_share for run in order.runs[:4]] == [1.0, 0.5, 0.8, 1.1]
    assert order.runs[0].request.search and order.runs[0].request.foreign


@pytest.mark.parametrize(("rate", "connections"), [("10", 100), ("200", 804), ("9000", 9_750)])
def test_a_rate_has_connections_for_answers_that_take_seconds(tmp_path: Path, rate: str, connections: int) -> None:
    order = planned(tmp_path, "run-vegeta", RATE=rate, CONCURRENCY="")
    assert order.runs[0].request.load.connections == connections


def test_limits_names_ports_and_networks_are_the_labs_and_the_rest_the_users(tmp_path: Path) -> None:
    b = "JVM_OPTS=-javaagent:/a.jar -Xmx1g;IMAGE=orders:2"
    order = planned(tmp_path, "compare", A="ENV:COLOUR=$blue", B=b, REPEATS="1", CPU_MODE="quota")

    told = services(order)
    assert told.keys() == {"orders-a", "orders-b", "payments", "db"}
    a, b = told["orders-a"], told["orders-b"]
    assert (a["image"], b["image"], a["pull_policy"]) == ("shop-orders", "orders:2", "never")
    assert a["environment"] == MODEL["services"]["orders"]["environment"] | {"COLOUR": "$$blue"}
    assert b["environment"]["JAVA_TOOL_OPTIONS"] == "-Xss1m -javaagent:/a.jar -Xmx1g"
    assert not {"ports", "container_name", "build"} & a.keys()
    assert (a["networks"], a["cpuset"], a["restart"]) == (["load"], "0,1", "no")
    cpus, memory = order.settings["APPROACH_CPUS"], order.settings["APPROACH_MEMORY"]
    assert a["deploy"]["resources"]["limits"] == {"cpus": cpus, "memory": memory, "pids": 40_000}
    assert (a["memswap_limit"], cpus) == (memory, "1")
    assert a["volumes"] == [{"type": "volume", "target": "/data"}, MODEL["services"]["orders"]["volumes"][1]]
    assert a["depends_on"].keys() == {"payments"}
    assert told["db"]["cpuset"] == order.settings["BACKEND_CPUSET"]
    nodes = [told[name]["deploy"]["placement"]["constraints"] for name in ("orders-a", "db")]
    assert nodes == [["node.labels.loom-lab.role == approach"], ["node.labels.loom-lab.role == backend"]]
    assert told["db"]["networks"] == {"load": {"aliases": ["db.internal", "my-db"]}}
    assert f"secrets: {json.dumps(MODEL['secrets'])}" in [*overlay_lines(order, "/lab", MODEL)]


@pytest.mark.parametrize(
    ("given", "cure"),
    [
        ({"READY": ""}, "READY is not set: use READY=/health"),
        ({"SERVICE": "order"}, "SERVICE=order is no service of ~/shop/compose.yaml: use one of orders, payments"),
        ({"SERVICE": "db"}, "PORT is not set, and db publishes no ports"),
        ({"GC": "g1"}, "GC=g1 is of the lab's own services: leave it out"),
        ({"DELAY": "5"}, "DELAY=5 is of the lab's own services"),
        ({"ENDPOINT": "orders"}, "ENDPOINT=orders: it is no path"),
        ({"METRICS": "metrics"}, "METRICS=metrics: it is not a path"),
        ({"TOOL": "ab", "DESIGN": "slices", "AA": "1"}, "TOOL=ab connects anew"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_the_cure(given: dict[str, str], cure: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=cure):
        planned(tmp_path, **given)


BARE = {"image": "x", "ports": [{"target": 1}]}
WRITING = {"volumes": [{"type": "bind", "source": "/shop/data", "target": "/data"}]}


@pytest.mark.parametrize(
    ("model", "cure"),
    [
        *(({"services": {name: BARE}}, f"{name} is a name of the lab's own") for name in ("backend", "tomcat-virtual")),
        ({"services": {"db": {"image": "x"}}}, "SERVICE is not set, and no services publish ports: use one of db"),
        *(
            (MODEL | {"services": MODEL["services"] | {name: own | WRITING}}, f"{name} may write to /shop/data")
            for name, own in MODEL["services"].items()
            if name in {"db", "orders"}
        ),
        (MODEL | {"secrets": {"db": {"environment": "DBPW"}}}, "the secret db is of the environment: use file:"),
    ],
)
def test_a_file_that_is_not_for_the_lab_is_refused(model: Any, cure: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=cure):
        planned(tmp_path, model=model)


def test_an_image_alone_has_the_port_that_is_given_and_options_beside_its_own(tmp_path: Path) -> None:
    given = {"SUBJECTS": "", "IMAGE": "orders:1", "PORT": "9090", "B": "JVM_OPTS=-Xss1m"}
    model = {"services": {"orders": {"image": "orders:1", "ports": [{}]}}}
    order = planned(tmp_path, "compare", model=model, **given)
    assert order.runs[0].request.load.origin.endswith(":9090")
    lines = [line for line in overlay_lines(order, "/lab", model) if "-Xss1m" in line]
    assert ['"JAVA_TOOL_OPTIONS": "${OF_IMAGE_ORDERS_B:-} -Xss1m"' in line for line in lines] == [True]


def test_values_of_the_environment_are_hidden_in_every_form_but_for_short_ones() -> None:
    secrets = [*secrets_of(MODEL), 'qu"oted']
    both = secrets_of({"services": {"a": {"environment": {"A": "correct", "B": "correct-horse"}}}})
    assert hide(b"correct-horse", both) == HIDDEN
    assert f"{SECRET}$" in secrets
    assert "hunter22" in secrets
    text = f"{SECRET}$ said {json.dumps({'x': 'qu' + chr(34) + 'oted'})} and hunter22".encode()
    assert hide(text, secrets) == b'%b said {"x": "%b"} and %b' % ((HIDDEN,) * 3)
    assert secrets_of({"services": {"a": {"environment": {"LEVEL": "info", "EMPTY": None}}}}) == []


def test_equal_requests_are_told_because_a_cache_may_answer_them(tmp_path: Path) -> None:
    assert "may answer from a cache" in (planned(tmp_path).note or "")


def test_a_recording_is_asked_for_beside_the_users_own_options(tmp_path: Path) -> None:
    order = planned(tmp_path, "run-users", JFR="1")
    told = services(order)["orders"]
    assert told["environment"]["JAVA_TOOL_OPTIONS"].startswith("-Xss1m -XX:StartFlightRecording:settings=none,")
    assert told["volumes"][-1] == "recordings:/jfr"


COUNTER = 'container_cpu_usage_seconds_total{{{labels},cpu="total"}} {value} 1700000000000\n'
LABELS = 'container_label_com_docker_compose_project="{project}",container_label_com_docker_compose_service="{service}"'
MICROMETER = b'jvm_compilation_time_ms_total{compiler="C2"} 1500.0\njvm_threads_live_threads 31.0\n'


def counter(value: float, service: str = "127.0.0.1", project: str = "loom-lab") -> str:
    return COUNTER.format(labels=LABELS.format(project=project, service=service), value=value)


def service(server: Served, containers: str = NOBODY, *, metrics: bool = True) -> ForeignService:
    told = Foreign(
        port=server.port, ready="/ready", metrics_port=server.port if metrics else None,
        metrics="/metrics" if metrics else None,
    )  # fmt: skip
    return ForeignService("127.0.0.1", told, 2, containers)


def test_cpu_and_memory_are_its_containers_and_what_compilers_took_is_micrometers() -> None:
    page = counter(9, "other") + counter(7) + counter(8, project="shop") + counter(5)
    page += f"container_memory_rss{{{LABELS.format(project='loom-lab', service='127.0.0.1')}}} 4096\n"
    answers = {"GET /metrics": MICROMETER, "GET /containers": page.encode()}
    with serving(lambda asked: (200, answers[asked])) as server:
        url = f"{server.origin}/containers"
        counted = Process(cpu_s=7, rss_bytes=4096, cpus=2)
        assert service(server, url).process() == replace(counted, compiling_s=1.5, threads=31)
        assert service(server, url, metrics=False).process() == counted
        answers["GET /metrics"] = b'{"names": []}'
        assert service(server, url).process() == counted
        assert service(server).process() == Process(cpus=2)


def test_it_is_ready_once_its_page_and_its_figures_answer() -> None:
    answers = {
        "GET /ready": [(503, b""), *[(200, b"")] * 3],
        "GET /metrics": [(404, b""), (200, b"[]"), (200, b"x 1\n")],
    }
    with serving(lambda asked: answers[asked].pop(0)) as server:
        service(server).wait_until_ready(Stop())
    assert answers == {"GET /ready": [], "GET /metrics": []}


def test_one_that_is_never_ready_is_told_with_what_it_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "LONGEST_START_S", 0.5)
    with serving(lambda _: (503, b"")) as server, pytest.raises(HostError, match=r"not ready within 0\.5 s .*503"):
        service(server).wait_until_ready(Stop())
    with serving(lambda _: (503, b"")) as server:
        stop = Stop()
        stop.requested = True
        service(server).wait_until_ready(stop)


def test_one_that_an_earlier_load_ended_is_loaded_all_the_same(tmp_path: Path) -> None:
    load = load_of(rate(50, 10), 20, "/orders/1", origin=NOBODY)
    request = request_of(load, tool="vegeta", foreign=Foreign(port=1, ready="/ready"), delay=NO_DELAY)
    earlier = SimpleNamespace(before=MemoryAnswer(asked=0, answered=0), warmup=WARMUP, about=None)
    run = Measurement(request, tmp_path, NOBODY, Stop(), Progress(io.StringIO()), cast(Measurement, earlier))

    run.begin()

    told = read_record(run.files.probe, Probe)
    assert told and told.error


def test_secrets_are_taken_out_of_logs_and_through_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = {"services": {"db": {"environment": {"PASSWORD": "correct-horse"}}}}
    for name in ("orders.log", "users.txt", "figures.json"):
        (tmp_path / name).write_text("correct-horse battery-staple")
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "link.log").symlink_to(tmp_path / "figures.json")
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(model)))
    monkeypatch.setenv("TOKEN", "battery-staple")

    hide_secrets(tmp_path, ["TOKEN", "UNSET"])
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    hide_secrets(tmp_path / "raw", ["TOKEN"])

    told = {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()}
    assert told.pop("orders.log") == "*** ***"
    assert set(told.values()) == {"correct-horse battery-staple"}


@pytest.mark.parametrize(
    ("image", "name"),
    [("orders:1.4", "orders"), ("registry:5000/shop/orders_api@sha256:0a", "orders-api"), ("a/b", "b")],
)
def test_an_image_alone_is_a_service_by_its_name(image: str, name: str, tmp_path: Path) -> None:
    asked = lab_in(tmp_path).asked("run-hey", {"IMAGE": image, "CONCURRENCY": "1"})
    model = model_of_user(asked) or {}
    assert {name: one["image"] for name, one in model["services"].items()} == {name: image}


def test_prometheus_scrapes_each_side_that_has_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for metrics, expected in (("", []), ("9000/metrics", ["orders-twin:9000", "orders:9000"])):
        order = planned(tmp_path, METRICS=metrics, AA="1")
        write_json(order_file(tmp_path), order)
        print_targets(tmp_path)
        told = json.loads(capsys.readouterr().out)
        assert sorted(one["targets"][0] for one in told) == expected
        assert all(one["labels"]["__metrics_path__"] == "/metrics" for one in told)
