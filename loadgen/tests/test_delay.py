"""The backend's delay, as a run's DELAY has it."""

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.basics.errors import UsageError
from loomlab.records.delay import LONGEST_MS, NORMAL_P99, Delay, delay_of


@pytest.mark.parametrize(
    ("text", "floor_ms", "mean_ms"),
    [
        ("0", 0, 0),
        ("300", 300, 300),
        ("60000", 60_000, 60_000),
        ("uniform:200:400", 200, 300),
        ("uniform:0:1", 0, 0.5),
        ("uniform:300:300", 300, 300),
    ],
)
def test_a_delay_has_a_floor_and_a_mean(text: str, floor_ms: int, mean_ms: float) -> None:
    assert delay_of(text) == Delay(text, floor_ms, mean_ms, mean_ms)


@given(median_ms=st.integers(1, LONGEST_MS - 1), times=st.floats(1.01, 20))
def test_a_log_normal_delay_has_no_floor_and_the_mean_of_its_distribution(median_ms: int, times: float) -> None:
    p99_ms = min(math.ceil(median_ms * times), LONGEST_MS)
    got = delay_of(f"lognormal:{median_ms}:{p99_ms}")

    mu = math.log(median_ms)
    sigma = (math.log(p99_ms) - mu) / NormalDist().inv_cdf(0.99)
    assert got.floor_ms == 0
    assert got.mean_ms == pytest.approx(math.exp(mu + sigma**2 / 2), rel=1e-3)
    assert got.middle_ms == median_ms < got.mean_ms


def test_the_quantile_is_the_normal_distributions() -> None:
    assert pytest.approx(NormalDist().inv_cdf(0.99), abs=5e-5) == NORMAL_P99


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-1",
        "300ms",
        "0.3",
        "60001",
        "300\n",
        "\uff13\uff10\uff10",
        "uniform",
        "uniform:200",
        "uniform:400:200",
        "uniform:0:60001",
        "uniform:-1:5",
        "lognormal:0:900",
        "lognormal:900:900",
        "lognormal:900:300",
        "lognormal:300:60001",
        "normal:300:900",
        "uniform:1:2:3",
    ],
)
def test_what_is_no_delay_is_refused_with_its_value_and_examples(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        delay_of(text)

    said = str(refused.value)
    assert repr(text) in said
    assert "such as 300, uniform:200:400" in said
    assert len(said.splitlines()) == 1


@given(st.text())
def test_any_text_is_a_delay_or_refused(text: str) -> None:
    try:
        got = delay_of(text)
    except UsageError:
        return
    assert 0 <= got.floor_ms <= got.mean_ms


@pytest.mark.parametrize(
    ("asked", "told"),
    [("0300", "300"), ("uniform:050:100", "uniform:50:100"), ("lognormal:010:0900", "lognormal:10:900")],
)
def test_its_text_is_the_one_the_backend_tells(asked: str, told: str) -> None:
    assert delay_of(asked).text == told
