"""The gate of `make compare`: whether the other sides are within the limits that FAIL sets against side A; and what to
expect of it beforehand."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple
from xml.etree import ElementTree

from loomlab.answer.comparisons import block_deviation, compared
from loomlab.answer.figures import CAPACITY, CPU, MEMORY, P50, P99, P99_9, THROUGHPUT, Figure
from loomlab.answer.loads import load_groups, spoilt
from loomlab.basics.format import signed
from loomlab.plan.variables import MOST_REPEATS
from loomlab.records.contrasts import Comparison
from loomlab.records.files import whole
from loomlab.records.models import Summary
from loomlab.records.order import Limit, Order
from loomlab.statistics.comparison import FEWEST_BLOCKS
from loomlab.statistics.paired import why_not
from loomlab.statistics.student import chance_within, half_width

FIGURES: dict[str, Figure] = {
    "cpu_ms_per_request": CPU, "live_bytes_per_request": MEMORY, "latency_ms.p50": P50, "latency_ms.p99": P99,
    "latency_ms.p99_9": P99_9, "throughput_rps": THROUGHPUT, "capacity_rps": CAPACITY,
}  # fmt: skip
"""As run.json names them, and as `Limit` does."""
BLOCK_DEVIATION = 0.043  # of a block's log ratio of CPU per request: three services against themselves, 64 blocks


class Outcome(NamedTuple):
    limit: Limit
    load: str
    side: str
    result: Literal["within", "beyond", "unresolved"]
    sentence: str


def outcomes_of(summary: Summary, order: Order) -> list[Outcome]:
    """One of each limit, load and side: *beyond* where the whole interval is, *within* where none of it is. One of a
    limit on what was not measured."""
    loads, base = load_groups(summary.runs, order), next(iter(order.sides), "")
    contrasts = [one for one in summary.contrasts if one.kind == "settings" and one.b == base]
    return [
        outcome
        for limit in order.limits
        for outcome in [_outcome(limit, one) for one in compared(FIGURES[limit.figure], contrasts, loads)]
        or [Outcome(limit, "any load", base, "unresolved", f"{limit.figure} was not measured.")]
    ]


def _outcome(limit: Limit, one: Comparison) -> Outcome:
    """Of differences, shares are of the base's mean."""
    what = f"{limit.figure} of {one.a} at {one.load}"
    if one.interval is None:
        few = f"{len(one.blocks)} blocks count, and {FEWEST_BLOCKS} are needed for an interval"
        return Outcome(limit, one.load, one.a, "unresolved", f"{what}: {few}.")
    if one.by_difference and not (one.b_mean or 0) > 0:
        return Outcome(limit, one.load, one.a, "unresolved", f"{what}: {one.b} has none above 0 to compare with.")
    low, high = (end / (one.b_mean or 1) if one.by_difference else end - 1 for end in one.interval)
    worst, best = (low, high) if limit.share > 0 else (-high, -low)
    most = abs(limit.share)
    result: Literal["within", "beyond", "unresolved"] = "unresolved"
    if not one.swayed and (worst > most or best <= most):
        result = "beyond" if worst > most else "within"
    words = {"within": "within the limit of", "beyond": "beyond the limit of", "unresolved": "which does not resolve"}
    tails = " (tails of a closed load)" if one.lower_bounds else ""
    span = f"{signed(100 * low)} to {signed(100 * high)} % against {one.b}{tails}"
    more = why_not(one) if one.swayed else ""
    if result == "unresolved" and not more and (blocks := _blocks_for(limit, one)):
        more = f"; about {blocks} blocks would"
    said = f"{what}: {span}, {words[result]} {signed(100 * limit.share)} %{more}."
    return Outcome(limit, one.load, one.a, result, said)


def _blocks_for(limit: Limit, one: Comparison) -> int | None:
    """The fewest with which the interval would leave the limit out, if mean and spread stay; None: too many."""
    if one.by_difference or one.interval is None or one.effect is None:
        return None
    half, blocks = math.log(one.interval[1] / one.effect), len(one.blocks)
    deviation = half / float(half_width(1, blocks))
    distance = abs(math.log(one.effect) - math.log1p(limit.share))
    every = range(blocks + 1, MOST_REPEATS + 1)
    return next((count for count in every if float(half_width(deviation, count)) < distance), None)


def expectation(order: Order, results: Path) -> str:
    """How wide intervals of CPU per request will be, and how likely a limit on it is held if nothing differs, in
    sentences; empty of an order without pairs, or with too few blocks."""
    blocks, loads = max(run.request.repeat for run in order.runs), max(run.request.cell for run in order.runs)
    if not order.runs[0].request.partner or blocks < FEWEST_BLOCKS:
        return ""
    known = block_deviation(results, order.host.get("cpu_model"))
    basis = "earlier sweeps on such a CPU" if known else "three services against themselves on a 2-CPU host"
    deviation = known or BLOCK_DEVIATION
    wide = 100 * math.expm1(float(half_width(deviation, blocks)))
    told = f"With {blocks} blocks expect intervals of CPU per request of about ± {wide:.1f} % (from {basis})."
    shares = [limit.share for limit in order.limits if FIGURES[limit.figure] is CPU]
    if shares:
        chance = min(chance_within(math.log1p(share), deviation, blocks) for share in shares) ** loads
        told += f" If nothing differs, FAIL passes on CPU per request in {100 * chance:.0f} % of such experiments."
    return told


def write_junit(path: Path, summary: Summary, outcomes: Sequence[Outcome]) -> None:
    """A test case of each: failed if beyond, skipped if not resolved; and one that failed of each run that is invalid,
    but for those that the host spoilt."""
    bad = [run for run in summary.runs if run.verdict == "invalid" and not spoilt(run)]
    suite = ElementTree.Element("testsuite", name=summary.experiment, tests=f"{len(outcomes) + len(bad)}")
    for run in bad:
        case = ElementTree.SubElement(suite, "testcase", classname=run.approach, name=run.run)
        ElementTree.SubElement(case, "failure", message=" ".join(run.reasons))
    for one in outcomes:
        case = ElementTree.SubElement(suite, "testcase", classname=one.side, name=f"{one.limit} at {one.load}")
        kind = {"beyond": "failure", "unresolved": "skipped"}.get(one.result)
        if kind:
            ElementTree.SubElement(case, kind, message=one.sentence)
    with whole(path) as sink:
        ElementTree.ElementTree(suite).write(sink, encoding="utf-8", xml_declaration=True)
