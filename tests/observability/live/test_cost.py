"""What Prometheus and cAdvisor took while the experiment ran."""

from watching.bench import LIMIT_CORES, OBSERVERS
from watching.experiment import Experiment
from watching.own import CONTAINER_ID
from watching.prometheus import Prometheus
from watching.record import Record

SLOW_HOST = 3
"""Every CPU second is dearer on a host that is busy or slow. The limit itself is held by `make bench-observer`."""


def test_watching_stays_below_three_times_its_limit(
    prometheus: Prometheus, experiment: Experiment, record: Record
) -> None:
    start, end = experiment.started, experiment.ended
    cores = {}
    for service in OBSERVERS:
        [series] = prometheus.instant(f'container_threads{{service="{service}"}}', end)
        [container] = CONTAINER_ID.findall(series.labels["id"])
        cores[service] = record.of(container, "cpu_seconds").growth(start, end) / (end - start)
    shown = ", ".join(f"{service} {100 * used:.2f} %" for service, used in cores.items())
    print(f"CPU of the watchers over {end - start:.0f} s, of one CPU: {shown}")  # noqa: T201
    assert sum(cores.values()) < SLOW_HOST * LIMIT_CORES
