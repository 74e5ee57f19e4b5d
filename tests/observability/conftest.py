"""Where the live tests find the lab and what it left; the unit tests need none of it."""

from pathlib import Path

import pytest

from watching.experiment import Experiment
from watching.load import Load
from watching.prometheus import Prometheus
from watching.record import Record


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--prometheus", default="http://prometheus:9090", help="the lab's Prometheus")
    parser.addoption("--grafana", default="http://grafana:3000", help="the lab's Grafana")
    parser.addoption("--experiment", type=Path, help="the experiment's folder below results/")
    parser.addoption("--record", type=Path, help="what `python -m watching record` wrote during it")
    parser.addoption("--queries", type=Path, help="every panel's queries, lines of JSON")


@pytest.fixture(scope="session")
def experiment(pytestconfig: pytest.Config) -> Experiment:
    return Experiment(pytestconfig.getoption("--experiment"))


@pytest.fixture(scope="session")
def load(experiment: Experiment) -> Load:
    return Load.of(experiment)


@pytest.fixture(scope="session")
def prometheus(pytestconfig: pytest.Config) -> Prometheus:
    return Prometheus(pytestconfig.getoption("--prometheus"))


@pytest.fixture(scope="session")
def record(pytestconfig: pytest.Config) -> Record:
    return Record(pytestconfig.getoption("--record"))
