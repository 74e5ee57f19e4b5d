"""Rules on whether the approach was warm."""

from loomlab.basics.words import percent
from loomlab.judge.finding import PASSED, Finding, failed, not_here, unknown
from loomlab.judge.limits import COMPILED_LIMIT, FALL_LIMIT
from loomlab.judge.rule import rule
from loomlab.records.evidence import Evidence
from loomlab.records.warmup import REST_CORES

SHORTEST_CAP_S = 120
NO_RECORD = unknown("how warm the approach was, because its warm-up was not recorded")


@rule(
    "suspect",
    "warm-up cut short by its cap, failed, or none",
    "",
)
def half_cold(run: Evidence) -> Finding:
    if run.warmup is None:
        return NO_RECORD
    if run.warmup.failed:
        return not_here("the warm-up failed")
    if not run.warmup.capped:
        return PASSED
    if run.cold:
        return failed(
            f"There was no warm-up: its cap of {run.warmup.cap_s:.0f} s leaves no time for one; "
            f"use WARMUP_CAP={SHORTEST_CAP_S}s."
        )
    return failed(
        f"The warm-up was cut short by its cap of {run.warmup.cap_s:.0f} s: {run.warmup.cause}; "
        f"use WARMUP_CAP={max(2 * run.warmup.cap_s, SHORTEST_CAP_S):.0f}s."
    )


@rule(
    "suspect",
    "warm-up cut short by its cap, failed, or none",
    "",
)
def compilers_unknown(run: Evidence) -> Finding:
    if run.warmup is None:
        return NO_RECORD
    if run.cold or run.warmup.failed:
        return not_here("there was no warm-up, or it failed")
    if run.warmup.compiled is None:
        return unknown(
            "whether the JIT compilers were at rest, because the warm-up was the load itself (see raw/loomlab.log)"
        )
    return PASSED


@rule(
    "suspect",
    "warm-up cut short by its cap, failed, or none",
    "",
)
def warmup_failed(run: Evidence) -> Finding:
    if run.warmup is None:
        return NO_RECORD
    if not run.warmup.failed:
        return PASSED
    number = len(run.warmup.bursts)
    return failed(f"The warm-up failed: no request of its burst {number} was answered; see the approach's log in raw/.")


@rule(
    "suspect",
    "fall from the first half of the interior to the second, beyond chance at 95 %: of mean latency; or of "
    f"CPU per request, while the compilers' part fell by > {percent(COMPILED_LIMIT)} of the whole or by > "
    f"{REST_CORES} of a CPU",
    f"> {percent(FALL_LIMIT)}",
)
def still_falling(run: Evidence) -> Finding:
    measured = (("CPU per request", run.cpu_fall), ("mean latency", run.latency_fall))
    if all(halves is None for _, halves in measured):
        return not_here("the measured part is too short for two halves, or the load changes")
    share = run.jit_cpu_share
    told = measured if _compilers_came_to_rest(run) else measured[1:]
    falls = [
        f"{what} fell by {percent(halves.fall)} (± {percent(halves.margin)})"
        for what, halves in told
        if halves and halves.fall > FALL_LIMIT and halves.fall > halves.margin
    ]
    if not falls:
        return PASSED
    compilers = "" if share is None else f", while compilers took {percent(share)} of the CPU"
    return failed(
        f"The approach was still getting cheaper or faster: {' and '.join(falls)} from the first half of the measured "
        f"part to the second (the limit is {percent(FALL_LIMIT)}){compilers}; measure again, with a longer DURATION."
    )


def _compilers_came_to_rest(run: Evidence) -> bool:
    """Or it is not known. Code gets cheaper when it is compiled; where they hardly worked, CPU per request fell with
    the host, as it also rises. What they take is a small part of the CPU where many CPUs are busy."""
    part, cores = run.jit_cpu_fall, run.jit_cores_fall
    return part is None or cores is None or part > COMPILED_LIMIT or cores > REST_CORES
