"""Keeps a run's latencies as HdrHistogram logs, one histogram a second, so that runs can be merged."""

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter

from loomlab.basics.errors import ParseError
from loomlab.records.files import RunFiles
from loomlab.tools.tool import Tool

SHORTEST_US, LONGEST_US, DIGITS = 1, 3_600_000_000, 3


def write_histograms(files: RunFiles, tool: Tool, floor_ms: int) -> None:
    """raw/latency.hlog of the answered requests and raw/failed.hlog of the failed ones, in microseconds, by the second
    they started in; no file where the tool has no per-request data."""
    try:
        log = tool.requests(files.raw, tool.name, floor_ms)
    except ParseError:
        return
    if log is None:
        return
    write_log(files.raw / "latency.hlog", log.start_s, log.latency_ms)
    if log.failed_start_s:
        write_log(files.raw / "failed.hlog", log.failed_start_s, log.failed_latency_ms)


def write_log(path: Path, start_s: Sequence[float], latency_ms: Sequence[float]) -> None:
    """An HdrHistogram log (format version 1.2), times in epoch seconds, the interval's maximum in milliseconds."""
    by_second: dict[int, list[float]] = defaultdict(list)
    for start, latency in zip(start_s, latency_ms, strict=True):
        by_second[math.floor(start)].append(latency)
    with path.open("w", encoding="ascii") as sink:
        writer = HistogramLogWriter(sink)
        writer.output_comment("Latencies in microseconds, by the second in which the requests started")
        writer.output_log_format_version()
        writer.output_legend()
        for second in sorted(by_second):
            histogram = HdrHistogram(SHORTEST_US, LONGEST_US, DIGITS)
            histogram.set_start_time_stamp(second * 1000)
            histogram.set_end_time_stamp((second + 1) * 1000)
            for latency in by_second[second]:
                histogram.record_value(max(round(latency * 1000), SHORTEST_US))
            writer.output_interval_histogram(histogram, max_value_unit_ratio=1000.0)
