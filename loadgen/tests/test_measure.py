"""Real runs of real tools against a real server on a loopback address, from the order to the verdict."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from good import BURST, WARMUP
from loads import load_of, rate, request_of
from loomlab.records.load import Closed, Shape, Target
from loomlab.records.models import Run
from loomlab.records.order import changing, read_order
from loomlab.records.raw import LiveBytes, Warmup
from loomlab.run.measure import fitted
from loomlab.run.process import boot_id
from loomlab.tools.known import KNOWN, tool
from misbehaving import HELD, running
from ordered import ordered
from saying import failed
from served import NOBODY, prometheus, sampled
from test_scenarios import RATE_FILE

TOOLS = pytest.mark.tools
RATE: dict[str, Any] = {"rate_rps": 200, "requests": None}
GARBAGE = "echo '\\000\\377 <html>502</html>'"
SCENARIO = RATE_FILE.replace("/capabilities", "/epoch-millis?delayInMillis=50").replace("500/s", "1000/s")
SCENARIO = SCENARIO.replace("at: 20s\n    duration: 10s", "at: 10s\n    duration: 1s")


def loomlab(*arguments: str, path: str = os.environ["PATH"]) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "loomlab", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def small(folder: Path, address: str, *scenarios: Path, warmup_cap_s: float = 0, **changes: Any) -> Path:
    """The folder of a small run that is planned."""
    quick: dict[str, Any] = {"connections": 20, "requests": 2400, "duration_s": 4, "delay": "30"}
    out = ordered(folder, address, *scenarios, **(quick | changes))
    with changing(out.parent.parent) as order:
        order.run(out.name).request.warmup_cap_s = warmup_cap_s
    return out


@contextmanager
def monitored(out: Path, path: str = os.environ["PATH"]) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The measurement, which runs, and what it asks of Prometheus: that has samples past the end of any run, so that
    none is waited for."""
    approach = read_order(out.parent.parent).run(out.name).request.approach
    series = [one | {"value": [0, "1"]} for one in sampled(time.time() + 3600, approach)]
    with prometheus(series) as (url, queries):
        yield loomlab("measure", str(out), "--label", "1/1 here", "--prometheus-url", url, path=path), queries


def measured(out: Path, address: str, delay_s: float = 0.05, **options: str) -> None:
    with running(address, delay_s), monitored(out, **options) as (process, _):
        _, said = process.communicate(timeout=90)
    assert process.returncode == 0, said
    assert "Traceback" not in said


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


def state(out: Path) -> str:
    return read_order(out.parent.parent).run(out.name).state


@TOOLS
def test_a_run_without_prometheus_has_figures_of_the_tool_only(tmp_path: Path) -> None:
    out = small(tmp_path, "127.0.0.11", warmup_cap_s=6, duration_s=8)
    with running("127.0.0.11", 0.09):
        process = loomlab("measure", str(out), "--label", "1/1 here", "--prometheus-url", NOBODY)
        _, progress = process.communicate(timeout=90)
    assert process.returncode == 0

    run = judged(out)
    assert 100 < (run.throughput_rps or 0) < 1.05 * 20 / 0.09
    assert run.little_ratio == pytest.approx(1, abs=0.05)
    assert (run.errors, run.requests) == (0, run.keepalive_requests)
    assert (run.requests or 0) > 1000
    assert run.cpu_ms_per_request is run.rss_max_bytes is run.threads_max is None
    assert "monitoring_gone" in failed(run.rules)
    assert raw(out, "request.json")["finished"] is True
    assert state(out) == "judged"
    assert raw(out, "warmup.json")["changing"] == "there were too few bursts to tell"
    assert raw(out, "backend.json") == {"before": None, "after": None}
    samples = raw(out, "host.json")["samples"]
    assert len(samples) >= 8
    assert 20 <= (run.connections_opened or 0) <= 20 + len(samples)
    assert run.response_bytes_per_request == pytest.approx(72, abs=8)
    assert [answer["kept"] for answer in raw(out, "probe.json")["answers"].values()] == [True]
    assert raw(out, "about.json")["outbound"]["max_connections_per_route"] == 1000
    assert run.boot_id == raw(out, "host.json")["boot_id"] == boot_id()
    phases = [line.split()[2] for line in progress.splitlines() if line.startswith("[1/1 here] ")]
    assert sorted(set(phases)) == ["collect", "live", "measure", "warm-up"]
    assert run.notes == [
        "What a waiting request holds is not known: the backend accepts no other delay: "
        f"{raw(out, 'memory.json')['error'].partition(': ')[2]}."
    ]


