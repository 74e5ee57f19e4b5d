"""What the world sees of a run while it goes: metrics on a port of the load generator, and progress lines."""

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Gauge, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from loomlab.basics.grouping import parse_cpu_list
from loomlab.records.load import Load, OpenRate
from loomlab.records.models import Request
from loomlab.run.console import Progress
from loomlab.run.process import CLOCK_TICKS, IDLE, IOWAIT, NICE, PROC, STEAL, SYSTEM, USER, cpu_jiffies
from loomlab.run.prometheus import Prometheus, UnreachableError
from loomlab.tools.tool import Tool

PORT, RATE_S = 9646, 5
INFO = ("experiment", "run", "approach", "scenario", "tool", "endpoint", "jdk")
PHASES = ("warm-up", "measure", "collect")
SPENT = {"idle": (IDLE, IOWAIT), "busy": (USER, NICE, SYSTEM), "stolen": (STEAL,)}
"""Columns of a CPU, by the figure that they are told in: interrupts are in none."""


class CpuSets(Collector):
    """`lab_available_cpus` and `lab_{idle,busy,stolen}_cpu_seconds_total` by role: approach, if its CPUs are own."""

    def __init__(self, backend: str, approach: str, monitoring: str | None = None, proc: Path = PROC) -> None:
        self._proc = proc
        every = set(cpu_jiffies(proc))
        own = {str(cpu) for cpu in os.sched_getaffinity(0)}
        self._sets = {"loadgen": own, "backend": parse_cpu_list(backend) or every}
        others = own | self._sets["backend"] | (set() if monitoring is None else parse_cpu_list(monitoring) or every)
        if not others & (cpus := parse_cpu_list(approach) or every):
            self._sets["approach"] = cpus
        self._spent_s: dict[tuple[str, str], float] = defaultdict(float)

    def collect(self) -> Iterator[Metric]:
        """The kernel's own counters may fall a little; these do not."""
        cpus = cpu_jiffies(self._proc)
        count = GaugeMetricFamily("lab_available_cpus", "CPUs that the role may run on", labels=["role"])
        for role, members in self._sets.items():
            count.add_metric([role], len(members))
        yield count
        for what, columns in SPENT.items():
            spent = CounterMetricFamily(f"lab_{what}_cpu_seconds", f"{what} time of these CPUs", labels=["role"])
            for role, members in self._sets.items():
                jiffies = sum(cpus[cpu][column] for cpu in members & cpus.keys() for column in columns)
                self._spent_s[role, what] = max(self._spent_s[role, what], jiffies / CLOCK_TICKS)
                spent.add_metric([role], self._spent_s[role, what])
            yield spent


class LiveFigures:
    """Serves what goes on to Prometheus (docs/reference/metrics.md), and the figures of CpuSets."""

    def __init__(self, request: Request, run_dir: Path, progress: Progress, port: int | None = PORT) -> None:
        """Without a port they are not served."""
        registry = CollectorRegistry()
        self._info = Gauge("lab_run_info", "The run that is going on", INFO, registry=registry)
        self._connections = Gauge("lab_offered_connections", "Connections, at most", registry=registry)
        self.follow(request, run_dir)
        self._phase = Gauge("lab_run_phase", "1 for the phase the run is in", ["phase"], registry=registry)
        self._measuring_since: float | None = None
        elapsed = Gauge("lab_run_elapsed_seconds", "Since the measure phase began, else 0", registry=registry)
        elapsed.set_function(self._elapsed_s)
        registry.register(CpuSets(request.backend_cpus, request.approach_cpus, request.monitoring_cpus))
        if isinstance(self._shape, OpenRate):
            rate = Gauge("lab_offered_rate_rps", "Requests a second that are to start now", registry=registry)
            rate.set_function(self._offered_rps)
        try:
            if port is not None:
                start_http_server(port, registry=registry)
        except OSError as error:
            progress.say(f"The run's live figures cannot be served on port {port}: {error.strerror}.")

    def follow(self, request: Request, run_dir: Path) -> None:
        self._shape = request.load.shape
        self._connections.set(request.load.connections)
        self._info.clear()
        self._info.labels(
            run_dir.parent.parent.name, run_dir.name, request.name, request.scenario or "", request.tool,
            request.endpoint.partition("?")[0], request.jdk or "",
        ).set(1)  # fmt: skip

    def phase(self, current: str) -> None:
        for phase in PHASES:
            self._phase.labels(phase).set(phase == current)
        self._measuring_since = time.monotonic() if current == "measure" else None

    def _elapsed_s(self) -> float:
        return 0.0 if self._measuring_since is None else time.monotonic() - self._measuring_since

    def _offered_rps(self) -> float:
        left_s = self._elapsed_s()
        steps = self._shape.steps if isinstance(self._shape, OpenRate) else ()
        for step in steps if self._measuring_since is not None else ():
            if left_s < step.duration_s:
                return step.rate_rps
            left_s -= step.duration_s
        return 0.0


class LiveProgress:
    """How many requests end a second, and how many fail, by the tool's live figures or else by the approach's count."""

    def __init__(self, approach: str, load: Load, tool: Tool, prometheus_url: str | None, progress: Progress) -> None:
        self._duration_s = load.shape.duration_s
        self._progress = progress
        self._prometheus = Prometheus(prometheus_url) if prometheus_url else None
        counter = tool.counter or f'lab_requests_seconds_count{{service="{approach}"}}'
        self._query = f"sum by (status) (rate({counter}[{RATE_S}s]))"
        self._source = tool.name if tool.counter else "the server's count"

    def show(self, elapsed_s: float) -> None:
        text = "requests a second: unknown"
        with suppress(UnreachableError):
            if self._prometheus:
                text = self._rates(self._prometheus.query(self._query, time.time()))
        share, left_s = min(elapsed_s / self._duration_s, 1), max(self._duration_s - elapsed_s, 0)
        self._progress.show("measure", text, f" {100 * share:.0f} %, {left_s:.0f} s left")

    def _rates(self, result: list[dict[str, Any]]) -> str:
        rates = [(series["metric"].get("status", ""), float(series["value"][1])) for series in result]
        failed = sum(rate for status, rate in rates if not status.startswith("2"))
        return f"{sum(rate for _, rate in rates):,.0f} requests/s, {failed:,.0f} errors/s ({self._source})"
