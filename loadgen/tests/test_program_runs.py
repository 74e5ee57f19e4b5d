"""Runs of the real rates and users against a server that remembers what it was asked."""

import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import median
from urllib.request import urlopen

import pytest

from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.requestlog import RequestLog
from loomlab.tools.program import Program
from loomlab.tools.tool import ToolReport
from loomlab.tools.users import UsersProgram
from loomlab.tools.vegeta import METRICS_PORT, Vegeta
from recorder import BODY, Recorder, recording

DELAY_S = 0.1
SLACK_S = 15
"""What a host that is busy adds, where only order or a least time matters."""
BEHIND_S = 0.5
"""Of the times at which requests are due."""
BUSY_S = 0.02
"""By less, two times may differ because the host is busy."""
OK = (Target("/ok"),)
RATE = OpenRate((RateStep(50, 2),))
CLOSED = Closed(requests=40, duration_s=30)
BOTH = pytest.mark.parametrize(("tool", "shape"), [(Vegeta(), RATE), (UsersProgram(), CLOSED)])


@pytest.fixture
def server() -> Iterator[Recorder]:
    with recording(DELAY_S) as recorder:
        yield recorder


def started(tool: Program, load: Load, raw: Path) -> "subprocess.Popen[bytes]":
    tool.check(load)
    with tool.output(raw, tool.name).open("wb") as output:
        return subprocess.Popen(tool.command(load, raw, tool.name), stdout=output, stderr=subprocess.STDOUT)  # noqa: S603


def run(tool: Program, load: Load, raw: Path) -> tuple[ToolReport, RequestLog]:
    assert started(tool, load, raw).wait(timeout=60) == 0, tool.output(raw, tool.name).read_text()
    report, log = left(tool, raw)
    assert report.duration_s == pytest.approx(span_s(log), abs=0.001)
    return report, log


def span_s(log: RequestLog) -> float:
    starts_s, latencies_ms = [*log.start_s, *log.failed_start_s], [*log.latency_ms, *log.failed_latency_ms]
    return max(map(ended_s, starts_s, latencies_ms)) - min(starts_s)


def ended_s(start_s: float, latency_ms: float) -> float:
    return start_s + latency_ms / 1000


def most_at_once(log: RequestLog) -> int:
    begun = [(start_s, 1) for start_s in log.start_s]
    ended = [(ended_s(*one), -1) for one in zip(log.start_s, log.latency_ms, strict=True)]
    return max(accumulate(change for _, change in sorted(begun + ended)))


def left(tool: Program, raw: Path) -> tuple[ToolReport, RequestLog]:
    tool.finish(raw, tool.name)
    log = tool.requests(raw, tool.name, 0)
    assert log is not None
    return tool.report(raw, tool.name), log


def load_of(server: Recorder, shape: Shape, connections: int = 20, targets: tuple[Target, ...] = OK) -> Load:
    return Load(server.origin, targets, connections, shape, timeout_s=1)


@pytest.mark.real_tool
def test_a_closed_load_sends_its_requests_over_its_connections(server: Recorder, tmp_path: Path) -> None:
    report, log = run(UsersProgram(), load_of(server, CLOSED, connections=5), tmp_path)

    assert report.attempted == report.completed == len(log) == len(server.asked) == 40
    assert report.received_bytes == 40 * len(BODY)
    assert (report.failed, report.non_2xx, report.dropped, report.aborted) == (0, 0, 0, None)
    assert server.connections == 5
    assert all(1000 * DELAY_S <= latency < 1000 * (DELAY_S + SLACK_S) for latency in log.latency_ms)
    assert report.duration_s is not None
    assert 8 * DELAY_S <= report.duration_s < 8 * DELAY_S + SLACK_S
    assert median(log.lag_ms) < 0.5


@pytest.mark.tools
@BOTH
def test_a_request_is_told_at_its_start(server: Recorder, tmp_path: Path, tool: Program, shape: Shape) -> None:
    _, log = run(tool, load_of(server, shape, targets=(Target("/slow"),)), tmp_path)

    told = sorted(zip(log.start_s, log.latency_ms, strict=True))
    assert len(told) == len(server.asked)
    for asked, (start_s, latency_ms) in zip(server.asked, told, strict=True):
        assert start_s - 0.05 <= asked.at <= start_s + latency_ms / 1000 - 5 * DELAY_S + 0.05


@pytest.mark.tools
def test_a_closed_load_ends_with_the_answers_to_what_was_sent_in_time(server: Recorder, tmp_path: Path) -> None:
    load = load_of(server, Closed(requests=1000, duration_s=1), connections=2, targets=(Target("/slow"),))

    report, _ = run(UsersProgram(), load, tmp_path)

    assert report.attempted == report.completed == len(server.asked)
    assert len(server.asked) <= 6


