"""Figures from raw samples."""

import pytest

from loomlab.judge import series
from loomlab.judge.series import Series


def counter(*samples: tuple[float, float], **labels: str) -> Series:
    return Series(labels, samples)


def test_a_counter_is_interpolated_at_both_ends_of_the_window() -> None:
    one = counter((0, 100), (10, 200), (20, 400), (30, 400))

    assert series.increase(one, 5, 15) == 150
    assert series.increase(one, 0, 30) == 300
    assert series.increase(one, 10, 20) == 200


@pytest.mark.parametrize("window", [(-1, 5), (25, 31)])
def test_a_window_beyond_the_samples_is_not_measured(window: tuple[float, float]) -> None:
    assert series.increase(counter((0, 100), (30, 400)), *window) is None
    assert series.increase(counter(), *window) is None


def test_a_restart_counts_from_zero_and_is_told() -> None:
    one = counter((0, 100), (10, 150), (20, 30), (30, 60))

    assert series.increase(one, 0, 30) == 50 + 30 + 30


def test_a_fall_of_less_than_a_hundredth_is_no_restart() -> None:
    one = counter((0, 1000), (10, 1100), (20, 1095), (30, 1200))

    assert series.increase(one, 0, 30) == 200


def test_a_counter_that_appears_with_its_first_event_was_zero_before() -> None:
    late = counter((12, 3), (20, 5))

    assert series.increase(late, 10, 20) is None
    assert series.increase(late, 10, 20, "zero") == 5
    assert series.increase(counter((0, 2), (20, 5)), 10, 20, "zero") == 1.5
    assert series.increase(counter((25, 2)), 10, 20, "zero") is None


def test_totals_leave_out_what_was_not_measured() -> None:
    spanning, beyond = counter((0, 0), (10, 4)), counter((6, 0), (7, 9))

    assert series.total([spanning, beyond], 0, 10) == 4
    assert series.total([beyond], 0, 10) is None


def test_gauges() -> None:
    gauge = [counter((1, 5), (2, 9), (3, 7)), counter((9, 100))]

    assert series.highest(gauge, 0, 3) == 9
    assert series.highest(gauge, 4, 5) is None
    assert series.latest(gauge, 3) == 7
    assert series.first_from(gauge, 1.5) == 9
    assert series.first_from(gauge, 10) is None


def test_missing_is_the_share_of_the_window_in_long_gaps() -> None:
    every_second = counter(*((float(t), 0.5 * t) for t in range(101)))
    with_gap = counter(*((float(t), 0.5 * t) for t in range(101) if not 40 < t < 60))
    frozen = counter(*((float(t), 20.0 if 40 < t < 60 else 0.5 * t) for t in range(101)))

    assert series.missing_ratio(every_second, 0, 100) == 0
    assert series.missing_ratio(with_gap, 0, 100) == pytest.approx(0.2)
    assert series.missing_ratio(frozen, 0, 100) == pytest.approx(0.2)
    assert series.missing_ratio(every_second, 80, 120) == 0.5
    assert series.missing_ratio(every_second, -20, 20) == 0.5
    assert series.missing_ratio(counter((1, 0)), 10, 100) == 1
    assert series.missing_ratio(None, 10, 100) == 1


def test_stretches_are_the_use_between_the_samples_of_the_window() -> None:
    usage = counter((0, 0), (1, 1), (3, 3), (4, 3.5), (10, 4))

    assert series.stretches(usage, 0, 4, 2) == [(1, 0.5), (2, 0.5), (1, 0.25)]
    assert series.stretches(usage, 0, 0.5, 1) == []


def test_what_is_no_number_was_not_measured() -> None:
    told = {"metric": {"__name__": "cpu"}, "values": [[1, "2"], [2, "NaN"], [3, "+Inf"], [4, "5"]]}

    assert series.parse_result([told])[0].samples == ((1, 2), (4, 5))


def test_a_quantile_is_linear_within_its_bucket_as_in_prometheus() -> None:
    def bucket(bound: str, count: float) -> Series:
        return counter((0, 10), (10, 10 + count), le=bound)

    buckets = [bucket("0.01", 50), bucket("0.02", 100), bucket("+Inf", 100)]

    assert series.histogram_quantile(buckets, 0.99, 0, 10) == pytest.approx(0.0198)
    assert series.histogram_quantile([bucket("0.01", 50), bucket("+Inf", 100)], 0.99, 0, 10) == 0.01
    assert series.histogram_quantile([bucket("+Inf", 0)], 0.99, 0, 10) is None


def test_results_are_selected_by_name_and_label() -> None:
    parsed = series.parse_result(
        [
            {"metric": {"__name__": "cpu", "service": "a"}, "values": [[1.5, "2"]]},
            {"metric": {"__name__": "cpu", "service": "b"}, "values": [[1.5, "3"]]},
        ]
    )

    assert series.select(parsed, "cpu", service="b")[0].samples == ((1.5, 3.0),)
