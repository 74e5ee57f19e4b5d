"""The command line. Everything it does is done elsewhere, in rooms that are imported by the command that needs them:
every run starts this program several times."""

import sys
import traceback
import warnings
from importlib import import_module

import typer

from loomlab.basics.errors import EXIT_LAB, EXIT_USAGE, LoomlabError

ROOMS = {
    "loomlab.cli.measuring": ("measure", "warm-backend"),
    "loomlab.cli.judging": ("collect", "judge", "again"),
    "loomlab.cli.summing_up": ("summarise", "finish", "report", "resume"),
    "loomlab.plan.commands": ("plan", "scenarios", "schema", "variables"),
    "loomlab.published.commands": ("papers", "reproduce", "claims", "keep-published", "reproduced"),
    "loomlab.exporter.commands": ("export-containers", "sees-containers"),
    "loomlab.show.server": ("serve-results", "figures"),
}
"""The commands that a module's `register` adds."""


def program(name: str) -> typer.Typer:
    """The program with the commands of the room that has one of that name; with all commands, where none has."""
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=False,
        pretty_exceptions_enable=False,
        help="Plan an experiment, load an approach, judge the run, sum the experiment up.",
    )
    for room in [room for room, commands in ROOMS.items() if name in commands] or ROOMS:
        import_module(room).register(app)
    app.callback()(lambda: None)  # a program with one command would not want its name
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
        say(error.format_message())
        code = EXIT_USAGE
    except LoomlabError as error:
        say(error)
        code = error.exit_code
    except OSError as error:
        say(f"{error.filename or 'a file'} cannot be used: {error.strerror}.")
    except Exception:
        traceback.print_exc()
    sys.exit(code)


def say(message: object) -> None:
    """Tells the user something beside a command's output."""
    print(f"loom-lab: {message}", file=sys.stderr)  # noqa: T201
