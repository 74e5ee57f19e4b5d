"""What can be seen of a run while it goes, over real HTTP."""

import io
import json
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest

from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target
from loomlab.records.models import HostSample, Request
from loomlab.run import live
from loomlab.run.live import LiveFigures, LiveProgress
from loomlab.run.progress import Progress
from loomlab.run.prometheus import exposed_values
from loomlab.tools.known import tool
from served import serving

LADDER = OpenRate((RateStep(250, 60), RateStep(500, 30), RateStep(1000, 60)))
CLOSED = Closed(requests=1200, duration_s=60)


def load_of(shape: Shape) -> Load:
    return Load("http://app:8080", (Target("/epoch-millis?delayInMillis=5"),), 200, shape, timeout_s=30)


def request_of(shape: Shape, scenario: str | None = None) -> Request:
    return Request(
        tool="vegeta", approach="tomcat-virtual", load=load_of(shape), delay="300", scenario=scenario, repeat=1, jdk=25,
        gc="parallel", generator_cpus="", backend_cpus="", approach_cpus="", warmup_cap_s=5, started=0,
    )  # fmt: skip


class Clock:
    """Stands for the module's time."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fixed = Clock()
    monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=fixed.monotonic, time=lambda: 1_795_000_000.0))
    return fixed


def served(shape: Shape, scenario: str | None = None) -> tuple[LiveFigures, int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    run_dir = Path("results/20261121T060000Z-ladder/runs/3-tomcat-virtual")
    return LiveFigures(request_of(shape, scenario), run_dir, Progress(), port), port


def page(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        return str(answer.read().decode())


def phases(port: int) -> dict[str, float]:
    text = page(port)
    return {
        phase: float(line.split()[-1])
        for phase in live.PHASES
        for line in text.splitlines()
        if line.startswith(f'lab_run_phase{{phase="{phase}"}}')
    }


def test_the_run_that_goes_on_is_named() -> None:
    _, port = served(LADDER, "rate-ladder")

    (line,) = [line for line in page(port).splitlines() if line.startswith("lab_run_info")]

    assert line == (
        'lab_run_info{approach="tomcat-virtual",endpoint="/epoch-millis",experiment="20261121T060000Z-ladder",'
        'jdk="25",run="3-tomcat-virtual",scenario="rate-ladder",tool="vegeta"} 1.0'
    )


def test_a_run_without_a_scenario_has_an_empty_one() -> None:
    _, port = served(CLOSED)

    assert 'scenario=""' in page(port)


def test_one_phase_is_current() -> None:
    figures, port = served(CLOSED)
    for current in live.PHASES:
        figures.phase(current)

        assert phases(port) == {phase: float(phase == current) for phase in live.PHASES}


def test_a_closed_load_offers_connections_and_no_rate() -> None:
    _, port = served(CLOSED)

    assert exposed_values(page(port)).get("lab_offered_connections") == 200
    assert "lab_offered_rate_rps" not in page(port)


def test_the_offered_rate_follows_the_steps(clock: Clock) -> None:
    figures, port = served(LADDER)

    def offered(after_s: float) -> float | None:
        clock.now = 1000 + after_s
        return exposed_values(page(port)).get("lab_offered_rate_rps")

    figures.phase("warm-up")
    assert offered(0) == 0
    figures.phase("measure")
    assert [offered(second) for second in (0, 59, 60, 89, 90, 149, 150)] == [250, 250, 500, 500, 1000, 1000, 0]
    figures.phase("collect")
    assert offered(20) == 0


def test_the_seconds_are_those_of_the_measure_phase(clock: Clock) -> None:
    figures, port = served(CLOSED)

    def elapsed(after_s: float) -> float | None:
        clock.now = 1000 + after_s
        return exposed_values(page(port)).get("lab_run_elapsed_seconds")

    figures.phase("warm-up")
    assert elapsed(7) == 0
    figures.phase("measure")
    assert [elapsed(second) for second in (7, 7.5, 67)] == [0, 0.5, 60]
    figures.phase("collect")
    assert elapsed(70) == 0


def test_the_run_tells_the_idle_time_of_its_cpus() -> None:
    _, port = served(CLOSED)

    text = page(port)

    assert exposed_values(text).get("lab_available_cpus")
    assert 'lab_idle_cpu_seconds_total{role="loadgen"}' in text
    assert 'lab_idle_cpu_seconds_total{role="backend"}' in text


@contextmanager
def prometheus(*answers: dict[str, float] | None) -> Iterator[tuple[str, list[str]]]:
    """Gives these counts by outcome one after another, the last one for ever; None: an error."""
    queries: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            queries.append(parse_qs(urlparse(self.path).query)["query"][0])
            counts = answers[min(len(queries), len(answers)) - 1]
            self.send_response(200 if counts is not None else 503)
            result: list[Any] = [
                {"metric": {"outcome": outcome}, "value": [0, str(count)]} for outcome, count in (counts or {}).items()
            ]
            body = json.dumps({"data": {"result": result}}).encode()
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with serving(Handler) as origin:
        yield origin, queries


def shown(url: str, tool_name: str, seconds: list[float]) -> list[str]:
    """The progress line of each of these seconds."""
    stream = io.StringIO()
    progress = LiveProgress("tomcat-virtual", load_of(LADDER), tool(tool_name), url, Unthrottled(stream))
    for second in seconds:
        progress.show(HostSample(time=1000 + second, cpus={}, tool_threads={}), second)
    return stream.getvalue().splitlines()


class Unthrottled(Progress):
    """Speaks however short the time since it last did."""

    def show(self, phase: str, percent: float | None, seconds_left: float | None, text: str) -> None:
        self._last = 0.0
        super().show(phase, percent, seconds_left, text)


def test_a_tool_with_live_figures_tells_them() -> None:
    with prometheus({"ok": 500}, {"ok": 1400, "failed": 100}) as (url, queries):
        lines = shown(url, "vegeta", [30, 32])

    assert lines == [
        "measure 20 %, 120 s left  500 requests, 0 errors (vegeta)",
        "measure 21 %, 118 s left  1,500 requests, 500/s, 100 errors (vegeta)",
    ]
    assert set(queries) == {tool("vegeta").done_query}


def test_of_a_tool_without_live_figures_the_server_counts_since_the_start() -> None:
    with prometheus({"ok": 10_000, "failed": 5}, {"ok": 10_600, "failed": 6}) as (url, queries):
        lines = shown(url, "ab", [75])

    assert lines == ["measure 50 %, 75 s left  601 requests, 1 errors (the server's count)"]
    assert 'service="tomcat-virtual"' in queries[0]


def test_over_time_is_not_more_than_all_of_it() -> None:
    with prometheus({"ok": 5}) as (url, _):
        (line,) = shown(url, "vegeta", [400])

    assert line.startswith("measure 100 %, 0 s left  5 requests")


@pytest.mark.parametrize("tool_name", ["ab", "vegeta"])
def test_without_prometheus_the_count_is_unknown(tool_name: str) -> None:
    assert shown("http://127.0.0.1:9", tool_name, [30]) == ["measure 20 %, 120 s left  requests so far: unknown"]


def test_a_count_that_was_missing_comes_back() -> None:
    with prometheus({"ok": 100}, None, {"ok": 400}) as (url, _):
        lines = shown(url, "vegeta", [1, 2, 3])

    assert [line.split("  ", 1)[1] for line in lines] == [
        "100 requests, 0 errors (vegeta)",
        "requests so far: unknown",
        "400 requests, 150/s, 0 errors (vegeta)",
    ]


def test_a_metric_that_is_not_there_yet_is_unknown() -> None:
    with prometheus({}) as (url, _):
        assert shown(url, "vegeta", [1])[0].endswith("requests so far: unknown")
