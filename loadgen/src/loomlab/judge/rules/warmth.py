"""The verdict's rules on whether the approach was warm: each a sentence with its figure and threshold, or None."""

from loomlab.basics.words import percent
from loomlab.judge.evidence import Evidence

SHORTEST_CAP_S = 120
FALL_LIMIT = 0.10
"""Between the halves of the measured part: the figure of the whole is then some 5 % above that of its second half."""


def half_cold(run: Evidence) -> str | None:
    if run.warmup is None or not run.warmup.capped or run.warmup.failed:
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


def compilers_unknown(run: Evidence) -> str | None:
    if run.cold or run.warmup is None or run.warmup.compiled is not None:
        return None
    return "Whether the compilers were at rest is unknown: the warm-up was the load itself only, see raw/loomlab.log."


def warmup_failed(run: Evidence) -> str | None:
    if run.warmup is None or not run.warmup.failed:
        return None
    number = len(run.warmup.bursts)
    return f"The warm-up failed: no request of its burst {number} was answered; see the approach's log in raw/."


def still_falling(run: Evidence) -> str | None:
    falls = [
        f"{what} fell by {percent(halves.fall)} (± {percent(halves.margin)})"
        for what, halves in (("CPU per request", run.loaded.cpu_fall), ("mean latency", run.loaded.latency_fall))
        if halves and halves.fall > FALL_LIMIT and halves.fall > halves.margin
    ]
    if not falls:
        return None
    share = run.under_test.jit_cpu_share
    compilers = "" if share is None else f", while compilers took {percent(share)} of the CPU"
    return (
        f"The approach was still getting cheaper or faster: {' and '.join(falls)} from the first half of the measured "
        f"part to the second (the limit is {percent(FALL_LIMIT)}){compilers}; measure again, with a longer DURATION."
    )
