"""A paper's claims, answered from what was measured: functions of both alone."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from loomlab.answer.papers.measured import KeptRun, Measured, load_name
from loomlab.answer.papers.model import Claim, ClaimLoad, NoTest, Paper, RatioTest, Side, SlopeTest, ValueTest
from loomlab.answer.papers.own import own_figures
from loomlab.statistics.comparison import FEWEST_BLOCKS

Outcome = Literal["reproduced", "not reproduced", "could not be tested here"]
REPRODUCED: Outcome = "reproduced"
NOT_REPRODUCED: Outcome = "not reproduced"
UNTESTED: Outcome = "could not be tested here"
QUEUED = 1.25
"""The mean latency over the shortest, from which on requests are said to queue."""
type Test = RatioTest | ValueTest | SlopeTest
type Block = tuple[str, int]
"""A repeat of an experiment."""


@dataclass(frozen=True)
class Part:
    """One figure of one contrast, or of one approach, at one published load of one scenario (`at`). `centre` and its
    interval at 95 % are in the figure's unit, or a ratio; `amount` is the load that was run, `published` are the
    paper's own figures of the same, `why` is a phrase."""

    at: str
    figure: str
    of: str
    level: int | None
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
    """`why` is said where there are no parts."""

    claim: Claim
    outcome: Outcome
    parts: list[Part]
    why: str | None = None


@dataclass(frozen=True)
class _Source:
    """What was measured at the loads of one scenario, or of one endpoint, oldest first."""

    name: str
    runs: list[tuple[Block, KeptRun]]
    left_out: list[str]

    def at(self, level: int, side: Side) -> list[tuple[Block, KeptRun]]:
        return [
            (block, run)
            for block, run in self.runs
            if (run.level, run.approach) == (level, side.approach) and side.jdk in {None, run.jdk}
        ]


@dataclass(frozen=True)
class _Found:
    """A value for each block that counts, why others do not, and the runs that were asked."""

    values: dict[Block, float]
    spoilt: list[str]
    runs: list[KeptRun]


def answers_of(paper: Paper, measured: Mapping[str, Measured]) -> list[Answer]:
    """Of every claim of the paper, from what is measured by step."""
    return [answer_of(paper, claim, measured) for claim in paper.claims]


def answer_of(paper: Paper, claim: Claim, measured: Mapping[str, Measured]) -> Answer:
    """Not reproduced if one of its parts is not, else not tested if one is not: a claim is reproduced as a whole."""
    test = claim.decided_by
    if isinstance(test, NoTest) or claim.load is None:
        return Answer(claim, UNTESTED, [], test.why if isinstance(test, NoTest) else None)
    own = {(one.figure, one.of, one.level): tuple(one.values) for one in own_figures(paper, claim)}
    parts = [
        replace(part, published=own.get((part.figure, part.of, part.level), ()))
        for source in _sources(claim.load, measured)
        for part in _parts(claim, test, claim.load, source)
    ]
    found = {part.outcome for part in parts}
    return Answer(claim, next(one for one in (NOT_REPRODUCED, UNTESTED, REPRODUCED) if one in found), parts)


def _sources(load: ClaimLoad, measured: Mapping[str, Measured]) -> list[_Source]:
    if load.scenarios:
        return [_source(name, [measured[name]] if name in measured else []) for name in load.scenarios]
    step = re.compile(re.escape(load_name(str(load.tool), str(load.endpoint))) + "-[0-9]+-jdk[0-9]+")
    return [_source(f"{load.tool} {load.endpoint}", [one for name, one in measured.items() if step.fullmatch(name)])]


def _source(name: str, found: Sequence[Measured]) -> _Source:
    experiments = sorted((one for measured in found for one in measured.experiments), key=lambda one: one.started)
    return _Source(
        name,
        [((one.name, run.repeat), run) for one in experiments for run in sorted(one.runs, key=lambda run: run.repeat)],
        [*dict.fromkeys(sentence for one in experiments for sentence in one.left_out)],
    )


def _parts(claim: Claim, test: Test, load: ClaimLoad, source: _Source) -> Iterator[Part]:
    if not source.runs:
        yield Part(source.name, test.figures[0], "", None, UNTESTED, "it was not run")
        return
    levels = load.levels or sorted({run.level for _, run in source.runs})
    for figure in test.figures:
        for of, level, found in _each(claim, test, figure, levels, source):
            part = _part(test, found, Part(source.name, figure, of, level, UNTESTED, ""))
            yield _unless_idle(part, found.runs) if load.saturated else part


def _each(
    claim: Claim, test: Test, figure: str, levels: Sequence[int], source: _Source
) -> Iterator[tuple[str, int | None, _Found]]:
    """Of what, at which level, and its values by block."""
    match test:
        case RatioTest(of=of, to=to):
            for level in levels:
                a, b = (_figures(claim, figure, side, side.level or level, source) for side in (of, to))
                yield f"{of.approach} ÷ {to.approach}", level, _paired(a, b, _ratio, in_order=of.jdk != to.jdk)
        case ValueTest(approaches=approaches, jdk=jdk):
            for approach in approaches:
                for level in levels:
                    yield approach, level, _figures(claim, figure, Side(approach=approach, jdk=jdk), level, source)
        case SlopeTest(approaches=approaches):
            for approach in approaches:
                yield approach, None, _slopes(claim, figure, approach, levels, source)


