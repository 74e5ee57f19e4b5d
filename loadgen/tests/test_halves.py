"""The first half of the measured part against its second."""

import math
from collections.abc import Callable, Sequence

import pytest

from loomlab.judge.halves import Parts
from loomlab.records.measured import Halves
from loomlab.records.models import Interior
from rawrun import log_of

BEGIN = 1_000_000
CONNECTIONS = 100


def parts(
    latency_ms: Callable[[float], float], seconds: int = 40, wave_s: float = 1.0, whole_run: bool = False
) -> Parts:
    """Ten requests a second, each of the latency of its second; others outside of the window, which must not count."""
    starts = [BEGIN + second for second in range(-5, seconds + 5) for _ in range(10)]
    latencies = [latency_ms(start - BEGIN) if 0 <= start - BEGIN < seconds else 1e6 for start in starts]
    window = Interior(start=BEGIN, seconds=seconds, requests=1, whole_run=whole_run)
    return Parts(log_of(starts, latencies), window, wave_s)


def falls(got: Halves | None) -> Halves:
    assert got is not None
    return got


def cpu_fall(of: Parts, per_second: Callable[[float], float], connections: int | None = CONNECTIONS) -> float:
    def cpu_seconds(first: float, last: float) -> float:
        return sum(per_second(second - BEGIN) for second in range(int(first), int(last)))

    return falls(of.cpu_fall(connections, cpu_seconds)).fall


@pytest.mark.parametrize("fall", [0.2, -0.1])
def test_a_latency_that_falls_between_the_halves_is_told_so_and_one_that_rises_is_a_negative_fall(fall: float) -> None:
    got = falls(parts(lambda second: 1000 * (1 - fall) ** (second / 20)).latency_fall())

    assert (got.fall, got.margin) == pytest.approx((fall, 0), abs=0.002)


@pytest.mark.parametrize(
    ("slope", "fall", "margin", "peak"),
    [
        (-0.06, 0.213, 0.251, 0.552),
        (-0.08, 0.274, 0.232, 0.681),
        (0.06, -0.271, 0.308, 0.552),
        (0.5, -6.389, 1.787, 4.579),
    ],
)
def test_a_margin_is_of_the_fall(slope: float, fall: float, margin: float, peak: float) -> None:
    noise: Sequence[float] = (0.2, -0.2, -0.2, 0.2, 0.2, -0.2, -0.2, 0.2)
    values = [math.exp(slope * part + off) for part, off in enumerate(noise)]

    got = falls(parts(lambda second: 1000 * values[int(second // 5)]).latency_fall())

    assert (got.fall, got.margin, got.peak) == pytest.approx((fall, margin, peak), abs=0.001)


def test_latency_begins_when_a_request_was_due() -> None:
    starts = [BEGIN + second for second in range(40)]
    log = log_of(starts, [900.0] * 40, lag_ms=[100.0 * (second >= 20) for second in range(40)])
    window = Interior(start=BEGIN, seconds=40, requests=40, whole_run=False)

    assert falls(Parts(log, window, 1).latency_fall()).fall == pytest.approx(-0.084, abs=0.001)


def test_cpu_per_request_in_a_closed_model_goes_by_latency_not_by_a_count() -> None:
    flat, faster = parts(lambda _: 900), parts(lambda second: 1000 * 0.8 ** (second / 20))

    assert cpu_fall(flat, lambda _: 0.5) == pytest.approx(0, abs=1e-9)
    assert cpu_fall(flat, lambda second: 0.9 ** (second / 20)) == pytest.approx(0.1, abs=0.001)
    assert cpu_fall(faster, lambda _: 0.9) == pytest.approx(0.2, abs=0.001)


def test_cpu_per_request_in_an_open_model_goes_by_the_requests_that_started() -> None:
    slower = parts(lambda second: 100 + 100 * second)

    assert cpu_fall(slower, lambda _: 0.5, connections=None) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("seconds", "wave_s", "told"), [(8, 0.5, True), (7, 0.5, False), (40, 5.0, True), (39, 5.0, False)]
)
def test_a_window_of_four_parts_of_two_waves_is_the_shortest(seconds: int, wave_s: float, told: bool) -> None:
    assert (parts(lambda _: 900, seconds, wave_s).latency_fall() is not None) is told


def test_nothing_is_told_of_a_whole_run_without_cpu_or_of_a_part_without_a_request() -> None:
    log = log_of([BEGIN + second for second in range(30)], [900.0] * 30)
    window = Interior(start=BEGIN, seconds=40, requests=1, whole_run=False)

    assert parts(lambda _: 900, whole_run=True).latency_fall() is None
    assert parts(lambda _: 900).cpu_fall(CONNECTIONS, lambda *_: None) is None
    assert Parts(log, window, 1).latency_fall() is None
