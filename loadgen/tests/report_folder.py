"""Experiments to make reports of, in memory and as folders, of a run that was really measured, for several approaches,
loads and repeats; and what a page is made of.

`python report_folder.py FOLDER` writes some, with their reports, for the test that opens them in a browser.
"""

import gzip
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import abouts
from abouts import PLAIN
from loomlab.answer.loads import load_groups
from loomlab.answer.summary import summarise
from loomlab.records.contrasts import Contrast, Kind
from loomlab.records.files import checksum, write_json
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target
from loomlab.records.models import Latency, Request, Run, Summary
from loomlab.records.order import Order, PlannedRun, order_file
from loomlab.records.raw import LiveBytes
from loomlab.report.experiment import Experiment
from loomlab.report.page import write_report
from loomlab.tools.ab import REQUEST_COLUMNS
from ordered import planned

RAW = Path(__file__).parent / "golden" / "report" / "raw"
HEADLINE = ("tomcat-platform", "tomcat-virtual", "webflux-netty", "virtual-netty")
PAIR = ("tomcat-platform", "tomcat-virtual")
COST = {"tomcat-platform": 1.25, "tomcat-virtual": 1.0, "webflux-netty": 1.12, "virtual-netty": 1.1}
"""CPU per request, over that of the run that was measured."""
RUN_S = 160
SECOND_MS = (905,) * 98 + (1100,) * 2  # what the requests of each second took
HOSTILE = '</script><script>alerted = "x"</script>&<img src=x onerror=alerted=1>{{ 7 * 7 }}'
ENVIRONMENT = {
    "engine": "26.1.5", "cpus": 2, "memory_bytes": 25276514304, "kernel": "6.18.44", "os": "Debian GNU/Linux 13",
    "architecture": "x86_64", "cgroup": "2", "stand_in_images": True, "notes": [],
    "images": {"backend": "sha256:4a03f6"},
}  # fmt: skip
NAMES = ("tomcat-virtual", "tomcat-platform")
LOAD = Load("", (Target("/capabilities"),), 2000, Closed(120_000, 60), 30)  # with three calls of 300 ms
RATE = OpenRate((RateStep(100, 60),))


def run_of(approach: str, repeat: int = 1, p50: float | None = 905, **changes: Any) -> Run:
    """At 2,000 connections."""
    plain = {
        "load": LOAD, "concurrency": 2000, "cpu_ms_per_request": 0.2756, "throughput_rps": 2150.0,
        "latency_ms": Latency(min=p50, p50=p50), "repeat": repeat, "approach": approach,
        "run": f"{2 * repeat + (approach == NAMES[1])}-{approach}", "verdict": "valid",
    }  # fmt: skip
    return PLAIN.model_copy(update=plain | changes)


def blocks(count: int, **changes: Any) -> list[Run]:
    return [run_of(name, repeat, **changes) for repeat in range(1, count + 1) for name in NAMES]


def at_loads(*costs: Sequence[float]) -> list[Run]:
    """A load for each of these, which the first approach needs of CPU block by block; the other needs 1 ms."""
    return [
        run_of(
            name, repeat, cell=cell, run=f"{cell}{repeat}-{name}", load=replace(LOAD, connections=100 * cell),
            cpu_ms_per_request=cost if name == NAMES[0] else 1.0,
        )
        for cell, own in enumerate(costs, 1)
        for repeat, cost in enumerate(own, 1)
        for name in NAMES
    ]  # fmt: skip


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
    return Experiment("mine", summary.model_copy(update=changes), order, load_groups(runs, order))


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
    asked: dict[str, Any] = {"approaches": list(approaches), "connections": loads, "repeats": repeats, "twin": twin}
    with TemporaryDirectory(dir=parent) as lab:
        order = planned(Path(lab), verb="sweep" if len(loads) > 1 else "ab", **asked)
    folder = parent / order.experiment
    noise = random.Random(7)  # noqa: S311 - no secret
    for place, planned_run in enumerate(order.runs):
        planned_run.state = "judged"
        run_dir = folder / "runs" / planned_run.run
        run_dir.mkdir(parents=True)
        run = made_of(planned_run, place * RUN_S, noise).model_copy(update=changes)
        if raw:
            write_raw(run_dir / "raw", planned_run.request, place * RUN_S)
            run = run.model_copy(update={"raw_sha256": checksum(run_dir / "raw")})
        write_json(run_dir / "run.json", run)
    write_json(order_file(folder), order)
    (folder / "engine.json").write_text(json.dumps(ENVIRONMENT))
    summarise(folder, interrupted=False)
    return folder


