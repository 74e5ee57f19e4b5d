"""A user's mistake: exit code 2 and one sentence that names the value; a mistake of the lab's own: exit code 4."""

import subprocess
import sys
from importlib import import_module

import pytest
import typer

from loomlab.cli import ROOMS, main, program


def code_of(words: list[str]) -> object:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    return exit_.value.code


@pytest.mark.parametrize(
    "words",
    [
        [], ["juggle"], ["judge"], ["judge", "no/such"], ["summarise", "no/such"], ["measure", "no/such"],
        ["measure", "no/such", "--speed", "9"], ["measure", "no/such", "--start-s", "-1"], ["finish", "no/such"],
        ["measure", "no/such", "--waited-s", "-1"],
        ["resume", "no-such", "--results", "no/such"], ["resume", "latest", "--results", "no/such"],
        ["warm-backend", "--delay", "uniform:400:200"], ["keep-published"], ["claims", "no-such"],
    ],
)  # fmt: skip
def test_a_wrong_command_is_one_sentence(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert code_of(words) == 2

    problem = capsys.readouterr().err.strip()
    assert problem.startswith("loom-lab: ")
    assert len(problem.splitlines()) == 1


def test_what_the_lab_did_wrong_itself_is_not_taken_for_an_invalid_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("loomlab.cli.judging.judge_run", broken)

    assert code_of(["judge", "no/such"]) == 4
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_adds_the_commands_that_are_told_of_it(room: str) -> None:
    app = typer.Typer()
    import_module(room).register(app)

    names = {command.name or str(command.callback and command.callback.__name__) for command in app.registered_commands}
    assert {name.replace("_", "-") for name in names} == set(ROOMS[room])


def test_a_command_imports_what_it_needs() -> None:
    script = (
        "import sys; from loomlab.cli import program; before = {*sys.modules}; program('measure'); "
        "print({'pydantic', 'numpy'} & before, [name for name in sys.modules if name.startswith('loomlab.plan')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603

    assert done.stdout == "set() []\n"
    assert len(program("").registered_commands) == sum(map(len, ROOMS.values()))
