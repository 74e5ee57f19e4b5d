"""The commands that judge runs, sum experiments up, and go on with those that were cut off."""

import json
import os
import sys
from multiprocessing import get_context
from pathlib import Path
from signal import SIGKILL
from typing import Annotated

import typer
from rich.console import Console

from loomlab.answer.flip import flip_lines
from loomlab.answer.gate import outcomes_of, write_junit
from loomlab.answer.loads import replaced, spoilt, try_again, unmade_blocks
from loomlab.answer.summary import finish, killed, resume, summarise, unfinished
from loomlab.answer.text import WIDEST_TABLE, show
from loomlab.basics.errors import EXIT_INVALID, EXIT_LAB, EXIT_UNRESOLVED, UsageError, told
from loomlab.basics.format import plain
from loomlab.cli import say
from loomlab.judge.judge import judge_run
from loomlab.plan.host import Lab, this_host
from loomlab.plan.planning import shell_line, shell_lines
from loomlab.plan.subject import hide, secrets_of
from loomlab.records.files import whole, write_text
from loomlab.records.models import Summary
from loomlab.records.order import order_of, read_order, set_state

RESULTS = Path("/results")
Folder = Annotated[Path, typer.Argument(resolve_path=True)]  # as `latest` is a link
Owner = Annotated[str, typer.Option(envvar="LAB_OWNER", help="Whose the experiment is, once it is planned again.")]
OWNER = ".owner"  # in the folder of an experiment while it is measured
LEFT = "{0} is being measured by another host: where that host is gone, rm results/{0}/.owner."


def judge(run_dir: Folder) -> None:
    """Judge a run from its raw files: writes run.json."""
    run = judge_run(run_dir)
    set_state(run_dir, "judged" if run.finished else "failed")
    print(plain(f"{run.approach}: {run.verdict}" + (f": {' '.join(run.reasons)}" if run.reasons else "")))  # noqa: T201
    if run.verdict == "invalid":
        raise typer.Exit(EXIT_INVALID)


