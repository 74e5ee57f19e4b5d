"""What a process tells over its management port, and what it is asked to do there."""

import time
from pathlib import Path

import pytest

from loomlab.run.management import Management, Process, exposed_values
from loomlab.run.prometheus import UnreachableError
from served import serving

NOBODY = Management("127.0.0.1", 9)


def test_memory_is_kept_as_it_is_told_with_its_times() -> None:
    begun = time.time()
    with serving(lambda _: (200, b'{"heap_used_bytes": 5, "kernel_bytes": null, "new": "x"}')) as server:
        got = Management("127.0.0.1", server.port).memory()

    assert server.asked == ["POST /memory"]
    assert got.answer == {"heap_used_bytes": 5, "kernel_bytes": None, "new": "x"}
    assert got.error is None
    assert begun <= got.asked <= got.answered <= time.time()


def test_memory_that_is_not_told_says_why() -> None:
    with serving(lambda _: (404, b"{}")) as server:
        got = Management("127.0.0.1", server.port).memory()

    assert got.answer is None
    assert got.error == f"{server.origin}/memory answered 404"
    assert "did not answer" in (NOBODY.memory().error or "")


@pytest.mark.parametrize("status", [200, 204, 404, 500])
def test_high_water_marks_begin_anew_only_where_the_process_says_so(status: int) -> None:
    with serving(lambda asked: (status if asked == "PUT /peaks" else 418, b"")) as server:
        assert Management("127.0.0.1", server.port).reset_peaks() is (status < 300)

    assert not NOBODY.reset_peaks()


def test_the_backend_tells_how_many_connections_to_it_are_open() -> None:
    page = (Path(__file__).parent / "golden" / "backend-metrics.txt").read_bytes()
    with serving(lambda _: (200, page)) as server:
        got = Management("127.0.0.1", server.port).process()

    assert server.asked == ["GET /actuator/prometheus"]
    assert got == Process(
        cpu_s=pytest.approx(61.61), jit_cpu_s=8.076305839, rss_bytes=292_814_848, cpus=1, backend_connections=2001
    )
    assert NOBODY.process() == Process()


def test_a_metric_is_summed_over_its_labels_and_not_mixed_with_longer_names() -> None:
    page = (
        "# TYPE process_cpu_time_ns_total counter\n"
        'process_cpu_time_ns_total{approach="a"} 1.5E9\n'
        "process_cpu_time_ns_total 5\n"
        "process_cpu_time_ns_total_more 7\n"
    )

    assert exposed_values(page) == {"process_cpu_time_ns_total": 1.5e9 + 5, "process_cpu_time_ns_total_more": 7}
    with pytest.raises(UnreachableError, match="does not hold metrics"):
        exposed_values("<html>502</html>\n")
