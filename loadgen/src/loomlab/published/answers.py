"""The answers to a benchmark's claims, from the runs that were made of its loads, and what is told of each."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean

from loomlab.judge.rules import RULES
from loomlab.published.benchmark import Benchmark, Claim, Outcome, PublishedRun
from loomlab.statistics.comparison import FEWEST_BLOCKS
from loomlab.statistics.student import estimates

type Runs = Sequence[PublishedRun]
QUEUED = 1.25  # the mean latency over the shortest, from which on requests are said to queue
TIMED_OUT = 0.01  # the share of requests, from which on those that time out have queued
SAME_LOAD = 0.01  # by which the load of a CPU may differ from the published one: connections are whole
SPOILING = {rule.name for rule in RULES if rule.host_cause}  # rules whose cause is outside of the approach
COUNTS = ("errors", "time_outs")  # figures that are 0 or not: each block by itself is held against the limit
WORST_FIRST = (Outcome.NOT_REPRODUCED, Outcome.UNTESTED, Outcome.INCONCLUSIVE, Outcome.REPRODUCED)
"""A claim is reproduced as a whole, or not."""
COLUMNS = ("claim", "answer", "published", "here")
UNITS = {
    "_bytes$": (2**20, " MiB"),
    "_share$": (0.01, " %"),
    "^latency_|_ms_per_request$": (1, " ms"),
    "_s$": (1, " s"),
    "_rps$": (1, " requests/s"),
}


@dataclass(frozen=True)
class Finding:
    """One figure of a claim at one published level; `centre` and its interval are in the figure's unit, or a ratio."""

    figure: str
    of: str
    level: int
    outcome: Outcome
    why: str = ""  # it is no test, or decides nothing
    amount: float | None = None  # the load that was run
    blocks: int = 0
    centre: float | None = None
    low: float = math.nan
    high: float = math.nan
    published: tuple[float, ...] = ()  # the benchmark's own figures


@dataclass(frozen=True)
class ClaimAnswer:
    claim: Claim
    findings: list[Finding]

    @property
    def deciding(self) -> Finding | None:
        """The first of the worst, whose outcome is the answer."""
        return min(self.findings, key=lambda finding: WORST_FIRST.index(finding.outcome), default=None)

    @property
    def outcome(self) -> Outcome:
        return self.deciding.outcome if self.deciding else Outcome.UNTESTED


def answers_of(benchmark: Benchmark, runs: Runs) -> list[ClaimAnswer]:
    """The answer to each claim. Only runs at the scale and on the CPUs of a load's newest are repeats of it."""
    newest = {(run.load, run.level): run.place for run in sorted(runs, key=lambda run: run.experiment)}
    repeats = [run for run in runs if newest[run.load, run.level] == run.place]
    return [ClaimAnswer(claim, [*_findings(benchmark, claim, repeats)]) for claim in benchmark.claims]


def _findings(benchmark: Benchmark, claim: Claim, runs: Runs) -> Iterator[Finding]:
    if claim.untestable:
        return
    for load in claim.loads or benchmark.scenarios:
        own = [run for run in runs if run.load == load]
        if not own:
            yield Finding(claim.figures[0], "", 0, Outcome.UNTESTED, "it was not run")
            continue
        levels = claim.levels or sorted({run.level for run in own})
        for figure, of, level in product(claim.figures, claim.of, levels):
            yield _finding(benchmark, claim, figure, of, level, own)


def _finding(benchmark: Benchmark, claim: Claim, figure: str, of: str, level: int, runs: Runs) -> Finding:
    sides = claim.sides(of, level)
    own = [[run for run in runs if run.is_of(*side)] for side in sides]
    objections = [why for side in own for run in side if (why := _objection(benchmark, claim, figure, run))]
    counted, unspoilt = (
        [[run for run in side if not _objection(benchmark, claim, figure, run, every)] for side in own]
        for every in (False, True)
    )
    values = [*_values(claim, figure, counted)]
    at = f" at {claim.from_level:,}" if claim.from_level else ""
    finding = Finding(
        figure,
        f"{of} ÷ {claim.to}{at}" if claim.to else of,
        level,
        Outcome.INCONCLUSIVE if values else Outcome.UNTESTED,
        published=benchmark.values(claim, figure, sides),
        amount=counted[0][-1].amount if counted[0] else None,
        blocks=len(values),
    )
    if len(values) < FEWEST_BLOCKS:
        few = f"{len(values)} of the {FEWEST_BLOCKS} blocks that an interval needs"
        return replace(finding, why="; ".join([few, *dict.fromkeys(objections)]))
    centre, low, high = _interval(claim, figure, values)
    outcome = claim.outcome(low, high)
    why = _no_test(benchmark, claim, outcome, counted, runs)
    if not why and outcome != claim.outcome(*_interval(claim, figure, [*_values(claim, figure, unspoilt)])[1:]):
        why = "with the runs that are invalid for causes of their own the answer would be another"
        return replace(finding, why=why, centre=centre, low=low, high=high)
    return replace(finding, outcome=Outcome.UNTESTED if why else outcome, why=why, centre=centre, low=low, high=high)


