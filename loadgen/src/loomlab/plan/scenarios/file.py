"""Reads a scenario file; what is wrong in it is named by file, line and field."""

import difflib
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from loomlab.basics.errors import UsageError
from loomlab.plan.scenarios.model import (
    BackendHang,
    ClosedLoad,
    LadderLoad,
    Part,
    Publication,
    RateLoad,
    RequestKind,
    Scenario,
    SpikeLoad,
    names,
)

PARTS: dict[str, type[Part]] = {
    "closed": ClosedLoad,
    "rate": RateLoad,
    "rate-ladder": LadderLoad,
    "smooth-spike": SpikeLoad,
    "stepped-spike": SpikeLoad,
    "requests": RequestKind,
    "hangs": BackendHang,
    "published": Publication,
}
NOT_YAML = (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError)
"""What PyYAML raises; all but the first for values that do not suit their tags, and for what refers to itself."""
MEANT = {
    "missing": "the field is missing",
    "greater_than_equal": "use a number from {ge} on",
    "less_than_equal": "use a number up to {le}",
    "int_type": "use a whole number without a unit",
    "int_parsing": "use a whole number without a unit",
    "literal_error": "use one of {expected}",
    "union_tag_invalid": "the shape {tag!r} is unknown, use one of {expected_tags}",
    "union_tag_not_found": "the field shape is missing",
    "too_short": "use at least {min_length}",
    "string_pattern_mismatch": "use a text like {pattern}",
    "string_type": "use a text",
    "list_type": "use a list",
}


def load_scenario(folder: Path, name: str) -> Scenario:
    """The scenario of that name; raises UsageError with the nearest names for another one."""
    path = folder / f"{name}.yaml"
    known = names(folder)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
        hint = f"the nearest are {', '.join(near)}" if near else "`make scenarios` lists them"
        raise UsageError(f"There is no scenario {name!r}: {hint}.")
    return parse_scenario(path.read_text(encoding="utf-8", errors="replace"), path.name)


def parse_scenario(text: str, file: str) -> Scenario:
    """Raises UsageError with one line for each mistake: file, line, field, value and what is allowed."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value = yaml.safe_load(text)
        _refuse_twice(node, file)
    except NOT_YAML as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = str(getattr(error, "problem", None) or error).partition("\n")[0]
        raise UsageError(f"{file}{line}: this is not YAML ({problem}).") from None
    if not isinstance(value, dict) or not isinstance(node, yaml.MappingNode):
        raise UsageError(f"{file}, line 1: a scenario is a mapping of fields such as title and load.")
    try:
        return Scenario.model_validate(value)
    except ValidationError as error:
        raise UsageError("\n".join(_sentence(one, node, file) for one in error.errors())) from None


def _refuse_twice(node: yaml.Node | None, file: str) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: list[Any] = []
        for key, value in node.value:
            if key.value in seen:
                raise UsageError(f"{file}, line {key.start_mark.line + 1}, {key.value}: the field is there twice.")
            seen.append(key.value)
            _refuse_twice(value, file)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _refuse_twice(value, file)


def _sentence(error: ErrorDetails, node: yaml.Node, file: str) -> str:
    where = list(error["loc"])
    if where[:1] == ["load"] and where[1:2] and where[1] in PARTS:
        del where[1]
    line = _line(node, where)
    field = ".".join(_printable(str(part)) for part in where) or "the scenario"
    unshown = error["type"] in {"missing", "extra_forbidden"} or isinstance(error["input"], dict)
    got = "" if unshown else f" is {_shown(error['input'])}"
    return f"{file}, line {line}, {field}{got}: {_meant(error)}."


def _meant(error: ErrorDetails) -> str:
    """What is allowed."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "extra_forbidden":
        part = next((PARTS[str(tag)] for tag in reversed(error["loc"][:-1]) if str(tag) in PARTS), Scenario)
        return f"no such field here, use one of {', '.join(part.model_fields)}"
    return MEANT.get(kind, error["msg"]).format(**context)


def _printable(key: str) -> str:
    return key if key.isprintable() else repr(key)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _line(node: yaml.Node, where: list[int | str]) -> int:
    """Of the deepest part of the path that is there."""
    line = node.start_mark.line + 1
    for part in where:
        found: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == part:
                    line, found = key.start_mark.line + 1, value
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            found = node.value[part]
            line = found.start_mark.line + 1
        if found is None:
            break
        node = found
    return line
