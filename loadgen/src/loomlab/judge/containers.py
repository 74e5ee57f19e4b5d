"""What the containers and their processes took: the one under test, the backend, the load generator."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from loomlab.basics.cpus import parse_cpu_list
from loomlab.judge.busy import busiest_thread_full_share, full_share
from loomlab.judge.evidence import BackendSide, Generator, UnderTest
from loomlab.judge.facts import Facts
from loomlab.judge.limits import BUSY_CPU
from loomlab.judge.outcome import Outcome
from loomlab.judge.shown import Shown


@dataclass(frozen=True)
class Took:
    """`span` is what figures per request are of; `counted` its requests."""

    facts: Facts
    span: tuple[float, float]
    counted: int | None

    def under_test(self) -> UnderTest:
        facts, metrics = self.facts, self.facts.metrics
        start, end = facts.start, facts.end
        gc = metrics.gc(start, end)
        jit_s, cpu_s = metrics.jit_cpu_seconds(start, end), metrics.cpu_seconds(facts.request.approach, start, end)
        return UnderTest(
            known=facts.container is not None,
            failure=container_failure(facts.container, start),
            process_restarts=metrics.process_restarts(start, end),
            oom_kills=metrics.oom_kills(start, end),
            metrics_missing_ratio=metrics.missing_ratio(start, end),
            gc_share=gc.share,
            gc_cpu_share=gc.cpu_share,
            throttled_ratio=metrics.throttled_ratio(start, end),
            jit_cpu_share=jit_s / cpu_s if jit_s is not None and cpu_s else None,
            backend_pool=backend_pool(facts.about),
            platform_threads=platform_threads(facts.about),
        )

    def backend(self) -> BackendSide:
        """Nothing of how near it was to its limits where no request asks it. Lateness is of the span that latency is
        taken on, up to the backend's first hang: after it, all that waited is due at once."""
        facts, metrics = self.facts, self.facts.metrics
        requests = metrics.backend_growth("backend_requests_total", *self.span)
        told = BackendSide(
            delays=facts.delays,
            requests_per_request=requests / self.counted if requests is not None and self.counted else None,
            connections_opened=metrics.backend_growth("backend_connections_total", facts.start, facts.end),
        )
        if not facts.endpoint.backend_calls:
            return told
        calm_until = min([self.span[1], *(facts.start + hang.at_s for hang in facts.request.hangs)])
        cpus = parse_cpu_list(facts.request.backend_cpus)
        return BackendSide(
            cpus_full=full_share(facts.host.samples, cpus, BUSY_CPU),
            quota_full=metrics.quota_full_share("backend", facts.start, facts.end, BUSY_CPU),
            loop_full=metrics.backend_loop_full_share(facts.start, facts.end, BUSY_CPU),
            lateness_mean_ms=metrics.backend_lateness_mean_ms(self.span[0], calm_until),
            lateness_p99_ms=metrics.backend_lateness_p99_ms(self.span[0], calm_until),
            delays=told.delays,
            requests_per_request=told.requests_per_request,
            connections_opened=told.connections_opened,
        )

    def generator(self) -> Generator:
        facts = self.facts
        cpus = parse_cpu_list(facts.request.generator_cpus)
        return Generator(
            cpus_full=full_share(facts.host.samples, cpus, BUSY_CPU),
            thread_full=busiest_thread_full_share(facts.host.samples, BUSY_CPU),
            quota_full=facts.metrics.quota_full_share("loadgen", facts.start, facts.end, BUSY_CPU),
            syn_retransmits=facts.growth("TCPSynRetrans"),
            connections_opened=facts.growth("ActiveOpens"),
        )

    def published(self) -> dict[str, Any]:
        """Fields of run.json. CPU is of the span; memory and threads are of the whole run. RSS is null under ZGC: its
        heap is shared memory, which the kernel does not count as RSS."""
        metrics, approach = self.facts.metrics, self.facts.request.approach
        start, end = self.facts.start, self.facts.end
        backend = self.backend()
        opened = backend.connections_opened
        return {
            "cpu_seconds": metrics.cpu_seconds(approach, *self.span),
            "cpu_ms_per_request": self._cpu_ms_per_request(approach),
            "backend_cpu_ms_per_request": self._cpu_ms_per_request("backend"),
            "generator_cpu_ms_per_request": self._cpu_ms_per_request("loadgen"),
            "rss_max_bytes": None if self.facts.request.gc == "zgc" else metrics.rss_max_bytes(start, end),
            "vsz_max_bytes": metrics.vsz_max_bytes(start, end),
            "threads_max": metrics.threads_max(start, end),
            "throttled_ratio": metrics.throttled_ratio(start, end),
            "gc": metrics.gc(start, end),
            "jit_cpu_seconds": metrics.jit_cpu_seconds(start, end),
            "virtual_threads_pinned": metrics.virtual_threads_pinned(start, end),
            "connections_opened": self.facts.growth("ActiveOpens"),
            "backend_lateness_mean_ms": backend.lateness_mean_ms,
            "backend_lateness_p99_ms": backend.lateness_p99_ms,
            "backend_requests_per_request": backend.requests_per_request,
            "backend_connections_opened": None if opened is None else round(opened),
        }

    def _cpu_ms_per_request(self, service: str) -> float | None:
        seconds = self.facts.metrics.cpu_seconds(service, *self.span)
        return 1000 * seconds / self.counted if seconds is not None and self.counted else None


def took_of(facts: Facts, outcome: Outcome, shown: Shown) -> Took:
    return Took(facts, shown.span(facts), shown.counted(outcome))


def container_failure(inspected: Any, started: float) -> str | None:
    """Why `docker inspect` of the container under test (an array of one) invalidates a run begun at `started`."""
    try:
        container = inspected[0]
        state = container["State"]
    except (TypeError, KeyError, IndexError):
        return None
    if state.get("OOMKilled"):
        killed = "A process of the container" if state.get("Running") else "The container"
        return f"{killed} under test was killed for memory: raise its limit."
    if container.get("RestartCount"):
        return f"The container under test restarted {container['RestartCount']} times (the limit is 0)."
    if state.get("Running") is False:
        return f"The container under test had ended (exit code {state.get('ExitCode')}) when the run was over."
    begun = datetime.fromisoformat(state["StartedAt"]).timestamp() if state.get("StartedAt") else 0.0
    if begun > started:
        return f"The container under test was started {begun - started:.1f} s after the run began."
    return None


def backend_pool(about: Any) -> int | None:
    """The most backend connections to one address, from GET /about."""
    try:
        limit = about["outbound"]["max_connections_per_route"]
    except (TypeError, KeyError):
        return None
    return limit if isinstance(limit, int) else None


def platform_threads(about: Any) -> int | None:
    """The most worker threads, where they are platform threads, from GET /about."""
    try:
        limit = about["inbound"]["max_threads"] if about["concurrency"] == "platform-threads" else None
    except (TypeError, KeyError):
        return None
    return limit if isinstance(limit, int) else None
