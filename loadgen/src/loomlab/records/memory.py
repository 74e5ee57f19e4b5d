"""What the process under test held at moments of its life, and what that makes of a waiting request."""

import math
from typing import Any

from loomlab.records.files import Record


class MemoryAnswer(Record):
    """What `POST /memory` answered, after a full collection; `error` says why there is no answer."""

    asked: float
    answered: float
    answer: dict[str, Any] | None = None
    error: str | None = None

    def figure(self, name: str) -> float | None:
        """None where the process did not tell it, or told no number."""
        value = (self.answer or {}).get(name)
        known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        return value if known else None


class Hold(Record):
    """The short load after the run: `connections` send one request each, which waits `wait_ms` at a time."""

    connections: int
    wait_ms: int
    started: float
    duration_s: float
    requests: int | None
    errors: int | None


class MemoryLog(Record):
    """raw/memory.json."""

    before: MemoryAnswer  # its first request
    loaded: MemoryAnswer | None = None  # after the run
    hold: Hold | None = None
    waiting: MemoryAnswer | None = None  # while requests did
    idle: MemoryAnswer | None = None  # after them
    error: str | None = None  # why there was no short load


class LiveBytes(Record):
    """What a waiting request holds, in bytes."""

    heap: float | None = None
    stacks_off_heap: float | None = None  # the threads' stacks, and other memory outside of the heap
    kernel: float | None = None

    @property
    def total(self) -> float | None:
        if self.heap is None or self.stacks_off_heap is None or self.kernel is None:
            return None
        return self.heap + self.stacks_off_heap + self.kernel


def platform_threads(about: Any) -> int | None:
    """The most worker threads, where they are platform threads."""
    threads = about_number(about, "inbound", "max_threads")
    return threads if threads is not None and about.get("concurrency") == "platform-threads" else None


def about_number(about: Any, part: str, name: str) -> int | None:
    """What an approach tells of itself in GET /about; None where it does not."""
    try:
        value = about[part][name]
    except (TypeError, KeyError):
        return None
    return value if isinstance(value, int) else None
