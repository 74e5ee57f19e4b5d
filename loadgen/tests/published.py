"""Invented benchmarks, and runs of their loads."""

import shutil
from pathlib import Path
from typing import Any

from abouts import PLAIN
from loomlab.plan.host import Lab
from loomlab.plan.planning import plan
from loomlab.published.answers import ClaimAnswer, answers_of
from loomlab.published.benchmark import Benchmark, PublishedRun
from loomlab.records.files import write_json
from loomlab.records.models import Run, Summary
from loomlab.records.order import PlannedRun, State, order_file
from ordered import SCENARIOS, TWO_CPUS, lab_in

PUBLISHED = Path(__file__).parent.parent / "published"
HEY, SPRING = "virtual-threads-hey", "spring-boot-edition"
SAYS: dict[str, Any] = {"says": "It is so.", "levels": [100], "figures": ["throughput_rps"], "of": ["tomcat-virtual"]}
RATIO, VALUE = SAYS | {"to": "tomcat-platform", "above": 1}, SAYS | {"below": 1200}
FAST, SLOW = [1100.0, 1210.0, 1090.0], [1000.0, 1100.0, 990.0]


def small(*claims: dict[str, Any], **fields: Any) -> Benchmark:
    """A benchmark of one scenario with these claims."""
    plain: dict[str, Any] = {
        "name": "small", "title": "Small", "author": None, "url": None, "year": 2026, "ran_on": "A machine.",
        "unit": "connections", "experiments": ["scenario NAME=soak"], "claims": claims, "figures": {}, "kept": [],
    }  # fmt: skip
    return Benchmark.model_validate(plain | fields)


def run(approach: str, repeat: int, value: float, **fields: Any) -> PublishedRun:
    """A run at half of the published load, where requests queue."""
    figures = {"throughput_rps": value, "time_outs": value, "latency_ms.mean": 1800, "latency_ms.min": 900}
    plain = {
        "experiment": "20260101T000000Z-soak", "load": "soak", "host": "EPYC", "cpus": 1, "approach": approach,
        "jdk": 25, "repeat": repeat, "level": 100, "amount": 50, "lasts_s": 60, "verdict": "valid", "failed": "",
    }  # fmt: skip
    return PublishedRun.model_validate(plain | fields | {"figures": figures | fields.get("figures", {})})


def blocks(virtual: list[float], platform: list[float], **fields: Any) -> list[PublishedRun]:
    """A run of each approach in each block."""
    sides = {"tomcat-virtual": virtual, "tomcat-platform": platform}
    return [run(name, repeat, value, **fields) for name, values in sides.items() for repeat, value in enumerate(values)]


def answered(runs: list[PublishedRun], claim: dict[str, Any] = RATIO, **fields: Any) -> ClaimAnswer:
    """The answer to the only claim of a benchmark."""
    (answer,) = answers_of(small(claim, **fields), runs)
    return answer


def published_lab(folder: Path) -> Lab:
    """A checkout with the benchmarks, without what was measured of them."""
    lab = lab_in(folder)
    lab.published.parent.mkdir()
    (lab.published.parent / "scenarios").symlink_to(SCENARIOS)
    shutil.copytree(PUBLISHED, lab.published, ignore=shutil.ignore_patterns("measured"))
    (lab.published / "measured").mkdir()
    return lab


def begun(lab: Lab, results: Path, state: State = "judged", **variables: str) -> Path:
    """An experiment, all of whose runs but the first are in that state, a day later than the one before; with its
    summary, if all were judged."""
    asked = {"BENCHMARK": HEY, "NAME": HEY, "SCALE": "auto", "DURATION": "60s", "REPEATS": "3", "SEED": "1"} | variables
    stamp = f"202601{len([*results.glob('*/order.json')]) + 1:02}T000000Z"
    order = plan(lab.asked("scenario", asked), TWO_CPUS, lab, stamp)
    for number, planned in enumerate(order.runs):
        planned.state = state if number else "judged"
    folder = results / order.experiment
    folder.mkdir(parents=True)
    write_json(order_file(folder), order)
    if state == "judged":
        told: dict[str, Any] = {"started": None, "finished": None, "notes": [], "environment": {}}
        write_json(folder / "summary.json", Summary(experiment=folder.name, runs=[*map(run_of, order.runs)], **told))
    return folder


def run_of(planned: PlannedRun, **fields: Any) -> Run:
    """A valid run that was measured, as one of that load."""
    names = ("approach", "tool", "scenario", "cell", "repeat", "jdk", "load")
    changes = {name: getattr(planned.request, name) for name in names} | {"run": planned.run, "verdict": "valid"}
    return PLAIN.model_copy(update=changes | {"rules": []} | fields)
