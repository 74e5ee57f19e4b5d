"""The parsers of what ab prints and writes, on output of the real ab (see make_golden.py)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.tools.ab import REQUEST_COLUMNS, parse_report, parse_requests
from loomlab.tools.known import tool
from loomlab.tools.tool import ToolReport

GOLDEN = Path(__file__).parent / "golden"


ONE = (Target("/"),)


def load_of(connections: int, shape: Shape, targets: tuple[Target, ...] = ONE) -> Load:
    return Load("http://a", targets, connections, shape, timeout_s=30)


def test_headers_go_with_every_request(tmp_path: Path) -> None:
    load = load_of(1, Closed(requests=1, duration_s=1), (Target("/", headers=("A: b", "C: d")),))

    command = tool("ab").command(load, tmp_path, "ab")

    assert command[-5:] == ["-H", "A: b", "-H", "C: d", "http://a/"]


def report(name: str) -> ToolReport:
    return parse_report((GOLDEN / f"{name}.txt").read_text())


@pytest.mark.parametrize(
    ("name", "attempted", "failed", "non_2xx", "keepalive"),
    [
        ("well", 562, 0, 0, 562),
        ("count", 200, 0, 0, 200),
        ("non2xx", 562, 0, 28, 562),
        ("noka", 571, 0, 0, 0),
        ("reset", 562, 28, 0, 534),
        ("close", 562, 0, 0, 534),
        ("interrupted", 361, 0, 0, 361),
    ],
)
def test_a_report_counts_each_request_once(
    name: str, attempted: int, failed: int, non_2xx: int, keepalive: int
) -> None:
    got = report(name)

    assert (got.attempted, got.completed, got.failed) == (attempted, attempted, failed)
    assert (got.non_2xx, got.keepalive_requests) == (non_2xx, keepalive)
    assert got.duration_s is not None
    assert got.aborted is None


def test_a_refused_connection_fails_every_request() -> None:
    got = report("refused")

    assert got.attempted
    assert got.failed == got.attempted
    assert got.received_bytes == 0


def test_after_silence_only_the_number_of_completed_requests_is_known() -> None:
    assert report("stall") == ToolReport(
        completed=60, aborted="apr_pollset_poll: The timeout specified has expired (70007)"
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("refused-abort", "apr_socket_recv: Connection refused (111)"),
        ("unknown-host", "apr_sockaddr_info_get() for no-such-host.invalid: Name or service not known (670002)"),
    ],
)
def test_an_abort_keeps_the_tools_own_words(name: str, said: str) -> None:
    assert report(name) == ToolReport(aborted=said)


def test_a_killed_ab_leaves_its_last_progress_line() -> None:
    text = "Benchmarking x (be patient)\nCompleted 1000 requests\nCompleted 2000 requests\n"

    assert parse_report(text) == ToolReport(completed=2000, aborted="ab ended without a report")


def test_failed_connects_and_surplus_exceptions_are_attempts_without_a_completed_request() -> None:
    text = (
        "Time taken for tests:   1.000 seconds\nComplete requests:      100\nFailed requests:        19\n"
        "   (Connect: 3, Receive: 5, Length: 4, Exceptions: 11)\nWrite errors:           2\n"
    )
    got = parse_report(text)

    assert (got.attempted, got.failed) == (100 + 3 + 6, 3 + 5 + 4 + 6 + 2)


def test_requests_are_read_with_their_second_and_latency() -> None:
    with (GOLDEN / "well.tsv").open() as lines:
        log = parse_requests(lines, 100)

    assert len(log) == len(log.latency_ms) == sum(1 for _ in (GOLDEN / "well.tsv").open()) - 1
    assert all(100 <= latency <= 120 for latency in log.latency_ms)
    assert max(log.start_s) - min(log.start_s) <= 3
    assert log.unanswered == 0


def test_latency_is_all_that_a_request_took_connecting_included() -> None:
    log = parse_requests([REQUEST_COLUMNS + "\n", "Sat Nov 21 06:12:24 2026\t1795241544\t40\t310\t350\t300\n"], 100)

    assert (list(log.start_s), list(log.latency_ms)) == ([1795241544], [350])


@pytest.mark.parametrize("name", ["count", "interrupted", "noka", "non2xx", "refused"])
def test_every_row_is_a_request(name: str) -> None:
    lines = (GOLDEN / f"{name}.tsv").read_text().splitlines(keepends=True)

    log = parse_requests(lines, 100)

    assert len(log) + log.unanswered == len(lines) - 1
    assert log.unanswered == (len(lines) - 1 if name == "refused" else 0)


@pytest.mark.parametrize("name", ["reset", "close"])
def test_a_connection_closed_before_the_answer_is_not_an_answer(name: str) -> None:
    lines = (GOLDEN / f"{name}.tsv").read_text().splitlines(keepends=True)
    without_wait = sum(line.endswith("\t0\n") for line in lines)

    log = parse_requests(lines, 100)

    assert without_wait > 0
    assert log.unanswered == without_wait
    assert len(log) + log.unanswered == len(lines) - 1


@pytest.mark.parametrize(("floor_ms", "answers"), [(0, 1), (1, 1), (2, 0)])
def test_only_where_answers_take_two_milliseconds_is_one_without_a_wait_none(floor_ms: int, answers: int) -> None:
    log = parse_requests([REQUEST_COLUMNS + "\n", "Sat Nov 21 06:12:24 2026\t1795241544\t0\t0\t0\t0\n"], floor_ms)

    assert (len(log), log.unanswered) == (answers, 1 - answers)


@pytest.mark.parametrize("row", ["", "x\t1\t2\t3\t4\n", "x\ta\t0\t0\t0\t0\n", f"x\t{2**70}\t0\t0\t1\t1\n"])
def test_a_broken_request_file_is_told(row: str) -> None:
    with pytest.raises(ParseError, match="Line 2"):
        parse_requests([REQUEST_COLUMNS + "\n", row + "\n"], 0)


@given(st.text() | st.lists(st.sampled_from((GOLDEN / "reset.txt").read_text().splitlines())).map("\n".join))
def test_any_text_is_a_report_or_a_parse_error(text: str) -> None:
    try:
        got = parse_report(text)
    except ParseError:
        return
    assert got.duration_s is not None or got.aborted is not None


@given(st.lists(st.text()))
def test_any_lines_are_requests_or_a_parse_error(lines: list[str]) -> None:
    try:
        log = parse_requests([REQUEST_COLUMNS, *lines], 5)
    except ParseError:
        return
    assert len(log) + log.unanswered == len(lines)


def test_the_request_limit_comes_after_the_time_limit_which_would_reset_it() -> None:
    command = tool("ab").command(load_of(10, Closed(requests=1200, duration_s=60)), Path("raw"), "ab")

    assert command.index("-n") > command.index("-t")
    assert command[command.index("-n") + 1] == "1200"
    assert command[command.index("-t") + 1] == "60"
    assert command[command.index("-s") + 1] == "30"


@pytest.mark.parametrize(("concurrency", "requests"), [(20_001, 30_000), (100, 99)])
def test_what_ab_cannot_do_is_refused(concurrency: int, requests: int) -> None:
    with pytest.raises(UsageError, match=str(concurrency)):
        tool("ab").check(load_of(concurrency, Closed(requests, duration_s=60)))


@pytest.mark.parametrize("shape", [OpenRate((RateStep(10, 60),)), Users((UserStage(5, 60),))])
def test_ab_refuses_rates_and_users(shape: Shape) -> None:
    with pytest.raises(UsageError, match="use vegeta"):
        tool("ab").check(load_of(10, shape))


@pytest.mark.parametrize("targets", [(Target("/a"), Target("/b")), (Target("/a", "POST", body=Path("b.json")),)])
def test_ab_refuses_several_kinds_of_request_and_posts(targets: tuple[Target, ...]) -> None:
    with pytest.raises(UsageError, match="one kind of GET request"):
        tool("ab").check(load_of(1, Closed(requests=1, duration_s=60), targets))


def test_what_ab_can_do_is_not_refused() -> None:
    tool("ab").check(load_of(20_000, Closed(requests=20_000, duration_s=60)))


def test_the_rows_are_kept_compressed(tmp_path: Path) -> None:
    rows = (GOLDEN / "well.tsv").read_text()
    kept = rows.count("\n") - 1
    (tmp_path / "ab-requests.tsv").write_text(rows)
    (tmp_path / "ab.txt").write_text((GOLDEN / "well.txt").read_text().replace(" 562\n", f" {kept}\n"))

    tool("ab").finish(tmp_path, "ab")

    assert {path.name for path in tmp_path.iterdir()} == {"ab.txt", "ab-requests.tsv.gz"}
    log = tool("ab").requests(tmp_path, "ab", 100)
    assert log is not None
    assert len(log) == kept


@pytest.mark.parametrize("counted", [42, 40, 2000])
def test_rows_that_are_not_as_many_as_ab_counted_are_told(tmp_path: Path, counted: int) -> None:
    rows = (GOLDEN / "well.tsv").read_text().splitlines(keepends=True)
    (tmp_path / "ab-requests.tsv").write_text("".join(rows[:42]))
    (tmp_path / "ab.txt").write_text((GOLDEN / "well.txt").read_text().replace(" 562\n", f" {counted}\n"))
    tool("ab").finish(tmp_path, "ab")

    with pytest.raises(ParseError, match=f"counts {counted} requests, but its rows hold 41"):
        tool("ab").requests(tmp_path, "ab", 100)


def test_an_ab_that_left_no_rows_has_no_request_log(tmp_path: Path) -> None:
    tool("ab").finish(tmp_path, "ab")

    assert tool("ab").requests(tmp_path, "ab", 100) is None


def test_an_unknown_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="'wrk'"):
        tool("wrk")
