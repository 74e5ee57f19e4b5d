"""What the variables of the user's verbs may be: variables.txt, which the host's shell reads, too."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loomlab.basics.errors import UsageError

TABLE = Path(__file__).with_name("variables.txt")


@dataclass(frozen=True)
class Words:
    """What the lab has, by name."""

    approaches: Sequence[str]
    sizes: Sequence[str]
    scenarios: Sequence[str]
    papers: Sequence[str]

    def fill(self, text: str) -> str:
        for name in ("approaches", "sizes", "scenarios", "papers"):
            text = text.replace(f"{{{name}}}", ", ".join(getattr(self, name)))
        return text


@dataclass(frozen=True)
class Rule:
    """One line of a variable's stanza, such as `range 1 100`."""

    kind: str
    rest: str


def stanzas(table: Path = TABLE) -> dict[str, list[Rule]]:
    """The rules of each variable, in the order of the table."""
    found: dict[str, list[Rule]] = {}
    rules: list[Rule] = []
    for line in table.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line[0].isupper():
            rules = found.setdefault(line, [])
        else:
            kind, _, rest = line.partition(" ")
            rules.append(Rule(kind, rest))
    return found


def largest(name: str) -> int:
    """The largest whole number that the variable, which has a range, may be."""
    return next(int(rule.rest.split()[1]) for rule in stanzas()[name] if rule.kind == "range")


def check(asked: Mapping[str, str], words: Words) -> None:
    """Raises UsageError for the first variable that is set to what it may not be."""
    for name, rules in stanzas().items():
        if value := asked.get(name):
            _check_one(name, value, rules, words)


def _check_one(name: str, value: str, rules: Sequence[Rule], words: Words) -> None:
    applies, wrong = True, None
    for rule in rules:
        if rule.kind == "else":
            if applies and wrong is not None:
                raise UsageError(f"{name}={wrong} {words.fill(rule.rest)}")
            applies, wrong = True, None
        elif rule.kind in {"where", "unless"}:
            applies = (re.fullmatch(rule.rest, value) is not None) == (rule.kind == "where")
        elif wrong is None:
            wrong = _wrong(rule, value, words)


def _wrong(rule: Rule, value: str, words: Words) -> str | None:
    """The part of the value that breaks the rule."""
    match rule.kind:
        case "like":
            holds = re.fullmatch(rule.rest, value) is not None
        case "unlike":
            holds = re.fullmatch(rule.rest, value) is None
        case "range":
            least, most = map(int, rule.rest.split())
            holds = least <= int(value) <= most
        case "rising":
            holds = _numbers(value) == sorted(_numbers(value))
        case "climbing":
            holds = _numbers(value) == sorted(set(_numbers(value)))
        case "one":
            holds = value in _choices(rule, words)
        case "list":
            others = [word for word in value.split(",") if word not in _choices(rule, words)]
            return next((word or value for word in others), None)
        case _:
            raise ValueError(f"{TABLE.name} has a rule that is none: {rule.kind} {rule.rest}")
    return None if holds else value


def _numbers(value: str) -> list[int]:
    return [int(number) for number in re.findall("[0-9]+", value)]


def _choices(rule: Rule, words: Words) -> list[str]:
    return words.fill(rule.rest.removeprefix("of ")).replace(",", "").split()
