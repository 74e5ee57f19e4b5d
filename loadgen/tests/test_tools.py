"""What load generators have in common: what they refuse, their versions, and how what they leave is packed."""

import errno
import gzip
import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loads import CLOSED, LADDER, SPIKE, load_of, rate
from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target, Users, UserStage
from loomlab.records.requestlog import RequestLog
from loomlab.tools.known import KNOWN, tool
from loomlab.tools.programs import COLUMNS, LabUsers, Program, Vegeta
from loomlab.tools.tool import ToolReport, numbers, reason, reasons

GOLDEN = Path(__file__).parent / "golden"
SOURCES = Path(__file__).parents[1]
POST = Target("/movies", "POST", body=Path("b.json"))
LEFT = {
    "ab": ("well.tsv", "ab-requests.tsv", "ab-requests.tsv.gz"),
    "hey": ("hey/well.txt", "hey.txt", "hey-requests.csv.gz"),
    "users": ("well.tsv", "users-requests.csv", "users-requests.csv.gz"),
}
"""By tool: a golden file, what it is as the tool leaves it, and what it is packed into."""
REAL_LINES = [
    line
    for name in ("reset.txt", "reset.tsv", "hey/reset.txt")
    for line in (GOLDEN / name).read_bytes().splitlines(keepends=True)
]
STARTED = b'{"requests": 9, "connections": 2, "timeout_s": 1, "started": 1700000000}'


@pytest.mark.parametrize(
    ("name", "load", "cure"),
    [
        ("ab", load_of(Closed(20_000, 60), 20_000), None),
        ("ab", load_of(Closed(30_000, 60), 20_001), "CONCURRENCY=20000 or less"),
        ("ab", load_of(Closed(99, 60), 100), "each of 100 connections, got 99: raise REQUESTS"),
        ("ab", load_of(LADDER), "use vegeta or users"), ("ab", load_of(SPIKE), "use vegeta or users"),
        ("ab", load_of(CLOSED, 1, "/a", "/b"), "2 were asked for: use users"),
        ("ab", load_of(CLOSED, 1, POST), "use hey or users"), ("hey", load_of(Closed(1_000_000, 60), 20, POST), None),
        ("hey", load_of(Closed(1_000_001, 60)), "use REQUESTS=1000000 or less"),
        ("hey", load_of(Closed(120, 60), 121), "each of 121 connections, got 120"),
        ("hey", load_of(LADDER), "use vegeta or users"), ("hey", load_of(SPIKE), "use vegeta or users"),
        ("hey", load_of(CLOSED, 20, "/a", "/b", "/c"), "3 were asked for: use users"),
        ("vegeta", load_of(LADDER, 20, "/a", POST), None), ("vegeta", load_of(CLOSED), "use ab, hey or users"),
        ("vegeta", load_of(SPIKE), "use ab, hey or users"), ("vegeta", load_of(rate(0.001)), None),
        ("users", load_of(SPIKE, 20, "/a", POST), None), ("users", load_of(CLOSED), None),
        ("users", load_of(LADDER), "use vegeta"),
        ("users", load_of(Closed(100, 60), 101), "each of 101 connections, got 100"),
        ("users", load_of(Users((UserStage(0, 5),))), "got 0: raise SCALE"),
        ("users", load_of(Users((UserStage(1, 5),)), 20, "/a", "/b"), "2 kinds of requests"),
    ],
)  # fmt: skip
def test_what_a_tool_cannot_do_is_refused_with_a_cure(name: str, load: Load, cure: str | None) -> None:
    if cure is None:
        tool(name).check(load)
    else:
        with pytest.raises(UsageError, match=cure):
            tool(name).check(load)


def test_an_unknown_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="'wrk'"):
        tool("wrk")


def test_a_tool_has_the_version_that_the_image_is_built_with(tmp_path: Path) -> None:
    for pins in ("tools/go.mod", "users/Cargo.toml"):
        (tmp_path / "loadgen" / pins).parent.mkdir(parents=True)
        shutil.copy(SOURCES / pins, tmp_path / "loadgen" / pins)

    assert [str(tool(name).version(tmp_path))[:2] for name in ("hey", "vegeta", "users")] == ["v0", "v1", "1."]
    assert tool("hey").version(tmp_path / "loadgen") is None


