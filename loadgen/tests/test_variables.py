"""The table of variables, as this side reads it; tests/unit/variables.bats has the shell's."""

import re
from pathlib import Path

import pytest

from loomlab.basics.errors import UsageError
from loomlab.plan.variables import Words, check, largest, stanzas

CASES = Path(__file__).parent / "golden" / "variables.txt"
WORDS = Words(["tomcat-virtual", "webflux-netty"], ["ec2", "smoke"], ["smoketest", "soak"], ["smoketest", "soak"])


@pytest.mark.parametrize("line", CASES.read_text().splitlines())
def test_the_table_means_the_same_on_both_sides(line: str) -> None:
    case, _, sentence = line.partition(" => ")
    verdict, setting = case.split(" ", 1)
    name, value = setting.split("=", 1)

    try:
        check({name: value}, WORDS)
        said = "taken"
    except UsageError as refusal:
        said = "refused"
        assert str(refusal).startswith(f"{name}=")
        assert re.search("use|with", str(refusal))
        assert not sentence or str(refusal) == f"{setting} {sentence}"
    assert said == verdict


@pytest.mark.parametrize("name", ["REPEATS", "REQUESTS"])
def test_the_largest_number_is_taken_and_the_next_one_refused(name: str) -> None:
    check({name: str(largest(name))}, WORDS)
    with pytest.raises(UsageError, match=f"{name}={largest(name) + 1} is not a whole number from 1 to"):
        check({name: str(largest(name) + 1)}, WORDS)


def test_every_variable_has_rules_and_ends_with_what_is_said() -> None:
    for name, rules in stanzas().items():
        assert rules, name
        assert rules[-1].kind == "else", name
