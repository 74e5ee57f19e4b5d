"""hey's command line and the parsers of what it prints, on output of the real hey (see make_golden_hey_vegeta.py)."""

import gzip
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target, Users, UserStage
from loomlab.records.requestlog import RequestLog
from loomlab.tools.gohttp import reason
from loomlab.tools.hey import (
    MAX_REQUESTS,
    REQUEST_COLUMNS,
    TEMPLATE,
    Hey,
    Started,
    Summary,
    parse_report,
    parse_requests,
    parse_summary,
)
from loomlab.tools.tool import ToolReport
from server import POSTED, running

GOLDEN = Path(__file__).parent / "golden" / "hey"
LOAD = Load("http://127.0.0.21:8080", (Target("/capabilities"),), connections=20, shape=Closed(120, 9), timeout_s=1)
STARTED_S = 1_700_000_000.5
REAL_LINES = (GOLDEN / "reset.txt").read_text().splitlines()


def started(requests: int) -> Started:
    return Started(requests=requests, connections=20, timeout_s=1, started=STARTED_S)


def golden(name: str, raw: Path, requests: int = 120) -> Hey:
    """hey, after it left in `raw` what the real one printed."""
    hey = Hey()
    hey.output(raw, "hey").write_bytes((GOLDEN / f"{name}.txt").read_bytes())
    (raw / "hey-load.json").write_text(started(requests).model_dump_json())
    hey.finish(raw, "hey")
    return hey


def run(load: Load, raw: Path, end: signal.Signals | None = None) -> Hey:
    """hey, after the real one has run; `end` is sent to it after a second."""
    hey = Hey()
    with hey.output(raw, "hey").open("wb") as output:
        process = subprocess.Popen(hey.command(load, raw, "hey"), stdout=output, stderr=subprocess.STDOUT)  # noqa: S603
        if end is not None:
            time.sleep(1)
            process.send_signal(end)
        process.wait(timeout=30)
    hey.finish(raw, "hey")
    return hey


@pytest.mark.parametrize(
    ("name", "completed", "non_2xx", "failures"),
    [
        ("well", 120, 0, {}),
        ("noka", 120, 0, {}),
        ("non2xx", 120, 6, {"503": 6}),
        ("slow", 114, 0, {"time-out": 6}),
        ("reset", 114, 0, {"connection reset": 6}),
        ("close", 115, 0, {"connection closed": 5}),
        ("refused", 0, 0, {"connection refused": 120}),
        ("unknown-host", 0, 0, {"no address": 120}),
    ],
)
def test_each_request_is_counted_once(
    tmp_path: Path, name: str, completed: int, non_2xx: int, failures: dict[str, int]
) -> None:
    hey = golden(name, tmp_path)

    report, log = hey.report(tmp_path, "hey"), hey.requests(tmp_path, "hey", 100)

    assert (report.attempted, report.completed, report.failed) == (120, completed, 120 - completed)
    assert (report.non_2xx, report.aborted) == (non_2xx, None)
    assert report.duration_s
    assert log is not None
    assert (len(log), log.failures) == (completed - non_2xx, failures)
    assert len(log.failed_start_s) == len(log.failed_latency_ms) == non_2xx
    assert all(100 <= latency <= 250 for latency in (*log.latency_ms, *log.failed_latency_ms))
    assert all(0 <= start_s - STARTED_S < 4 for start_s in log.start_s)


def test_the_start_of_a_request_is_heys_own_and_its_offset() -> None:
    log = parse_requests([REQUEST_COLUMNS + "\n", row(0.1004)], started(1), Summary(1, 2.7, {200: 1}, {}))

    assert list(log.start_s) == pytest.approx([STARTED_S + 2.6], abs=1e-6)
    assert log.latency_ms[0] == pytest.approx(100.4)


