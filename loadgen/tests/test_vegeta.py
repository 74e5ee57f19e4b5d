"""vegeta's command line and the parsers of what it leaves, on files of the real one (make_golden_hey_vegeta.py)."""

import gzip
import json
import re
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
from loomlab.tools.tool import ToolReport
from loomlab.tools.vegeta import REQUEST_COLUMNS, Vegeta, parse_report, parse_requests, rate
from server import EVERY, POSTED, running

GOLDEN = Path(__file__).parent / "golden" / "vegeta"
LOAD = Load(
    "http://127.0.0.22:8080",
    (Target("/capabilities"),),
    connections=20,
    shape=OpenRate((RateStep(50, 2),)),
    timeout_s=1,
)
REAL_LINES = (GOLDEN / "slow.csv").read_text().splitlines()


def attack(load: Load, raw: Path, end: signal.Signals | None = None) -> Vegeta:
    """vegeta, after the real one has run and before `finish`; `end` is sent to it after a second."""
    vegeta = Vegeta()
    command = vegeta.command(load, raw, "vegeta")
    with vegeta.output(raw, "vegeta").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)  # noqa: S603
        if end is not None:
            time.sleep(1)
            process.send_signal(end)
        process.wait(timeout=30)
    return vegeta


def log_of(vegeta: Vegeta, raw: Path) -> RequestLog:
    log = vegeta.requests(raw, "vegeta", 100)
    assert log is not None
    return log


@pytest.mark.parametrize(
    ("name", "attempted", "non_2xx", "failures"),
    [
        ("well", 100, 0, {}),
        ("noka", 100, 0, {}),
        ("non2xx", 100, 5, {"503": 5}),
        ("slow", 100, 0, {"time-out": 5}),
        ("refused", 100, 0, {"connection refused": 100}),
        ("unknown-host", 100, 0, {"no address": 100}),
        ("interrupted", 49, 0, {}),
        ("killed", 44, 0, {}),
    ],
)
def test_each_request_is_counted_once(name: str, attempted: int, non_2xx: int, failures: dict[str, int]) -> None:
    failed = sum(failures.values()) - non_2xx

    report = parse_report((GOLDEN / f"{name}.json").read_bytes())
    log = parse_requests((GOLDEN / f"{name}.csv").read_text().splitlines(keepends=True))

    assert (report.attempted, report.completed, report.failed) == (attempted, attempted - failed, failed)
    assert (report.non_2xx, report.dropped, report.aborted) == (non_2xx, None, None)
    assert report.duration_s is not None
    assert 0.9 < report.duration_s < 3.2
    assert (len(log), log.failures) == (attempted - failed - non_2xx, failures)
    assert len(log.failed_start_s) == len(log.failed_latency_ms) == failed + non_2xx
    assert all(100 <= latency <= 150 for latency in log.latency_ms)
    assert not log.start_s or max(log.start_s) - min(log.start_s) <= 3


@pytest.mark.parametrize("name", ["reset", "close"])
def test_a_get_whose_kept_connection_closed_was_sent_again(name: str) -> None:
    report = parse_report((GOLDEN / f"{name}.json").read_bytes())
    log = parse_requests((GOLDEN / f"{name}.csv").read_text().splitlines(keepends=True))

    assert (len(log), log.failures) == (report.completed, {}) == (100, {})
    assert sum(latency >= 200 for latency in log.latency_ms) >= 2


def test_a_time_out_keeps_its_start_and_latency() -> None:
    log = parse_requests((GOLDEN / "slow.csv").read_text().splitlines(keepends=True))

    assert all(1000 <= latency <= 1100 for latency in log.failed_latency_ms)


