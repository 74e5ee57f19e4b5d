"""The commands that judge a run."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from loomlab.answer.again import again
from loomlab.basics.errors import EXIT_INVALID
from loomlab.judge.judge import judge_run
from loomlab.plan.shell import shell_line
from loomlab.records.order import set_state

RunDir = Annotated[Path, typer.Argument(help="A folder below runs/.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to the program."""
    app.command()(collect)
    app.command()(judge)
    app.command("again")(plan_again)


def collect(
    run_dir: RunDir,
    prometheus_url: Annotated[str, typer.Option(help="Where the metrics are.")] = "http://prometheus:9090",
) -> None:
    """Fetch a run's samples again, as far as Prometheus still has them, and judge it."""
    from loomlab.run.measure import collect_again  # noqa: PLC0415 - no other command here needs that room

    collect_again(run_dir, prometheus_url)
    judge(run_dir)


def judge(run_dir: RunDir) -> None:
    """Judge a run from its raw files: writes run.json."""
    run = judge_run(run_dir)
    set_state(run_dir, "judged" if run.finished else "failed")
    print(f"{run.approach}: {run.verdict}" + (f": {' '.join(run.reasons)}" if run.reasons else ""))  # noqa: T201
    if run.verdict == "invalid":
        raise typer.Exit(EXIT_INVALID)


def plan_again(run_dir: RunDir) -> None:
    """Plan the next try of a sweep's run that the host spoilt, and print what the host's shell walks."""
    planned = again(run_dir)
    if planned is not None:
        order, run = planned
        print(f"The host disturbed {run_dir.name}: {run.run} measures it again", file=sys.stderr)  # noqa: T201
        print(shell_line(order, run))  # noqa: T201
