"""What requests hold while they wait: the process is asked for its memory while one request a connection waits, and
again when none does."""

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from loomlab.basics.errors import CannotMeasureError
from loomlab.basics.waves import has_warmup, most_live_set_s
from loomlab.records.about import platform_threads
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import Endpoint, endpoint_of, with_work
from loomlab.records.load import Closed, Load
from loomlab.records.memory import Hold, MemoryAnswer, MemoryLog
from loomlab.records.models import Request
from loomlab.records.warmup import Warmup
from loomlab.run.backend import Behaviour
from loomlab.run.management import AskMemory
from loomlab.run.process import STALL_S
from loomlab.run.progress import Progress
from loomlab.run.prometheus import UnreachableError
from loomlab.run.stop import Stop
from loomlab.run.waits import Waits
from loomlab.run.warmup.burst import Bursts
from loomlab.run.warmup.process import ReadProcess, process_of
from loomlab.run.warmup.shapes import busy_connections
from loomlab.run.warmup.warmer import Subject
from loomlab.tools.hey import Hey
from loomlab.tools.tool import Tool

SPARE_WAIT_MS, LONGEST_WAIT_MS = 2_000, 12_000
"""A request waits until all others have come, and so much longer; less than any time-out."""
COLLECTIONS_S, LEFTOVERS_S = 5, 3
"""For the collections, and for requests that hey has given up."""
FULL_SHARE = 0.98
"""Of the connections; the last requests come while the first readings are made."""
LATEST_SHARE = 0.75
"""Of a wait: then the process is asked, however many requests have come."""
LOOK_EVERY_S, SETTLED_S, CLOSED_S = 0.2, 0.5, 1.0
UNPINNED_JDK = 24
"""From which on a thread that waits in a monitor does not hold its carrier (JEP 491)."""


def no_live_set(endpoint: Endpoint, connections: int, jdk: int, threads: int | None) -> str | None:
    """Why so many requests cannot wait at the same time, each on one of so many platform threads; None: they can."""
    if threads is not None and endpoint.at_once > 1:
        return "the platform threads that made the load's concurrent calls are kept for a minute, and would count"
    if threads is not None and threads < connections:
        return f"{threads} platform threads cannot hold {connections} requests at once"
    if endpoint.label == "/pinned" and jdk < UNPINNED_JDK:
        return f"requests of /pinned wait one after another on JDK {jdk}"
    return None


def wait_ms(connections: int, warmup: Warmup, cpus: float, work_ms: float) -> int:
    """Long enough for every request to come before the first is answered, by the CPU that a request took in the
    warm-up's last burst beside `work_ms`, for which held requests do not ask; and short enough for all to be answered
    in time."""
    cost_ms = (warmup.bursts[-1].cpu_ms_per_request or 0.0) if warmup.bursts else 0.0
    longest_ms = min(LONGEST_WAIT_MS, 1000 * hold_s(connections) - SPARE_WAIT_MS)
    return round(min(SPARE_WAIT_MS + connections * max(cost_ms - work_ms, 0) / cpus, longest_ms))


def hold_s(connections: int) -> int:
    """For so many requests to come, wait and be answered."""
    return most_live_set_s(connections, 0) - COLLECTIONS_S - LEFTOVERS_S


@dataclass(frozen=True)
class Crowd:
    """How many requests wait: as many as the load keeps `busy`, or more, so that they use all that the approach's pools
    have kept from a time when more were in flight; at `most` so many. `threads`, `connections`: each keeps a platform
    thread, a connection to the backend; `backend` tells how many of these are open."""

    busy: int
    most: int
    threads: bool
    connections: bool
    backend: ReadProcess

    def requests(self, before: MemoryAnswer, loaded: MemoryAnswer) -> int:
        """`before` and `loaded`: what the process told before its first request, and after the load."""
        threads = (loaded.figure("threads") or 0) - (before.figure("threads") or 0) if self.threads else 0
        connections = self.backend().backend_connections or 0 if self.connections else 0
        return min(max(self.busy, math.ceil(max(threads, connections))), self.most)


def crowd_of(load: Load, endpoint: Endpoint, about: Any, backend: ReadProcess) -> Crowd:
    """Of requests to the endpoint, under a load, to the approach that told so `about` itself."""
    threads = platform_threads(about)
    return Crowd(
        busy=busy_connections(load, endpoint.mean_ms / 1000),
        most=load.connections if threads is None else min(load.connections, threads),
        threads=threads is not None,
        connections=endpoint.backend_calls > 0 and endpoint.at_once == 1,
        backend=backend,
    )


@dataclass(frozen=True)
class Waiting:
    """What waits, what it told of itself in GET /about, how to ask it for its memory, and the backend it waits for."""

    request: Request
    about: Any
    ask: AskMemory
    behaviour: Behaviour


