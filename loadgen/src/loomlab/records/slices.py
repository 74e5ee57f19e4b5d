"""What a pair that is loaded in turn did, slice by slice. Times are epoch seconds; None: not measured."""

from pydantic import Field

from loomlab.records.files import Record


class Slice(Record):
    """One load of a side, between two moments at which nothing was in flight; CPU is the processes' own count."""

    started: float
    ended: float
    requests: int
    cpu_s: float | None
    jit_cpu_s: float | None
    partner_cpu_s: float | None
    threads_started: float | None = Field(None, description="Threads more after it than before it")


class SliceLog(Record):
    """raw/slices.json: those of a side that count, and of its partner; when the first began and the last ended."""

    partner: str
    started: float
    ended: float
    slices: list[Slice]
    partners: list[Slice]
