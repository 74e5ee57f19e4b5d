"""What SLO and FAIL mean."""

import re
from itertools import pairwise
from typing import Any, get_args

from loomlab.records.capacity import PERCENT, Objective
from loomlab.records.order import Limit

MOST_ERRORS, LONGEST_MS = 0.01, 30_000  # beyond which no run counts, and every tool gives a request up


def limits_of(text: Any) -> Any:
    """Of `figure>+10%`, or `figure<-5%` for what must not fall."""
    if not isinstance(text, str):
        return text
    found, figures = [], get_args(Limit.model_fields["figure"].annotation)
    for part in filter(None, map(str.strip, text.split(";"))):
        limit = re.fullmatch(r"([a-z0-9_.]+)(?:>\+|<(?=-))(-?[0-9]{1,3}(?:\.[0-9]{1,2})?)%", part)
        if not limit or float(limit[2]) == 0:
            raise ValueError(
                f"{part!r:.60} is no limit: use for instance cpu_ms_per_request>+10% or throughput_rps<-5%"
            )
        if limit[1] not in figures:
            raise ValueError(f"{limit[1]} is no figure of it: use {', '.join(figures)}")
        if float(limit[2]) <= -100:
            raise ValueError(f"{part} can never be exceeded: use a share above -100%")
        found.append(Limit.model_validate({"figure": limit[1], "share": float(limit[2]) / 100}))
    if not found:
        raise ValueError("it has no limit")
    return found


def objectives_of(text: Any) -> Any:
    """Of `p99<1200ms,errors<0.1%`."""
    if not isinstance(text, str):
        return text
    found: list[Objective] = []
    for part in filter(None, map(str.strip, text.split(","))):
        one = re.fullmatch(r"(p50|p90|p95|p99|p99\.9|max|mean|errors)<([0-9]{1,5}(?:\.[0-9]{1,3})?)(ms|s|%)", part)
        if not one or (one[1] == "errors") != (one[3] == "%") or not float(one[2]):
            raise ValueError(f"{part!r:.60} is no objective: use for instance p99<1200ms or errors<0.1%")
        below = float(one[2]) * {"ms": 1, "s": 1000, "%": 0.01}[one[3]]
        if below > MOST_ERRORS if one[3] == "%" else below >= LONGEST_MS:
            raise ValueError(f"{part} is more than any run that counts has; use at most 1 % errors, and less than 30 s")
        found.append(Objective.model_validate({"figure": one[1].replace(".", "_"), "below": below}))
    if len({one.figure for one in found}) < len(found) or not found:
        raise ValueError("it has no objective, or a figure twice; use for instance p99<1200ms,errors<0.1%")
    order = [*PERCENT, "max"]
    tails = sorted((one for one in found if one.figure in order), key=lambda one: order.index(one.figure))
    for lower, higher in pairwise(tails):
        if lower.below >= higher.below:
            raise ValueError(f"{lower} says nothing beside {higher}; use one of them")
    return found
