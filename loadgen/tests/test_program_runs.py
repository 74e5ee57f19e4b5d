"""Runs of the real rates and users against a server that remembers what it was asked."""

import os
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import median

import numpy as np
import pytest

import loads
from loads import rate
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.requestlog import RequestLog
from loomlab.run.prometheus import answered
from loomlab.tools.hey import Hey
from loomlab.tools.programs import METRICS_PORT, LabUsers, Program, Vegeta
from loomlab.tools.tool import Tool, ToolReport
from misbehaving import BODY, Misbehaving, running
from served import dripping
from test_target import certified

DELAY_S = 0.1
SLACK_S = 15  # what a host that is busy adds, where only order or a least time matters
BEHIND_S = 0.5  # of the times at which requests are due
BUSY_S = 0.02  # by less, two times may differ because the host is busy
RATE = rate(50, 2)
CLOSED = Closed(requests=40, duration_s=30)
TOOLS = pytest.mark.tools
BOTH = pytest.mark.parametrize(("tool", "shape"), [(Vegeta(), RATE), (LabUsers(), CLOSED)])


@pytest.fixture
def server() -> Iterator[Misbehaving]:
    with running(delay_s=DELAY_S) as server:
        yield server


def started(tool: Tool, load: Load, raw: Path) -> "subprocess.Popen[bytes]":
    tool.check(load)
    with tool.output(raw).open("wb") as output:
        return subprocess.Popen(tool.command(load, raw), stdout=output, stderr=subprocess.STDOUT)  # noqa: S603


def run(tool: Tool, load: Load, raw: Path) -> tuple[ToolReport, RequestLog]:
    assert started(tool, load, raw).wait(timeout=60) == 0, tool.output(raw).read_text()
    report, log = left(tool, raw)
    span_s = (log.starts_s + log.latencies_ms / 1000).max() - log.starts_s.min()
    assert report.duration_s == pytest.approx(span_s, abs=0.001)
    return report, log


def left(tool: Tool, raw: Path) -> tuple[ToolReport, RequestLog]:
    tool.finish(raw)
    log = tool.requests(raw, 0)
    assert log is not None
    return tool.report(raw), log


def load_of(server: Misbehaving, shape: Shape, connections: int = 20, *targets: str | Target) -> Load:
    return loads.load_of(shape, connections, *(targets or ("/ok",)), origin=server.origin)


@pytest.mark.real_tool
def test_a_closed_load_sends_its_requests_over_its_connections(server: Misbehaving, tmp_path: Path) -> None:
    report, log = run(LabUsers(), load_of(server, CLOSED, 5), tmp_path)

    assert report.attempted == report.completed == len(log) == len(server.asked) == 40
    assert report.received_bytes == 40 * len(BODY)
    assert (report.failed, report.non_2xx, report.dropped, report.aborted) == (0, 0, 0, None)
    assert server.connections == 5
    assert all(1000 * DELAY_S <= latency < 1000 * (DELAY_S + SLACK_S) for latency in log.latency_ms)
    assert 8 * DELAY_S <= (report.duration_s or 0) < 8 * DELAY_S + SLACK_S
    assert median(log.lag_ms) < 0.5


@pytest.mark.real_tool
@BOTH
def test_a_certificate_is_trusted_by_the_users_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: Program, shape: Shape
) -> None:
    context, authority = certified(tmp_path)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with running(tls=context) as server:
        left_by = started(tool, load_of(server, shape), tmp_path)
        assert left_by.wait(timeout=60) == 0
        refused, _ = left(tool, tmp_path)
        assert (refused.completed, server.asked) == (0, [])
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        report, log = run(tool, load_of(server, shape), tmp_path)
    assert report.completed == len(log) == len(server.asked) > 0
    assert (report.failed, report.non_2xx) == (0, 0)


@TOOLS
@BOTH
def test_a_request_is_told_at_its_start(server: Misbehaving, tmp_path: Path, tool: Program, shape: Shape) -> None:
    _, log = run(tool, load_of(server, shape, 20, "/slow"), tmp_path)

    for asked, (start_s, latency_ms) in zip(
        server.asked, sorted(zip(log.start_s, log.latency_ms, strict=True)), strict=True
    ):
        assert start_s - 0.05 <= asked.at <= start_s + latency_ms / 1000 - 5 * DELAY_S + 0.05


@TOOLS
def test_a_closed_load_ends_with_the_answers_to_what_was_sent_in_time(server: Misbehaving, tmp_path: Path) -> None:
    report, _ = run(LabUsers(), load_of(server, Closed(1000, 1), 2, "/slow"), tmp_path)
    assert report.attempted == report.completed == len(server.asked) <= 6


