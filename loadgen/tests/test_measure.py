"""Real runs of the real ab against a real server on a loopback address; without Prometheus."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from loomlab.records.models import Run
from loomlab.records.order import read_order
from loomlab.run import hoststat
from loomlab.run.process import run_tool
from loomlab.run.stop import Stop
from loomlab.tools.known import tool
from ordered import ordered
from saying import failed
from server import running
from test_prometheus import prometheus

pytestmark = pytest.mark.tools

NO_PROMETHEUS = "http://127.0.0.1:9"


def loomlab(*arguments: str, path: str = os.environ["PATH"]) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "loomlab", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def small(folder: Path, address: str, **changes: Any) -> Path:
    """The folder of a small run that is planned."""
    quick: dict[str, Any] = {"connections": 20, "requests": 2400, "duration_s": 4, "delay": "30", "warmup_cap_s": 0}
    return ordered(folder, address, **(quick | changes))


def measure(out: Path, path: str = os.environ["PATH"], prometheus_url: str = NO_PROMETHEUS) -> subprocess.Popen[str]:
    return loomlab("measure", str(out), "--label", "1/1 here", "--prometheus-url", prometheus_url, path=path)


def judged(out: Path) -> Run:
    process = loomlab("judge", str(out))
    line, problems = process.communicate(timeout=30)
    run = Run.model_validate_json((out / "run.json").read_text())
    assert process.returncode == (1 if run.verdict == "invalid" else 0)
    assert line.startswith(f"{run.approach}: {run.verdict}")
    assert not problems
    return run


def raw(out: Path, name: str) -> Any:
    return json.loads((out / "raw" / name).read_text())


def complete(approach: str) -> list[dict[str, Any]]:
    """Samples that are past the end of any run, so that none is waited for."""
    wanted = (
        *(("container_cpu_usage_seconds_total", service) for service in (approach, "backend", "loadgen")),
        ("process_start_time_seconds", approach),
        ("process_start_time_seconds", "backend"),
    )
    sample = [time.time() + 3600, "1"]
    return [
        {"metric": {"__name__": name, "service": service}, "values": [sample], "value": sample}
        for name, service in wanted
    ]


def test_a_run_without_prometheus_has_figures_of_the_tool_only(tmp_path: Path) -> None:
    out = small(tmp_path, "127.0.0.11", warmup_cap_s=6, duration_s=8)
    with running("127.0.0.11", 0.09):
        process = measure(out)
        _, progress = process.communicate(timeout=90)
    assert process.returncode == 0

    run = judged(out)
    assert run.throughput_rps is not None
    assert 100 < run.throughput_rps < 1.05 * 20 / 0.09
    assert run.little_ratio == pytest.approx(1, abs=0.05)
    assert run.errors == 0
    assert run.requests == run.keepalive_requests
    assert run.requests is not None
    assert run.requests > 1000
    assert run.cpu_ms_per_request is run.rss_max_bytes is run.threads_max is None
    assert run.verdict == "invalid"
    assert "monitoring_gone" in failed(run.rules)
    assert raw(out, "request.json")["finished"] is True
    assert state(out) == "judged"
    assert raw(out, "warmup.json")["changing"] == "there were too few bursts to tell"
    assert raw(out, "warmup.json")["compiled"] is None
    assert raw(out, "backend.json") == {"before": None, "after": None}
    assert (
        "The warm-up was cut short by its cap of 6 s: there were too few bursts to tell; use WARMUP_CAP=120s."
        in run.reasons
    )
    assert raw(out, "warmup.json")["bursts"][0]["cpu_ms_per_request"] > 0
    asked_in_vain = len(raw(out, "host.json")["samples"])
    assert run.connections_opened is not None
    assert 20 <= run.connections_opened <= 20 + asked_in_vain
    assert run.response_bytes_per_request == pytest.approx(72, abs=8)
    probe = raw(out, "probe.json")
    assert probe["error"] is None
    assert [answer["kept"] for answer in probe["answers"].values()] == [True, True]
    assert raw(out, "about.json")["outbound"]["max_connections_per_route"] == 1000
    assert len(raw(out, "host.json")["samples"]) >= 8
    assert run.boot_id == raw(out, "host.json")["boot_id"] == hoststat.boot_id()
    assert (out / "raw" / "latency.hlog").exists()
    assert not (out / "raw" / "failed.hlog").exists()
    phases = [line.split()[2] for line in progress.splitlines() if line.startswith("[1/1 here] ")]
    assert sorted(set(phases)) == ["collect", "live", "measure", "warm-up"]
    assert run.notes == [
        "What a waiting request holds is not known: the backend accepts no other delay: "
        f"{raw(out, 'memory.json')['error'].partition(': ')[2]}."
    ]


SCENARIO = """\
title: A rate
question: Is every part of a scenario run?
tool: vegeta
approaches: [tomcat-virtual]
requests:
  - get: /epoch-millis?delayInMillis=50
load:
  shape: rate
  rate: 1000/s
  connections: 1000
  duration: 60s
hangs:
  - at: 10s
    duration: 1s
