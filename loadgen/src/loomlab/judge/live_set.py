"""What a waiting request held, of what the process told before, while and after requests waited."""

from typing import Any

from loomlab.judge import series
from loomlab.judge.facts import Facts
from loomlab.records.about import platform_threads, processors
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
NEEDED = {"heap": HEAP, "stacks_off_heap": OFF_HEAP, "kernel": KERNEL}
IN_FLIGHT = "requests_in_flight"


def live_set_of(facts: Facts) -> dict[str, Any]:
    """Fields of Run: heap and off-heap against the process after the load, with nothing in flight; threads' stacks and
    the kernel's memory, which a pool keeps, against the process before its first request. `heap_kept_bytes` is by how
    much the heap, after a full collection, was larger when the requests were gone than before the first one."""
    log = facts.memory
    if log is None:
        return {}
    at_rest = log.loaded if _figure(log.loaded, IN_FLIGHT) == 0 else log.idle
    heap_kept = {"heap_kept_bytes": _growth(log.before, at_rest, HEAP)}
    hindrance = _hindrance(log)
    if hindrance:
        return heap_kept | _notes(hindrance)
    before, waiting, idle = log.before, log.waiting, log.idle
    requests = _figure(waiting, IN_FLIGHT) or 0
    off_heap, stacks = _growth(idle, waiting, OFF_HEAP), _growth(before, waiting, STACKS)
    held = {
        "heap": _growth(idle, waiting, HEAP),
        "stacks_off_heap": None if off_heap is None or stacks is None else stacks + off_heap,
        "kernel": _growth(before, waiting, KERNEL),
    }
    unknown = _charged_too_much(facts, log, round(requests)) | _freed_meanwhile(log, requests)
    for part, names in NEEDED.items():
        missing = [name for name in names if None in {_figure(answer, name) for answer in (before, waiting, idle)}]
        if held[part] is None:
            unknown[part] = f"without {' and '.join(missing)}"
    each = {part: None if part in unknown else (grown or 0) / requests for part, grown in held.items()}
    return (
        heap_kept
        | {"live_bytes_per_request": LiveBytes(**each), "live_requests": round(requests)}
        | _notes(*(f"{part} {unknown[part]}" for part in held if part in unknown))
    )


def _notes(*unknown: str) -> dict[str, list[str]]:
    return {"notes": [f"What a waiting request holds is not known: {'; '.join(unknown)}."] if unknown else []}


def _hindrance(log: MemoryLog) -> str | None:
    """Why there is nothing to compare."""
    if log.error:
        return log.error
    for when, answer in (("while requests waited", log.waiting), ("after them", log.idle)):
        if answer is None or answer.error:
            return f"{answer.error} {when}" if answer else f"the process was not asked {when}"
    if log.hold is None:
        return "no request waited"
    connections = log.hold.connections
    loaded, waiting, left = (_figure(answer, IN_FLIGHT) for answer in (log.loaded, log.waiting, log.idle))
    if waiting is None or left is None:
        return "the process did not report its requests in flight"
    doubts = (
        ((loaded or 0) > MOST_LEFT * connections, f"{loaded or 0:.0f} requests of the load were still in flight"),
        (waiting < FEWEST_WAITING * connections, f"only {waiting:.0f} of {connections} requests were in flight"),
        (waiting > connections, f"{waiting:.0f} requests were in flight, and only {connections} of them were sent"),
        (left > 0, f"{left:.0f} requests were still in flight after them"),
    )
    return next((why for doubt, why in doubts if doubt), None)


def _charged_too_much(facts: Facts, log: MemoryLog, waiting: int) -> dict[str, str]:
    """The parts in which more than the waiting requests' would be counted, and why."""
    requests = log.hold.connections if log.hold else 0
    most = MOST_KEPT * requests + SPARE + SPARE_PER_CPU * processors(facts.about)
    threads = _growth(log.before, log.waiting, ("threads",)) or 0
    why = None
    if waiting < FEWEST_REQUESTS:
        why = f"because only {waiting} requests waited, and {FEWEST_REQUESTS} are needed"
    elif platform_threads(facts.about) is not None and threads > most:
        why = f"because {threads:.0f} threads were kept for {requests} requests"
    if why:
        return {"stacks_off_heap": why, "kernel": why}
    connections = series.latest(facts.metrics.backend("backend_open_connections"), facts.end)
    if facts.endpoint.at_once > 1:
        why = "because connections for concurrent calls were kept, and each request waits on one"
    elif connections is None:
        why = "without backend_open_connections"
    elif connections > most:
        why = f"because {connections:.0f} backend connections were kept for {requests} requests"
    return {"kernel": why} if why and facts.endpoint.backend_calls else {}


def _freed_meanwhile(log: MemoryLog, requests: float) -> dict[str, str]:
    """Pools that close connections after the reading with requests free memory that no request held. What requests of
    the load before held does not count."""
    if log.loaded is None:
        return {}
    shrunk, held = _growth(log.idle, log.loaded, HEAP), _growth(log.idle, log.waiting, HEAP)
    if shrunk is None or held is None:
        return {"heap": f"without {HEAP[0]}"}
    shrunk -= held * (log.loaded.figure(IN_FLIGHT) or 0) / requests
    if shrunk <= MOST_SHRUNK * held:
        return {}
    return {"heap": f"because {shrunk / 1_000_000:.1f} MB that no request held were freed meanwhile"}


def _growth(earlier: MemoryAnswer | None, later: MemoryAnswer | None, names: tuple[str, ...]) -> float | None:
    """By how much the first of the figures, less the others, is larger later."""
    amounts = []
    for answer in (earlier, later):
        first, *less = (_figure(answer, name) for name in names)
        if first is None or None in less:
            return None
        amounts.append(first - sum(part or 0 for part in less))
    return amounts[1] - amounts[0]


def _figure(answer: MemoryAnswer | None, name: str) -> float | None:
    return answer.figure(name) if answer else None
