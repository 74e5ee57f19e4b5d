"""A paper's claims, answered from what was measured: functions of both alone."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from loomlab.answer.papers.deciding import Decided, decided
from loomlab.answer.papers.measured import KeptRun, Measured, load_name
from loomlab.answer.papers.model import Claim, ClaimLoad, NoTest, Paper, RatioTest, Side, SlopeTest, Test, ValueTest
from loomlab.answer.papers.own import QUEUED, Published, own_figures
from loomlab.statistics.comparison import FEWEST_BLOCKS

Outcome = Literal["reproduced", "not reproduced", "inconclusive", "could not be tested here"]
REPRODUCED: Outcome = "reproduced"
NOT_REPRODUCED: Outcome = "not reproduced"
INCONCLUSIVE: Outcome = "inconclusive"
UNTESTED: Outcome = "could not be tested here"
OUTCOMES: dict[bool | None, Outcome] = {True: REPRODUCED, False: NOT_REPRODUCED, None: INCONCLUSIVE}
OF_CONNECTIONS = ("rss_", "vsz_", "threads_")
"""Figures that follow from the connections, whether requests queue or not."""
LEAST_PER_CPU, MOST_PER_CPU = 0.99, 1.01
"""Of the published load of a CPU: connections are whole."""
type Block = tuple[str, int]
"""A repeat of an experiment."""
type Place = tuple[str, int]
"""An approach at a published level."""


@dataclass(frozen=True)
class Part:
    """One figure of one contrast, or of one approach, at one published load of one scenario (`at`); `base` is the load
    whose figure it is held against, or from which it grows. `centre` and its interval at 95 % are in the figure's unit,
    or a ratio; `amount` and `base_amount` are the loads that were run, `published` are the paper's own figures of the
    same, `why` is a phrase."""

    at: str
    figure: str
    of: str
    level: int | None
    outcome: Outcome
    why: str
    amount: float | None = None
    base: int | None = None
    base_amount: float | None = None
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
    """What was measured at the loads of one scenario, or of one endpoint, oldest first; `cpus` are the approach's, by
    experiment; `early` is why nothing is answered yet."""

    name: str
    runs: list[tuple[Block, KeptRun]]
    left_out: list[str]
    cpus: Mapping[str, float]
    early: str | None

    def at(self, level: int, side: Side) -> list[tuple[Block, KeptRun]]:
        return [
            (block, run)
            for block, run in self.runs
            if (run.level, run.approach) == (level, side.approach) and side.jdk in {None, run.jdk}
        ]

    def shortest_ms(self, claim: Claim) -> dict[str, float]:
        """The shortest latency of each approach, at whatever load, of runs that count."""
        found: dict[str, float] = {}
        for _, run in self.runs:
            shortest = run.figures.get("latency_ms.min")
            if shortest and _counts(run, claim):
                found[run.approach] = min(shortest, found.get(run.approach, shortest))
        return found


@dataclass(frozen=True)
class _Found:
    """A value for each block that counts, why others do not, the loads that were run by published level, and the runs
    that count."""

    values: dict[Block, float]
    spoilt: list[str]
    amounts: dict[int, float]
    counted: list[KeptRun]


@dataclass(frozen=True)
class _Asked:
    """A claim that is decided by figures, and what its paper tells; `all_tries`: also by those of runs that are invalid
    for causes of their own."""

    claim: Claim
    test: Test
    load: ClaimLoad
    published: Published
    approach_cpus: int | None
    unit: str
    all_tries: bool = False

    def hindrance(self, run: KeptRun, cpus: float) -> str | None:
        """Why a run does not test it."""
        load = self.load
        if load.unscaled and run.amount != run.level:
            return f"it shows at {run.level:,} {self.unit} only, and {run.amount:,g} were run"
        if load.lasts_s and run.lasts_s != load.lasts_s:
            return f"it shows in {load.lasts_s} s only, and the run was to last {run.lasts_s} s"
        least = self.published_per_cpu(run.level)
        if least and run.amount / cpus < LEAST_PER_CPU * least:
            return (
                f"a CPU of the approach had {run.amount / cpus:,.0f} {self.unit} here and {least:,.0f} as published, "
                f"so it is no test: use SCALE={min(1.0, least * cpus / run.level):.4g}, or more"
            )
        return None

    def beyond(self, found: "_Found", cpus: Mapping[str, float], level: int | None) -> str | None:
        """Why these blocks do not refute a claim that something still holds at a load: they had more of it. An order
        may be refuted at any load."""
        published = self.published_per_cpu(level)
        order = isinstance(self.test, RatioTest) and None in {self.test.above, self.test.below}
        amounts = found.amounts.values()
        here = max((amount / cpus[block[0]] for block in found.values for amount in amounts), default=0.0)
        if order or published is None or here <= MOST_PER_CPU * published:
            return None
        return (
            f"the interval is beyond the limit, but a CPU of the approach had {here:,.0f} {self.unit} here and "
            f"{published:,.0f} as published, so it refutes nothing"
        )

    def published_per_cpu(self, level: int | None) -> float | None:
        """Where the claim is about the load of a CPU."""
        return level / self.approach_cpus if level and self.load.per_cpu and self.approach_cpus else None

    def needs_queue(self, figure: str, places: Sequence[Place]) -> bool:
        if self.load.saturated:
            return True
        return not figure.startswith(OF_CONNECTIONS) and any(self.published.queued(*place) for place in places)

    def queues(self, places: Sequence[Place]) -> list[Place]:
        """Where requests are to queue, at one of them; of one approach at two levels, at the lower one of those that
        queued as published."""
        (approach, _), *_ = places
        levels = sorted({level for name, level in places if name == approach})
        if len(levels) == 1 or any(name != approach for name, _ in places):
            return list(places)
        queued = [level for level in levels if self.published.queued(approach, level)]
        return [(approach, min(queued, default=max(levels)))]


def answers_of(paper: Paper, measured: Mapping[str, Measured]) -> list[Answer]:
    """Of every claim of the paper, from what is measured by step."""
    return [answer_of(paper, claim, measured) for claim in paper.claims]


def answer_of(paper: Paper, claim: Claim, measured: Mapping[str, Measured]) -> Answer:
    """Not reproduced if one of its parts is not, else not tested or inconclusive if one is: a claim is reproduced as a
    whole."""
    test = claim.decided_by
    if isinstance(test, NoTest) or claim.load is None:
        return Answer(claim, UNTESTED, [], test.why if isinstance(test, NoTest) else None)
    asked = _Asked(claim, test, claim.load, Published(paper), paper.approach_cpus, paper.levels.unit)
    own: dict[tuple[str, str, int | None], tuple[float, ...]] = {
        (one.figure, one.of, one.level): tuple(one.values) for one in own_figures(paper, claim)
    }
    parts = [
        replace(part, published=own.get((part.figure, part.of, part.level), ()))
        for source in _sources(claim.load, measured)
        for part in _parts(asked, source)
    ]
    found = {part.outcome for part in parts}
    order = (NOT_REPRODUCED, UNTESTED, INCONCLUSIVE, REPRODUCED)
    return Answer(claim, next(one for one in order if one in found), parts)


def _sources(load: ClaimLoad, measured: Mapping[str, Measured]) -> list[_Source]:
    if load.scenarios:
        return [_source(name, [measured[name]] if name in measured else []) for name in load.scenarios]
    step = re.compile(re.escape(load_name(str(load.tool), str(load.endpoint))) + "-[0-9]+-jdk[0-9]+")
    return [_source(f"{load.tool} {load.endpoint}", [one for name, one in measured.items() if step.fullmatch(name)])]


def _source(name: str, found: Sequence[Measured]) -> _Source:
    experiments = sorted((one for measured in found for one in measured.experiments), key=lambda one: one.started)
    left_out = [one.left_out for one in found if one.left_out and not one.experiments]
    left_out += [sentence for one in experiments for sentence in one.left_out]
    return _Source(
        name,
        [((one.name, run.repeat), run) for one in experiments for run in sorted(one.runs, key=lambda run: run.repeat)],
        [*dict.fromkeys(sentence.removeprefix("Left out: ") for sentence in left_out)],
        {one.name: one.cpus for one in experiments},
        next((one.early for one in found if one.early), None),
    )


def _parts(asked: _Asked, source: _Source) -> Iterator[Part]:
    if not source.runs:
        why = f"it was not run ({' '.join(source.left_out)})" if source.left_out else "it was not run"
        yield Part(source.name, asked.test.figures[0], "", None, UNTESTED, why)
        return
    if source.early:
        yield Part(source.name, asked.test.figures[0], "", None, INCONCLUSIVE, source.early)
        return
    run_levels = sorted({run.level for _, run in source.runs})
    levels = asked.load.levels or run_levels
    if len(asked.load.scenarios) > 1:
        levels = [level for level in levels if level in run_levels]
    for figure in asked.test.figures:
        every = _each(replace(asked, all_tries=True), figure, levels, source)
        for (of, level, places, found), (*_, of_all_tries) in zip(
            _each(asked, figure, levels, source), every, strict=True
        ):
            base = next((at for _, at in places if at != level), None)
            part = _part(asked.test, found, Part(source.name, figure, of, level, UNTESTED, "", base=base))
            part = _unless_swayed(asked.test, part, found, of_all_tries)
            beyond = asked.beyond(found, source.cpus, level) if part.outcome == NOT_REPRODUCED else None
            if beyond:
                yield replace(part, outcome=UNTESTED, why=beyond)
            elif asked.needs_queue(figure, places):
                yield _unless_idle(part, asked.queues(places), found.counted, source.shortest_ms(asked.claim))
            else:
                yield part


def _each(
    asked: _Asked, figure: str, levels: Sequence[int], source: _Source
) -> Iterator[tuple[str, int, list[Place], _Found]]:
    """Of what, at which level, of which approaches and levels its figures are, and its values by block."""
    match asked.test:
        case RatioTest(of=of, to=to) as test:
            for level in levels:
                places = [(side.approach, side.level or level) for side in (of, to)]
                a, b = (
                    _figures(asked, figure, side, at, source) for side, (_, at) in zip((of, to), places, strict=True)
                )
                yield test.name, level, places, _paired(a, b, _ratio, in_order=of.jdk != to.jdk)
        case ValueTest(approaches=approaches, jdk=jdk):
            for approach in approaches:
                for level in levels:
                    side = Side(approach=approach, jdk=jdk)
                    yield approach, level, [(approach, level)], _figures(asked, figure, side, level, source)
        case SlopeTest(approaches=approaches):
            for approach in approaches:
                places = [(approach, level) for level in (max(levels), min(levels))]
                yield approach, max(levels), places, _slopes(asked, figure, approach, levels, source)


def _slopes(asked: _Asked, figure: str, approach: str, levels: Sequence[int], source: _Source) -> _Found:
    """Per connection, or whatever the load is counted in."""
    side = Side(approach=approach)
    high, low = (_figures(asked, figure, side, level, source) for level in (max(levels), min(levels)))
    amounts = [*high.amounts.values(), *low.amounts.values()]
    span = max(amounts, default=0.0) - min(amounts, default=0.0)
    return _paired(high, low, lambda a, b: (a - b) / span if span else None)


def _figures(asked: _Asked, figure: str, side: Side, level: int, source: _Source) -> _Found:
    """Of the runs that count: those that are not invalid, or for nothing but what the claim does without; of all tries,
    those that are invalid for causes of their own, too."""
    values: dict[Block, float] = {}
    spoilt: list[str] = []
    counted = []
    here = source.at(level, side)
    for block, run in here:
        value = run.figures.get(figure)
        if why := asked.hindrance(run, source.cpus[block[0]]):
            spoilt.append(why)
        elif run.torn:
            spoilt.append(f"block {run.repeat} of {block[0]} counts for nothing: {run.torn}")
        elif not _counts(run, asked.claim) and not (asked.all_tries and not run.spoilt):
            spoilt.append(f"run {run.run} of {block[0]} is invalid ({', '.join(run.failed) or 'no reason is kept'})")
        elif value is None:
            spoilt.append(f"run {run.run} of {block[0]} has no {figure}")
        else:
            values[block] = value
            counted.append(run)
    if not here:
        left_out = f" ({' '.join(source.left_out)})" if source.left_out else ""
        spoilt.append(f"{side.approach} was not run there{left_out}")
    return _Found(values, spoilt, {run.level: run.amount for _, run in here}, counted)


def _counts(run: KeptRun, claim: Claim) -> bool:
    return run.verdict != "invalid" or bool(run.failed and set(run.failed) <= set(claim.despite))


def _paired(
    one: _Found, other: _Found, value: Callable[[float, float], float | None], *, in_order: bool = False
) -> _Found:
    """Within blocks; `in_order`: the first of one with the first of the other, where no block has both."""
    if in_order:
        pairs = [(block, a, b) for (block, a), b in zip(one.values.items(), other.values.values(), strict=False)]
    else:
        pairs = [(block, a, other.values[block]) for block, a in one.values.items() if block in other.values]
    values = {block: found for block, a, b in pairs if (found := value(a, b)) is not None}
    return _Found(values, [*one.spoilt, *other.spoilt], one.amounts | other.amounts, [*one.counted, *other.counted])


def _ratio(a: float, b: float) -> float | None:
    return a / b if a > 0 and b > 0 else None


def _part(test: Test, found: _Found, part: Part) -> Part:
    values = [*found.values.values()]
    amount, base_amount = (found.amounts.get(level) if level else None for level in (part.level, part.base))
    part = replace(part, blocks=len(values), amount=amount, base_amount=base_amount)
    if len(values) < FEWEST_BLOCKS:
        few = f"{len(values)} of the {FEWEST_BLOCKS} blocks that an interval needs"
        outcome = INCONCLUSIVE if values else UNTESTED
        return replace(part, outcome=outcome, why="; ".join([few, *dict.fromkeys(found.spoilt)]))
    one: Decided = decided(test, values)
    return replace(part, outcome=OUTCOMES[one.holds], why=one.why, centre=one.centre, low=one.low, high=one.high)


def _unless_swayed(test: Test, part: Part, found: _Found, of_all_tries: _Found) -> Part:
    """What a run's own outcome leaves out must not choose the answer."""
    if part.outcome not in {REPRODUCED, NOT_REPRODUCED} or _part(test, of_all_tries, part).outcome == part.outcome:
        return part
    count = len(of_all_tries.counted) - len(found.counted)
    runs = f"{count} run{'' if count == 1 else 's'}"
    return replace(
        part, outcome=INCONCLUSIVE, why=f"with {runs} left out for causes of their own, the answer would be another"
    )