@pytest.mark.real_tool
def test_a_constant_rate_starts_requests_when_they_are_due(server: Recorder, tmp_path: Path) -> None:
    report, log = run(Vegeta(), load_of(server, OpenRate((RateStep(30.5, 2),)), connections=60), tmp_path)

    assert (report.failed, report.dropped) == (0, 0)
    assert len(log) == len(server.asked) == 61
    assert_due(server, [number / 30.5 for number in range(61)])
    due_s = sorted(start_s - lag_ms / 1000 for start_s, lag_ms in zip(log.start_s, log.lag_ms, strict=True))
    assert [each - due_s[0] for each in due_s] == pytest.approx([number / 30.5 for number in range(61)], abs=1e-5)


@pytest.mark.tools
def test_a_rate_jumps_from_step_to_step(server: Recorder, tmp_path: Path) -> None:
    steps = OpenRate((RateStep(20, 2), RateStep(80, 2)))

    report, _ = run(Vegeta(), load_of(server, steps, connections=100), tmp_path)

    assert (report.attempted, report.dropped) == (200, 0)
    assert_due(server, [*(number / 20 for number in range(40)), *(2 + number / 80 for number in range(160))])


@pytest.mark.tools
def test_a_rate_that_rises_again_finds_its_connections_open(server: Recorder, tmp_path: Path) -> None:
    steps = tuple(RateStep(rate_rps, 1) for rate_rps in (100, 10) * 4)

    _, log = run(Vegeta(), load_of(server, OpenRate(steps), connections=200), tmp_path)

    assert server.connections < 1.5 * most_at_once(log)


def assert_due(server: Recorder, due_s: list[float]) -> None:
    """Each request was sent when it was due, seen from the first one."""
    first = server.asked[0].at
    assert [asked.at - first for asked in server.asked] == pytest.approx(due_s, abs=BEHIND_S)


@pytest.mark.tools
def test_what_the_connections_cannot_keep_starts_late_or_is_told_as_unsent(server: Recorder, tmp_path: Path) -> None:
    report, log = run(Vegeta(), load_of(server, RATE, connections=2), tmp_path)

    assert report.dropped is not None
    assert report.dropped + len(log) == 100
    assert report.dropped > 0
    assert max(log.lag_ms) > 900
    assert max(log.start_s) < min(log.start_s) + 2 + 1 + BEHIND_S


@pytest.mark.tools
def test_none_starts_long_after_the_last_was_due(server: Recorder, tmp_path: Path) -> None:
    load = Load(server.origin, (Target("/never"),), 2, OpenRate((RateStep(50, 1),)), timeout_s=4)

    report, log = run(Vegeta(), load, tmp_path)

    assert (report.attempted, report.dropped) == (2, 48)
    assert dict(log.failures) == {"time-out": 2}


@pytest.mark.tools
def test_users_think_after_each_answer_and_none_is_cut_off(server: Recorder, tmp_path: Path) -> None:
    stages = (UserStage(4, 1), UserStage(4, 1), UserStage(0, 1))
    load = load_of(server, Users(stages, (0.1, 0.3)), connections=4, targets=(Target("/slow"),))

    report, log = run(UsersProgram(), load, tmp_path)

    assert server.connections == 4
    assert (report.failed, report.non_2xx, report.dropped) == (0, 0, 0)
    assert report.completed == len(log) == len(server.asked)
    of_users = [thought_s(server, 1 + user) for user in range(4)]
    assert all(of_users)
    assert all(0.1 <= pause_s < 0.3 + SLACK_S for pauses in of_users for pause_s in pauses)
    assert max(pauses[0] for pauses in of_users) - min(pauses[0] for pauses in of_users) > BUSY_S
    assert max(of_users[0]) - min(of_users[0]) > BUSY_S
    assert all(lag_ms > 0 for lag_ms in log.lag_ms)


def thought_s(server: Recorder, connection: int) -> list[float]:
    starts_s = [asked.at for asked in server.asked if asked.connection == connection]
    return [after - before - 5 * DELAY_S for before, after in pairwise(starts_s)]


@pytest.mark.tools
def test_users_come_and_go_at_an_even_pace(server: Recorder, tmp_path: Path) -> None:
    run(UsersProgram(), load_of(server, Users((UserStage(10, 2), UserStage(0, 2)))), tmp_path)

    first: dict[int, float] = {}
    last: dict[int, float] = {}
    for asked in server.asked:
        first.setdefault(asked.connection, asked.at)
        last[asked.connection] = asked.at
    begun = min(first.values())
    assert sorted(at - begun for at in first.values()) == pytest.approx([0.2 * n for n in range(10)], abs=1)
    ended = [2.2 + 0.2 * n - DELAY_S for n in range(10)]
    assert sorted(at - begun for at in last.values()) == pytest.approx(ended, abs=1)


@pytest.mark.tools
@BOTH
def test_two_targets_are_dealt_evenly(server: Recorder, tmp_path: Path, tool: Program, shape: Shape) -> None:
    targets = (Target("/slow?b=c"), Target("/status/503"))

    report, log = run(tool, load_of(server, shape, targets=targets), tmp_path)

    asked = Counter(each.path for each in server.asked)
    assert asked["/slow?b=c"] == asked["/status/503"]
    assert report.non_2xx == log.failures["503"] == asked["/status/503"]


