"""The management ports of approach and backend: what they tell of themselves, and what they are asked to do."""

import math
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from http.client import HTTPResponse
from urllib.parse import urlencode

from loomlab.basics.errors import UsageError
from loomlab.records.endpoints import Delay, Endpoint, delay_of, with_wait
from loomlab.records.load import Load
from loomlab.records.models import Answer, Hang, Probe
from loomlab.records.raw import MemoryAnswer
from loomlab.run.console import Progress
from loomlab.run.prometheus import FAILURES, Connection, UnreachableError, answered, body_of, json_object, samples_of

PORT = 8081
TOLD = {"connection", "content-length", "content-type", "keep-alive", "transfer-encoding"}
"""Headers of answers whose values are kept: others may be a session's."""
LEASE_MS = 60_000  # the longest that the backend lends a delay
MEMORY_TIMEOUT_S = 30.0  # a full collection that looks at 10,000 stacks takes seconds


@dataclass(frozen=True)
class Process:
    """What a Java process tells on its metrics page; None: it does not tell."""

    cpu_s: float | None = None  # since its start, as the next one
    jit_cpu_s: float | None = None  # of its compilers' threads
    compiling_s: float | None = None  # elapsed, where no compilers' CPU time is told
    rss_bytes: float | None = None
    inflight: float | None = None  # unfinished requests
    threads: float | None = None
    allocated_bytes: float | None = None  # in the heap, since its start
    cpus: float | None = None  # that it takes itself to have
    backend_connections: float | None = None  # of the backend: how many to it are open


class Management:
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
            cpu_s=None if cpu_ns is None else 1e-9 * cpu_ns,
            jit_cpu_s=values.get("lab_jit_cpu_seconds_total"),
            rss_bytes=values.get("process_memory_rss_bytes"),
            inflight=values.get("lab_inflight_requests"),
            threads=values.get("jvm_threads_live_threads"),
            allocated_bytes=values.get("lab_allocated_bytes_total"),
            cpus=values.get("system_cpu_count"),
            backend_connections=values.get("backend_open_connections"),
        )

    def memory(self) -> MemoryAnswer:
        """After a full collection."""
        record = MemoryAnswer(asked=time.time(), answered=0)
        try:
            record.answer = json_object(f"{self.origin}/memory", "POST", MEMORY_TIMEOUT_S)
        except UnreachableError as error:
            record.error = str(error)
        record.answered = time.time()
        return record

    def reset_peaks(self) -> bool:
        """Whether it began its high-water marks anew."""
        with suppress(UnreachableError):
            answered(f"{self.origin}/peaks", "PUT")
            return True
        return False


class Backend(Management):
    def delay(self) -> str | None:
        """The one that holds now; None where the backend does not tell one."""
        with suppress(UnreachableError, KeyError, UsageError):
            return delay_of(str(json_object(f"{self.origin}/behaviour")["delay"])).text
        return None

    def behave(self, **changes: str | int) -> None:
        """Changes `delay`, for good or for `delay_for_ms`, or hangs for `hang_ms`; raises UnreachableError."""
        answered(f"{self.origin}/behaviour?{urlencode(changes)}", "PUT")


@dataclass(frozen=True)
class Waits:
    """Makes requests wait longer or shorter, in the backend, whose own `delay` comes back by itself, or by the path."""

    endpoint: Endpoint
    delay: Delay
    backend: Backend
    progress: Progress

    def stretched(self, load: Load, each_ms: int) -> Load:
        """The load whose requests wait so long at a time; raises UnreachableError where the backend takes no delay."""
        if self.endpoint.waits_as_configured:
            self.backend.behave(delay=max(each_ms, 1), delay_for_ms=LEASE_MS)
        return replace(load, targets=tuple(with_wait(target, each_ms) for target in load.targets))

    def cut(self) -> None:
        """From now on the backend's calls wait a millisecond; a longer wait that has begun goes on."""
        self._change("cut short", delay=1, delay_for_ms=LEASE_MS)

    def restore(self) -> None:
        self._change("reset, and the temporary one will end by itself", delay=self.delay.text)

    def _change(self, what: str, **changes: str | int) -> None:
        if self.endpoint.waits_as_configured:
            try:
                self.backend.behave(**changes)
            except UnreachableError as error:
                self.progress.say(f"The backend's delay could not be {what}: {error}.")


@contextmanager
def hanging(hangs: Sequence[Hang], backend: Backend, progress: Progress) -> Iterator[None]:
    """Within it, each hang begins at its time after the start; those that are not due before its end never do."""

    def begin(hang: Hang) -> None:
        try:
            backend.behave(hang_ms=round(hang.duration_s * 1000))
            progress.say(f"The backend hangs for {hang.duration_s:.0f} s.")
        except UnreachableError as error:
            progress.say(f"The backend could not be told to hang: {error}.")

    timers = [threading.Timer(hang.at_s, begin, [hang]) for hang in hangs]
    for timer in timers:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()


def exposed_values(page: str) -> dict[str, float]:
    """By name, each the sum over its label sets, if it is finite; raises UnreachableError for another page."""
    values: defaultdict[str, float] = defaultdict(float)
    for sample in samples_of(page):
        values[sample.name] += sample.value
    return {name: value for name, value in values.items() if math.isfinite(value)}


def probe(
    origin: str, target: str, headers: tuple[str, ...], timeout_s: float, version: str, then: str = "/about"
) -> Probe:
    """One request over that version of HTTP, which asks for its connection to be kept, and another one on that."""
    record = Probe(target=target)
    try:
        with closing(Connection(origin, timeout_s)) as connection:
            connection.connect()
            answer = record.answers[version] = _exchange(connection, target, version, headers)
            if answer.body_bytes is not None:
                with suppress(*FAILURES):  # closed: that is the finding
                    _exchange(connection, then, version, headers)
                    answer.kept = True
    except FAILURES as error:
        record.error = f"{origin} did not answer {target} over HTTP/{version} ({error})"
    return record


def _exchange(connection: Connection, target: str, version: str, headers: tuple[str, ...]) -> Answer:
    keep = ("Connection: keep-alive",) if version == "1.0" else ()
    lines = (f"GET {target} HTTP/{version}", f"Host: {connection.netloc}", "Accept: */*", *keep, *headers, "", "")
    connection.sock.allow(connection.timeout)
    connection.sock.sendall("\r\n".join(lines).encode("ascii"))
    response = HTTPResponse(connection.sock, method="GET")
    response.begin()
    return Answer(
        status=f"HTTP/{response.version / 10} {response.status} {response.reason}",
        headers=[(name, value if name.lower() in TOLD else "") for name, value in response.getheaders()],
        body_bytes=None if response.chunked else len(body_of(response)),
        kept=False,
    )
