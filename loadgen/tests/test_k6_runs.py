"""Runs of the real k6 against a server that remembers what it was asked."""

import gzip
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.requestlog import RequestLog
from loomlab.tools.k6 import K6
from loomlab.tools.tool import ToolReport
from recorder import Recorder, recording

DELAY_S = 0.1
SLACK_S = 15
"""What a host that is busy adds, where only order or a least time matters."""
BEHIND_S = 0.5
"""Of the times at which requests are due."""
OK = (Target("/ok"),)


@pytest.fixture
def server() -> Iterator[Recorder]:
    with recording(DELAY_S) as recorder:
        yield recorder


def run(load: Load, raw: Path) -> tuple[ToolReport, RequestLog]:
    tool = K6()
    tool.check(load)
    with tool.output(raw, "k6").open("wb") as output:
        subprocess.run(  # noqa: S603 - no shell
            tool.command(load, raw, "k6"), stdout=output, stderr=subprocess.STDOUT, check=True, timeout=60
        )
    tool.finish(raw, "k6")
    log = tool.requests(raw, "k6", 0)
    assert log is not None
    return tool.report(raw, "k6"), log


def rows(raw: Path) -> list[list[str]]:
    with gzip.open(raw / "k6-requests.csv.gz", "rt") as lines:
        return [line.rstrip("\n").split(",") for line in lines][1:]


def load_of(server: Recorder, shape: Shape, connections: int, targets: tuple[Target, ...] = OK) -> Load:
    return Load(server.origin, targets, connections, shape, timeout_s=5)


@pytest.mark.real_tool
def test_a_closed_load_sends_its_requests_over_its_connections(server: Recorder, tmp_path: Path) -> None:
    report, log = run(load_of(server, Closed(requests=40, duration_s=30), connections=5), tmp_path)

    assert report.attempted == report.completed == len(log) == len(server.asked) == 40
    assert (report.failed, report.non_2xx, report.dropped, report.aborted) == (0, 0, 0, None)
    assert server.connections == 5
    assert all(1000 * DELAY_S <= latency < 1000 * (DELAY_S + SLACK_S) for latency in log.latency_ms)
    assert report.duration_s is not None
    assert 8 * DELAY_S <= report.duration_s < 8 * DELAY_S + SLACK_S


@pytest.mark.tools
def test_a_request_is_told_at_its_start(server: Recorder, tmp_path: Path) -> None:
    run(load_of(server, Closed(requests=6, duration_s=30), connections=2, targets=(Target("/slow"),)), tmp_path)

    told = sorted((int(row[0]) / 1e6, int(row[1]) / 1e6) for row in rows(tmp_path))
    assert len(told) == len(server.asked) == 6
    for asked, (start_s, latency_s) in zip(server.asked, told, strict=True):
        assert start_s - 0.01 <= asked.at <= start_s + latency_s - 5 * DELAY_S + 0.01


@pytest.mark.tools
def test_a_closed_load_ends_with_the_answers_to_what_was_sent_in_time(server: Recorder, tmp_path: Path) -> None:
    load = load_of(server, Closed(requests=1000, duration_s=1), connections=2, targets=(Target("/slow"),))

    report, _ = run(load, tmp_path)

    assert report.attempted == report.completed == len(server.asked)
    assert len(server.asked) <= 6
    assert report.dropped == 0


@pytest.mark.real_tool
def test_a_constant_rate_starts_requests_on_time(server: Recorder, tmp_path: Path) -> None:
    report, log = run(load_of(server, OpenRate((RateStep(30.5, 2),)), connections=60), tmp_path)

    assert (report.failed, report.dropped) == (0, 0)
    assert len(log) == pytest.approx(61, abs=1)
    assert_due(server, [number / 30.5 for number in range(62)])


@pytest.mark.tools
def test_a_rate_jumps_from_step_to_step(server: Recorder, tmp_path: Path) -> None:
    report, _ = run(load_of(server, OpenRate((RateStep(20, 2), RateStep(80, 2))), connections=100), tmp_path)

    assert report.attempted == pytest.approx(200, abs=1)
    assert report.dropped == 0
    assert_due(server, [*(number / 20 for number in range(40)), *(2 + number / 80 for number in range(161))])


def assert_due(server: Recorder, due_s: list[float]) -> None:
    """Each request was sent when it was due, seen from the first one."""
    first = server.asked[0].at
    sent_s = [asked.at - first for asked in server.asked]
    assert sent_s == pytest.approx(due_s[: len(sent_s)], abs=BEHIND_S)


