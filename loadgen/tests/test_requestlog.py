"""Percentiles, and the seconds in which no answer came."""

import pytest

from loomlab.records.requestlog import RequestLog, latency_figures, silences, silent_end_s
from rawrun import log_of


def test_latency_figures() -> None:
    got = latency_figures([40, 10, 20, 30])

    assert (got.min, got.mean, got.max, got.p50, got.p75, got.p99) == (10, 25, 40, 20, 30, 40)
    assert got.stdev == pytest.approx(12.909944)
    assert latency_figures([]).p50 is latency_figures([7]).stdev is None


def test_the_silence_a_run_ends_with_counts_up_to_its_last_event() -> None:
    log = log_of([*range(100, 130), 129], [100] * 30 + [20_000])

    assert silent_end_s(log, 149.5) == 17
    assert silent_end_s(log_of(range(100, 130), [100] * 30), 130.0) == 0
    assert silent_end_s(RequestLog(), 130.0) == 0


def test_every_silence_between_two_times_is_told() -> None:
    seconds = [*range(100, 110), *range(118, 130), *range(135, 140)]
    log = log_of(seconds, [100] * len(seconds))

    assert silences(log, 100, 140) == [7, 4]
    assert silences(log, 113.5, 131.5) == [4]
    assert silences(log, 100, 145) == [7, 4, 4]