@pytest.mark.tools
def test_two_targets_are_dealt_evenly_to_users_whoever_is_slower(server: Recorder, tmp_path: Path) -> None:
    shape = Users((UserStage(4, 1), UserStage(0, 1), UserStage(4, 1), UserStage(4, 1)))

    run(UsersProgram(), load_of(server, shape, targets=(Target("/slow"), Target("/ok"))), tmp_path)

    late = {asked.connection: asked.path for asked in server.asked if asked.at > server.asked[-1].at - 1.2}
    assert Counter(late.values()) == {"/ok": 2, "/slow": 2}


@pytest.mark.tools
@BOTH
def test_a_body_and_headers_arrive_whole(server: Recorder, tmp_path: Path, tool: Program, shape: Shape) -> None:
    body = tmp_path / "body.json"
    body.write_bytes(b'{"title": "\xc3\x84"}\x00\xff' * 5000)
    target = Target("/movies", "POST", ("Content-Type: application/json",), body)

    report, _ = run(tool, load_of(server, shape, targets=(target,)), tmp_path)

    assert (report.completed, report.non_2xx) == (report.attempted, 0)
    assert {asked.line for asked in server.asked} == {"POST /movies HTTP/1.1"}
    assert all(asked.body == body.read_bytes() for asked in server.asked)
    assert {asked.headers["content-type"] for asked in server.asked} == {"application/json"}


@pytest.mark.real_tool
@pytest.mark.parametrize(
    ("path", "failure"),
    [
        ("/status/302", "302"),
        ("/status/503", "503"),
        ("/never", "time-out"),
        ("/cut", "answer cut short"),
        ("/close", "connection closed"),
        ("/reset", "connection reset"),
    ],
)
@pytest.mark.parametrize(
    ("tool", "shape"), [(Vegeta(), OpenRate((RateStep(20, 1),))), (UsersProgram(), Closed(20, 30))]
)
def test_what_went_wrong_is_told(
    server: Recorder, tmp_path: Path, tool: Program, shape: Shape, path: str, failure: str
) -> None:
    report, log = run(tool, load_of(server, shape, targets=(Target(path),)), tmp_path)

    assert log.failures == {failure: 20}
    assert report.attempted == len(log.failed_start_s) == 20
    assert (report.non_2xx, report.failed) == ((20, 0) if "status" in path else (0, 20))
    if path == "/never":
        assert all(1000 <= latency_ms < 1000 * SLACK_S for latency_ms in log.failed_latency_ms)


@pytest.mark.tools
@BOTH
def test_where_the_server_ends_connections_each_request_opens_one(
    server: Recorder, tmp_path: Path, tool: Program, shape: Shape
) -> None:
    report, log = run(tool, load_of(server, shape, targets=(Target("/last"),)), tmp_path)

    assert not log.failures
    assert server.connections == len(log) == report.attempted


@pytest.mark.real_tool
@BOTH
def test_a_refused_connection_is_told(tmp_path: Path, tool: Program, shape: Shape) -> None:
    load = Load("http://127.0.0.1:9", OK, 20, shape, timeout_s=1)

    _, log = run(tool, load, tmp_path)

    assert dict(log.failures) == {"connection refused": len(log.failed_start_s)}


@pytest.mark.tools
@BOTH
def test_the_time_out_holds_for_a_connection_that_never_opens(tmp_path: Path, tool: Program, shape: Shape) -> None:
    with socket.socket() as full, ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(3):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        load = Load(f"http://127.0.0.1:{full.getsockname()[1]}", OK, 20, shape, timeout_s=1)

        _, log = run(tool, load, tmp_path)

    assert dict(log.failures) == {"time-out": len(log.failed_start_s)}


@pytest.mark.tools
@BOTH
def test_a_killed_program_leaves_the_requests_that_ended(
    server: Recorder, tmp_path: Path, tool: Program, shape: Shape
) -> None:
    shape = Closed(10**6, 60) if isinstance(shape, Closed) else OpenRate((RateStep(50, 60),))
    process = started(tool, load_of(server, shape), tmp_path)
    rows = tmp_path / f"{tool.name}-requests.csv"
    while not rows.exists() or rows.stat().st_size < 2000:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)

    report, log = left(tool, tmp_path)

    assert report.aborted is not None
    assert len(log) > 10


@pytest.mark.tools
def test_the_live_figures_of_rates_have_a_series_for_each_status(server: Recorder, tmp_path: Path) -> None:
    targets = (Target("/ok"), Target("/status/503"))
    process = started(Vegeta(), load_of(server, OpenRate((RateStep(50, 4),)), targets=targets), tmp_path)
    while len(server.asked) < 20:
        time.sleep(0.05)
    with urlopen(f"http://127.0.0.1:{METRICS_PORT}/metrics") as answer:
        page = answer.read().decode()
    process.wait(timeout=30)

    assert 'status="200"' in page
    assert 'status="503"' in page
    assert "request_seconds_count" in page
    assert "request_fail_count" not in page
