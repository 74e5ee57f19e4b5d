"""What a command ends with, and what a rule of the verdict says, without its words: these stand in the approved file of
test_sentences_approved."""

import re
from collections.abc import Iterable

import pytest

from loomlab.cli import main
from loomlab.records.models import RuleResult

STOLEN = RuleResult(rule="much_stolen", outcome="failed", level="invalid", host_cause=True)


def exit_code(*words: str) -> object:
    """Of the command."""
    with pytest.raises(SystemExit) as ended:
        main([*words])
    return ended.value.code


def speaking(rules: Iterable[RuleResult]) -> list[RuleResult]:
    """Those that failed, or could not be checked."""
    return [one for one in rules if one.outcome in {"failed", "could not be checked"}]


def failed(rules: Iterable[RuleResult]) -> set[str]:
    return {one.rule for one in rules if one.outcome == "failed"}


def unknown(rules: Iterable[RuleResult]) -> set[str]:
    return {one.rule for one in rules if one.outcome == "could not be checked"}


def figures(sentence: str | None) -> set[str]:
    """The numbers in it, as they are written."""
    return set(re.findall(r"(?<![\w.])\d(?:[\d.,]*\d)?(?!x)", sentence or ""))


def told(rules: Iterable[RuleResult], rule: str, numbers: str = "") -> bool:
    """Whether that rule failed, with these numbers in its sentence."""
    return any(
        one.rule == rule and one.outcome == "failed" and set(numbers.split()) <= figures(one.reason) for one in rules
    )