@pytest.mark.real_tool
def test_what_requests_of_two_generators_hold_is_measured_after_the_run(tmp_path: Path) -> None:
    endpoint = "/epoch-millis?delayInMillis=50"
    out = small(tmp_path, "127.0.0.19", endpoint=endpoint, warmup_cap_s=5, generators=2)
    other = loomlab("generate", str(out), "2")
    measured(out, "127.0.0.19")
    other.terminate()
    other.communicate(timeout=30)

    run, memory, load = judged(out), raw(out, "memory.json"), raw(out, "tool.json")

    assert (other.returncode, run.live_requests) == (0, 20)
    assert run.live_bytes_per_request == LiveBytes(heap=HELD["heap_used_bytes"])
    assert all(f"{part}, because" in run.notes[0] for part in ("stacks_off_heap", "kernel"))
    assert memory["before"]["answered"] < load["started"] < load["ended"] < memory["loaded"]["asked"]
    assert memory["hold"]["started"] < memory["waiting"]["asked"] < memory["idle"]["asked"]
    assert (memory["hold"]["requests"], memory["hold"]["errors"]) == (20, 0)


@TOOLS
def test_a_scenario_is_run_at_its_scale_and_judged(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SCENARIO)
    out = small(tmp_path, "127.0.0.17", tmp_path, scenario="mine", scale="0.05", duration_s=6, connections=None)
    with running("127.0.0.17", 0.05), monitored(out) as (process, queries):
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
    assert any(str(tool("vegeta").counter) in query for query in queries)


@TOOLS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_was_measured(tmp_path: Path, number: signal.Signals) -> None:
    out = small(tmp_path, "127.0.0.13", duration_s=60, requests=100_000)
    with running("127.0.0.13", 0.09), monitored(out) as (process, _):
        while not (out / "raw" / "ab.txt").exists():
            time.sleep(0.05)
        time.sleep(3)
        process.send_signal(number)
        process.communicate(timeout=40)
    assert process.returncode == 130
    assert raw(out, "request.json")["finished"] is False
    assert raw(out, "tool.json")["stopped_by"] == "interrupt"

    run = judged(out)
    assert (run.verdict, run.finished, state(out)) == ("invalid", None, "failed")
    assert (run.requests or 0) > 50
    assert "interrupted" in run.reasons[0]


def with_program(folder: Path, program: str, body: str) -> str:
    """A PATH that begins with a program of that name: no real tool fails on request."""
    script = folder / program
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@TOOLS
@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize(("body", "code"), [(GARBAGE, 0), (f"{GARBAGE}; exit 3", 3), ("kill -9 $$", -9), ("exit 1", 1)])
def test_a_tool_that_fails_makes_the_run_invalid(tmp_path: Path, name: str, body: str, code: int) -> None:
    program = {"vegeta": "lab-rates", "users": "lab-users"}.get(name, name)
    out = small(tmp_path, "127.0.0.51", tool=name, duration_s=2, **(RATE if name == "vegeta" else {}))
    measured(out, "127.0.0.51", delay_s=0.01, path=with_program(tmp_path, program, body))

    run = judged(out)
    assert (run.verdict, run.throughput_rps) == ("invalid", None)
    assert name in run.reasons[0]
    assert raw(out, "tool.json")["exit_code"] == code
    assert (out / "raw" / f"{name}.txt").exists()


@TOOLS
def test_a_tool_that_is_not_installed_is_one_sentence(tmp_path: Path) -> None:
    out = small(tmp_path, "127.0.0.15")
    with monitored(out, path=str(tmp_path)) as (process, _):
        _, problems = process.communicate(timeout=30)

    assert process.returncode == 4
    assert problems.splitlines()[-1].startswith("loom-lab: ab cannot be started")
    assert (out / "raw" / "request.json").exists()
    assert state(out) == "running"


