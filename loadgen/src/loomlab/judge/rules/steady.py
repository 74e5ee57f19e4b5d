"""Rules on whether the approach was warm, and on a steady load, under which nothing may get better or worse."""

import math
from collections.abc import Iterator

from loomlab.basics.format import percent
from loomlab.judge.limits import GROWTH_LIMIT
from loomlab.judge.rule import Level, Rule, measured, rule, skip_if
from loomlab.records.measured import Halves, Measured
from loomlab.records.raw import REST_CORES

MUCH_GROWTH_LIMIT = 0.25
"""A rate that is one hundredth over what can be carried makes 0.9 s grow by a quarter within a minute."""
CPU_GROWTH_LIMIT = 0.25
"""Of CPU per request, which the host moves by a quarter under a light load: a smaller limit holds for the interval."""
LATENCY_PEAK_LIMIT, CPU_PEAK_LIMIT = 0.25, 1.0
"""Of one of eight parts above their median; in 36 healthy runs it was 17 % and 49 % at most."""
IDLE_CPU_LIMIT = 0.20  # of the approach's CPUs: where more is idle, requests did not queue for want of CPU
SLOWED_DOWN = "the approach or its machine slowed down while the load stayed the same"
FALL_LIMIT = 0.10
"""Between the halves of the measured part: the figure of the whole is then some 5 % above that of its second half."""
COMPILED_LIMIT = 0.075  # of CPU per request: by how much the compilers' part of it fell
SHORTEST_CAP_S = 120
OVERLOADED = "more is offered than the process holds"
NO_PARTS = "the measured part is too short for parts, the load changes, or the backend hangs"


def _beyond_chance(halves: Halves | None) -> float:
    return -halves.fall if halves and -halves.fall > halves.margin else 0.0


def _growth(run: Measured, halves: Halves | None) -> float:
    """By how much it grew, if that is beyond chance; ends the check where growth says nothing."""
    skip_if(not run.closed_model and run.offered_rps is None, "rates are judged step by step")
    skip_if((run.capacity_share or 0) > 1, OVERLOADED)
    skip_if(halves is None, NO_PARTS)
    return _beyond_chance(halves)


def _latency_grew(name: str, level: Level, limit: float, most: float = math.inf) -> Rule:
    def check(run: Measured) -> Iterator[str]:
        growth = _growth(run, run.latency_fall)
        skip_if(growth > most, "the growth is over the larger limit")
        if growth > limit:
            idle, cure = run.idle_share, "use a lower RATE"
            if run.closed_model:
                cause, cure = SLOWED_DOWN, "find out what grew, or measure again"
            elif idle is None or idle <= IDLE_CPU_LIMIT:
                offered = f"{run.offered_rps:g} requests a second"
                cause = f"{offered} are more than the approach can sustain, so requests queue"
            else:
                cause = f"requests queue although {percent(idle)} of the approach's CPU time was idle"
            fact = f"Mean latency grew by {percent(growth)} from the first half of the measured part to the second"
            why = f"{cause}, and latency depends on the length of the run"
            yield f"{fact} (the limit is {percent(limit)}): {why}; {cure}."

    about = "growth of mean latency from the first half of the interior to the second, beyond chance at 95 %"
    check.__name__, check.__doc__ = name, f"Steady load: {about}."
    return rule(level, f"> {percent(limit)}")(check)


latency_grew = _latency_grew("latency_grew", "suspect", GROWTH_LIMIT, most=MUCH_GROWTH_LIMIT)
latency_grew_much = _latency_grew("latency_grew_much", "invalid", MUCH_GROWTH_LIMIT)


def _cpu_grew_much(halves: Halves | None) -> bool:
    growth = _beyond_chance(halves)
    return halves is not None and growth > CPU_GROWTH_LIMIT and growth - halves.margin > GROWTH_LIMIT


