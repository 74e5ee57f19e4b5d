"""The command line. A command's module is imported when it is used: every run starts this program often."""

import sys
import traceback
import warnings
from importlib import import_module

import typer

from loomlab.basics.errors import EXIT_LAB, EXIT_USAGE, LoomlabError, told
from loomlab.basics.format import plain

COMMANDS = {
    "plan": "cli.planning:plan_experiment",
    "overlay": "cli.planning:print_overlay",
    "targets": "cli.planning:print_targets",
    "stack": "cli.planning:print_stack",
    "scenarios": "cli.planning:scenarios",
    "measure": "cli.measuring:measure",
    "generate": "cli.measuring:generate",
    "warm-backend": "cli.measuring:warm_backend",
    "judge": "cli.results:judge",
    "hide": "cli.results:hide_secrets",
    "again": "cli.results:plan_again",
    "summarise": "cli.results:sum_up",
    "finish": "cli.results:finish_killed",
    "report": "cli.results:report",
    "flip": "cli.results:show_flip",
    "resume": "cli.results:resume_experiment",
    "published": "cli.planning:list_published",
    "reproduce": "cli.planning:plan_published",
    "claims": "cli.planning:show_claims",
    "keep-published": "cli.planning:keep_runs",
    "export-containers": "exporter.engine:export_containers",
    "nodes": "exporter.nodes:tell_nodes",
    "check-nodes": "exporter.nodes:check_nodes",
    "sees-containers": "exporter.engine:sees_containers",
    "serve-results": "show.server:serve_results",
}
"""The module and the function of each."""
MOST_SAID = 10_000  # letters
OF_FOLDERS = {"judge", "again", "summarise", "report", "resume"}
"""Which read folders that may be a stranger's, so that whatever fails there is told of the folder."""


def program(name: str) -> typer.Typer:
    """The program with the command of that name; with all of them, where there is none."""
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        help="Plan an experiment, load an approach, judge the run, sum the experiment up.",
    )
    app.callback()(lambda: None)  # a program of one command would not want its name
    for command in [name] if name in COMMANDS else COMMANDS:
        module, _, function = COMMANDS[command].partition(":")
        app.command(command)(getattr(import_module(f"loomlab.{module}"), function))
    return app


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits; a user's mistake is one sentence on stderr."""
    words = sys.argv[1:] if arguments is None else arguments
    warnings.showwarning = lambda message, *_, **__: say(message)
    code = EXIT_LAB
    try:
        command = typer.main.get_command(program("".join(words[:1])))
        code = command.main(args=words, prog_name="loomlab", standalone_mode=False) or 0
    except typer.TyperException as error:
        say(error.format_message(), lines=True)
        code = EXIT_USAGE
    except LoomlabError as error:
        say(error, lines=True)
        code = error.exit_code
    except OSError as error:
        say(f"{error.filename or 'a file'} cannot be used: {error.strerror}.")
    except Exception as error:
        if "".join(words[:1]) in OF_FOLDERS:
            folders = " and ".join(word for word in words[1:] if not word.startswith("-"))
            say(f"{folders} cannot be read: {told(error)}; move it out of results/, or measure again.")
        else:
            traceback.print_exc()
    sys.exit(code)


def say(message: object, *, lines: bool = False) -> None:
    print(f"loom-lab: {plain(message, lines=lines)[:MOST_SAID]}", file=sys.stderr)  # noqa: T201
