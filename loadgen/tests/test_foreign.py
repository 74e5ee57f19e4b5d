"""A service of the user's: what it and the counter of its container tell, over real HTTP; and what is kept of it."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from good import WARMUP
from loads import load_of, rate, request_of
from loomlab.basics.errors import HostError
from loomlab.cli.planning import model_of_user, print_targets
from loomlab.cli.results import hide_secrets
from loomlab.records.endpoints import NO_DELAY
from loomlab.records.files import read_record, write_json
from loomlab.records.models import Foreign, Probe
from loomlab.records.order import order_file
from loomlab.records.raw import MemoryAnswer
from loomlab.run import foreign
from loomlab.run.console import Progress, Stop
from loomlab.run.foreign import ForeignService
from loomlab.run.management import Process
from loomlab.run.measure import Measurement
from ordered import lab_in
from served import NOBODY, Served, serving
from test_subject import planned

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


def test_secrets_are_taken_out_of_logs_alone_and_through_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
