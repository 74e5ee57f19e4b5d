"""Rules on a steady load: nothing may get worse under it."""

from loomlab.basics.words import percent
from loomlab.judge.finding import PASSED, Finding, failed, not_here
from loomlab.judge.limits import (
    CPU_GROWTH_LIMIT,
    CPU_PEAK_LIMIT,
    GROWTH_LIMIT,
    IDLE_CPU_LIMIT,
    LATENCY_PEAK_LIMIT,
    MUCH_GROWTH_LIMIT,
)
from loomlab.judge.rule import rule
from loomlab.records.evidence import Evidence, Halves

SLOWED_DOWN = "the approach or its machine slowed down while the load stayed the same"


@rule(
    "suspect",
    "steady load: mean latency grew likewise; CPU per request did",
    f"> {percent(GROWTH_LIMIT)}; > {percent(CPU_GROWTH_LIMIT)}, and beyond chance > {percent(GROWTH_LIMIT)}",
)
def latency_grew(run: Evidence) -> Finding:
    growth = _growth(run, run.latency_fall)
    if isinstance(growth, Finding):
        return growth
    if growth > MUCH_GROWTH_LIMIT:
        return not_here("the growth is over the larger limit")
    return failed(_grown(run, growth, GROWTH_LIMIT)) if growth > GROWTH_LIMIT else PASSED


@rule(
    "invalid",
    "steady load: mean latency grew from the first half of the interior to the second, beyond chance at 95 %",
    f"> {percent(MUCH_GROWTH_LIMIT)}",
)
def latency_grew_much(run: Evidence) -> Finding:
    growth = _growth(run, run.latency_fall)
    if isinstance(growth, Finding):
        return growth
    return failed(_grown(run, growth, MUCH_GROWTH_LIMIT)) if growth > MUCH_GROWTH_LIMIT else PASSED


@rule(
    "suspect",
    "steady load: mean latency grew likewise; CPU per request did",
    f"> {percent(GROWTH_LIMIT)}; > {percent(CPU_GROWTH_LIMIT)}, and beyond chance > {percent(GROWTH_LIMIT)}",
)
def cpu_grew(run: Evidence) -> Finding:
    halves = run.cpu_fall
    growth = _growth(run, halves)
    if isinstance(growth, Finding):
        return growth
    if halves is None or growth <= CPU_GROWTH_LIMIT or growth - halves.margin <= GROWTH_LIMIT:
        return PASSED
    return failed(
        f"CPU per request grew by {percent(growth)} from the first half of the measured part to the second "
        f"(the limit is {percent(CPU_GROWTH_LIMIT)}): {SLOWED_DOWN}, and the figure depends on the length of the run; "
        "find out what grew, or measure again."
    )


@rule(
    "suspect",
    "steady load: highest of up to eight parts of the interior, above their median: mean latency; CPU per request",
    f"> {percent(LATENCY_PEAK_LIMIT)}; > {percent(CPU_PEAK_LIMIT)}",
)
def uneven(run: Evidence) -> Finding:
    """A hump, or a step near the end, which a straight line does not show."""
    fall, cpu = run.latency_fall, run.cpu_fall
    if fall is None and cpu is None:
        return not_here("the measured part is too short for parts, the load changes, or the backend hangs")
    if any(rule(run).outcome == "failed" for rule in (latency_grew, latency_grew_much, cpu_grew)):
        return not_here("the growth is told")
    told = [
        f"{what} was {percent(halves.peak)} above the median (the limit is {percent(limit)})"
        for what, halves, limit in (
            ("mean latency", fall, LATENCY_PEAK_LIMIT),
            ("CPU per request", cpu, CPU_PEAK_LIMIT),
        )
        if halves and halves.peak > limit
    ]
    if not told:
        return PASSED
    return failed(
        f"In one of the parts that the run was cut into, {' and '.join(told)}: the figures mix two states; "
        "find out what happened then, or measure again."
    )


def _growth(run: Evidence, halves: Halves | None) -> float | Finding:
    """Beyond noise."""
    if not run.closed_model and run.offered_rps is None:
        return not_here("rates are judged step by step")
    if halves is None:
        return not_here("the measured part is too short for two halves, the load changes, or the backend hangs")
    return -halves.fall if -halves.fall > halves.margin else 0.0


def _grown(run: Evidence, growth: float, limit: float) -> str:
    idle, cure = run.idle_share, "use a lower RATE"
    if run.closed_model:
        cause, cure = SLOWED_DOWN, "find out what grew, or measure again"
    elif idle is None or idle <= IDLE_CPU_LIMIT:
        cause = f"{run.offered_rps:g} requests a second are more than the approach can sustain, so requests queue"
    else:
        cause = f"requests queue although {percent(idle)} of the approach's CPU time was idle"
    return (
        f"Mean latency grew by {percent(growth)} from the first half of the measured part to the second "
        f"(the limit is {percent(limit)}): {cause}, and latency depends on the length of the run; {cure}."
    )