def row(took_s: float, dial_s: float = 0.0, status: int = 200) -> str:
    return f"{took_s:.6f},{dial_s:.6f},0.000000,0.000010,0.100300,0.000020,{status},2.600000\n"


def test_an_answer_that_took_as_long_as_the_time_out_was_cut_by_it() -> None:
    rows = [row(0.999), row(1.0), row(1.005), row(1.1, status=503)]
    log = parse_requests([REQUEST_COLUMNS + "\n", *rows], started(4), Summary(4, 2.7, {200: 3, 503: 1}, {}))

    assert len(log) == 1
    assert list(log.failed_latency_ms) == pytest.approx([1000, 1005, 1100])
    assert log.failures == {"time-out": 3}


@pytest.mark.parametrize(("lost", "doubtful"), [(0, 0), (7, 7)])
def test_an_answer_may_be_cut_for_each_connection_that_was_opened_anew(lost: int, doubtful: int) -> None:
    rows = [row(0.1, dial_s=0.002)] * 20 + [row(0.1)] * 50 + [row(0.1, dial_s=0.001)] * lost
    summary = Summary(len(rows), 2.7, {200: len(rows)}, {})

    assert parse_requests([REQUEST_COLUMNS + "\n", *rows], started(len(rows)), summary).doubtful == doubtful


def test_after_finish_the_output_is_a_summary_and_the_rows_are_packed(tmp_path: Path) -> None:
    hey = golden("non2xx", tmp_path)
    text = hey.output(tmp_path, "hey").read_text()
    with gzip.open(tmp_path / "hey-requests.csv.gz", "rt") as rows:
        packed = rows.read().splitlines()

    assert len(text.splitlines()) < 30
    assert "[503]\t6 responses" in text
    assert (packed[0], len(packed)) == (REQUEST_COLUMNS, 121)