"""


def test_a_scenario_is_run_at_its_scale_and_judged(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SCENARIO)
    out = ordered(
        tmp_path, "127.0.0.17", tmp_path, scenario="mine", scale="0.05", duration_s=6, connections=None, warmup_cap_s=0
    )
    with running("127.0.0.17", 0.05), prometheus(complete("127.0.0.17")) as (url, queries):
        process = measure(out, prometheus_url=url)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0

    run = judged(out)
    assert (run.tool, run.scenario, run.rate, run.concurrency) == ("vegeta", "mine", 50, 50)
    assert run.requests == pytest.approx(300, abs=3)
    assert run.started_rps == pytest.approx(50, rel=0.1)
    assert run.errors == 0
    assert raw(out, "warmup.json")["bursts"] == []
    assert raw(out, "request.json")["hangs"] == [{"at_s": 1.0, "duration_s": 1.0}]
    assert len(run.episodes) == 1
    assert "The backend could not be told to hang" in said
    assert tool("vegeta").done_query in queries
    assert (out / "raw" / "latency.hlog").exists()


def test_a_server_that_is_not_there_is_judged_not_skipped(tmp_path: Path) -> None:
    out = small(tmp_path, "127.0.0.12")
    with prometheus(complete("127.0.0.12")) as (url, _):
        process = measure(out, prometheus_url=url)
        process.communicate(timeout=60)
    assert process.returncode == 0

    run = judged(out)
    assert run.verdict == "invalid"
    assert run.errors == run.requests
    assert run.throughput_rps is run.latency_ms.p50 is None
    assert "100 % of the requests failed" in " ".join(run.reasons)


def test_an_unknown_host_leaves_no_figures_and_the_tools_own_words(tmp_path: Path) -> None:
    out = small(tmp_path, "no-such-host.invalid")
    with prometheus(complete("no-such-host.invalid")) as (url, _):
        process = measure(out, prometheus_url=url)
        process.communicate(timeout=60)
    assert process.returncode == 0

    run = judged(out)
    assert run.requests is run.errors is run.throughput_rps is None
    assert "apr_sockaddr_info_get() for no-such-host.invalid" in run.reasons[0]
    assert not any("too short" in reason for reason in run.reasons)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_was_measured(tmp_path: Path, number: signal.Signals) -> None:
    out = small(tmp_path, "127.0.0.13", duration_s=60, requests=100_000)
    with running("127.0.0.13", 0.09), prometheus(complete("127.0.0.13")) as (url, _):
        process = measure(out, prometheus_url=url)
        wait_until((out / "raw" / "ab.txt").exists)
        time.sleep(3)
        process.send_signal(number)
        process.communicate(timeout=40)
    assert process.returncode == 130
    assert raw(out, "request.json")["finished"] is False
    assert raw(out, "tool.json")["stopped_by"] == "interrupt"

    run = judged(out)
    assert run.verdict == "invalid"
    assert run.finished is None
    assert state(out) == "failed"
    assert run.requests is not None
    assert run.requests > 50
    assert "interrupted" in run.reasons[0]


def wait_until(true: Any) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_stall_is_cut_short_so_that_ab_reports_what_it_has(tmp_path: Path) -> None:
    output = tmp_path / "ab.txt"
    with running("127.0.0.14", 0.05, "stall"):
        command = ["ab", "-k", "-r", "-s", "30", "-t", "30", "-n", "9000", "-c", "20", "http://127.0.0.14:8080/"]
        run, samples = run_tool(command, output, 60, 2, Stop(), lambda *_: None)

    assert run.stopped_by == "stall"
    assert "Complete requests:      60" in output.read_text()
    assert len(samples) >= 3


def test_a_tool_that_is_not_installed_is_one_sentence(tmp_path: Path) -> None:
    out = small(tmp_path, "127.0.0.15")
    with prometheus(complete("127.0.0.15")) as (url, _):
        process = measure(out, path=str(tmp_path), prometheus_url=url)
        _, problems = process.communicate(timeout=30)

    assert process.returncode == 4
    assert problems.splitlines()[-1].startswith("loom-lab: ab cannot be started")
    assert (out / "raw" / "request.json").exists()
    assert state(out) == "running"


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    out = small(tmp_path, "127.0.0.16")
    out.write_text("")

    process = measure(out)
    _, problems = process.communicate(timeout=30)

    assert process.returncode == 4
    assert problems.startswith("loom-lab: ")
    assert len(problems.splitlines()) == 1


def test_a_run_that_is_not_planned_is_one_sentence(tmp_path: Path) -> None:
    out = small(tmp_path, "127.0.0.18")

    for folder, said in (
        (out.with_name("2-x"), "2-x is no run of"),
        (tmp_path / "e" / "runs" / "1-x", "no order"),
    ):
        process = measure(folder)
        _, problems = process.communicate(timeout=30)
        assert process.returncode == 2
        assert said in problems
        assert len(problems.splitlines()) == 1


def state(out: Path) -> str:
    return read_order(out.parent.parent).run(out.name).state
