"""Figures from raw samples."""

import pytest

from loomlab.judge import series
from loomlab.judge.series import Series


def counter(*samples: tuple[float, float], **labels: str) -> Series:
    return Series(labels, samples)


@pytest.mark.parametrize(
    ("samples", "start", "end", "grown"),
    [
        # Interpolated at both ends of the window.
        ([(0, 100), (10, 200), (20, 400), (30, 400)], 5, 15, 150),
        ([(0, 100), (10, 200), (20, 400), (30, 400)], 0, 30, 300),
        ([(0, 100), (10, 200), (20, 400), (30, 400)], 10, 20, 200),
        ([(0, 100), (30, 400)], -1, 5, None),
        ([(0, 100), (30, 400)], 25, 31, None),
        ([], 0, 1, None),
        # A restart counts from zero; a fall of less than a hundredth is none.
        ([(0, 100), (10, 150), (20, 30), (30, 60)], 0, 30, 50 + 30 + 30),
        ([(0, 1000), (10, 1100), (20, 1095), (30, 1200)], 0, 30, 200),
        ([(0, 1000), (10, 1100), (20, 1095)], 0, 20, 100),
        ([(0, 1000), (10, 1100), (20, 1080)], 0, 20, 100 + 1080),
    ],
)
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
        (every_second(), 0, 100, 0),
        (every_second(gap=(40, 60)), 0, 100, 0.2),
        (every_second(gap=(40, 43)), 0, 100, 0),
        (every_second(gap=(40, 44)), 0, 100, 0.04),
        (every_second(frozen=(40, 60)), 0, 100, 0.2),
        (every_second(), 80, 120, 0.5),
        (every_second(), -20, 20, 0.5),
        (counter((1, 0)), 10, 100, 1),
        (None, 10, 100, 1),
    ],
)
def test_the_share_in_long_gaps(one: Series | None, start: float, end: float, missing: float) -> None:
    assert series.missing_ratio(one, start, end) == pytest.approx(missing)


def test_stretches_are_the_use_between_the_samples_of_the_window() -> None:
    usage = counter((0, 0), (1, 1), (3, 3), (4, 3.5), (10, 4))

    assert series.stretches(usage, 0, 4, 2) == [(1, 0.5), (2, 0.5), (1, 0.25)]
    assert series.stretches(usage, 0, 0.5, 1) == []


def test_results_are_selected_by_name_and_label_and_what_is_no_number_was_not_measured() -> None:
    values = [[1, "2"], [2, "NaN"], [3, "+Inf"], [4, "5"]]
    parsed = series.parse_result(
        [{"metric": {"__name__": "cpu", "service": name}, "values": told} for name, told in (("a", []), ("b", values))]
    )

    (one,) = series.select(parsed, "cpu", service="b")
    assert one.samples == ((1, 2), (4, 5))


@pytest.mark.parametrize(
    ("counts", "quantile"),
    [
        ({"0.01": 50, "0.02": 100, "+Inf": 100}, 0.0198),
        ({"0.01": 99, "0.02": 99, "+Inf": 100}, 0.01),
        ({"0.01": 50, "+Inf": 100}, 0.01),
        ({"+Inf": 0}, None),
    ],
)
def test_a_quantile_is_linear_within_its_bucket(counts: dict[str, float], quantile: float | None) -> None:
    buckets = [counter((0, 10), (10, 10 + count), le=bound) for bound, count in counts.items()]

    assert series.histogram_quantile(buckets, 0.99, [(0, 10)]) == (quantile and pytest.approx(quantile))
