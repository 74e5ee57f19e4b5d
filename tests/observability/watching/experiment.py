"""An experiment of the lab as its results folder tells it. Times are epoch seconds."""

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Run:
    """A folder below runs/."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def approach(self) -> str:
        return str(self._result["approach"])

    @property
    def requests(self) -> int:
        """By the load generator's own count, failed ones included."""
        return int(self._result["requests"])

    @property
    def rate_rps(self) -> float:
        return float(self._result["rate"])

    @property
    def connections(self) -> int:
        return int(self._result["concurrency"])

    @property
    def backend_late_seconds(self) -> float:
        """The 99th percentile of the backend's lateness."""
        return float(self._result["backend_lateness_p99_ms"] or 0) / 1000

    @property
    def warm_up_started(self) -> float:
        return datetime.fromisoformat(self._result["started"]).timestamp()

    @property
    def started(self) -> float:
        """Of the measured load."""
        return float(self._tool["started"])

    @property
    def ended(self) -> float:
        return float(self._tool["ended"])

    @property
    def steady(self) -> tuple[float, float]:
        """From where figures over 10 s are of the load alone, to just before its end."""
        return self.started + 11, self.ended - 1

    @property
    def container(self) -> str:
        """The ID of the container under test, by the engine."""
        return str(_json(self.folder / "raw" / "container.json")[0]["Id"])

    @cached_property
    def _result(self) -> Any:
        return _json(self.folder / "run.json")

    @cached_property
    def _tool(self) -> Any:
        return _json(self.folder / "raw" / "tool.json")


@dataclass(frozen=True)
class Experiment:
    """A folder below results/."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def runs(self) -> list[Run]:
        """In the order they were made."""
        folders = (self.folder / "runs").iterdir()
        return [Run(folder) for folder in sorted(folders, key=lambda run: int(run.name.partition("-")[0]))]

    @property
    def started(self) -> float:
        return self.runs[0].started

    @property
    def side_by_side(self) -> tuple[float, float]:
        """The last minute before its first load: `make up` had the approaches up together then, with CPU quotas."""
        return self.started - 60, self.started

    @property
    def ended(self) -> float:
        return self.runs[-1].ended

    def summed_up(self, run: Run) -> Any:
        """The run's entry in summary.json."""
        [entry] = [one for one in self._summary["runs"] if one["run"] == run.name]
        return entry

    @cached_property
    def _summary(self) -> Any:
        return _json(self.folder / "summary.json")

    @cached_property
    def environment(self) -> Any:
        return _json(self.folder / "environment.json")


def _json(file: Path) -> Any:
    return json.loads(file.read_text())
