"""What the host's shell reads of an order: lines of words without spaces."""

from collections.abc import Iterator

from loomlab.records.order import Order


def lines_of(order: Order) -> Iterator[str]:
    """KEY=VALUE lines for all runs, then a line `run FOLDER APPROACH KEY=VALUE...` for each run that is to be made."""
    yield f"LAB_EXPERIMENT={order.experiment}"
    yield f"EXPECTED_S={order.expected_s}"
    yield f"LONGEST_S={order.longest_s}"
    yield f"WARMUP_CAP_S={order.runs[0].request.warmup_cap_s:.0f}"
    yield f"NOTE={order.note or ''}"
    yield from (f"{key}={value}" for key, value in order.settings.items())
    for run in order.runs:
        if run.state == "planned":
            yield " ".join(
                ["run", run.run, run.request.approach, *(f"{key}={value}" for key, value in run.settings.items())]
            )
