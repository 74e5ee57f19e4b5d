"""How much of the time CPUs and threads were at their limit."""

import pytest

from loomlab.judge.cpu_time import busiest_thread_full_share, cpus_full_share, full_share
from loomlab.records.models import HostSample


def sample(second: float, *busy_jiffies: int, thread_s: float = 0) -> HostSample:
    """CPUs that were busy so long of 100 jiffies a second, and one thread of the tool."""
    return HostSample(
        time=second,
        cpus={str(cpu): [busy, 0, 0, int(second * 100) - busy, 0, 0, 0, 0] for cpu, busy in enumerate(busy_jiffies)},
        tool_threads={"7": thread_s},
    )


def test_a_set_is_full_only_when_all_its_cpus_are() -> None:
    samples = [sample(0, 0, 0), sample(1, 100, 100), sample(2, 200, 150), sample(3, 300, 151)]

    assert cpus_full_share(samples, None) == pytest.approx(1 / 3)
    assert cpus_full_share(samples, {"0"}) == 1
    assert cpus_full_share(samples, {"1"}) == pytest.approx(1 / 3)
    assert cpus_full_share(samples, {"9"}) is None
    assert cpus_full_share(samples[:1], None) is None


def test_the_busiest_thread_is_weighed_by_time() -> None:
    samples = [sample(0, 0, thread_s=0), sample(1, 0, thread_s=0.96), sample(3, 0, thread_s=1.96)]

    assert busiest_thread_full_share(samples) == pytest.approx(1 / 3)


def test_a_cpu_that_waits_for_a_disk_is_not_busy() -> None:
    samples = [
        HostSample(time=second, cpus={"0": [0, 0, 0, 0, 100 * second, 0, 0, 0]}, tool_threads={}) for second in (0, 1)
    ]

    assert cpus_full_share(samples, None) == 0


def test_one_full_thread_of_several_is_enough() -> None:
    samples = [HostSample(time=second, cpus={}, tool_threads={"7": second, "8": 0.1 * second}) for second in (0, 1, 2)]

    assert busiest_thread_full_share(samples) == 1


@pytest.mark.parametrize(
    ("hole", "share"),
    [
        ((25, 0.7), None),  # 18 s of it may have been full
        ((25, 0.1), 0),  # 2.6 s of 40 cannot matter
        ((3, 0.9), 0),
        ((25, 0.95), 25 / 40),
    ],
)
def test_what_a_hole_between_samples_may_hide_is_not_passed(hole: tuple[float, float], share: float | None) -> None:
    assert full_share([*[(1.0, 0.2)] * (40 - int(hole[0])), hole]) == share


def test_a_hole_changes_nothing_where_the_limit_is_exceeded_without_it() -> None:
    assert full_share([*[(1.0, 1.0)] * 5, *[(1.0, 0.2)] * 10, (25, 0.7)]) == 5 / 40
