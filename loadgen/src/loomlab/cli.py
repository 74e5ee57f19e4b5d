"""The command line; everything it does is done elsewhere."""

import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from loomlab.answer.finish import finish, killed, resume, unfinished
from loomlab.answer.summary import summarise as summarise_experiment
from loomlab.answer.text import WIDEST_TABLE, markdown, show
from loomlab.answer.tries import replaced, try_again
from loomlab.basics import errors
from loomlab.basics.errors import CannotMeasureError, LoomlabError
from loomlab.basics.waves import LONGEST_RUN_S
from loomlab.exporter.containers import export_containers
from loomlab.exporter.seen import sees_containers
from loomlab.judge.judge import judge_run
from loomlab.plan import commands
from loomlab.plan.host import this_host
from loomlab.plan.lab import Lab
from loomlab.plan.walk import line_of, lines_of
from loomlab.published import commands as published
from loomlab.records.delay import delay_of
from loomlab.records.files import write_text
from loomlab.records.load import Closed, Load, Target
from loomlab.records.models import Summary
from loomlab.records.order import read_order, set_state
from loomlab.run.backend import Behaviour
from loomlab.run.measure import collect_again
from loomlab.run.measure import measure as measure_run
from loomlab.run.progress import Progress
from loomlab.run.stop import Stop
from loomlab.run.warmup.process import process_of
from loomlab.run.warmup.warmer import Subject, Warmer
from loomlab.show import server
from loomlab.tools.known import tool

app = typer.Typer(
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    help="Plan an experiment, load an approach, judge the run, sum the experiment up.",
)
commands.register(app)
published.register(app)
app.command("export-containers")(export_containers)
app.command("sees-containers")(sees_containers)
server.register(app)
BACKEND_PATH, BACKEND_COLD_COST_MS, BACKEND_TIMEOUT_S = "/authentication", 0.1, 30
BACKEND_BURST_S = 2
"""The first approach waits for the backend's warm-up."""


@app.command()
def measure(
    run_dir: Annotated[Path, typer.Argument(help="The run's folder below runs/, as order.json names it.")],
    prometheus_url: Annotated[str, typer.Option(help="Where the metrics are.")] = "http://prometheus:9090",
    start_s: Annotated[float, typer.Option(min=0, help="How long the approach took to start, for the record.")] = 0,
    waited_s: Annotated[float, typer.Option(min=0, help="How long it then waited for the lab, for the record.")] = 0,
    label: Annotated[str, typer.Option(help="What progress is told of.")] = "",
    terminal: Annotated[bool, typer.Option("--terminal", help="Tell progress in place.")] = False,
) -> None:
    """Warm an approach up, load it, and keep everything raw."""
    planned = read_order(run_dir.parent.parent).run(run_dir.name)
    beforehand = {"started": time.time(), "start_s": start_s or None, "waited_s": waited_s}
    request = planned.request.model_copy(update=beforehand)
    stop = Stop()
    stop.install()
    set_state(run_dir, "running")
    progress = Progress(label=label, terminal=terminal)
    finished = measure_run(request, tool(request.tool), run_dir, prometheus_url, stop, progress)
    progress.end()
    if not finished:
        raise typer.Exit(errors.EXIT_INTERRUPTED)
    set_state(run_dir, "finished")


@app.command("warm-backend")
def warm_backend(
    connections: Annotated[int, typer.Option(min=1, help="At most so many at once.")] = 500,
    delay: Annotated[str, typer.Option(help="The backend's delay.")] = "300",
    cap_s: Annotated[float, typer.Option(min=0, help="The longest it may take.")] = 30,
) -> None:
    """Warm the backend up, so that the first approach does not meet a cold one."""
    shape = Closed(connections, LONGEST_RUN_S)
    load = Load("http://backend:8080", (Target(BACKEND_PATH),), connections, shape, BACKEND_TIMEOUT_S)
    stop = Stop()
    stop.install()
    subject = Subject(load, delay_of(delay), process_of("backend"), BACKEND_COLD_COST_MS, BACKEND_BURST_S)
    if not Warmer(tool("ab"), subject, Behaviour(), cap_s, stop, Progress()).compile(cap_s):
        raise CannotMeasureError(f"The backend was not warm after {cap_s:.0f} s: it may be cold in the first run.")


@app.command()
def collect(
    run_dir: Annotated[Path, typer.Argument(help="A folder below runs/.")],
    prometheus_url: Annotated[str, typer.Option(help="Where the metrics are.")] = "http://prometheus:9090",
) -> None:
    """Fetch a run's samples again, as far as Prometheus still has them, and judge it."""
    collect_again(run_dir, prometheus_url)
    judge(run_dir)


@app.command()
def judge(run_dir: Annotated[Path, typer.Argument(help="A folder below runs/.")]) -> None:
    """Judge a run from its raw files: writes run.json."""
    run = judge_run(run_dir)
    set_state(run_dir, "judged" if run.finished else "failed")
    print(f"{run.approach}: {run.verdict}" + (f": {' '.join(run.reasons)}" if run.reasons else ""))  # noqa: T201
    if run.verdict == "invalid":
        raise typer.Exit(errors.EXIT_INVALID)