def made_of(planned_run: PlannedRun, later_s: float, noise: random.Random) -> Run:
    """The run that was measured, at another load, with another approach, so much later; with p99.9, for which it had
    too few requests."""
    request = planned_run.request
    factor = COST.get(request.approach, 1.0) * noise.uniform(0.97, 1.03)
    latency = PLAIN.latency_ms.model_dump(exclude={"withheld"}, exclude_none=True) | {"p99_9": 921.3}
    slower = noise.uniform(1, 1.02)
    assert PLAIN.interior and PLAIN.finished
    return PLAIN.model_copy(
        update={
            "run": planned_run.run, "approach": request.name, "twin_of": request.approach if request.side else None,
            "tool": request.tool, "cell": request.cell, "repeat": request.repeat,
            "load": replace(request.load, origin=f"http://{request.approach}:8080"),
            "concurrency": request.load.connections, "rate": None,
            "cpu_ms_per_request": (PLAIN.cpu_ms_per_request or 1) * factor,
            "throughput_rps": request.load.connections / 0.905,
            "latency_ms": Latency(**{name: value * slower for name, value in latency.items()}),
            "interior": PLAIN.interior.model_copy(update={"start": PLAIN.interior.start + later_s}),
            "started": later(PLAIN.started, later_s), "finished": later(PLAIN.finished, later_s),
            "verdict": "valid" if noise.random() < 0.8 else "suspect",
        }
    )  # fmt: skip


def later(iso: str, seconds: float) -> str:
    return (datetime.fromisoformat(iso) + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def write_raw(raw: Path, request: Request, later_s: float) -> None:
    """As it was measured, so much later, as that approach's; 100 requests started in each of 60 seconds."""
    raw.mkdir()
    tool = json.loads((RAW / "tool.json").read_text())
    began, ended = (tool[name] + later_s for name in ("started", "ended"))
    (raw / "tool.json").write_text(json.dumps(tool | {"started": began, "ended": ended}))
    (raw / "about.json").write_text(json.dumps(abouts.ALL.get(request.approach, {})))
    metrics = json.loads((RAW / "metrics.json").read_text())
    for series in metrics["containers"]:
        series["metric"]["service"] = request.name
        series["values"] = [[time + later_s, value] for time, value in series["values"]]
    (raw / "metrics.json").write_text(json.dumps(metrics))
    (raw / "ab.txt").write_text("This is ApacheBench\n")
    rows = [REQUEST_COLUMNS]
    for second in range(int(began), int(began) + 60):
        start = f"{datetime.fromtimestamp(second, UTC):%a %b %d %H:%M:%S %Y}\t{second}"
        rows += [f"{start}\t0\t{latency}\t{latency}\t{latency}" for latency in SECOND_MS]
    (raw / "ab-requests.tsv.gz").write_bytes(gzip.compress("\n".join([*rows, ""]).encode(), 1, mtime=0))


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Changes what a JSON file holds."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def first_run(folder: Path) -> Path:
    return min((folder / "runs").iterdir())


def hostile(folder: Path) -> None:
    """Makes markup and scripts of the names and texts of an experiment."""

    def change(summary: Any) -> None:
        summary["experiment"] = HOSTILE
        summary["notes"].append(HOSTILE)
        summary["environment"][HOSTILE] = {HOSTILE: [HOSTILE]}
        summary["runs"][0] |= {"approach": HOSTILE, "reasons": [HOSTILE], "verdict": "suspect"}
        for contrast in summary["contrasts"]:
            contrast["a"] = HOSTILE

    edit(folder / "summary.json", change)


class Page(HTMLParser):
    """What a page is made of; `open` is empty at the end of a page whose elements are all closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in {"meta", "link", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    def all(self, tag: str, name: str) -> list[str]:
        """That attribute of all such elements, in their order."""
        return [attributes[name] for element, attributes in self.elements if element == tag and name in attributes]

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page_of(folder: Path) -> Page:
    """The page that is made of the folder."""
    return Page(write_report(folder).read_text())


def main(out: Path) -> None:
    """Headline approaches at two loads in five blocks with every figure, one run alone, no raw files, and names that
    would be markup."""
    held = LiveBytes(heap=28_600, stacks_off_heap=14_300, kernel=4_600)
    samples: dict[str, dict[str, Any]] = {
        "sweep": {"loads": (500, 2000), "repeats": 5, "live_bytes_per_request": held},
        "single": {"approaches": ("tomcat-virtual",), "repeats": 1},
        "without-raw": {"raw": False},
        "hostile": {"approaches": PAIR, "repeats": 1},
    }
    for name, changes in samples.items():
        (out / name).mkdir(parents=True)
        folder = folder_of(out / name, **changes)
        if name == "hostile":
            hostile(folder)
        write_report(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
