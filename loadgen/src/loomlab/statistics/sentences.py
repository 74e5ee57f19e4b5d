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
    basis, margin = f"({_basis(figure, comparison)})", f"{100 * (comparison.margin or 0):g} %"
    why, question = _why(comparison), _question(figure, comparison)
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
    inside = f": {'less than the margin of' if comparison.apart else 'the same within'} {margin}"
    begin = "Exploratory: at" if comparison.word == "exploratory" else "At"
    change = _change(figure, comparison, effect)
    return f"{begin} {load} {change} {basis}{inside if comparison.within_margin else ''}."


def _sides(figure: ComparedFigure, comparison: Comparison) -> tuple[str, str]:
    return (
        (f"{figure.subject} of {comparison.a}", f"one of {comparison.b}")
        if figure.subject
        else (comparison.a, comparison.b)
    )


def _question(figure: ComparedFigure, comparison: Comparison) -> str:
    a, b = _sides(figure, comparison)
    name = f" {figure.name}" if figure.unit is None else ""
    return f"whether {a} {figure.verb} {figure.less} or {figure.more}{name} than {b}"


def _change(figure: ComparedFigure, comparison: Comparison, effect: float) -> str:
    a, b = _sides(figure, comparison)
    name = f" {figure.name}{' (a lower bound)' if comparison.lower_bounds else ''}" if figure.unit is None else ""
    if effect == comparison.even:
        return f"{a} {figure.verb} {f'the same{name} as' if name else 'as much as'} {b}"
    word = figure.less if effect < comparison.even else figure.more
    return f"{a} {figure.verb} {_size(comparison, effect)} {figure.unit or '%'} {word}{name} than {b}"


def _size(comparison: Comparison, effect: float) -> str:
    """Of the mean or of an end. All three have a decimal where whole numbers would put an end on the margin or on its
    other side, and more where one decimal would."""
    if comparison.unit is not None:
        return amount(effect)
    ends = [end for end in (comparison.low, comparison.high) if end is not None]
    decimals = max((_decimals(end, comparison.margin) for end in ends), default=0)
    return rough_percent(_from_one(effect), decimals)


def _decimals(end: float, margin: float | None) -> int:
    if margin is None:
        return 0
    return decimals_beside(_from_one(end), margin if end > 1 else _from_one(1 / (1 + margin)))


def _from_one(ratio: float) -> float:
    """How far it is from 1, as a share."""
    return 1 - ratio if ratio < 1 else ratio - 1


def _basis(figure: ComparedFigure, comparison: Comparison) -> str:
    basis = counted(len(comparison.blocks), "block")
    if suspect := sum(one.suspect for one in comparison.blocks):
        basis += f", {'each' if suspect == len(comparison.blocks) else suspect} with a suspect run"
    if any(comparison.made_again):
        basis += f", {_runs(comparison, comparison.made_again)} made again"
    if comparison.interval is None:
        return f"{basis}; an interval needs {FEWEST_BLOCKS}"
    first, last = (_size(comparison, end) for end in comparison.interval)
    unit = figure.unit or "%"
    if comparison.interval.high < comparison.even:
        span = f"{last} to {first} {unit} {figure.less}"
    elif comparison.interval.low > comparison.even:
        span = f"{first} to {last} {unit} {figure.more}"
    else:
        span = f"{first} {unit} {figure.less} to {last} {unit} {figure.more}"
    return f"{'coarse ' if comparison.coarse else ''}95 % interval {span}, {basis}"


def _why(comparison: Comparison) -> str:
    """Why an interval that excludes equality is not enough, or which runs sway the answer."""
    if comparison.swayed:
        runs = _runs(comparison, comparison.left_out) or "the runs of other contrasts"
        return f"; with {runs} left out for causes of their own, the answer would be another"
    return f"; one of {comparison.declared} contrasts may look like this by chance" if comparison.apart else ""


def _runs(comparison: Comparison, counts: tuple[int, int]) -> str:
    """How many of which side."""
    sides = zip(counts, (comparison.a, comparison.b), strict=True)
    return " and ".join(f"{count} run{'' if count == 1 else 's'} of {name}" for count, name in sides if count)


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
