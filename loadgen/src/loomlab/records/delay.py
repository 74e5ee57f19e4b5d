"""The backend's delay of its answers, as the run's DELAY has it: `300`, `uniform:200:400`, `lognormal:300:900`."""

import math
import re
from dataclasses import dataclass

from loomlab.basics.errors import UsageError

LONGEST_MS = 60_000
NORMAL_P99 = 2.3263  # the standard normal distribution's 99th percentile (any table of its quantiles)


@dataclass(frozen=True)
class Delay:
    text: str  # as the backend itself writes it
    floor_ms: int  # the shortest it takes
    mean_ms: float
    middle_ms: float  # what half of the answers take at most


def delay_of(text: str) -> Delay:
    """The delay that a text means; raises UsageError for what is none. `lognormal` has its median and its p99."""
    match = re.fullmatch(r"(?:(uniform|lognormal):(\d{1,5}):)?(\d{1,5})", text, re.ASCII)
    kind, first, last = match.groups() if match else (None, None, str(LONGEST_MS + 1))
    low, high = int(first or last), int(last)
    if high > LONGEST_MS or low > high or (kind == "lognormal" and not 0 < low < high):
        raise UsageError(
            f"The delay {text!r} is not valid: use milliseconds up to {LONGEST_MS} such as 300, uniform:200:400 "
            "(from, to) or lognormal:300:900 (median, 99th percentile)."
        )
    written = f"{kind}:{low}:{high}" if kind else str(low)
    if kind == "lognormal":
        sigma = math.log(high / low) / NORMAL_P99
        return Delay(written, 0, low * math.exp(sigma * sigma / 2), low)
    return Delay(written, low, (low + high) / 2, (low + high) / 2)
