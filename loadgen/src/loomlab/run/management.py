"""The management port of a process of the lab: what it tells of itself, and what it is asked to do."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from loomlab.records.memory import MemoryAnswer
from loomlab.run.prometheus import UnreachableError, answered, json_object

PORT = 8081
MEMORY_TIMEOUT_S = 30.0
"""A full collection that looks at 10,000 stacks takes seconds."""
NANOS = 1e-9


@dataclass(frozen=True)
class Process:
    """What a Java process tells on its metrics page; None: it does not tell."""

    cpu_s: float | None = None  # since its start, as the next two
    jit_cpu_s: float | None = None  # of its compilers' threads
    gc_cpu_s: float | None = None  # of its collector's threads
    rss_bytes: float | None = None
    inflight: float | None = None  # unfinished requests
    cpus: float | None = None  # that it takes itself to have
    backend_connections: float | None = None  # of the backend: how many to it are open


ReadProcess = Callable[[], Process]


class Management:
    """Of one service."""

    def __init__(self, host: str, port: int = PORT) -> None:
        self.origin = f"http://{host}:{port}"

    def process(self) -> Process:
        """Of one that does not answer, nothing."""
        try:
            values = exposed_values(answered(f"{self.origin}/actuator/prometheus"))
        except UnreachableError:
            return Process()
        cpu_ns = values.get("process_cpu_time_ns_total")
        return Process(
            cpu_s=None if cpu_ns is None else cpu_ns * NANOS,
            jit_cpu_s=values.get("lab_jit_cpu_seconds_total"),
            gc_cpu_s=values.get("lab_gc_cpu_seconds_total"),
            rss_bytes=values.get("process_memory_rss_bytes"),
            inflight=values.get("lab_inflight_requests"),
            cpus=values.get("system_cpu_count"),
            backend_connections=values.get("backend_open_connections"),
        )

    def memory(self) -> MemoryAnswer:
        """After a full collection."""
        asked, answer, error = time.time(), None, None
        try:
            answer = json_object(f"{self.origin}/memory", "POST", MEMORY_TIMEOUT_S)
        except UnreachableError as problem:
            error = str(problem)
        return MemoryAnswer(asked=asked, answered=time.time(), answer=answer, error=error)

    def reset_peaks(self) -> bool:
        """Whether it began its high-water marks anew."""
        try:
            answered(f"{self.origin}/peaks", "PUT")
        except UnreachableError:
            return False
        return True


def exposed_values(page: str) -> dict[str, float]:
    """The metrics of a text-format page by name, each the sum over all of its label sets; raises UnreachableError for
    another page."""
    values: dict[str, float] = {}
    try:
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                values[sample.name] = values.get(sample.name, 0.0) + sample.value
    except ValueError as error:
        raise UnreachableError(f"the page does not hold metrics ({error})") from error
    return values