@TOOLS
@pytest.mark.parametrize(("kind", "code"), [("POST /orders", 3), ("", 0)])
def test_requests_of_the_users_that_all_fail_end_the_experiment(tmp_path: Path, kind: str, code: int) -> None:
    out = small(tmp_path, "127.0.0.16", warmup_cap_s=6)
    with changing(out.parent.parent) as order:
        request = order.run(out.name).request
        request.load = replace(request.load, targets=(Target("/status/503", kind=kind),))
    with running("127.0.0.16", 0.01), monitored(out) as (process, _):
        _, said = process.communicate(timeout=90)

    assert process.returncode == code
    assert ("No request to tomcat-platform was answered 2xx" in said) == (code == 3)


LEFT_TO_THE_LAB = {"fit_duration": True, "fit_requests": True}


def warmed(*latencies_ms: float | None, phase: Literal["compile", "settle"] = "settle") -> Warmup:
    bursts = [BURST.model_copy(update={"phase": phase, "mean_latency_ms": latency_ms}) for latency_ms in latencies_ms]
    return WARMUP.model_copy(update={"bursts": bursts})


def shape_of(shape: Shape, name: str, warmup: Warmup, answer_ms: float = 900, **asked: Any) -> Shape:
    """Of the load that is measured, of 1,000 connections."""
    return fitted(request_of(load_of(shape, 1000), **asked), tool(name), warmup, answer_ms).shape


@pytest.mark.parametrize(
    ("latencies_ms", "sent"),
    [
        ((1000,), 60_000), ((5000, 1000, 1000, 1000, 1000), 60_000), ((984,), 60_000), ((983,), 61_000),
        ((200, None), 120_000), ((90_000,), 1000), ((), 120_000),
    ],
)  # fmt: skip
def test_a_tool_that_cannot_stop_by_time_gets_whole_waves(latencies_ms: tuple[float | None, ...], sent: int) -> None:
    assert shape_of(Closed(120_000, 60), "hey", warmed(*latencies_ms)) == Closed(sent, 60)


@pytest.mark.parametrize(
    ("name", "shape"), [("ab", Closed(120_000, 60)), ("users", Closed(120_000, 60)), ("hey", rate(100))]
)
def test_a_tool_that_stops_by_time_and_an_open_load_stay_as_they_are(name: str, shape: Shape) -> None:
    assert shape_of(shape, name, warmed(10)) == shape


@pytest.mark.parametrize(
    ("latency_ms", "duration_s"),
    [(905, 35), (1137, 35), (1138, 36), (4000, 118), (7137, 209), (7180, 210), (20_000, 210)],
)
def test_a_run_lasts_as_long_as_29_waves_need(latency_ms: float, duration_s: int) -> None:
    assert shape_of(Closed(1000, 210), "ab", warmed(latency_ms), fit_duration=True).duration_s == duration_s


@pytest.mark.parametrize(
    ("name", "warmup", "answer_ms", "expected"),
    [
        ("ab", warmed(905), 900, Closed(76_000, 35)), ("hey", warmed(905), 900, Closed(38_000, 35)),
        ("hey", warmed(), 900, Closed(38_000, 35)), ("ab", warmed(), 2000, Closed(60_000, 60)),
        ("ab", warmed(50, phase="compile"), 2000, Closed(60_000, 60)), ("ab", warmed(), 0, Closed(70_000_000, 35)),
    ],
)  # fmt: skip
def test_requests_left_to_the_lab_are_more_than_fit_the_duration_by_the_warm_up_or_else_the_delays(
    name: str, warmup: Warmup, answer_ms: float, expected: Shape
) -> None:
    assert shape_of(Closed(1000, 210), name, warmup, answer_ms, **LEFT_TO_THE_LAB) == expected


@pytest.mark.parametrize(("name", "requests"), [("hey", 1_000_000), ("ab", 2_400_000)])
def test_a_tool_gets_no_more_requests_than_it_remembers(name: str, requests: int) -> None:
    assert shape_of(Closed(1000, 300), name, warmed(250), 250, fit_requests=True) == Closed(requests, 300)