@pytest.mark.real_tool
def test_the_real_vegeta_keeps_its_rate_and_leaves_its_files(tmp_path: Path) -> None:
    before_s = int(time.time())
    with running("127.0.0.22", 0.1, "non2xx"):
        vegeta = attack(replace(LOAD, timeout_s=9), tmp_path)
    vegeta.finish(tmp_path, "vegeta")

    report, log = vegeta.report(tmp_path, "vegeta"), log_of(vegeta, tmp_path)

    assert report.attempted == len(log) + len(log.failed_start_s) == pytest.approx(100, abs=1)
    refused = report.attempted // EVERY
    assert (report.failed, report.non_2xx, dict(log.failures)) == (0, refused, {"503": refused})
    assert all(before_s <= start_s <= time.time() for start_s in (*log.start_s, *log.failed_start_s))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "vegeta-plot.html",
        "vegeta-report.json",
        "vegeta-report.txt",
        "vegeta-requests.csv.gz",
        "vegeta-targets.txt",
        "vegeta.bin.gz",
        "vegeta.txt",
    ]
    assert "<html" in (tmp_path / "vegeta-plot.html").read_text()
    assert "Status Codes" in (tmp_path / "vegeta-report.txt").read_text()
    with gzip.open(tmp_path / "vegeta-requests.csv.gz", "rt") as rows:
        assert next(rows).rstrip("\n").split(",") == list(REQUEST_COLUMNS)


