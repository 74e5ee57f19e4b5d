"""Command lines of hey and ab, and the parsers of what they print and write, on output of the real ones (see
golden/README.md)."""

import gzip
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from loads import load_of
from loomlab.basics.errors import ParseError
from loomlab.records.load import Closed, Target
from loomlab.records.requestlog import RequestLog
from loomlab.tools import ab
from loomlab.tools.ab import Ab
from loomlab.tools.hey import REQUEST_COLUMNS, TEMPLATE, Hey, Started
from loomlab.tools.tool import ToolReport
from misbehaving import running
from test_program_runs import left, started

GOLDEN = Path(__file__).parent / "golden"
LOAD = load_of(Closed(120, 9), origin="http://127.0.0.21:8080")
STARTED_S = 1_700_000_000.5
HEY = Hey()


def finished(output: bytes, raw: Path, requests: int = 120) -> ToolReport:
    """The report of a hey that printed that."""
    HEY.output(raw).write_bytes(output)
    started = Started(requests=requests, connections=20, timeout_s=1, started=STARTED_S)
    (raw / "hey-load.json").write_text(started.model_dump_json())
    HEY.finish(raw)
    return HEY.report(raw)


def requests_in(raw: Path) -> RequestLog:
    log = HEY.requests(raw, 100)
    assert log is not None
    return log


def golden(name: str) -> bytes:
    return (GOLDEN / "hey" / f"{name}.txt").read_bytes()


@pytest.mark.parametrize(
    ("name", "completed", "non_2xx", "failures"),
    [
        ("well", 120, 0, {}), ("non2xx", 120, 6, {"503": 6}), ("slow", 114, 0, {"time-out": 6}),
        ("reset", 114, 0, {"connection reset": 6}), ("close", 115, 0, {"connection closed": 5}),
        ("refused", 0, 0, {"connection refused": 120}), ("unknown-host", 0, 0, {"no address": 120}),
    ],
)  # fmt: skip
def test_requests_count_once(tmp_path: Path, name: str, completed: int, non_2xx: int, failures: dict[str, int]) -> None:
    report, log = finished(golden(name), tmp_path), requests_in(tmp_path)

    assert (report.attempted, report.completed, report.failed) == (120, completed, 120 - completed)
    assert (report.non_2xx, report.aborted) == (non_2xx, None)
    assert report.duration_s
    assert (len(log), log.failures) == (completed - non_2xx, failures)
    assert len(log.failed_start_s) == len(log.failed_latency_ms) == non_2xx
    assert all(100 <= latency <= 250 for latency in log.latencies_ms)
    assert all(0 <= start_s - STARTED_S < 4 for start_s in log.start_s)


def row(latency_s: float, dial_s: float = 0.0, status: int = 200) -> str:
    return f"{latency_s:.6f},{dial_s:.6f},0.000000,0.000010,0.100300,0.000020,{status},2.600000\n"


def parsed(raw: Path, *rows: str) -> RequestLog:
    """Of a hey whose summary counts these rows."""
    finished(f"  Requests:\t9\n  Total:\t3.000000 secs\n  [200]\t{len(rows)} responses\n".encode(), raw)
    HEY.rows(raw, ".gz").write_bytes(gzip.compress("".join([REQUEST_COLUMNS + "\n", *rows]).encode()))
    return requests_in(raw)


def test_an_answer_that_took_as_long_as_the_time_out_was_cut_by_it(tmp_path: Path) -> None:
    log = parsed(tmp_path, row(0.999), row(1.0), row(1.005), row(1.1, status=503))

    assert (log.start_s.tolist(), log.latency_ms.tolist()) == ([pytest.approx(STARTED_S + 2.6, abs=1e-6)], [999])
    assert log.failed_latency_ms.tolist() == pytest.approx([1000, 1005, 1100])
    assert log.failures == {"time-out": 3}


@pytest.mark.parametrize("lost", [0, 7])
def test_an_answer_may_be_cut_for_each_connection_that_was_opened_anew(tmp_path: Path, lost: int) -> None:
    log = parsed(tmp_path, *[row(0.1, dial_s=0.002)] * 20, *[row(0.1)] * 50, *[row(0.1, dial_s=0.001)] * lost)
    assert log.doubtful == lost


