"""What is told of a claim: a row of docs/reproduced.md and of `make reproduce`."""

import re

from loomlab.published.answers import ClaimAnswer
from loomlab.published.paper import Claim

COLUMNS = ("claim", "answer", "published", "here")
UNITS = {
    "_bytes$": (2**20, " MiB"),
    "_share$": (0.01, " %"),
    "^latency_|_ms_per_request$": (1, " ms"),
    "_s$": (1, " s"),
    "_rps$": (1, " requests/s"),
}


def row_of(answer: ClaimAnswer) -> tuple[str, str, str, str]:
    """Claim and answer, what was published, and what was found that decides it."""
    claim, finding = answer.claim, answer.deciding
    if finding is None:
        return claim.says, answer.outcome, "", claim.untestable or ""
    published = " and ".join(_number(value, finding.figure, claim) for value in finding.published)
    if finding.centre is None:
        return claim.says, answer.outcome, published, finding.why
    of = f" of {finding.of}" if claim.to or len(claim.of) > 1 else ""
    load = f"{finding.level:,}" + (f" [{finding.amount:,g}]" if finding.amount != finding.level else "")
    ends = (finding.centre, finding.low, finding.high)
    middle, low, high = (_number(value, finding.figure, claim) for value in ends)
    interval = middle if low == high else f"{middle} ({low.split()[0]} to {high.split()[0]})"
    parts, alike = len(answer.findings), sum(other.outcome == answer.outcome for other in answer.findings)
    more = finding.why or (f"so in {alike} of {parts}" if parts > 1 else "")
    told = f"{finding.name}{of} at {load}: {interval}" + (f"; {more}" if more else "")
    return claim.says, answer.outcome, published, told


def _number(value: float, figure: str, claim: Claim) -> str:
    """A figure in a unit that people read, or a ratio."""
    if claim.to:
        return f"{value:.3g}"
    if claim.from_level:
        return f"{value / 1024:,.0f} KiB"
    divisor, unit = next((found for pattern, found in UNITS.items() if re.search(pattern, figure)), (1, ""))
    return f"{value / divisor:,.4g}{unit}"
