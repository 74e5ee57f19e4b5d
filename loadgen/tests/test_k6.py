"""k6's output as the real k6 left it (see make_golden_k6.py)."""

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.basics.errors import ParseError
from loomlab.judge.interior import open_figures
from loomlab.records.requestlog import RequestLog
from loomlab.tools.k6 import K6, keeps_a_rate, last_words, parse_summary
from loomlab.tools.k6_samples import REQUEST_COLUMNS, SAMPLE_COLUMNS, parse_requests, thin
from loomlab.tools.tool import ToolReport

GOLDEN = Path(__file__).parent / "golden" / "k6"
TAGS = ",,GET,/ok,200,,\n"


def left(name: str, raw: Path) -> tuple[ToolReport, RequestLog | None]:
    """What is made of a golden run's files."""
    for made in GOLDEN.glob(f"{name}[-.]*"):
        shutil.copy(made, raw)
    K6().finish(raw, name)
    assert not (raw / f"{name}-samples.csv").exists()
    return K6().report(raw, name), K6().requests(raw, name, 0)


@pytest.mark.parametrize(
    ("name", "completed", "failed", "non_2xx", "dropped", "received"),
    [
        ("well", 24, 0, 0, 0, 24 * 53),
        ("limited", 20, 0, 0, 0, 20 * 53),
        ("failures", 12, 12, 8, 0, 12 * 53),
        ("refused", 0, 24, 0, 0, 0),
        ("unknown-host", 0, 24, 0, 0, 0),
        ("dropped", 14, 0, 0, 27, 14 * 53),
        ("users", 21, 0, 0, 0, 21 * 53),
    ],
)
def test_a_report_counts_each_request_once(
    name: str, completed: int, failed: int, non_2xx: int, dropped: int, received: int, tmp_path: Path
) -> None:
    report, log = left(name, tmp_path)

    assert (report.attempted, report.completed, report.failed) == (completed + failed, completed, failed)
    assert (report.non_2xx, report.dropped, report.received_bytes) == (non_2xx, dropped, received)
    assert report.aborted is None
    assert log is not None
    assert (len(log), sum(log.failures.values())) == (completed - non_2xx, failed + non_2xx)


def test_the_duration_is_from_the_first_start_to_the_last_end(tmp_path: Path) -> None:
    report, log = left("well", tmp_path)

    assert log is not None
    assert report.duration_s == pytest.approx(6 * sum(log.latency_ms) / len(log) / 1000, rel=0.1)


def test_failures_are_told_by_reason(tmp_path: Path) -> None:
    _, log = left("failures", tmp_path)

    assert log is not None
    assert log.failures == {"503": 4, "302": 4, "connection reset": 4, "k6 error 1000": 4, "time-out": 4}
    assert len(log.failed_start_s) == len(log.failed_latency_ms) == 20
    assert sum(950 <= latency <= 1050 for latency in log.failed_latency_ms) == 4


@pytest.mark.parametrize(("name", "reason"), [("refused", "connection refused"), ("unknown-host", "no address")])
def test_requests_without_a_connection_are_counted_and_have_no_start(name: str, reason: str, tmp_path: Path) -> None:
    report, log = left(name, tmp_path)

    assert log is not None
    assert log.failures == {reason: 24}
    assert (report.attempted, report.failed, len(log.failed_start_s)) == (24, 24, 0)
    assert report.duration_s is not None


def test_an_interrupted_run_reports_what_has_ended(tmp_path: Path) -> None:
    report, log = left("interrupted", tmp_path)

    assert log is not None
    assert report.attempted == report.completed == len(log) > 40
    assert (report.failed, report.aborted) == (0, None)


def test_of_a_killed_run_the_requests_that_were_written_are_known(tmp_path: Path) -> None:
    report, log = left("killed", tmp_path)

    assert log is not None
    assert report == ToolReport(completed=len(log), aborted="k6 ended without a report")
    assert len(log) > 10


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing-body", "GoError: stat /no/such/body.json: no such file or directory"),
        (
            "options-refused",
            "There were problems with the specified script configuration: - scenario load has configuration errors: "
            "the number of iterations (1) can't be less than the number of VUs (4)",
        ),
    ],
)
def test_without_a_run_k6s_own_words_are_kept(name: str, words: str, tmp_path: Path) -> None:
    assert left(name, tmp_path) == (ToolReport(aborted=words), None)


def test_a_run_that_sent_nothing_says_why(tmp_path: Path) -> None:
    report, _ = left("bad-url", tmp_path)

    assert (report.attempted, report.failed) == (0, 0)
    assert report.aborted == (
        'test aborted: GoError: invalid URL: parse "http://approach:8080/%zz": invalid URL escape "%zz"'
    )


