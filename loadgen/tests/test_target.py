"""What the lab does not run: what is planned and started of it, how it is asked beforehand, and what its runs tell."""

import json
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from loomlab.basics.errors import HostError, UsageError
from loomlab.cli.results import resume_experiment
from loomlab.plan.overlay import overlay_lines
from loomlab.plan.planning import plan, shell_lines
from loomlab.records.endpoints import NO_DELAY
from loomlab.records.files import write_json
from loomlab.records.models import Foreign
from loomlab.records.order import Order, order_file
from loomlab.run.console import Progress, Stop
from loomlab.run.foreign import Target
from loomlab.run.management import Process, probe
from loomlab.run.measure import Measurement
from misbehaving import running
from ordered import STAMP, TWO_CPUS, lab_in
from rawrun import RawRun, load
from saying import failed, unknown
from served import NOBODY, serving

URL = "http://127.0.0.1:8080/orders/1?x=%2F"
EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")


def certified(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's TLS for 127.0.0.1, and the certificates it is trusted by."""
    authority, own = folder / "ca.pem", folder / "own.pem"
    for words in (
        ("-keyout", f"{folder}/ca.key", "-out", f"{authority}", "-subj", "/CN=ca"),
        ("-keyout", f"{folder}/own.key", "-out", f"{own}", "-subj", "/CN=own", "-CA", f"{authority}", "-CAkey",
         f"{folder}/ca.key", "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"),
    ):  # fmt: skip
        subprocess.run(["openssl", "req", "-x509", *EC, *words], check=True, capture_output=True)  # noqa: S603, S607
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own, folder / "own.key")
    return context, authority


def planned(folder: Path, verb: str = "run-users", **given: str) -> Order:
    lab = lab_in(folder)
    asked = {
        name: value for name, value in ({"TARGET": URL, "CONCURRENCY": "20", "SEED": "1"} | given).items() if value
    }
    return plan(lab.asked(verb, asked), TWO_CPUS, lab, STAMP)


def test_a_target_is_loaded_where_it_is_and_nothing_of_the_lab_is_started(tmp_path: Path) -> None:
    order = planned(tmp_path, "sweep", CONCURRENCY="20,50", REPEATS="2")

    assert {run.request.load.origin for run in order.runs} == {"http://127.0.0.1:8080"}
    first = order.runs[0].request
    assert (first.name, first.endpoint, first.delay, first.jdk) == ("127.0.0.1-8080", "/orders/1?x=%2F", NO_DELAY, None)
    assert (len(order.runs), order.subject, first.partner) == (4, None, None)
    lines = [*shell_lines(order)]
    assert {"APPROACHES=", "BACKEND_WARMUP_S=0", "LOADGEN_CPUS=0"} <= {*lines}
    assert not any(line.startswith("SUBJECT=") for line in lines)
    assert "not run by the lab" in (order.note or "")
    assert "compared with nothing" not in (order.note or "")
    overlay = "\n".join(overlay_lines(order, "/lab"))
    assert overlay.count("loadgen:") == overlay.count("network_mode: host") == 1
    assert "127.0.0.1" not in overlay


@pytest.mark.parametrize(
    ("url", "origin", "name"),
    [
        ("https://shop.example.org/a", "https://shop.example.org:443", "shop.example.org-443"),
        ("http://Shop:80/", "http://Shop:80", "shop-80"),
        ("http://[::1]:8080/a", "http://[::1]:8080", "1-8080"),
    ],
)
def test_a_url_has_a_port_and_a_name(url: str, origin: str, name: str, tmp_path: Path) -> None:
    request = planned(tmp_path, TARGET=url).runs[0].request
    assert (request.load.origin, request.name) == (origin, name)


