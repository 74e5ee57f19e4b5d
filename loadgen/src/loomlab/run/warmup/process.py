"""What a Java process tells of itself on its own metrics page."""

from collections.abc import Callable
from dataclasses import dataclass

from loomlab.run.prometheus import UnreachableError, answered, exposed_values

METRICS_PORT = 8081
NANOS = 1e-9


@dataclass(frozen=True)
class Process:
    """Cumulative CPU seconds of the process and of its compilers' and collectors' threads, its RSS, its unfinished
    requests, the CPUs it takes itself to have; of the backend, how many connections to it are open. None: it does not
    tell."""

    cpu_s: float | None = None
    jit_cpu_s: float | None = None
    gc_cpu_s: float | None = None
    rss_bytes: float | None = None
    inflight: float | None = None
    cpus: float | None = None
    backend_connections: float | None = None


ReadProcess = Callable[[], Process]


def process_of(service: str) -> ReadProcess:
    """Reads the process from its own metrics page; of one that does not answer, nothing."""

    def read() -> Process:
        try:
            told = exposed_values(answered(f"http://{service}:{METRICS_PORT}/actuator/prometheus"))
        except UnreachableError:
            return Process()
        cpu_ns = told.get("process_cpu_time_ns_total")
        return Process(
            cpu_s=None if cpu_ns is None else cpu_ns * NANOS,
            jit_cpu_s=told.get("lab_jit_cpu_seconds_total"),
            gc_cpu_s=told.get("lab_gc_cpu_seconds_total"),
            rss_bytes=told.get("process_memory_rss_bytes"),
            inflight=told.get("lab_inflight_requests"),
            cpus=told.get("system_cpu_count"),
            backend_connections=told.get("backend_open_connections"),
        )

    return read


def growth(before: float | None, after: float | None) -> float | None:
    """What a counter grew by, None where either reading is missing."""
    return None if before is None or after is None else after - before
