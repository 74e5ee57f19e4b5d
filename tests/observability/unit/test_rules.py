"""The table of rules can be made, and is of this lab."""

import pytest

from fake import LOAD
from watching.load import MIB
from watching.rules import expectations


def test_figures_that_follow_from_the_load() -> None:
    assert LOAD.answer_seconds == pytest.approx(0.9)
    assert LOAD.in_flight == pytest.approx(90)
    assert LOAD.failing_share == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("service:lab_requests:rate10s", 100, 6000),
        ("service:lab_requests_seconds:p50_rate10s", 0.92, 920),
        ("service:lab_request_errors:ratio_rate10s", 0.03, 3),
        ("service:container_cpu_ms_per_request:rate10s", 0.4, 0.0004),
        ("run:container_cpu_ms_per_request:ratio", 0.4, 0.0004),
        ("service:container_memory_rss_bytes:sum", 300 * MIB, 300),
        ("service:backend_lateness_seconds:p99_rate10s", 0.004, 4),
        ("service:backend_lateness_mean:ratio_rate10s", 0.013, 1.3),
        ("service:lab_inflight_requests:sum", 90, 0.225),
        ("run:lab_request_seconds:p99_rate10s", 0.95, 950),
    ],
)
def test_a_range_admits_a_figure_in_its_own_unit_only(name: str, right: float, wrong: float) -> None:
    for expected in expectations(LOAD)[name]:
        assert expected.plausible.admits(right)
        assert not expected.plausible.admits(wrong)
