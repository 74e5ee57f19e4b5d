"""Which experiments of a paper results/ lacks."""

from collections.abc import Mapping
from pathlib import Path

from loomlab.answer.finish import foreign, planned
from loomlab.basics.errors import HostError
from loomlab.plan.host import Host
from loomlab.plan.lab import Lab
from loomlab.plan.planning import plan, seconds_left
from loomlab.published.paper import Paper
from loomlab.published.runs import ANY, approach_cpus
from loomlab.records.order import Order
from loomlab.statistics.comparison import FEWEST_BLOCKS

DEFAULTS = {"DURATION": "60s", "REPEATS": str(FEWEST_BLOCKS), "SCALE": "auto"}
STAMP = "20000101T000000Z"


def missing_steps(
    paper: Paper, given: Mapping[str, str], results: Path, host: Host, lab: Lab
) -> tuple[list[str], list[str]]:
    """Lines for the host's shell, a verb with its settings each, where experiments that were cut off go on, and
    sentences for the user. Raises UsageError for a variable not taken, HostError where the host can hold none of
    them."""
    given = lab.asked("reproduce", given).given | {"PAPER": paper.name}
    orders: list[tuple[str, Order]] = []
    notes: list[str] = []
    for verb, variables in paper.commands:
        try:
            orders.append((verb, _order(verb, variables, given, host, lab)))
        except HostError as error:
            notes.append(f"{variables.get('NAME', verb)} is left out: {error}")
    if not orders:
        raise HostError(notes[0])
    lines: list[str] = []
    seconds = 0.0
    for verb, order in orders:
        blocks = missing = int(order.asked["REPEATS"])
        for folder, begun in planned(results):
            if begun.asked | ANY == order.asked | ANY and foreign(begun, folder, host, lab.checksum) is None:
                missing -= max(run.request.repeat for run in begun.runs)
                if any(run.state != "judged" for run in begun.runs):
                    lines.append(f"finish RESUME={folder.name}")
                    seconds += seconds_left(begun.runs)[0]
        if missing > 0:
            settings = order.asked | {"REPEATS": str(missing)}
            lines.append(" ".join([verb, *(f"{name}={value}" for name, value in settings.items())]))
            seconds += seconds_left(order.runs)[0] * missing / blocks
    left = f"{len(lines)} experiments, about {seconds / 60:.0f} min" if lines else "everything is measured"
    return lines, [*(f"note: {note}" for note in notes), f"{paper.name}: {left}"]


def _order(verb: str, variables: Mapping[str, str], given: Mapping[str, str], host: Host, lab: Lab) -> Order:
    """The whole experiment: with what the user asks for, else with what the paper says."""
    wanted = {**DEFAULTS, **variables, **given}
    order = plan(lab.asked(verb, wanted), host, lab, STAMP)
    if "SCALE_PER_CPU" not in variables or "SCALE" in given:
        return order
    scale = round(min(1, float(variables["SCALE_PER_CPU"]) * approach_cpus(order)), 4)
    return plan(lab.asked(verb, wanted | {"SCALE": f"{scale:g}"}), host, lab, STAMP)
