"""Times and rates as scenario files write them: with their unit."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

SECONDS_OF = {"ms": 0.001, "s": 1.0, "m": 60.0}
_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m)", re.ASCII)
_RATE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)/s", re.ASCII)
_SPAN = re.compile(r"(\S+)-(\S+)")


def seconds(value: object) -> float:
    """Of a text such as `300ms`, `60s` or `5m`; raises ValueError."""
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("use a time with its unit such as 300ms, 60s or 5m")
    return float(match[1]) * SECONDS_OF[match[2]]


def whole_seconds(value: object) -> int:
    """Of a time of at least 1 s; raises ValueError."""
    found = seconds(value)
    if found < 1 or found != int(found):
        raise ValueError("use whole seconds such as 60s or 5m, at least 1s")
    return int(found)


def span_seconds(value: object) -> tuple[float, float]:
    """Of a text such as `1s-3s`; raises ValueError."""
    match = _SPAN.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("use two times with their units such as 1s-3s")
    low, high = seconds(match[1]), seconds(match[2])
    if low > high:
        raise ValueError("use the shorter time first, as in 1s-3s")
    return low, high


def rate_rps(value: object) -> float:
    """Requests a second, of a text such as `10000/s`; raises ValueError."""
    match = _RATE.fullmatch(value) if isinstance(value, str) else None
    if match is None or float(match[1]) <= 0:
        raise ValueError("use a rate above 0 with its unit such as 500/s")
    return float(match[1])


def _text(pattern: str, example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern, "examples": [example]})


WholeSeconds = Annotated[int, BeforeValidator(whole_seconds), _text(r"^\d+(s|m)$", "60s")]
Span = Annotated[tuple[float, float], BeforeValidator(span_seconds), _text(r"^\S+-\S+$", "1s-3s")]
Rate = Annotated[float, BeforeValidator(rate_rps), _text(r"^\d+(\.\d+)?/s$", "500/s")]
Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]


def _one_or_more(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _or_list(schema: dict[str, object]) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [schema, {"type": "array", "items": schema, "minItems": 1}]})


Counts = Annotated[
    list[Count], BeforeValidator(_one_or_more), Field(min_length=1), _or_list({"type": "integer", "minimum": 1})
]
Rates = Annotated[
    list[Rate],
    BeforeValidator(_one_or_more),
    Field(min_length=1),
    _or_list({"type": "string", "pattern": r"^\d+(\.\d+)?/s$", "examples": ["500/s"]}),
]
