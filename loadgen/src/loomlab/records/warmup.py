"""What a warm-up did, burst by burst. Times are epoch seconds; None: not measured."""

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from loomlab.records.files import Record

BurstPhase = Literal["compile", "settle", "hold"]

ENOUGH_REQUESTS = 20_000
"""In the first phase of a warm-up: four times HotSpot's Tier4InvocationThreshold, for code that runs once a request."""
REST_CORES = 0.05
"""CPU that compilers take of one core once they are at rest: what trickles on was 0.01 to 0.04 in every approach."""


class Burst(Record):
    """One load of the warm-up, or the one that holds requests after the run."""

    phase: BurstPhase
    start: float
    duration_s: float
    wait_ms: int  # of a request, at least
    requests: int | None
    errors: int | None
    mean_latency_ms: float | None
    cpu_ms_per_request: float | None = None
    cpu_s: float | None = None  # of the process; of that its compilers
    jit_cpu_s: float | None = None
    rss_bytes: float | None = None  # after the burst

    @property
    def jit_cores(self) -> float:
        """CPU seconds a second that the compilers took; infinite where it is not known."""
        return math.inf if self.jit_cpu_s is None or not self.duration_s else self.jit_cpu_s / self.duration_s

    @property
    def request_cores(self) -> float:
        """CPU seconds a second of all but the compilers; infinite where it is not known."""
        if self.cpu_s is None or not self.duration_s:
            return math.inf
        return (self.cpu_s - (self.jit_cpu_s or 0)) / self.duration_s


def requests_of(bursts: Sequence[Burst]) -> int:
    """How many requests of these bursts were answered."""
    return sum(burst.requests or 0 for burst in bursts)


class WarmupDigest(Record):
    """What run.json has of a warm-up."""

    bursts: int
    duration_s: float
    compiling_s: float = Field(description="Of `duration_s`, for the compilers")
    capped: bool = Field(description="Its cap cut it short")
    failed: bool
    cap_s: float = 0
    compiled: bool | None = Field(True, description="The compilers came to rest; null: that could not be told")
    cause: str = Field("", description="What was not steady when the cap cut it short")


class Warmup(Record):
    """raw/warmup.json."""

    cap_s: float
    compiled: bool | None  # the compilers came to rest; None: that could not be told
    changing: str | None  # what was not steady when time was up
    failed: bool  # its last burst had no answer
    duration_s: float
    compiling_s: float
    bursts: list[Burst]

    @property
    def digest(self) -> WarmupDigest:
        """`capped` before the approach was warm."""
        common = self.model_dump(exclude={"bursts", "changing"})
        cause = " and ".join(cause for cause in (self._busy_compilers(), self.changing) if cause)
        return WarmupDigest(**common, bursts=len(self.bursts), capped=bool(cause), cause=cause)

    def _busy_compilers(self) -> str | None:
        """Why they did not come to rest."""
        if self.compiled is not False:
            return None
        compiling = [burst for burst in self.bursts if burst.phase == "compile"]
        if not compiling:
            return "there was no time for its first phase"
        if (requests := requests_of(compiling)) < ENOUGH_REQUESTS:
            return f"its first phase had {requests:,} of {ENOUGH_REQUESTS:,} requests after {self.compiling_s:.0f} s"
        if compiling[-1].jit_cores <= REST_CORES:
            return f"requests left the JIT compilers too little CPU even after {self.compiling_s:.0f} s"
        return f"the JIT compilers were still busy after {self.compiling_s:.0f} s"
