"""What rates and users are given, and how what they leave is read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loads import SPIKE, load_of
from loomlab.basics.errors import ParseError
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target
from loomlab.records.requestlog import RequestLog
from loomlab.tools.programs import COLUMNS, LabUsers, Program, Vegeta, parse_report, parse_rows
from loomlab.tools.tool import ToolReport

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


def parsed(*rows: str) -> RequestLog:
    return parse_rows("".join([COLUMNS, *rows]).encode())


def test_a_row_is_an_answer_or_a_failure_with_its_reason_and_lag() -> None:
    log = parsed(*ROWS)

    assert (log.start_s.tolist(), log.latency_ms.tolist(), log.lag_ms.tolist()) == ([1.002], [30], [2])
    assert (log.failed_start_s.tolist(), log.failed_latency_ms.tolist()) == ([2, 3.001], [40, 7000])
    assert log.failed_lag_ms.tolist() == [0, 1]
    assert log.failures == {"503": 1, "connection refused": 1}


def test_an_answer_that_failed_without_a_reason_is_a_failure_too() -> None:
    assert parsed("3000000000,3001000000,7,0,0,\n").failures == {"no reason given": 1}


def test_the_last_line_of_a_killed_program_is_left_out() -> None:
    assert len(parsed(ROWS[0], "2000000000,20")) == 1
    assert len(parse_rows(b"")) == 0


@pytest.mark.parametrize("row", ["1,2\n", "1,2,3,4,5,6,7\n", "a,2,3,200,5,\n", "1,2,3,4e3,5,\n", "\n"])
def test_a_line_that_is_no_request_is_refused(row: str) -> None:
    with pytest.raises(ParseError, match="lines that are no requests"):
        parsed(ROWS[0], row, ROWS[1])


def test_rows_of_another_tool_are_refused() -> None:
    with pytest.raises(ParseError, match="first line"):
        parse_rows(b"start_us,latency_us,status,error_code,method,name\n")


def test_a_report_counts_each_request_once() -> None:
    assert parse_report(json.dumps(REPORT)) == ToolReport(
        completed=2, attempted=3, failed=1, non_2xx=1, dropped=4, received_bytes=17, duration_s=8.999, rows=3
    )


def test_a_report_of_no_request_says_so() -> None:
    nothing = REPORT | {"requests": 0, "without_answer": 0, "not_2xx": 0, "first_start_ns": None, "last_end_ns": 0}

    report = parse_report(json.dumps(nothing))

    assert (report.attempted, report.duration_s, report.aborted) == (0, 0, "it sent no request")


@pytest.mark.parametrize("text", ["", "[]", json.dumps(REPORT | {"requests": None})])
def test_another_report_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="not a report"):
        parse_report(text)


def left(raw: Path, rows: list[str], report: Mapping[str, object] | None = None) -> Vegeta:
    """vegeta, whose run left that."""
    (raw / "vegeta.txt").write_text("lab-rates: no such host\n")
    (raw / "vegeta-requests.csv").write_text("".join([COLUMNS, *rows]))
    if report is not None:
        (raw / "vegeta-report.json").write_text(json.dumps(report))
    vegeta = Vegeta()
    vegeta.finish(raw)
    return vegeta


def test_rows_are_packed_and_as_many_as_were_counted(tmp_path: Path) -> None:
    np.testing.assert_equal(vars(left(tmp_path, ROWS, REPORT).requests(tmp_path, 0)), vars(parsed(*ROWS)))
    assert not (tmp_path / "vegeta-requests.csv").exists()

    with pytest.raises(ParseError, match="counts 3 requests, but its rows hold 2"):
        left(tmp_path, ROWS[:2], REPORT).requests(tmp_path, 0)


def test_without_a_report_the_rows_and_the_last_words_are_known(tmp_path: Path) -> None:
    vegeta = left(tmp_path, ROWS)

    assert vegeta.report(tmp_path) == ToolReport(aborted="lab-rates: no such host")
    np.testing.assert_equal(vars(vegeta.requests(tmp_path, 0)), vars(parsed(*ROWS)))


def load_file(tool: Program, load: Load, raw: Path) -> dict[str, Any]:
    """What the program is given."""
    command = tool.command(load, raw)
    settings, *others = (raw / f"{tool.name}-{name}" for name in ("load.json", "requests.csv", "report.json"))
    assert command == [tool.program, str(settings), *map(str, others)]
    content: dict[str, Any] = json.loads(settings.read_text())
    return content


def test_what_rates_is_given(tmp_path: Path) -> None:
    target = Target("/movies?x=1", "POST", ("Authorization: b:c",), tmp_path / "body")
    steps = OpenRate((RateStep(12.5, 60), RateStep(25, 30)))

    assert load_file(Vegeta(), load_of(steps, 20, target, "/capabilities"), tmp_path) == {
        "origin": "http://app:8080",
        "connections": 20,
        "metrics_port": 8880,
        "timeout_ms": 1000,
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


def test_what_users_is_given(tmp_path: Path) -> None:
    spike = load_file(LabUsers(), load_of(SPIKE), tmp_path)
    closed = load_file(LabUsers(), load_of(Closed(100, 9)), tmp_path)

    assert (spike["address"], spike["think_seconds"], spike["dealt_to_requests"]) == ("app:8080", [1, 3], False)
    assert spike["stages"] == [{"users": 20, "seconds": 5}, {"users": 0, "seconds": 1}]
    assert (closed["think_seconds"], closed["most_requests"], closed["dealt_to_requests"]) == ([0, 0], 100, True)
    assert closed["stages"] == [{"users": 20, "seconds": 0}, {"users": 20, "seconds": 9}]