@pytest.mark.tools
def test_a_rate_that_the_connections_cannot_keep_is_dropped(server: Recorder, tmp_path: Path) -> None:
    report, log = run(load_of(server, OpenRate((RateStep(50, 2),)), connections=2), tmp_path)

    assert report.dropped is not None
    assert len(log) <= 2 * 2 / DELAY_S + 2
    assert report.dropped + len(log) == pytest.approx(100, abs=1)


@pytest.mark.tools
def test_users_think_after_each_answer_and_none_is_cut_off(server: Recorder, tmp_path: Path) -> None:
    stages = (UserStage(4, 1), UserStage(4, 1), UserStage(0, 1))

    report, log = run(load_of(server, Users(stages, (0.1, 0.3)), connections=4, targets=(Target("/slow"),)), tmp_path)

    assert server.connections == 4
    assert (report.failed, report.non_2xx, report.dropped) == (0, 0, 0)
    assert report.completed == len(log) == len(server.asked)
    thought_s = [after - before - 5 * DELAY_S for before, after in starts_of_each_user(server)]
    assert thought_s
    assert all(0.1 <= pause_s < 0.3 + SLACK_S for pause_s in thought_s)


def starts_of_each_user(server: Recorder) -> Iterator[tuple[float, float]]:
    for connection in range(1, server.connections + 1):
        yield from pairwise(asked.at for asked in server.asked if asked.connection == connection)


@pytest.mark.tools
def test_users_come_and_go_at_an_even_pace(server: Recorder, tmp_path: Path) -> None:
    run(load_of(server, Users((UserStage(10, 2), UserStage(0, 2))), connections=10), tmp_path)

    first: dict[int, float] = {}
    last: dict[int, float] = {}
    for asked in server.asked:
        first.setdefault(asked.connection, asked.at)
        last[asked.connection] = asked.at
    begun = min(first.values())
    assert sorted(at - begun for at in first.values()) == pytest.approx([0.2 * n for n in range(10)], abs=1)
    ended = [2.0 + 0.2 * n - DELAY_S for n in range(10)]
    assert sorted(at - begun for at in last.values()) == pytest.approx(ended, abs=1)


@pytest.mark.tools
@pytest.mark.parametrize("shape", [Closed(40, 30), OpenRate((RateStep(40, 1),))])
def test_two_targets_are_dealt_evenly_to_requests(server: Recorder, shape: Shape, tmp_path: Path) -> None:
    targets = (Target("/a?b=c"), Target("/status/503"))

    report, log = run(load_of(server, shape, connections=8, targets=targets), tmp_path)

    asked = Counter(each.path for each in server.asked)
    assert abs(asked["/a?b=c"] - asked["/status/503"]) <= 1
    assert report.non_2xx == log.failures["503"] == asked["/status/503"]
    tags = {tuple(row[2:]) for row in rows(tmp_path)}
    assert tags == {("200", "", "GET", "/a"), ("503", "1503", "GET", "/status/503")}


@pytest.mark.tools
def test_two_targets_are_dealt_evenly_to_users_whoever_is_slower(server: Recorder, tmp_path: Path) -> None:
    shape = Users((UserStage(4, 1), UserStage(0, 1), UserStage(4, 1), UserStage(4, 1)))

    run(load_of(server, shape, connections=4, targets=(Target("/ok"), Target("/slow"))), tmp_path)

    late = {asked.connection: asked.path for asked in server.asked if asked.at > server.asked[-1].at - 1.2}
    assert Counter(late.values()) == {"/ok": 2, "/slow": 2}
    asked = Counter(each.path for each in server.asked)
    assert asked["/ok"] > 2 * asked["/slow"]


@pytest.mark.tools
def test_a_body_arrives_whole(server: Recorder, tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_bytes(b'{"title": "\xc3\x84"}\x00\xff' * 5000)
    target = Target("/movies", "POST", ("Content-Type: application/json",), body)

    report, _ = run(load_of(server, Closed(4, 30), connections=2, targets=(target,)), tmp_path)

    assert (report.completed, report.non_2xx) == (4, 0)
    assert {asked.line for asked in server.asked} == {"POST /movies HTTP/1.1"}
    assert all(asked.body == body.read_bytes() for asked in server.asked)
    assert {asked.headers["content-type"] for asked in server.asked} == {"application/json"}
