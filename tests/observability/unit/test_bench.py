"""The benchmark's table and its limit."""

from dataclasses import replace
from pathlib import Path

import pytest

from watching import bench
from watching.bench import Sample

IDLE = Sample(
    case="idle",
    observers="with",
    seconds=60,
    cores={"prometheus": 0.03, "cadvisor": 0.015, "tomcat-virtual": 0.01},
    engine_cores=0.004,
    threads={"tomcat-virtual": 29},
    requests_rps={},
)
SIDE_BY_SIDE = replace(IDLE, case="side-by-side", requests_rps={"tomcat-virtual": 50})
BUSY = replace(IDLE, case="2,000", cores=IDLE.cores | {"tomcat-virtual": 0.8}, requests_rps={"tomcat-virtual": 1600})


def test_samples_are_read_in_the_order_they_were_taken(tmp_path: Path) -> None:
    for sample in (IDLE, SIDE_BY_SIDE, BUSY):
        bench.write(sample, tmp_path)
    assert bench.read(tmp_path) == [IDLE, SIDE_BY_SIDE, BUSY]


def test_cost_is_that_of_both_observers() -> None:
    assert bench.over_limit([IDLE, SIDE_BY_SIDE]) == []
    dear = replace(SIDE_BY_SIDE, cores={"prometheus": 0.04, "cadvisor": 0.0125})
    [sentence] = bench.over_limit([IDLE, dear])
    assert "side-by-side" in sentence
    assert "5.25 %" in sentence


def test_a_case_that_was_not_measured_is_over_the_limit() -> None:
    assert bench.over_limit([IDLE]) == ["side-by-side was not measured: run the benchmark to its end."]


def test_a_busy_case_has_no_limit() -> None:
    assert bench.over_limit([IDLE, SIDE_BY_SIDE, replace(BUSY, cores={"prometheus": 1, "cadvisor": 1})]) == []


def test_the_table_has_percentages_and_the_difference_in_throughput() -> None:
    warm_up = replace(BUSY, observers="warm-up", requests_rps={"tomcat-virtual": 9})
    without = replace(BUSY, observers="without", requests_rps={"tomcat-virtual": 2000})
    shown = bench.table([IDLE, warm_up, BUSY, without])
    idle = next(line for line in shown.splitlines() if line.split()[:1] == ["idle"])
    assert idle.split() == ["idle", "1", "60", "3.00", "1.50", "4.50", "0.40", "29"]
    assert "requests/s with 1,600 (1,600 to 1,600), without 2,000 (2,000 to 2,000): -20.0 %" in shown
    assert "CPU ms a request with 0.500 (0.500 to 0.500), without 0.400" in shown


def test_cpu_a_request() -> None:
    assert BUSY.cpu_ms_per_request == pytest.approx(0.5)
