"""Whether to switch from the first of two to the second, and under which conditions the answer is another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

import numpy as np

from loomlab.answer.comparisons import compared
from loomlab.answer.figures import CAPACITY, CPU, MEMORY, P99, RSS, THROUGHPUT, Figure
from loomlab.answer.loads import counting, load_groups, spoilt
from loomlab.answer.text import table_lines
from loomlab.basics.format import UNKNOWN, number, plain, signed
from loomlab.basics.grouping import grouped
from loomlab.records.contrasts import Comparison, Contrast
from loomlab.records.models import Run, Summary
from loomlab.records.order import Order
from loomlab.statistics.comparison import CPU_MARGIN, ERROR_RATE, ComparedFigure
from loomlab.statistics.student import holm

CAPACITY_LOAD, SHARE_LOAD, SHARE = "capacity", "80 % of capacity", 0.8
RESIDENT = replace(RSS, compared=ComparedFigure("RSS", "MiB", CPU_MARGIN, "has", "less", "more"))
SHOWN = (CAPACITY, P99, CPU, MEMORY, RESIDENT)
SWITCH, STAY, EITHER, DEPENDS, OPEN = "switch", "do not", "does not matter", "it depends", "not resolved"
CONDITIONS = {
    "normal": "the normal rate", "capacity": "80 % of what each holds", "slow": "slow answers", "small": "small pools",
}  # fmt: skip
OVERLOADED = {"rate_missed", "started_too_late", "work_dropped", "too_many_errors", "latency_grew_much"}
"""Rules that a run breaks whose load is more than its side carries."""


class Cell(NamedTuple):
    """What the second has of a figure beside the first."""

    figure: Figure
    text: str
    speaks_for: str


class Condition(NamedTuple):
    label: str
    cells: list[Cell]

    @property
    def word(self) -> str:
        words = {cell.speaks_for for cell in self.cells}
        if {SWITCH, STAY} <= words:
            return DEPENDS
        return next((word for word in (SWITCH, STAY) if word in words), OPEN if OPEN in words or not words else EITHER)

    def text(self, figure: Figure) -> str:
        return next((cell.text for cell in self.cells if cell.figure is figure), UNKNOWN)

    def reasons(self) -> str:
        """The figures that speak for its word, and those that may yet speak against it."""
        told = [cell for cell in self.cells if cell.speaks_for in {SWITCH, STAY}]
        unresolved = [cell for cell in self.cells if cell.speaks_for == OPEN] if told else []
        shown = (told or self.cells, unresolved)
        said, more = (", ".join(f"{cell.figure.title} {cell.text}" for cell in cells) for cells in shown)
        return f"{said}; not resolved: {more}" if more else said


def flip_lines(measured: Mapping[str, tuple[Summary, Order]], changes: Mapping[str, str]) -> list[str]:
    """The answer, a table in Markdown, and what else was seen; `measured` by condition, `changes` what made it."""
    _, order = measured["normal"]
    pair = [*order.sides, *order.asked.get("APPROACH", "").split(",")][:2]  # what is there now, and the other
    labels = {name: " by ".join(filter(None, (label, changes.get(name)))) for name, label in CONDITIONS.items()}
    found = [Condition(label, _cells(*measured[name], *pair)) for name, label in labels.items() if name in measured]
    before, after = (f"{name} ({order.sides[name].told or 'as it is'})" if order.sides else name for name in pair)
    known = {cell.figure.key for one in found for cell in one.cells}
    shown = [figure for figure in SHOWN if figure.key in known]
    rows = [[one.label, *(one.text(figure) for figure in shown), one.word] for one in found]
    seen = [line for name in measured for line in _seen(name, _runs(measured[name][0]), labels.get(name, "JFR"))]
    heads = ("at", *(figure.title for figure in shown), "so")
    table = table_lines(heads, rows, frozenset({"at", "so"}))
    return [*map(plain, (f"From {before} to {after}?", "", *_answer(found), "", *table, "", *seen))]


def _runs(summary: Summary) -> list[Run]:
    """Those of a condition: of a search, at one share."""
    return [run for run in summary.runs if run.capacity_share in {None, SHARE}]


def _cells(summary: Summary, order: Order, first: str, second: str) -> list[Cell]:
    """Of a search: capacity itself, and the other figures at that share of it. By Holm's correction for all of them."""
    for figure, carries, runs in (
        (CAPACITY, _holds_any, summary.runs),
        (THROUGHPUT, _keeps_up, _runs(summary)),
    ):
        of_sides = [carries([run for run in runs if run.approach == name]) for name in (first, second)]
        if {*of_sides} == {True, False}:
            alone, word = (first, STAY) if of_sides[0] else (second, SWITCH)
            return [Cell(figure, f"that only {alone} has", word)]
    contrast, loads = Contrast(a=second, b=first, kind="settings", differs=[]), load_groups(summary.runs, order)
    searched = any(run.capacity for run in summary.runs)
    found = [
        (figure, one)
        for figure in SHOWN
        if figure is P99 or any(figure.of(run) is not None for run in summary.runs)
        for one in compared(figure, [contrast], loads, summary.margin)
        if not searched or one.load == (CAPACITY_LOAD if figure is CAPACITY else SHARE_LOAD)
    ]
    p_holm = holm(np.array([1.0 if one.p_value is None else one.p_value for _, one in found]))
    return [
        _cell(figure, one, summary.margin or CPU_MARGIN, resolved=bool(p < ERROR_RATE))
        for (figure, one), p in zip(found, p_holm, strict=True)
    ]


