"""The backend's delay of its answers, as the run's DELAY has it: `300`, `uniform:200:400`, `lognormal:300:900`."""

import math
import re
from dataclasses import dataclass

from loomlab.basics.errors import UsageError

LONGEST_MS = 60_000
NORMAL_P99 = 2.3263
"""The standard normal distribution's 99th percentile (any table of its quantiles)."""
_TEXT = re.compile(r"(?:(\d{1,5})|(uniform|lognormal):(\d{1,5}):(\d{1,5}))", re.ASCII)


@dataclass(frozen=True)
class Delay:
    """`text` is how the backend itself writes it; `floor_ms` is the shortest it takes, `mean_ms` what it takes on
    average, `middle_ms` half of the answers at most."""

    text: str
    floor_ms: int
    mean_ms: float
    middle_ms: float


def delay_of(text: str) -> Delay:
    """Raises UsageError for what is no delay. `lognormal` has its median and its 99th percentile."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise _refusal(text)
    constant, kind, *pair = match.groups()
    if constant is not None:
        low = high = int(constant)
    else:
        low, high = (int(number) for number in pair)
    if (
        max(low, high) > LONGEST_MS
        or (kind == "uniform" and low > high)
        or (kind == "lognormal" and not 0 < low < high)
    ):
        raise _refusal(text)
    if kind == "lognormal":
        sigma = math.log(high / low) / NORMAL_P99
        return Delay(f"{kind}:{low}:{high}", 0, low * math.exp(sigma * sigma / 2), low)
    middle_ms = (low + high) / 2
    return Delay(f"{kind}:{low}:{high}" if kind else str(low), low, middle_ms, middle_ms)


def _refusal(text: str) -> UsageError:
    return UsageError(
        f"The delay {text!r} is not valid: use milliseconds up to {LONGEST_MS} such as 300, uniform:200:400 "
        "(from, to) or lognormal:300:900 (median, 99th percentile)."
    )
