"""Rules on a steady load: nothing may get worse under it."""

from loomlab.basics.words import percent
from loomlab.judge.limits import GROWTH_LIMIT
from loomlab.judge.rule import NotApplicable, rule
from loomlab.records.measured import Halves, Measured

MUCH_GROWTH_LIMIT = 0.25
"""A rate that is one hundredth over what can be carried makes 0.9 s grow by a quarter within a minute."""
CPU_GROWTH_LIMIT = 0.25
"""Of CPU per request, which the host moves more than latency: under a light load by a quarter, hence the smaller limit
for the lower end of the 95 % interval."""
LATENCY_PEAK_LIMIT, CPU_PEAK_LIMIT = 0.25, 1.0
"""Of one of eight parts above their median; in 36 healthy runs it was 17 % and 49 % at most."""
IDLE_CPU_LIMIT = 0.20
"""Of the approach's CPUs: where more is idle, requests did not queue for want of CPU."""
SLOWED_DOWN = "the approach or its machine slowed down while the load stayed the same"
GREW = rule(
    "suspect",
    "steady load: mean latency grew likewise; CPU per request did",
    f"> {percent(GROWTH_LIMIT)}; > {percent(CPU_GROWTH_LIMIT)}, and beyond chance > {percent(GROWTH_LIMIT)}",
)


@GREW
def latency_grew(run: Measured) -> str | None:
    growth = _growth(run.latency_fall)
    beyond = NotApplicable("the growth is over the larger limit") if growth > MUCH_GROWTH_LIMIT else None
    return _hindrance(run, run.latency_fall) or beyond or _grown(run, growth, GROWTH_LIMIT)


@rule(
    "invalid",
    "steady load: mean latency grew from the first half of the interior to the second, beyond chance at 95 %",
    f"> {percent(MUCH_GROWTH_LIMIT)}",
)
def latency_grew_much(run: Measured) -> str | None:
    return _hindrance(run, run.latency_fall) or _grown(run, _growth(run.latency_fall), MUCH_GROWTH_LIMIT)


@GREW
def cpu_grew(run: Measured) -> str | None:
    hindrance, growth = _hindrance(run, run.cpu_fall), _growth(run.cpu_fall)
    margin = run.cpu_fall.margin if run.cpu_fall else 0.0
    if hindrance or growth <= CPU_GROWTH_LIMIT or growth - margin <= GROWTH_LIMIT:
        return hindrance
    return (
        f"CPU per request grew by {percent(growth)} from the first half of the measured part to the second "
        f"(the limit is {percent(CPU_GROWTH_LIMIT)}): {SLOWED_DOWN}, and the figure depends on the length of the run; "
        "find out what grew, or measure again."
    )


@rule(
    "suspect",
    "steady load: highest of up to eight parts of the interior, above their median: mean latency; CPU per request",
    f"> {percent(LATENCY_PEAK_LIMIT)}; > {percent(CPU_PEAK_LIMIT)}",
)
def uneven(run: Measured) -> str | None:
    """A hump, or a step near the end, which a straight line does not show."""
    parts = (
        ("mean latency", run.latency_fall, LATENCY_PEAK_LIMIT),
        ("CPU per request", run.cpu_fall, CPU_PEAK_LIMIT),
    )
    if all(halves is None for _, halves, _ in parts):
        return NotApplicable("the measured part is too short for parts, the load changes, or the backend hangs")
    if any(type(grew(run)) is str for grew in (latency_grew, latency_grew_much, cpu_grew)):
        return NotApplicable("the growth is told")
    peaks = [
        f"{what} was {percent(halves.peak)} above the median (the limit is {percent(limit)})"
        for what, halves, limit in parts
        if halves and halves.peak > limit
    ]
    if not peaks:
        return None
    return (
        f"In one of the parts that the run was cut into, {' and '.join(peaks)}: the figures mix two states; "
        "find out what happened then, or measure again."
    )


def _hindrance(run: Measured, halves: Halves | None) -> str | None:
    """Why growth says nothing."""
    if not run.closed_model and run.offered_rps is None:
        return NotApplicable("rates are judged step by step")
    if halves is None:
        return NotApplicable("the measured part is too short for two halves, the load changes, or the backend hangs")
    return None


def _growth(halves: Halves | None) -> float:
    """Beyond chance."""
    return -halves.fall if halves and -halves.fall > halves.margin else 0.0


def _grown(run: Measured, growth: float, limit: float) -> str | None:
    if growth <= limit:
        return None
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