def _holds_any(runs: Sequence[Run]) -> bool | None:
    """Whether each search of a side found a rate that it holds, or none did; None: only some did, or none was made."""
    found = {bool(run.capacity.rps) for run in runs if run.capacity and run.capacity.cut_off is None}
    return found.pop() if len(found) == 1 else None


def _keeps_up(runs: Sequence[Run]) -> bool | None:
    """Whether no run of a side has more load than it carries, or each has; None: only some have, or none counts."""
    failed = [{rule.rule for rule in run.rules if rule.outcome == "failed"} for run in runs if not spoilt(run)]
    overloaded = [bool(OVERLOADED & rules) for rules in failed]
    if counting(runs):
        return None if any(overloaded) else True
    return False if overloaded and all(overloaded) else None


def _cell(figure: Figure, one: Comparison, margin: float, *, resolved: bool) -> Cell:
    scale = one.b_mean if one.by_difference else 1.0
    known = [value for value in (one.effect, one.low, one.high) if value is not None]
    if not scale or scale <= 0 or len(known) < 3:
        return Cell(figure, UNKNOWN, OPEN)
    shares = [(value - one.even) / scale for value in known]
    effect, low, high = (signed(100 * share) for share in shares)
    text = f"{effect} % ({low} to {high})"
    if one.within_margin or (one.by_difference and max(map(abs, shares)) < margin):
        return Cell(figure, text, EITHER)
    if one.swayed or not resolved:
        return Cell(figure, text, OPEN)
    return Cell(figure, text, SWITCH if (shares[0] > 0) == (figure is CAPACITY) else STAY)


def _answer(found: Sequence[Condition]) -> Iterator[str]:
    normal, *others = found
    yield f"**{normal.word.capitalize()}**, at {normal.label}: {normal.reasons() or 'nothing was measured'}."
    changes = [one for one in others if one.word not in {normal.word, OPEN}]
    yield from (f"**{one.word.capitalize()}**, at {one.label}: {one.reasons()}." for one in changes)
    unresolved = [one.label for one in others if one.word == OPEN != normal.word]
    if unresolved:
        yield f"Not resolved at {' and '.join(unresolved)}."
    elif not changes:
        yield "No other condition that was measured changes that."


def _seen(name: str, runs: Sequence[Run], label: str) -> Iterator[str]:
    """Of each side: what it waited for in its pools, what its threads were pinned by, and what does not count."""
    for side, own in grouped(runs, lambda run: run.approach).items():
        waits = [1000 * run.queued / run.throughput_rps for run in own if run.queued and run.throughput_rps]
        if waits:
            yield f"- {side} waits {number(fmean(waits))} ms for a thread, a permit or a connection at {label}."
        if name == "recorded" and (pins := sum(run.virtual_threads_pinned or 0 for run in own)):
            yield f"- {side} was pinned {pins:,} times for over 20 ms: see raw/pins.txt of its run."
        if bad := len(own) - len(counting(own)):
            yield f"- {bad} of {len(own)} runs of {side} at {label} do not count."