TIMED_OUT = 0.01
"""Of the requests of a run."""


def _timed_out_share(run: KeptRun) -> float:
    timed_out = run.failures.get("time-out", 0)
    answered = run.figures.get("throughput_rps", 0.0) * run.lasts_s
    return timed_out / (timed_out + answered) if timed_out else 0.0


def _unless_idle(
    part: Part, places: Iterable[Place], runs: Sequence[KeptRun], shortest_ms: Mapping[str, float]
) -> Part:
    """What shows where requests queue is neither borne out nor refuted where none do, at any of these places. Requests
    that time out have queued, whatever those that were answered took, if they are one in a hundred. Under overload the
    shortest latency of a run has queued, too, so the mean is held against the shortest of all loads."""
    longest = 0.0
    for approach, level in places:
        here = [run for run in runs if (run.approach, run.level) == (approach, level)]
        if any(_timed_out_share(run) >= TIMED_OUT for run in here):
            return part
        means = [mean for run in here if (mean := run.figures.get("latency_ms.mean"))]
        if not means or approach not in shortest_ms:
            return part
        longest = max(longest, fmean(means) / shortest_ms[approach])
    if part.outcome == UNTESTED or longest >= QUEUED:
        return part
    why = f"nothing queued: the mean latency is {longest:.2f} times the shortest, below {QUEUED:g}"
    return replace(part, outcome=UNTESTED, why=why)
