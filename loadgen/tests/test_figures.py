"""Each figure is read from its own member of run.json, and written with the digits that count."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from loomlab.answer.figures import CPU_WITH_DATABASE, FIGURES, MEMORY, THREADS, THROUGHPUT, Spread, spread
from loomlab.basics.format import UNKNOWN, amount, fixed, number, percent, rough_percent, signed
from loomlab.basics.trend import trend
from loomlab.records.capacity import Capacity
from loomlab.records.models import Gc, Latency
from loomlab.records.raw import LiveBytes
from loomlab.records.requestlog import RequestLog, latency_figures, silences, silent_end_s
from rawrun import log_of
from report_folder import NAMES, blocks, run_of


@pytest.mark.parametrize("lacking", ["cpu_ms_per_request", "database_cpu_ms_per_request"])
def test_cpu_with_the_databases_is_of_both_or_not_known(lacking: str) -> None:
    parts: dict[str, Any] = {"cpu_ms_per_request": 1.5, "database_cpu_ms_per_request": 0.0}
    assert CPU_WITH_DATABASE.of(run_of(NAMES[0], **parts)) == 1.5
    assert CPU_WITH_DATABASE.of(run_of(NAMES[0], **parts | {lacking: None})) is None


def test_each_figure_is_its_own_in_its_unit() -> None:
    run = run_of(
        NAMES[0], cpu_ms_per_request=1.5, database_cpu_ms_per_request=0.5, throughput_rps=1000.0, started_rps=999.0,
        threads_max=77,
        rss_max_bytes=3 * 2**20, rss_hwm_bytes=4 * 2**20,
        latency_ms=Latency(p50=50, p66=66, p75=75, p80=80, p90=90, p95=95, p98=98, p99=99, p99_9=99.9, max=101),
        live_bytes_per_request=LiveBytes(heap=4096, stacks_off_heap=2048, kernel=1024), requests=6000, errors=2,
        gc=Gc(cpu_share=0.04), capacity=Capacity(objectives=[], rps=700),
    )  # fmt: skip

    assert {figure.key: figure.of(run) for figure in FIGURES} == {
        "cpu_ms_per_request": 1.5, "cpu_with_database_ms_per_request": 2, "p50_ms": 50,
        "p99_ms": 99, "p99_9_ms": 99.9, "throughput_rps": 1000,
        "threads_max": 77, "rss_max_mib": 3, "live_kib_per_request": 7, "requests": 6000, "errors": 2,
        "gc_cpu_percent": 4, "capacity_rps": 700,
    }  # fmt: skip


@pytest.mark.parametrize("missing", ["heap", "stacks_off_heap", "kernel"])
def test_waiting_memory_of_which_a_part_is_unknown_is_not_told(missing: str) -> None:
    held = LiveBytes(heap=1, stacks_off_heap=2, kernel=4).model_copy(update={missing: None})
    assert MEMORY.of(run_of(NAMES[0], live_bytes_per_request=held)) is None


@pytest.mark.parametrize(
    ("write", "texts"),
    [
        (  # with three digits that count
            number,
            {
                None: "–", 0: "0", 29.0: "29", 0.48731: "0.487", 0.00123: "0.00123", 12.34: "12.3", 123.4: "123",
                1234.5: "1,234", 1e-9: "0.000000", -61.234: "-61.2", -61.0: "-61", -0.5: "-0.500",
            },
        ),
        (  # with its sign
            signed,
            {-21.44: "−21", 9.94: "+9.9", 9.96: "+10", -0.04: "0.0", 0.0: "0.0", 1234.6: "+1,235", math.inf: "–"},
        ),
        (  # three digits that count, or all before the point
            percent,
            {
                0: "0 %", 0.05: "5 %", 0.12345: "12.3 %", 0.99951: "100 %", 9.994: "999 %", 9.996: "1,000 %",
                27.0649: "2,706 %", -0.0519: "-5.19 %", -1.2345: "-123 %",
            },
        ),
        (  # never none or all for others
            rough_percent,
            {
                0: "0.0", 0.0004: "under 0.1", 0.0006: "0.1", 0.1994: "19.9", 0.1996: "20", 0.994: "99",
                0.995: "over 99", 0.9999: "over 99", 1.0: "100", 9.994: "999", 10.001: "over 1,000",
            },
        ),
        # a size, and never 0 for what is not
        (amount, {0: "0", 0.04: "under 0.1", -0.06: "0.1", 9.94: "9.9", -9.96: "10", 1234.6: "1,235"}),
        (partial(fixed, decimals=1), {0.0: "0.0", 1234.56: "1,234.6", None: UNKNOWN}),
    ],
)  # fmt: skip
def test_numbers_are_written(write: Callable[[float | None], str], texts: dict[float | None, str]) -> None:
    assert {value: write(value) for value in texts} == texts


def test_the_centre_of_equals_is_theirs() -> None:
    """A geometric mean may be off in its last digit."""
    assert spread(THREADS, blocks(3, threads_max=29)[:3]) == Spread(29, 29, 29, 3)


def test_the_centre_where_a_value_is_0_is_the_arithmetic_mean() -> None:
    runs = [run_of(NAMES[0], throughput_rps=rps) for rps in (0.0, 1000.0, 2000.0)]
    assert spread(THROUGHPUT, runs) == Spread(1000, 0, 2000, 3)


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


@pytest.mark.parametrize("values", [[], [1.0, 2.0], [1.0, None, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]])
def test_too_few_values_or_missing_ones_tell_nothing(values: list[float | None]) -> None:
    assert trend(values) is None
