"""Experiments of invented runs, in memory."""

from collections.abc import Mapping
from typing import Any

from loomlab.answer.loads import loads_of
from loomlab.records.contrasts import Contrast, Kind
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target
from loomlab.records.memory import LiveBytes
from loomlab.records.models import Latency, Run, Summary
from loomlab.records.order import Order
from loomlab.report.folder import Experiment
from report_folder import MEASURED

NAMES = ("tomcat-virtual", "tomcat-platform")
LOAD = Load("", (Target("/capabilities"),), 2000, Closed(120_000, 60), 30)
"""With three calls of 300 ms."""
RATE = OpenRate((RateStep(100, 60),))
PLAIN = Run.model_validate_json((MEASURED / "run.json").read_text())


def run_of(approach: str, repeat: int = 1, p50: float | None = 905, **changes: Any) -> Run:
    """At 2,000 connections."""
    plain = {
        "load": LOAD,
        "concurrency": 2000,
        "cpu_ms_per_request": 0.2756,
        "throughput_rps": 2150.0,
        "latency_ms": Latency(min=p50, p50=p50),
        "repeat": repeat,
        "approach": approach,
        "run": f"{2 * repeat + (approach == NAMES[1])}-{approach}",
        "verdict": "valid",
    }
    return PLAIN.model_copy(update=plain | changes)


def blocks(count: int, **changes: Any) -> list[Run]:
    return [run_of(name, repeat, **changes) for repeat in range(1, count + 1) for name in NAMES]


def invalid(runs: list[Run], repeats: int) -> list[Run]:
    """Those of the first approach are, in so many repeats."""
    return [
        run.model_copy(update={"verdict": "invalid"}) if run.approach == NAMES[0] and run.repeat <= repeats else run
        for run in runs
    ]


def experiment_of(
    runs: list[Run], kind: Kind | None = "controlled", order: Order | None = None, **changes: Any
) -> Experiment:
    contrasts = [] if kind is None else [Contrast(a=NAMES[0], b=NAMES[1], kind=kind, differs=[])]
    summary = Summary(
        experiment="sweep", started=None, finished="then", notes=[], environment={}, contrasts=contrasts, runs=runs
    )
    return Experiment("mine", summary.model_copy(update=changes), order, loads_of(runs, order))


HEAPS = {"tomcat-virtual": (17, 19, 16, 18, 20), "tomcat-platform": (78, 80, 79, 77, 81)}
"""KiB that a waiting request holds, by block."""
NEGATIVE = {"tomcat-virtual": (-30, 10, 2), "tomcat-platform": (60, 63, 63)}


def holding(heaps: Mapping[str, tuple[int, ...]], **changes: Any) -> Experiment:
    return experiment_of(
        [
            run_of(name, repeat, live_bytes_per_request=LiveBytes(heap=1024 * kib, stacks_off_heap=0, kernel=0))
            for name, own in heaps.items()
            for repeat, kib in enumerate(own, 1)
        ],
        **changes,
    )
