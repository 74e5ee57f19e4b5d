"""Real runs in which something was provoked, judged again from the raw files that they left: tests/provocations/ makes
them, freeze.py there keeps them, `pytest --snapshot-update` writes what is approved of them; and experiments that
earlier versions of the lab have left."""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from loomlab.answer.loads import spoilt
from loomlab.answer.summary import summarise
from loomlab.judge.judge import judge_run
from loomlab.records.measured import Measured
from loomlab.report.page import write_report

GOLDEN = Path(__file__).parent / "golden"
ARCHIVES = sorted((GOLDEN / "replay").glob("*.tar.xz"))
LARGEST_BYTES = 60 * 1024


def rounded(figure: Any) -> Any:
    """The figure, and those in it, with four digits that count."""
    match figure:
        case float():
            return float(f"{figure:.4g}")
        case dict():
            return {name: rounded(value) for name, value in figure.items() if value is not None}
        case list() | tuple():
            return [rounded(value) for value in figure]
    return figure


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.name.partition(".")[0])
def test_a_frozen_run_is_judged_as_it_was(archive: Path, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    assert archive.stat().st_size <= LARGEST_BYTES
    run_dir = tmp_path / "1-app"
    with tarfile.open(archive) as raw:
        raw.extractall(run_dir, filter="data")

    run = judge_run(run_dir)

    assert {
        "verdict": run.verdict, "made_again": spoilt(run),
        "failed": {rule.rule for rule in run.rules if rule.outcome == "failed"},
        "unknown": {rule.rule for rule in run.rules if rule.outcome == "could not be checked"},
        "p50_ms": run.latency_ms.p50, "cpu_seconds": rounded(run.cpu_seconds),
        "measured": rounded(run.model_dump(include={*Measured.model_fields}, exclude_defaults=True)),
    } == snapshot  # fmt: skip


SAID = {"reason", "reasons", "notes"}  # members that later versions may put in other words
COUNTED = {
    "throughput_rps", "little_ratio", "cpu_ms_per_request", "backend_cpu_ms_per_request",
    "generator_cpu_ms_per_request", "backend_requests_per_request",
}  # fmt: skip
"""Figures of runs of a few waves, which later versions take of all waves alike."""
STORED = sorted((GOLDEN / "experiments").glob("*.tar.gz"))


@pytest.fixture(params=STORED, ids=lambda path: path.name)
def experiment(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of the one experiment of an archive."""
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    return next(tmp_path.iterdir())


def read(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value


def alike(after: Any, before: Any) -> bool:
    """Whatever there was before is as it was; later versions may have added something. Sums that are made in another
    order differ in their last digits."""
    if isinstance(before, dict):
        return all(alike(after.get(name), old) for name, old in before.items() if name not in SAID)
    if isinstance(before, list):
        return len(after) == len(before) and all(map(alike, after, before))
    return bool(after == (pytest.approx(before, rel=1e-11) if isinstance(before, float) else before))


def test_runs_are_judged_again_with_the_same_figures(experiment: Path) -> None:
    for run_dir in sorted((experiment / "runs").iterdir()):
        before = read(run_dir / "run.json")

        judge_run(run_dir)

        after = read(run_dir / "run.json")
        for name in after["latency_ms"]["withheld"]:
            before["latency_ms"].pop(name, None)
        assert alike(after, {name: value for name, value in before.items() if name not in COUNTED})


def test_they_are_summed_up_again_with_the_same_figures(experiment: Path) -> None:
    before = read(experiment / "summary.json")

    summarise(experiment, interrupted=before["finished"] is None)

    after = read(experiment / "summary.json")
    assert all(alike(run, old) for run, old in zip(after["runs"], before["runs"], strict=True))
    assert alike(after | {"runs": []}, before | {"runs": []})


def test_they_are_reported(experiment: Path) -> None:
    runs = read(experiment / "summary.json")["runs"]

    page = write_report(experiment).read_text(encoding="utf-8")

    assert [run["run"] for run in runs if f'href="runs/{run["run"]}/raw/"' not in page] == []
    assert "has changed since" not in page
    assert "CPU, second by second" in page
