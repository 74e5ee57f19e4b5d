"""What may be said of a comparison, in words."""

from loomlab.basics.format import amount, counted, decimals_beside, rough_percent
from loomlab.records.contrasts import Comparison
from loomlab.statistics.comparison import FEWEST_BLOCKS, POWER, ComparedFigure


def sentence(figure: ComparedFigure, comparison: Comparison) -> str:
    """One sentence, with the interval and the number of blocks it rests on."""
    a, b, load, effect = comparison.a, comparison.b, comparison.load, comparison.effect
    if effect is None:
        why = "; the blocks left out say why" if comparison.dropped else ""
        return f"Not compared at {load}: no block has the {figure.name} of both {a} and {b}{why}."
    one, other = (f"{figure.subject} of {a}", f"one of {b}") if figure.subject else (a, b)
    name = "" if figure.unit else f" {figure.name}"
    basis, margin, why = f"({_basis(figure, comparison)})", f"{100 * (comparison.margin or 0):g} %", _why(comparison)
    question = f"whether {one} {figure.verb} {figure.less} or {figure.more}{name} than {other}"
    match comparison.word:
        case "no difference":
            same = f"{a} {figure.verb} the same {figure.name} as {b}"
            return f"No difference at {load}: {same}, within {margin} {basis}."
        case "equivalent":
            near = f"{a} differs from {b} in {figure.name} by less than the margin of {margin}"
            return f"Equivalent at {load}: {near} {basis}; the direction is not shown{why}."
        case "not resolved":
            return f"Not resolved at {load}: {question} {basis}{why}{_cure(comparison)}."
        case "exploratory" if comparison.swayed:
            return f"Exploratory, not resolved at {load}: {question} {basis}{why}."
    begin = "Exploratory: at" if comparison.word == "exploratory" else "At"
    name += " (a lower bound)" if name and comparison.lower_bounds else ""
    if effect == comparison.even:
        change = f"the same{name} as" if name else "as much as"
    else:
        word = figure.less if effect < comparison.even else figure.more
        change = f"{_size(comparison, effect)} {figure.unit or '%'} {word}{name} than"
    inside = f": {'less than the margin of' if comparison.apart else 'the same within'} {margin}"
    return f"{begin} {load} {one} {figure.verb} {change} {other} {basis}{inside if comparison.within_margin else ''}."


def _size(comparison: Comparison, effect: float) -> str:
    """Of the mean or of an end: all with as many decimals as show on which side of the margin each end is."""
    if comparison.unit is not None:
        return amount(effect)
    decimals = 0
    if comparison.margin is not None:
        above, below = comparison.margin, 1 - 1 / (1 + comparison.margin)
        ends = comparison.interval or ()
        decimals = max((decimals_beside(abs(end - 1), above if end > 1 else below) for end in ends), default=0)
    return rough_percent(abs(effect - 1), decimals)


def _basis(figure: ComparedFigure, comparison: Comparison) -> str:
    """The interval, and the blocks that it is of."""
    basis = counted(len(comparison.blocks), "block")
    if suspect := sum(block.suspect for block in comparison.blocks):
        basis += f", {'each' if suspect == len(comparison.blocks) else suspect} with a suspect run"
    if runs := _runs(comparison, comparison.made_again):
        basis += f", {runs} made again"
    if comparison.interval is None:
        return f"{basis}; an interval needs {FEWEST_BLOCKS}"
    low, high = (_size(comparison, end) for end in comparison.interval)
    unit = figure.unit or "%"
    if comparison.interval.high < comparison.even:
        span = f"{high} to {low} {unit} {figure.less}"
    elif comparison.interval.low > comparison.even:
        span = f"{low} to {high} {unit} {figure.more}"
    else:
        span = f"{low} {unit} {figure.less} to {high} {unit} {figure.more}"
    return f"{'coarse ' if comparison.coarse else ''}95 % interval {span}, {basis}"


def _why(comparison: Comparison) -> str:
    """Why an interval that excludes equality is not enough, or which runs sway the answer."""
    if comparison.swayed:
        runs = _runs(comparison, comparison.left_out) or "the runs of other contrasts"
        return f"; with {runs} left out for causes of their own, the answer would be another"
    return f"; one of {comparison.declared} contrasts may look like this by chance" if comparison.apart else ""


def _runs(comparison: Comparison, counts: tuple[int, int]) -> str:
    """How many of which side; empty: none."""
    sides = zip(counts, (comparison.a, comparison.b), strict=True)
    return " and ".join(f"{counted(count, 'run')} of {name}" for count, name in sides if count)


def _cure(comparison: Comparison) -> str:
    if comparison.interval is None:
        spoilt = ", or without what spoilt the blocks left out" if comparison.dropped else ""
        return f"; measure again with more repeats{spoilt}"
    if not comparison.blocks_needed or not comparison.blocks_likely:
        return ""
    least = f"; with this spread, {comparison.blocks_likely:,} blocks would resolve it"
    if comparison.blocks_likely == comparison.blocks_needed:
        return f"{least} whatever the difference is"
    power = f"{100 * POWER:g} % power"
    return f"{least} with {power} if the difference is as seen, and at most {comparison.blocks_needed:,} whatever it is"
