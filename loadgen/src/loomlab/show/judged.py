"""The newest runs that have a verdict."""

import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from loomlab.basics.errors import ParseError
from loomlab.records.contrasts import Contrast
from loomlab.records.files import RunFiles, read_record
from loomlab.records.models import Run, Summary

EXPERIMENT = re.compile(r"\d{8}T\d{6}Z-.+")
RUN = re.compile(r"(\d+)-.+")


class JudgedRun(NamedTuple):
    """`experiment` is the name of its folder."""

    experiment: str
    run: Run


class Judged:
    """Reads the runs of the experiments below a folder; a file is read again only when it has changed."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._known: dict[Path, tuple[int, Run | Summary | None]] = {}

    def newest(self, most: int) -> list[JudgedRun]:
        """At most so many, the newest first, as the summary has them, which may say more against a run than run.json. A
        damaged file is left out, and named on stderr."""
        return list(islice(self._runs(), most))

    def contrasts(self, experiment: str) -> list[Contrast]:
        """Of every two approaches of the experiment; none until it is summed up."""
        summary = self._record(self._results / experiment / "summary.json", Summary)
        return summary.contrasts if summary else []

    def _runs(self) -> Iterator[JudgedRun]:
        for folder in sorted(self._results.iterdir(), reverse=True):
            if EXPERIMENT.fullmatch(folder.name) and (folder / "runs").is_dir():
                summary = self._record(folder / "summary.json", Summary)
                summed_up = {run.run: run for run in summary.runs} if summary else {}
                for run_dir in _newest_first(folder / "runs"):
                    if run := self._record(RunFiles(run_dir).run, Run):
                        yield JudgedRun(folder.name, _newer(run, summed_up.get(run.run)))

    def _record[R: (Run, Summary)](self, path: Path, record: type[R]) -> R | None:
        try:
            changed_ns = path.stat().st_mtime_ns
        except OSError:
            return None
        known_ns, known = self._known.get(path, (None, None))
        if known_ns != changed_ns:
            known = _read(path, record)
            self._known[path] = (changed_ns, known)
        return known if isinstance(known, record) else None


def _newest_first(runs: Path) -> list[Path]:
    numbers = {run_dir: found for run_dir in runs.iterdir() if (found := RUN.fullmatch(run_dir.name))}
    return sorted(numbers, key=lambda run_dir: int(numbers[run_dir][1]), reverse=True)


def _newer(run: Run, summed_up: Run | None) -> Run:
    """A resumed experiment has an old summary until it is summed up again."""
    return summed_up if summed_up and summed_up.raw_sha256 == run.raw_sha256 else run


def _read[R: (Run, Summary)](path: Path, record: type[R]) -> R | None:
    try:
        return read_record(path, record)
    except ParseError as error:
        print(f"loom-lab: {error}", file=sys.stderr)  # noqa: T201
        return None
