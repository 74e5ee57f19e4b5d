"""What the text of a variable may be: each kind of value with its check, which raises ValueError."""

import re
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import parse_qs

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from loomlab.plan.scenarios import rising, whole_seconds
from loomlab.records.endpoints import LONGEST_MS

MOST_OPTIONS = 200
PATHS = ("/capabilities", "/meetings", "/epoch-millis", "/movies", "/pinned", "/orders", "/orders/slow")
PAGE = r"([1-9][0-9]{0,4})?/[!->@-~]{0,500}"
QUERY = {
    "delayInMillis": range(LONGEST_MS + 1), "millis": range(LONGEST_MS + 1), "customer": range(1, 10**9),
    "cpuMicros": range(1_000_001), "calls": range(1, 21), "parallel": ("true", "false"),
}  # fmt: skip
"""Parameters of endpoints, and what they may be."""


def written(pattern: str, what: str) -> BeforeValidator:

    def check(text: Any) -> Any:
        if isinstance(text, str) and not re.fullmatch(pattern, text):
            raise ValueError(f"it is not {what}")
        return text

    return BeforeValidator(check)


def known(kind: str, *others: str) -> AfterValidator:
    """A name of that kind that the lab has, or another word; of approaches, several with commas between them."""

    def check(text: str, info: ValidationInfo) -> str:
        parts = text.split(",") if kind == "approaches" else [text]
        names = info.context[kind] if info.context else parts
        unknown = [part for part in parts if part not in names]
        if unknown and text not in others:
            raise ValueError(f"{unknown[0]!r} is unknown: use {', '.join([*others, *names])}")
        return text

    return AfterValidator(check)


def endpoint_of_any(text: str, info: ValidationInfo) -> str:
    """Of a service of the user's any path and query; else one of the lab's endpoints."""
    if any(info.data.get(kind) for kind in ("subjects", "image", "target")):
        if not re.fullmatch(r"/[!-~]{0,500}", text):
            raise ValueError(
                "it is no path of at most 500 printable characters; use for instance ENDPOINT=/orders?id=1"
            )
        return text
    return endpoint_text(text)


def endpoint_text(text: str) -> str:
    """Path and query of one of the lab's endpoints; raises ValueError for another one."""
    path, _, query = text.partition("?")
    block = re.fullmatch(r"/httpbin/block/((?:0|[1-9][0-9]?)(?:\.[0-9]{1,3})?)", path)
    if not (float(block[1]) <= 60 if block else path in PATHS or re.fullmatch(r"/orders/[1-9][0-9]{0,8}", path)):
        others = "/orders/NUMBER, or /httpbin/block/SECONDS up to 60 with up to three decimals"
        raise ValueError(f"use one of {', '.join(PATHS)}, {others}")
    if not re.fullmatch(r"[A-Za-z0-9._~%=&+-]{0,200}", query):
        raise ValueError("its query is longer than 200 characters, or has some that no query has")
    for name, values in parse_qs(query, keep_blank_values=True).items():
        allowed, value = QUERY.get(name, values), int(values[0]) if values[0].isdecimal() else values[0]
        if name in QUERY and (values != [str(value)] or value not in allowed):
            limits = f"a number from {allowed[0]} to {allowed[-1]}" if isinstance(allowed, range) else "true or false"
            raise ValueError(f"its {name} is not {limits}, once")
    return text


class Address(NamedTuple):
    origin: str  # with its port, whatever it is
    port: int
    name: str  # of what answers there, as runs have it
    target: str | None  # path and query


def address_of(url: str) -> Address:
    """The parts of a URL; raises ValueError for what is none, or holds what results must not keep."""
    scheme, _, rest = url.partition("://")
    if "@" in re.split("[/?]", rest, maxsplit=1)[0]:
        raise ValueError("it has a user or a password, which results would keep: use a header of REQUESTS_FILE")
    host, path = r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]", r"/[!-\"$-~]{0,500}"
    found = re.fullmatch(f"({host})(?::([0-9]{{1,5}}))?({path})?", rest)
    if scheme not in ("http", "https") or not found:
        raise ValueError("it is no URL of http or https without a fragment")
    port = int(found[2] or {"http": 80, "https": 443}[scheme])
    if not 1 <= port <= 65535:
        raise ValueError("its port is not from 1 to 65535")
    name = "-".join(re.findall("[a-z0-9.]+", f"{found[1]}-{port}".lower()))
    return Address(f"{scheme}://{found[1]}:{port}", port, name, found[3])


def jvm_options(text: str) -> str:
    """Options of a JVM, with spaces between them; none that has a variable of its own."""
    for option in text.split():
        if not re.fullmatch(r"-[A-Za-z][A-Za-z0-9:+.=,_-]*", option):
            raise ValueError(f"{option!r} is no option: use for instance -XX:+UseCompactObjectHeaders")
        if re.match(r"-Xm[nsx]|-XX:[A-Za-z]*(RAMPercentage|RAMFraction|HeapSize|NewSize)", option):
            raise ValueError(f"{option} is the heap's size, which follows the memory limit: use SIZE")
        if re.match(r"-XX:[+-]Use[A-Za-z0-9]*GC$", option):
            raise ValueError(f"{option} is a collector: use GC")
        if re.match(r"-(agent|javaagent|Xrun|XX:(Flags|VMOptionsFile|OnError|OnOutOfMemoryError))", option):
            raise ValueError(f"{option} loads or runs other code: leave it out")
    if len(text) > MOST_OPTIONS:
        raise ValueError(f"it has {len(text)} characters: use at most {MOST_OPTIONS}")
    return " ".join(text.split())


Whole = Annotated[int, written("0|[1-9][0-9]{0,8}", "a whole number")]
Decimal = written(r"[0-9]{1,6}(\.[0-9]{1,3})?", "a number with up to three decimals")
Rate = Annotated[float, Decimal, Field(gt=0, le=100_000)]
Share = written(r"0|0?\.[0-9]{1,4}|1(\.0{1,4})?", "a share from 0 to 1, with up to four decimals")
Plain = BeforeValidator(lambda text: whole_seconds(f"{text}s" if f"{text}".isdecimal() else text))
Seconds = Annotated[int, Plain, Field(le=3600)]
Port = Annotated[Whole, Field(ge=1, le=65535)] | None
Flag = Literal["1"] | None
Parts = BeforeValidator(lambda text: text.split(",") if isinstance(text, str) else text)
Rising = AfterValidator(rising)
