"""Grafana has taken the data source and the dashboards, and every panel's query runs through it."""

import pytest

from watching.experiment import Experiment
from watching.grafana import Grafana
from watching.panels import queries_of

DASHBOARDS = {"loomlab-compare", "loomlab-one-run", "loomlab-lab-health"}


@pytest.fixture(scope="module")
def grafana(pytestconfig: pytest.Config) -> Grafana:
    grafana = Grafana(pytestconfig.getoption("--grafana"))
    grafana.wait()
    return grafana


def test_the_data_source_is_healthy(grafana: Grafana) -> None:
    assert grafana.data_source_status() == "OK"


def test_the_dashboards_are_provisioned(grafana: Grafana) -> None:
    assert grafana.dashboards() == DASHBOARDS
    assert all(grafana.is_provisioned(uid) for uid in DASHBOARDS)


def test_every_panels_query_runs(grafana: Grafana, experiment: Experiment, pytestconfig: pytest.Config) -> None:
    queries = queries_of(pytestconfig.getoption("--queries"))
    assert queries
    for query in queries:
        assert grafana.frames(query.expr, query.kind, experiment.started, experiment.ended), query.name
