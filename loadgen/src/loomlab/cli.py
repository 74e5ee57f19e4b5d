"""The command line; everything it does is done elsewhere."""

import math
import re
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from loomlab.answer.summary import WIDEST_TABLE, show
from loomlab.answer.summary import summarise as summarise_experiment
from loomlab.basics import errors
from loomlab.basics.cpus import parse_cpu_list
from loomlab.basics.errors import CannotMeasureError, LoomlabError, UsageError
from loomlab.judge.judge import judge_run
from loomlab.plan.scenarios import commands
from loomlab.plan.scenarios.cells import Scaling, hangs_of, loads_of
from loomlab.plan.scenarios.commands import SCENARIOS, ScenariosDir
from loomlab.plan.scenarios.file import load_scenario
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import endpoint_of
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target
from loomlab.records.models import Hang, Request
from loomlab.run.backend import Behaviour
from loomlab.basics.waves import LONGEST_RUN_S
from loomlab.run.measure import measure as measure_run
from loomlab.run.progress import Progress
from loomlab.run.stop import Stop
from loomlab.run.warmup.process import process_of
from loomlab.run.warmup.warmer import Subject, Warmer
from loomlab.tools import tool

app = typer.Typer(
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    help="Load an approach, judge the run, sum an experiment up.",
)
commands.register(app)
OPEN_RUN_S = 60
TIMEOUT_S = 30
"""The same for every tool; after so long a silence ab gives up and discards everything."""
BACKEND_PATH, BACKEND_COLD_COST_MS = "/authentication", 0.1
HOST_NAME = re.compile(r"^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$")
ENDPOINT = re.compile(r"^/[!-~]*$")


@app.command()
def measure(
    approach: Annotated[str, typer.Option(help="The service to load.")],
    out: Annotated[Path, typer.Option(help="The run's folder.", file_okay=False)],
    tool_name: Annotated[str, typer.Option("--tool", help="The load generator.")] = "ab",
    concurrency: Annotated[int, typer.Option(min=1, help="Connections.")] = 1,
    requests: Annotated[int, typer.Option(min=0, help="Closed model: the most requests; 0: as many as fit.")] = 0,
    rate_rps: Annotated[float, typer.Option(min=0, help="Open model: requests a second; 0: closed model.")] = 0,
    duration_s: Annotated[int, typer.Option(min=0, help="The longest the run may take; 0: as long as it needs.")] = 0,
    endpoint: Annotated[str, typer.Option(help="Path and query.")] = "/capabilities",
    delay: Annotated[str, typer.Option(help="The backend's delay.")] = "300",
    scenario: Annotated[str, typer.Option(help="A scenario instead of a load.")] = "",
    scale: Annotated[float, typer.Option(min=0.0001, max=1, help="Its scale.")] = 1,
    cell: Annotated[int, typer.Option(min=1, help="Which of its loads.")] = 1,
    scenarios_dir: ScenariosDir = SCENARIOS,
    repeat: Annotated[int, typer.Option(min=1, help="Which repeat this is.")] = 1,
    jdk: Annotated[int, typer.Option(min=1, help="The JDK the approach runs on, for the record.")] = 25,
    gc: Annotated[str, typer.Option(help="Its garbage collector, for the record.")] = "parallel",
    http_client: Annotated[str, typer.Option(help="Its client of the backend, for the record.")] = "apache",
    prometheus_url: Annotated[str, typer.Option(help="Where the metrics are.")] = "http://prometheus:9090",
    generator_cpus: Annotated[str, typer.Option(help="The load generator's CPU set; empty: all CPUs.")] = "",
    backend_cpus: Annotated[str, typer.Option(help="The backend's CPU set.")] = "",
    approach_cpus: Annotated[str, typer.Option(help="The approach's CPU set.")] = "",
    warmup_load_s: Annotated[float, typer.Option(min=0, help="Seconds of the load itself instead of a warm-up.")] = 0,
    start_s: Annotated[float, typer.Option(min=0, help="How long the approach took to start, for the record.")] = 0,
    warmup_cap_s: Annotated[float, typer.Option(min=0, help="The longest the warm-up may take.")] = 120,
) -> None:
    """Warm an approach up, load it, and keep everything raw."""
    _check_text("approach", approach, HOST_NAME, "letters, digits, dots and dashes")
    _check_text("endpoint", endpoint, ENDPOINT, "a path that begins with /")
    delay_of(delay)
    for name, cpus in (("generator", generator_cpus), ("backend", backend_cpus), ("approach", approach_cpus)):
        _check_cpus(name, cpus)
    origin = f"http://{approach}:8080"
    hangs: list[Hang] = []
    if scenario:
        described = load_scenario(scenarios_dir, scenario)
        scaling = Scaling(scale, duration_s or None)
        loads = loads_of(described, scaling, scenarios_dir, origin)
        if cell > len(loads):
            raise UsageError(f"--cell is {cell}: {scenario} has {len(loads)} load{'s' if len(loads) > 1 else ''}.")
        load = loads[cell - 1]
        tool_name, delay, hangs = described.tool, described.delay, hangs_of(described, scaling)
    else:
        load = _load(origin, endpoint, delay, concurrency, requests, rate_rps, duration_s)
    request = Request(
        tool=tool_name,
        approach=approach,
        load=load,
        delay=delay,
        hangs=hangs,
        scenario=scenario or None,
        cell=cell,
        repeat=repeat,
        jdk=jdk,
        gc=gc,
        http_client=http_client,
        generator_cpus=generator_cpus,
        backend_cpus=backend_cpus,
        approach_cpus=approach_cpus,
        warmup_cap_s=warmup_cap_s,
        warmup_load_s=warmup_load_s,
        start_s=start_s or None,
        fit_duration=not scenario and duration_s == 0 and load.closed_model,
        fit_requests=not scenario and requests == 0 and load.closed_model,
        started=time.time(),
    )
    driver = tool(tool_name)
    driver.check(load)
    stop = Stop()
    stop.install()
    if not measure_run(request, driver, out, prometheus_url, stop, Progress()):
        raise typer.Exit(errors.EXIT_INTERRUPTED)


