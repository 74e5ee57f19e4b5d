"""The first half of the measured part against its second."""

import math
import random
from collections.abc import Callable

import pytest

from loomlab.judge.halves import Parts
from loomlab.records.measured import Halves
from loomlab.records.models import Interior
from loomlab.records.requestlog import RequestLog

BEGIN = 1_000_000
CONNECTIONS = 100


def window(seconds: int, whole_run: bool = False) -> Interior:
    return Interior(start=BEGIN, seconds=seconds, requests=1, whole_run=whole_run)


def parts(latency_ms: Callable[[float], float], seconds: int = 40, wave_s: float = 1.0) -> Parts:
    """Ten requests a second, each of the latency of its second; others outside of the window, which must not count."""
    starts = [BEGIN + second for second in range(-5, seconds + 5) for _ in range(10)]
    latencies = [latency_ms(start - BEGIN) if 0 <= start - BEGIN < seconds else 1e6 for start in starts]
    return Parts(RequestLog(starts, latencies), window(seconds), wave_s)


def cpu(per_second: Callable[[float], float]) -> Callable[[float, float], float | None]:
    return lambda first, last: sum(per_second(second - BEGIN) for second in range(int(first), int(last)))


def known(got: Halves | None) -> Halves:
    assert got is not None
    return got


def test_a_latency_that_falls_by_a_fifth_between_the_halves_is_told_so() -> None:
    got = known(parts(lambda second: 1000 * 0.8 ** (second / 20)).latency_fall())

    assert got.fall == pytest.approx(0.2, abs=0.001)
    assert got.margin == pytest.approx(0, abs=0.01)


def test_a_latency_that_rises_is_a_negative_fall() -> None:
    assert known(parts(lambda second: 1000 * 1.1 ** (second / 20)).latency_fall()).fall == pytest.approx(
        -0.1, abs=0.002
    )


def test_noise_widens_the_margin() -> None:
    source = random.Random(3)  # noqa: S311
    got = known(parts(lambda _: 1000 * math.exp(source.gauss(0, 0.3))).latency_fall())

    assert abs(got.fall) < got.margin
    assert got.margin > 0.02


@pytest.mark.parametrize(
    ("slope", "fall", "margin"),
    [(-0.06, 0.213, 0.251), (-0.08, 0.274, 0.232), (0.06, -0.271, 0.308), (0.08, -0.377, 0.333), (0.5, -6.389, 1.787)],
)
def test_a_margin_is_of_the_fall_as_the_trend_of_the_logarithms_has_it(
    slope: float, fall: float, margin: float
) -> None:
    values = [math.exp(slope * part + noise) for part, noise in enumerate([0.2, -0.2, -0.2, 0.2, 0.2, -0.2, -0.2, 0.2])]
    got = known(parts(lambda second: 1000 * values[int(second // 5)]).latency_fall())

    assert (got.fall, got.margin) == pytest.approx((fall, margin), abs=0.001)


def test_cpu_per_request_in_a_closed_model_goes_by_latency_not_by_a_count() -> None:
    flat = parts(lambda _: 900)

    assert known(flat.cpu_fall(CONNECTIONS, cpu(lambda _: 0.5))).fall == pytest.approx(0, abs=1e-9)
    assert known(flat.cpu_fall(CONNECTIONS, cpu(lambda second: 0.9 ** (second / 20)))).fall == pytest.approx(
        0.1, abs=0.001
    )


def test_cpu_that_stays_while_requests_get_faster_is_cpu_per_request_that_falls() -> None:
    faster = parts(lambda second: 1000 * 0.8 ** (second / 20))

    assert known(faster.cpu_fall(CONNECTIONS, cpu(lambda _: 0.9))).fall == pytest.approx(0.2, abs=0.001)


def test_cpu_per_request_in_an_open_model_goes_by_the_requests_that_started() -> None:
    slower = parts(lambda second: 100 + 100 * second)

    assert known(slower.cpu_fall(None, cpu(lambda _: 0.5))).fall == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("seconds", "wave_s", "told"), [(8, 0.5, True), (7, 0.5, False), (40, 5.0, True), (39, 5.0, False)]
)
def test_a_window_of_four_parts_of_two_waves_is_the_shortest(seconds: int, wave_s: float, told: bool) -> None:
    assert (parts(lambda _: 900, seconds, wave_s).latency_fall() is not None) is told


def test_nothing_is_told_of_a_whole_run_or_without_cpu() -> None:
    log = RequestLog([BEGIN + second for second in range(40)], [900.0] * 40)

    assert Parts(log, window(40, whole_run=True), 1).latency_fall() is None
    assert Parts(log, window(40), 1).cpu_fall(CONNECTIONS, lambda *_: None) is None


def test_a_part_without_a_request_tells_nothing() -> None:
    log = RequestLog([BEGIN + second for second in range(30)], [900.0] * 30)

    assert Parts(log, window(40), 1).latency_fall() is None
