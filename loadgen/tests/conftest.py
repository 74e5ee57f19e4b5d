"""What several suites start from."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from loomlab.judge import facts
from loomlab.records.models import Run
from loomlab.records.requestlog import RequestLog
from loomlab.report.experiment import Experiment, read_experiment
from loomlab.tools.ab import Ab
from loomlab.tools.tool import ToolReport
from rawrun import (
    APPROACH_CPU,
    SECONDS,
    Judge,
    RawRun,
    StandIn,
    container,
    cpu,
    host_samples,
    level,
    load,
    matrix,
    ramp,
)
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


@pytest.fixture
def judge(tmp_path: Path, stand_in: StandIn) -> Judge:
    """Of a run of a tool that waits for its last answers and tells of each request, in a load of that shape which calls
    no backend; `cpus` is what each uses of its CPU, `changes` are of the load."""

    def judged(
        log: RequestLog,
        shape: dict[str, Any],
        dropped: int = 0,
        quota_cpus: float = 0,
        hangs: Any = (),
        cpus: dict[str, float] | None = None,
        **changes: Any,
    ) -> Run:
        failed = len(log.failed_start_s) + log.untimed
        report = ToolReport(
            completed=len(log), attempted=len(log) + failed, failed=failed, dropped=dropped, duration_s=SECONDS
        )
        output = {"name": "vegeta", "requests": lambda *_: log, "report": lambda *_: report}
        stand_in(discards=False, **output)
        asked = load("/epoch-millis?delayInMillis=900", shape=shape, **changes)
        run = RawRun(samples=host_samples(**cpus or {}))
        run.put("containers", cpu("app", ramp((cpus or {}).get("approach", APPROACH_CPU))))
        run.request |= {"tool": "vegeta", "load": asked, "hangs": list(hangs), "scenario": "slow", "cell": 2}
        run.put("backend", matrix("backend_requests_total", ramp(0)))
        if quota_cpus:
            quota = container("spec_cpu_quota", level(100_000 * quota_cpus))
            run.put("containers", quota, container("spec_cpu_period", level(100_000)))
        return run.judged(tmp_path)

    return judged
