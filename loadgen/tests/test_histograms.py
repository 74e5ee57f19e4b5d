"""Histogram logs, read back by the library's own reader."""

import random
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from loomlab.run.histograms import DIGITS, LONGEST_US, SHORTEST_US, write_histograms, write_log

from loomlab.records.files import RunFiles
from loomlab.records.requestlog import RequestLog, percentile
from loomlab.tools.ab import Ab
from loomlab.tools.tool import Tool

BEGIN = 1_795_000_000
PERCENTS = (50, 90, 99, 99.9)


def latencies(count: int, seed: int) -> tuple[list[int], list[float]]:
    chance = random.Random(seed)  # noqa: S311
    return (
        [BEGIN + chance.randrange(30) for _ in range(count)],
        [round(chance.lognormvariate(5, 1), 3) for _ in range(count)],
    )


def read(path: Path, into: HdrHistogram | None = None) -> HdrHistogram:
    merged = into or HdrHistogram(SHORTEST_US, LONGEST_US, DIGITS)
    reader = HistogramLogReader(str(path), merged)
    while reader.add_next_interval_histogram(merged):
        pass
    reader.close()
    return merged


def assert_same(histogram: HdrHistogram, latency_ms: list[float]) -> None:
    ordered = sorted(latency_ms)
    assert histogram.get_total_count() == len(ordered)
    for percent in PERCENTS:
        read_ms = histogram.get_value_at_percentile(percent) / 1000
        assert read_ms == pytest.approx(percentile(ordered, percent), rel=0.001, abs=0.001)
    assert histogram.get_max_value() / 1000 == pytest.approx(ordered[-1], rel=0.001)


def test_a_log_that_is_read_back_has_the_same_counts_and_percentiles(tmp_path: Path) -> None:
    start_s, latency_ms = latencies(5000, seed=1)
    write_log(tmp_path / "latency.hlog", start_s, latency_ms)

    assert_same(read(tmp_path / "latency.hlog"), latency_ms)


def test_each_second_has_a_histogram_of_its_own(tmp_path: Path) -> None:
    write_log(tmp_path / "x.hlog", [BEGIN + 5, BEGIN, BEGIN + 5, BEGIN + 9], [10, 20, 30, 40])
    reader = HistogramLogReader(str(tmp_path / "x.hlog"), HdrHistogram(SHORTEST_US, LONGEST_US, DIGITS))

    intervals = []
    while (one := reader.get_next_interval_histogram(absolute=True)) is not None:
        intervals.append((one.get_start_time_stamp(), one.get_end_time_stamp(), one.get_total_count()))
    reader.close()

    assert intervals == [
        (1000 * BEGIN, 1000 * (BEGIN + 1), 1),
        (1000 * (BEGIN + 5), 1000 * (BEGIN + 6), 2),
        (1000 * (BEGIN + 9), 1000 * (BEGIN + 10), 1),
    ]


def test_the_file_says_its_version_and_the_maximum_in_milliseconds(tmp_path: Path) -> None:
    write_log(tmp_path / "x.hlog", [BEGIN], [250])

    lines = (tmp_path / "x.hlog").read_text().splitlines()

    assert "#[Histogram log format version 1.2]" in lines
    start, length, longest, _ = lines[-1].split(",")
    assert (float(start), float(length)) == (BEGIN, 1)
    assert float(longest) == pytest.approx(250, rel=0.005)


def test_the_logs_of_two_runs_can_be_merged(tmp_path: Path) -> None:
    first, second = latencies(2000, seed=2), latencies(3000, seed=3)
    write_log(tmp_path / "1.hlog", *first)
    write_log(tmp_path / "2.hlog", *second)

    assert_same(read(tmp_path / "2.hlog", read(tmp_path / "1.hlog")), first[1] + second[1])


@pytest.mark.parametrize("latency_ms", [0.0, 0.0004, 3_600_000.0])
def test_the_shortest_and_the_longest_are_counted(tmp_path: Path, latency_ms: float) -> None:
    write_log(tmp_path / "x.hlog", [BEGIN], [latency_ms])

    got = read(tmp_path / "x.hlog")

    assert got.get_total_count() == 1
    assert got.get_max_value() / 1000 == pytest.approx(latency_ms, rel=0.001, abs=0.001)


def tool_with(log: RequestLog | None) -> Tool:
    class Known(Ab):
        def requests(self, raw: Path, stem: str, floor_ms: int) -> RequestLog | None:  # noqa: ARG002
            return log

    return Known()


def files(tmp_path: Path) -> RunFiles:
    found = RunFiles(tmp_path)
    found.raw.mkdir()
    return found


def written(found: RunFiles) -> list[str]:
    return sorted(path.name for path in found.raw.iterdir())


def test_a_run_without_failures_has_one_log(tmp_path: Path) -> None:
    found = files(tmp_path)

    write_histograms(found, tool_with(RequestLog([BEGIN], [10])), 0)

    assert written(found) == ["latency.hlog"]


def test_failures_have_a_log_of_their_own(tmp_path: Path) -> None:
    found = files(tmp_path)
    log = RequestLog([BEGIN] * 3, [10, 10, 20], failed_start_s=[BEGIN] * 2, failed_latency_ms=[30_000, 30_000])

    write_histograms(found, tool_with(log), 0)

    assert written(found) == ["failed.hlog", "latency.hlog"]
    assert_same(read(found.raw / "latency.hlog"), [10, 10, 20])
    assert_same(read(found.raw / "failed.hlog"), [30_000, 30_000])


def test_without_per_request_data_there_is_no_log(tmp_path: Path) -> None:
    found = files(tmp_path)

    write_histograms(found, tool_with(None), 0)

    assert written(found) == []


def test_per_request_data_that_cannot_be_read_leave_no_log(tmp_path: Path) -> None:
    found = files(tmp_path)
    (found.raw / "ab-requests.tsv").write_text("no such columns\n")
    Ab().finish(found.raw, "ab")

    write_histograms(found, Ab(), 0)

    assert written(found) == ["ab-requests.tsv.gz"]