@pytest.mark.parametrize(
    ("verb", "given", "cure"),
    [
        ("run-users", {"TARGET": "orders:8080/x"}, "it is no URL of http or https"),
        ("run-users", {"TARGET": "ftp://orders/x"}, "it is no URL of http or https"),
        ("run-users", {"TARGET": "http://orders/x#top"}, "without a fragment"),
        ("run-users", {"TARGET": "http://or ders/"}, "it is no URL"),
        ("run-users", {"TARGET": "http://orders:0/x"}, "its port is not from 1 to 65535"),
        ("run-users", {"TARGET": "http://orders:65536/x"}, "its port is not from 1 to 65535"),
        ("run-users", {"TARGET": "http://me:secret@orders/x"}, "use a header of REQUESTS_FILE"),
        ("run-users", {"TARGET": "http://orders"}, "ENDPOINT is not set"),
        ("run-users", {"ENDPOINT": "/x"}, "leave all but one out"),
        ("run-users", {"REQUESTS_FILE": "mix.yaml"}, "leave all but one out"),
        ("run-users", {"APPROACH": "tomcat-virtual"}, "APPROACH=tomcat-virtual is of the lab's own services"),
        ("run-users", {"JDK": "21"}, "JDK=21 is of the lab's own"),
        ("run-users", {"GC": "g1"}, "GC=g1 is of the lab's own"),
        ("run-users", {"POOL": "9"}, "POOL=9 is of the lab's own"),
        ("run-users", {"LIMIT": "9"}, "LIMIT=9 is of the lab's own"),
        ("run-users", {"CPUS": "1"}, "CPUS=1 does not go with TARGET, which the lab does not run"),
        ("run-users", {"IMAGE": "orders:1"}, "IMAGE=orders:1 does not go with TARGET"),
        ("run-users", {"AA": "1"}, "AA=1 does not go with TARGET"),
        ("run-users", {"GENERATORS": "2"}, "GENERATORS=2 does not go with TARGET"),
        ("sweep", {"CONCURRENCY": ""}, "CONCURRENCY is not set"),
        ("run-ab", {"TARGET": "https://orders/x"}, "ab does not check certificates: use users, or vegeta with RATE"),
        ("run-hey", {"TARGET": "https://orders/x"}, "hey does not check certificates"),
        ("run-users", {"TARGET": "", "CA_FILE": "ca.pem"}, "CA_FILE=ca.pem is for a service of yours"),
    ],
)
def test_what_cannot_be_loaded_is_refused_with_the_cure(
    verb: str, given: dict[str, str], cure: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=cure):
        planned(tmp_path, verb, **given)


@pytest.mark.parametrize("tool", ["users", "vegeta"])
def test_tools_that_check_certificates_load_over_tls(tool: str, tmp_path: Path) -> None:
    given = {"RATE": "10"} if tool == "vegeta" else {}
    assert planned(tmp_path, f"run-{tool}", TARGET="https://orders/x", **given).runs[0].request.tool == tool


def test_a_post_alone_needs_a_path_that_is_asked_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mix.yaml").write_text("requests: [{post: /orders, body: order.json}]")
    (tmp_path / "order.json").write_text("{}")
    monkeypatch.setattr("loomlab.plan.work.REQUESTS", tmp_path)
    given = {"TARGET": "http://orders", "REQUESTS_FILE": "mix.yaml"}
    with pytest.raises(UsageError, match="READY is not set"):
        planned(tmp_path, **given)
    foreign = planned(tmp_path, **given, READY="/health").runs[0].request.foreign
    assert foreign == Foreign(port=80, ready="/health", origin="http://orders:80")


def test_no_folder_of_results_can_name_a_target(tmp_path: Path) -> None:
    order = planned(tmp_path / "lab")
    folder = tmp_path / order.experiment
    folder.mkdir()
    write_json(order_file(folder), order)
    with pytest.raises(UsageError, match="is not resumed"):
        resume_experiment(order.experiment, tmp_path)


def test_nothing_is_asked_of_it_but_its_path_of_readiness() -> None:
    with serving(lambda asked: (204 if asked == "GET /health" else 500, b"")) as server:
        target = Target(server.origin, "/health")
        target.wait_until_ready(Stop())
        assert (target.process(), target.reset_peaks(), target.memory().answer) == (Process(), False, None)
        assert server.asked == ["GET /health"]
        with pytest.raises(HostError, match="answered 500: check TARGET"):
            Target(server.origin, "/other").wait_until_ready(Stop())
    with pytest.raises(HostError, match="did not answer"):
        Target(NOBODY, "/health").wait_until_ready(Stop())
    with pytest.raises(HostError, match="did not answer"):
        Target("http://nobody.invalid:80", "/health").wait_until_ready(Stop())


