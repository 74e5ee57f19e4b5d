"""How much each approach holds, in sentences."""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from statistics import fmean

from loomlab.answer.figures import CAPACITY, CPU, MEMORY, spread
from loomlab.answer.loads import counting, replaced
from loomlab.basics.format import number, percent
from loomlab.basics.grouping import grouped
from loomlab.records.capacity import Capacity
from loomlab.records.contrasts import Comparison, Contrast
from loomlab.records.models import Run
from loomlab.run.staircase import STEP
from loomlab.statistics.comparison import CPU_PER_REQUEST, FEWEST_BLOCKS

APART = {"lower", "higher"}


def capacity_lines(runs: Sequence[Run], contrasts: Sequence[Contrast]) -> list[str]:
    """Of each approach that was searched, and from which load on two of them differ; none of other experiments."""
    searched = [run for run in runs if run.capacity]
    return [
        *(sentence for name, own in grouped(searched, lambda run: run.approach).items() for sentence in _of(name, own)),
        *(sentence for one in contrasts if one.kind in {"controlled", "settings"} for sentence in _from_on(one)),
    ]


def _of(name: str, runs: Sequence[Run]) -> Iterator[str]:
    objective = " and ".join(map(str, runs[0].capacity.objectives if runs[0].capacity else ()))
    others = replaced(runs)
    runs = [run for run in runs if run.run not in others]
    known = [run for run in counting(runs) if run.capacity and run.capacity.rps]
    if not known:
        trials = [trial for run in runs if run.capacity for trial in run.capacity.trials]
        if any(trial.outcome == "held" for trial in trials):
            yield f"No search of {name} counts: its runs are invalid, or were cut off."
            return
        lowest = f", not even {min(trial.rate_rps for trial in trials):,.0f}/s" if trials else ""
        yield f"{name} held no rate that was offered{lowest}: {objective} is too much to ask, or it did not answer."
        return
    found = [run.capacity for run in known if run.capacity]
    whole = len(known) == len(runs) and not any(one.at_least for one in found)
    least = "at least " if any(one.at_least for one in found) else ""
    interval, further = _interval([one.rps or 0.0 for one in found]) if whole else ("", "")
    mean = spread(CAPACITY, known)
    rps, more = number(mean.centre if mean else None), len(runs) - len(known)
    basis = f"{interval}{len(found)} processes, steps of {percent(STEP - 1)}"
    basis += f"; {more} more held nothing, or are invalid" if more else ""
    yield f"{name} holds {least}{rps} requests/s with {objective} ({basis}). {_gave_out(found)}{further}"
    cost, memory = spread(CPU, known), spread(MEMORY, known)
    pays = [f"serves {1000 / cost.centre:,.0f} requests per CPU second"] if cost else []
    pays += [f"needs {number(memory.centre)} KiB per in-flight request"] if memory else []
    if pays:
        yield f"At its capacity {name} {' and '.join(pays)}."
    for cut_off in dict.fromkeys(one.cut_off for one in found if one.cut_off):
        yield f"A search of {name} ended early, because {cut_off}."


def _interval(rates_rps: Sequence[float]) -> tuple[str, str]:
    """Student's, on logarithms, of the median of processes, half a step wider on either side; and within what another
    such search's result lies."""
    if len(rates_rps) < FEWEST_BLOCKS:
        return "", ""
    import numpy as np  # noqa: PLC0415 - most commands need no scipy, which loads slowly

    from loomlab.statistics.student import estimates  # noqa: PLC0415 - as above

    found = estimates(np.log(rates_rps), math.log(STEP) / 2)
    low, high = np.exp(found.mean + np.array([-1, 1]) * found.half_width)
    again = percent(float(np.expm1(found.half_width * np.sqrt(2))))
    return f"95 % {number(float(low))} to {number(float(high))} for the median of processes; ", (
        f" Another such search would find a rate within {again} of this (95 %)."
    )


def _gave_out(found: Sequence[Capacity]) -> str:
    if all(one.failed_rps is None for one in found):
        cut_off = any(one.cut_off for one in found)
        return "What gives out was not found." if cut_off else "Nothing gave out: the search ends there."
    causes = grouped((one.gave_out or "nothing that the lab knows of" for one in found if one.failed_rps), str)
    shares = [one.failed_cpu_share for one in found if one.failed_cpu_share is not None]
    busy = f" (CPU {percent(fmean(shares))} busy)" if shares else ""
    if len(causes) == 1:
        return f"Then {next(iter(causes))} gave out{busy}."
    return f"Then gave out{busy}: {', '.join(f'{cause} ({len(own)} times)' for cause, own in causes.items())}."


def _from_on(contrast: Contrast) -> Iterator[str]:
    """The smallest load from which on CPU per request differs there and at all larger ones, by Holm's correction."""
    of_cpu = [
        (share, one)
        for one in contrast.comparisons
        if one.figure == CPU_PER_REQUEST.name and one.effect is not None and (share := _share(one))
    ]
    falling = [one for _, one in sorted(of_cpu, key=lambda pair: pair[0], reverse=True)]
    if not falling:
        return
    apart = [*takewhile(lambda one: one.word in APART and one.word == falling[0].word, falling)]
    if apart:
        direction = "less" if apart[0].word == "lower" else "more"
        what = f"CPU per request of {contrast.a} and {contrast.b}, at shares of what each holds,"
        yield f"{what} differs from {apart[-1].load} on: {contrast.a} needs {direction}."
    else:
        yield f"No share of capacity is found from which on {contrast.a} and {contrast.b} differ in CPU per request."


def _share(comparison: Comparison) -> int | None:
    """Of capacity, in percent; None of another load."""
    told = re.fullmatch(r"(?:(\d{1,3}) % of )?capacity", comparison.load)
    return int(told[1] or 100) if told else None
