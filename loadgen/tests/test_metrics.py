"""What a run's samples say about its containers; the shape is that of Prometheus' answers."""

from typing import Any

import pytest

from loomlab.basics.errors import ParseError
from loomlab.judge.metrics import Metrics


def matrix(name: str, samples: list[tuple[float, float]], **labels: str) -> dict[str, Any]:
    return {"metric": {"__name__": name} | labels, "values": [[time, str(value)] for time, value in samples]}


def ramp(per_second: float, start: int = -10, end: int = 110) -> list[tuple[float, float]]:
    return [(float(second), 1000 + per_second * second) for second in range(start, end)]


def level(value: float) -> list[tuple[float, float]]:
    return [(float(second), value) for second in range(-10, 110)]


def container(name: str, samples: list[tuple[float, float]], service: str = "app", **labels: str) -> dict[str, Any]:
    return matrix(f"container_{name}", samples, service=service, **labels)


CONTAINERS = [
    container("cpu_usage_seconds_total", ramp(0.5), cpu="total"),
    container("cpu_usage_seconds_total", ramp(0.96), service="backend", cpu="total"),
    container("spec_cpu_quota", level(100_000), service="backend"),
    container("spec_cpu_period", level(100_000), service="backend"),
    container("cpu_cfs_periods_total", ramp(10)),
    container("cpu_cfs_throttled_periods_total", ramp(1)),
    container("memory_rss", [(5.0, 100.0), (50.0, 300.0), (105.0, 900.0)]),
    container("threads", level(24)),
    container("oom_events_total", level(0)),
]
APPROACH = [
    matrix("process_start_time_seconds", level(-500)),
    matrix("process_memory_vss_bytes", level(5e9)),
    matrix("lab_requests_seconds_count", ramp(200), endpoint="/capabilities", status="200"),
    matrix("lab_requests_seconds_count", [(50.0, 3.0), (110.0, 7.0)], endpoint="/capabilities", status="502"),
    matrix("jvm_gc_pause_seconds_sum", [(40.0, 0.5), (110.0, 2.0)], cause="Allocation"),
    matrix("jvm_gc_pause_seconds_count", [(40.0, 3.0), (110.0, 7.0)], cause="Allocation"),
    matrix("jvm_gc_pause_seconds_max", [(-5.0, 9.0), (40.0, 0.3), (50.0, 0.4), (60.0, 0.0)], cause="Allocation"),
    matrix("lab_gc_cpu_seconds_total", ramp(0.05)),
    matrix("lab_jit_cpu_seconds_total", ramp(0.02)),
    matrix("lab_allocated_bytes_total", ramp(5e6)),
    matrix("jvm_threads_virtual_pinned_seconds_count", ramp(3)),
]
BACKEND = [
    matrix("backend_lateness_seconds_bucket", ramp(99), le="0.01"),
    matrix("backend_lateness_seconds_bucket", ramp(100), le="0.05"),
    matrix("backend_lateness_seconds_bucket", ramp(100), le="+Inf"),
    matrix("backend_lateness_seconds_count", ramp(100)),
    matrix("backend_lateness_seconds_sum", ramp(0.4)),
    matrix("backend_requests_total", ramp(600)),
    matrix("backend_loop_cpu_seconds_total", ramp(0.2), loop="0"),
    matrix("backend_loop_cpu_seconds_total", ramp(0.97), loop="1"),
]


def metrics(**changes: Any) -> Metrics:
    return Metrics({"containers": CONTAINERS, "approach": APPROACH, "backend": BACKEND} | changes, "app")


def test_container_figures() -> None:
    got = metrics()

    assert got.cpu_seconds("app", 10.5, 60.5) == pytest.approx(25)
    assert got.missing_ratio(0, 100) == 0
    assert got.rss_max_bytes(0, 100) == 300
    assert got.threads_max(0, 100) == 24
    assert got.throttled_ratio(0, 100) == pytest.approx(0.1)
    assert got.oom_kills(0, 100) == 0
    assert got.quota_full_share("backend", 0, 100) == 1
    assert got.quota_full_share("app", 0, 100) is None
    assert (got.quota_cpus("backend", 100), got.quota_cpus("app", 100)) == (1, None)


def test_figures_of_the_approach_itself() -> None:
    got = metrics()

    assert got.vsz_max_bytes(0, 100) == 5e9
    assert got.process_restarts(0, 100) == 0
    assert got.served_requests("/capabilities", 0, 100) == 20_000 + 6
    assert got.gc(0, 110 - 1).pause_seconds == pytest.approx(2 - 1.5 / 70)
    assert got.gc(0, 100).concurrent_seconds == 0