@pytest.mark.tools
def test_the_real_vegeta_sends_headers_and_the_body(tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(POSTED)
    target = Target("/movies", "POST", ("Content-Type: application/json",), tmp_path / "body")
    with running("127.0.0.22", 0.01, "post"):
        vegeta = attack(replace(LOAD, targets=(target,), timeout_s=9), tmp_path)
    vegeta.finish(tmp_path, "vegeta")

    report = vegeta.report(tmp_path, "vegeta")

    assert (report.completed, report.failed, report.non_2xx) == (report.attempted, 0, 0)
    assert report.attempted


@pytest.mark.tools
def test_with_all_connections_busy_fewer_requests_start(tmp_path: Path) -> None:
    with running("127.0.0.22", 0.5):
        vegeta = attack(replace(LOAD, connections=5), tmp_path)
    vegeta.finish(tmp_path, "vegeta")

    attempted = vegeta.report(tmp_path, "vegeta").attempted

    assert attempted is not None
    assert attempted <= 5 * 5


@pytest.mark.tools
def test_a_stopped_vegeta_reports_what_it_has(tmp_path: Path) -> None:
    with running("127.0.0.22", 0.1):
        vegeta = attack(replace(LOAD, shape=OpenRate((RateStep(50, 60),))), tmp_path, end=signal.SIGINT)
    vegeta.finish(tmp_path, "vegeta")

    report = vegeta.report(tmp_path, "vegeta")

    assert report.attempted == len(log_of(vegeta, tmp_path)) > 0
    assert (report.failed, report.aborted) == (0, None)


@pytest.mark.tools
def test_a_killed_vegeta_leaves_the_requests_that_ended(tmp_path: Path) -> None:
    with running("127.0.0.22", 0.1):
        vegeta = attack(replace(LOAD, shape=OpenRate((RateStep(50, 60),))), tmp_path, end=signal.SIGKILL)
    vegeta.finish(tmp_path, "vegeta")

    assert vegeta.report(tmp_path, "vegeta").attempted == len(log_of(vegeta, tmp_path)) > 0


@pytest.mark.tools
def test_of_truncated_results_the_requests_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    with running("127.0.0.22", 0.1):
        vegeta = attack(LOAD, tmp_path)
    results = tmp_path / "vegeta.bin"
    whole = results.read_bytes()
    results.write_bytes(whole[: len(whole) // 2])
    vegeta.finish(tmp_path, "vegeta")

    report = vegeta.report(tmp_path, "vegeta")

    assert 30 < len(log_of(vegeta, tmp_path)) < 70
    assert report == ToolReport(aborted="vegeta left no usable results: vegeta encode failed: unexpected EOF")
    assert gzip.decompress((tmp_path / "vegeta.bin.gz").read_bytes()) == whole[: len(whole) // 2]
    assert not (tmp_path / "vegeta-report.json").exists()


@pytest.mark.real_tool
@pytest.mark.parametrize("results", [b"", b"no results", b"\x00" * 999])
def test_results_that_are_none_are_told(tmp_path: Path, results: bytes) -> None:
    (tmp_path / "vegeta.bin").write_bytes(results)
    (tmp_path / "vegeta.txt").write_bytes(b"")
    vegeta = Vegeta()
    vegeta.finish(tmp_path, "vegeta")

    aborted = vegeta.report(tmp_path, "vegeta").aborted

    assert aborted is not None
    assert "detect encoding" in aborted
    assert vegeta.requests(tmp_path, "vegeta", 100) is None


@pytest.mark.real_tool
def test_without_results_vegetas_last_words_are_kept(tmp_path: Path) -> None:
    vegeta = attack(replace(LOAD, origin="no address"), tmp_path)
    vegeta.finish(tmp_path, "vegeta")

    aborted = vegeta.report(tmp_path, "vegeta").aborted

    assert aborted is not None
    assert aborted.startswith("vegeta left no usable results: bad URL: no address/capabilities")
    assert vegeta.requests(tmp_path, "vegeta", 100) is None


def test_of_vegetas_csv_start_latency_status_and_error_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time stamp comes first, then the status, the latency, bytes out and in, and the error."""
    rows = "1795000000250000000,200,350000000,7,9,,,,0,GET,u,\\n1795000001250000000,0,90000000,1,2,EOF,,,1,GET,u,\\n"
    program = tmp_path / "bin" / "vegeta"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n[ $1 != encode ] || printf '{rows}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    (tmp_path / "vegeta.bin").write_bytes(b"")

    Vegeta().finish(tmp_path, "vegeta")

    log = log_of(Vegeta(), tmp_path)
    assert (list(log.start_s), list(log.latency_ms)) == ([1_795_000_000.25], [350])
    assert (list(log.failed_start_s), list(log.failed_latency_ms)) == ([1_795_000_001.25], [90])
    assert log.failures == {"connection closed": 1}


def test_rows_that_are_not_as_many_as_vegeta_counted_are_told(tmp_path: Path) -> None:
    rows = (GOLDEN / "well.csv").read_bytes().splitlines(keepends=True)
    (tmp_path / "vegeta-requests.csv.gz").write_bytes(gzip.compress(b"".join(rows[:-3])))
    (tmp_path / "vegeta-report.json").write_bytes((GOLDEN / "well.json").read_bytes())

    with pytest.raises(ParseError, match="counts 100 requests, but its rows hold 97"):
        Vegeta().requests(tmp_path, "vegeta", 100)


def test_without_vegeta_its_results_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "vegeta.bin").write_bytes(b"")
    (tmp_path / "vegeta.txt").write_bytes(b"")
    Vegeta().finish(tmp_path, "vegeta")

    aborted = Vegeta().report(tmp_path, "vegeta").aborted

    assert aborted is not None
    assert "No such file or directory" in aborted
    assert (tmp_path / "vegeta.bin.gz").exists()


@pytest.mark.tools
def test_a_second_finish_changes_nothing(tmp_path: Path) -> None:
    with running("127.0.0.22", 0.1):
        vegeta = attack(LOAD, tmp_path)
    vegeta.finish(tmp_path, "vegeta")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    vegeta.finish(tmp_path, "vegeta")

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@given(
    st.text()
    | st.binary()
    | st.dictionaries(
        st.sampled_from(["requests", "duration", "wait", "status_codes"]),
        st.integers() | st.floats() | st.dictionaries(st.text(), st.integers()),
    ).map(json.dumps)
)
def test_any_text_is_a_report_or_a_parse_error(text: str | bytes) -> None:
    try:
        got = parse_report(text)
    except ParseError:
        return
    assert got.duration_s is not None


@given(st.lists(st.text() | st.sampled_from(REAL_LINES)))
def test_any_lines_are_requests_or_a_parse_error(lines: list[str]) -> None:
    with suppress(ParseError):
        log = parse_requests([REAL_LINES[0] + "\n", *(line + "\n" for line in lines)])
        assert sum(log.failures.values()) == len(log.failed_start_s)


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


def test_a_broken_request_is_told() -> None:
    with pytest.raises(ParseError, match="Request 3"):
        parse_requests([*(line + "\n" for line in REAL_LINES[:3]), "1,2,x,\n"])


def test_a_command_line(tmp_path: Path) -> None:
    target = Target("/movies?x=1", "POST", ("Authorization: b",), tmp_path / "body")
    load = replace(LOAD, targets=(target,), connections=300, shape=OpenRate((RateStep(12.5, 60),)), timeout_s=7)

    assert Vegeta().command(load, tmp_path, "vegeta") == [
        *("vegeta", "attack", "-rate", "25/2s", "-duration", "60s", "-timeout", "7s"),
        *("-connections", "300", "-max-connections", "300", "-workers", "100", "-max-workers", "300"),
        *("-keepalive=true", "-redirects", "-1", "-max-body", "0", "-prometheus-addr", "0.0.0.0:8880"),
        *("-targets", str(tmp_path / "vegeta-targets.txt"), "-output", str(tmp_path / "vegeta.bin")),
    ]
    assert (tmp_path / "vegeta-targets.txt").read_text() == (
        f"POST http://127.0.0.22:8080/movies?x=1\nAuthorization: b\n@{tmp_path / 'body'}\n"
    )


@pytest.mark.parametrize(
    ("rate_rps", "said"),
    [(50, "50/1s"), (12.5, "25/2s"), (0.1, "1/10s"), (333.3, "3333/10s"), (1 / 3, "1/3s"), (0.001, "1/1000s")],
)
def test_a_rate_is_a_whole_number_in_whole_seconds(rate_rps: float, said: str) -> None:
    assert rate(rate_rps) == said


@given(st.floats(0.001, 1e6))
def test_the_rate_asked_for_is_the_one_offered(rate_rps: float) -> None:
    requests, seconds = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)s", rate(rate_rps)).groups()  # type: ignore[union-attr]

    assert abs(int(requests) / int(seconds) - rate_rps) <= 0.0005


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (replace(LOAD, shape=Closed(100, 9)), "vegeta offers only a rate"),
        (replace(LOAD, shape=Users((UserStage(5, 5),))), "vegeta offers only a rate"),
        (replace(LOAD, shape=OpenRate((RateStep(5, 5), RateStep(9, 5)))), "2 steps"),
        (replace(LOAD, shape=OpenRate((RateStep(0, 5),))), r"got 0(\.0)?/s"),
        (replace(LOAD, targets=LOAD.targets * 3), "3 were asked for"),
    ],
)
def test_what_vegeta_cannot_do_is_refused(load: Load, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Vegeta().check(load)


def test_what_vegeta_can_do_is_not_refused() -> None:
    Vegeta().check(LOAD)


def test_the_query_counts_what_vegetas_own_metrics_count() -> None:
    page = (GOLDEN / "metrics.txt").read_text()
    series = re.findall(r'^request_seconds_count\{.*status="(\d+)".*\} (\d+)$', page, re.MULTILINE)
    query = Vegeta.done_query
    selectors = re.findall(r'request_seconds_count\{job="vegeta",status(=~|!~)"(.+?)"\}\), "outcome", "(\w+)"', query)

    counts = {
        outcome: sum(int(count) for status, count in series if bool(re.fullmatch(kind, status)) == (match == "=~"))
        for match, kind, outcome in selectors
    }

    assert counts == {"ok": 70, "failed": 3}
