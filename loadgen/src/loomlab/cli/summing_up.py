"""The commands that sum experiments up, and go on with those that were cut off."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from loomlab.answer.again import made_again
from loomlab.answer.finish import finish, killed, resume, unfinished
from loomlab.answer.summary import WIDEST_TABLE, show, summarise
from loomlab.basics.errors import EXIT_INVALID, EXIT_LAB, LoomlabError
from loomlab.cli import say
from loomlab.plan.host import this_host
from loomlab.plan.lab import Lab
from loomlab.plan.shell import shell_lines
from loomlab.records.models import Summary

ExperimentDir = Annotated[Path, typer.Argument(help="A folder below results/.")]
Results = Annotated[Path, typer.Option(help="Where the experiments are.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to the program."""
    app.command("summarise")(sum_up)
    app.command("finish")(finish_killed)
    app.command("report")(report)
    app.command("resume")(resume_experiment)


def sum_up(
    experiment_dir: ExperimentDir,
    interrupted: Annotated[
        bool, typer.Option("--interrupted", help="Not all runs were made: judge those without a verdict, too.")
    ] = False,
) -> None:
    """Sum an experiment up: writes summary.json and summary.md, prints the table."""
    summary = finish(experiment_dir) if interrupted else summarise(experiment_dir, interrupted=False)
    _show(experiment_dir, summary)
    replaced = made_again(summary.runs)
    invalid = any(run.verdict == "invalid" and run.run not in replaced for run in summary.runs)
    if not interrupted and (summary.missing or invalid):
        raise typer.Exit(EXIT_INVALID)


def finish_killed(results: Results = Path("/results")) -> None:
    """Judge and sum up what killed experiments left."""
    failed = False
    for folder in killed(results):
        print(f"{folder.name} was killed: judging and summing up what it left")  # noqa: T201
        try:
            _show(folder, finish(folder))
        except Exception as error:
            known = isinstance(error, LoomlabError | OSError)
            say(error if known else f"{folder.name} cannot be summed up: the lab failed at it ({error!r})")
            failed = True
    if failed:
        raise typer.Exit(EXIT_LAB)


def report(experiment_dir: ExperimentDir) -> None:
    """Make report.html and table.csv of an experiment from its folder, without a network."""
    print(f"report: {_write_report(experiment_dir)}")  # noqa: T201


def resume_experiment(
    name: Annotated[str, typer.Argument(help="latest, or a folder below results/.")],
    results: Results = Path("/results"),
    lab_dir: Annotated[Path, typer.Option(help="The checkout.")] = Path("/lab"),
    scenarios_dir: Annotated[Path, typer.Option(help="Where the scenario files are.")] = Path("/scenarios"),
) -> None:
    """Plan the runs that an experiment lacks again, and print what the host's shell walks."""
    order = resume(unfinished(results, name), this_host(results), Lab(lab_dir, scenarios_dir).checksum)
    print("\n".join(shell_lines(order)))  # noqa: T201


def _write_report(folder: Path) -> Path:
    from loomlab.report.page import write_report  # noqa: PLC0415 - what draws is needed by few commands

    return write_report(folder)


def _show(folder: Path, summary: Summary) -> None:
    """Prints the table and writes the page; what was measured does not depend on that, whatever fails there."""
    console = Console()
    show(summary, Console(width=min(console.width, WIDEST_TABLE) if console.is_terminal else WIDEST_TABLE))
    try:
        if summary.runs:
            _write_report(folder)
    except LoomlabError as error:
        say(f"no report: {error}")
    except Exception as error:
        name = folder.resolve().name
        say(f"no report, because the lab failed at it ({error!r}): make report RESUME={name} shows where.")