def hide_secrets(raw: Path, variables: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Take the values of these variables, and of the environment of the user's services, whose model is on stdin, out
    of the logs of a run; no other file has them."""
    model = sys.stdin.read()
    others = [os.environ.get(name, "") for name in variables or ()]
    secrets = secrets_of(json.loads(model) if model.strip() else {}, others)
    for path in raw.glob("*.log"):
        text = path.read_bytes()
        if not path.is_symlink() and (without := hide(text, secrets)) != text:
            with whole(path) as sink:
                sink.write(without)


def plan_again(run_dir: Path) -> None:
    """Plan the next try of a sweep's run that the host spoilt, and print what the host's shell walks."""
    order, planned = try_again(run_dir)
    if planned:
        names = ", ".join(run.run for run in planned)
        print(f"The host disturbed {run_dir.name}, which is measured again: {names}", file=sys.stderr)  # noqa: T201
        print(shell_line(order, *planned))  # noqa: T201


def sum_up(experiment_dir: Folder, interrupted: bool = False) -> None:
    """Write summary.json and the report, and print the table. Interrupted: runs without a verdict are judged."""
    summary = finish(experiment_dir) if interrupted else summarise(experiment_dir, interrupted=False)
    _show(experiment_dir, summary)
    others = replaced(summary.runs)
    results = set() if interrupted else _gate(experiment_dir, summary)
    # What the host spoilt is no fault of a side: it leaves a limit unresolved.
    bad = [run for run in summary.runs if run.verdict == "invalid" and run.run not in others]
    invalid = any(not results or not spoilt(run) for run in bad)
    if not interrupted and (summary.missing or invalid or "beyond" in results):
        raise typer.Exit(EXIT_INVALID)
    if not interrupted and "unresolved" in results:
        raise typer.Exit(EXIT_UNRESOLVED)


def _gate(experiment_dir: Path, summary: Summary) -> set[str]:
    """What came of the limits that were set, which it tells and writes to junit.xml; nothing where none were."""
    order = order_of(experiment_dir)
    if order is None or not order.limits:
        return set()
    if early := unmade_blocks(order, summary.runs):
        print(plain(f"unresolved: {early}"))  # noqa: T201
        return {"unresolved"}
    outcomes = outcomes_of(summary, order)
    write_junit(experiment_dir / "junit.xml", summary, outcomes)
    print("\n".join(plain(f"{one.result}: {one.sentence}") for one in outcomes))  # noqa: T201
    return {one.result for one in outcomes}


def finish_killed(results: Path = RESULTS) -> None:
    """Judge and sum up what killed experiments left, but for those that another host measures; each in a process of
    its own, so that what one costs ends no other."""
    failed = False
    for folder in killed(results):
        if (folder / OWNER).exists():
            say(LEFT.format(folder.name))
            continue
        print(plain(f"{folder.name} was killed: judging and summing up what it left"), flush=True)  # noqa: T201
        apart = get_context("fork").Process(target=_finish, args=[folder], daemon=True)
        apart.start()
        apart.join()
        failed = failed or apart.exitcode != 0
        if apart.exitcode == -SIGKILL:
            say(f"{folder.name} cannot be summed up within the memory that there is: move it out of results/.")
    if failed:
        raise typer.Exit(EXIT_LAB)


def _finish(folder: Path) -> None:
    try:
        _show(folder, finish(folder))
    except Exception as error:
        say(f"{folder.name} cannot be summed up: {told(error)}")
        sys.exit(EXIT_LAB)


def report(experiment_dir: Folder, beside: Path | None = None) -> None:
    """Make report.html, summary.md, table.csv and plots/ of an experiment from its folder, without a network; or print
    its figures beside those of another one."""
    if beside:
        from loomlab.report import experiment  # noqa: PLC0415 - as below

        both = (experiment.read_experiment(folder) for folder in (experiment_dir, beside))
        print("\n".join(map(plain, experiment.beside(*both))))  # noqa: T201
        return
    from loomlab.report.page import write_report  # noqa: PLC0415 - what draws takes long to import

    print(plain(f"report: {write_report(experiment_dir)}"))  # noqa: T201


def show_flip(measured: Annotated[list[str], typer.Argument(help="CONDITION=FOLDER of each experiment.")]) -> None:
    """Print whether to switch from the first of two to the second, and write it to flip.md of the first experiment."""
    from loomlab.report.experiment import read_experiment  # noqa: PLC0415 - as above

    folders = {name: Path(folder) for name, _, folder in (one.partition("=") for one in measured)}
    read = ((name, read_experiment(folder)) for name, folder in folders.items())
    told = flip_lines(
        {name: (one.summary, one.order) for name, one in read if one.order},
        {name: os.environ.get(name.upper(), "") for name in folders},
    )
    write_text(folders["normal"] / "flip.md", "\n".join([*told, ""]))
    print("\n".join(told))  # noqa: T201


def resume_experiment(name: str, results: Path = RESULTS, owner: Owner = "") -> None:
    """Plan the runs that an experiment lacks again, and print what the host's shell walks; `latest` is a name, too."""
    folder = unfinished(results, name)
    order = read_order(folder)
    # Of these a stranger's folder could start anything.
    foreign = any(run.request.foreign for run in order.runs)
    if order.sides or order.subject or foreign or {"REQUESTS_FILE", "JVM_OPTS"} & order.asked.keys():
        fact = f"{folder.name} is of make compare, of a service or requests of yours, or has JVM_OPTS"
        raise UsageError(f"{fact}, and is not resumed: start it again.")
    if (begun := order.asked.get("LAB", "compose")) != os.environ.get("LAB", "compose"):
        raise UsageError(f"{folder.name} was begun with LAB={begun}: use that again.")
    try:
        (folder / OWNER).touch(exist_ok=False)
    except FileExistsError:
        raise UsageError(LEFT.format(folder.name)) from None
    try:
        (folder / OWNER).write_text(f"{owner}\n", encoding="utf-8")
        print("\n".join(shell_lines(resume(folder, this_host(results), Lab()))))  # noqa: T201
    except BaseException:
        (folder / OWNER).unlink()
        raise


def _show(folder: Path, summary: Summary) -> None:
    """Prints the table and writes the report; what was measured does not depend on that, whatever fails there."""
    console = Console()
    show(summary, Console(width=min(console.width, WIDEST_TABLE) if console.is_terminal else WIDEST_TABLE))
    try:
        if summary.runs:
            from loomlab.report.page import write_report  # noqa: PLC0415 - as above

            write_report(folder)
    except Exception as error:
        say(f"no report: {told(error).removesuffix('.')}; make report RESUME={folder.resolve().name} tells more.")
