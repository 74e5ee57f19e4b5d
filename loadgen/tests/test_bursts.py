"""What a burst was, by the tool's report and what the process told before and after it; and which loads bursts are."""

import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from loads import LADDER, load_of, rate
from loomlab.basics.errors import ParseError
from loomlab.records.load import Closed, Shape, Users, UserStage
from loomlab.records.raw import Burst
from loomlab.run import process
from loomlab.run.console import Stop
from loomlab.run.management import Management, Process
from loomlab.run.process import Bursts, burst_of, busy_connections, run_tool
from loomlab.tools.ab import Ab
from loomlab.tools.tool import ToolReport
from rawrun import log_of

CROWD = (UserStage(25_000, 240), UserStage(0, 60))
REPORT = ToolReport(completed=100, failed=3, non_2xx=2, received_bytes=4000, duration_s=2.0)
BEFORE = Process(cpu_s=10, jit_cpu_s=1, rss_bytes=1e6)
AFTER = Process(cpu_s=10.4, jit_cpu_s=1.1, rss_bytes=2e6)


def burst_with(report: ToolReport | None, *processes: Process, **bursts: Any) -> Burst:
    """Of a tool that does nothing and leaves this report (None: none that can be read) and one request; `processes` are
    what the process tells, one time after another, the last one for ever."""

    def read(*_: object) -> ToolReport:
        if report is None:
            raise ParseError
        return report

    told, log = list(processes), log_of([0], [900], unanswered=20)
    differs = {"command": lambda *_, **__: ["true"], "report": read, "requests": lambda *_: log}
    approach = SimpleNamespace(process=lambda: told.pop(0) if len(told) > 1 else told[0])
    running = Bursts(type("Reporting", (Ab,), differs)(), cast("Management", approach), Stop(), **bursts)
    return running.run("settle", load_of(Closed(100, 5), 10), 900, lambda: None)


def test_a_burst_has_what_the_tool_reports_and_what_it_cost_the_process() -> None:
    got = burst_with(REPORT, BEFORE, AFTER)

    assert (got.phase, got.wait_ms, got.duration_s) == ("settle", 900, 2)
    assert (got.requests, got.errors, got.mean_latency_ms) == (80, 5, 900)
    assert got.cpu_s == pytest.approx(0.4)
    assert got.jit_cpu_s == pytest.approx(0.1)
    assert got.cpu_ms_per_request == pytest.approx(5)
    assert got.rss_bytes == 2e6


@pytest.mark.parametrize(("report", "requests"), [(replace(REPORT, failed=78), 0), (None, None)])
def test_a_burst_without_answer_or_report_has_no_figures(report: ToolReport | None, requests: int | None) -> None:
    got = burst_with(report, BEFORE, AFTER)

    assert got.requests == requests
    assert got.cpu_ms_per_request is None
    assert got.cpu_s == pytest.approx(0.4)


def test_what_a_burst_left_behind_is_waited_for_but_not_for_ever() -> None:
    drained = burst_with(REPORT, BEFORE, Process(inflight=40), Process(inflight=3), Process(inflight=0), AFTER)
    began = time.monotonic()
    burst_with(REPORT, Process(inflight=3), longest_drain_s=0.5)

    assert drained.rss_bytes == 2e6
    assert time.monotonic() - began >= 0.5


@pytest.mark.parametrize(
    ("connections", "shape", "answer_s", "expected"),
    [
        (1000, Closed(requests=120_000, duration_s=60), 0.9, 1000), (3, Closed(requests=120, duration_s=60), 0.9, 3),
        (10_000, rate(10_000), 0.1, 1000), (8000, LADDER, 0.9, 3600), (500, LADDER, 0.9, 500), (5000, rate(5), 0.1, 10),
        (5, rate(5), 0.1, 5), (25_000, Users(CROWD, (1, 3)), 0.1, 1191), (25_000, Users(CROWD), 0.1, 25_000),
        (25_000, Users(CROWD, (0, 2)), 0, 10),
    ],
)  # fmt: skip
def test_as_many_connections_warm_up_as_busy(connections: int, shape: Shape, answer_s: float, expected: int) -> None:
    assert busy_connections(load_of(shape, connections), answer_s) == expected


@pytest.mark.parametrize(
    ("shape", "limit_s", "expected", "connections"),
    [
        (Closed(1, 60), 7.9, Closed(requests=360, duration_s=7), 90),
        (Users(CROWD), 7.9, Closed(requests=360, duration_s=7), 90), (rate(3), 7.9, rate(100, 4), 400),
        (LADDER, 2.2, rate(100, 2), 400), (LADDER, 0.1, rate(100, 1), 400),
    ],
)  # fmt: skip
def test_a_burst_is_of_its_load_within_a_limit(shape: Shape, limit_s: float, expected: Shape, connections: int) -> None:
    got = burst_of(load_of(shape, 400), connections=90, waves=4, latency_ms=900, limit_s=limit_s)
    assert (got.shape, got.connections) == (expected, connections)


def test_a_tool_is_stopped_in_time_though_telling_of_it_hangs(tmp_path: Path) -> None:
    hangs, seconds = threading.Event(), list[float]()

    def tell(elapsed_s: float) -> None:
        seconds.append(elapsed_s)
        hangs.wait(60)

    run, samples = run_tool(["sleep", "60"], tmp_path / "out", 3.0, 60.0, Stop(), tell)
    hangs.set()

    assert (run.stopped_by, run.killed) == ("hard cap", False)
    assert len(samples) >= 4
    assert len(seconds) == 1
    assert run.ended - run.started < 30


@pytest.mark.parametrize(
    ("command", "read_bytes", "stall_s", "stop", "stopped_by"),
    [
        ("exec sleep 60", 500, 0.5, False, "stall"), ("exec sleep 60", 500, 60, False, "hard cap"),
        ("exec sleep 60", None, 0.5, False, "hard cap"),  # the kernel does not tell what was read
        ("exec sleep 60", 500, 60, True, "interrupt"), ("sleep 0.5", 500, 60, False, None),
        ("trap '' INT; while :; do sleep 0.1; done", 500, 60, False, "hard cap"),
    ],
)  # fmt: skip
def test_a_tool_is_told_to_stop_and_killed_where_it_does_not_listen(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    read_bytes: int | None,
    stall_s: float,
    stop: bool,
    stopped_by: str | None,
) -> None:
    monkeypatch.setattr(process, "REPORT_GRACE_S", 0.5)
    monkeypatch.setattr("loomlab.run.process.read_bytes", lambda _: read_bytes)
    asked = Stop()
    asked.requested = stop

    run, _ = run_tool(["sh", "-c", command], tmp_path / "out", 1.5, stall_s, asked, lambda *_: None)

    assert (run.stopped_by, run.killed) == (stopped_by, "trap" in command)
    assert run.exit_code == (0 if stopped_by is None else -9 if run.killed else -2)
