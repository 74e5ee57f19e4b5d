"""Requests of the user's own, by a file of them: `REQUESTS_FILE`."""

import csv
import math
import re
from itertools import cycle
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from loomlab.basics.errors import UsageError
from loomlab.plan.scenarios import RequestKind
from loomlab.records.files import Record, parse
from loomlab.records.load import Target

MOST_TARGETS = 10_000
COLUMN = re.compile(r"\{(\w+)\}")
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$")]
OF_CONNECTION = {"host", "content-length", "transfer-encoding", "connection"}
"""Headers that load generators send themselves."""
HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]
HeaderValue = Annotated[str, Field(pattern=r"^([ -#%-~]|\$[^{]|\$\{[A-Za-z_][A-Za-z0-9_]*\})*\$?$")]


class OwnRequest(RequestKind):
    """`{column}` in a path stands for each row's value of the CSV file in turn, `${NAME}` in a header for a variable of
    the environment, which no file of results has."""

    body: FileName | None = None
    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict)
    values: FileName | None = None
    weight: int = Field(1, ge=1, le=1000)

    @model_validator(mode="after")
    def _no_header_of_the_tool(self) -> Self:
        if own := next((name for name in self.headers if name.lower() in OF_CONNECTION), None):
            raise ValueError(f"{own} is what the load generator sends itself")
        return self


class OwnRequests(Record):
    requests: list[OwnRequest] = Field(min_length=1)


def targets_of(path: Path) -> tuple[Target, ...]:
    """In rounds of as many of each as its weight says, by its rows in turn; bodies are beside the file. Raises
    UsageError."""
    if not path.is_file():
        raise UsageError(f"REQUESTS_FILE: there is no {path.name} in that folder: name a YAML file of requests.")
    own = parse(path.read_text(encoding="utf-8-sig", errors="replace"), path.name, OwnRequests, union="requests")
    kinds = [_expanded(one, path.parent) for one in own.requests]
    rounds = max(math.ceil(len(kind) / one.weight) for kind, one in zip(kinds, own.requests, strict=True))
    if (count := rounds * sum(one.weight for one in own.requests)) > MOST_TARGETS:
        fact = f"REQUESTS_FILE={path.name} stands for {count:,} requests by weights and rows"
        raise UsageError(f"{fact}: use at most {MOST_TARGETS:,}.")
    turns = [cycle(kind) for kind in kinds]
    both = [*zip(turns, own.requests, strict=True)]
    return tuple(next(turn) for _ in range(rounds) for turn, one in both for _ in range(one.weight))


def _expanded(one: OwnRequest, folder: Path) -> list[Target]:
    pattern, body = one.target, folder / one.body if one.body else None
    if body and not body.is_file():
        raise UsageError(f"REQUESTS_FILE: there is no {body.name} beside it: put the body of POST {pattern} there.")
    headers = tuple(f"{name}: {value}" for name, value in one.headers.items())
    label = f"{'POST' if one.post else 'GET'} {pattern}"
    targets = []
    for row in _rows(one, folder):
        if lacking := next((name for name in COLUMN.findall(pattern) if name not in row), None):
            fact = f"{one.values} has no column {lacking}" if one.values else f"no values name {lacking}"
            raise UsageError(f"REQUESTS_FILE: {fact}, which {pattern} has: add it.")
        target = "".join(row[part] if place % 2 else part for place, part in enumerate(COLUMN.split(pattern)))
        try:
            targets.append(Target(target, "POST" if one.post else "GET", headers, body, label))
        except ValueError:
            raise UsageError(f"REQUESTS_FILE: {target!r:.80} is no path: encode what is not printable.") from None
    return targets


def _rows(one: OwnRequest, folder: Path) -> list[dict[str, str]]:
    if one.values is None:
        return [{}]
    path = folder / one.values
    if not path.is_file():
        raise UsageError(
            f"REQUESTS_FILE: there is no {path.name} beside it: put the values there, columns' names first."
        )
    try:
        rows = [*csv.DictReader(path.read_text(encoding="utf-8-sig", errors="replace").splitlines())]
    except csv.Error as error:
        raise UsageError(f"REQUESTS_FILE: {path.name} is no CSV file ({error}): mend it.") from None
    if not rows or any(None in row or None in row.values() for row in rows):
        raise UsageError(
            f"REQUESTS_FILE: {path.name} has no rows, or some with other columns than its first line names."
        )
    return rows
