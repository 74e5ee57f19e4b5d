"""A user's mistake: exit code 2 and one sentence that names the value; a mistake of the lab's own: exit code 4."""

import os
import subprocess
import sys

import pytest

from loomlab.cli import COMMANDS
from saying import exit_code


@pytest.mark.parametrize(
    "words",
    [
        [], ["juggle"], ["judge"], ["judge", "no/such"], ["summarise", "no/such"], ["measure", "no/such"],
        ["measure", "no/such", "--speed", "9"], ["finish", "no/such"], ["resume", "latest", "--results", "no/such"],
        ["warm-backend", "--delay", "uniform:400:200"], ["keep-published"], ["claims", "no-such"],
    ],
)  # fmt: skip
def test_a_wrong_command_is_one_sentence(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert exit_code(*words) == 2

    problem = capsys.readouterr().err.strip()
    assert problem.startswith("loom-lab: ")
    assert len(problem.splitlines()) == 1


def test_what_the_lab_did_wrong_itself_is_not_taken_for_an_invalid_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("loomlab.cli.results.judge_run", broken)

    assert exit_code("judge", "no/such") == 4
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_command_imports_what_it_needs() -> None:
    script = (
        "import sys; from loomlab.cli import program; before = {*sys.modules}; program('measure'); "
        "print({'pydantic', 'numpy', 'scipy', 'matplotlib', 'jinja2'} & before, "
        "[name for name in sys.modules if name.startswith('loomlab.plan')])"
    )
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=path)  # noqa: S603

    assert done.stdout == "set() []\n"


def test_without_a_command_all_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--help") == 0

    told = capsys.readouterr().out
    assert [name for name in COMMANDS if f" {name} " not in told] == []
