"""What a request asks of the approach and the backend, and how long that takes."""

import pytest

from loomlab.basics.errors import UsageError
from loomlab.records.endpoints import Delay, answer_ms, delay_of, endpoint_of, with_wait, with_work
from loomlab.records.load import Target

MS_300 = delay_of("300")


@pytest.mark.parametrize(
    ("target", "label", "calls", "backend_delay_ms", "floor_ms"),
    [
        ("/capabilities", "/capabilities", 3, 300, 900),
        ("/meetings?x=1", "/meetings", 3, 300, 900),
        ("/capabilities?calls=5", "/capabilities", 7, 300, 2100),
        ("/capabilities?calls=5&parallel=true", "/capabilities", 7, 300, 900),
        ("/capabilities?parallel=true", "/capabilities", 3, 300, 900),
        ("/capabilities?calls=2&parallel=false", "/capabilities", 4, 300, 1200),
        ("/meetings?calls=5", "/meetings", 3, 300, 900),
        ("/httpbin/block/0.25", "/httpbin/block/{seconds}", 1, 250, 250),
        ("/epoch-millis?delayInMillis=70", "/epoch-millis", 0, 0, 70),
        ("/movies?directorLastName=Allen&delayInMillis=0", "/movies", 0, 0, 0),
        ("/pinned?delayInMillis=nonsense", "/pinned", 0, 0, 0),
        ("/pinned", "/pinned", 0, 0, 0),
        ("/httpbin/block/x", "/httpbin/block/{seconds}", 1, 0, 0),
        ("/", "/", 1, 300, 300),
    ],
)
def test_calls_and_delays(target: str, label: str, calls: int, backend_delay_ms: int, floor_ms: int) -> None:
    got = endpoint_of(target, MS_300)

    assert (got.label, got.backend_calls) == (label, calls)
    assert (got.backend_delay_ms, got.floor_ms) == (backend_delay_ms, floor_ms)
    assert got.mean_ms == answer_ms(got, MS_300) == floor_ms
    assert got.headers == (("Authorization: Bearer loom-lab",) if label == "/meetings" else ())
    assert got.constant_body is (label in {"/meetings", "/movies", "/httpbin/block/{seconds}"})
    assert got.waits_as_configured is (label in {"/capabilities", "/meetings", "/"})


def test_a_delay_that_varies_has_a_floor_a_mean_and_a_middle() -> None:
    delay = delay_of("lognormal:200:1000")
    got = endpoint_of("/capabilities", delay)

    assert (got.floor_ms, answer_ms(got, delay)) == (0, 600)
    assert got.mean_ms == pytest.approx(3 * delay.mean_ms)
    assert endpoint_of("/capabilities", delay_of("uniform:200:400")).floor_ms == 600


@pytest.mark.parametrize(
    ("target", "at_once", "held", "rounds"),
    [
        ("/capabilities?calls=5&parallel=true", 5, 5, 3),
        ("/capabilities?calls=5", 1, 1, 7),
        ("/epoch-millis?delayInMillis=70", 1, 0, 0),
    ],
)
def test_calls_at_once_are_one_wait(target: str, at_once: int, held: int, rounds: int) -> None:
    got = endpoint_of(target, MS_300)

    assert (got.at_once, got.connections_held, got.rounds) == (at_once, held, rounds)


@pytest.mark.parametrize(
    ("target", "work_ms", "other"),
    [
        ("/capabilities?cpuMicros=2500", 2.5, "/capabilities?cpuMicros=7"),
        ("/epoch-millis?delayInMillis=70&cpuMicros=100", 0.1, "/epoch-millis?delayInMillis=70&cpuMicros=7"),
        ("/capabilities", 0, "/capabilities"),
        ("/movies?cpuMicros=2500", 0, "/movies?cpuMicros=7"),
    ],
)
def test_a_request_may_ask_for_cpu(target: str, work_ms: float, other: str) -> None:
    assert endpoint_of(target, MS_300).work_ms == work_ms
    assert with_work(Target(target), 7) == Target(other)


@pytest.mark.parametrize(
    ("target", "waiting"),
    [
        ("/epoch-millis?delayInMillis=900", "/epoch-millis?delayInMillis=40"),
        ("/movies?directorLastName=Allen&delayInMillis=0&x=1", "/movies?directorLastName=Allen&delayInMillis=40&x=1"),
        ("/pinned?notdelayInMillis=3&delayInMillis=300", "/pinned?notdelayInMillis=3&delayInMillis=40"),
        ("/httpbin/block/0.3", "/httpbin/block/0.040"),
        ("/capabilities", "/capabilities"),
        ("/meetings?delayInMillis=9", "/meetings?delayInMillis=9"),
    ],
)
def test_a_request_that_carries_its_wait_can_carry_another(target: str, waiting: str) -> None:
    assert with_wait(Target(target, "POST", ("A: b",)), 40) == Target(waiting, "POST", ("A: b",))


@pytest.mark.parametrize(
    ("text", "told", "floor_ms", "mean_ms"),
    [
        ("0", "0", 0, 0),
        ("0300", "300", 300, 300),
        ("60000", "60000", 60_000, 60_000),
        ("uniform:200:400", "uniform:200:400", 200, 300),
        ("uniform:050:100", "uniform:50:100", 50, 75),
        ("uniform:300:300", "uniform:300:300", 300, 300),
    ],
)
def test_a_delay_is_told_as_the_backend_tells_it(text: str, told: str, floor_ms: int, mean_ms: float) -> None:
    assert delay_of(text) == Delay(told, floor_ms, mean_ms, mean_ms)


def test_a_log_normal_delay_has_no_floor_and_the_mean_of_its_distribution() -> None:
    """Of a normal one with a mean of log 300, of which 1 % lies above log 900: exp(mean + deviation² / 2)."""
    got = delay_of("lognormal:300:900")

    assert (got.text, got.floor_ms, got.middle_ms) == ("lognormal:300:900", 0, 300)
    assert got.mean_ms == pytest.approx(335.39, abs=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "", "-1", "300ms", "0.3", "60001", "300\n", "\uff13\uff10\uff10", "uniform", "uniform:200", "uniform:400:200",
        "uniform:0:60001", "uniform:-1:5", "lognormal:0:900", "lognormal:900:900", "lognormal:900:300",
        "lognormal:300:60001", "normal:300:900", "uniform:1:2:3",
    ],
)  # fmt: skip
def test_what_is_no_delay_is_refused_with_its_value_and_examples(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        delay_of(text)

    said = str(refused.value)
    assert repr(text) in said
    assert "such as 300, uniform:200:400" in said
