"""What the user's variables may be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loomlab.basics.errors import UsageError
from loomlab.cli import COMMANDS
from loomlab.plan.variables import VARIABLES, model_of
from ordered import ENV
from saying import exit_code

CASES = Path(__file__).parent / "golden" / "variables.txt"
KNOWN = {"approaches": ["tomcat-virtual", "webflux-netty"], "sizes": ["ec2", "smoke"], "published": ["small", "soak"]}
EXAMPLES = [f"taken {name}={each.example}" for name, each in VARIABLES.items() if name not in {"APPROACH", "BENCHMARK"}]


@pytest.mark.parametrize("line", [*CASES.read_text().splitlines(), *EXAMPLES])
def test_values_are_taken_or_refused_with_the_value_and_the_cure(line: str) -> None:
    verdict, setting = line.split(" ", 1)
    name, value = setting.split("=", 1)
    verbs = VARIABLES[name].verbs.replace("!", "").split()
    verb = "sweep" if "sweep" in verbs else verbs[0]
    try:
        model_of(verb, {"NAME": "soak", name: value}, KNOWN, ENV)
    except UsageError as refused:
        said = str(refused)
        assert verdict == "refused"
        assert said.startswith(f"{setting}: ")
        assert "use " in said
        assert said.endswith(".")
    else:
        assert verdict == "taken"


@pytest.mark.parametrize(
    ("verb", "settings", "cure"),
    [
        ("sweep", "CONCURRENCY=2000,500", "use 500,2000."), ("sweep", "CONCURRENCY=500,500", "use 500."),
        ("sweep", "RATE=20,3.5", "use 3.5,20."), ("sweep", "RATE=20,20.0", "use 20."),
        ("sweep", "CONCURRENCY=5,9 does not go with RATE=5", "use one number, or leave it out."),
        ("sweep", "REQUESTS=9 does not go with RATE=5", "use DURATION."),
        ("run-ab", "CONCURRENCY=5,9", "make sweep CONCURRENCY=5,9."),
        ("run-vegeta", "RATE=5,9", "make sweep RATE=5,9."),
    ],
)  # fmt: skip
def test_loads_that_do_not_go_together_are_refused(verb: str, settings: str, cure: str) -> None:
    given = dict(word.split("=") for word in settings.split() if "=" in word)

    with pytest.raises(UsageError) as refused:
        model_of(verb, given, KNOWN, ENV)
    assert str(refused.value).startswith(settings)
    assert str(refused.value).endswith(cure)


def test_what_the_verb_does_not_take_is_no_part_of_it() -> None:
    asked = model_of("run-ab", {"NAME": "my-computer", "CONCURRENCY": "7"}, KNOWN, ENV)
    assert (asked.scenario, asked.connections, asked.tool) == (None, [7], "ab")
    assert asked.given == {"CONCURRENCY": "7"}


def test_defaults_are_those_of_env_and_the_tool_of_a_sweep_follows_its_loads() -> None:
    asked = model_of("sweep", {"GC": "zgc", "RATE": "100,200.5"}, KNOWN, ENV | {"DELAY": "uniform:1:2"})

    assert asked.settings == ENV | {"GC": "zgc", "DELAY": "uniform:1:2", "SEED": str(asked.seed)}
    assert (asked.delay, asked.size, asked.endpoint) == ("uniform:1:2", "auto", "/capabilities")
    assert (asked.tool, asked.rates_rps) == ("vegeta", [100, 200.5])
    assert model_of("sweep", {"CONCURRENCY": "7"}, KNOWN, ENV).tool == "users"


def test_options_of_the_jvm_are_one_word_for_the_shell() -> None:
    asked = model_of("run-ab", {"CONCURRENCY": "7", "JVM_OPTS": " -Xss256k  -Da=b "}, KNOWN, ENV)
    assert asked.settings["JVM_OPTS"] == "-Xss256k;-Da=b"


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
