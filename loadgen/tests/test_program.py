"""What rates and users are told, and how what they leave is read."""

import gzip
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target, Users, UserStage
from loomlab.records.requestlog import RequestLog
from loomlab.tools.program import COLUMNS, Program, parse_report, parse_rows
from loomlab.tools.tool import ToolReport
from loomlab.tools.users import UsersProgram
from loomlab.tools.vegeta import Vegeta

LOAD = Load(
    "http://approach:8080", (Target("/capabilities"),), connections=20, shape=OpenRate((RateStep(50, 2),)), timeout_s=7
)
CLOSED = replace(LOAD, shape=Closed(100, 9))
SPIKE = replace(LOAD, shape=Users((UserStage(20, 5), UserStage(0, 1)), (1, 3)))
ROWS = [
    "1000000000,1002000000,30000000,200,12,\n",
    "2000000000,2000000000,40000000,503,5,\n",
    "3000000000,3001000000,7000000000,0,0,Get http://x:1/: dial tcp 10.0.0.1:80: connect: connection refused\n",
]
REPORT = {
    "requests": 3,
    "without_answer": 1,
    "not_2xx": 1,
    "unsent": 4,
    "bytes": 17,
    "first_start_ns": 1_002_000_000,
    "last_end_ns": 10_001_000_000,
}


def test_a_row_is_an_answer_or_a_failure_with_its_reason_and_lag() -> None:
    log = parse_rows([COLUMNS, *ROWS])

    assert (list(log.start_s), list(log.latency_ms), list(log.lag_ms)) == ([1.002], [30], [2])
    assert (list(log.failed_start_s), list(log.failed_latency_ms)) == ([2, 3.001], [40, 7000])
    assert list(log.failed_lag_ms) == [0, 1]
    assert log.failures == {"503": 1, "connection refused": 1}


def test_the_last_line_of_a_killed_program_is_left_out() -> None:
    assert len(parse_rows([COLUMNS, ROWS[0], "2000000000,20"])) == 1


@pytest.mark.parametrize("row", ["1,2\n", "1,2,3,4,5,6,7\n", "a,2,3,200,5,\n", "1,2,3,4e3,5,\n", "\n"])
def test_a_line_that_is_no_request_is_told(row: str) -> None:
    with pytest.raises(ParseError, match="Line 3"):
        parse_rows([COLUMNS, ROWS[0], row, ROWS[1]])


def test_rows_of_another_tool_are_told() -> None:
    with pytest.raises(ParseError, match="first line"):
        parse_rows(["start_us,latency_us,status,error_code,method,name\n"])


def test_a_report_counts_each_request_once() -> None:
    assert parse_report(json.dumps(REPORT)) == ToolReport(
        completed=2, attempted=3, failed=1, non_2xx=1, dropped=4, received_bytes=17, duration_s=8.999
    )


def test_a_report_of_no_request_says_so() -> None:
    nothing = REPORT | {"requests": 0, "without_answer": 0, "not_2xx": 0, "first_start_ns": None, "last_end_ns": 0}

    report = parse_report(json.dumps(nothing))

    assert (report.attempted, report.duration_s) == (0, 0)
    assert report.aborted is not None