@app.command("again")
def make_again(run_dir: Annotated[Path, typer.Argument(help="A folder below runs/.")]) -> None:
    """Plan the next try of a sweep's run that the host spoilt, and print what the host's shell walks."""
    planned = try_again(run_dir)
    if planned is not None:
        order, run = planned
        print(f"The host disturbed {run_dir.name}: {run.run} measures it again", file=sys.stderr)  # noqa: T201
        print(line_of(order, run))  # noqa: T201


@app.command()
def summarise(
    experiment_dir: Annotated[Path, typer.Argument(help="A folder below results/.")],
    interrupted: Annotated[
        bool, typer.Option("--interrupted", help="Not all runs were made: judge those without a verdict, too.")
    ] = False,
) -> None:
    """Sum an experiment up: writes summary.json and summary.md, prints the table."""
    summary = finish(experiment_dir) if interrupted else summarise_experiment(experiment_dir, interrupted=False)
    _show(summary)
    _report(experiment_dir, summary)
    others = replaced(summary.runs)
    invalid = any(run.verdict == "invalid" and run.run not in others for run in summary.runs)
    if not interrupted and (summary.missing or invalid):
        raise typer.Exit(errors.EXIT_INVALID)


@app.command("finish")
def finish_killed(results: Annotated[Path, typer.Option(help="Where the experiments are.")] = Path("/results")) -> None:
    """Judge and sum up what killed experiments left."""
    failed = False
    for folder in killed(results):
        print(f"{folder.name} was killed: judging and summing up what it left")  # noqa: T201
        try:
            summary = finish(folder)
            _show(summary)
            _report(folder, summary)
        except (LoomlabError, OSError) as error:
            print(f"loom-lab: {error}", file=sys.stderr)  # noqa: T201
            failed = True
        except Exception as error:
            print(f"loom-lab: {folder.name} cannot be summed up: the lab failed at it ({error!r})", file=sys.stderr)  # noqa: T201
            failed = True
    if failed:
        raise typer.Exit(errors.EXIT_LAB)


@app.command("report")
def report_experiment(experiment_dir: Annotated[Path, typer.Argument(help="A folder below results/.")]) -> None:
    """Make report.html and table.csv of an experiment from its folder, without a network."""
    print(f"report: {_write_report(experiment_dir)}")  # noqa: T201


@app.command("resume")
def resume_experiment(
    name: Annotated[str, typer.Argument(help="latest, or a folder below results/.")],
    results: Annotated[Path, typer.Option(help="Where the experiments are.")] = Path("/results"),
    lab_dir: commands.LabDir = Path("/lab"),
    scenarios_dir: commands.ScenariosDir = Path("/scenarios"),
) -> None:
    """Plan the runs that an experiment lacks again, and print what the host's shell walks."""
    folder = unfinished(results, name)
    for line in lines_of(resume(folder, this_host(results), Lab(lab_dir, scenarios_dir).checksum)):
        print(line)  # noqa: T201


def _write_report(folder: Path) -> Path:
    """Imports what draws and compares only here, because every run starts this program several times."""
    from loomlab.report.page import write_report  # noqa: PLC0415 - see above

    return write_report(folder)


def _report(folder: Path, summary: Summary) -> None:
    """Of an experiment that was summed up, with its summary.md; what it measured does not depend on its page, whatever
    fails there."""
    try:
        if summary.runs:
            _write_report(folder)
            return
    except LoomlabError as error:
        print(f"loom-lab: no report: {error}", file=sys.stderr)  # noqa: T201
    except Exception as error:
        print(  # noqa: T201
            f"loom-lab: no report, because the lab failed at it ({error!r}): make report RESUME={folder.resolve().name}"
            " shows where.",
            file=sys.stderr,
        )
    write_text(folder / "summary.md", markdown(summary))


def _show(summary: Summary) -> None:
    console = Console()
    show(
        summary,
        Console(width=min(console.width, WIDEST_TABLE) if console.is_terminal else WIDEST_TABLE),
    )


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    print(f"loom-lab: {message}", file=sys.stderr)  # noqa: T201


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits; a user's mistake is one sentence on stderr."""
    warnings.showwarning = _warn
    command = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="loomlab", standalone_mode=False)
    except typer.TyperException as error:
        print(f"loom-lab: {error.format_message()}", file=sys.stderr)  # noqa: T201
        sys.exit(errors.EXIT_USAGE)
    except LoomlabError as error:
        print(f"loom-lab: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
    except OSError as error:
        print(f"loom-lab: {error.filename or 'a file'} cannot be used: {error.strerror}.", file=sys.stderr)  # noqa: T201
        sys.exit(errors.EXIT_LAB)
    except Exception:
        traceback.print_exc()
        sys.exit(errors.EXIT_LAB)
    sys.exit(code or 0)