def test_a_second_finish_changes_nothing(tmp_path: Path) -> None:
    hey = golden("non2xx", tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    hey.finish(tmp_path, "hey")

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_words_of_others_between_heys_own_break_nothing(tmp_path: Path) -> None:
    lines = (GOLDEN / "well.txt").read_text().splitlines()
    hey = Hey()
    noise = ["http: something, went wrong", "0.1,0.2"]
    hey.output(tmp_path, "hey").write_text("\n".join([*noise, *lines[:40], *noise, *lines[40:], *noise]))
    (tmp_path / "hey-load.json").write_text(started(120).model_dump_json())

    hey.finish(tmp_path, "hey")
    log = hey.requests(tmp_path, "hey", 100)

    assert log is not None
    assert len(log) == hey.report(tmp_path, "hey").attempted == 120
    assert hey.output(tmp_path, "hey").read_text().count(noise[0]) == 3


def test_a_stopped_hey_reports_what_it_has(tmp_path: Path) -> None:
    report = golden("interrupted", tmp_path, requests=100_000).report(tmp_path, "hey")

    assert (report.attempted, report.completed, report.failed) == (184, 184, 0)
    assert report.aborted == "hey was stopped before its 100000 requests were done"


def test_a_killed_hey_leaves_nothing(tmp_path: Path) -> None:
    hey = golden("killed", tmp_path)

    assert hey.report(tmp_path, "hey") == ToolReport(aborted="hey ended without a report")
    assert hey.requests(tmp_path, "hey", 100) is None


def test_lost_rows_are_told(tmp_path: Path) -> None:
    hey = Hey()
    text = (GOLDEN / "well.txt").read_text()
    hey.output(tmp_path, "hey").write_text(text[: len(text) // 2])
    (tmp_path / "hey-load.json").write_text(started(120).model_dump_json())
    hey.finish(tmp_path, "hey")

    with pytest.raises(ParseError, match="120 answers"):
        hey.requests(tmp_path, "hey", 100)


def test_a_lost_part_of_the_summary_is_told() -> None:
    text = (GOLDEN / "slow.txt").read_text()

    with pytest.raises(ParseError, match="of 120 requests it lists 114 answers and 0 errors"):
        parse_report(text[: text.index("Error distribution")], 120)


def test_a_damaged_request_file_is_told(tmp_path: Path) -> None:
    hey = golden("well", tmp_path)
    packed = tmp_path / "hey-requests.csv.gz"
    packed.write_bytes(packed.read_bytes()[:200])

    with pytest.raises(ParseError, match="damaged"):
        hey.requests(tmp_path, "hey", 100)


@pytest.mark.parametrize("name", ["hey-load.json", "hey.txt"])
def test_rows_without_start_or_summary_are_told(tmp_path: Path, name: str) -> None:
    hey = golden("well", tmp_path)
    (tmp_path / name).write_text("{}" if name.endswith("json") else "")

    with pytest.raises(ParseError, match=r"hey-load\.json"):
        hey.requests(tmp_path, "hey", 100)


@pytest.mark.real_tool
def test_what_hey_said_of_a_wrong_command_line_is_kept(tmp_path: Path) -> None:
    done = subprocess.run(
        ["hey", "-n", "1", "-c", "2", "http://x/"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    Hey().output(tmp_path, "hey").write_text(done.stdout + done.stderr)

    assert Hey().report(tmp_path, "hey") == ToolReport(aborted="-n cannot be less than -c.")


def test_a_text_that_is_not_heys_is_told() -> None:
    with pytest.raises(ParseError, match="not hey's output"):
        parse_report("This is ApacheBench, Version 2.3\n", 1)


@given(st.text() | st.lists(st.sampled_from(REAL_LINES)).map("\n".join))
def test_any_text_is_a_report_or_a_parse_error(text: str) -> None:
    try:
        got = parse_report(text, 120)
    except ParseError:
        return
    assert got.duration_s is not None or got.aborted is not None


@given(st.lists(st.text() | st.sampled_from(REAL_LINES)))
def test_any_lines_are_requests_or_a_parse_error(lines: list[str]) -> None:
    summary = Summary(len(lines), 1.0, {200: len(lines)}, {})
    try:
        log = parse_requests([REQUEST_COLUMNS, *lines], started(1), summary)
    except ParseError:
        return
    assert len(log) + len(log.failed_start_s) == len(lines)


@given(output=st.binary() | st.just((GOLDEN / "non2xx.txt").read_bytes()), load=st.binary(), rows=st.binary())
def test_any_files_are_figures_or_a_parse_error(
    tmp_path_factory: pytest.TempPathFactory, output: bytes, load: bytes, rows: bytes
) -> None:
    raw, hey = tmp_path_factory.mktemp("raw"), Hey()
    (raw / "hey.txt").write_bytes(output)
    (raw / "hey-load.json").write_bytes(load)
    hey.finish(raw, "hey")
    (raw / "hey-requests.csv.gz").write_bytes(gzip.compress(rows) if len(rows) % 2 else rows)

    with suppress(ParseError):
        assert isinstance(hey.report(raw, "hey"), ToolReport)
    with suppress(ParseError):
        assert isinstance(hey.requests(raw, "hey", 5), RequestLog)


def test_a_command_line(tmp_path: Path) -> None:
    before_s = time.time()
    target = Target("/movies?x=1", "POST", ("Authorization: b", "Content-Type: application/json"), tmp_path / "body")
    load = replace(LOAD, targets=(target,), shape=Closed(130, 9), timeout_s=7)

    assert Hey().command(load, tmp_path, "burst") == [
        *("hey", "-disable-redirects", "-n", "130", "-c", "20", "-t", "7", "-o", TEMPLATE, "-m", "POST"),
        *("-H", "Authorization: b", "-H", "Content-Type: application/json", "-D", str(tmp_path / "body")),
        "http://127.0.0.21:8080/movies?x=1",
    ]
    told = Started.model_validate_json((tmp_path / "burst-load.json").read_text())
    assert (told.requests, told.connections, told.timeout_s) == (120, 20, 7)
    assert before_s <= told.started <= time.time()


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (replace(LOAD, shape=OpenRate((RateStep(5, 5),))), "only a closed load"),
        (replace(LOAD, shape=Users((UserStage(5, 5),))), "only a closed load"),
        (replace(LOAD, targets=LOAD.targets * 3), "3 were asked for"),
        (replace(LOAD, connections=121), "got 120 for 121"),
        (replace(LOAD, shape=Closed(MAX_REQUESTS + 1, 9)), "1000001 were asked for"),
    ],
)
def test_what_hey_cannot_do_is_refused(load: Load, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Hey().check(load)


def test_what_hey_can_do_is_not_refused() -> None:
    Hey().check(LOAD)


def test_hey_tells_nothing_while_it_runs() -> None:
    assert Hey().done_query is None


@pytest.mark.real_tool
def test_the_real_hey_counts_answers_and_errors_and_their_starts(tmp_path: Path) -> None:
    before_s = int(time.time())
    with running("127.0.0.21", 0.1, "slow"):
        hey = run(replace(LOAD, shape=Closed(130, 9)), tmp_path)
    after_s = time.time()

    report, log = hey.report(tmp_path, "hey"), hey.requests(tmp_path, "hey", 100)

    assert (report.attempted, report.aborted) == (120, None)
    assert report.failed is not None and report.failed >= 6
    assert log is not None
    assert log.failures == {"time-out": report.failed}
    assert len(log) == report.completed == 120 - report.failed
    assert all(before_s <= start_s <= after_s for start_s in log.start_s)


@pytest.mark.tools
def test_the_real_hey_sends_the_body(tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(POSTED)
    target = Target("/movies", "POST", ("Content-Type: application/json",), tmp_path / "body")
    with running("127.0.0.21", 0.01, "post"):
        report = run(replace(LOAD, targets=(target,), timeout_s=9), tmp_path).report(tmp_path, "hey")

    assert (report.completed, report.non_2xx) == (120, 0)


@pytest.mark.tools
def test_the_real_hey_reports_when_it_is_stopped(tmp_path: Path) -> None:
    with running("127.0.0.21", 0.1):
        hey = run(replace(LOAD, shape=Closed(100_000, 9)), tmp_path, end=signal.SIGINT)

    report, log = hey.report(tmp_path, "hey"), hey.requests(tmp_path, "hey", 100)

    assert report.aborted == "hey was stopped before its 100000 requests were done"
    assert log is not None
    assert report.attempted == report.completed == len(log) > 0


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ('Get "http://a/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)', "time-out"),
        ('Post "http://a/": dial tcp 10.0.0.1:8080: i/o timeout', "time-out"),
        ("read tcp 10.0.0.1:4->10.0.0.2:80: read: connection timed out", "time-out"),
        ("write tcp 10.0.0.1:4->10.0.0.2:80: write: broken pipe", "connection closed"),
        (
            'Get "http://a/": dial tcp: lookup a on 10.0.0.1:53: read udp 10.0.0.1:4: i/o timeout',
            "no address",
        ),
        (
            'Get "http://a/": dial tcp 10.0.0.2:80: connect: cannot assign requested address',
            "connect: cannot assign requested address",
        ),
        ('Get "http://a/lookup EOF": malformed HTTP response "x"', 'malformed HTTP response "x"'),
        ("x" * 99, "x" * 60),
        ("", "no reason given"),
    ],
)
def test_an_error_is_named_by_its_kind(error: str, said: str) -> None:
    assert reason(error) == said


def test_errors_of_one_kind_are_added_up() -> None:
    summary = parse_summary((GOLDEN / "reset.txt").read_text())

    assert summary is not None
    assert (GOLDEN / "reset.txt").read_text().count("reset by peer") == summary.errors["connection reset"] == 6
