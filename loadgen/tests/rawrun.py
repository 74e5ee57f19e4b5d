"""The raw files of a good run: those of the real ab, on a clock of their own, and simulated samples.

Twenty connections for 40 s, each answer after 920 ms. CPU 0 is the approach's, 1 the backend's, 2 the load generator's.
"""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from good import BURST
from loomlab.judge.judge import judge_run
from loomlab.records.models import Run
from loomlab.records.requestlog import RequestLog
from loomlab.run.process import IDLE
from loomlab.tools.ab import REQUEST_COLUMNS

BEGIN = 1_795_000_000.5
SECONDS = 40
CONCURRENCY = 20
DATE = "Sat Nov 21 06:12:24 2026"  # in ab's file of requests, beside the epoch second that counts
LATENCY_MS = 920
APPROACH_CPU, BACKEND_CPU, GENERATOR_CPU = 0.5, 0.1, 0.05
SAMPLED = range(-2, SECONDS + 5)  # seconds of the samples, from the run's start

type Samples = list[tuple[float, float]]


def at(second: float) -> float:
    return BEGIN + second


def matrix(name: str, samples: Samples, **labels: str) -> dict[str, Any]:
    """A series in the shape of Prometheus' answers."""
    return {"metric": {"__name__": name} | labels, "values": [[time, str(value)] for time, value in samples]}


def by_second(value: Callable[[int], float]) -> Samples:
    """From before the run until after it."""
    return [(at(second), value(second)) for second in range(-10, SECONDS + 8)]


def ramp(per_second: float) -> Samples:
    return by_second(lambda second: 50 + per_second * second)


def level(value: float) -> Samples:
    return by_second(lambda _: value)


def container(name: str, samples: Samples, service: str = "app", **labels: str) -> dict[str, Any]:
    return matrix(f"container_{name}", samples, service=service, **labels)


def cpu(service: str, samples: Samples) -> dict[str, Any]:
    return container("cpu_usage_seconds_total", samples, service, cpu="total")


def lateness(mean_s: float, slow_share: float = 0.1) -> list[dict[str, Any]]:
    """The backend's: so late on average; that share of its answers between 5 and 9 ms, the others less."""
    return [
        matrix("backend_lateness_seconds_bucket", ramp(100 * (1 - slow_share)), le="0.005"),
        matrix("backend_lateness_seconds_bucket", ramp(100), le="0.009"),
        matrix("backend_lateness_seconds_bucket", ramp(100), le="+Inf"),
        matrix("backend_lateness_seconds_count", ramp(100)),
        matrix("backend_lateness_seconds_sum", ramp(100 * mean_s)),
    ]


def metrics() -> dict[str, Any]:
    return {
        "containers": [
            cpu("app", ramp(APPROACH_CPU)), cpu("backend", ramp(BACKEND_CPU)), cpu("loadgen", ramp(GENERATOR_CPU)),
            container("memory_rss", ramp(0)), container("threads", ramp(0)),
        ],
        "approach": [
            matrix("lab_requests_seconds_count", ramp(20), endpoint="/capabilities"),
            matrix("process_start_time_seconds", ramp(0)), matrix("process_memory_swap_bytes", level(0)),
            matrix("process_memory_rss_bytes", level(1e9)),
        ],
        "backend": [
            matrix("backend_requests_total", ramp(3 * CONCURRENCY / 0.92)),
            matrix("backend_connections_total", ramp(0)), matrix("backend_open_connections", level(CONCURRENCY)),
            matrix("backend_loop_cpu_seconds_total", ramp(0.1), loop="1"),
            matrix("process_start_time_seconds", ramp(0)), *lateness(mean_s=0.004),
        ],
    }  # fmt: skip


def jiffies(busy: float, second: int, stolen: float = 0.0) -> list[int]:
    """Counters of /proc/stat of a CPU that is so busy from the first sample on."""
    since = second - SAMPLED.start
    user, steal = round(100 * busy * since), round(100 * stolen * since)
    return [user, 0, 0, 100 * since - user - steal, 0, 0, 0, steal]


def host_samples(
    approach: float = APPROACH_CPU, backend: float = BACKEND_CPU, generator: float = GENERATOR_CPU, stolen: float = 0.0
) -> list[dict[str, Any]]:
    """One a second, with so much use of each CPU; `stolen` is the approach's."""
    return [
        {
            "time": at(second), "monotonic": 7.5 + second,
            "cpus": {
                "0": jiffies(approach, second, stolen),
                "1": jiffies(backend, second),
                "2": jiffies(generator, second),
            },
            "tool_threads": {"1": 0.05 * second}, "tool_waits": {"1": [0.001 * second, 100 * second]},
        }
        for second in SAMPLED
    ]  # fmt: skip


def load(target: str = "/capabilities", **changes: Any) -> dict[str, Any]:
    return {
        "origin": "http://app:8080", "targets": [{"target": target}], "connections": CONCURRENCY, "timeout_s": 30,
        "shape": {"kind": "closed", "requests": 5000, "duration_s": SECONDS},
    } | changes  # fmt: skip


