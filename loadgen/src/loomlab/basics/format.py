"""How numbers are written."""

import math
import re

UNKNOWN = "–"
MOST_DECIMALS = 8
NEAREST = 1e-9  # shares, or logarithms, that differ by less are the same
MOST_PERCENT = 1000  # that a sentence counts
ODD = (
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


def fixed(value: float | None, decimals: int = 0) -> str:
    return UNKNOWN if value is None else f"{value:,.{decimals}f}"


def number(value: float | None) -> str:
    """With three digits that count; from 100 on, and where it is whole from 10 on, without decimals."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    if abs(value) >= 10 and math.isclose(value, round(value)):
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(float(f"{value:.3g}")))))
    return f"{value:,.{min(digits, 6)}f}"


def signed(value: float) -> str:
    """With its sign; whole numbers, below 10 a decimal."""
    if not math.isfinite(value):
        return UNKNOWN
    text = f"{value:+,.{1 if abs(value) < 9.95 else 0}f}"
    return text.replace("-", "−") if text.strip("+-0.") else "0.0"


def percent(share: float) -> str:
    """The share in percent, with three digits that count, or with all before the point."""
    value = 100 * share
    return f"{value:,.0f} %" if abs(value) >= 999.5 else f"{value:.3g} %"


def rough_percent(share: float) -> str:
    """Below 20 % with a decimal, so that the ends of an interval show beside a margin; never 0 or 100 for others."""
    value = 100 * share
    if value > MOST_PERCENT:
        return f"over {MOST_PERCENT:,}"
    if 0 < value < 0.05:
        return "under 0.1"
    if 99.5 <= value < 100:
        return "over 99"
    return f"{value:.{1 if value < 19.95 else 0}f}"


def amount(value: float) -> str:
    """Its size: whole numbers, below 10 a decimal; never 0 for what is not."""
    size = abs(value)
    if 0 < size < 0.05:
        return "under 0.1"
    return f"{size:,.0f}" if size >= 9.95 or size == 0 else f"{size:.1f}"


def plain(text: object, *, lines: bool = False) -> str:
    """The text in one line, unless it has lines, without what a terminal obeys, or what turns or hides the letters
    beside it: a name moves no cursor and sets no title."""
    return re.sub(ODD if lines else f"{ODD}|\n", "?", str(text))


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