@rule("suspect", f"> {percent(CPU_GROWTH_LIMIT)}, and beyond chance > {percent(GROWTH_LIMIT)}")
def cpu_grew(run: Measured) -> Iterator[str]:
    """Steady load: growth of CPU per request, likewise."""
    growth = _growth(run, run.cpu_fall)
    if _cpu_grew_much(run.cpu_fall):
        yield (
            f"CPU per request grew by {percent(growth)} from the first half of the measured part to the second "
            f"(the limit is {percent(CPU_GROWTH_LIMIT)}): {SLOWED_DOWN}, and the figure depends on the length of the "
            "run; find out what grew, or measure again with a longer DURATION."
        )


@rule("suspect", f"> {percent(LATENCY_PEAK_LIMIT)}; > {percent(CPU_PEAK_LIMIT)}")
def uneven(run: Measured) -> Iterator[str]:
    """Steady load: highest of up to eight parts of the interior, above their median: mean latency; CPU per request."""
    parts = (("mean latency", run.latency_fall, LATENCY_PEAK_LIMIT), ("CPU per request", run.cpu_fall, CPU_PEAK_LIMIT))
    skip_if(all(halves is None for _, halves, _ in parts), NO_PARTS)
    grew = _beyond_chance(run.latency_fall) > GROWTH_LIMIT or _cpu_grew_much(run.cpu_fall)
    skip_if(grew, "the growth is told")
    peaks = [
        f"{what} was {percent(halves.peak)} above the median (the limit is {percent(limit)})"
        for what, halves, limit in parts
        if halves and halves.peak > limit
    ]
    if peaks:
        fact = f"In one of the parts that the run was cut into, {' and '.join(peaks)}: the figures mix two states;"
        yield f"{fact} find out what happened then, or measure again."


@rule("suspect")
def half_cold(run: Measured) -> Iterator[str]:
    """Warm-up cut short by its cap, or none; without an answer to its last requests; or of unknown compilers."""
    warmup = measured(run.warmup, "how warm the approach was, because its warm-up was not recorded")
    if warmup.failed:
        fact = f"The warm-up failed: no request of its burst {warmup.bursts} was answered"
        yield f"{fact}; see the approach's log in raw/."
    elif warmup.capped:
        cap_s, said = warmup.cap_s, "The warm-up was cut short by its"
        why, longer_s = f": {warmup.cause}", max(2 * cap_s, SHORTEST_CAP_S)
        if run.cold:
            said, why, longer_s = "There was no warm-up: its", " leaves no time for one", SHORTEST_CAP_S
        yield f"{said} cap of {cap_s:.0f} s{why}; use WARMUP_CAP={longer_s:.0f}s."
    elif run.sight in {"jvm", "lab"}:
        what = "whether the JIT compilers were at rest, because the warm-up was the load itself (see raw/loomlab.log)"
        measured(warmup.compiled, what)


@rule(
    "suspect",
    f"> {percent(FALL_LIMIT)}; the compilers' part by > {percent(COMPILED_LIMIT)} of the whole or by > {REST_CORES} of "
    "a CPU",
)
def still_falling(run: Measured) -> Iterator[str]:
    """Fall from half to half, beyond chance at 95 %: of mean latency; of CPU per request with the compilers' part."""
    falls = {"CPU per request": run.cpu_fall, "mean latency": run.latency_fall}
    skip_if(all(halves is None for halves in falls.values()), NO_PARTS)
    # Code gets cheaper when it is compiled; where compilers hardly worked, CPU per request fell with the host, as it
    # also rises. What they take is a small part of the CPU where many CPUs are busy.
    part, cores = run.jit_cpu_fall, run.jit_cores_fall
    if part is not None and cores is not None and part <= COMPILED_LIMIT and cores <= REST_CORES:
        del falls["CPU per request"]
    fell = [
        f"{what} fell by {percent(halves.fall)} (± {percent(halves.margin)})"
        for what, halves in falls.items()
        if halves and halves.fall > max(FALL_LIMIT, halves.margin)
    ]
    if fell:
        share = run.jit_cpu_share
        compilers = "" if share is None else f", while compilers took {percent(share)} of the CPU"
        yield (
            f"The approach was still getting cheaper or faster: {' and '.join(fell)} from the first half of the "
            f"measured part to the second (the limit is {percent(FALL_LIMIT)}){compilers}; measure again, with a "
            "longer DURATION."
        )
