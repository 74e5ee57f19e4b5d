"""What may be said of a comparison, in words."""

from loomlab.statistics.comparison import FEWEST_BLOCKS, Comparison, Figure, Interval

MOST_PERCENT = 1000
"""That a sentence counts."""


def sentence(found: Comparison) -> str:
    """One sentence, with the interval and the number of blocks it rests on."""
    pair, figure = found.pair, found.figure
    if found.ratio is None:
        return (
            f"Not compared at {pair.load}: no block has a {figure.name} of both {pair.a} and {pair.b}; the verdicts of "
            "their runs say why."
        )
    change = f"{pair.a} {figure.verb} {_change(found.ratio, figure)} {figure.name} than {pair.b}"
    match found.word:
        case "lower" | "higher":
            return f"At {pair.load} {change} ({_basis(found)})."
        case "no difference":
            return (
                f"No difference at {pair.load}: {pair.a} {figure.verb} the same {figure.name} as {pair.b}, "
                f"within {_percent(figure.margin)} % ({_basis(found)})."
            )
        case "not resolved":
            return (
                f"Not resolved at {pair.load}: whether {pair.a} {figure.verb} {figure.less} or {figure.more} "
                f"{figure.name} than {pair.b} ({_basis(found)}){_why(found)}{_cure(found)}."
            )
        case _:
            return f"Exploratory: at {pair.load} {change} ({_basis(found)})."


def left_out(found: Comparison) -> list[str]:
    """The blocks that do not count, with what spoils them."""
    return [f"block {one.block} ({one.reason})" for one in found.dropped]


def _basis(found: Comparison) -> str:
    blocks = f"{found.blocks:,} block{'' if found.blocks == 1 else 's'}"
    if found.interval is None:
        return f"{blocks}; an interval needs {FEWEST_BLOCKS}"
    kind = "coarse 95 % interval" if found.coarse else "95 % interval"
    return f"{kind} {_span(found.interval, found.figure)}, {blocks}"


def _span(interval: Interval, figure: Figure) -> str:
    low, high = interval.low, interval.high
    if high < 1:
        return f"{_size(high)} to {_size(low)} % {figure.less}"
    if low > 1:
        return f"{_size(low)} to {_size(high)} % {figure.more}"
    return f"{_size(low)} % {figure.less} to {_size(high)} % {figure.more}"


def _why(found: Comparison) -> str:
    """Where the interval excludes equality, why that is not enough."""
    if found.interval is None or found.interval.low <= 1 <= found.interval.high:
        return ""
    return f"; one of {found.declared} contrasts may look like this by chance"


def _cure(found: Comparison) -> str:
    return f"; with this spread, some {found.blocks_needed:,} blocks would resolve it" if found.blocks_needed else ""


def _change(ratio: float, figure: Figure) -> str:
    return f"{_size(ratio)} % {figure.less if ratio < 1 else figure.more}"


def _size(ratio: float) -> str:
    """How far it is from 1, in percent."""
    return _percent(1 - ratio if ratio < 1 else ratio - 1)


def _percent(share: float) -> str:
    """Whole numbers, below 1 a decimal; never 0 or 100 for what is neither."""
    value = 100 * share
    if value > MOST_PERCENT:
        return f"over {MOST_PERCENT:,}"
    if 0 < value < 0.05:
        return "under 0.1"
    if 99.5 <= value < 100:
        return "over 99"
    return f"{value:.0f}" if value >= 0.95 or value == 0 else f"{value:.1f}"
