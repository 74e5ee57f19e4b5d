"""What the world sees of a run while it goes: metrics on a port of the load generator, and progress lines."""

import time
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, start_http_server

from loomlab.records.load import Load, OpenRate
from loomlab.records.models import HostSample, Request
from loomlab.run.cpusets import CpuSets
from loomlab.run.progress import Progress
from loomlab.run.prometheus import Prometheus, UnreachableError
from loomlab.tools.tool import Tool

PORT = 9646
PHASES = ("warm-up", "measure", "collect")
SERVED = (
    'label_replace(sum(lab_requests_seconds_count{{service="{approach}",status=~"2.."}}), "outcome", "ok", "", "") or '
    'label_replace(sum(lab_requests_seconds_count{{service="{approach}",status!~"2.."}}), "outcome", "failed", "", "")'
)
"""What the approach itself has counted, for tools that tell nothing before their end."""
Counts = dict[str, float]


class LiveFigures:
    """Serves `lab_run_info` (what is measured), `lab_run_phase` (1 for the current one), `lab_run_elapsed_seconds`
    (since the measure phase began; 0 in the others), `lab_offered_rate_rps` (of the current step; absent in a closed
    model), `lab_offered_connections` and the figures of CpuSets."""

    def __init__(self, request: Request, run_dir: Path, progress: Progress, port: int = PORT) -> None:
        registry = CollectorRegistry()
        info = {
            "experiment": run_dir.parent.parent.name,
            "run": run_dir.name,
            "approach": request.approach,
            "scenario": request.scenario or "",
            "tool": request.tool,
            "endpoint": request.endpoint.partition("?")[0],
            "jdk": str(request.jdk),
        }
        Gauge("lab_run_info", "The run that is going on", list(info), registry=registry).labels(**info).set(1)
        self._phase = Gauge("lab_run_phase", "1 for the phase the run is in", ["phase"], registry=registry)
        Gauge("lab_offered_connections", "Connections, at most", registry=registry).set(request.load.connections)
        self._measuring_since: float | None = None
        elapsed = Gauge("lab_run_elapsed_seconds", "Since the measure phase began, else 0", registry=registry)
        elapsed.set_function(self._elapsed_s)
        registry.register(CpuSets(request.backend_cpus, request.approach_cpus, request.monitoring_cpus))
        shape = request.load.shape
        if isinstance(shape, OpenRate):
            rate = Gauge("lab_offered_rate_rps", "Requests a second that are to start now", registry=registry)
            rate.set_function(lambda: self._offered_rps(shape))
        try:
            start_http_server(port, registry=registry)
        except OSError as error:
            progress.say(f"The run's live figures cannot be served on port {port}: {error.strerror}.")

    def phase(self, current: str) -> None:
        """Of PHASES."""
        for phase in PHASES:
            self._phase.labels(phase).set(phase == current)
        self._measuring_since = time.monotonic() if current == "measure" else None

    def _elapsed_s(self) -> float:
        return 0.0 if self._measuring_since is None else time.monotonic() - self._measuring_since

    def _offered_rps(self, shape: OpenRate) -> float:
        if self._measuring_since is None:
            return 0.0
        left_s = self._elapsed_s()
        for step in shape.steps:
            if left_s < step.duration_s:
                return step.rate_rps
            left_s -= step.duration_s
        return 0.0


class LiveProgress:
    """Progress of the measured run: requests that have ended, their rate and errors, from the tool's own live figures
    or, where it has none, from what the approach has counted."""

    def __init__(self, approach: str, load: Load, tool: Tool, prometheus_url: str, progress: Progress) -> None:
        self._load = load
        self._progress = progress
        self._prometheus = Prometheus(prometheus_url)
        self._query = tool.done_query or SERVED.format(approach=approach)
        self._by = tool.name if tool.done_query else "the server's count"
        self._before = None if tool.done_query else self._counts()
        self._last: tuple[float, float] | None = None

    def show(self, sample: HostSample, elapsed_s: float) -> None:
        duration_s = self._load.shape.duration_s
        share = 100 * min(elapsed_s / duration_s, 1)
        self._progress.show("measure", share, duration_s - elapsed_s, self._text(sample.time))

    def _text(self, now: float) -> str:
        counts = self._counts()
        if counts is None:
            return "requests so far: unknown"
        before = self._before or {}
        done = {outcome: max(count - before.get(outcome, 0.0), 0.0) for outcome, count in counts.items()}
        total = sum(done.values())
        last, self._last = self._last, (now, total)
        rate = f", {(total - last[1]) / (now - last[0]):,.0f}/s" if last and now > last[0] else ""
        return f"{total:,.0f} requests{rate}, {done.get('failed', 0):,.0f} errors ({self._by})"

    def _counts(self) -> Counts | None:
        try:
            result = self._prometheus.query(self._query, time.time())
        except UnreachableError:
            return None
        counts = {entry["metric"].get("outcome", ""): float(entry["value"][1]) for entry in result}
        return counts or None
