"""Rules on whether the approach was warm."""

from loomlab.basics.words import percent
from loomlab.judge.rule import NotApplicable, Unknown, rule
from loomlab.records.measured import Measured
from loomlab.records.warmup import REST_CORES

FALL_LIMIT = 0.10
"""Between the halves of the measured part: the figure of the whole is then some 5 % above that of its second half."""
COMPILED_LIMIT = 0.075
"""Of CPU per request: by how much the compilers' part of it fell."""
SHORTEST_CAP_S = 120
NOT_WARM = rule("suspect", "warm-up cut short by its cap, failed, or none")
NO_RECORD = Unknown("how warm the approach was, because its warm-up was not recorded")


@NOT_WARM
def half_cold(run: Measured) -> str | None:
    if run.warmup is None:
        return NO_RECORD
    if run.warmup.failed:
        return NotApplicable("the warm-up failed")
    if not run.warmup.capped:
        return None
    if run.cold:
        return (
            f"There was no warm-up: its cap of {run.warmup.cap_s:.0f} s leaves no time for one; "
            f"use WARMUP_CAP={SHORTEST_CAP_S}s."
        )
    return (
        f"The warm-up was cut short by its cap of {run.warmup.cap_s:.0f} s: {run.warmup.cause}; "
        f"use WARMUP_CAP={max(2 * run.warmup.cap_s, SHORTEST_CAP_S):.0f}s."
    )


@NOT_WARM
def compilers_unknown(run: Measured) -> str | None:
    if run.warmup is None:
        return NO_RECORD
    if run.cold or run.warmup.failed:
        return NotApplicable("there was no warm-up, or it failed")
    if run.warmup.compiled is None:
        return Unknown(
            "whether the JIT compilers were at rest, because the warm-up was the load itself (see raw/loomlab.log)"
        )
    return None


@NOT_WARM
def warmup_failed(run: Measured) -> str | None:
    if run.warmup is None:
        return NO_RECORD
    if not run.warmup.failed:
        return None
    return (
        f"The warm-up failed: no request of its burst {run.warmup.bursts} was answered; see the approach's log in raw/."
    )


@rule(
    "suspect",
    "fall from the first half of the interior to the second, beyond chance at 95 %: of mean latency; or of "
    f"CPU per request, while the compilers' part fell by > {percent(COMPILED_LIMIT)} of the whole or by > "
    f"{REST_CORES} of a CPU",
    f"> {percent(FALL_LIMIT)}",
)
def still_falling(run: Measured) -> str | None:
    measured = (("CPU per request", run.cpu_fall), ("mean latency", run.latency_fall))
    if all(halves is None for _, halves in measured):
        return NotApplicable("the measured part is too short for two halves, or the load changes")
    share = run.jit_cpu_share
    judged = measured if _compilers_came_to_rest(run) else measured[1:]
    falls = [
        f"{what} fell by {percent(halves.fall)} (± {percent(halves.margin)})"
        for what, halves in judged
        if halves and halves.fall > FALL_LIMIT and halves.fall > halves.margin
    ]
    if not falls:
        return None
    compilers = "" if share is None else f", while compilers took {percent(share)} of the CPU"
    return (
        f"The approach was still getting cheaper or faster: {' and '.join(falls)} from the first half of the measured "
        f"part to the second (the limit is {percent(FALL_LIMIT)}){compilers}; measure again, with a longer DURATION."
    )


def _compilers_came_to_rest(run: Measured) -> bool:
    """Or it is not known. Code gets cheaper when it is compiled; where they hardly worked, CPU per request fell with
    the host, as it also rises. What they take is a small part of the CPU where many CPUs are busy."""
    part, cores = run.jit_cpu_fall, run.jit_cores_fall
    return part is None or cores is None or part > COMPILED_LIMIT or cores > REST_CORES