def _slopes(claim: Claim, figure: str, approach: str, levels: Sequence[int], source: _Source) -> _Found:
    """Per connection, or whatever the load is counted in."""
    side = Side(approach=approach)
    high, low = (_figures(claim, figure, side, level, source) for level in (max(levels), min(levels)))
    amounts = {run.amount for run in (*high.runs, *low.runs)}
    span = max(amounts, default=0.0) - min(amounts, default=0.0)
    return _paired(high, low, lambda a, b: (a - b) / span if span else None)


def _figures(claim: Claim, figure: str, side: Side, level: int, source: _Source) -> _Found:
    """Of the runs that count: those that are not invalid, or are for nothing but what the claim is about."""
    values: dict[Block, float] = {}
    spoilt = []
    asked = source.at(level, side)
    for block, run in asked:
        value = run.figures.get(figure)
        if run.verdict == "invalid" and not (run.failed and set(run.failed) <= set(claim.despite)):
            spoilt.append(f"run {run.run} of {block[0]} is invalid ({', '.join(run.failed) or 'no reason is kept'})")
        elif value is None:
            spoilt.append(f"run {run.run} of {block[0]} has no {figure}")
        else:
            values[block] = value
    if not asked:
        left_out = [sentence.removeprefix("Left out: ") for sentence in source.left_out]
        spoilt.append(f"{side.approach} was not run there" + (f" ({' '.join(left_out)})" if left_out else ""))
    return _Found(values, spoilt, [run for _, run in asked])


def _paired(
    one: _Found, other: _Found, value: Callable[[float, float], float | None], *, in_order: bool = False
) -> _Found:
    """Within blocks; `in_order`: the first of one with the first of the other, where no block has both."""
    if in_order:
        pairs = [(block, a, b) for (block, a), b in zip(one.values.items(), other.values.values(), strict=False)]
    else:
        pairs = [(block, a, other.values[block]) for block, a in one.values.items() if block in other.values]
    values = {block: found for block, a, b in pairs if (found := value(a, b)) is not None}
    return _Found(values, [*one.spoilt, *other.spoilt], [*one.runs, *other.runs])


def _ratio(a: float, b: float) -> float | None:
    return a / b if a > 0 and b > 0 else None


def _part(test: Test, found: _Found, part: Part) -> Part:
    values = [*found.values.values()]
    amounts = {run.amount for run in found.runs}
    part = replace(part, blocks=len(values), amount=min(amounts) if len(amounts) == 1 else None)
    if len(values) < FEWEST_BLOCKS:
        few = f"{len(values)} of the {FEWEST_BLOCKS} blocks that an interval needs"
        return replace(part, why="; ".join([few, *dict.fromkeys(found.spoilt)]))
    centre, low, high = _interval(values, ratio=isinstance(test, RatioTest))
    part = replace(part, centre=centre, low=low, high=high)
    if (test.above is None or low > test.above) and (test.below is None or high < test.below):
        return replace(part, outcome=REPRODUCED, why="the whole interval is within the limits")
    if (test.above is not None and high <= test.above) or (test.below is not None and low >= test.below):
        return replace(part, outcome=NOT_REPRODUCED, why="the whole interval is beyond the limit")
    return replace(part, outcome=NOT_REPRODUCED, why="undecided: the interval crosses the limit")


def _interval(values: Sequence[float], *, ratio: bool) -> tuple[float, float, float]:
    """Mean and its ends at 95 %; of ratios, by their logarithms."""
    from loomlab.statistics.student import estimates  # noqa: PLC0415 - most commands need no scipy, which loads slowly

    found = estimates([math.log(value) for value in values] if ratio else values)
    mean, half = float(found.mean), float(found.half_width)
    ends = (mean, mean - half, mean + half)
    return (math.exp(ends[0]), math.exp(ends[1]), math.exp(ends[2])) if ratio else ends


def _unless_idle(part: Part, runs: Iterable[KeptRun]) -> Part:
    """What shows where requests queue is not refuted where none do."""
    if part.outcome != NOT_REPRODUCED:
        return part
    by_approach: dict[str, list[float]] = {}
    for run in runs:
        mean, shortest = run.figures.get("latency_ms.mean"), run.figures.get("latency_ms.min")
        if mean and shortest:
            by_approach.setdefault(run.approach, []).append(mean / shortest)
    longest = max((fmean(found) for found in by_approach.values()), default=None)
    if longest is None or longest >= QUEUED:
        return part
    why = f"nothing queued: the mean latency is {longest:.2f} times the shortest, below {QUEUED:g}"
    return replace(part, outcome=UNTESTED, why=why)