@pytest.mark.parametrize(
    "wrong",
    [{"requests": 10**400}, {"requests": 1}, {"last_end_ns": 1}, {"first_start_ns": -1}, {"bytes": -1}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_report_that_cannot_be_is_told(wrong: dict[str, object]) -> None:
    with pytest.raises(ParseError):
        parse_report(json.dumps(REPORT | wrong))


def left(raw: Path, rows: list[str], report: Mapping[str, object] | None = None) -> Vegeta:
    """vegeta, whose run left that."""
    (raw / "vegeta.txt").write_text("lab-rates: no such host\n")
    (raw / "vegeta-requests.csv").write_text("".join([COLUMNS, *rows]))
    if report is not None:
        (raw / "vegeta-report.json").write_text(json.dumps(report))
    vegeta = Vegeta()
    vegeta.finish(raw, "vegeta")
    return vegeta


def test_rows_are_packed_once(tmp_path: Path) -> None:
    vegeta = left(tmp_path, ROWS, REPORT)
    vegeta.finish(tmp_path, "vegeta")

    assert not (tmp_path / "vegeta-requests.csv").exists()
    assert vegeta.requests(tmp_path, "vegeta", 0) == parse_rows([COLUMNS, *ROWS])


def test_rows_that_are_not_as_many_as_were_counted_are_told(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="counts 3 requests, but its rows hold 2"):
        left(tmp_path, ROWS[:2], REPORT).requests(tmp_path, "vegeta", 0)


def test_without_a_report_the_last_words_are_kept(tmp_path: Path) -> None:
    vegeta = left(tmp_path, ROWS)

    assert vegeta.report(tmp_path, "vegeta") == ToolReport(aborted="lab-rates: no such host")
    assert vegeta.requests(tmp_path, "vegeta", 0) == parse_rows([COLUMNS, *ROWS])


def test_a_program_that_is_killed_at_once_leaves_no_request(tmp_path: Path) -> None:
    (tmp_path / "vegeta-requests.csv").touch()
    Vegeta().finish(tmp_path, "vegeta")

    assert Vegeta().requests(tmp_path, "vegeta", 0) == parse_rows([COLUMNS])


def test_without_rows_there_is_no_log(tmp_path: Path) -> None:
    Vegeta().finish(tmp_path, "vegeta")

    assert Vegeta().requests(tmp_path, "vegeta", 0) is None


@given(report=st.binary() | st.none(), output=st.binary(), rows=st.binary())
def test_any_files_are_figures_or_a_parse_error(
    tmp_path_factory: pytest.TempPathFactory, report: bytes | None, output: bytes, rows: bytes
) -> None:
    raw, vegeta = tmp_path_factory.mktemp("raw"), Vegeta()
    (raw / "vegeta.txt").write_bytes(output)
    (raw / "vegeta-requests.csv.gz").write_bytes(gzip.compress(rows) if len(rows) % 2 else rows)
    if report is not None:
        (raw / "vegeta-report.json").write_bytes(report)

    with suppress(ParseError):
        assert isinstance(vegeta.report(raw, "vegeta"), ToolReport)
    with suppress(ParseError):
        assert isinstance(vegeta.requests(raw, "vegeta", 5), RequestLog)


def told(tool: Program, load: Load, raw: Path) -> dict[str, object]:
    """The load file."""
    command = tool.command(load, raw, tool.name)
    asked, *others = (raw / f"{tool.name}-{name}" for name in ("load.json", "requests.csv", "report.json"))
    assert command == [tool.program, str(asked), *map(str, others)]
    found = json.loads(asked.read_text())
    assert isinstance(found, dict)
    return found


def test_what_rates_is_told(tmp_path: Path) -> None:
    target = Target("/movies?x=1", "POST", ("Authorization: b:c",), tmp_path / "body")
    steps = OpenRate((RateStep(12.5, 60), RateStep(25, 30)))

    assert told(Vegeta(), replace(LOAD, targets=(target, *LOAD.targets), shape=steps), tmp_path) == {
        "origin": "http://approach:8080",
        "connections": 20,
        "metrics_port": 8880,
        "timeout_ms": 7000,
        "steps": [{"rate_rps": 12.5, "seconds": 60}, {"rate_rps": 25, "seconds": 30}],
        "requests": [
            {
                "method": "POST",
                "target": "/movies?x=1",
                "headers": [["Authorization", "b:c"]],
                "body": str(tmp_path / "body"),
            },
            {"method": "GET", "target": "/capabilities", "headers": [], "body": None},
        ],
    }


def test_what_users_is_told(tmp_path: Path) -> None:
    spike = told(UsersProgram(), SPIKE, tmp_path)
    closed = told(UsersProgram(), CLOSED, tmp_path)

    assert spike["address"] == "approach:8080"
    assert (spike["stages"], spike["think_seconds"]) == (
        [{"users": 20, "seconds": 5}, {"users": 0, "seconds": 1}],
        [1, 3],
    )
    assert (closed["stages"], closed["think_seconds"], closed["most_requests"]) == (
        [{"users": 20, "seconds": 0}, {"users": 20, "seconds": 9}],
        [0, 0],
        100,
    )


@pytest.mark.parametrize(
    ("tool", "load", "said"),
    [
        (Vegeta(), CLOSED, "use ab, hey or users"),
        (Vegeta(), SPIKE, "use ab, hey or users"),
        (Vegeta(), replace(LOAD, shape=OpenRate((RateStep(5, 5), RateStep(0, 5)))), r"got 0(\.0)?/s"),
        (UsersProgram(), LOAD, "use vegeta"),
        (UsersProgram(), replace(CLOSED, connections=101), "got 100 for 101"),
        (UsersProgram(), replace(SPIKE, connections=19), "got 20 users for 19"),
        (UsersProgram(), replace(SPIKE, shape=Users((UserStage(0, 5),))), "got 0 users"),
    ],
)
def test_what_they_cannot_do_is_refused(tool: Program, load: Load, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        tool.check(load)


def test_what_they_can_do_is_not_refused() -> None:
    Vegeta().check(LOAD)
    UsersProgram().check(SPIKE)
    UsersProgram().check(CLOSED)
