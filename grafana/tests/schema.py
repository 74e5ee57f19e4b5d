"""Holds a dashboard's JSON against the types of Grafana's own SDK.

The SDK itself drops keys it does not know and takes any value for a known one, so both are looked for here.
"""

import enum
import json
import types
import typing
from collections.abc import Iterator
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from loomlab_dashboards.frame import Json, visible

register_default_plugins()


def problems(document: Json) -> list[str]:
    """What is not as the schema has it, a sentence each with its place."""
    try:
        read = Dashboard.from_json(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return [f"The SDK cannot read it: {error!r}."]
    written = visible(json.loads(JSONEncoder().encode(read)))
    return [*_differences(document, written, "dashboard"), *_misfits(read, Dashboard, "dashboard")]


def _differences(given: object, written: object, where: str) -> Iterator[str]:
    if isinstance(given, dict) and isinstance(written, dict):
        for key in sorted(given.keys() | written.keys()):
            if key not in written:
                yield f"{where}.{key} is not in the schema."
            elif key not in given:
                yield f"{where}.{key} is missing."
            else:
                yield from _differences(given[key], written[key], f"{where}.{key}")
    elif isinstance(given, list) and isinstance(written, list) and len(given) == len(written):
        for position, (one, other) in enumerate(zip(given, written, strict=True)):
            yield from _differences(one, other, f"{where}[{position}]")
    elif given != written:
        yield f"{where} is {given!r}, read as {written!r}."


def _misfits(value: object, hint: Any, where: str) -> Iterator[str]:
    """Where values are not of the types that the SDK's models declare."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(value, dict) and hasattr(hint, "from_json"):
        given, value = value, hint.from_json(value)
        yield from _differences(given, json.loads(JSONEncoder().encode(value)), where)
    if hasattr(value, "to_json"):
        for name, attribute in typing.get_type_hints(type(value)).items():
            yield from _misfits(getattr(value, name), attribute, f"{where}.{name}")
    elif origin in {typing.Union, types.UnionType}:
        of_each = [list(_misfits(value, one, where)) for one in inner]
        yield from min(of_each, key=bool)
    elif origin is list and isinstance(value, list):
        for position, item in enumerate(value):
            yield from _misfits(item, inner[0], f"{where}[{position}]")
    elif origin is dict and isinstance(value, dict):
        for key, item in value.items():
            yield from _misfits(item, inner[1], f"{where}.{key}")
    elif not _fits(value, hint, origin, inner):
        yield f"{where} is {value!r}, not of type {hint}."


def _fits(value: object, hint: Any, origin: object, inner: tuple[object, ...]) -> bool:
    if origin is typing.Literal:
        return value in inner
    if isinstance(hint, enum.EnumType):
        return value in {member.value for member in hint}  # type: ignore[var-annotated]
    if isinstance(value, bool):
        return hint in {bool, object, Any}
    if hint is float:
        return isinstance(value, int | float)
    if hint in {str, int, types.NoneType}:
        return isinstance(value, hint)
    return hint in {object, Any}
