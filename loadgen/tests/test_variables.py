"""What the user's variables may be."""

from pathlib import Path

import pytest

from loomlab.basics.errors import UsageError
from loomlab.plan.variables import FIELDS, MOST_REPEATS, Words, model_of, table, verbs_of
from ordered import SETTINGS

CASES = Path(__file__).parent / "golden" / "variables.txt"
WORDS = Words(["tomcat-virtual", "webflux-netty"], ["ec2", "smoke"], ["smoketest", "soak"], ["smoketest", "soak"])
NAMES = Path(__file__).parents[2] / "bin" / "variables.tsv"


def refusal(setting: str) -> str | None:
    name, value = setting.split("=", 1)
    verb = "sweep" if "sweep" in verbs_of(name) else verbs_of(name)[0]
    try:
        model_of(verb, {name: value}, WORDS, SETTINGS | {"DELAY": "300"})
    except UsageError as refused:
        return str(refused)
    return None


@pytest.mark.parametrize("line", CASES.read_text().splitlines())
def test_values_are_taken_or_refused_with_the_value_and_the_cure(line: str) -> None:
    verdict, setting = line.split(" ", 1)
    said = refusal(setting)

    assert verdict == ("taken" if said is None else "refused")
    assert said is None or (said.startswith(f"{setting} ") and ": use " in said and said.endswith("."))


def test_every_example_is_taken() -> None:
    for name, field in FIELDS.items():
        if name not in {"APPROACH", "NAME", "PAPER", "SIZE"}:
            (example,) = field.examples or []
            assert refusal(f"{name}={example}") is None


def test_the_largest_number_is_taken_and_the_next_one_refused() -> None:
    assert refusal(f"REPEATS={MOST_REPEATS}") is None
    assert refusal(f"REPEATS={MOST_REPEATS + 1}") is not None


def test_what_the_verb_does_not_take_is_no_part_of_it() -> None:
    asked = model_of("run-ab", {"NAME": "my-computer", "CONCURRENCY": "7"}, WORDS, SETTINGS | {"DELAY": "300"})

    assert (asked.scenario, asked.connections, asked.tool) == (None, [7], "ab")
    assert asked.given == {"CONCURRENCY": "7"}


def test_defaults_are_those_of_env() -> None:
    asked = model_of("run-ab", {"GC": "zgc"}, WORDS, SETTINGS | {"DELAY": "uniform:1:2"})

    assert asked.settings == SETTINGS | {"GC": "zgc"}
    assert (asked.delay, asked.size, asked.endpoint) == ("uniform:1:2", "auto", "/capabilities")


@pytest.mark.skipif(not NAMES.exists(), reason="only the package is here")
def test_the_hosts_shell_knows_the_same_names() -> None:
    assert NAMES.read_text() == "".join("\t".join(row[:3]) + "\n" for row in table())
