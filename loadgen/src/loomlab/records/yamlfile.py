"""Reads a typed YAML file; a mistake in it is told by file, line, field and value."""

import difflib
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from loomlab.basics.errors import UsageError

EXTRA = "extra_forbidden"


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping; YAML's own loader takes the last of two fields of one name."""
        names = [key.value for key, _ in node.value]
        for number, (key, _) in enumerate(node.value):
            if key.value in names[:number]:
                raise yaml.MarkedYAMLError(problem=f"{key.value} is there twice", problem_mark=key.start_mark)
        return super().construct_mapping(node, deep)


def path_of(folder: Path, name: str, kind: str, verb: str) -> Path:
    """The file of that name; raises UsageError with the nearest names for another one."""
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in names:
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
        hint = f"the nearest are {', '.join(near)}" if near else f"`{verb}` lists them"
        raise UsageError(f"There is no {kind} {name!r}: {hint}.")
    return folder / f"{name}.yaml"


def parse[M: BaseModel](text: str, file: str, model: type[M], union: str) -> M:
    """The text of a file; `union` is the field that has several models. Raises UsageError, a line for each mistake."""
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        value = loader.construct_document(node) if node else None
    except Exception as error:  # also for values that do not suit their tags, and for what refers to itself
        mark = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or error).partition("\n")[0]
        raise UsageError(f"{file}, line {mark.line + 1 if mark else 1}: this is not YAML ({problem}).") from None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise UsageError("\n".join(_sentence(mistake, node, file, union) for mistake in error.errors())) from None


def _sentence(error: ErrorDetails, node: yaml.Node | None, file: str, union: str) -> str:
    """File, line, field, value and what is allowed."""
    # pydantic puts the name of the model behind that of the field.
    path = [str(part) for before, part in zip(("", *error["loc"]), error["loc"], strict=False) if before != union]
    name = ".".join(part if part.isprintable() else repr(part) for part in path) or "the file"
    unshown = error["type"] in {"missing", EXTRA} or isinstance(error["input"], dict)
    value = "" if unshown else f" is {error['input']!r:.60}"
    message = "there is no such field; the schema beside the file has all" if error["type"] == EXTRA else error["msg"]
    message = " ".join(message.removeprefix("Value error, ").split()).removesuffix(".")
    return f"{file}, line {_line(node, path)}, {name}{value}: {message}."


def _line(node: yaml.Node | None, path: list[str]) -> int:
    """The line of the deepest part of the path that is there."""
    line = node.start_mark.line + 1 if node else 1
    for part in path:
        children = {}
        if isinstance(node, yaml.MappingNode):
            children = {str(key.value): (key, value) for key, value in node.value}
        elif isinstance(node, yaml.SequenceNode):
            children = {str(number): (item, item) for number, item in enumerate(node.value)}
        if part not in children:
            break
        key, node = children[part]
        line = key.start_mark.line + 1
    return line
