"""What the runs of an experiment recorded of their approaches."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loomlab.answer.contrasts import contrasts_of
from loomlab.answer.loads import telling
from loomlab.answer.parity import Audit, Subject, audit
from loomlab.records.contrasts import Contrast
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import endpoint_of
from loomlab.records.files import RunFiles, read_json, read_record
from loomlab.records.models import Probe, Run

LEAN = {"style": "lean"}
"""What /about did not tell when there was no other style."""


def compared_by_raw(experiment_dir: Path, runs: Sequence[Run]) -> tuple[list[Contrast], dict[int, Audit]]:
    """What every two approaches differ in, and the audit of each load (`cell`), whose runs alone have pools of one
    size. A run that does not count costs its block and says nothing here, unless its approach has no other, or no
    other at a load of the approach it is held against."""
    heard = {run.run for run in telling(runs)}
    subjects = [_subject(experiment_dir, run, tells=run.run in heard) for run in runs]
    cells = sorted({run.cell for run in runs})
    return contrasts_of(subjects), {
        cell: audit(one for one in subjects if one.tells and one.cell == cell) for cell in cells
    }


def _subject(experiment_dir: Path, run: Run, *, tells: bool) -> Subject:
    files = RunFiles(experiment_dir / "runs" / run.run)
    return Subject(
        approach=run.approach,
        twin_of=run.twin_of,
        about=_about(files),
        probe=read_record(files.probe, Probe),
        constant_body=endpoint_of(run.endpoint, delay_of(run.delay)).constant_body and len(run.load.targets) == 1,
        response_bytes_per_request=run.response_bytes_per_request,
        cell=run.cell,
        tells=tells,
    )


def _about(files: RunFiles) -> dict[str, Any] | None:
    about = read_json(files.about)
    return LEAN | about if isinstance(about, dict) and "error" not in about else None
