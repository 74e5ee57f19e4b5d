"""A user's mistake: exit code 2 and one sentence that names the value."""

from pathlib import Path

import pytest

from loomlab.cli import main

SCENARIOS = Path(__file__).parent.parent / "scenarios"
GOOD = {
    "--approach": "tomcat-virtual",
    "--concurrency": "10",
    "--requests": "100",
    "--duration-s": "5",
    "--delay": "300",
    "--scenarios-dir": str(SCENARIOS),
    "--out": "never-written",
}


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--tool", "wrk", "'wrk'"),
        ("--approach", "$(reboot)", "'$(reboot)'"),
        ("--approach", "", "''"),
        ("--endpoint", "capabilities", "'capabilities'"),
        ("--concurrency", "0", "--concurrency"),
        ("--concurrency", "many", "--concurrency"),
        ("--concurrency", "20001", "20001"),
        ("--requests", "9", "9"),
        ("--duration-s", "1.5", "--duration-s"),
        ("--duration-s", "-1", "--duration-s"),
        ("--delay", "-1", "'-1'"),
        ("--delay", "uniform:400:200", "'uniform:400:200'"),
        ("--rate-rps", "-1", "--rate-rps"),
        ("--rate-rps", "fast", "--rate-rps"),
        ("--rate-rps", "10", "ab knows no rate"),
        ("--scenario", "smoketset", "the nearest are smoketest"),
        ("--scale", "2", "--scale"),
        ("--cell", "0", "--cell"),
        ("--generator-cpus", "1-x", "'1-x'"),
        ("--jdk", "twenty-one", "--jdk"),
        ("--speed", "9", "--speed"),
    ],
)
def test_a_wrong_option_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str, value: str, said: str
) -> None:
    out = tmp_path / "1-x"
    words = [word for pair in (GOOD | {"--out": str(out)} | {option: value}).items() for word in pair]

    with pytest.raises(SystemExit) as exit_:
        main(["measure", *words])

    problem = capsys.readouterr().err.strip()
    assert exit_.value.code == 2
    assert problem.startswith("loomlab: ")
    assert said in problem
    assert "Traceback" not in problem
    assert not out.exists()


@pytest.mark.parametrize("words", [[], ["juggle"], ["judge"], ["judge", "no/such"], ["summarise", "no/such"]])
def test_a_wrong_command_is_one_sentence(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(words)

    assert exit_.value.code == 2
    assert capsys.readouterr().err.strip().startswith("loomlab: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--scenario", "smoketest", "--cell", "2"], "smoketest has 1 load"),
        (["--scenario", "rate-ladder", "--duration-s", "4"], "DURATION=4s is too short"),
        (["--tool", "vegeta", "--rate-rps", "0"], "vegeta"),
    ],
)
def test_a_load_that_cannot_be_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], said: str
) -> None:
    out = tmp_path / "1-x"
    good = [word for pair in (GOOD | {"--out": str(out)}).items() for word in pair]

    with pytest.raises(SystemExit) as exit_:
        main(["measure", *good, *words])

    problem = capsys.readouterr().err.strip()
    assert exit_.value.code == 2
    assert said in problem
    assert len(problem.splitlines()) == 1
    assert not out.exists()
