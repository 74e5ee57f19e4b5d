"""What may be said of a comparison, in words."""

from loomlab.basics.format import amount, counted, decimals_beside, rough_percent
from loomlab.records.contrasts import Comparison
from loomlab.statistics.comparison import FEWEST_BLOCKS, POWER, ComparedFigure


def sentence(figure: ComparedFigure, found: Comparison) -> str:
    """One sentence, with the interval and the number of blocks it rests on."""
    if found.effect is None:
        why = "; the blocks left out say why" if found.dropped else ""
        return f"Not compared at {found.load}: no block has the {figure.name} of both {found.a} and {found.b}{why}."
    basis, margin = f"({_basis(figure, found)})", f"{100 * (found.margin or 0):g} %"
    match found.word:
        case "no difference":
            return (
                f"No difference at {found.load}: {found.a} {figure.verb} the same {figure.name} as {found.b}, "
                f"within {margin} {basis}."
            )
        case "equivalent":
            return (
                f"Equivalent at {found.load}: {found.a} differs from {found.b} in {figure.name} by less than the "
                f"margin of {margin} {basis}; the direction is not shown{_why(found)}."
            )
        case "not resolved":
            return f"Not resolved at {found.load}: {_question(figure, found)} {basis}{_why(found)}{_cure(found)}."
        case "exploratory" if found.swayed:
            return f"Exploratory, not resolved at {found.load}: {_question(figure, found)} {basis}{_why(found)}."
    inside = f": {'less than the margin of' if found.apart else 'the same within'} {margin}"
    begin = "Exploratory: at" if found.word == "exploratory" else "At"
    change = _change(figure, found, found.effect)
    return f"{begin} {found.load} {change} {basis}{inside if found.within_margin else ''}."


def _sides(figure: ComparedFigure, found: Comparison) -> tuple[str, str]:
    return (f"{figure.subject} of {found.a}", f"one of {found.b}") if figure.subject else (found.a, found.b)


def _question(figure: ComparedFigure, found: Comparison) -> str:
    a, b = _sides(figure, found)
    name = f" {figure.name}" if figure.unit is None else ""
    return f"whether {a} {figure.verb} {figure.less} or {figure.more}{name} than {b}"


def _change(figure: ComparedFigure, found: Comparison, effect: float) -> str:
    a, b = _sides(figure, found)
    name = f" {figure.name}{' (a lower bound)' if found.lower_bounds else ''}" if figure.unit is None else ""
    if effect == found.even:
        return f"{a} {figure.verb} {f'the same{name} as' if name else 'as much as'} {b}"
    word = figure.less if effect < found.even else figure.more
    return f"{a} {figure.verb} {_size(found, effect)} {figure.unit or '%'} {word}{name} than {b}"


def _size(found: Comparison, effect: float) -> str:
    """Of the mean or of an end. All three have a decimal where whole numbers would put an end on the margin or on its
    other side, and more where one decimal would."""
    if found.unit is not None:
        return amount(effect)
    ends = [end for end in (found.low, found.high) if end is not None]
    decimals = max((_decimals(end, found.margin) for end in ends), default=0)
    return rough_percent(_from_one(effect), decimals)


def _decimals(end: float, margin: float | None) -> int:
    if margin is None:
        return 0
    return decimals_beside(_from_one(end), margin if end > 1 else _from_one(1 / (1 + margin)))


def _from_one(ratio: float) -> float:
    """How far it is from 1, as a share."""
    return 1 - ratio if ratio < 1 else ratio - 1


def _basis(figure: ComparedFigure, found: Comparison) -> str:
    basis = counted(len(found.blocks), "block")
    if suspect := sum(one.suspect for one in found.blocks):
        basis += f", {'each' if suspect == len(found.blocks) else suspect} with a suspect run"
    if any(found.made_again):
        basis += f", {_runs(found, found.made_again)} made again"
    if found.interval is None:
        return f"{basis}; an interval needs {FEWEST_BLOCKS}"
    first, last = (_size(found, end) for end in found.interval)
    unit = figure.unit or "%"
    if found.interval.high < found.even:
        span = f"{last} to {first} {unit} {figure.less}"
    elif found.interval.low > found.even:
        span = f"{first} to {last} {unit} {figure.more}"
    else:
        span = f"{first} {unit} {figure.less} to {last} {unit} {figure.more}"
    return f"{'coarse ' if found.coarse else ''}95 % interval {span}, {basis}"


def _why(found: Comparison) -> str:
    """Why an interval that excludes equality is not enough, or which runs sway the answer."""
    if found.swayed:
        runs = _runs(found, found.left_out) or "the runs of other contrasts"
        return f"; with {runs} left out for causes of their own, the answer would be another"
    return f"; one of {found.declared} contrasts may look like this by chance" if found.apart else ""


def _runs(found: Comparison, counts: tuple[int, int]) -> str:
    """How many of which side."""
    sides = zip(counts, (found.a, found.b), strict=True)
    return " and ".join(f"{count} run{'' if count == 1 else 's'} of {name}" for count, name in sides if count)


def _cure(found: Comparison) -> str:
    if found.interval is None:
        spoilt = ", or without what spoilt the blocks left out" if found.dropped else ""
        return f"; measure again with more repeats{spoilt}"
    if not found.blocks_needed or not found.blocks_likely:
        return ""
    least = f"; with this spread, {found.blocks_likely:,} blocks would resolve it"
    if found.blocks_likely == found.blocks_needed:
        return f"{least} whatever the difference is"
    power = f"{100 * POWER:g} % power"
    return f"{least} with {power} if the difference is as seen, and at most {found.blocks_needed:,} whatever it is"