def test_a_phase_that_runs_beside_the_requests_is_no_pause() -> None:
    beside = matrix("jvm_gc_concurrent_phase_time_seconds_sum", ramp(0.3))

    gc = metrics(approach=[*APPROACH, beside]).gc(0, 100)

    assert gc.concurrent_seconds == pytest.approx(30)
    assert gc.share == metrics().gc(0, 100).share


def test_the_collectors_share_and_the_compilers() -> None:
    got = metrics()
    gc = got.gc(0, 100)

    assert gc.pauses == 6
    assert gc.longest_pause_ms == pytest.approx(400)
    assert gc.cpu_seconds == pytest.approx(5)
    assert gc.cpu_share == pytest.approx(0.1)
    assert got.jit_cpu_seconds(0, 100) == pytest.approx(2)
    assert got.virtual_threads_pinned(0, 100) == 300
    assert got.allocated_bytes(10, 60) == pytest.approx(250e6)


def test_where_scrapes_end_before_the_window_the_collectors_part_is_known_up_to_the_last_one() -> None:
    pauses = matrix("jvm_gc_pause_seconds_sum", [(float(second), second / 100) for second in range(110)])

    gc = metrics(approach=[APPROACH[0], pauses]).gc(0, 150)

    assert gc.pause_seconds == pytest.approx(1.09)
    assert gc.share == pytest.approx(0.01)


def test_a_process_that_does_not_tell_what_its_collector_took() -> None:
    got = metrics(approach=APPROACH[:5])

    assert got.gc(0, 100).pause_seconds is not None
    assert got.gc(0, 100).cpu_seconds is got.gc(0, 100).cpu_share is None
    assert got.jit_cpu_seconds(0, 100) is got.virtual_threads_pinned(0, 100) is None
    assert got.allocated_bytes(0, 100) is None


def test_figures_of_the_backend() -> None:
    got = metrics()

    assert got.backend_growth("backend_requests_total", 0, 100) == pytest.approx(60_000)
    assert got.backend_growth("backend_connections_total", 0, 100) is None
    assert got.backend_loop_full_share(0, 100) == 1
    assert got.backend_lateness_p99_ms(0, 100) == pytest.approx(10)
    assert got.backend_lateness_mean_ms(0, 100) == pytest.approx(4)
    assert got.backend_lateness_mean_ms(50, 40) is None


def test_a_start_time_that_changes_is_a_restart() -> None:
    times = [(float(second), -500.0 if second < 50 else 49.0) for second in range(110)]

    assert metrics(approach=[matrix("process_start_time_seconds", times)]).process_restarts(0, 100) == 1
    assert metrics(containers=[container("start_time_seconds", times)]).process_restarts(0, 100) == 1


def test_an_older_container_of_the_service_does_not_count() -> None:
    older = container("cpu_usage_seconds_total", ramp(9, -500, 2), cpu="total", id="old")

    assert metrics(containers=[older, *CONTAINERS]).cpu_seconds("app", 10, 20) == pytest.approx(5)


def test_a_quota_that_is_set_in_mid_run_is_counted_from_then() -> None:
    held = [
        container("cpu_cfs_periods_total", [(60.0, 2.0), (105.0, 452.0)]),
        container("cpu_cfs_throttled_periods_total", [(60.0, 1.0), (105.0, 226.0)]),
    ]

    assert metrics(containers=held).throttled_ratio(0, 100) == pytest.approx(0.5)


def test_throttling_before_the_first_sample_does_not_count() -> None:
    held = [
        container("cpu_cfs_periods_total", [(60.0, 5_000.0), (110.0, 5_500.0)]),
        container("cpu_cfs_throttled_periods_total", [(60.0, 5_000.0), (110.0, 5_050.0)]),
    ]

    assert metrics(containers=held).throttled_ratio(0, 100) == pytest.approx(0.1)


@pytest.mark.parametrize("record", [None, {}])
def test_without_samples_nothing_is_known(record: dict[str, Any] | None) -> None:
    got = Metrics(record, "app")

    assert got.missing_ratio(0, 100) == 1
    assert got.cpu_seconds("app", 0, 100) is None
    assert got.throttled_ratio(0, 100) is None
    assert got.served_requests("/x", 0, 100) is None
    assert got.backend_lateness_p99_ms(0, 100) is None
    assert got.backend_lateness_mean_ms(0, 100) is None
    assert got.gc(0, 100).share is None


def test_a_service_scraped_late_is_not_taken_to_have_begun_at_zero() -> None:
    late = [matrix("process_start_time_seconds", [(20.0, 1.0), (110.0, 1.0)]), APPROACH[3]]

    assert metrics(approach=late).served_requests("/capabilities", 0, 100) is None


def test_other_shapes_are_told() -> None:
    with pytest.raises(ParseError, match=r"metrics\.json"):
        Metrics({"containers": [{"metric": {}}]}, "app")