def test_an_output_that_is_not_written_is_not_k6s_reason_to_end() -> None:
    said = (
        'time="2026-11-21T13:09:02Z" level=error msg=first\n'
        'time="2026-11-21T13:09:03Z" level=error msg="Failed to send" error=refused output="Prometheus remote write"\n'
    )

    assert last_words(said) == "first"


def test_a_crash_of_k6_is_its_last_word() -> None:
    assert last_words("fatal error: out of memory\n\ngoroutine 1 [running]:\n") == "fatal error: out of memory"


@pytest.mark.parametrize("parse", [last_words, parse_summary])
def test_what_is_not_k6s_is_told(parse: Any) -> None:
    with pytest.raises(ParseError, match="not k6's"):
        parse("This is ApacheBench")


def sample(metric: str, end_us: int, value: float, tags: str = TAGS) -> bytes:
    return f"{metric},{end_us},{value:f}{tags}".encode()


def samples_of(
    end_us: int, tags: str = TAGS, /, *, duration: float, blocked: float = 0, connecting: float = 0, sending: float = 0
) -> list[bytes]:
    times = {"duration": duration, "blocked": blocked, "connecting": connecting, "sending": sending}
    return [sample(f"http_req_{name}", end_us, value, tags) for name, value in times.items()]


def test_the_samples_of_a_request_are_paired_whatever_else_is_there() -> None:
    name = '"/movies,""a"", b"'
    failed = f",1503,POST,{name},503,,\n"
    first = samples_of(2_000_000, duration=300.25, blocked=99.75)
    rows = thin(
        [
            SAMPLE_COLUMNS,
            sample("http_reqs", 2_000_000, 1),
            first[0],
            sample("vus", 2_000_001, 4, ",,,,,,\n"),
            *first[1:3],
            sample("http_req_tls_handshaking", 2_000_000, 0),
            first[3],
            sample("data_received", 2_000_002, 53, ",,,,,,\n"),
            *samples_of(2_500_000, failed, duration=1.0009),
            sample("iterations", 2_500_001, 1, ",,,,,,\n"),
            *samples_of(2_600_000, duration=1)[:3],
            b"http_req_sending,26000",
        ]
    )

    assert list(rows) == [
        REQUEST_COLUMNS,
        b"1600000,400000,200,,GET,/ok\n",
        f"2498999,1001,503,1503,POST,{name}\n".encode(),
    ]


@pytest.mark.parametrize(
    ("times", "latency_us"),
    [
        pytest.param({"duration": 100, "blocked": 30, "sending": 20}, 130_000, id="a kept connection"),
        pytest.param(
            {"duration": 105.714, "blocked": 0.978, "sending": 52.712},
            105_714,
            id="a kept one that was closed, and a new one over which Go sent the request again",
        ),
        pytest.param(
            {"duration": 1301, "blocked": 1000, "sending": 1001},
            1_301_000,
            id="the same, where the new one took a second",
        ),
        pytest.param({"duration": 0, "blocked": 0.003}, 0, id="one that timed out before it was written"),
        pytest.param(
            {"duration": 0, "blocked": 0, "connecting": 40},
            0,
            id="one that timed out between its connection and its turn",
        ),
        pytest.param(
            {"duration": 365, "blocked": 364, "connecting": 199, "sending": 165},
            564_000,
            id="a new one that the request got 165 ms after it was there",
        ),
        pytest.param(
            {"duration": 110, "blocked": 90, "connecting": 20, "sending": 10},
            190_000,
            id="a new one after 70 ms in which the address was looked up",
        ),
        pytest.param(
            {"duration": 150, "blocked": 20, "connecting": 20, "sending": 50},
            170_000,
            id="a new one over which the request took 50 ms to write",
        ),
    ],
)
def test_the_time_from_a_new_connection_to_a_request_that_uses_it_is_counted_once(
    times: dict[str, float], latency_us: int
) -> None:
    [_, row] = thin([SAMPLE_COLUMNS, *samples_of(2_000_000, **times)])

    assert row == f"{2_000_000 - latency_us},{latency_us},200,,GET,/ok\n".encode()


WELL = samples_of(1, duration=0)