def _load(
    origin: str, endpoint: str, delay: str, concurrency: int, requests: int, rate_rps: float, duration_s: int
) -> Load:
    if not math.isfinite(rate_rps):
        raise UsageError(f"--rate-rps is {rate_rps}: it must be a number of requests a second such as 500.")
    headers = endpoint_of(endpoint, delay_of(delay)).headers
    duration_s = duration_s or (OPEN_RUN_S if rate_rps else LONGEST_RUN_S)
    shape = OpenRate((RateStep(rate_rps, duration_s),)) if rate_rps else Closed(requests or concurrency, duration_s)
    return Load(origin, (Target(endpoint, "GET", headers),), concurrency, shape, TIMEOUT_S)


@app.command("warm-backend")
def warm_backend(
    connections: Annotated[int, typer.Option(min=1, help="At most so many at once.")] = 500,
    delay: Annotated[str, typer.Option(help="The backend's delay.")] = "300",
    cap_s: Annotated[float, typer.Option(min=0, help="The longest it may take.")] = 30,
) -> None:
    """Warm the backend up, so that the first approach does not meet a cold one."""
    shape = Closed(connections, LONGEST_RUN_S)
    load = Load("http://backend:8080", (Target(BACKEND_PATH),), connections, shape, TIMEOUT_S)
    stop = Stop()
    stop.install()
    subject = Subject(load, delay_of(delay), process_of("backend"), BACKEND_COLD_COST_MS)
    if not Warmer(tool("ab"), subject, Behaviour(), cap_s, stop, Progress()).compile(cap_s):
        raise CannotMeasureError(
            f"The backend's compilers were not at rest after {cap_s:.0f} s: its first run meets it cold."
        )


@app.command()
def judge(run_dir: Annotated[Path, typer.Argument(help="A folder below runs/.")]) -> None:
    """Judge a run from its raw files: writes run.json."""
    run = judge_run(run_dir)
    print(f"{run.approach}: {run.verdict}" + (f": {' '.join(run.reasons)}" if run.reasons else ""))  # noqa: T201
    if run.verdict == "invalid":
        raise typer.Exit(errors.EXIT_INVALID)


@app.command()
def summarise(
    experiment_dir: Annotated[Path, typer.Argument(help="A folder below results/.")],
    interrupted: Annotated[bool, typer.Option("--interrupted", help="Not all runs were made.")] = False,
) -> None:
    """Sum an experiment up: writes summary.json and summary.md, prints the table."""
    summary = summarise_experiment(experiment_dir, interrupted)
    console = Console()
    show(
        summary,
        Console(width=min(console.width, WIDEST_TABLE)) if console.is_terminal else Console(width=100),
    )
    if any(run.verdict == "invalid" for run in summary.runs):
        raise typer.Exit(errors.EXIT_INVALID)


def _check_text(name: str, value: str, pattern: re.Pattern[str], wanted: str) -> None:
    if not pattern.match(value):
        raise UsageError(f"--{name} is {value!r}: it must be {wanted}.")


def _check_cpus(name: str, cpus: str) -> None:
    try:
        parse_cpu_list(cpus)
    except ValueError:
        raise UsageError(f"--{name}-cpus is {cpus!r}: it must be a CPU list such as 0-2,5, or empty.") from None


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits; a user's mistake is one sentence on stderr."""
    command = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="loomlab", standalone_mode=False)
    except typer.TyperException as error:
        print(f"loomlab: {error.format_message()}", file=sys.stderr)  # noqa: T201
        sys.exit(errors.EXIT_USAGE)
    except LoomlabError as error:
        print(f"loomlab: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
    except OSError as error:
        print(f"loomlab: {error.filename or 'a file'} cannot be used: {error.strerror}.", file=sys.stderr)  # noqa: T201
        sys.exit(errors.LoomlabError.exit_code)
    except typer.Abort:
        sys.exit(errors.EXIT_INTERRUPTED)
    sys.exit(code or 0)
