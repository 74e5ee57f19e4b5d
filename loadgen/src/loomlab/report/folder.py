"""An experiment's folder as the page is made from it. What is missing or does not fit is told, each in a sentence."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loomlab.answer.loads import LoadGroup, loads_of, unmade_blocks
from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.files import RunFiles, checksum, read_json, read_record
from loomlab.records.models import SUMMARY_SCHEMA, Run, Summary
from loomlab.records.order import Order, order_file

PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
LONGEST_LOAD_S, LATEST_S = 6 * 3600, 1e11
"""Beyond them, raw/tool.json does not tell how long a run's load was, nor when."""


@dataclass(frozen=True)
class Experiment:
    """`doubts` are what is wrong with the folder; `raw` has the folders of the runs that are there; `command` makes the
    experiment again, None: it is not known."""

    name: str
    summary: Summary
    order: Order | None
    loads: list[LoadGroup]
    raw: dict[str, RunFiles] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    command: str | None = None

    @property
    def runs(self) -> list[Run]:
        return self.summary.runs

    @property
    def early(self) -> str | None:
        """Why no contrast is answered yet."""
        return unmade_blocks(self.order, self.runs) if self.order else None

    @property
    def approaches(self) -> list[str]:
        """In the order of their names, which does not depend on the order that was drawn."""
        return sorted({run.approach for run in self.runs})

    def raw_json(self, run: Run, name: str) -> Any:
        """A file of the run's raw/; None where it is missing, or damaged, which `doubts` has."""
        if run.run not in self.raw:
            return None
        try:
            return read_json(self.raw[run.run].raw / name)
        except ParseError:
            return None

    def loaded(self, run: Run) -> tuple[float, float] | None:
        """When the run's load began and ended, as far as raw/tool.json tells."""
        return _loaded(self.raw_json(run, "tool.json"))


def _loaded(tool: Any) -> tuple[float, float] | None:
    try:
        began, ended = float(tool["started"]), float(tool["ended"])
    except (TypeError, KeyError, ValueError):
        return None
    return (began, ended) if 0 <= began <= LATEST_S and 0 <= ended - began <= LONGEST_LOAD_S else None


def read_experiment(folder: Path) -> Experiment:
    """Raises UsageError for what is no experiment or has no summary yet, and ParseError for a summary that is damaged
    or of another version."""
    summary = _summary(folder)
    order, command, doubts = _order(folder)
    raw: dict[str, RunFiles] = {}
    for run in summary.runs:
        files = RunFiles(folder / "runs" / run.run)
        if not PLAIN_NAME.fullmatch(run.run) or not files.run_dir.is_dir():
            doubts.append(f"runs/{run.run} is missing: its figures are only in summary.json.")
            continue
        if files.raw.is_dir():
            raw[run.run] = files
        doubts += _doubts_of(run, files)
    return Experiment(folder.resolve().name, summary, order, loads_of(summary.runs, order), raw, doubts, command)


def _summary(folder: Path) -> Summary:
    if not (folder / "runs").is_dir():
        raise UsageError(f"{folder} is not an experiment: it has no runs/; name a folder below results/.")
    path = folder / "summary.json"
    try:
        told = read_json(path)
    except ParseError as error:
        raise ParseError(
            f"{path} is not JSON, so it was cut off or edited: delete it, and run make finish, "
            "which sums the runs up again."
        ) from error
    if told is None:
        raise UsageError(f"{folder} has no summary.json, so it is unfinished: run make finish, which sums it up.")
    schema = told.get("schema") if isinstance(told, dict) else None
    if schema != SUMMARY_SCHEMA:
        raise ParseError(
            f"{path} is of schema {json.dumps(schema)}, and this version reads {SUMMARY_SCHEMA}: "
            "use the version of the lab that wrote it."
        )
    summary = read_record(path, Summary)
    if summary is None or not summary.runs:
        raise UsageError(f"{path} has no run, so there is nothing to report: run make finish RESUME={folder.name}.")
    return summary


def _order(folder: Path) -> tuple[Order | None, str | None, list[str]]:
    """The order, the command that makes the experiment again, and doubts."""
    order: Order | None = None
    try:
        order = read_record(order_file(folder), Order)
    except (ParseError, UsageError, KeyError, TypeError):
        told = "order.json is damaged or of another version: the command that makes the experiment again is not known."
        return None, None, [told]
    return order, order.command if order and order.asked else None, []


def _doubts_of(run: Run, files: RunFiles) -> list[str]:
    """What the run's own files say against its entry in the summary."""
    if not files.raw.is_dir():
        return [f"{run.run} has no raw files: its course is not drawn, and its figures cannot be computed again."]
    if run.raw_sha256 is not None and checksum(files.raw) != run.raw_sha256:
        return [
            f"{run.run}: raw/ has changed since its figures were computed: run loomlab judge on its folder, "
            "then loomlab summarise."
        ]
    return []
