"""What each panel may show of the live test's experiment, by the panel's unit or by its title: the largest of its
series' medians over the steady part of a run."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from watching.check import Plausible
from watching.load import MIB, Load

LEGEND_LABEL = re.compile(r"\{\{(\w+)\}\}")
BY_RUN_TIME = "by (run, seconds)"
"""In queries whose answer is a table of values by the seconds since each run began."""
LABELS: dict[str, tuple[str, ...]] = {"Alerts over time": ("alertname",)}
"""Where not every label of the legend is on every series."""
QUOTA_PANELS = ("Throttled",)
"""Empty during runs, which limit CPU by cpusets, without quota periods."""
JUDGED_TABLES = ("Runs", "This run", "Contrasts")
"""Of judged runs: nothing of a run is in them before its verdict, and of two approaches before the experiment's end."""
LIMIT = "limit"
"""The legend of a line that others may not cross."""
NO_COLLECTION = "no garbage collection may fall into so small a load"
NOTHING_WRONG = "nothing of the kind happens in a run that goes well"
NO_DATABASE = "no request of the experiment asks the database"
TAKEN = "other programs may take what is left"
WAITING = "virtual threads that wait are not known to the JDK, and a small load leaves no others"


class UnknownUnitError(Exception):
    """A panel whose plausible size nothing here tells."""


@dataclass(frozen=True)
class PanelQuery:
    """A query of a panel with its variables replaced, as `loomlab_dashboards queries` prints it."""

    dashboard: str
    panel: str
    kind: str
    expr: str
    unit: str
    legend: str

    @property
    def name(self) -> str:
        return f"{self.dashboard}, {self.panel}, {self.legend}"

    @property
    def labels(self) -> tuple[str, ...]:
        """What tells the series apart that the panel draws."""
        if BY_RUN_TIME in self.expr:
            return ("run", "seconds")
        return LABELS.get(self.panel, tuple(LEGEND_LABEL.findall(self.legend)))

    @property
    def compares(self) -> bool:
        """Whether every approach is to have a series."""
        return self.dashboard == "Compare" and "service" in self.labels


def queries_of(file: Path) -> list[PanelQuery]:
    return [PanelQuery(**json.loads(line)) for line in file.read_text().splitlines()]


def plausible(query: PanelQuery, load: Load) -> Plausible:
    """For the query's panel; raises UnknownUnitError."""
    if query.legend == LIMIT:
        found = _limits(load).get(query.unit)
    else:
        found = _by_title(load).get(query.panel) or _by_unit(load).get(query.unit)
    if not found:
        raise UnknownUnitError(f"The unit {query.unit!r} of {query.name} has no plausible range: add one.")
    return found


def _by_unit(load: Load) -> Mapping[str, Plausible]:
    return {
        "reqps": Plausible(0.3 * load.rate_rps, 3 * load.rate_rps),
        "s": Plausible(0.7 * load.answer_seconds, 30 * load.answer_seconds),
        "ms": Plausible(0.4, 390),
        "suffix:cores": Plausible(0.01, load.cpus),
        "bytes": Plausible(50 * MIB, 8192 * MIB),
        "none": Plausible(0.1 * load.in_flight, 50 * load.in_flight),
        "cps": Plausible(0.2, 20, zero=NOTHING_WRONG),
    }


def _limits(load: Load) -> Mapping[str, Plausible]:
    return {"suffix:cores": Plausible(0.5, load.cpus), "bytes": Plausible(128 * MIB, 64 * 1024 * MIB)}


def _by_title(load: Load) -> Mapping[str, Plausible]:
    failing = Plausible(0.2 * load.failing_share, 6 * load.failing_share)
    collecting = Plausible(0.001, 0.9, zero=NO_COLLECTION)
    throttled = Plausible(0.0011, 1, zero="a host with CPUs to spare throttles nothing")
    most_late = max(1, 2 * load.backend_late_seconds)
    late = Plausible(most_late / 900, most_late)
    requests = _by_unit(load)["reqps"]
    return {
        "Latency in the server": requests,
        "Errors": failing,
        "Throttled": throttled,
        "GC, share of CPU": collecting,
        "GC, share of time": collecting,
        "RSS per request in flight": Plausible(1.5 * MIB, 1400 * MIB),
        "Heap": Plausible(5 * MIB, 4096 * MIB),
        "Runnable virtual threads": Plausible(1, 400, zero=WAITING),
        "JIT": Plausible(0.002, 1.5),
        "Backend": late,
        "Backend lateness": late,
        "Backend's busiest loop": Plausible(0.005, 1.1),
        "Headroom": Plausible(0.02, 1),
        "Idle CPUs": Plausible(0.02, 1, zero=TAKEN),
        "What is compared": Plausible(1, 1),
        "Other programs": Plausible(0.001, 0.9, zero=NOTHING_WRONG),
        "Steal": Plausible(0.001, 0.9, zero=NOTHING_WRONG),
        "Offered rate reached": Plausible(0.3, 1.5),
        "Alerts": Plausible(1, 20, zero=NOTHING_WRONG),
        "Alerts over time": Plausible(1, 2),
        "Targets": Plausible(1, 1),
        "Age of the process": Plausible(5, 3600),
        "Scrape gap": Plausible(0.1, 20),
        "Scrape duration": Plausible(0.002, 1.2),
        "Memory of the host": Plausible(256 * MIB, 200 * 1024 * MIB),
        "Cost of watching": Plausible(0.002, 0.5),
        "Database pool": Plausible(1, 400, zero=NOTHING_WRONG, empty=NO_DATABASE),
        "Wait for the pool": Plausible(0.001, 0.9, zero=NOTHING_WRONG, empty=NO_DATABASE),
        "In the database": Plausible(0.1, 90, zero=NOTHING_WRONG, empty=NO_DATABASE),
    }
