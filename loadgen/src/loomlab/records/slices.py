"""What a pair that is loaded in turn did, slice by slice. Times are epoch seconds; None: not measured."""

from pydantic import Field

from loomlab.records.files import Record


class Slice(Record):
    """One load of a side, between two moments at which nothing was in flight; CPU is the processes' own count."""

    started: float
    ended: float
    requests: int
    cpu_s: float | None
    jit_cpu_s: float | None = Field(description="Of that the compilers'")
    idle_cpu_s: float | None = Field(description="That the idle partner took meanwhile, without its compilers")
    allocated_bytes: float | None
    threads_started: float | None = Field(description="Threads more after it than before it")


class SliceLog(Record):
    """raw/slices.json: those of a side that count, and of its partner; when the first began and the last ended."""

    partner: str
    started: float
    ended: float
    slices: list[Slice]
    partners: list[Slice]
    left_out: list[Slice] = Field(default_factory=list, description="Of this side, before those that count")
