"""Invented experiments of papers, with raw data: `python published_folder.py FOLDER` writes one for each chart."""

import json
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loomlab.records.models import Gc, Latency, RuleResult
from loomlab.records.order import PlannedRun, read_order
from loomlab.report.page import write_report
from loomlab.run.histograms import write_log
from measured_folder import PUBLISHED, begun, paper_lab, summed_up
from ordered import SCENARIOS

BEGAN = 1_800_000_000.0
TOO_MANY = RuleResult(rule="too_many_errors", outcome="failed", level="invalid", reason="77 % of the requests failed.")
COLOURS = {
    "microhttp-platform": "#D55E00", "microhttp-virtual": "#0072B2", "microhttp-async": "#009E73",
    "tomcat-virtual": "#E69F00", "virtual-netty": "#56B4E9", "webflux-netty": "#009E73",
}  # fmt: skip
SAMPLES = {
    "levels": ("project-loom-comparison", "project-loom-comparison"),
    "resources": ("spring-boot-edition", "project-loom-comparison-spring"),
    "course": ("loom-webflux-benchmarks", "25k-vus-smooth-spike-get-movies"),
    "iterations": ("loom-vs-webflux", "loom-vs-webflux"),
    "two-by-two": ("virtual-threads-hey", "virtual-threads-hey"),
}


def published_folder(results: Path, paper: str, scenario: str, *, raw: bool = False) -> Path:
    """A summed-up experiment of that scenario, with its report."""
    lab = paper_lab(results / "lab")
    folder = begun(lab, results, paper, NAME=scenario)
    order = read_order(folder)
    (folder / "order.json").write_text(order.model_copy(update={"colours": COLOURS}).model_dump_json(by_alias=True))
    for place, run in enumerate(order.runs):
        (folder / "runs" / run.run).mkdir(parents=True)
        if raw:
            write_raw(folder / "runs" / run.run / "raw", run, place)
    summed_up(folder, invented(paper))
    write_report(folder, PUBLISHED, SCENARIOS)
    return folder


def by_level(noise: random.Random) -> Callable[[PlannedRun], dict[str, Any]]:
    """Platform threads saturate first."""
    capacity = {"platform": 500, "virtual": 900, "async": 850, "netty": 800}

    def figures(run: PlannedRun) -> dict[str, Any]:
        kind, connections = run.request.approach.rpartition("-")[2], run.request.load.connections
        throughput = min(connections, capacity[kind]) * noise.uniform(0.97, 1.03)
        latency = 1000 * connections / throughput
        threads = connections if kind == "platform" else 0
        return {
            "throughput_rps": throughput,
            "latency_ms": Latency(
                min=901, mean=latency, p50=latency, p90=latency * 1.1, p99=latency * 1.4, max=latency * 2
            ),
            "cpu_seconds": 50 * throughput / capacity[kind],
            "cpu_ms_per_request": 1000 / capacity[kind],
            "rss_max_bytes": 3e8 + 2e5 * connections + 1e5 * threads,
            "rss_hwm_bytes": 3.2e8 + 2e5 * connections + 1e5 * threads,
            "vsz_max_bytes": 4e9 + 1e6 * threads,
            "threads_max": 28 + threads,
        }

    return figures


def steady(noise: random.Random) -> Callable[[PlannedRun], dict[str, Any]]:
    def figures(_: PlannedRun) -> dict[str, Any]:
        latency = Latency(min=100, mean=101, p50=100.5, p90=101, p95=noise.uniform(102, 104), p99=115, max=256)
        told = {"cpu_ms_per_request": noise.uniform(0.3, 0.35), "gc": Gc(cpu_share=0.03)}
        return told | {"latency_from_start_ms": latency, "duration_s": 60.1}

    return figures


def small_pool(noise: random.Random) -> Callable[[PlannedRun], dict[str, Any]]:
    """Four threads, and time-outs after 20 s."""

    def figures(run: PlannedRun) -> dict[str, Any]:
        if run.request.approach == "tomcat-platform":
            errors = 76 + noise.randrange(3)
            latency = Latency(min=3010, mean=6970, p50=3800, p90=16900, p95=17100, max=17200)
            told = {
                "latency_ms": latency,
                "errors": errors,
                "requests": 100,
                "failures": {"time-out": errors},
                "verdict": "invalid",
            }
            return told | {"duration_s": 40.1, "rules": [TOO_MANY]}
        latency = Latency(min=3010, mean=3060, p50=3050, p90=3100, p95=3120, p99=3150, max=3150)
        return {"latency_ms": latency, "duration_s": noise.uniform(6.1, 6.6), "errors": 0, "requests": 100}

    return figures


FIGURES = {
    "project-loom-comparison": by_level,
    "spring-boot-edition": by_level,
    "loom-webflux-benchmarks": steady,
    "loom-vs-webflux": steady,
    "virtual-threads-hey": small_pool,
}


def invented(paper: str) -> Callable[[PlannedRun], dict[str, Any]]:
    """The figures of its runs, the same each time."""
    return FIGURES[paper](random.Random(7))  # noqa: S311 - noise, no secret


def write_raw(raw: Path, run: PlannedRun, place: int) -> None:
    """A minute in which users rise and leave, some time-outs near the top."""
    raw.mkdir()
    noise = random.Random(place)  # noqa: S311 - noise, no secret
    began, approach = BEGAN + 200 * place, run.request.approach
    (raw / "tool.json").write_text(
        json.dumps({"command": ["users"], "started": began, "ended": began + 60, "exit_code": 0})
    )
    load = [min(second / 48, (60 - second) / 12) for second in range(60)]
    starts = [began + second for second in range(60) for _ in range(round(40 * load[second]))]
    write_log(raw / "latency.hlog", starts, [100 + noise.expovariate(1 / (4 + 2 * (place % 3))) for _ in starts])
    failed = [began + second for second in range(45, 50) for _ in range(3)]
    write_log(raw / "failed.hlog", failed, [60_000.0 for _ in failed])

    def series(name: str, value: Callable[[int], float], **labels: str) -> dict[str, Any]:
        values = [[began + second, str(value(second))] for second in range(-5, 66)]
        return {"metric": {"__name__": name, "service": approach, **labels}, "values": values}

    def level(second: int) -> float:
        return load[min(max(second, 0), 59)]

    (raw / "metrics.json").write_text(
        json.dumps(
            {
                "containers": [
                    series(
                        "container_cpu_usage_seconds_total", lambda s: 50 + sum(map(level, range(s))) * 0.5, cpu="total"
                    ),
                    series("container_memory_rss", lambda s: 4e8 + 1e8 * level(s)),
                    series("container_threads", lambda _: 30),
                ],
                "approach": [
                    series("lab_gc_cpu_seconds_total", lambda s: 2 + 0.01 * max(s, 0)),
                    series("jvm_memory_used_bytes", lambda s: 2e8 + 1e8 * math.sin(s / 3), area="heap", id="eden"),
                    series("jvm_memory_used_bytes", lambda _: 1e8, area="heap", id="old"),
                    series("lab_open_connections", lambda s: 2100 * level(s)),
                ],
            }
        )
    )


def main(out: Path) -> None:
    for name, (paper, scenario) in SAMPLES.items():
        folder = published_folder(out / name, paper, scenario, raw=name in {"course", "iterations"})
        (out / f"{name}.svg").write_text((folder / "published.svg").read_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