@pytest.mark.real_tool
@pytest.mark.parametrize(
    ("shape", "due_s"),
    [
        (rate(30.5, 2), [number / 30.5 for number in range(61)]),
        (
            OpenRate((RateStep(20, 2), RateStep(80, 2))),
            [*(number / 20 for number in range(40)), *(2 + number / 80 for number in range(160))],
        ),
    ],
)
def test_a_rate_starts_requests_when_due(server: Misbehaving, tmp_path: Path, shape: Shape, due_s: list[float]) -> None:
    report, log = run(Vegeta(), load_of(server, shape, 100), tmp_path)

    assert (report.attempted, report.failed, report.dropped) == (len(log), 0, 0)
    assert [asked.at - server.asked[0].at for asked in server.asked] == pytest.approx(due_s, abs=BEHIND_S)
    told_s = sorted(log.start_s - log.lag_ms / 1000)
    assert [each - told_s[0] for each in told_s] == pytest.approx(due_s, abs=1e-5)


@TOOLS
def test_a_rate_that_rises_again_finds_its_connections_open(server: Misbehaving, tmp_path: Path) -> None:
    steps = tuple(RateStep(rate_rps, 1) for rate_rps in (100, 10) * 4)

    _, log = run(Vegeta(), load_of(server, OpenRate(steps), 200), tmp_path)

    begun = [(start_s, 1) for start_s in log.start_s]
    ended = [(end_s, -1) for end_s in log.start_s + log.latency_ms / 1000]
    assert server.connections < 1.5 * max(accumulate(change for _, change in sorted(begun + ended)))


@TOOLS
def test_what_the_connections_cannot_keep_starts_late_or_is_told_as_unsent(server: Misbehaving, tmp_path: Path) -> None:
    report, log = run(Vegeta(), load_of(server, RATE, 2), tmp_path)

    assert report.dropped == 100 - len(log) > 0
    assert max(log.lag_ms) > 900
    assert max(log.start_s) < min(log.start_s) + 2 + 1 + BEHIND_S


@TOOLS
def test_none_starts_long_after_the_last_was_due(server: Misbehaving, tmp_path: Path) -> None:
    report, log = run(Vegeta(), replace(load_of(server, rate(50, 1), 2, "/never"), timeout_s=4), tmp_path)
    assert (report.attempted, report.dropped) == (2, 48)
    assert dict(log.failures) == {"time-out": 2}


@TOOLS
def test_users_think_after_each_answer_and_none_is_cut_off(server: Misbehaving, tmp_path: Path) -> None:
    stages = (UserStage(4, 1), UserStage(4, 1), UserStage(0, 1))

    report, log = run(LabUsers(), load_of(server, Users(stages, (0.1, 0.3)), 4, "/slow"), tmp_path)

    assert server.connections == 4
    assert (report.failed, report.non_2xx, report.dropped) == (0, 0, 0)
    assert report.completed == len(log) == len(server.asked)
    asked_s = [[asked.at for asked in server.asked if asked.connection == 1 + user] for user in range(4)]
    pauses_s = [[after - before - 5 * DELAY_S for before, after in pairwise(times_s)] for times_s in asked_s]
    assert all(pauses_s)
    assert all(0.1 <= pause_s < 0.3 + SLACK_S for pauses in pauses_s for pause_s in pauses)
    assert max(pauses[0] for pauses in pauses_s) - min(pauses[0] for pauses in pauses_s) > BUSY_S
    assert max(pauses_s[0]) - min(pauses_s[0]) > BUSY_S
    assert all(lag_ms > 0 for lag_ms in log.lag_ms)


@TOOLS
@BOTH
def test_two_targets_are_dealt_evenly(server: Misbehaving, tmp_path: Path, tool: Program, shape: Shape) -> None:
    report, log = run(tool, load_of(server, shape, 20, "/slow?b=c", "/status/503"), tmp_path)
    asked = Counter(each.path for each in server.asked)
    assert asked["/slow?b=c"] == asked["/status/503"] == report.non_2xx == log.failures["503"]


@TOOLS
def test_two_targets_are_dealt_evenly_to_users_whoever_is_slower(server: Misbehaving, tmp_path: Path) -> None:
    shape = Users((UserStage(4, 1), UserStage(0, 1), UserStage(4, 1), UserStage(4, 1)))

    run(LabUsers(), load_of(server, shape, 20, "/slow", "/ok"), tmp_path)

    late = {asked.connection: asked.path for asked in server.asked if asked.at > server.asked[-1].at - 1.2}
    assert Counter(late.values()) == {"/ok": 2, "/slow": 2}


@TOOLS
@pytest.mark.parametrize(("tool", "shape"), [(Vegeta(), RATE), (LabUsers(), CLOSED), (Hey(), CLOSED)])
def test_a_body_and_headers_arrive_whole(server: Misbehaving, tmp_path: Path, tool: Tool, shape: Shape) -> None:
    body = tmp_path / "body.json"
    body.write_bytes(b'{"title": "\xc3\x84"}\x00\xff' * 5000)
    target = Target("/movies", "POST", ("Content-Type: application/json",), body)

    report, _ = run(tool, load_of(server, shape, 20, target), tmp_path)

    assert (report.completed, report.non_2xx) == (report.attempted, 0)
    sent = {(asked.line, asked.headers["content-type"], asked.body) for asked in server.asked}
    assert sent == {("POST /movies HTTP/1.1", "application/json", body.read_bytes())}


