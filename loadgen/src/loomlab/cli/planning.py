"""The command that plans an experiment."""

import os
from datetime import UTC, datetime
from pathlib import Path

from loomlab.answer.expected import expectation
from loomlab.plan.host import this_host
from loomlab.plan.lab import Lab
from loomlab.plan.planning import description, plan, shell_lines
from loomlab.records.files import write_json
from loomlab.records.order import order_file

RESULTS = Path("/results")


def plan_experiment(verb: str, tell: bool = False) -> None:
    """Plan an experiment of that verb of make from the user's variables in the environment: write order.json, and print
    what the host's shell walks; or only tell a reader. `up` has values that may be wrong, and no plan."""
    lab = Lab()
    asked = lab.asked(verb, os.environ)
    if verb == "up":
        return
    order = plan(asked, this_host(RESULTS), lab, f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    if not tell:
        folder = RESULTS / order.experiment
        (folder / "runs").mkdir(parents=True)
        write_json(order_file(folder), order)
    lines = description(order, expectation(order, RESULTS)) if tell else shell_lines(order)
    print("\n".join(lines))  # noqa: T201
