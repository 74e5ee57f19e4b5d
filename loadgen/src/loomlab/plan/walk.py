"""What the host's shell reads of an order: lines of words without spaces."""

from collections.abc import Iterator

from loomlab.basics.waves import SHORTEST_WARMUP_S
from loomlab.records.order import Order

BACKEND_CAP_S = 30
"""So long the backend's own warm-up may take, beside the first approach's start."""


def lines_of(order: Order) -> Iterator[str]:
    """KEY=VALUE lines for all runs, then a line `run FOLDER APPROACH KEY=VALUE...` for each run that is to be made."""
    yield f"LAB_EXPERIMENT={order.experiment}"
    yield f"EXPECTED_S={order.expected_s}"
    yield f"LONGEST_S={order.longest_s}"
    cap_s = round(order.runs[0].request.warmup_cap_s)
    yield f"BACKEND_WARMUP_S={min(cap_s, BACKEND_CAP_S) if cap_s > SHORTEST_WARMUP_S else 0}"
    yield f"NOTE={order.note or ''}"
    yield from (f"{key}={value}" for key, value in order.settings.items())
    for run in order.runs:
        if run.state == "planned":
            yield " ".join(
                ["run", run.run, run.request.approach, *(f"{key}={value}" for key, value in run.settings.items())]
            )
