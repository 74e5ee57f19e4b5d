"""What a waiting request held, of what the process told before, while and after requests waited."""

from dataclasses import dataclass
from typing import Any

from loomlab.records.about import platform_threads, processors
from loomlab.records.endpoints import Endpoint
from loomlab.records.memory import LiveBytes, MemoryAnswer, MemoryLog

FEWEST_WAITING, MOST_LEFT = 0.9, 0.1
"""Of the short load's connections; and requests of the load before it."""
MOST_KEPT, SPARE, SPARE_PER_CPU = 1.1, 10, 2
"""Threads, or backend connections, for each waiting request; and those that no request accounts for: threads that the
JVM starts for itself, connections that event loops are handing over."""
FEWEST_REQUESTS = 100
"""Of which stacks, off-heap and kernel are told: other memory moves by 1 MB and more, which they would be charged."""
MOST_SHRUNK = 0.1
"""Of the heap that requests held: by so much it may shrink between the readings before and after them."""
HEAP, KERNEL, STACKS = ("heap_used_bytes",), ("kernel_bytes",), ("thread_stack_bytes",)
OFF_HEAP = ("rss_anon_bytes", "heap_rss_anon_bytes", "thread_stack_bytes")
"""The first, less the others."""


@dataclass(frozen=True)
class LiveSet:
    """`requests` waited while each held `bytes_each`; `heap_kept_bytes` is by how much the heap, after a full
    collection, was larger when the requests were gone than before the process's first one; `unknown` says what is not
    known and why."""

    bytes_each: LiveBytes
    requests: int | None = None
    heap_kept_bytes: float | None = None
    unknown: tuple[str, ...] = ()

    def published(self) -> dict[str, Any]:
        """Fields of run.json."""
        return {
            "live_bytes_per_request": self.bytes_each,
            "live_requests": self.requests,
            "heap_kept_bytes": self.heap_kept_bytes,
        }

    def notes(self) -> list[str]:
        return [f"What a waiting request holds is not known: {'; '.join(self.unknown)}."] if self.unknown else []


@dataclass(frozen=True)
class Pools:
    """Of an approach that told so `about` itself; `backend_connections` were open when a load on `endpoint` ended, as
    far as is known."""

    endpoint: Endpoint
    about: Any
    backend_connections: float | None

    def unknown(self, log: MemoryLog, requests: int) -> dict[str, str]:
        """The parts in which more than the waiting requests' would be counted, and why."""
        most = MOST_KEPT * requests + SPARE + SPARE_PER_CPU * processors(self.about)
        threads = _growth(log.before, log.waiting, ("threads",)) or 0
        if platform_threads(self.about) is not None and threads > most:
            kept = f"because {threads:.0f} threads were kept for {requests} requests"
            return {"stacks_off_heap": kept, "kernel": kept}
        if not self.endpoint.backend_calls:
            return {}
        if self.endpoint.at_once > 1:
            return {"kernel": "because connections for concurrent calls were kept, and each request waits on one"}
        if self.backend_connections is None:
            return {"kernel": "without backend_open_connections"}
        if self.backend_connections > most:
            kept = f"because {self.backend_connections:.0f} backend connections were kept for {requests} requests"
            return {"kernel": kept}
        return {}


