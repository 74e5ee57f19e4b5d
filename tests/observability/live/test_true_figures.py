"""What Prometheus tells about each run is what the kernel and the load generator counted themselves."""

import pytest

from watching.agreement import counted, growth_ratio, level_ratio, rate_ratio, unlike_any_scrape
from watching.experiment import Experiment, Run
from watching.prometheus import Prometheus
from watching.record import Record
from watching.series import Series

CPU_TOLERANCE = 0.05
THREADS_TOLERANCE = 0.02
RSS_TOLERANCE = 0.03
"""The kernel counts a cgroup's pages in batches, a process's at once."""
REQUESTS_TOLERANCE = 0.005
UNSCRAPED_SHARE = 0.1
"""vegeta ends with its last answers, up to two seconds after its last scrape, of twenty; a process counts from 0."""
SHORTEST_SECONDS = 12
FEWEST_SAMPLES, FEWEST_OF_A_RULE = 8, 5
BEGINNING_SECONDS = 4
"""Of a load on a cold server: CPU use falls so fast that a quarter of a second more or less would count."""
OLDEST_SCRAPE_SECONDS = 5
"""A rule is evaluated on the last scrape that has arrived; `scraped` begins that long before the run."""
SETTLED_SECONDS = 4
"""After the end of the load: every answer has been counted, scraped, and the container is still there."""


def scraped(prometheus: Prometheus, selector: str, run: Run) -> list[Series]:
    """Stored samples from 5 s before the load to some seconds after it."""
    end = run.ended + SETTLED_SECONDS
    return prometheus.instant(f"{selector}[{end - run.started + OLDEST_SCRAPE_SECONDS:.0f}s]", end)


def recorded(prometheus: Prometheus, rule: str, run: Run) -> Series:
    [series] = prometheus.instant(f'{rule}{{service="{run.approach}"}}[{run.ended - run.started:.0f}s]', run.ended)
    return series


def container(metric: str, run: Run) -> str:
    return f'{metric}{{service="{run.approach}",id=~".*{run.container}.*"}}'


def test_cpu_is_the_cgroups_own(prometheus: Prometheus, experiment: Experiment, record: Record) -> None:
    for run in experiment.runs:
        own = record.of(run.container, "cpu_seconds")
        [told] = scraped(prometheus, container("container_cpu_usage_seconds_total", run), run)
        ratio = growth_ratio(told, own, run.started + BEGINNING_SECONDS, run.ended, SHORTEST_SECONDS)
        assert ratio == pytest.approx(1, abs=CPU_TOLERANCE), run.name


def test_the_rule_on_cpu_agrees_with_the_cgroup(prometheus: Prometheus, experiment: Experiment, record: Record) -> None:
    for run in experiment.runs:
        own = record.of(run.container, "cpu_seconds")
        cores = recorded(prometheus, "service:container_cpu_usage_seconds:rate10s", run)
        ratio = rate_ratio(cores, own, run.started + BEGINNING_SECONDS, run.ended, window_seconds=10)
        assert ratio == pytest.approx(1, abs=2 * CPU_TOLERANCE), run.name


@pytest.mark.parametrize(
    ("metric", "rule", "figure", "tolerance"),
    [
        ("container_threads", "service:container_threads:sum", "threads", THREADS_TOLERANCE),
        ("container_memory_rss", "service:container_memory_rss_bytes:sum", "rss_anon_bytes", RSS_TOLERANCE),
    ],
)
def test_threads_and_memory_are_the_processes_own(
    prometheus: Prometheus,
    experiment: Experiment,
    record: Record,
    metric: str,
    rule: str,
    figure: str,
    tolerance: float,
) -> None:
    for run in experiment.runs:
        own = record.of(run.container, figure)
        [told] = scraped(prometheus, container(metric, run), run)
        ratio = level_ratio(told, own, run.started, run.ended, fewest=FEWEST_SAMPLES)
        assert ratio == pytest.approx(1, abs=tolerance), run.name
        summed = recorded(prometheus, rule, run)
        assert len(summed.samples) >= FEWEST_OF_A_RULE, run.name
        assert unlike_any_scrape(summed, told, OLDEST_SCRAPE_SECONDS) == [], run.name


def test_requests_are_the_generators_own_count(prometheus: Prometheus, experiment: Experiment) -> None:
    for run in experiment.runs:
        answers = scraped(
            prometheus, f'lab_requests_seconds_count{{service="{run.approach}",endpoint="/capabilities"}}', run
        )
        served = counted(answers, run.started, run.ended + SETTLED_SECONDS)
        assert served == pytest.approx(run.requests, rel=REQUESTS_TOLERANCE), f"{run.name}, by the approach"
        counts = scraped(prometheus, 'request_seconds_count{job="vegeta"}', run)
        seen = sum(upto[-1] for one in counts if (upto := one.between(run.started, run.ended).values))
        assert 1 - UNSCRAPED_SHARE < seen / run.requests < 1 + REQUESTS_TOLERANCE, f"{run.name}, by vegeta"
