"""Compares approaches within blocks, and says in words what may be said of them."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from loomlab.basics.format import MOST_DECIMALS, amount, counted, number, rough_percent
from loomlab.records.contrasts import BlockEffect, Comparison
from loomlab.statistics.comparison import FEWEST_BLOCKS, FEWEST_FINE_BLOCKS, ComparedFigure, Observation, Pair
from loomlab.statistics.student import Estimates, blocks_likely, estimates, holm, within, words

LOST_LIMIT = 0.1  # of a side's runs: where more are left out for their own cause, without a figure, nothing is said


def compare(
    figure: ComparedFigure,
    observations: Iterable[Observation],
    declared: Sequence[Pair],
    exploratory: Sequence[Pair] = (),
) -> list[Comparison]:
    """Of the pairs, those declared first, whose words hold for all of them. A word is said only if it is the same with
    the runs that were left out for causes of their own: what a dear run brings about must not choose among runs."""
    runs = [*observations]
    with_left_out = [run if run.left_out is None else replace(run, value=run.left_out) for run in runs]

    def comparisons(runs: Sequence[Observation]) -> list[Comparison]:
        found = [_without_word(figure, pair, runs) for pair in (*declared, *exploratory)]
        p_holm = holm(np.array([float(estimated.p_value) for _, estimated in found[: len(declared)]]))
        worded = [_with_word(*one, len(declared), float(p)) for one, p in zip(found, p_holm, strict=False)]
        return worded + [comparison for comparison, _ in found[len(declared) :]]

    counted = comparisons(runs)
    every = comparisons(with_left_out) if with_left_out != runs else counted
    certain = [_unless_swayed(*both, runs) for both in zip(counted, every, strict=True)]
    return [one.model_copy(update={"sentence": sentence(figure, one)}) for one in certain]


def _without_word(figure: ComparedFigure, pair: Pair, every: Iterable[Observation]) -> tuple[Comparison, Estimates]:
    """Of differences, of ratios of their logarithms. Lower bounds have no margin: what they bound may differ."""
    runs = [run for run in every if run.load == pair.load and run.approach in {pair.a, pair.b}]
    dropped: dict[int, str] = {}
    counted: dict[int, list[Observation]] = {}
    for block in sorted({run.block for run in runs}):
        sides = {name: [run for run in runs if (run.block, run.approach) == (block, name)] for name in (pair.a, pair.b)}
        if faults := [fault for name, own in sides.items() if (fault := _fault(name, own, not figure.by_difference))]:
            reasons = [own[0].reason for own in sides.values() if own]
            alike = len(faults) == 2 and reasons[0] is not None and reasons == reasons[:1] * 2
            dropped[block] = f"{reasons[0]}" if alike else "; ".join(faults)
        else:
            counted[block] = [own[0] for own in sides.values()]
    scaled = float if figure.by_difference else math.log
    effect: Callable[[float], float] = float if figure.by_difference else np.exp
    values = [[scaled(run.value or 0) for run in both] for both in counted.values()]
    differences = [a - b for a, b in values]
    a_mean, b_mean = (effect(fmean(side)) for side in zip(*values, strict=True)) if values else (None, None)
    found = estimates(differences, fmean([sum(map(_rounding, both)) for both in counted.values()] or [0.0]))
    mean, half_width = float(found.mean), float(found.half_width)
    known = not math.isnan(half_width)
    lower_bounds = any(run.lower_bound for both in counted.values() for run in both)
    margin = None if lower_bounds else figure.margin
    return Comparison(
        **vars(pair),
        unit=figure.unit,
        by_difference=figure.by_difference,
        figure=figure.name,
        margin=margin,
        blocks=[
            BlockEffect(block=block, effect=effect(difference), suspect=any(run.suspect for run in both))
            for (block, both), difference in zip(counted.items(), differences, strict=True)
        ],
        dropped=[f"block {block} ({why})" for block, why in sorted(dropped.items())],
        a_mean=a_mean,
        b_mean=b_mean,
        effect=effect(mean) if counted else None,
        low=effect(mean - half_width) if known else None,
        high=effect(mean + half_width) if known else None,
        coarse=known and len(counted) < FEWEST_FINE_BLOCKS,
        p_value=float(found.p_value) if known else None,
        within_margin=margin is not None and bool(within(found, margin)),
        lower_bounds=lower_bounds,
    ), found


def _with_word(comparison: Comparison, found: Estimates, declared: int, p_holm: float) -> Comparison:
    """As one of so many that were declared."""
    margin, known = comparison.margin, comparison.interval is not None
    comparison = comparison.model_copy(update={"declared": declared, "p_holm": p_holm if known else None})
    word = str(words(found, np.array(p_holm), margin))
    likely = None
    if margin is not None and word == "not significant" and known and not found.rounding:
        likely = blocks_likely(found, margin, declared)
    return comparison.model_copy(update={"word": word, "blocks_likely": likely})


def _fault(approach: str, runs: Sequence[Observation], by_ratio: bool) -> str | None:
    if len(runs) != 1:
        return f"{approach} has {len(runs) or 'no'} run{'s' if runs else ''}"
    value = runs[0].value
    if value is None:
        return f"{approach}: {runs[0].reason or 'not measured'}"
    return f"{approach}: {value:g} is no figure above 0" if by_ratio and value <= 0 else None


def _rounding(run: Observation) -> float:
    """How far the logarithm of the value may be off at most."""
    value, half = run.value or 0.0, run.resolution / 2
    return 0.0 if half == 0 else -math.log1p(-half / value) if half < value else math.inf


def _unless_swayed(counted: Comparison, every: Comparison, runs: Sequence[Observation]) -> Comparison:
    """The comparison of the runs that count, without a word where all runs say another."""
    of_load = [run for run in runs if run.load == counted.load]
    sides = [[run for run in of_load if run.approach == name] for name in (counted.a, counted.b)]
    changes: dict[str, object] = {
        "made_again": tuple(sum(run.made_again for run in side) for side in sides),
        "left_out": tuple(sum(run.lost or run.left_out is not None for run in side) for side in sides),
    }
    lost = any(sum(run.lost for run in side) > LOST_LIMIT * len(side) for side in sides)
    says = _says(counted)
    if says is not None and (lost or says != _says(every)):
        word = "exploratory" if counted.word == "exploratory" else "not significant"
        changes |= {"word": word, "within_margin": False, "blocks_likely": None, "swayed": True}
    return counted.model_copy(update=changes)


def _says(comparison: Comparison) -> str | tuple[bool, bool] | None:
    """The word; of what is exploratory, the margin and the side of equality that it is on; None: nothing."""
    if comparison.word == "not significant" or comparison.effect is None:
        return None
    if comparison.word != "exploratory":
        return comparison.word
    has_side = comparison.apart or comparison.interval is None
    says = (comparison.within_margin, has_side and comparison.effect > comparison.even)
    return says if has_side or comparison.within_margin else None


def sentence(figure: ComparedFigure, comparison: Comparison) -> str:
    """One sentence, with both figures, the interval and the number of blocks it rests on."""
    a, b, load, effect, name = comparison.a, comparison.b, comparison.load, comparison.effect, figure.name
    if effect is None:
        why = "; the blocks left out say why" if comparison.dropped else ""
        return f"Not compared at {load}: no block has the {name} of both {a} and {b}{why}."
    basis, margin, why = f"({_basis(figure, comparison)})", f"{100 * (comparison.margin or 0):g} %", why_not(comparison)
    both = f"{name} of {a} and {b}, {_both(comparison, 'and')}"
    match comparison.word:
        case "no difference":
            return f"No difference at {load}, within {margin}: {both} {basis}."
        case "equivalent":
            return f"Equivalent at {load}, within {margin}: {both} {basis}; the direction is not shown{why}."
        case "not significant":
            return f"Not significant at {load}: {both} {basis}{why}{_cure(comparison)}."
        case "exploratory" if comparison.swayed:
            return f"Not known at {load}: {both} {basis}{why}."
    bound = " (a lower bound)" if comparison.lower_bounds else ""
    word = figure.less if effect < comparison.even else figure.more
    size = "the same" if effect == comparison.even else f"{_size(comparison, effect)} {word}"
    than = "as" if effect == comparison.even else "than"
    inside = f": {'less than the margin of' if comparison.apart else 'the same within'} {margin}"
    text = f"At {load} {a} {figure.verb} {size} {name}{bound} {than} {b}, {_both(comparison, 'instead of')} {basis}"
    return f"{text}{inside if comparison.within_margin else ''}."


def _both(comparison: Comparison, between: str) -> str:
    """Both figures, with as many digits as tell them apart."""
    a, b = comparison.a_mean or 0.0, comparison.b_mean or 0.0
    finer = ((f"{a:,.{decimals}f}", f"{b:,.{decimals}f}") for decimals in range(MOST_DECIMALS))
    apart = next((pair for pair in ((number(a), number(b)), *finer) if pair[0] != pair[1]), (number(a),))
    return f"{f' {between} '.join(apart)} {comparison.unit}"


def _size(comparison: Comparison, effect: float) -> str:
    """Of the mean in percent where both figures have one; in the unit elsewhere."""
    one, other = comparison.a_mean or 0.0, comparison.b_mean or 0.0
    if comparison.by_difference:
        share = abs(one / other - 1) if one > 0 and other > 0 else None
        return f"{amount(effect)} {comparison.unit}" if share is None else f"{rough_percent(share)} %"
    return f"{_end(comparison, effect)} %"


def _end(comparison: Comparison, effect: float) -> str:
    return amount(effect) if comparison.by_difference else rough_percent(abs(effect - 1))


def _basis(figure: ComparedFigure, comparison: Comparison) -> str:
    basis = counted(len(comparison.blocks), "block")
    if suspect := sum(block.suspect for block in comparison.blocks):
        basis += f", {'each' if suspect == len(comparison.blocks) else suspect} with a suspect run"
    if runs := _runs(comparison, comparison.made_again):
        basis += f", {runs} measured again"
    if comparison.word == "exploratory":
        basis += ", exploratory"
    if comparison.interval is None:
        return f"{basis}; an interval needs {FEWEST_BLOCKS}"
    low, high = (_end(comparison, end) for end in comparison.interval)
    unit, less, more = figure.unit if figure.by_difference else "%", figure.less, figure.more
    span = f"{low} {unit} {less} to {high} {unit} {more}"
    if comparison.apart:
        near, far, word = (low, high, more) if comparison.interval[0] > comparison.even else (high, low, less)
        span = f"{near} to {far} {unit} {word}"
    return f"{'coarse ' if comparison.coarse else ''}95 % interval {span}, {basis}"


def why_not(comparison: Comparison) -> str:
    """Why its word is another than its interval alone would give, to follow the word; empty where it is not."""
    if comparison.swayed:
        runs = _runs(comparison, comparison.left_out) or "the runs of other contrasts"
        return f"; with {runs} left out for causes of their own, the answer would be another"
    return f"; corrected for {comparison.declared} comparisons" if comparison.apart else ""


def _runs(comparison: Comparison, counts: tuple[int, int]) -> str:
    sides = zip(counts, (comparison.a, comparison.b), strict=True)
    return " and ".join(f"{counted(count, 'run')} of {name}" for count, name in sides if count)


def _cure(comparison: Comparison) -> str:
    if comparison.interval is None:
        spoilt = ", or without what spoilt the blocks left out" if comparison.dropped else ""
        return f"; measure again with more repeats{spoilt}"
    likely = comparison.blocks_likely
    return f"; {likely:,} blocks would probably decide it" if likely else ""
