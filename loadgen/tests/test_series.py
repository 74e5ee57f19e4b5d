"""Figures from raw samples."""

from typing import Any

import pytest

from loomlab.judge import series
from loomlab.judge.metrics import Metrics
from loomlab.records.raw import MetricsLog, Series
from rawrun import RawRun, Samples, at, by_second, cpu, lateness, matrix, ramp


def counter(*samples: tuple[float, float], **labels: str) -> Series:
    return Series(labels, samples)


@pytest.mark.parametrize(
    ("samples", "start", "end", "grown"),
    [
        # Interpolated at both ends of the window.
        ([(0, 100), (10, 200), (20, 400), (30, 400)], 5, 15, 150),
        ([(0, 100), (10, 200), (20, 400), (30, 400)], 0, 30, 300),
        ([(0, 100), (10, 200), (20, 400), (30, 400)], 10, 20, 200), ([(0, 100), (30, 400)], -1, 5, None),
        ([(0, 100), (30, 400)], 25, 31, None), ([], 0, 1, None),
        # A restart counts from zero; a fall of less than a hundredth is none.
        ([(0, 100), (10, 150), (20, 30), (30, 60)], 0, 30, 50 + 30 + 30),
        ([(0, 1000), (10, 1100), (20, 1095), (30, 1200)], 0, 30, 200),
        ([(0, 1000), (10, 1100), (20, 1095)], 0, 20, 100), ([(0, 1000), (10, 1100), (20, 1080)], 0, 20, 100 + 1080),
    ],
)  # fmt: skip
def test_growth_of_a_counter(samples: list[tuple[float, float]], start: float, end: float, grown: float | None) -> None:
    assert series.increase(counter(*samples), start, end) == grown


def test_a_counter_that_appears_with_its_first_event_was_zero_before() -> None:
    late = counter((12, 3), (20, 5))

    assert series.increase(late, 10, 20) is None
    assert series.increase(late, 10, 20, "zero") == 5
    assert series.increase(counter((0, 2), (20, 5)), 10, 20, "zero") == 1.5
    assert series.increase(counter((25, 2)), 10, 20, "zero") is None


def test_totals_and_gauges_leave_out_what_was_not_measured() -> None:
    spanning, beyond = counter((0, 0), (10, 4)), counter((6, 0), (7, 9))
    gauge = [counter((1, 5), (2, 9), (3, 7)), counter((9, 100))]

    assert (series.total([spanning, beyond], 0, 10), series.total([beyond], 0, 10)) == (4, None)
    assert (series.highest(gauge, 0, 3), series.highest(gauge, 4, 5)) == (9, None)
    assert (series.latest(gauge, 3), series.latest(gauge, 0)) == (7, None)


def every_second(gap: tuple[float, float] = (0, 0), frozen: tuple[float, float] = (0, 0)) -> Series:
    """Of a counter; between two times there is no sample, or it stands still."""
    kept = (time for time in range(101) if not gap[0] < time < gap[1])
    return counter(*((time, 20.0 if frozen[0] < time < frozen[1] else 0.5 * time) for time in kept))


@pytest.mark.parametrize(
    ("one", "start", "end", "missing"),
    [
        (every_second(), 0, 100, 0), (every_second(gap=(40, 60)), 0, 100, 0.2), (every_second(gap=(40, 43)), 0, 100, 0),
        (every_second(gap=(40, 44)), 0, 100, 0.04), (every_second(frozen=(40, 60)), 0, 100, 0.2),
        (every_second(), 80, 120, 0.5), (every_second(), -20, 20, 0.5), (counter((1, 0)), 10, 100, 1),
        (None, 10, 100, 1),
    ],
)  # fmt: skip
def test_the_share_in_long_gaps(one: Series | None, start: float, end: float, missing: float) -> None:
    assert series.missing_ratio(one, start, end) == pytest.approx(missing)


def test_results_are_selected_by_name_and_label_and_what_is_no_number_was_not_measured() -> None:
    values = [[1, "2"], [2, "NaN"], [3, "+Inf"], [4, "5"]]
    rows = [
        {"metric": {"__name__": "cpu", "service": name}, "values": told} for name, told in (("a", []), ("b", values))
    ]
    parsed = MetricsLog.model_validate({"containers": rows}).containers

    (one,) = series.select(parsed, "cpu", service="b")
    assert one.samples == ((1, 2), (4, 5))