def test_the_output_is_split_into_a_summary_and_rows_whatever_others_said_between(tmp_path: Path) -> None:
    lines = golden("non2xx").decode().splitlines()
    noise = ["http: something, went wrong", "0.1,0.2"]
    finished("\n".join([*noise, *lines[:40], *noise, *lines[40:], *noise]).encode(), tmp_path)

    text = HEY.output(tmp_path).read_text()
    rows = gzip.decompress(HEY.rows(tmp_path, ".gz").read_bytes()).decode().splitlines()

    assert "[503]\t6 responses" in text
    assert (text.count(noise[0]), len(text.splitlines()) < 35) == (3, True)
    assert (rows[0], len(rows)) == (REQUEST_COLUMNS, 121)
    assert len(requests_in(tmp_path).starts_s) == 120


def test_the_rows_stay_until_the_summary_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced = os.replace

    def killed(source: str, target: str, **folders: int) -> None:
        if target == "hey.txt":
            raise KeyboardInterrupt
        replaced(source, target, **folders)

    with monkeypatch.context() as process:
        process.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            finished(golden("well"), tmp_path)
    assert HEY.output(tmp_path).read_bytes() == golden("well")

    HEY.finish(tmp_path)
    assert len(requests_in(tmp_path)) == 120


def test_a_stopped_hey_reports_what_it_has(tmp_path: Path) -> None:
    report = finished(golden("interrupted"), tmp_path, requests=100_000)
    assert (report.attempted, report.completed, report.failed) == (184, 184, 0)
    assert report.aborted == "hey was stopped before its 100000 requests were done"


@pytest.mark.parametrize(
    ("output", "words"),
    [(b"", "hey ended without a report"), (b"-n cannot be less than -c.\n", "-n cannot be less than -c.")],
)
def test_without_a_summary_its_first_words_are_known(tmp_path: Path, output: bytes, words: str) -> None:
    assert finished(output, tmp_path) == ToolReport(aborted=words)


@pytest.mark.parametrize(
    ("kept", "damaged", "why"),
    [
        (None, "hey-load.json", r"hey-load\.json"),
        (None, "hey.txt", r"hey-load\.json"),
        (4000, None, "hey counts 120 requests, but its rows hold "),
    ],
)
def test_rows_without_start_or_summary_tell(tmp_path: Path, kept: int | None, damaged: str | None, why: str) -> None:
    finished(golden("well")[:kept], tmp_path)
    if damaged:
        (tmp_path / damaged).write_text("{}")

    with pytest.raises(ParseError, match=why):
        HEY.requests(tmp_path, 100)


def test_a_command_line(tmp_path: Path) -> None:
    before_s = time.time()
    target = Target("/movies?x=1", "POST", ("Authorization: b", "Content-Type: application/json"), tmp_path / "body")

    assert HEY.command(replace(LOAD, targets=(target,), shape=Closed(130, 9)), tmp_path) == [
        *("hey", "-disable-redirects", "-n", "130", "-c", "20", "-t", "1", "-o", TEMPLATE, "-m", "POST"),
        *("-H", "Authorization: b", "-H", "Content-Type: application/json", "-D", str(tmp_path / "body")),
        "http://127.0.0.21:8080/movies?x=1",
    ]
    start = Started.model_validate_json((tmp_path / "hey-load.json").read_text())
    assert (start.requests, start.connections, start.timeout_s) == (120, 20, 1)
    assert before_s <= start.started <= time.time()


@pytest.mark.real_tool
def test_the_real_hey_counts_answers_and_errors_and_their_starts(tmp_path: Path) -> None:
    before_s = int(time.time())
    with running("127.0.0.21", 0.1, "slow"):
        started(HEY, replace(LOAD, shape=Closed(130, 9)), tmp_path).wait(timeout=30)
    report, log = left(HEY, tmp_path)

    assert (report.attempted, report.aborted) == (120, None)
    assert report.failed is not None and report.failed >= 6
    assert log.failures == {"time-out": report.failed}
    assert len(log) == report.completed == 120 - report.failed
    assert all(before_s <= start_s <= time.time() for start_s in log.start_s)


def report_of(text: str, raw: Path) -> ToolReport:
    """`text` or the golden file of that name."""
    said = (GOLDEN / text).read_text() if text.endswith(".txt") else text
    Ab().output(raw).write_text(said)
    return Ab().report(raw)


def requests_of(rows: bytes, raw: Path, floor_ms: int = 100) -> RequestLog:
    Ab().output(raw).write_text("")
    Ab().rows(raw, ".gz").write_bytes(gzip.compress(rows))
    log = Ab().requests(raw, floor_ms)
    assert log is not None
    return log


