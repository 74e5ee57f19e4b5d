"""Invented papers, and runs of their loads."""

import shutil
from pathlib import Path
from typing import Any

from loomlab.plan.lab import Lab
from loomlab.plan.planning import plan
from loomlab.published.answers import Answer, answers_of
from loomlab.published.paper import Claim, Paper, Published
from loomlab.published.runs import PublishedRun
from loomlab.records.files import write_json
from loomlab.records.models import Gc, Interior, Latency, Run, Summary
from loomlab.records.order import PlannedRun, State, order_file, read_order
from ordered import TWO_CPUS, lab_in

PUBLISHED = Path(__file__).parent.parent / "published"
RATIO: dict[str, Any] = {
    "says": "One completes more than the other.",
    "scenarios": ["soak"],
    "levels": [100],
    "figures": ["throughput_rps"],
    "of": {"approach": "tomcat-virtual"},
    "to": {"approach": "tomcat-platform"},
    "above": 1,
}
VALUE = {name: value for name, value in RATIO.items() if name not in {"of", "to", "above"}} | {
    "approaches": ["tomcat-virtual"]
}
FAST, SLOW = [1100.0, 1210.0, 1090.0], [1000.0, 1100.0, 990.0]


def small(*claims: dict[str, Any], file: Path = Path("none"), **fields: Any) -> Published:
    """A paper with these claims, one of a ratio by default."""
    told = {"title": "Small", "author": None, "url": None, "year": 2026, "ran_on": "A machine.", "unit": "connections"}
    every = [Claim.model_validate(one) for one in claims or (RATIO,)]
    return Published("small", Paper.model_validate(told | fields | {"claims": every}), ["soak"], file)


def run(approach: str, repeat: int, value: float, **fields: Any) -> PublishedRun:
    """A run at half of the published load, where requests queue."""
    figures = {"throughput_rps": value, "latency_ms.mean": 1800, "latency_ms.min": 900} | fields.pop("figures", {})
    told = {
        "experiment": "20260101T000000Z-soak", "load": "soak", "host": "EPYC", "cpus": 1, "approach": approach,
        "jdk": 25, "repeat": repeat, "level": 100, "amount": 50, "lasts_s": 60, "verdict": "valid", "failed": "",
    }  # fmt: skip
    return PublishedRun.model_validate(told | fields | {"figures": figures})


def blocks(virtual: list[float], platform: list[float], **fields: Any) -> list[PublishedRun]:
    """A run of each approach in each block."""
    sides = {"tomcat-virtual": virtual, "tomcat-platform": platform}
    return [run(name, repeat, value, **fields) for name, values in sides.items() for repeat, value in enumerate(values)]


def answered(runs: list[PublishedRun], claim: dict[str, Any] = RATIO, **fields: Any) -> Answer:
    (answer,) = answers_of(small(claim, **fields), runs)
    return answer


def paper_lab(folder: Path) -> Lab:
    """A checkout with the papers, without what was measured of them."""
    lab = lab_in(folder)
    lab.papers.parent.mkdir()
    shutil.copytree(PUBLISHED, lab.papers, ignore=shutil.ignore_patterns("measured"))
    return lab


def begun(lab: Lab, results: Path, paper: str, state: State = "judged", **variables: str) -> Path:
    """An experiment of one of the paper's scenarios, all of whose runs but the first are in that state; a day later
    than the one before."""
    told = {"PAPER": paper, "SCALE": "auto", "DURATION": "60s", "REPEATS": "3", "SEED": "1"} | variables
    stamp = f"202601{len([*results.glob('*/order.json')]) + 1:02}T000000Z"
    order = plan(lab.asked("scenario", told), TWO_CPUS, lab, stamp)
    runs = [one.model_copy(update={"state": state if place else "judged"}) for place, one in enumerate(order.runs)]
    folder = results / order.experiment
    folder.mkdir(parents=True)
    write_json(order_file(folder), order.model_copy(update={"runs": runs}))
    return folder


def summed_up(folder: Path, **fields: Any) -> Path:
    """The folder, which has its order, with a summary of all of its runs."""
    order = read_order(folder)
    runs = [run_of(one, **fields) for one in order.runs]
    summary = Summary(
        experiment=order.experiment,
        started="2026-01-01T00:00:00Z",
        finished="2026-01-01T01:00:00Z",
        notes=[],
        environment={},
        scenario=order.scenario,
        runs=runs,
    )
    write_json(folder / "summary.json", summary)
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