def live_set_of(log: MemoryLog | None, pools: Pools) -> LiveSet:
    """Heap and off-heap against the process after the load, with nothing in flight; threads' stacks and the kernel's
    memory, which a pool keeps, against the process before its first request."""
    if log is None:
        return LiveSet(LiveBytes())
    heap_kept = _growth(log.before, _at_rest(log), HEAP)
    hindrance = _hindrance(log)
    if hindrance or log.hold is None or log.waiting is None or log.idle is None:
        return LiveSet(LiveBytes(), None, heap_kept, (hindrance or "no request waited",))
    before, waiting, idle = log.before, log.waiting, log.idle
    requests = waiting.figure("requests_in_flight") or 0
    off_heap, stacks = _growth(idle, waiting, OFF_HEAP), _growth(before, waiting, STACKS)
    held = {
        "heap": _growth(idle, waiting, HEAP),
        "stacks_off_heap": None if off_heap is None or stacks is None else stacks + off_heap,
        "kernel": _growth(before, waiting, KERNEL),
    }
    needed = {"heap": HEAP, "stacks_off_heap": OFF_HEAP, "kernel": KERNEL}
    untold = {part: f"without {_missing(log, needed[part])}" for part, grown in held.items() if grown is None}
    unknown = pools.unknown(log, log.hold.connections) | _few(round(requests)) | _given_up(log, requests) | untold
    return LiveSet(
        LiveBytes(**{part: None if part in unknown else (grown or 0) / requests for part, grown in held.items()}),
        round(requests),
        heap_kept,
        tuple(f"{part} {unknown[part]}" for part in held if part in unknown),
    )


def _few(requests: int) -> dict[str, str]:
    if requests >= FEWEST_REQUESTS:
        return {}
    few = f"because only {requests} requests waited, and {FEWEST_REQUESTS} are needed"
    return {"stacks_off_heap": few, "kernel": few}


def _given_up(log: MemoryLog, requests: float) -> dict[str, str]:
    """Pools that close connections after the reading with requests free memory that no request held. What requests of
    the load before held does not count."""
    if log.loaded is None:
        return {}
    shrunk, held = _growth(log.idle, log.loaded, HEAP), _growth(log.idle, log.waiting, HEAP)
    if shrunk is None or held is None:
        return {"heap": f"without {HEAP[0]}"}
    shrunk -= held * (log.loaded.figure("requests_in_flight") or 0) / requests
    if shrunk <= MOST_SHRUNK * held:
        return {}
    return {"heap": f"because {shrunk / 1_000_000:.1f} MB that no request held were freed meanwhile"}


def _hindrance(log: MemoryLog) -> str | None:
    """Why there is nothing to compare."""
    if log.error:
        return log.error
    for when, told in (("while requests waited", log.waiting), ("after them", log.idle)):
        if told is None:
            return f"the process was not asked {when}"
        if told.error:
            return f"{told.error} {when}"
    return _not_waiting(log)


def _not_waiting(log: MemoryLog) -> str | None:
    if log.hold is None or log.waiting is None or log.idle is None:
        return "no request waited"
    waiting, left = log.waiting.figure("requests_in_flight"), log.idle.figure("requests_in_flight")
    earlier = log.loaded.figure("requests_in_flight") if log.loaded else 0
    if waiting is None or left is None:
        return "the process did not report its requests in flight"
    if (earlier or 0) > MOST_LEFT * log.hold.connections:
        return f"{earlier:.0f} requests of the load were still in flight"
    if waiting < FEWEST_WAITING * log.hold.connections:
        return f"only {waiting:.0f} of {log.hold.connections} requests were in flight"
    if waiting > log.hold.connections:
        return f"{waiting:.0f} requests were in flight, and only {log.hold.connections} of them were sent"
    return f"{left:.0f} requests were still in flight after them" if left else None


def _at_rest(log: MemoryLog) -> MemoryAnswer | None:
    """What the process told after the load, with nothing in flight."""
    return log.loaded if log.loaded and log.loaded.figure("requests_in_flight") == 0 else log.idle


def _told(told: MemoryAnswer, names: tuple[str, ...]) -> float | None:
    first, *less = (told.figure(name) for name in names)
    if first is None or None in less:
        return None
    return first - sum(one or 0 for one in less)


def _growth(earlier: MemoryAnswer | None, later: MemoryAnswer | None, names: tuple[str, ...]) -> float | None:
    if earlier is None or later is None:
        return None
    old, new = _told(earlier, names), _told(later, names)
    return None if old is None or new is None else new - old


def _missing(log: MemoryLog, names: tuple[str, ...]) -> str:
    answers = [told for told in (log.before, log.waiting, log.idle) if told is not None]
    return " and ".join(name for name in names if any(told.figure(name) is None for told in answers))