@pytest.mark.parametrize(
    ("counts", "quantile"),
    [
        ({"0.01": 50, "0.02": 100, "+Inf": 100}, 0.0198), ({"0.01": 99, "0.02": 99, "+Inf": 100}, 0.01),
        ({"0.01": 50, "+Inf": 100}, 0.01), ({"+Inf": 0}, None),
    ],
)  # fmt: skip
def test_a_quantile_is_linear_within_its_bucket(counts: dict[str, float], quantile: float | None) -> None:
    buckets = [counter((0, 10), (10, 10 + count), le=bound) for bound, count in counts.items()]
    assert series.histogram_quantile(buckets, 0.99, [(0, 10)]) == (quantile and pytest.approx(quantile))


RUN = at(0), at(40)


def metrics(part: str = "approach", *series: dict[str, Any]) -> Metrics:
    """Of a good run, but for these series."""
    run = RawRun()
    run.put(part, *series)
    return Metrics(MetricsLog.model_validate(run.metrics), "app")


def only(part: str, *series: dict[str, Any]) -> Metrics:
    """Of a run of which nothing else was recorded there."""
    return Metrics(MetricsLog.model_validate(RawRun().metrics | {part: list(series)}), "app")


def own(name: str, *samples: tuple[float, float], **labels: str) -> dict[str, Any]:
    """Of the process, by the second of the run."""
    return matrix(name, [(at(second), value) for second, value in samples], **labels)


COLLECTED = [
    own("jvm_gc_pause_seconds_sum", (10, 0.5), (40, 2.0)),
    own("jvm_gc_pause_seconds_count", (10, 3), (40, 7)),
    own("jvm_gc_pause_seconds_max", (-5, 9.0), (10, 0.3), (20, 0.4), (30, 0.0)),
]


def test_figures_of_the_collector() -> None:
    """What runs beside the requests is no pause."""
    beside = matrix("jvm_gc_concurrent_phase_time_seconds_sum", ramp(0.3))

    gc = metrics("approach", *COLLECTED, beside, matrix("lab_gc_cpu_seconds_total", ramp(0.05))).gc(*RUN)

    assert (gc.pauses, gc.longest_pause_ms) == pytest.approx((7, 400))
    assert (gc.pause_seconds, gc.concurrent_seconds, gc.share) == pytest.approx((2, 12, 0.05))
    assert (gc.cpu_seconds, gc.cpu_share) == pytest.approx((2, 0.1))


def test_where_scrapes_end_before_the_window_figures_are_known_up_to_the_last_one() -> None:
    def until_30(name: str, per_second: float) -> dict[str, Any]:
        return matrix(name, [sample for sample in ramp(per_second) if sample[0] <= at(30)])

    names = {"jvm_gc_pause_seconds_sum": 0.01, "lab_jit_cpu_seconds_total": 0.02, "process_start_time_seconds": 0}
    got = only("approach", *(until_30(name, per_second) for name, per_second in names.items()))

    assert (got.gc(*RUN).pause_seconds, got.gc(*RUN).share) == pytest.approx((0.3, 0.01))
    assert got.scraped_growth("lab_jit_cpu_seconds_total", *RUN) == pytest.approx(0.6)


@pytest.mark.parametrize(("other", "share"), [(0.97, 1), (0.2, None)])
def test_a_loop_of_which_too_little_is_known(other: float, share: float | None) -> None:
    """It was sampled at the beginning and at the end, and three quarters full in between."""
    hole = own("backend_loop_cpu_seconds_total", (0, 0), (40, 30), loop="0")
    loops = [hole, matrix("backend_loop_cpu_seconds_total", ramp(other), loop="1")]

    assert only("backend", *loops).backend_loop_full_share(*RUN) == share


@pytest.mark.parametrize("after", [49, 5])
@pytest.mark.parametrize(("part", "name"), [("approach", "process_"), ("containers", "container_")])
def test_a_start_time_that_changes_is_a_restart(after: float, part: str, name: str) -> None:
    times = by_second(lambda second: 7 if second < 20 else after)
    assert metrics(part, matrix(f"{name}start_time_seconds", times, service="app")).process_restarts(*RUN) == 1


