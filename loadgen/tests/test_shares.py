"""Where the time of CPUs went, on recorded counters of /proc/stat."""

import pytest

from loomlab.judge.cpu_time import shares_of
from loomlab.records.models import HostSample

BEGIN = 1_000.0


def recorded(each_second: dict[str, list[int]], seconds: int = 20) -> list[HostSample]:
    """A sample a second; counters (user, nice, system, idle, iowait, irq, softirq, steal) grow by that each second."""
    return [
        HostSample(
            time=BEGIN + second,
            cpus={cpu: [second * grown for grown in grows] for cpu, grows in each_second.items()},
            tool_threads={},
        )
        for second in range(seconds + 1)
    ]


def test_stolen_time_is_that_of_the_set() -> None:
    samples = recorded({"0": [30, 10, 10, 20, 5, 1, 4, 20], "1": [0, 0, 0, 100, 0, 0, 0, 0]})

    approach = shares_of(samples, {"0"}, BEGIN + 2, BEGIN + 12)
    both = shares_of(samples, None, BEGIN + 2, BEGIN + 12)

    assert approach is not None and both is not None
    assert (approach.busy, approach.interrupts, approach.steal) == pytest.approx((0.5, 0.05, 0.2))
    assert approach.cpu_seconds == 10
    assert (both.busy, both.interrupts, both.steal, both.cpu_seconds) == pytest.approx((0.25, 0.025, 0.1, 20))


def test_a_span_between_samples_is_interpolated() -> None:
    quiet_then_busy = recorded({"0": [0, 0, 0, 100, 0, 0, 0, 0]}, 10)
    for sample in quiet_then_busy[5:]:
        extra = round(100 * (sample.time - BEGIN - 4))
        sample.cpus["0"][0] += extra
        sample.cpus["0"][3] -= extra

    got = shares_of(quiet_then_busy, {"0"}, BEGIN + 3.5, BEGIN + 4.5)

    assert got is not None
    assert got.busy == pytest.approx(0.5)


def test_what_was_stolen_is_held_against_what_was_needed() -> None:
    samples = recorded({"0": [8, 1, 5, 79, 0, 1, 1, 5]})

    got = shares_of(samples, {"0"}, BEGIN, BEGIN + 20)

    assert got is not None
    assert got.stolen_of_needed == pytest.approx(5 / 21)


def test_a_hole_matters_at_the_ends_of_the_span_only() -> None:
    samples = recorded({"0": [10, 0, 0, 90, 0, 0, 0, 0]})
    del samples[8:12]

    assert shares_of(samples, {"0"}, BEGIN + 2, BEGIN + 18) is not None
    assert shares_of(samples, {"0"}, BEGIN + 9, BEGIN + 18) is None
    assert shares_of(samples, {"0"}, BEGIN + 2, BEGIN + 10) is None


def test_counters_that_stand_still_at_the_end_of_the_span_are_a_hole() -> None:
    samples = recorded({"0": [10, 0, 0, 90, 0, 0, 0, 0], "1": [10, 0, 0, 90, 0, 0, 0, 0]})
    for sample in samples[9:13]:
        sample.cpus["0"] = samples[8].cpus["0"]

    assert shares_of(samples, {"0"}, BEGIN + 2, BEGIN + 11) is None
    assert shares_of(samples, {"1"}, BEGIN + 2, BEGIN + 11) is not None


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 25), (5, 5)])
def test_nothing_is_told_of_a_span_beyond_the_samples(start: float, end: float) -> None:
    samples = recorded({"0": [10, 0, 0, 90, 0, 0, 0, 0]})

    assert shares_of(samples, {"0"}, BEGIN + start, BEGIN + end) is None
    assert shares_of(samples, {"7"}, BEGIN, BEGIN + 5) is None
    assert shares_of([], None, BEGIN, BEGIN + 5) is None
