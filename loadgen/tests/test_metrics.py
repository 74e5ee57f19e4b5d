"""What a run's samples say about its containers."""

from typing import Any

import pytest

from loomlab.judge.metrics import Metrics
from rawrun import RawRun, Samples, at, by_second, container, cpu, lateness, level, matrix, ramp

RUN = at(0), at(40)


def metrics(part: str = "approach", *series: dict[str, Any]) -> Metrics:
    """Of a good run, but for these series."""
    run = RawRun()
    run.put(part, *series)
    return Metrics(run.metrics, "app")


def only(part: str, *series: dict[str, Any]) -> Metrics:
    """Of a run of which nothing else was recorded there."""
    return Metrics(RawRun().metrics | {part: list(series)}, "app")


def own(name: str, *samples: tuple[float, float], **labels: str) -> dict[str, Any]:
    """Of the process, by the second of the run."""
    return matrix(name, [(at(second), value) for second, value in samples], **labels)


START = matrix("process_start_time_seconds", level(7))
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


def test_a_process_that_does_not_tell_what_its_collector_took() -> None:
    got = metrics("approach", *COLLECTED)

    assert got.gc(*RUN).pause_seconds == 2
    assert got.gc(*RUN).cpu_seconds is got.gc(*RUN).cpu_share is None
    assert got.scraped_growth("lab_jit_cpu_seconds_total", *RUN) is None


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


QUOTA = container("spec_cpu_quota", level(100_000)), container("spec_cpu_period", level(100_000))


@pytest.mark.parametrize(
    ("series", "measured"),
    [
        ([cpu("app", ramp(0.7))], True),
        ([cpu("app", without(10, 14))], True),
        ([cpu("app", without(10, 15))], False),
        ([cpu("app", without(-20, 5))], False),
        ([cpu("app", without(10, 14)), *QUOTA], True),
        ([cpu("app", by_second(lambda second: 50 + 0.7 * second * (second >= 30))), *QUOTA], False),
        ([], False),
    ],
)
def test_a_container_whose_cpu_was_recorded(series: list[dict[str, Any]], measured: bool) -> None:
    assert only("containers", *series).quota("app", *RUN).known is measured


@pytest.mark.parametrize("record", [None, {}])
def test_without_samples_nothing_is_known(record: dict[str, Any] | None) -> None:
    got = Metrics(record, "app")

    assert got.missing_ratio("app", 0, 100) == 1
    assert got.cpu_seconds(0, 100) is got.quota("app", 0, 100).throttled is None
    assert got.served_requests("/x", 0, 100) is got.gc(0, 100).share is None
    assert got.backend_lateness_ms([(0, 100)]) == (None, None)


@pytest.mark.parametrize(("first", "last"), [(20, 45), (-10, 30)])
def test_a_service_scraped_late_or_not_until_the_end_is_not_taken_to_have_begun_at_zero(first: int, last: int) -> None:
    scraped = own("process_start_time_seconds", (first, 1), (last, 1))
    late = [one | {"values": [sample for sample in one["values"] if sample[0] >= at(20)]} for one in lateness(0.1)]

    assert only("approach", scraped).served_requests("/capabilities", *RUN) is None
    assert only("backend", *late).backend_lateness_ms([RUN])[1] is None
