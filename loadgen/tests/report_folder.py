"""Folders of experiments to make reports of: a run that was really measured, for several approaches, loads and repeats.

`python report_folder.py FOLDER` writes some, with their reports, for the test that opens them in a browser.
"""

import json
import random
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from loomlab.answer.summary import summarise
from loomlab.records.files import checksum, write_json
from loomlab.records.memory import LiveBytes
from loomlab.records.models import Latency, Run
from loomlab.records.order import Order, PlannedRun, order_file
from loomlab.report.page import write_report
from ordered import planned

GOLDEN = Path(__file__).parent / "golden"
MEASURED = GOLDEN / "report"
ABOUTS: dict[str, Any] = json.loads((GOLDEN / "abouts" / "headline.json").read_text())
HEADLINE = ("tomcat-platform", "tomcat-virtual", "webflux-netty", "virtual-netty")
COST = {"tomcat-platform": 1.25, "tomcat-virtual": 1.0, "webflux-netty": 1.12, "virtual-netty": 1.1}
"""CPU per request, over that of the run that was measured."""
RUN_S = 160
HOSTILE = '</script><script>alerted = "x"</script>&<img src=x onerror=alerted=1>{{ 7 * 7 }}'
ENVIRONMENT = {
    "engine": "26.1.5", "cpus": 2, "memory_bytes": 25276514304, "kernel": "6.18.44", "os": "Debian GNU/Linux 13",
    "architecture": "x86_64", "cgroup": "2", "stand_in_images": True, "notes": [],
    "images": {"backend": "sha256:4a03f6"},
}  # fmt: skip


def folder_of(
    parent: Path,
    approaches: tuple[str, ...] = HEADLINE,
    loads: tuple[int, ...] = (1000,),
    repeats: int = 3,
    raw: bool = True,
    twin: bool = False,
    **changes: Any,
) -> Path:
    """An experiment that was summed up; `changes` are of every run.json."""
    order = order_of(parent, approaches, loads, repeats, twin)
    folder = parent / order.experiment
    write = random.Random(7)  # noqa: S311 - noise, no secret
    for place, one in enumerate(order.runs):
        run_dir = folder / "runs" / one.run
        run_dir.mkdir(parents=True)
        told = run_of(one, place * RUN_S, write).model_copy(update=changes)
        if raw:
            write_raw(run_dir / "raw", one.request.approach, place * RUN_S)
            told = told.model_copy(update={"raw_sha256": checksum(run_dir / "raw")})
        write_json(run_dir / "run.json", told)
    write_json(order_file(folder), order)
    (folder / "engine.json").write_text(json.dumps(ENVIRONMENT))
    summarise(folder, interrupted=False)
    return folder


def order_of(parent: Path, approaches: tuple[str, ...], loads: tuple[int, ...], repeats: int, twin: bool) -> Order:
    with TemporaryDirectory(dir=parent) as made:
        order = planned(
            Path(made),
            verb="sweep" if len(loads) > 1 else "ab",
            approaches=list(approaches),
            connections=loads,
            repeats=repeats,
            twin=twin,
        )
    for run in order.runs:
        run.state = "judged"
    return order


def run_of(planned_run: PlannedRun, later_s: float, noise: random.Random) -> Run:
    """The run that was measured, at another load, with another approach, so much later; with p99.9, for which it had
    too few requests."""
    request = planned_run.request
    told = Run.model_validate(json.loads((MEASURED / "run.json").read_text()))
    factor = COST.get(request.approach, 1.0) * noise.uniform(0.97, 1.03)
    latency = told.latency_ms.model_dump() | {"p99_9": 921.3}
    slower = noise.uniform(1, 1.02)
    assert told.interior is not None
    return told.model_copy(
        update={
            "run": planned_run.run,
            "approach": request.name,
            "twin_of": request.approach if request.twin else None,
            "tool": request.tool,
            "cell": request.cell,
            "repeat": request.repeat,
            "load": replace(request.load, origin=f"http://{request.approach}:8080"),
            "concurrency": request.load.connections,
            "rate": None,
            "cpu_ms_per_request": (told.cpu_ms_per_request or 1) * factor,
            "throughput_rps": request.load.connections / 0.905,
            "latency_ms": Latency(
                **{name: value * slower for name, value in latency.items() if value and name != "withheld"}
            ),
            "interior": told.interior.model_copy(update={"start": told.interior.start + later_s}),
            "started": _later(told.started, later_s),
            "finished": None if told.finished is None else _later(told.finished, later_s),
            "verdict": "valid" if noise.random() < 0.8 else "suspect",
        }
    )


def _later(iso: str, seconds: float) -> str:
    return (datetime.fromisoformat(iso) + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def write_raw(raw: Path, approach: str, later_s: float) -> None:
    """As it was measured, so much later, as that approach's."""
    raw.mkdir()
    tool = json.loads((MEASURED / "raw" / "tool.json").read_text())
    (raw / "tool.json").write_text(
        json.dumps(tool | {"started": tool["started"] + later_s, "ended": tool["ended"] + later_s})
    )
    (raw / "about.json").write_text(json.dumps(ABOUTS.get(approach, {})))
    (raw / "warmup.json").write_text((MEASURED / "raw" / "warmup.json").read_text())
    metrics = json.loads((MEASURED / "raw" / "metrics.json").read_text())
    for one in metrics["containers"]:
        one["metric"]["service"] = approach
        one["values"] = [[time + later_s, value] for time, value in one["values"]]
    (raw / "metrics.json").write_text(json.dumps(metrics))
    (raw / "latency.hlog").write_text("".join(_shifted(MEASURED / "raw" / "latency.hlog", later_s)))


def _shifted(log: Path, later_s: float) -> list[str]:
    lines = []
    for line in log.read_text().splitlines(keepends=True):
        first, comma, rest = line.partition(",")
        lines.append(f"{float(first) + later_s:.6f}{comma}{rest}" if first[0].isdigit() else line)
    return lines


def hostile(folder: Path) -> None:
    """Makes markup and scripts of the names and texts of an experiment."""
    path = folder / "summary.json"
    told = json.loads(path.read_text())
    told["experiment"] = HOSTILE
    told["notes"].append(HOSTILE)
    told["environment"][HOSTILE] = {HOSTILE: [HOSTILE]}
    told["runs"][0] |= {"approach": HOSTILE, "reasons": [HOSTILE], "verdict": "suspect"}
    for contrast in told["contrasts"]:
        contrast["a"] = HOSTILE
    path.write_text(json.dumps(told))


def main(out: Path) -> None:
    """Headline approaches at two loads in three blocks with every figure, one run alone, no raw files, and names that
    would be markup."""
    held = LiveBytes(heap=28_600, stacks_off_heap=14_300, kernel=4_600)
    samples: dict[str, dict[str, Any]] = {
        "sweep": {"loads": (500, 2000), "repeats": 3, "live_bytes_per_request": held},
        "single": {"approaches": ("tomcat-virtual",), "repeats": 1},
        "without-raw": {"raw": False},
        "hostile": {"approaches": ("tomcat-platform", "tomcat-virtual"), "repeats": 1},
    }
    for name, changes in samples.items():
        (out / name).mkdir(parents=True)
        folder = folder_of(out / name, **changes)
        if name == "hostile":
            hostile(folder)
        write_report(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
