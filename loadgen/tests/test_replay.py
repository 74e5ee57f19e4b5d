"""Real runs in which something was provoked, judged again from the raw files that they left: tests/provocations/ makes
them, freeze.py there keeps them, `pytest --snapshot-update` writes what is approved of them."""

import tarfile
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from loomlab.answer.loads import spoilt
from loomlab.judge.judge import judge_run
from loomlab.records.measured import Measured

ARCHIVES = sorted((Path(__file__).parent / "golden" / "replay").glob("*.tar.xz"))
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
