"""Every query of every panel answers with what the experiment makes plausible."""

from itertools import pairwise

import pytest

from watching.check import problems
from watching.experiment import Experiment, Run
from watching.load import Load
from watching.panels import JUDGED_TABLES, QUOTA_PANELS, PanelQuery, plausible, queries_of
from watching.prometheus import Prometheus
from watching.series import Series

STEP_SECONDS = 2
WIDEST_GAP_SECONDS = 5
"""Rules and scrapes each come once a second, not in step: a second may be told twice and the next one not at all. On a
busy host a scrape may fail."""


@pytest.fixture(scope="module")
def queries(pytestconfig: pytest.Config) -> list[PanelQuery]:
    """Of what can be seen while the runs go on."""
    return [query for query in queries_of(pytestconfig.getoption("--queries")) if query.panel not in JUDGED_TABLES]


def answer_of(prometheus: Prometheus, query: PanelQuery, experiment: Experiment, run: Run) -> list[Series]:
    """What the panel shows of the run; of a table by seconds, the last ones."""
    start, end = experiment.side_by_side if query.panel in QUOTA_PANELS else run.steady
    if query.kind == "range":
        return prometheus.range(query.expr, start, end, STEP_SECONDS)
    answer = prometheus.instant(query.expr, experiment.ended)
    return [series for series in answer if float(series.labels.get("seconds", "inf")) > start - run.started]


def test_all_three_dashboards_are_asked(queries: list[PanelQuery]) -> None:
    assert {query.dashboard for query in queries} == {"Compare", "One run", "Lab health"}


def test_every_panel_shows_something_plausible_of_every_run(
    prometheus: Prometheus, experiment: Experiment, load: Load, queries: list[PanelQuery]
) -> None:
    found = []
    for query in queries:
        for run in experiment.runs:
            answer = answer_of(prometheus, query, experiment, run)
            services = [run.approach] if query.compares else []
            wrong = problems(answer, plausible(query, load), query.labels, services)
            found += [f"{query.name}, {run.name}: {text}" for text in wrong]
    assert not found, "\n".join(found)


def widest_gap(seconds: set[float], run: Run) -> float:
    """Between two points of the run's steady part, its ends included."""
    start, end = (moment - run.started for moment in run.steady)
    points = sorted([start, *(point for point in seconds if start < point < end), end])
    return max(later - earlier for earlier, later in pairwise(points))


def test_runs_lie_over_each_other(prometheus: Prometheus, experiment: Experiment, queries: list[PanelQuery]) -> None:
    by_time = [query for query in queries if query.labels == ("run", "seconds")]
    assert by_time
    for query in by_time:
        seconds: dict[str, set[float]] = {}
        for series in prometheus.instant(query.expr, experiment.ended):
            seconds.setdefault(series.labels["run"].rpartition("/")[2], set()).add(float(series.labels["seconds"]))
        assert set(seconds) == {run.name for run in experiment.runs}, query.name
        for run in experiment.runs:
            assert widest_gap(seconds[run.name], run) <= WIDEST_GAP_SECONDS, f"{query.name}: {run.name}"
            assert max(seconds[run.name]) <= run.ended - run.started + 2, f"{query.name}: {run.name}"
