"""Figures of each of several kinds of request."""

from collections.abc import Sequence

import numpy as np

from loomlab.basics.grouping import grouped
from loomlab.judge.interior import latency_of_due
from loomlab.records.load import Target
from loomlab.records.models import KindFigures
from loomlab.records.requestlog import RequestLog

MOST_KINDS = 100


def kinds_of(log: RequestLog, targets: Sequence[Target]) -> list[KindFigures]:
    """In the order of the load; none of one kind, of too many, or where the tool does not tell which was which."""
    by_kind = grouped(enumerate(targets), lambda one: one[1].label)
    if not 2 <= len(by_kind) <= MOST_KINDS or not len(log.target) + len(log.failed_target):
        return []
    found = []
    for label, own in by_kind.items():
        places = [place for place, _ in own]
        part = log.where(np.isin(log.target, places), np.isin(log.failed_target, places))
        latency = latency_of_due(part, part.from_due_ms)
        figures = {"requests": len(part), "errors": len(part.failed_start_s), "latency_ms": latency}
        found.append(KindFigures(request=label, **figures))
    return found