@pytest.mark.real_tool
@pytest.mark.parametrize(
    ("path", "failures", "connections"),
    [
        ("/status/302", {"302": 20}, None), ("/status/503", {"503": 20}, None), ("/never", {"time-out": 20}, None),
        ("/cut", {"answer cut short": 20}, None), ("/close", {"connection closed": 20}, None),
        ("/reset", {"connection reset": 20}, None), ("/last", {}, 20),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("tool", "shape"), [(Vegeta(), rate(20, 1)), (LabUsers(), Closed(20, 30))])
def test_what_went_wrong_is_told(
    server: Misbehaving,
    tmp_path: Path,
    tool: Program,
    shape: Shape,
    path: str,
    failures: dict[str, int],
    connections: int | None,
) -> None:
    report, log = run(tool, load_of(server, shape, 20, path), tmp_path)

    failed = sum(failures.values())
    assert (log.failures, report.attempted, len(log.failed_start_s)) == (failures, 20, failed)
    assert (report.non_2xx, report.failed) == ((20, 0) if "status" in path else (0, failed))
    assert connections in {None, server.connections}
    if path == "/never":
        assert all(1000 <= latency_ms < 1000 * SLACK_S for latency_ms in log.failed_latency_ms)


HEAD = b"HTTP/1.1 200 OK\r\n"
ENDLESS = {
    "a header that drips": (HEAD + b"X: ", b"x", 0.05),
    "headers": (HEAD, b"X: x\r\n" * 10_000, 0.001),
    "a body that drips": (HEAD + b"Content-Length: 9999\r\n\r\n", b"x", 0.05),
    "a stream": (HEAD + b"\r\n", b"x" * 2**20, 0),
    "a chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n7FFFFFFFFFFFFFF0\r\n", b"x" * 2**20, 0),
}
MOST_KIB = 512 * 1024


@pytest.mark.real_tool
@pytest.mark.parametrize("answer", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize(("tool", "shape"), [(Vegeta(), rate(4, 1)), (LabUsers(), Closed(4, 1)), (Hey(), Closed(4, 1))])
def test_an_answer_that_never_ends_is_a_failure_in_time_and_takes_no_more_memory(
    tmp_path: Path, tool: Tool, shape: Shape, answer: tuple[bytes, bytes, float]
) -> None:
    with dripping(*answer) as server:
        process = started(tool, loads.load_of(shape, 4, "/x", origin=server.origin), tmp_path)
        _, code, used = os.wait4(process.pid, 0)
    process.wait()
    report, log = left(tool, tmp_path)

    assert (code, len(log), sum(log.failures.values())) == (0, 0, 4)
    assert report.duration_s is not None and report.duration_s < SLACK_S
    assert used.ru_maxrss < MOST_KIB


@pytest.mark.real_tool
@BOTH
@pytest.mark.parametrize(("opens", "failure"), [(False, "connection refused"), (True, "time-out")])
def test_a_connection_that_never_opens(tmp_path: Path, tool: Program, shape: Shape, opens: bool, failure: str) -> None:
    with socket.socket() as full, ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        for _ in range(3 if opens else 0):
            full.listen(0)
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(full.getsockname())

        _, log = run(tool, loads.load_of(shape, origin=f"http://127.0.0.1:{full.getsockname()[1]}"), tmp_path)

    assert dict(log.failures) == {failure: len(log.failed_start_s)}


@TOOLS
@pytest.mark.parametrize(("tool", "shape"), [(Vegeta(), rate(50)), (LabUsers(), Closed(10**6, 60))])
def test_a_killed_program_leaves_requests(server: Misbehaving, tmp_path: Path, tool: Program, shape: Shape) -> None:
    process = started(tool, load_of(server, shape), tmp_path)
    rows = tool.rows(tmp_path)
    while not rows.exists() or rows.stat().st_size < 2000:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)

    report, log = left(tool, tmp_path)

    assert report.aborted is not None
    assert len(log) > 10


@TOOLS
def test_the_live_figures_of_rates_have_a_series_for_each_status(server: Misbehaving, tmp_path: Path) -> None:
    process = started(Vegeta(), load_of(server, rate(50, 4), 20, "/ok", "/status/503"), tmp_path)
    while len(server.asked) < 20:
        time.sleep(0.05)
    page = answered(f"http://127.0.0.1:{METRICS_PORT}/metrics")
    process.wait(timeout=30)

    assert all(text in page for text in ('status="200"', 'status="503"', "request_seconds_count"))
    assert "request_fail_count" not in page


@TOOLS
def test_users_send_a_slice_when_they_are_told_to_and_keep_connections(server: Misbehaving, tmp_path: Path) -> None:
    command = LabUsers().command(load_of(server, CLOSED, 5), tmp_path, ramp_s=1, in_slices=True)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdin and process.stdout
        for done in (40, 80, 120):
            process.stdin.write(b"40\n")
            process.stdin.flush()
            assert (process.stdout.readline(), len(server.asked), server.inflight) == (b"40\n", done, 0)

    first = {asked.connection: asked.at for asked in reversed(server.asked)}
    assert (server.connections, len(left(LabUsers(), tmp_path)[1].starts_s)) == (5, 120)
    assert np.diff(sorted(first.values())) == pytest.approx(0.2, abs=BUSY_S)
