"""What requests hold while they wait: the process tells its memory while one a connection waits, and when none does."""

import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from loomlab.basics.errors import CannotMeasureError
from loomlab.basics.waves import has_warmup, most_live_set_s
from loomlab.records.endpoints import Endpoint, with_work
from loomlab.records.load import Closed, Load
from loomlab.records.models import Request
from loomlab.records.raw import Hold, MemoryAnswer, MemoryLog, Warmup, platform_threads
from loomlab.run.management import Management, Waits
from loomlab.run.process import Bursts, busy_connections
from loomlab.run.prometheus import UnreachableError

SPARE_WAIT_MS, LONGEST_WAIT_MS = 2_000, 12_000
"""A request waits until all others have come, and so much longer; less than any time-out."""
COLLECTIONS_S, LEFTOVERS_S = 5, 3  # for the collections, and for requests that the tool has given up
FULL_SHARE = 0.98  # of the connections; the last requests come while the first readings are made
LATEST_SHARE = 0.75  # of a wait: then the process is asked, however many requests have come
LOOK_EVERY_S, SETTLED_S, CLOSED_S = 0.2, 0.5, 1.0
UNPINNED_JDK = 24  # from which on a thread that waits in a monitor does not hold its carrier (JEP 491)


def wait_ms(connections: int, warmup: Warmup, cpus: float, work_ms: float) -> int:
    """Long enough for all to come before one is answered, by the warm-up's last CPU per request beside `work_ms`."""
    cost_ms = (warmup.bursts[-1].cpu_ms_per_request or 0.0) if warmup.bursts else 0.0
    longest_ms = min(LONGEST_WAIT_MS, 1000 * hold_s(connections) - SPARE_WAIT_MS)
    return round(min(SPARE_WAIT_MS + connections * max(cost_ms - work_ms, 0) / cpus, longest_ms))


def hold_s(connections: int) -> int:
    """For so many requests to come, wait and be answered."""
    return most_live_set_s(connections, 0) - COLLECTIONS_S - LEFTOVERS_S


def crowd_of(
    load: Load, endpoint: Endpoint, about: Any, before: MemoryAnswer, loaded: MemoryAnswer, backend: Management
) -> int:
    """How many requests wait: as many as the load keeps in flight, or as pools kept threads or connections for."""
    kept, threads = 0.0, platform_threads(about)
    if threads is not None:
        kept = (loaded.figure("threads") or 0) - (before.figure("threads") or 0)
    if endpoint.backend_calls and endpoint.at_once == 1:
        kept = max(kept, backend.process().backend_connections or 0)
    busy = busy_connections(load, endpoint.mean_ms / 1000)
    return min(max(busy, math.ceil(kept)), load.connections, load.connections if threads is None else threads)


def hindrance_of(request: Request, endpoint: Endpoint, about: Any, before: MemoryAnswer) -> str | None:
    """Why as many requests as the load keeps in flight cannot wait; None: they can."""
    threads, busy = platform_threads(about), busy_connections(request.load, endpoint.mean_ms / 1000)
    if not has_warmup(request.warmup_cap_s) or before.error:
        return before.error or "there was no warm-up, so the memory of the process itself still grows"
    if endpoint.database:
        return "the database cannot be told to answer all requests later"
    if threads is not None and endpoint.at_once > 1:
        return "the platform threads that made the load's concurrent calls are kept for a minute, and would count"
    if threads is not None and threads < busy:
        return f"{threads} platform threads cannot hold {busy} requests at once"
    if endpoint.label == "/pinned" and (request.jdk or UNPINNED_JDK) < UNPINNED_JDK:
        return f"requests of /pinned wait one after another on JDK {request.jdk}"
    return None


@dataclass(frozen=True)
class LiveSet:
    """Holds one request of a run's load on each of many connections, and asks for the memory meanwhile."""

    request: Request
    about: Any  # what the approach told of itself in GET /about
    bursts: Bursts
    waits: Waits
    wait: Callable[[threading.Event, float], bool] = threading.Event.wait

    def measure(self, before: MemoryAnswer, warmup: Warmup) -> MemoryLog:
        """What cannot be had stands in `error`. Once it has collected, what collectors need off the heap is there."""
        load, endpoint, approach = self.request.load, self.waits.endpoint, self.bursts.approach
        show = partial(self.waits.progress.show, "live set")
        log = MemoryLog(before=before, error=hindrance_of(self.request, endpoint, self.about, before))
        if log.error:
            return log
        show("nothing is in flight")
        self.bursts.drain(math.ceil(endpoint.mean_ms / 1000))
        log.loaded = approach.memory()
        connections = crowd_of(load, endpoint, self.about, before, log.loaded, self.waits.backend)
        each_ms = wait_ms(connections, warmup, approach.process().cpus or 1, endpoint.work_ms)
        try:
            log.hold, log.waiting = self._hold(connections, each_ms)
        except UnreachableError as error:
            log.error = f"the backend accepts no other delay: {error}"
        except CannotMeasureError as error:
            log.error = str(error).rstrip(".")
        finally:
            self.waits.restore()
        if log.error is None:
            show("nothing is in flight again")
            self.bursts.stop.pause(CLOSED_S)
            log.idle = approach.memory()
        return log

    def _hold(self, connections: int, each_ms: int) -> tuple[Hold, MemoryAnswer | None]:
        load, limit_s = self.request.load, hold_s(connections)
        wave = replace(
            load,
            connections=connections,
            targets=tuple(with_work(target, 0) for target in load.targets),
            timeout_s=limit_s,
            shape=Closed(requests=connections, duration_s=limit_s),
        )
        wave = self.waits.stretched(wave, each_ms)
        ended = threading.Event()
        with ThreadPoolExecutor(1) as beside:
            waiting = beside.submit(self._ask_when_they_wait, connections, each_ms / 1000, ended)
            try:
                show = partial(self.waits.progress.show, "live set", f"{connections:,} requests wait")
                burst = self.bursts.run("hold", wave, each_ms, show)
            finally:
                ended.set()
        counts = burst.model_dump(include={"duration_s", "requests", "errors"})
        return Hold(connections=connections, wait_ms=each_ms, started=burst.start, **counts), waiting.result()

    def _ask_when_they_wait(self, connections: int, wait_s: float, ended: threading.Event) -> MemoryAnswer | None:
        """Once all are in flight, or most of the first's wait is over; then calls hardly wait. None where none came."""
        latest_at = math.inf
        while not self.wait(ended, LOOK_EVERY_S):
            inflight, now = self.bursts.approach.process().inflight or 0, self.bursts.clock()
            if inflight:
                latest_at = min(latest_at, now + LATEST_SHARE * wait_s)
            full = inflight >= FULL_SHARE * connections
            if full:
                self.wait(ended, SETTLED_S)
            if full or now >= latest_at:
                answer = self.bursts.approach.memory()
                self.waits.cut()
                return answer
        return None
