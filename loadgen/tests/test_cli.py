"""A user's mistake: exit code 2 and one sentence that names the value; a mistake of the lab's own: exit code 4."""

import pytest

from loomlab import cli
from loomlab.cli import main


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

    monkeypatch.setattr(cli, "judge_run", broken)

    assert code_of(["judge", "no/such"]) == 4
    assert "ZeroDivisionError" in capsys.readouterr().err
