"""The commands that load an approach."""

import time
from contextlib import suppress
from itertools import batched
from pathlib import Path

import typer

from loomlab.basics.errors import EXIT_INTERRUPTED, CannotMeasureError, ParseError
from loomlab.basics.waves import LONGEST_RUN_S
from loomlab.judge.trial import assess
from loomlab.records.capacity import Capacity
from loomlab.records.endpoints import delay_of, endpoint_of
from loomlab.records.files import RunFiles, read_record
from loomlab.records.load import Closed, Load, Target
from loomlab.records.order import changing, read_order, set_state
from loomlab.run.console import Progress, Stop
from loomlab.run.generators import FOLDER, serve
from loomlab.run.management import Backend, Waits
from loomlab.run.measure import Measurement
from loomlab.run.process import Bursts
from loomlab.run.search import CapacitySearch
from loomlab.run.slices import Pair
from loomlab.run.warmer import Warmer
from loomlab.tools.known import WARMER, tool

BACKEND_CONNECTIONS, BACKEND_COLD_COST_MS, BACKEND_TIMEOUT_S = 500, 0.1, 30
BACKEND_BURST_S = 2  # the first approach waits for the backend's warm-up


def measure(
    run_dirs: list[Path],
    prometheus_url: str = "http://prometheus.monitoring:9090",
    start_s: float = 0,
    waited_s: float = 0,
    label: str = "",
    terminal: bool = False,
) -> None:
    """Warm an approach up, load it, and keep everything raw, in a folder below runs/ that order.json names; or pairs
    of a block, in turn. It took `start_s` to start and then waited for the lab; progress is of the label, in place on
    a terminal."""
    order = read_order(run_dirs[0].parent.parent)
    beforehand = {"started": time.time(), "start_s": start_s or None, "waited_s": waited_s}
    stop, progress = Stop(), Progress(label=label, terminal=terminal)
    stop.install()
    requests = [order.run(run_dir.name).request.model_copy(update=beforehand) for run_dir in run_dirs]
    both = zip(requests, run_dirs, strict=True)
    runs = [Measurement(request, run_dir, prometheus_url, stop, progress) for request, run_dir in both]
    for side in {run.request.name: run for run in runs}.values():
        side.wait_until_ready()
    for run in runs:
        if run.request.foreign and not run.request.outside:
            run.request.start_s = start_s + time.time() - run.request.started
    finished = _search(runs) if runs[0].request.search else _load_all(runs)
    progress.end()
    if not finished:
        raise typer.Exit(EXIT_INTERRUPTED)


def generate(run_dir: Path, number: int) -> None:
    """Send the shares of a run's load that `measure` of the run hands to its load generator of that number."""
    stop = Stop()
    stop.install()
    serve(run_dir / FOLDER, number, stop)


def _load_all(runs: list[Measurement]) -> bool:
    """A run by itself, or those of pairs, load by load; False once one was stopped."""
    for sides in batched(runs, 2, strict=False):
        for side in sides:
            set_state(side.run_dir, "running")
        if not (Pair(sides, runs[0].live).run() if len(runs) > 1 else runs[0].run()):
            return False
        for side in sides:
            set_state(side.run_dir, "finished")
            for later in runs:
                if later.request.name == side.request.name and later is not side:
                    later.earlier = side
    return True


def _search(runs: list[Measurement]) -> bool:
    """For the capacity of a process, which begins by what is known of others of the same service."""
    first = runs[0]
    set_state(first.run_dir, "running")
    beside = [path for path in first.run_dir.parent.iterdir() if path.name.partition("-")[2] == first.request.name]
    beside.sort(key=lambda path: int(path.name.partition("-")[0]))
    found = [_found_by(path) for path in beside if path != first.run_dir]
    finished = CapacitySearch(runs, assess, next((one.rps for one in found if one and one.rps), None)).run()
    if not finished:
        return False
    made = [run for run in runs if run.files.tool.exists()]
    for run in made:
        set_state(run.run_dir, "finished")
    if lacking := {run.run_dir.name for run in runs if run not in made}:  # a process that held nothing has no shares
        with changing(first.run_dir.parent.parent) as order:
            order.runs = [run for run in order.runs if run.run not in lacking]
    return True


def _found_by(run_dir: Path) -> Capacity | None:
    """What a search found; None where there is nothing of it, or nothing that can be read."""
    with suppress(ParseError):
        return read_record(RunFiles(run_dir).capacity, Capacity)
    return None


def warm_backend(delay: str = "300", cap_s: float = 30) -> None:
    """Warm the backend up, so that the first approach does not meet a cold one; `cap_s` is the longest it may take."""
    shape = Closed(BACKEND_CONNECTIONS, LONGEST_RUN_S)
    load = Load("http://backend:8080", (Target("/authentication"),), BACKEND_CONNECTIONS, shape, BACKEND_TIMEOUT_S)
    stop = Stop()
    stop.install()
    usual, backend = delay_of(delay), Backend("backend")
    bursts = Bursts(tool(WARMER), backend, stop)
    waits = Waits(endpoint_of(load.targets[0].target, usual), usual, backend, Progress())
    warmer = Warmer(bursts, waits, load, cap_s, BACKEND_COLD_COST_MS, BACKEND_BURST_S)
    if not warmer.compile(cap_s):
        raise CannotMeasureError(f"The backend was not warm after {cap_s:.0f} s: it may be cold in the first run.")