def file_of(row: str) -> bytes:
    return f"{ab.REQUEST_COLUMNS}\n{row}\n".encode()


def test_a_command_line_whose_request_limit_comes_after_the_time_limit_which_would_reset_it(tmp_path: Path) -> None:
    load = load_of(Closed(requests=1200, duration_s=60), 10, Target("/", headers=("A: b", "C: d")))

    assert Ab().command(load, tmp_path) == [
        *("ab", "-k", "-l", "-r", "-s", "1", "-t", "60", "-n", "1200", "-c", "10"),
        *("-g", str(tmp_path / "ab-requests.tsv"), "-H", "A: b", "-H", "C: d", "http://app:8080/"),
    ]


@pytest.mark.parametrize(
    ("name", "attempted", "failed", "non_2xx", "keepalive"),
    [
        ("well", 562, 0, 0, 562), ("non2xx", 562, 0, 28, 562), ("noka", 571, 0, 0, 0),
        ("reset", 562, 28, 0, 534), ("close", 562, 0, 0, 534), ("interrupted", 361, 0, 0, 361),
        ("refused", 4384, 4384, 0, 0),
    ],
)  # fmt: skip
def test_ab_counts_once(tmp_path: Path, name: str, attempted: int, failed: int, non_2xx: int, keepalive: int) -> None:
    report = report_of(f"{name}.txt", tmp_path)

    assert (report.attempted, report.completed, report.rows, report.failed) == (attempted, attempted, attempted, failed)
    assert (report.non_2xx, report.keepalive_requests, report.aborted) == (non_2xx, keepalive, None)
    assert report.duration_s


@pytest.mark.parametrize(
    ("text", "completed", "words"),
    [
        ("stall.txt", 60, "apr_pollset_poll: The timeout specified has expired (70007)"),
        ("refused-abort.txt", None, "apr_socket_recv: Connection refused (111)"),
        (
            "unknown-host.txt",
            None,
            "apr_sockaddr_info_get() for no-such-host.invalid: Name or service not known (670002)",
        ),
        ("Completed 1000 requests\nCompleted 2000 requests\n", 2000, "ab ended without a report"),
    ],
)
def test_without_a_report_last_words_are_known(tmp_path: Path, text: str, completed: int | None, words: str) -> None:
    assert report_of(text, tmp_path) == ToolReport(completed=completed, aborted=words)


def test_failed_connects_and_surplus_exceptions_are_attempts_without_a_completed_request(tmp_path: Path) -> None:
    counts = "Time taken for tests:   1.000 seconds\nComplete requests:      100\n"
    failures = "   (Connect: 3, Receive: 5, Length: 4, Exceptions: 11)\nWrite errors:           2\n"

    report = report_of(counts + failures, tmp_path)

    assert (report.attempted, report.failed) == (100 + 3 + 6, 3 + 5 + 4 + 6 + 2)


@pytest.mark.parametrize("name", ["well", "refused", "reset", "close"])
def test_every_row_is_an_answer_or_a_connection_closed_before_it(tmp_path: Path, name: str) -> None:
    text = (GOLDEN / f"{name}.tsv").read_bytes()

    log = requests_of(text, tmp_path)

    assert log.unanswered == text.count(b"\t0\n")
    assert len(log) + log.unanswered == text.count(b"\n") - 1
    assert (log.unanswered > 0) is (name in {"reset", "close", "refused"})
    assert all(100 <= latency <= 120 for latency in log.latency_ms)


@pytest.mark.parametrize(("floor_ms", "wait_ms", "answers"), [(0, 0, 1), (1, 0, 1), (2, 0, 0), (100, 300, 1)])
def test_of_slow_answers_one_without_a_wait_is_none(tmp_path: Path, floor_ms: int, wait_ms: int, answers: int) -> None:
    log = requests_of(file_of(f"Sat Nov 21 06:12:24 2026\t1795241544\t40\t310\t350\t{wait_ms}"), tmp_path, floor_ms)
    assert (log.start_s.tolist(), log.latency_ms.tolist()) == ([1795241544] * answers, [350] * answers)
    assert (log.unanswered, log.rounded_ms) == (1 - answers, 1)


def test_another_file_of_requests_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="does not name the columns"):
        requests_of(b"another\n", tmp_path)
    with pytest.raises(ParseError, match="lines that are no requests"):
        requests_of(file_of("Sat Nov 21 06:12:24 2026\ta\t0\t0\t0\t0"), tmp_path)
