"""Invented experiments of papers: folders of results/, summed up without raw data."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loomlab.plan.asked import asked_of
from loomlab.plan.lab import Lab
from loomlab.plan.planning import plan
from loomlab.records.files import write_json
from loomlab.records.models import Gc, Interior, Latency, Run, Summary
from loomlab.records.order import PlannedRun, State, order_file, read_order
from ordered import TWO_CPUS, lab_in

ENVIRONMENT = {"cpus": 2, "memory_bytes": 25276514304, "kernel": "6.18", "os": "Debian GNU/Linux 13"}


PUBLISHED = Path(__file__).parent.parent / "published"


def paper_lab(folder: Path) -> Lab:
    """A checkout with the papers, without what was measured of them."""
    lab = lab_in(folder)
    lab.papers.parent.mkdir()
    shutil.copytree(PUBLISHED, lab.papers, ignore=shutil.ignore_patterns("measured"))
    return lab


def begun(lab: Lab, results: Path, paper: str, state: State = "judged", **variables: str) -> Path:
    """An experiment of the paper's, of one of its scenarios, all of whose runs but the first are in that state; a day
    later than the one before."""
    told = {"PAPER": paper, "SCALE": "auto", "DURATION": "60s", "REPEATS": "3", "SEED": "1"} | variables
    stamp = f"202601{len([*results.glob('*/order.json')]) + 1:02}T000000Z"
    order = plan(asked_of("scenario", told, lab), TWO_CPUS, lab, stamp)
    runs = [run.model_copy(update={"state": state if place else "judged"}) for place, run in enumerate(order.runs)]
    folder = results / order.experiment
    folder.mkdir(parents=True)
    write_json(order_file(folder), order.model_copy(update={"runs": runs}))
    return folder


def summed_up(folder: Path, figures: Callable[[PlannedRun], dict[str, Any]] = lambda _: {}) -> Path:
    """The folder, which has its order, with a summary of all of its runs; `figures` are fields of each run."""
    order = read_order(folder)
    stamp = order.planned
    write_json(
        folder / "summary.json",
        Summary(
            experiment=order.experiment,
            started=f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}T{stamp[9:11]}:00:00Z",
            finished=f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}T23:00:00Z",
            notes=[],
            environment=ENVIRONMENT,
            scenario=order.scenario,
            runs=[run_of(one, **figures(one)) for one in order.runs],
        ),
    )
    return folder


def run_of(planned: PlannedRun, **fields: Any) -> Run:
    """A valid run of 60 s with 50 s of interior."""
    request = planned.request
    nothing = dict.fromkeys(
        (
            "backend_cpu_ms_per_request", "generator_cpu_ms_per_request", "throttled_ratio", "keepalive_requests",
            "waves", "little_ratio",
        )
    )  # fmt: skip
    told: dict[str, Any] = nothing | {
        "run": planned.run,
        "approach": request.approach,
        "tool": request.tool,
        "scenario": request.scenario,
        "cell": request.cell,
        "endpoint": request.endpoint,
        "load": request.load,
        "concurrency": request.load.connections,
        "rate": request.load.rate_rps,
        "repeat": request.repeat,
        "jdk": request.jdk,
        "gc_name": request.gc,
        "delay": request.delay,
        "requests": 60_000,
        "errors": 0,
        "duration_s": 60.0,
        "started_rps": 1000.0,
        "throughput_rps": 1000.0,
        "latency_ms": Latency(min=900, mean=910, stdev=9, p50=905, p90=920, p95=930, p99=950, max=1000),
        "cpu_seconds": 25.0,
        "cpu_ms_per_request": 0.5,
        "rss_max_bytes": 5e8,
        "vsz_max_bytes": 5e9,
        "threads_max": 30.0,
        "gc": Gc(cpu_share=0.02),
        "interior": Interior(start=1.8e9, seconds=50.0, requests=50_000, whole_run=False),
        "warmup": None,
        "started": "2026-01-01T00:00:00Z",
        "finished": "2026-01-01T00:01:00Z",
        "verdict": "valid",
        "reasons": [],
    }
    return Run.model_validate(told | fields)
