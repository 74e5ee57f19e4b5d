"""What the user writes as the value of a variable, and what it means."""

import re
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import parse_qsl

from pydantic import BeforeValidator, ValidationInfo

from loomlab.basics.errors import UsageError
from loomlab.records.delay import LONGEST_MS, delay_of

LONGEST_S, SECONDS_OF = 3600, {"s": 1, "m": 60, "": 1}
PATHS = ("/capabilities", "/meetings", "/epoch-millis", "/movies", "/pinned")
BLOCK = "/httpbin/block/"
QUERY = {
    "delayInMillis": ("0|[1-9][0-9]*", LONGEST_MS),
    "cpuMicros": ("0|[1-9][0-9]*", 1_000_000),
    "calls": ("[1-9][0-9]?", 20),
    "parallel": ("true|false", 0),
}
"""Parameters of endpoints: what they look like, and the largest number that they may be."""


def taken(parse: Callable[[str], Any]) -> BeforeValidator:
    """A validator that turns what the user wrote into a value; what is no text passes."""
    return BeforeValidator(lambda value: parse(value) if isinstance(value, str) else value)


def whole(least: int, most: int) -> BeforeValidator:
    """A whole number within limits."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"0|[1-9][0-9]{0,8}", text) or not least <= int(text) <= most:
            raise ValueError(f"is not a whole number from {least} to {most}")
        return int(text)

    return taken(parse)


def rising(what: str, most: float, pattern: str) -> BeforeValidator:
    """Numbers above 0 with commas between them, each larger than the one before."""

    def parse(text: str) -> list[float]:
        parts = text.split(",")
        if not all(re.fullmatch(pattern, part) and 0 < float(part) <= most for part in parts):
            raise ValueError(f"is not {what}")
        numbers = [float(part) for part in parts]
        if numbers != sorted(set(numbers)):
            listed = ",".join(f"{number:g}" for number in sorted(set(numbers)))
            raise ValueError(f"does not rise from load to load: use {listed}")
        return numbers

    return taken(parse)


def one_of(*words: str) -> BeforeValidator:
    """One of these words."""

    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"is unknown: use one of {', '.join(words)}")
        return text

    return taken(parse)


def named(kind: Literal["sizes", "scenarios", "papers"], *more: str) -> BeforeValidator:
    """A name that the lab has."""

    def parse(text: Any, info: ValidationInfo) -> Any:
        names = [*more, *(getattr(info.context, kind) if info.context else [text])]
        if isinstance(text, str) and text not in names:
            raise ValueError(f"is unknown: use one of {', '.join(names)}")
        return text

    return BeforeValidator(parse)


def approaches(text: Any, info: ValidationInfo) -> Any:
    """`headline`, `all`, or names that the lab has, with commas between them."""
    if not isinstance(text, str) or text in {"headline", "all"}:
        return text
    wrong = next((one for one in text.split(",") if info.context and one not in info.context.approaches), None)
    if wrong is not None:
        raise ValueError(f"has {wrong!r}, which is unknown: use headline, all, or {', '.join(info.context.approaches)}")
    return text


def seconds_of(text: str) -> int:
    """Seconds of a text such as `60s` or `2m`."""
    found = re.fullmatch(r"([1-9][0-9]{0,3})(s|m|)", text)
    if found is None or int(found[1]) * SECONDS_OF[found[2]] > LONGEST_S:
        raise ValueError(f"is not a time from 1s to {LONGEST_S}s")
    return int(found[1]) * SECONDS_OF[found[2]]


def delay(text: str) -> str:
    """A delay of the backend, as it is written."""
    try:
        return delay_of(text).text and text
    except UsageError as error:
        raise ValueError(
            f"is no delay: use milliseconds up to {LONGEST_MS}, uniform:FROM:TO or lognormal:MEDIAN:P99"
        ) from error


def share(least: float, most: float) -> BeforeValidator:
    """A share, as it is written."""

    def parse(text: str) -> str:
        if not re.fullmatch(r"(0|1)?(\.[0-9]{1,4})?", text) or text in {"", "."} or not least <= float(text) <= most:
            raise ValueError(f"is not a share from {least:g} to {most:g}")
        return text

    return taken(parse)


def endpoint(text: str) -> str:
    """A path with its query, as it is written."""
    path, _, query = text.partition("?")
    if path not in PATHS and not path.startswith(BLOCK.rstrip("/")):
        raise ValueError(f"is unknown: use one of {', '.join(PATHS)}, {BLOCK}SECONDS")
    seconds = path.removeprefix(BLOCK)
    if path not in PATHS and not (re.fullmatch(r"(0|[1-9][0-9]?)(\.[0-9]{1,3})?", seconds) and float(seconds) <= 60):
        raise ValueError("does not end in a wait of 0 to 60 seconds with at most three decimals")
    if not re.fullmatch(r"[A-Za-z0-9._~%=&+-]*", query):
        raise ValueError("has characters that a query cannot have")
    given = parse_qsl(query, keep_blank_values=True)
    for name, (pattern, most) in QUERY.items():
        values = [value for one, value in given if one == name]
        if len(values) > 1 or not all(re.fullmatch(pattern, value) for value in values):
            raise ValueError(f"has a {name} that is not {'true or false' if not most else f'one number up to {most}'}")
        if most and any(int(value) > most for value in values):
            raise ValueError(f"has a {name} above {most}")
    return text


def scale(text: str) -> str:
    """A factor, or `auto`, as it is written."""
    if text != "auto" and not (re.fullmatch(r"1|0?\.[0-9]{1,4}", text) and float(text) > 0):
        raise ValueError("is not a factor from 0.0001 to 1")
    return text