def _objection(benchmark: Benchmark, claim: Claim, figure: str, run: PublishedRun, unspoilt: bool = False) -> str:
    """Why a run does not count for a claim; empty: it does, as each that nothing outside of it spoilt, if so asked."""
    failed = set(run.failed.split())
    if claim.unscaled and run.amount != run.level:
        return f"it shows at {run.level:,} {benchmark.unit} only, and {run.amount:,g} were run"
    if claim.lasts_s not in {None, run.lasts_s}:
        return f"it shows in {claim.lasts_s} s only, and the run was to last {run.lasts_s} s"
    if claim.per_cpu and _cpu_load(benchmark, run) < 1 - SAME_LOAD:
        return f"a CPU of the approach had {run.amount / run.cpus:,.0f} {benchmark.unit}, fewer than as published"
    borne = unspoilt and not failed & SPOILING
    if run.verdict == "invalid" and not borne and not (failed and failed <= {*claim.despite}):
        return f"a run of {run.approach} is invalid ({run.failed})"
    return "" if figure in run.figures else f"a run of {run.approach} has no {figure}"


def _cpu_load(benchmark: Benchmark, run: PublishedRun) -> float:
    return run.amount / run.cpus * benchmark.cpus / run.level if benchmark.cpus else 1


def _values(claim: Claim, figure: str, counted: Sequence[Runs]) -> Iterator[float]:
    """A value for each block, a repeat of an experiment; of two JDKs, which have no block in common, first by first."""
    first, *others = ({(run.experiment, run.repeat): run for run in runs} for runs in counted)
    blocks = [[side[block] for side in (first, *others)] for block in first if all(block in side for side in others)]
    if claim.to and " on JDK " in claim.to:
        blocks = [[*runs] for runs in zip(*counted, strict=False)]
    for runs in blocks:
        value = claim.value([run.figures[figure] for run in runs], [run.amount for run in runs])
        if value is not None:
            yield value


def _interval(claim: Claim, figure: str, values: Sequence[float]) -> tuple[float, float, float]:
    """The centre and the ends: at 95 %, of ratios by their logarithms; of counts the mean and the extremes."""
    if figure in COUNTS:
        return fmean(values), min(values), max(values)
    found = estimates([math.log(value) for value in values] if claim.to else values)
    mean, half = float(found.mean), float(found.half_width)
    centre, low, high = (math.exp(end) if claim.to else end for end in (mean, mean - half, mean + half))
    return centre, low, high


def _no_test(benchmark: Benchmark, claim: Claim, outcome: Outcome, counted: Sequence[Runs], runs: Runs) -> str:
    """Why an interval decides nothing, if so. More load refutes an order, but not that something holds at a load."""
    order = claim.to is not None and math.inf in {-claim.above, claim.below}
    more = any(_cpu_load(benchmark, run) > 1 + SAME_LOAD for side in counted for run in side)
    if outcome == Outcome.NOT_REPRODUCED and claim.per_cpu and more and not order:
        return "it does not hold, but a CPU of the approach had more load than as published"
    waits = max(_waits(side, runs) for side in counted)
    if claim.queues and waits < QUEUED:
        return f"nothing queued: the mean latency is {waits:.2f} times the shortest, below {QUEUED:g}"
    return ""


def _waits(side: Runs, runs: Runs) -> float:
    """The mean latency of a side by the shortest of its approach at all loads; infinite where that is not known."""
    alike = [run for run in runs if run.approach == side[0].approach and run.verdict != "invalid"]
    shortest = [ms for run in alike if (ms := run.figures.get("latency_ms.min"))]
    means = [ms for run in side if (ms := run.figures.get("latency_ms.mean"))]
    timed_out = any(run.figures.get("time_out_share", 0) >= TIMED_OUT for run in side)
    return math.inf if timed_out or not means or not shortest else fmean(means) / min(shortest)


def row_of(answer: ClaimAnswer) -> tuple[str, str, str, str]:
    """Of reproduced.md and `make reproduce`: claim, answer, what was published, and what decides it here."""
    claim, finding = answer.claim, answer.deciding
    if finding is None:
        return claim.says, answer.outcome, "", claim.untestable or ""
    published = " and ".join(_number(value, finding.figure, claim) for value in finding.published)
    if finding.centre is None:
        return claim.says, answer.outcome, published, finding.why
    of = f" of {finding.of}" if claim.to or len(claim.of) > 1 else ""
    load = f"{finding.level:,}" + (f" [{finding.amount:,g}]" if finding.amount != finding.level else "")
    ends = (finding.centre, finding.low, finding.high)
    middle, low, high = (_number(value, finding.figure, claim) for value in ends)
    interval = middle if low == high else f"{middle} ({low.split()[0]} to {high.split()[0]})"
    parts, alike = len(answer.findings), sum(other.outcome == answer.outcome for other in answer.findings)
    more = finding.why or (f"so in {alike} of {parts}" if parts > 1 else "")
    told = f"{finding.figure.rpartition('.')[2]}{of} at {load}: {interval}" + (f"; {more}" if more else "")
    return claim.says, answer.outcome, published, told


def _number(value: float, figure: str, claim: Claim) -> str:
    if claim.to:
        return f"{value:.3g}"
    if claim.from_level:
        return f"{value / 1024:,.0f} KiB"
    divisor, unit = next((found for pattern, found in UNITS.items() if re.search(pattern, figure)), (1, ""))
    return f"{value / divisor:,.4g}{unit}"
