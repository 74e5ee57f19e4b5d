"""What may be said of a comparison, in words."""

from loomlab.statistics.comparison import FEWEST_BLOCKS, NEAREST, POWER, Comparison, Figure, Interval

MOST_PERCENT = 1000
"""That a sentence counts."""
MOST_DECIMALS = 8


def sentence(found: Comparison) -> str:
    """One sentence, with the interval and the number of blocks it rests on."""
    pair, figure = found.pair, found.figure
    if found.effect is None:
        why = "; the blocks left out say why" if found.dropped else ""
        return f"Not compared at {pair.load}: no block has the {figure.name} of both {pair.a} and {pair.b}{why}."
    match found.word:
        case "lower" | "higher":
            return f"At {pair.load} {_change(found, found.effect)} ({_basis(found)}){_slight(found)}."
        case "no difference":
            return (
                f"No difference at {pair.load}: {pair.a} {figure.verb} the same {figure.name} as {pair.b}, "
                f"within {_margin(figure)} ({_basis(found)})."
            )
        case "equivalent":
            return (
                f"Equivalent at {pair.load}: {pair.a} differs from {pair.b} in {figure.name} by less than the margin "
                f"of {_margin(figure)} ({_basis(found)}); the direction is not shown{_why(found)}."
            )
        case "not resolved":
            return f"Not resolved at {pair.load}: {_question(found)} ({_basis(found)}){_why(found)}{_cure(found)}."
        case _:
            if found.swayed:
                said = f", not resolved at {pair.load}: {_question(found)} ({_basis(found)}){_swayed(found)}"
            else:
                said = f": at {pair.load} {_change(found, found.effect)} ({_basis(found)}){_slight(found)}"
            return f"Exploratory{said}."


def _slight(found: Comparison) -> str:
    """What the margin says of an interval within it."""
    if not found.within_margin:
        return ""
    margin = _margin(found.figure)
    return f": less than the margin of {margin}" if found.apart else f": the same within {margin}"


def left_out(found: Comparison) -> list[str]:
    """The blocks that do not count, with what spoils them."""
    return [f"block {one.block} ({one.reason})" for one in found.dropped]


def _sides(found: Comparison) -> tuple[str, str]:
    subject, (a, b) = found.figure.subject, (found.pair.a, found.pair.b)
    return (f"{subject} of {a}", f"one of {b}") if subject else (a, b)


def _question(found: Comparison) -> str:
    figure, (a, b) = found.figure, _sides(found)
    name = f" {figure.name}" if figure.unit is None else ""
    return f"whether {a} {figure.verb} {figure.less} or {figure.more}{name} than {b}"


def _change(found: Comparison, effect: float) -> str:
    figure, (a, b) = found.figure, _sides(found)
    word = figure.less if effect < figure.even else figure.more
    if figure.unit is not None:
        much = f"as much as {b}" if effect == 0 else f"{_amount(effect)} {figure.unit} {word} than {b}"
        return f"{a} {figure.verb} {much}"
    name = f"{figure.name} (a lower bound)" if found.lower_bounds else figure.name
    if effect == 1:
        return f"{a} {figure.verb} the same {name} as {b}"
    return f"{a} {figure.verb} {_share(found, effect)} % {word} {name} than {b}"


def _basis(found: Comparison) -> str:
    blocks = f"{found.blocks:,} block{'' if found.blocks == 1 else 's'}{_doubt(found)}"
    if any(found.made_again):
        blocks += f", {_runs(found, found.made_again)} made again"
    if found.interval is None:
        return f"{blocks}; an interval needs {FEWEST_BLOCKS}"
    kind = "coarse 95 % interval" if found.coarse else "95 % interval"
    return f"{kind} {_span(found, found.interval)}, {blocks}"


def _doubt(found: Comparison) -> str:
    suspect = sum(one.suspect for one in found.effects)
    if not suspect:
        return ""
    return f", {'each' if suspect == found.blocks else suspect} with a suspect run"


def _span(found: Comparison, interval: Interval) -> str:
    figure = found.figure
    unit = figure.unit or "%"
    first, last = (_share(found, end) if figure.unit is None else _amount(end) for end in (interval.low, interval.high))
    if interval.high < figure.even:
        return f"{last} to {first} {unit} {figure.less}"
    if interval.low > figure.even:
        return f"{first} to {last} {unit} {figure.more}"
    return f"{first} {unit} {figure.less} to {last} {unit} {figure.more}"


def _share(found: Comparison, effect: float) -> str:
    """Of the mean or of an end. All three have a decimal where whole numbers would put an end on the margin or on its
    other side, and more where one decimal would."""
    ends = [found.interval.low, found.interval.high] if found.interval else []
    decimals = max((_decimals(end, found.figure) for end in ends), default=0)
    return _percent(_apart(effect), decimals)


def _decimals(end: float, figure: Figure) -> int:
    if figure.margin is None:
        return 0
    share, limit = _apart(end), figure.margin if end > 1 else _apart(1 / (1 + figure.margin))
    side = _side(share, limit)
    for decimals in range(MOST_DECIMALS):
        text = _percent(share, decimals)
        if not text.replace(".", "").isdecimal() or side in {0, _side(float(text) / 100, limit)}:
            return decimals
    return MOST_DECIMALS


def _side(share: float, limit: float) -> int:
    return (share > limit + NEAREST) - (share < limit - NEAREST)


def _why(found: Comparison) -> str:
    """Where the interval excludes equality, why that is not enough."""
    if found.swayed:
        return _swayed(found)
    return f"; one of {found.declared} contrasts may look like this by chance" if found.apart else ""


def _swayed(found: Comparison) -> str:
    runs = _runs(found, found.left_out) or "the runs of other contrasts"
    return f"; with {runs} left out for causes of their own, the answer would be another"


def _runs(found: Comparison, counts: tuple[int, int]) -> str:
    """How many of which side."""
    sides = zip(counts, (found.pair.a, found.pair.b), strict=True)
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


def _apart(ratio: float) -> float:
    """How far it is from 1, as a share."""
    return 1 - ratio if ratio < 1 else ratio - 1


def _margin(figure: Figure) -> str:
    """As it was declared."""
    return f"{100 * (figure.margin or 0):g} %"


def _amount(difference: float) -> str:
    """Its size: whole numbers, below 10 a decimal; never 0 for what is not."""
    value = abs(difference)
    if 0 < value < 0.05:
        return "under 0.1"
    return f"{value:,.0f}" if value >= 9.95 or value == 0 else f"{value:.1f}"


def _percent(share: float, decimals: int = 0) -> str:
    """Whole numbers or as many decimals, below 1 one at least; never 0 or 100 for what is neither."""
    value = 100 * share
    if value > MOST_PERCENT:
        return f"over {MOST_PERCENT:,}"
    if 0 < value < 0.05:
        return "under 0.1"
    if 99.5 <= value < 100:
        return "over 99"
    least = 0 if value >= 0.95 or value == 0 else 1
    return f"{value:.{max(least, decimals)}f}"