def test_more_connections_than_ports_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loomlab.run.foreign.PORTS", tmp_path / "range")
    (tmp_path / "range").write_text("1000\t1099\n")
    Target(NOBODY, None, 100).wait_until_ready(Stop())
    with pytest.raises(HostError, match="101 connections need more than this host's 100 ports"):
        Target(NOBODY, None, 101).wait_until_ready(Stop())


def test_a_certificate_is_checked_before_any_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, authority = certified(tmp_path)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with running(tls=context) as server:
        refused = probe(server.origin, "/ok", (), 5, "1.1", "/ok")
        assert "CERTIFICATE_VERIFY_FAILED" in (refused.error or "")
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        (answer,) = probe(server.origin, "/ok", (), 5, "1.1", "/ok").answers.values()
        assert (answer.status, answer.kept) == ("HTTP/1.1 200 OK", True)
        Target(server.origin, "/ok").wait_until_ready(Stop())


OUTSIDE: dict[str, Any] = {
    "delay": NO_DELAY, "jdk": None, "gc": None, "load": load("/x", origin="http://127.0.0.1:8080"),
    "foreign": {"port": 8080, "ready": None, "origin": "http://127.0.0.1:8080"},
}  # fmt: skip


def outside() -> RawRun:
    """A good run of what the lab does not run."""
    run = RawRun(metrics={}, about={}, delays={"before": None, "after": None})
    run.request |= OUTSIDE
    return run


def test_the_clients_side_alone_is_judged_and_the_rest_is_not_applicable(tmp_path: Path) -> None:
    run = outside().judged(tmp_path)

    assert (run.verdict, run.reasons, run.sight) == ("valid", [], "answers")
    assert not unknown(run.rules)
    outcomes = {one.rule: one.outcome for one in run.rules}
    ours = (
        "generator_cpus",
        "generator_thread",
        "generator_wait_p99",
        "foreign_cpu",
        "connections_lost",
        "littles_law",
    )
    assert {outcomes[name] for name in ours} == {"passed"}
    theirs = ("container_failed", "metrics_missing", "monitoring_gone", "backend_cpus", "gc_heavy", "other_approach")
    assert {outcomes[name] for name in (*theirs, "generator_throttled")} == {"does not apply"}
    assert (run.cpu_seconds, run.rss_max_bytes, run.threads_max, run.cpus_given) == (None, None, None, None)
    assert run.generator_cpu_ms_per_request == pytest.approx(50 / (20 / 0.92), rel=0.05)
    assert len(run.notes) == 1


def test_other_programs_on_the_generators_cpus_and_a_busy_generator_are_found(tmp_path: Path) -> None:
    run = outside()
    run.spend("2", 0, lambda second: 30 * (second + 2))
    assert failed(run.judged(tmp_path / "others").rules) == {"much_foreign_cpu"}
    run.spend("2", 0, lambda second: 64 * (second + 2))
    assert "generator_cpus" in failed(run.judged(tmp_path / "busy").rules)
    run = outside()
    run.spend("0", 0, lambda second: 40 * (second + 2))  # where the load generator is not
    assert run.judged(tmp_path / "elsewhere").verdict == "valid"


def test_no_port_of_the_host_is_taken_for_live_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = planned(tmp_path, "run-vegeta", RATE="10").runs[0].request
    opened: list[object] = []
    monkeypatch.setattr("loomlab.run.live.start_http_server", lambda *port, **_: opened.append(port))
    run = Measurement(request, tmp_path / "runs" / "1-x", NOBODY, Stop(), Progress())
    run.live.phase("measure")
    run.tool.command(request.load, tmp_path)

    assert opened == []
    assert json.loads((tmp_path / "vegeta-load.json").read_text())["metrics_port"] == 0
