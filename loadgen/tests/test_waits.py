"""How long threads wait for a CPU, on recorded schedstat counters."""

import pytest

from loomlab.judge.waits import waits_ms
from loomlab.records.models import HostSample

BEGIN = 1_000.0


def recorded(waited_s: list[float], slices: int) -> list[HostSample]:
    """A sample a second: in each, one thread waited so long, in so many slices."""
    samples, total = [], 0.0
    for second, more in enumerate([0.0, *waited_s]):
        total += more
        samples.append(
            HostSample(
                time=BEGIN + second,
                cpus={},
                tool_threads={},
                tool_waits={"7": (total, slices * second)},
                tool_read_bytes=None,
            )
        )
    return samples


def test_the_mean_is_by_timeslice_and_p99_is_that_of_the_worst_seconds() -> None:
    samples = recorded([0.1] * 98 + [5.0, 5.0], slices=100)

    mean_ms, p99_ms = waits_ms(samples, BEGIN, BEGIN + 100)

    assert mean_ms == pytest.approx((98 * 0.1 + 10) / 100 / 100 * 1000)
    assert p99_ms == pytest.approx(50)
    assert waits_ms(samples, BEGIN, BEGIN + 90)[1] == pytest.approx(1)


def test_what_was_waited_before_and_after_the_span_does_not_count() -> None:
    samples = recorded([9.0] * 3 + [0.1] * 5 + [9.0] * 3, slices=100)

    assert waits_ms(samples, BEGIN + 3, BEGIN + 8) == (pytest.approx(1), pytest.approx(1))


def test_threads_that_come_and_go_count_while_they_are_there() -> None:
    first, second = recorded([0.2], slices=10)
    second.tool_waits = {"7": (0.2, 10), "8": (99.0, 1)}

    assert waits_ms([first, second], BEGIN, BEGIN + 1)[0] == pytest.approx(20)


def test_nothing_is_told_where_the_kernel_tells_nothing() -> None:
    silent = [one.model_copy(update={"tool_waits": None}) for one in recorded([0.1] * 5, slices=10)]

    assert waits_ms(silent, BEGIN, BEGIN + 5) == (None, None)
    assert waits_ms([], BEGIN, BEGIN + 5) == (None, None)
    assert waits_ms(recorded([0.0] * 5, slices=0), BEGIN, BEGIN + 5) == (None, None)
