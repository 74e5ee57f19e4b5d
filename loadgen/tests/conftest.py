"""What several suites start from."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from loomlab.judge import facts
from loomlab.report.experiment import Experiment, read_experiment
from loomlab.tools.ab import Ab
from rawrun import RawRun, StandIn
from report_folder import folder_of

# A busy host is no failure: pytest-timeout ends a test that hangs.
settings.register_profile(
    "lab", deadline=None, derandomize=True, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", settings.get_profile("lab"), derandomize=False, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "lab"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without -m, leaves out what starts real tools; a deselection would hide snapshots that no test asks for."""
    if not config.getoption("markexpr"):
        items[:] = [one for one in items if not {"real_tool", "tools"} & {mark.name for mark in one.iter_markers()}]


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A good run's folder."""
    return RawRun().write(tmp_path / "1-app")


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the headline approaches at two loads in three blocks, summed up, which no test changes."""
    return folder_of(tmp_path_factory.mktemp("results"), loads=(500, 2000), repeats=3)


@pytest.fixture(scope="session")
def experiment(swept: Path) -> Experiment:
    return read_experiment(swept)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Makes every run's tool ab, but for these attributes."""
    return lambda **differs: monkeypatch.setattr(facts, "tool", lambda _: type("StandIn", (Ab,), differs)())
