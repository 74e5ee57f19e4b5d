"""What a waiting request held, of what the process told before, while and after requests waited."""

import math
from typing import Any

import numpy as np

from loomlab.judge import series
from loomlab.judge.facts import Facts
from loomlab.records.memory import LiveBytes, MemoryLog, about_number, platform_threads

FEWEST_WAITING, MOST_LEFT = 0.9, 0.1  # of the short load's connections; and requests of the load before it
MOST_KEPT, SPARE, SPARE_PER_CPU = 1.1, 10, 2
"""Threads, or backend connections, for each waiting request; and those that no request accounts for."""
FEWEST_REQUESTS = 100
"""Of which stacks, off-heap and kernel are told: other memory moves by 1 MB and more."""
MOST_SHRUNK = 0.1
"""Of the heap that requests held: pools that close connections free memory that no request held."""
TOO_FEW = f"its memory was not reported, fewer than {FEWEST_REQUESTS} requests waited, or"
UNKNOWN = {
    "heap": "its memory was not reported, or shrank meanwhile",
    "stacks_off_heap": f"{TOO_FEW} threads were kept for more",
    "kernel": f"{TOO_FEW} threads or backend connections were kept for more",
}
"""Why a part may not be known."""


def live_set_of(facts: Facts) -> dict[str, Any]:
    """Fields of Run: heap and off-heap against the process after the load, what pools keep against that before it."""
    log = facts.memory
    if log is None:
        return {}
    at_rest = "loaded" if _figure(log, "loaded", "requests_in_flight") == 0 else "idle"
    heap_kept = {"heap_kept_bytes": _known(_growth(log, "heap_used_bytes", "before", at_rest))}
    hindrance = _hindrance(log)
    if hindrance:
        return heap_kept | {"notes": [f"What a waiting request holds is not known: {hindrance}."]}
    requests = _figure(log, "waiting", "requests_in_flight")
    stacks, kernel = (_growth(log, name, "before", "waiting") for name in ("thread_stack_bytes", "kernel_bytes"))
    heap, anonymous, heap_rss, idle_stacks = (
        _growth(log, name, "idle", "waiting")
        for name in ("heap_used_bytes", "rss_anon_bytes", "heap_rss_anon_bytes", "thread_stack_bytes")
    )
    shrunk = _growth(log, "heap_used_bytes", "idle", "loaded")
    of_load = heap * _figure(log, "loaded", "requests_in_flight") / requests
    if log.loaded and not shrunk - of_load <= MOST_SHRUNK * heap:
        heap = math.nan
    sent = log.hold.connections if log.hold else 0
    cpus = about_number(facts.about, "jvm", "available_processors") or 1
    most = MOST_KEPT * sent + SPARE + SPARE_PER_CPU * cpus
    threads = _growth(log, "threads", "before", "waiting")
    if requests < FEWEST_REQUESTS or (platform_threads(facts.about) is not None and threads > most):
        stacks = kernel = math.nan
    kept = series.latest(facts.metrics.backend("backend_open_connections"), facts.end)
    most *= 2 if facts.slices else 1  # the partner's pool is as large
    if facts.endpoint.backend_calls and (facts.endpoint.at_once > 1 or kept is None or kept > most):
        kernel = math.nan
    held = {"heap": heap, "stacks_off_heap": stacks + anonymous - heap_rss - idle_stacks, "kernel": kernel}
    each = {part: _known(grown / requests) for part, grown in held.items()}
    unknown = [f"{part}, because {UNKNOWN[part]}" for part, value in each.items() if value is None]
    return heap_kept | {
        "live_bytes_per_request": LiveBytes(**each),
        "live_requests": round(requests),
        "notes": [f"What a waiting request holds is not known: {'; '.join(unknown)}."] if unknown else [],
    }


def _hindrance(log: MemoryLog) -> str | None:
    """Why there is nothing to compare."""
    for error in (log.error, *(answer.error for answer in (log.waiting, log.idle) if answer)):
        if error:
            return error
    sent = log.hold.connections if log.hold else 0
    loaded, waiting, idle = (_figure(log, when, "requests_in_flight") for when in ("loaded", "waiting", "idle"))
    if FEWEST_WAITING * sent <= waiting <= sent and idle == 0 and not loaded > MOST_LEFT * sent:
        return None
    if math.isnan(waiting + idle):
        return "the process did not report its requests in flight"
    return f"{waiting:.0f} of {sent} requests were in flight, and {np.nansum([loaded, idle]):.0f} before or after them"


def _growth(log: MemoryLog, name: str, earlier: str, later: str) -> float:
    return _figure(log, later, name) - _figure(log, earlier, name)


def _figure(log: MemoryLog, when: str, name: str) -> float:
    """What the process told then; not a number where it did not."""
    answer = getattr(log, when)
    figure = answer.figure(name) if answer else None
    return math.nan if figure is None else figure


def _known(figure: float) -> float | None:
    return None if math.isnan(figure) else figure
