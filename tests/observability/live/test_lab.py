"""A lab that is up answers on every target, measures every container, and tells what its experiments found."""

import time
from collections.abc import Callable

import pytest

from watching.experiment import Experiment
from watching.prometheus import Prometheus
from watching.series import Series

HEADLINE = {"tomcat-platform", "tomcat-virtual", "virtual-netty", "webflux-netty"}
SETTLES_SECONDS = 60


def settles(prometheus: Prometheus, expression: str, holds: Callable[[list[Series]], bool]) -> None:
    """Services that were just started are seen by and by."""
    deadline = time.monotonic() + SETTLES_SECONDS
    while not holds(answer := prometheus.instant(expression, time.time())):
        assert time.monotonic() < deadline, f"{expression}: {[series.labels for series in answer]}"
        time.sleep(0.5)


def of(label: str, answer: list[Series]) -> set[str]:
    return {series.labels[label] for series in answer}


def test_every_target_is_up_but_those_of_a_run(prometheus: Prometheus) -> None:
    up = {"cadvisor", "java", "prometheus", "results"}
    settles(prometheus, "up == 1", lambda answer: of("service", answer) == up)
    java = HEADLINE | {"backend"}
    settles(prometheus, 'process_start_time_seconds{job="java"}', lambda answer: of("service", answer) == java)
    settles(prometheus, "up == 0", lambda answer: of("job", answer) <= {"loadgen", "vegeta"})


@pytest.mark.parametrize("metric", ["cpu_usage_seconds_total", "memory_rss", "threads"])
def test_every_container_is_measured(prometheus: Prometheus, metric: str) -> None:
    settles(prometheus, f"container_{metric} > 0", lambda answer: of("service", answer) >= HEADLINE | {"backend"})


def test_results_tell_where_they_are_and_what_the_experiment_found(
    prometheus: Prometheus, experiment: Experiment
) -> None:
    own = f'{{experiment="{experiment.name}"}}'
    approaches = {run.approach for run in experiment.runs}
    settles(prometheus, "lab_results_info", lambda answer: of("url", answer) == {"http://127.0.0.1:9080"})
    settles(prometheus, f"lab_result_throughput_rps{own} > 0", lambda answer: of("approach", answer) == approaches)
    settles(
        prometheus,
        f"lab_contrast_info{own}",
        lambda answer: (
            [(one.labels["a"], one.labels["b"], one.labels["kind"]) for one in answer]
            == [("webflux-netty", "tomcat-platform", "stack")]
        ),
    )
