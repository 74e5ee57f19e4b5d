"""The answers to a paper's claims, from the runs that were made of its loads."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean
from typing import Literal

from loomlab.published.paper import Claim, Paper, Published, Side
from loomlab.published.runs import PublishedRun
from loomlab.statistics.comparison import FEWEST_BLOCKS

Outcome = Literal["reproduced", "not reproduced", "inconclusive", "not tested"]
REPRODUCED: Outcome = "reproduced"
NOT_REPRODUCED: Outcome = "not reproduced"
INCONCLUSIVE: Outcome = "inconclusive"
UNTESTED: Outcome = "not tested"
WORST_FIRST = (NOT_REPRODUCED, UNTESTED, INCONCLUSIVE, REPRODUCED)
"""A claim is reproduced as a whole, or not."""
QUEUED = 1.25
"""The mean latency over the shortest, from which on requests are said to queue."""
TIMED_OUT = 0.01
"""The share of requests, from which on those that time out have queued."""
SAME_LOAD = 0.01
"""By which the load of a CPU may differ from the published one: connections are whole."""
type Block = tuple[str, int]
type Runs = Mapping[Block, PublishedRun]


@dataclass(frozen=True)
class Part:
    """One figure of a claim at one published level. `amount` is the load that was run; `centre` and its interval are in
    the figure's unit, or a ratio; `published` are the paper's own figures of the same."""

    load: str
    figure: str
    of: str
    level: int
    outcome: Outcome
    why: str
    amount: float | None = None
    blocks: int = 0
    centre: float | None = None
    low: float | None = None
    high: float | None = None
    published: tuple[float, ...] = ()


@dataclass(frozen=True)
class Answer:
    """A claim's answer, that of the worst of its parts, and the parts."""

    claim: Claim
    outcome: Outcome
    parts: list[Part]

    @property
    def deciding(self) -> Part | None:
        """The first of the parts that the answer is the answer of."""
        return next((part for part in self.parts if part.outcome == self.outcome), None)


def answers_of(published: Published, runs: Sequence[PublishedRun]) -> list[Answer]:
    """The answer to each claim, in the paper's order."""
    return [_answer(published, claim, _same_scale(runs)) for claim in published.paper.claims]


def _same_scale(runs: Sequence[PublishedRun]) -> list[PublishedRun]:
    """The runs at the load at which the newest one of its published load was made: others are no repeats of it."""
    newest: dict[tuple[str, int], float] = {}
    for run in sorted(runs, key=lambda run: run.experiment):
        newest[run.load, run.level] = run.amount
    return [run for run in runs if newest[run.load, run.level] == run.amount]


def _answer(published: Published, claim: Claim, runs: Sequence[PublishedRun]) -> Answer:
    if claim.untestable:
        return Answer(claim, UNTESTED, [])
    parts = [part for load in _loads(claim) for part in _parts(published, claim, load, _of_load(claim, load, runs))]
    return Answer(claim, next(one for one in WORST_FIRST if one in {part.outcome for part in parts}), parts)


def _loads(claim: Claim) -> list[str]:
    return claim.scenarios or [f"{claim.tool} {claim.endpoint}"]


def _of_load(claim: Claim, load: str, runs: Sequence[PublishedRun]) -> list[PublishedRun]:
    return [run for run in runs if run.load == load or (claim.tool and run.load.rpartition(" jdk")[0] == load)]


def _parts(published: Published, claim: Claim, load: str, runs: Sequence[PublishedRun]) -> Iterator[Part]:
    if not runs:
        yield Part(load, claim.figures[0], "", 0, UNTESTED, "it was not run")
        return
    made = sorted({run.level for run in runs})
    levels = [level for level in claim.levels or made if level in made or len(claim.scenarios) == 1]
    for figure, (of, level, sides) in product(claim.figures, _sides(claim, levels)):
        part = Part(load, figure, of, level, UNTESTED, "", published=published.values(claim, figure, of, level))
        yield _decided(published.paper, claim, part, sides, runs)


def _sides(claim: Claim, levels: Sequence[int]) -> Iterator[tuple[str, int, list[Side]]]:
    """What the figures are of, at which level, and whose they are."""
    if claim.of and claim.to:
        for level in levels:
            sides = [side.model_copy(update={"level": side.level or level}) for side in (claim.of, claim.to)]
            yield f"{claim.of} ÷ {claim.to}", level, sides
        return
    for approach in claim.approaches:
        if claim.grows:
            yield approach, max(levels), [Side(approach=approach, level=one) for one in (max(levels), min(levels))]
        else:
            yield from ((approach, level, [Side(approach=approach, level=level)]) for level in levels)


def _decided(paper: Paper, claim: Claim, part: Part, sides: Sequence[Side], runs: Sequence[PublishedRun]) -> Part:
    spoilt: list[str] = []
    counted = [_counted(paper, claim, part.figure, side, runs, spoilt) for side in sides]
    values = _values(claim, part.figure, counted)
    amounts = [run.amount for run in counted[0].values()]
    part = replace(part, blocks=len(values), amount=amounts[-1] if amounts else None)
    if len(values) < FEWEST_BLOCKS:
        few = f"{len(values)} of the {FEWEST_BLOCKS} blocks that an interval needs"
        why = "; ".join([few, *dict.fromkeys(spoilt)])
        return replace(part, outcome=INCONCLUSIVE if values else UNTESTED, why=why)
    part = _by_block(claim, part, values) if claim.in_every_block else _by_interval(claim, part, values)
    if part.outcome == NOT_REPRODUCED and _more_load(paper, claim, part.level, counted):
        why = "it does not hold, but a CPU of the approach had more load than as published"
        return replace(part, outcome=UNTESTED, why=why)
    return part if not claim.queues else _unless_idle(part, sides, counted, runs)