@pytest.mark.parametrize("name", LEFT)
def test_what_cannot_be_packed_is_packed_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    golden, plain, packed = LEFT[name]
    shutil.copy(GOLDEN / golden, tmp_path / plain)
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            tool(name).finish(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [plain]
    assert (tmp_path / plain).read_bytes() == (GOLDEN / golden).read_bytes()

    tool(name).finish(tmp_path)
    once = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    tool(name).finish(tmp_path)

    assert gzip.decompress(once[packed]).splitlines()[1:]
    assert once == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def full(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", KNOWN)
def test_a_tool_that_left_no_rows_has_no_requests(tmp_path: Path, name: str) -> None:
    tool(name).finish(tmp_path)
    assert tool(name).requests(tmp_path, 100) is None


@pytest.mark.parametrize("name", KNOWN)
@given(data=st.data())
def test_any_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject) -> None:
    raw = tmp_path_factory.mktemp("raw")
    lines = st.lists(st.sampled_from(REAL_LINES)).map(b"".join)
    for left, contents in {
        f"{name}.txt": st.binary() | lines,
        f"{name}-load.json": st.binary() | st.just(STARTED),
        f"{name}-report.json": st.binary() | st.none(),
        tool(name).rows(raw, ".gz").name: st.binary() | (st.binary() | lines).map(gzip.compress),
    }.items():
        if (content := data.draw(contents)) is not None:
            (raw / left).write_bytes(content)

    with suppress(ParseError):
        report = tool(name).report(raw)
        assert report.duration_s is not None or report.aborted is not None
    with suppress(ParseError):
        assert isinstance(tool(name).requests(raw, 5), RequestLog)


@pytest.mark.parametrize("limit", ["MOST_BYTES", "MOST_ROWS", "MOST_PACKED"])
def test_no_more_is_read_than_a_packed_file_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """A file of 30 MB may stand for 30 GB."""
    monkeypatch.setattr(f"loomlab.tools.tool.{limit}", 5000)
    rows = [f"{number * 7919 % 10**9:010}{ROWS[0][10:]}" for number in range(6000)]

    with pytest.raises(ParseError, match="measure a shorter time"):
        parsed(tmp_path, *rows, report=REPORT | {"requests": 6000})
    assert len(parsed(tmp_path, *rows[:100], report=REPORT | {"requests": 100})) == 100


@pytest.mark.parametrize("part", [0, 1, 30, 31, 2**24])
def test_numbers_are_read_in_parts(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr("loomlab.tools.tool.PART", part)
    rows = [[number, 10**number] for number in range(12)]
    text = "".join(f"{first},{second},\n" for first, second in rows).encode()

    assert numbers(text, 2, ",", np.int64).T.tolist() == rows
    for damaged in (text + b"1,2,3,\n", text[:-1], text + b"1"):
        with pytest.raises(ValueError, match="reshape"):
            numbers(damaged, 2, ",", np.int64)
    assert numbers(b"", 2, ",", np.int64).shape == (2, 0)


def test_of_many_kinds_of_errors_the_rest_is_one() -> None:
    found = reasons((f"error {number}", 2) for number in range(150))
    assert (len(found), found.total(), found["another reason"]) == (101, 300, 100)


@pytest.mark.parametrize("row", [b"nan,1\n", b"inf,1\n", b"1e999,1\n"])
def test_what_is_not_finite_is_no_request(row: bytes) -> None:
    with pytest.raises(ValueError, match="not finite"):
        numbers(row.replace(b"\n", b",\n"), 2, ",", np.float64)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ('Get "http://a/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)', "time-out"),
        ('Post "http://a/": dial tcp 10.0.0.1:8080: i/o timeout', "time-out"),
        ("read tcp 10.0.0.1:4->10.0.0.2:80: read: connection timed out", "time-out"),
        ("write tcp 10.0.0.1:4->10.0.0.2:80: write: broken pipe", "connection closed"),
        ('Get "http://a/": dial tcp: lookup a on 10.0.0.1:53: read udp 10.0.0.1:4: i/o timeout', "no address"),
        ("dial tcp 10.0.0.2:80: connect: cannot assign requested address", "connect: cannot assign requested address"),
        ('Get "http://a/lookup EOF": malformed HTTP response "x"', 'malformed HTTP response "x"'),
        ("x" * 99, "x" * 60),
        ("", "no reason given"),
    ],
)
def test_an_error_is_named_by_its_kind(error: str, kind: str) -> None:
    assert reason(error) == kind


ROWS = [
    "1000000000,1002000000,30000000,200,12,\n",
    "2000000000,2000000000,40000000,503,5,\n",
    "3000000000,3001000000,7000000000,0,0,Get http://x:1/: dial tcp 10.0.0.1:80: connect: connection refused\n",
]
REPORT: dict[str, int | None] = {
    "requests": 3, "without_answer": 1, "not_2xx": 1, "unsent": 4, "bytes": 17, "first_start_ns": 1_002_000_000,
    "last_end_ns": 10_001_000_000,
}  # fmt: skip
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
    with pytest.raises(ParseError, match=r"vegeta-report\.json is damaged"):
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
        "origin": "http://app:8080", "connections": 20, "metrics_port": 8880, "timeout_ms": 1000,
        "steps": [{"rate_rps": 12.5, "seconds": 60}, {"rate_rps": 25, "seconds": 30}],
        "requests": [
            {"method": "POST", "target": "/movies?x=1", "headers": [["Authorization", "b:c"]], "body": str(body)},
            {"method": "GET", "target": "/capabilities", "headers": [], "body": None},
        ],
    }  # fmt: skip


def test_what_users_is_given(tmp_path: Path) -> None:
    spike = load_file(LabUsers(), load_of(SPIKE), tmp_path)
    closed = load_file(LabUsers(), load_of(Closed(100, 9)), tmp_path)

    assert (spike["origin"], spike["think_seconds"], spike["dealt_to_requests"]) == ("http://app:8080", [1, 3], False)
    assert spike["stages"] == [{"users": 20, "seconds": 5}, {"users": 0, "seconds": 1}]
    assert (closed["think_seconds"], closed["most_requests"], closed["dealt_to_requests"]) == ([0, 0], 100, True)
    assert closed["stages"] == [{"users": 20, "seconds": 0}, {"users": 20, "seconds": 9}]
    ramped = load_file(LabUsers(), load_of(Closed(100, 9)), tmp_path, ramp_s=1, in_slices=True)
    assert (ramped["stages"], ramped["in_slices"]) == ([{"users": 20, "seconds": 1}, {"users": 20, "seconds": 8}], True)