def test_an_earlier_container_of_the_service_does_not_count() -> None:
    earlier = cpu("app", [(at(second), 9.0 * second) for second in range(-500, 2)])
    assert only("containers", earlier, cpu("app", ramp(0.5))).cpu_seconds(at(10), at(20), "app") == pytest.approx(5)


@pytest.mark.parametrize(
    ("periods", "throttled", "ratio"),
    [
        # A quota that is set in mid-run is counted from then; what was throttled before the first sample is not.
        ([(10, 2), (45, 352)], [(10, 1), (45, 176)], 0.5),
        ([(10, 5_000), (40, 5_500)], [(10, 5_000), (40, 5_050)], 0.1),
        ([(0, 5_000), (40, 5_500)], [(0, 7), (40, 7)], 0),
    ],
)
def test_throttling_is_counted_from_the_first_sample_on(periods: Samples, throttled: Samples, ratio: float) -> None:
    counters = {"container_cpu_cfs_periods_total": periods, "container_cpu_cfs_throttled_periods_total": throttled}
    series = [own(name, *samples, service="app") for name, samples in counters.items()]
    assert only("containers", *series).quota("app", *RUN).throttled == pytest.approx(ratio)


def without(first: float, last: float) -> Samples:
    return [sample for sample in ramp(0.7) if not at(first) < sample[0] < at(last)]


@pytest.mark.parametrize(
    ("series", "measured"),
    [
        ([cpu("app", ramp(0.7))], True), ([cpu("app", without(10, 14))], True), ([cpu("app", without(10, 15))], False),
        ([cpu("app", without(-20, 5))], False), ([], False),
    ],
)  # fmt: skip
def test_a_container_whose_cpu_was_recorded(series: list[dict[str, Any]], measured: bool) -> None:
    assert only("containers", *series).quota("app", *RUN).known is measured


def database(begun: Samples, *states: Samples) -> Metrics:
    """Samples are seconds of the run and values; of each state of connections."""

    def told(name: str, samples: Samples, **labels: str) -> dict[str, Any]:
        return matrix(f"pg_{name}", [(at(second), value) for second, value in samples], **labels)

    return only(
        "database",
        *(told("stat_activity_count", samples, state=f"{place}") for place, samples in enumerate(states)),
        told("settings_max_connections", [(0, 450)]),
        told("stat_checkpointer_num_timed_total", [(second, 3) for second, _ in begun]),
        told("stat_checkpointer_num_requested_total", begun),
    )


def test_connections_of_the_database_are_added_up_by_scrape() -> None:
    got = database([(0, 0)], [(-6, 400), (0, 15), (5, 2)], [(0, 5), (5, 20)], [(5, 1)])

    assert got.database_connections(at(0), at(20)) == (23, 450)
    assert got.database_connections(at(0), at(4)) == (20, 450)


@pytest.mark.parametrize(
    ("begun", "checkpoints"),
    [
        ([(-12, 0), (-7, 1), (-2, 1), (3, 1), (43, 2)], 0), ([(-2, 1), (3, 1), (8, 2), (38, 3)], 2),
        ([(-2, 1), (3, 2)], 1), ([(45, 7)], None),
    ],
)  # fmt: skip
def test_checkpoints_are_those_begun_within_a_scrape_of_the_window(begun: Samples, checkpoints: int | None) -> None:
    assert database(begun).checkpoints(*RUN) == checkpoints


@pytest.mark.parametrize("record", [None, MetricsLog()])
def test_without_samples_nothing_is_known(record: MetricsLog | None) -> None:
    got = Metrics(record, "app")

    assert got.missing_ratio("app", 0, 100) == 1
    assert got.cpu_seconds(0, 100) is got.quota("app", 0, 100).throttled is None
    assert got.gc(0, 100).share is None
    assert got.backend_lateness_ms([(0, 100)]) == got.database_connections(0, 100) == (None, None)
    assert got.checkpoints(0, 100) is None


def test_a_service_scraped_late_is_not_taken_to_have_begun_at_zero() -> None:
    scraped = own("process_start_time_seconds", (20, 1), (45, 1))
    late = [one | {"values": [sample for sample in one["values"] if sample[0] >= at(20)]} for one in lateness(0.1)]

    assert only("approach", scraped).gc(*RUN).pauses is None
    assert only("backend", *late).backend_lateness_ms([RUN])[1] is None