@pytest.mark.parametrize(
    "lines",
    [
        WELL[1:],
        [WELL[0], *WELL[2:]],
        [WELL[0], WELL[1], *WELL[3:]],
        [WELL[0], WELL[1], WELL[1], *WELL[2:]],
        [*WELL[:3], sample("http_req_sending", 2, 0)],
        [*WELL[:3], sample("http_req_sending", 1, 0, ",,GET,/other,200,,\n")],
        [WELL[0].replace(b"0.000000", b"x"), *WELL[1:]],
        [WELL[0].replace(b"0.000000", b"nan"), *WELL[1:]],
        [WELL[0].replace(b"0.000000", b"inf"), *WELL[1:]],
    ],
)
def test_samples_that_do_not_belong_together_are_told(lines: list[bytes]) -> None:
    with pytest.raises(ParseError, match="no samples of one request"):
        list(thin([SAMPLE_COLUMNS, *lines]))


def test_samples_that_cannot_be_thinned_stay(tmp_path: Path) -> None:
    samples = tmp_path / "k6-samples.csv"
    samples.write_text("something else\n")

    K6().finish(tmp_path, "k6")

    assert [made.name for made in tmp_path.iterdir()] == ["k6-samples.csv"]


def test_samples_that_do_not_add_up_to_k6s_own_count_are_told(tmp_path: Path) -> None:
    left("well", tmp_path)
    with gzip.open(tmp_path / "well-requests.csv.gz", "rt") as packed:
        rows = packed.readlines()
    with gzip.open(tmp_path / "well-requests.csv.gz", "wt") as packed:
        packed.writelines(rows[:-1])

    with pytest.raises(ParseError, match="k6 counted 24 requests, but its samples hold 23"):
        K6().report(tmp_path, "well")


BEGIN_S = 1_795_000_000


def test_a_failure_whose_start_k6_does_not_tell_is_in_no_rate() -> None:
    """18,000 requests in a minute, and one that k6 gave up a minute after they had ended."""
    rows = [f"{1_000_000 * BEGIN_S + 3_333 * number},5000,200,,GET,/a\n" for number in range(18_000)]
    rows.append(f"{1_000_000 * (BEGIN_S + 120)},0,0,1212,GET,/a\n")
    requests = parse_requests([REQUEST_COLUMNS.decode(), *rows])

    figures = open_figures(requests.log, BEGIN_S, BEGIN_S + 60)

    assert (requests.count, requests.failed, requests.log.failures) == (18_001, 1, {"connection refused": 1})
    assert figures is not None and figures.started_rps == pytest.approx(300, rel=0.001)
    assert requests.duration_s == pytest.approx(60, abs=0.1)


def test_a_damaged_request_file_is_told(tmp_path: Path) -> None:
    packed = tmp_path / "k6-requests.csv.gz"
    packed.write_bytes(gzip.compress(REQUEST_COLUMNS + b"1,2,200,,GET,/ok\n")[:-4])

    with pytest.raises(ParseError, match="damaged"):
        K6().requests(tmp_path, "k6", 0)


GOLDEN_LINES = (GOLDEN / "failures-samples.csv").read_bytes().splitlines(keepends=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(("options", "scenarios", "executor")), inner),
)


@given(st.lists(st.binary() | st.sampled_from(GOLDEN_LINES)))
def test_any_samples_are_thinned_or_a_parse_error(lines: list[bytes]) -> None:
    try:
        rows = list(thin([SAMPLE_COLUMNS, *lines]))
    except ParseError:
        return
    assert len(rows) <= 1 + len(lines)


@given(
    st.lists(
        st.text()
        | st.tuples(st.integers(), st.integers(), st.integers()).map(lambda row: "{},{},{},1050,GET,/x\n".format(*row))
    )
)
def test_any_rows_are_requests_or_a_parse_error(lines: list[str]) -> None:
    try:
        requests = parse_requests([REQUEST_COLUMNS.decode(), *lines])
    except ParseError:
        return
    assert requests.answered + requests.failed == len(lines)


@given(st.text() | st.lists(st.sampled_from((GOLDEN / "bad-url.txt").read_text().splitlines())).map("\n".join))
def test_any_text_has_last_words_or_none_or_is_a_parse_error(text: str) -> None:
    try:
        words = last_words(text)
    except ParseError:
        return
    assert words is None or words.count("\n") == 0


@given(st.text() | json_values.map(str))
def test_any_text_is_a_summary_or_a_parse_error(text: str) -> None:
    try:
        counts = parse_summary(text)
    except ParseError:
        return
    assert all(isinstance(count, int) for count in counts.values())


@given(json_values)
def test_any_value_is_options_or_a_parse_error(value: Any) -> None:
    try:
        assert keeps_a_rate(value) in {True, False}
    except ParseError:
        return
