"""The parsers of what ab prints and writes, on output of the real ab (see golden/README.md)."""

import gzip
from pathlib import Path

import pytest

from loads import load_of
from loomlab.basics.errors import ParseError
from loomlab.records.load import Closed, Target
from loomlab.records.requestlog import RequestLog
from loomlab.tools.ab import REQUEST_COLUMNS, Ab
from loomlab.tools.tool import ToolReport

GOLDEN = Path(__file__).parent / "golden"


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
    return f"{REQUEST_COLUMNS}\n{row}\n".encode()


def test_a_command_line_whose_request_limit_comes_after_the_time_limit_which_would_reset_it(tmp_path: Path) -> None:
    load = load_of(Closed(requests=1200, duration_s=60), 10, Target("/", headers=("A: b", "C: d")))

    assert Ab().command(load, tmp_path) == [
        *("ab", "-k", "-l", "-r", "-s", "1", "-t", "60", "-n", "1200", "-c", "10"),
        *("-g", str(tmp_path / "ab-requests.tsv"), "-H", "A: b", "-H", "C: d", "http://app:8080/"),
    ]


@pytest.mark.parametrize(
    ("name", "attempted", "failed", "non_2xx", "keepalive"),
    [
        ("well", 562, 0, 0, 562), ("count", 200, 0, 0, 200), ("non2xx", 562, 0, 28, 562), ("noka", 571, 0, 0, 0),
        ("reset", 562, 28, 0, 534), ("close", 562, 0, 0, 534), ("interrupted", 361, 0, 0, 361),
        ("refused", 4384, 4384, 0, 0),
    ],
)  # fmt: skip
def test_requests_count_once(
    tmp_path: Path, name: str, attempted: int, failed: int, non_2xx: int, keepalive: int
) -> None:
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


@pytest.mark.parametrize("name", ["well", "count", "interrupted", "noka", "non2xx", "refused", "reset", "close"])
def test_every_row_is_an_answer_or_a_connection_closed_before_it(tmp_path: Path, name: str) -> None:
    text = (GOLDEN / f"{name}.tsv").read_bytes()

    log = requests_of(text, tmp_path)

    assert log.unanswered == text.count(b"\t0\n")
    assert len(log) + log.unanswered == text.count(b"\n") - 1
    assert (log.unanswered > 0) is (name in {"reset", "close", "refused"})
    assert all(100 <= latency <= 120 for latency in log.latency_ms)


@pytest.mark.parametrize(("floor_ms", "wait_ms", "answers"), [(0, 0, 1), (1, 0, 1), (2, 0, 0), (100, 300, 1)])
def test_only_of_slow_answers_is_one_without_a_wait_none(
    tmp_path: Path, floor_ms: int, wait_ms: int, answers: int
) -> None:
    log = requests_of(file_of(f"Sat Nov 21 06:12:24 2026\t1795241544\t40\t310\t350\t{wait_ms}"), tmp_path, floor_ms)
    assert (log.start_s.tolist(), log.latency_ms.tolist()) == ([1795241544] * answers, [350] * answers)
    assert (log.unanswered, log.rounded_ms) == (1 - answers, 1)


def test_another_file_of_requests_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="does not name the columns"):
        requests_of(b"another\n", tmp_path)
    with pytest.raises(ParseError, match="lines that are no requests"):
        requests_of(file_of("Sat Nov 21 06:12:24 2026\ta\t0\t0\t0\t0"), tmp_path)
