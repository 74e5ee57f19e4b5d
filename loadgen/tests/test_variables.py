"""The table of variables, as this side reads it; tests/unit/variables.bats has the shell's."""

import re
from pathlib import Path

import pytest

from loomlab.basics.errors import UsageError
from loomlab.plan.variables import Words, check, largest, stanzas

CASES = Path(__file__).parent / "golden" / "variables.txt"
WORDS = Words(["tomcat-virtual", "webflux-netty"], ["ec2", "smoke"], ["smoketest", "soak"], ["smoketest", "soak"])


def refusal(setting: str) -> str | None:
    name, value = setting.split("=", 1)
    try:
        check({name: value}, WORDS)
    except UsageError as refused:
        return str(refused)
    return None


@pytest.mark.parametrize("line", CASES.read_text().splitlines())
def test_the_table_means_the_same_on_both_sides(line: str) -> None:
    verdict, setting = line.partition(" => ")[0].split(" ", 1)
    said = refusal(setting)

    assert verdict == ("taken" if said is None else "refused")
    assert said is None or said.startswith(f"{setting.partition('=')[0]}=")
    assert said is None or re.search("use|with", said)


def test_what_refusals_say_is_approved(request: pytest.FixtureRequest) -> None:
    """tests/unit/variables.bats holds the shell to the same file; `pytest --snapshot-update` writes it again."""
    lines = []
    for line in CASES.read_text().splitlines():
        case, told, _ = line.partition(" => ")
        setting = case.split(" ", 1)[1]
        lines.append(case + told + (refusal(setting) or "").removeprefix(f"{setting} ") if told else case)

    if request.config.option.update_snapshots:
        CASES.write_text("\n".join(lines) + "\n")
    assert CASES.read_text().splitlines() == lines


@pytest.mark.parametrize("name", ["REPEATS", "REQUESTS"])
def test_the_largest_number_is_taken_and_the_next_one_refused(name: str) -> None:
    check({name: str(largest(name))}, WORDS)
    with pytest.raises(UsageError, match=f"^{name}={largest(name) + 1} "):
        check({name: str(largest(name) + 1)}, WORDS)


def test_every_variable_has_rules_and_ends_with_what_is_said() -> None:
    for name, rules in stanzas().items():
        assert rules, name
        assert rules[-1].kind == "else", name
