"""Reads a typed YAML file; what is wrong in it is named by file, line and field."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from loomlab.basics.errors import UsageError

NOT_YAML = (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError)
"""What PyYAML raises; all but the first for values that do not suit their tags, and for what refers to itself."""
MEANT = {
    "missing": "the field is missing",
    "greater_than_equal": "use a number from {ge} on",
    "less_than_equal": "use a number up to {le}",
    "int_type": "use a whole number without a unit",
    "int_parsing": "use a whole number without a unit",
    "float_type": "use a number without a unit",
    "float_parsing": "use a number without a unit",
    "finite_number": "use a finite number",
    "literal_error": "use one of {expected}",
    "union_tag_invalid": "the {discriminator} {tag!r} is unknown, use one of {expected_tags}",
    "union_tag_not_found": "the field {discriminator} is missing",
    "too_short": "use at least {min_length}",
    "string_pattern_mismatch": "use a text like {pattern}",
    "string_type": "use a text",
    "string_too_short": "use a text that is not empty",
    "list_type": "use a list",
    "dict_type": "use a mapping",
    "model_type": "use a mapping of fields",
    "model_attributes_type": "use a mapping of fields",
}


@dataclass(frozen=True)
class Grammar[M: BaseModel]:
    """What a file of a `kind` holds. `fields` are two of it, for who wrote something else; `parts` are the models of
    nested fields and of alternatives, by the name of either; `tagged` are the fields that hold one of the
    alternatives."""

    model: type[M]
    kind: str
    fields: str
    parts: Mapping[str, type[BaseModel]]
    tagged: frozenset[str] = field(default_factory=frozenset)


def path_of(folder: Path, name: str, kind: str, verb: str) -> Path:
    """The file of that name; raises UsageError with the nearest names for another one."""
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
        hint = f"the nearest are {', '.join(near)}" if near else f"`{verb}` lists them"
        raise UsageError(f"There is no {kind} {name!r}: {hint}.")
    return folder / f"{name}.yaml"


def parse[M: BaseModel](text: str, file: str, grammar: Grammar[M]) -> M:
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
        raise UsageError(f"{file}, line 1: a {grammar.kind} is a mapping of fields such as {grammar.fields}.")
    try:
        return grammar.model.model_validate(value)
    except ValidationError as error:
        raise UsageError("\n".join(_sentence(one, node, file, grammar) for one in error.errors())) from None


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


def _sentence[M: BaseModel](error: ErrorDetails, node: yaml.Node, file: str, grammar: Grammar[M]) -> str:
    where = _without_tags(error["loc"], grammar)
    line = _line(node, where)
    name = ".".join(_printable(str(part)) for part in where) or f"the {grammar.kind}"
    unshown = error["type"] in {"missing", "extra_forbidden"} or isinstance(error["input"], dict)
    got = "" if unshown else f" is {_shown(error['input'])}"
    return f"{file}, line {line}, {name}{got}: {_meant(error, grammar)}."


def _without_tags[M: BaseModel](loc: tuple[int | str, ...], grammar: Grammar[M]) -> list[int | str]:
    """pydantic puts the name of the alternative behind that of the field."""
    return [
        part
        for before, part in zip(("", *loc), loc, strict=False)
        if not (before in grammar.tagged and part in grammar.parts)
    ]


def _meant[M: BaseModel](error: ErrorDetails, grammar: Grammar[M]) -> str:
    """What is allowed."""
    kind, context = error["type"], dict(error.get("ctx", {}))
    context["discriminator"] = str(context.get("discriminator")).strip("'")
    if kind == "value_error":
        return str(context["error"])
    if kind == "extra_forbidden":
        parts = (grammar.parts[str(tag)] for tag in reversed(error["loc"][:-1]) if str(tag) in grammar.parts)
        return f"no such field here, use one of {', '.join(next(parts, grammar.model).model_fields)}"
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