def _counted(
    paper: Paper, claim: Claim, figure: str, side: Side, runs: Sequence[PublishedRun], spoilt: list[str]
) -> dict[Block, PublishedRun]:
    """The runs of a side that are a test of the claim and not invalid, by block; `spoilt` gets why others are not."""
    found: dict[Block, PublishedRun] = {}
    for run in runs:
        if (run.approach, run.level) != (side.approach, side.level) or side.jdk not in {None, run.jdk}:
            continue
        why = _no_test(paper, claim, run)
        if (
            why is None
            and run.verdict == "invalid"
            and not (run.failed and set(run.failed.split()) <= set(claim.despite))
        ):
            why = f"a run of {run.approach} is invalid ({run.failed})"
        if why is None and figure not in run.figures:
            why = f"a run of {run.approach} has no {figure}"
        if why is None:
            found[run.block] = run
        else:
            spoilt.append(why)
    return found


def _no_test(paper: Paper, claim: Claim, run: PublishedRun) -> str | None:
    if claim.unscaled and run.amount != run.level:
        return f"it shows at {run.level:,} {paper.unit} only, and {run.amount:,g} were run"
    if claim.lasts_s and run.lasts_s != claim.lasts_s:
        return f"it shows in {claim.lasts_s} s only, and the run was to last {run.lasts_s} s"
    if claim.per_cpu and paper.cpus and run.amount / run.cpus < (1 - SAME_LOAD) * run.level / paper.cpus:
        return f"a CPU of the approach had {run.amount / run.cpus:,.0f} {paper.unit}, fewer than as published"
    return None


def _more_load(paper: Paper, claim: Claim, level: int, counted: Sequence[Runs]) -> bool:
    """Whether a CPU had more load than as published, which refutes no claim that something still holds at a load; an
    order may be refuted at any load."""
    order = claim.of is not None and None in {claim.above, claim.below}
    if order or not claim.per_cpu or paper.cpus is None:
        return False
    return any(run.amount / run.cpus > (1 + SAME_LOAD) * level / paper.cpus for one in counted for run in one.values())


def _values(claim: Claim, figure: str, counted: Sequence[Runs]) -> list[float]:
    """A value for each block: the figure, the quotient of two, or the growth for each connection; of two JDKs, whose
    runs have no block in common, first by first."""
    if len(counted) == 1:
        return [run.figures[figure] for run in counted[0].values()]
    one, other = counted
    pairs = [(run, other[block]) for block, run in one.items() if block in other]
    if claim.of and claim.to and claim.of.jdk != claim.to.jdk:
        pairs = [*zip(one.values(), other.values(), strict=False)]
    if claim.grows:
        return [(a.figures[figure] - b.figures[figure]) / (a.amount - b.amount) for a, b in pairs]
    return [a.figures[figure] / b.figures[figure] for a, b in pairs if a.figures[figure] > 0 and b.figures[figure] > 0]


def _by_block(claim: Claim, part: Part, values: Sequence[float]) -> Part:
    held = sum(map(claim.holds, values))
    outcome = {0: NOT_REPRODUCED, len(values): REPRODUCED}.get(held, INCONCLUSIVE)
    why = f"it holds in {held} of {len(values)} blocks"
    return replace(part, outcome=outcome, why=why, centre=fmean(values), low=min(values), high=max(values))


def _by_interval(claim: Claim, part: Part, values: Sequence[float]) -> Part:
    """Decided by the interval at 95 %, of ratios by their logarithms: one that reaches a limit decides nothing."""
    from loomlab.statistics.student import estimates  # noqa: PLC0415 - most commands need no scipy, which loads slowly

    ratio = claim.of is not None
    found = estimates([math.log(value) for value in values] if ratio else values)
    mean, half = float(found.mean), float(found.half_width)
    centre, low, high = (math.exp(end) if ratio else end for end in (mean, mean - half, mean + half))
    part = replace(part, centre=centre, low=low, high=high)
    if claim.holds(low) and claim.holds(high):
        return replace(part, outcome=REPRODUCED, why="the whole interval is within the limits")
    beyond = (claim.above is not None and high < claim.above) or (claim.below is not None and low > claim.below)
    if beyond:
        return replace(part, outcome=NOT_REPRODUCED, why="the whole interval is beyond the limit")
    return replace(part, outcome=INCONCLUSIVE, why="the interval reaches over the limit")


def _unless_idle(part: Part, sides: Sequence[Side], counted: Sequence[Runs], runs: Sequence[PublishedRun]) -> Part:
    """The part, untested where requests queued on no side: their mean latency is held against the shortest of all
    loads, as under overload the shortest of a run has queued, too."""
    longest = 0.0
    for side, here in zip(sides, counted, strict=True):
        told = [run for run in runs if run.approach == side.approach and run.verdict != "invalid"]
        shortest = [ms for run in told if (ms := run.figures.get("latency_ms.min"))]
        means = [ms for run in here.values() if (ms := run.figures.get("latency_ms.mean"))]
        if any(map(_timed_out, here.values())) or not means or not shortest:
            return part
        longest = max(longest, fmean(means) / min(shortest))
    if part.outcome == UNTESTED or longest >= QUEUED:
        return part
    why = f"nothing queued: the mean latency is {longest:.2f} times the shortest, below {QUEUED:g}"
    return replace(part, outcome=UNTESTED, why=why)


def _timed_out(run: PublishedRun) -> bool:
    timed_out, answered = run.figures.get("time_outs", 0), run.figures.get("throughput_rps", 0) * run.lasts_s
    return timed_out > 0 and timed_out >= TIMED_OUT * (timed_out + answered)
