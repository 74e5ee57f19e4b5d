"""What rates and users are given, and how what they leave is read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from loads import SPIKE, load_of
from loomlab.basics.errors import ParseError
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target
from loomlab.records.requestlog import RequestLog
from loomlab.tools.programs import COLUMNS, LabUsers, Program, Vegeta
from loomlab.tools.tool import ToolReport

ROWS = [
    "1000000000,1002000000,30000000,200,12,\n",
    "2000000000,2000000000,40000000,503,5,\n",
    "3000000000,3001000000,7000000000,0,0,Get http://x:1/: dial tcp 10.0.0.1:80: connect: connection refused\n",
]
REPORT: dict[str, int | None] = {
    "requests": 3,
    "without_answer": 1,
    "not_2xx": 1,
    "unsent": 4,
    "bytes": 17,
    "first_start_ns": 1_002_000_000,
    "last_end_ns": 10_001_000_000,
}
VEGETA = Vegeta()


def parsed(raw: Path, *rows: str, head: str = f"{COLUMNS}\n", report: Mapping[str, object] | None = None) -> RequestLog:
    """The requests of a vegeta that left that in `raw`."""
    VEGETA.output(raw).write_text("lab-rates: no such host\n")
    VEGETA.rows(raw).write_text("".join([head, *rows]))
    if report is not None:
        (raw / "vegeta-report.json").write_text(json.dumps(report))
    VEGETA.finish(raw)
    assert not VEGETA.rows(raw).exists()
    log = VEGETA.requests(raw, 0)
    assert log is not None
    return log


def test_a_row_is_an_answer_or_a_failure_with_its_reason_and_lag(tmp_path: Path) -> None:
    log = parsed(tmp_path, *ROWS)

    assert (log.start_s.tolist(), log.latency_ms.tolist(), log.lag_ms.tolist()) == ([1.002], [30], [2])
    assert (log.failed_start_s.tolist(), log.failed_latency_ms.tolist()) == ([2, 3.001], [40, 7000])
    assert log.failed_lag_ms.tolist() == [0, 1]
    assert log.failures == {"503": 1, "connection refused": 1}


def test_an_answer_that_failed_without_a_reason_is_a_failure_too(tmp_path: Path) -> None:
    assert parsed(tmp_path, "3000000000,3001000000,7,0,0,\n").failures == {"no reason given": 1}


def test_the_last_line_of_a_killed_program_is_left_out(tmp_path: Path) -> None:
    assert len(parsed(tmp_path, ROWS[0], "2000000000,20")) == 1
    assert len(parsed(tmp_path, head="")) == 0


@pytest.mark.parametrize("row", ["1,2\n", "1,2,3,4,5,6,7\n", "a,2,3,200,5,\n", "1,2,3,4e3,5,\n", "\n"])
def test_a_line_that_is_no_request_is_refused(tmp_path: Path, row: str) -> None:
    with pytest.raises(ParseError, match="lines that are no requests"):
        parsed(tmp_path, ROWS[0], row, ROWS[1])


def test_a_report_counts_each_request_once_and_as_many_as_there_are_rows(tmp_path: Path) -> None:
    parsed(tmp_path, *ROWS, report=REPORT)

    assert VEGETA.report(tmp_path) == ToolReport(
        completed=2, attempted=3, failed=1, non_2xx=1, dropped=4, received_bytes=17, duration_s=8.999, rows=3
    )
    with pytest.raises(ParseError, match="counts 3 requests, but its rows hold 2"):
        parsed(tmp_path, *ROWS[:2])


def test_a_report_of_no_request_says_so(tmp_path: Path) -> None:
    nothing = {"requests": 0, "without_answer": 0, "not_2xx": 0, "first_start_ns": None, "last_end_ns": 0}
    parsed(tmp_path, report=REPORT | nothing)

    report = VEGETA.report(tmp_path)

    assert (report.attempted, report.duration_s, report.aborted) == (0, 0, "it sent no request")


@pytest.mark.parametrize("report", [[], REPORT | {"requests": None}, REPORT | {"unsent": -1}])
def test_another_report_is_refused(tmp_path: Path, report: Any) -> None:
    with pytest.raises(ParseError, match="not a report"):
        parsed(tmp_path, report=report)


def test_without_a_report_the_last_words_are_known(tmp_path: Path) -> None:
    parsed(tmp_path, *ROWS)

    assert VEGETA.report(tmp_path) == ToolReport(aborted="lab-rates: no such host")


def load_file(tool: Program, load: Load, raw: Path, **how: Any) -> dict[str, Any]:
    """What the program is given."""
    command = tool.command(load, raw, **how)
    settings, *others = (raw / f"{tool.name}-{name}" for name in ("load.json", "requests.csv", "report.json"))
    assert command == [tool.program, str(settings), *map(str, others)]
    content: dict[str, Any] = json.loads(settings.read_text())
    return content


def test_what_rates_is_given(tmp_path: Path) -> None:
    body = tmp_path / "body"
    target = Target("/movies?x=1", "POST", ("Authorization: b:c",), body)
    steps = OpenRate((RateStep(12.5, 60), RateStep(25, 30)))

    assert load_file(VEGETA, load_of(steps, 20, target, "/capabilities"), tmp_path) == {
        "origin": "http://app:8080",
        "connections": 20,
        "metrics_port": 8880,
        "timeout_ms": 1000,
        "steps": [{"rate_rps": 12.5, "seconds": 60}, {"rate_rps": 25, "seconds": 30}],
        "requests": [
            {"method": "POST", "target": "/movies?x=1", "headers": [["Authorization", "b:c"]], "body": str(body)},
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
    ramped = load_file(LabUsers(), load_of(Closed(100, 9)), tmp_path, ramp_s=1, in_slices=True)
    assert (ramped["stages"], ramped["in_slices"]) == ([{"users": 20, "seconds": 1}, {"users": 20, "seconds": 8}], True)
