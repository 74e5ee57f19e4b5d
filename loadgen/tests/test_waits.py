"""How long threads wait for a CPU, on recorded schedstat counters."""

import pytest

from loomlab.judge.cpu_time import cpu_waits_ms
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
            )
        )
    return samples


def test_p99_is_the_mean_of_the_worst_hundredth_of_the_seconds() -> None:
    samples = recorded([0.1] * 198 + [5.0, 5.0], slices=100)

    mean_ms, p99_ms = cpu_waits_ms(samples, BEGIN, BEGIN + 200)

    assert mean_ms == pytest.approx((198 * 1 + 2 * 50) / 200)
    assert p99_ms == pytest.approx(50)
    assert cpu_waits_ms(samples, BEGIN, BEGIN + 190)[1] == pytest.approx(1)


def test_a_second_with_few_turns_counts_as_much_as_any() -> None:
    """A tool that starves for 4 s of 40 has 2 turns a second there, of 0.4 s each, and 500 elsewhere."""
    waited_s, turns, samples = 0.0, 0, []
    for second in range(41):
        samples.append(HostSample(time=BEGIN + second, cpus={}, tool_threads={}, tool_waits={"7": (waited_s, turns)}))
        starves = 20 <= second < 24
        waited_s, turns = waited_s + (0.8 if starves else 0.02), turns + (2 if starves else 500)

    mean_ms, p99_ms = cpu_waits_ms(samples, BEGIN, BEGIN + 40)

    assert mean_ms == pytest.approx((4 * 400 + 36 * 0.04) / 40)
    assert p99_ms == pytest.approx(400)


def test_a_stretch_without_a_turn_belongs_to_the_next_one() -> None:
    samples = recorded([0.0, 0.0, 3.0], slices=1)
    for sample in samples[:3]:
        sample.tool_waits = {"7": (0.0, 0)}

    assert cpu_waits_ms(samples, BEGIN, BEGIN + 3)[0] == pytest.approx(1000)


def test_of_a_span_that_was_hardly_sampled_nothing_is_told() -> None:
    samples = recorded([0.1] * 40, slices=100)

    assert cpu_waits_ms([*samples[:20], *samples[23:]], BEGIN, BEGIN + 40)[0] == pytest.approx(1)
    assert cpu_waits_ms([*samples[:20], *samples[25:]], BEGIN, BEGIN + 40)[0] is None
    assert cpu_waits_ms(samples[:30], BEGIN, BEGIN + 40)[0] is None


def test_what_was_waited_before_and_after_the_span_does_not_count() -> None:
    samples = recorded([9.0] * 3 + [0.1] * 5 + [9.0] * 3, slices=100)

    mean_ms, p99_ms = cpu_waits_ms(samples, BEGIN + 3, BEGIN + 8)

    assert mean_ms == pytest.approx(1)
    assert p99_ms == pytest.approx(1)


def test_threads_that_come_and_go_count_while_they_are_there() -> None:
    first, second = recorded([0.2], slices=10)
    second.tool_waits = {"7": (0.2, 10), "8": (99.0, 1)}

    assert cpu_waits_ms([first, second], BEGIN, BEGIN + 1)[0] == pytest.approx(20)


def test_nothing_is_told_where_the_kernel_tells_nothing() -> None:
    silent = [one.model_copy(update={"tool_waits": None}) for one in recorded([0.1] * 5, slices=10)]

    assert cpu_waits_ms(silent, BEGIN, BEGIN + 5) == (None, None)
    assert cpu_waits_ms([], BEGIN, BEGIN + 5) == (None, None)
    assert cpu_waits_ms(recorded([0.0] * 5, slices=0), BEGIN, BEGIN + 5) == (None, None)