def rows(latency_ms: Callable[[float], float] = lambda _: LATENCY_MS) -> list[tuple[int, int]]:
    """(start, latency in ms) of each answer; ab rounds starts down. `latency_ms` is by the second of the start."""
    answered = []
    for connection in range(CONCURRENCY):
        start = connection / CONCURRENCY * 0.92
        while True:
            took = latency_ms(start)
            if start + took / 1000 > SECONDS:
                break
            answered.append((int(at(start)), round(took)))
            start += took / 1000
    return answered


@dataclass
class RawRun:
    """What the files hold, to be changed before they are written; None: there is no such file."""

    request: dict[str, Any] = field(
        default_factory=lambda: {
            "tool": "ab", "approach": "app", "load": load(), "delay": "300", "repeat": 2, "jdk": 25, "gc": "g1",
            "generator_cpus": "2", "backend_cpus": "1", "approach_cpus": "0", "monitoring_cpus": "1",
            "warmup_cap_s": 120, "started": BEGIN - 60, "finished": True,
        }
    )  # fmt: skip
    tool: dict[str, Any] = field(
        default_factory=lambda: {"command": ["ab"], "started": BEGIN, "ended": at(SECONDS + 0.2), "exit_code": 0}
    )
    rows: list[tuple[int, int]] = field(default_factory=rows)
    unanswered: int = 0
    report: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=metrics)
    container: dict[str, Any] = field(default_factory=lambda: {"RestartCount": 0})
    state: dict[str, Any] = field(
        default_factory=lambda: {"Running": True, "OOMKilled": False, "StartedAt": "2026-11-01T00:00:00.1Z"}
    )
    delays: dict[str, Any] = field(default_factory=lambda: {"before": "300", "after": "300"})
    warmup: dict[str, Any] = field(
        default_factory=lambda: {
            "cap_s": 120, "compiled": True, "changing": None, "failed": False, "duration_s": 70, "compiling_s": 40,
            "bursts": [BURST.model_dump()],
        }
    )  # fmt: skip
    samples: list[dict[str, Any]] = field(default_factory=host_samples)
    network: dict[str, int] = field(default_factory=lambda: {"TCPSynRetrans": 0, "ActiveOpens": CONCURRENCY})
    peaks_reset: bool = True
    memory: dict[str, Any] | None = None
    about: dict[str, Any] = field(
        default_factory=lambda: {
            "approach": "app", "concurrency": "virtual-threads", "outbound": {"max_connections_per_route": 30},
        }
    )  # fmt: skip

    def put(self, part: str, *series: dict[str, Any]) -> None:
        """These take the place of those of the same name, service and bound."""

        def key(one: dict[str, Any]) -> tuple[str | None, ...]:
            return tuple(one["metric"].get(label) for label in ("__name__", "service", "le"))

        new = {key(one) for one in series}
        self.metrics[part] = [one for one in self.metrics[part] if key(one) not in new] + list(series)

    def spend(self, cpu: str, column: int, by_second: Callable[[int], float]) -> None:
        """So many jiffies of the CPU's until that second, which were idle ones, are of this column."""
        for second, sample in zip(SAMPLED, self.samples, strict=True):
            spent = round(by_second(second))
            sample["cpus"][cpu][column] += spent
            sample["cpus"][cpu][IDLE] -= spent

    def write(self, folder: Path) -> Path:
        (folder / "raw").mkdir(parents=True, exist_ok=True)
        host = {"samples": self.samples, "peaks_reset": self.peaks_reset, "boot_id": "1b4e28ba"}
        network = {"network_before": dict.fromkeys(self.network, 0), "network_after": self.network}
        files = {
            "request": self.request, "tool": self.tool, "metrics": self.metrics, "backend": self.delays,
            "warmup": self.warmup, "memory": self.memory, "about": self.about, "host": host | network,
            "container": [self.container | {"State": self.state}],
        }  # fmt: skip
        for name, value in files.items():
            if value is not None:
                write(folder, f"{name}.json", value)
        told = {
            "Time taken for tests": f"{SECONDS}.000 seconds", "Complete requests": len(self.rows) + self.unanswered,
            "Failed requests": 0, "Total transferred": "9 bytes",
        } | self.report  # fmt: skip
        said = "".join(f"{name}:  {value}\n" for name, value in told.items())
        write(folder, "ab.txt", f"This is ApacheBench\n{said}")
        answered = "".join(f"{DATE}\t{start}\t0\t{took}\t{took}\t{took}\n" for start, took in self.rows)
        closed = f"{DATE}\t{int(at(5))}\t0\t9\t9\t0\n" * self.unanswered
        with gzip.open(folder / "raw" / "ab-requests.tsv.gz", "wt") as log:
            log.write(REQUEST_COLUMNS + "\n" + answered + closed)
        return folder

    def judged(self, folder: Path) -> Run:
        """The run, written below `folder`, as it is judged."""
        return judge_run(self.write(folder / "1-app"))


def write(run_dir: Path, name: str, value: Any) -> None:
    (run_dir / "raw" / name).write_text(value if isinstance(value, str) else json.dumps(value))


def log_of(start_s: ArrayLike, latency_ms: ArrayLike, **others: Any) -> RequestLog:
    """The log of plain numbers."""
    return RequestLog(np.asarray(start_s, np.float64), np.asarray(latency_ms, np.float64), **others)


type Judge = Callable[..., Run]
type StandIn = Callable[..., None]
