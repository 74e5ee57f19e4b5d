"""What Compare tells of a run is of its measured phase alone: its legends and its table say what the summary says."""

import statistics
import time
from collections.abc import Callable, Sequence

import pytest

from watching.experiment import Experiment, Run
from watching.panels import PanelQuery, queries_of
from watching.prometheus import Prometheus

THROUGHPUT_TOLERANCE, COST_TOLERANCE = 0.05, 0.02
"""A stall near an end of the load counts in the interior, and hardly in rates over 10 s."""
RUNNING_TOLERANCE = 0.1
"""The interior begins and ends at other requests than the rule's sums, and 35 s are few of them:
docs/reference/metrics.md."""
EDGE_SECONDS = 5
"""By which a panel's begin and end may differ from the load's: the phase is scraped every second, and rules are
evaluated every two. Threads that the warm-up left idle may end in between, and memory may grow."""
DENSER_SAMPLES = 0.05
"""The summary's samples are denser than the rule's: a thread more, some heap more."""
TABLE_TOLERANCE = 1e-9
STEP_SECONDS = 2


def last(line: Sequence[float]) -> float:
    return line[-1]


LEGENDS: list[tuple[str, Callable[[Sequence[float]], float], str, float]] = [
    ("Throughput", statistics.fmean, "throughput_rps", THROUGHPUT_TOLERANCE),
    ("CPU per request", last, "cpu_ms_per_request", COST_TOLERANCE),
]
MOST = [
    ("OS threads", "service:container_threads:sum", "threads_max"),
    ("RSS", "service:container_memory_rss_bytes:sum", "rss_max_bytes"),
]
COLUMNS = [
    ("req/s", "throughput_rps"),
    ("CPU per request", "cpu_ms_per_request"),
    ("RSS", "rss_max_bytes"),
    ("threads", "threads_max"),
]


@pytest.fixture(scope="module")
def queries(pytestconfig: pytest.Config) -> list[PanelQuery]:
    return queries_of(pytestconfig.getoption("--queries"))


def of_panel(queries: list[PanelQuery], panel: str, legend: str) -> PanelQuery:
    [found] = [query for query in queries if (query.panel, query.legend) == (panel, legend)]
    return found


def line(prometheus: Prometheus, query: PanelQuery, run: Run) -> list[float]:
    """What the panel draws of the approach from the warm-up to now."""
    answer = prometheus.range(query.expr, run.warm_up_started, time.time(), STEP_SECONDS)
    [values] = [series.values for series in answer if series.labels.get("service") == run.approach]
    return values


@pytest.mark.parametrize(("panel", "told", "figure", "tolerance"), LEGENDS, ids=[panel for panel, *_ in LEGENDS])
def test_a_legend_is_the_summarys_figure(
    prometheus: Prometheus,
    experiment: Experiment,
    queries: list[PanelQuery],
    panel: str,
    told: Callable[[Sequence[float]], float],
    figure: str,
    tolerance: float,
) -> None:
    query = of_panel(queries, panel, "{{service}}")
    for run in experiment.runs:
        legend = told(line(prometheus, query, run))
        summed_up = experiment.summed_up(run)[figure]
        assert legend == pytest.approx(summed_up, rel=tolerance), run.name


def highest(prometheus: Prometheus, rule: str, begins: float, ends: float) -> float:
    [series] = prometheus.range(rule, begins, ends, STEP_SECONDS)
    return max(series.values)


@pytest.mark.parametrize(("panel", "rule", "figure"), MOST, ids=[panel for panel, *_ in MOST])
def test_a_legend_is_the_most_of_the_measured_phase_as_the_summarys_figure(
    prometheus: Prometheus, experiment: Experiment, queries: list[PanelQuery], panel: str, rule: str, figure: str
) -> None:
    query = of_panel(queries, panel, "{{service}}")
    for run in experiment.runs:
        series = f'{rule}{{service="{run.approach}"}}'
        within = highest(prometheus, series, run.started + EDGE_SECONDS, run.ended - EDGE_SECONDS)
        around = highest(prometheus, series, run.started - EDGE_SECONDS, run.ended + EDGE_SECONDS)
        assert within <= max(line(prometheus, query, run)) <= around, run.name
        most = experiment.summed_up(run)[figure]
        assert within * (1 - DENSER_SAMPLES) <= most <= around * (1 + DENSER_SAMPLES), run.name


def test_the_line_while_a_run_goes_on_ends_near_the_summarys_figure(
    prometheus: Prometheus, experiment: Experiment
) -> None:
    for run in experiment.runs:
        rule = f'run:container_cpu_ms_per_request:ratio{{experiment="{experiment.name}", run="{run.name}"}}'
        [series] = prometheus.range(rule, run.warm_up_started, run.ended, STEP_SECONDS)
        assert series.values[-1] == pytest.approx(
            experiment.summed_up(run)["cpu_ms_per_request"], rel=RUNNING_TOLERANCE
        ), run.name


@pytest.mark.parametrize(("column", "figure"), COLUMNS, ids=[column for column, _ in COLUMNS])
def test_the_table_has_the_summarys_figure(
    prometheus: Prometheus, experiment: Experiment, queries: list[PanelQuery], column: str, figure: str
) -> None:
    query = of_panel(queries, "Runs", column)
    for run in experiment.runs:
        [value] = [
            value
            for series in prometheus.instant(query.expr, time.time())
            if (series.labels["experiment"], series.labels["run"]) == (experiment.name, run.name)
            for value in series.values
        ]
        assert value == pytest.approx(experiment.summed_up(run)[figure], rel=TABLE_TOLERANCE), run.name


def test_the_table_has_verdict_and_reasons(
    prometheus: Prometheus, experiment: Experiment, queries: list[PanelQuery]
) -> None:
    told = {
        series.labels["run"]: (series.labels["verdict"], series.labels.get("reasons", ""))
        for series in prometheus.instant(of_panel(queries, "Runs", "verdict").expr, time.time())
        if series.labels["experiment"] == experiment.name
    }
    summed_up = {run.name: experiment.summed_up(run) for run in experiment.runs}
    assert told == {name: (one["verdict"], " ".join(one["reasons"])) for name, one in summed_up.items()}
