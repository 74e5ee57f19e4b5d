"""When the load itself has settled: each limit from both sides."""

import math

import pytest

from good import BURST
from loomlab.records.warmup import REST_CORES, Burst
from loomlab.run.warmer import at_rest, describe_change, first_wait_ms, next_wait_ms
from saying import figures

FLAT = [1.0] * 8


def burst(
    latency: float = 1.0,
    cpu: float | None = 1.0,
    memory: float | None = 1.0,
    jit_s: float | None = 0.1,
    requests: int = 4000,
) -> Burst:
    """Of five seconds."""
    changes: dict[str, float | None] = {"requests": requests, "mean_latency_ms": 920 * latency, "jit_cpu_s": jit_s}
    changes |= {"cpu_s": None if cpu is None else cpu + (jit_s or 0), "rss_bytes": memory and 1e9 * memory}
    return BURST.model_copy(update=changes)


def falling(share: float, count: int = 8) -> list[float]:
    return [(1 - share) ** place for place in range(count)]


def noisy(most: float) -> list[float]:
    """Without a trend in the last six."""
    return [math.exp(most * sign) for sign in (0, 0, 1, -1, 0, 0, -1, 1)]


@pytest.mark.parametrize(
    ("latency", "cpu", "memory", "said"),
    [
        (FLAT, FLAT, FLAT, None),
        (falling(0.029), FLAT, FLAT, None),
        (falling(0.031), FLAT, FLAT, "latency 3.1 0.0"),
        (FLAT, falling(0.029), FLAT, None),
        (FLAT, falling(0.031), FLAT, "CPU 3.1"),
        (FLAT, FLAT, falling(-0.149), None),
        (FLAT, FLAT, falling(-0.151), "memory 15.1"),
        (falling(-0.2), falling(-0.2), falling(0.3), None),
        (noisy(0.135), noisy(0.135), FLAT, None),
        (noisy(0.136), FLAT, FLAT, "latency"),
        (FLAT, noisy(0.136), FLAT, "CPU"),
    ],
)
def test_a_fall_beyond_its_limit_or_that_noise_may_hide_is_told(
    latency: list[float], cpu: list[float], memory: list[float], said: str | None
) -> None:
    got = describe_change([burst(*values) for values in zip(latency, cpu, memory, strict=True)])

    assert (got is None) is (said is None)
    if said:
        what, *numbers = said.split()
        assert (got or "").startswith(what)
        assert set(numbers) <= figures(got)


def test_five_bursts_are_the_fewest_and_the_first_does_not_count() -> None:
    assert describe_change([burst()] * 4) is not None
    assert describe_change([burst()] * 5) is None
    assert describe_change([burst(latency=9, cpu=9, memory=0.1)] + [burst()] * 4) is None


def test_what_lies_six_bursts_back_no_longer_counts() -> None:
    cold = [burst(cpu=cpu) for cpu in (9, 5, 3)]

    assert describe_change(cold + [burst()] * 5) is not None
    assert describe_change(cold + [burst()] * 6) is None


def test_the_compilers_cpu_is_not_that_of_the_requests() -> None:
    assert describe_change([burst(jit_s=jit) for jit in (2, 1, 0.5, 0.2, 0.1, 0.1)]) is None


def test_without_figures_of_the_process_latency_alone_tells() -> None:
    assert describe_change([burst(cpu=None, memory=None, jit_s=None)] * 5) is None


@pytest.mark.parametrize("missing", [{"cpu": None}, {"memory": None}, {"cpu": -0.1}])
def test_a_figure_that_is_missing_from_some_bursts_does_not_make_the_others_steady(missing: dict[str, float]) -> None:
    bursts = [burst(cpu=cpu, memory=cpu) for cpu in falling(0.2, 7)]
    bursts[4] = burst(**missing)  # type: ignore[arg-type]  # None is what is tested

    assert describe_change(bursts) is not None


@pytest.mark.parametrize(
    ("bursts", "cpus", "rest"),
    [
        ([burst(requests=10_000, jit_s=4), burst(requests=10_000, jit_s=5 * REST_CORES)], 1, True),
        ([burst(requests=10_000, jit_s=4), burst(requests=10_000, jit_s=5.1 * REST_CORES)], 1, False),
        ([burst(requests=10_000, jit_s=4), burst(requests=9_999, jit_s=5 * REST_CORES)], 1, False),
        ([burst(requests=10_000, jit_s=0.1), burst(requests=10_000, jit_s=4)], 1, False),
        ([burst(requests=30_000, jit_s=None)], 1, False),
        ([burst(requests=30_000, cpu=None)], 1, False),
        ([burst(requests=30_000, cpu=4.0)], 1, True),
        ([burst(requests=30_000, cpu=4.01)], 1, False),
        ([burst(requests=30_000, cpu=4.01)], 2, True),
    ],
)
def test_compilers_rest_after_enough_requests_that_hardly_cost_them_cpu_and_left_them_some(
    bursts: list[Burst], cpus: float, rest: bool
) -> None:
    assert at_rest(bursts, cpus) is rest


@pytest.mark.parametrize(
    ("cpu_s", "latency", "wait_ms", "cpus", "following_ms"),
    [
        (2.5, 920, 900, 1, 900),
        (1.25, 920, 900, 1, 440),
        (2.5, 920, 900, 2, 440),
        (5.0, 920, 900, 1, 1820),
        (0.1, 920, 900, 1, 287),
        (4.5, 5000, 900, 1, 4900),
        (1.0, 920, 100, 1, 1),
        (50, 9000, 5900, 1, 6000),
        (None, 920, 700, 1, 700),
    ],
)
def test_the_next_burst_waits_so_long_that_its_requests_take_half_of_the_cpu(
    cpu_s: float | None, latency: float, wait_ms: int, cpus: float, following_ms: int
) -> None:
    assert next_wait_ms(burst(latency=latency / 920, cpu=cpu_s), wait_ms, cpus) == following_ms


def test_the_first_burst_waits_by_what_cold_requests_cost() -> None:
    assert first_wait_ms(500, 2, 2.0) == first_wait_ms(250, 1, 2.0) == first_wait_ms(500, 1, 1.0) == 1000
    assert first_wait_ms(10_000, 1, 2.0) == 6000