def live_set(waiting: Waiting, before: MemoryAnswer, warmup: Warmup, stop: Stop, progress: Progress) -> MemoryLog:
    """Of at least as many requests as the run's load keeps in flight; `before` is what the process told before its
    first one. Nothing is sent where that was nothing. hey sends the requests whatever the run's tool is: ab sends one
    alone first, and vegeta sends no wave."""
    request, delay = waiting.request, delay_of(waiting.request.delay)
    endpoint = endpoint_of(request.endpoint, delay)
    crowd = crowd_of(request.load, endpoint, waiting.about, process_of("backend"))
    hindrance = before.error or no_live_set(endpoint, crowd.busy, request.jdk, platform_threads(waiting.about))
    if not has_warmup(request.warmup_load_s or request.warmup_cap_s):
        hindrance = "there was no warm-up, so the memory of the process itself still grows"
    if hindrance:
        return MemoryLog(before=before, error=hindrance)
    subject = Subject(request.load, delay, process_of(request.approach))
    waits = Waits(endpoint, delay, waiting.behaviour, progress)
    return LiveSet(Hey(), subject, crowd, waits, waiting.ask, stop, progress).measure(before, warmup, endpoint)


class LiveSet:
    """Holds one request of `subject.load` on each of a crowd's connections, and asks for the memory meanwhile."""

    def __init__(
        self,
        tool: Tool,
        subject: Subject,
        crowd: Crowd,
        waits: Waits,
        ask: AskMemory,
        stop: Stop,
        progress: Progress,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[threading.Event, float], bool] = threading.Event.wait,
    ) -> None:
        self._subject = subject
        self._crowd = crowd
        self._waits = waits
        self._ask = ask
        self._stop = stop
        self._progress = progress
        self._bursts = Bursts(tool, subject.process, STALL_S, stop, LEFTOVERS_S, clock)
        self._clock = clock
        self._wait = wait

    def measure(self, before: MemoryAnswer, warmup: Warmup, endpoint: Endpoint) -> MemoryLog:
        """What cannot be had stands in `error`. It begins when what the load left behind has been answered. The process
        collects once beforehand: what its collector needs outside of the heap is there from then on, whether requests
        wait or not."""
        self._show("nothing is in flight")
        self._bursts.drain(math.ceil(endpoint.mean_ms / 1000))
        loaded = self._ask()
        connections = self._crowd.requests(before, loaded)
        each_ms = wait_ms(connections, warmup, self._subject.process().cpus or 1, endpoint.work_ms)
        try:
            hold, waiting = self._hold(connections, each_ms)
        except UnreachableError as error:
            return MemoryLog(before=before, loaded=loaded, error=f"the backend accepts no other delay: {error}")
        except CannotMeasureError as error:
            return MemoryLog(before=before, loaded=loaded, error=str(error).rstrip("."))
        finally:
            self._waits.restore()
        self._show("nothing is in flight again")
        self._stop.pause(CLOSED_S)
        return MemoryLog(before=before, loaded=loaded, hold=hold, waiting=waiting, idle=self._ask())

    def _hold(self, connections: int, each_ms: int) -> tuple[Hold, MemoryAnswer | None]:
        resting = tuple(with_work(target, 0) for target in self._subject.load.targets)
        load = replace(self._subject.load, connections=connections, targets=resting)
        load = self._waits.stretched(load, each_ms)
        ended = threading.Event()
        with ThreadPoolExecutor(1) as beside:
            waiting = beside.submit(self._ask_when_they_wait, connections, each_ms / 1000, ended)
            try:
                hold = self._one_wave(load, each_ms)
            finally:
                ended.set()
        return hold, waiting.result()

    def _one_wave(self, load: Load, each_ms: int) -> Hold:
        connections = load.connections
        limit_s = hold_s(connections)
        wave = replace(load, timeout_s=limit_s, shape=Closed(requests=connections, duration_s=limit_s))
        burst = self._bursts.run("hold", wave, each_ms, lambda: self._show(f"{connections:,} requests wait"))
        return Hold(
            connections=connections,
            wait_ms=each_ms,
            started=burst.start,
            duration_s=burst.duration_s,
            requests=burst.requests,
            errors=burst.errors,
        )

    def _ask_when_they_wait(self, connections: int, wait_s: float, ended: threading.Event) -> MemoryAnswer | None:
        """Once all are in flight, or most of the first one's wait is over; from then on calls hardly wait. None where
        none came."""
        full = FULL_SHARE * connections
        seen_at: float | None = None
        while not self._wait(ended, LOOK_EVERY_S):
            inflight, now = self._subject.process().inflight or 0, self._clock()
            if inflight and seen_at is None:
                seen_at = now
            if inflight >= full:
                self._wait(ended, SETTLED_S)
            elif seen_at is None or now - seen_at < LATEST_SHARE * wait_s:
                continue
            answer = self._ask()
            self._waits.cut()
            return answer
        return None

    def _show(self, text: str) -> None:
        self._progress.show("live set", None, None, text)
