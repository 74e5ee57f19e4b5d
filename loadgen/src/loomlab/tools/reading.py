"""Reading what tools leave: gzipped rows, columns of numbers, and the errors of Go's net/http."""

import gzip
import re
import shutil
import warnings
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from loomlab.basics.errors import ParseError
from loomlab.records.files import whole

LONGEST_REASON = 60
_REQUEST = re.compile(r'^\w+ "[^"]*": ')
_ADDRESSES = re.compile(r"\b(?:read|write|dial) tcp \S+: ")
_REASONS = {
    "lookup ": "no address",
    "no such host": "no address",
    "deadline exceeded": "time-out",
    "Client.Timeout": "time-out",
    "i/o timeout": "time-out",
    "timed out": "time-out",
    "connection refused": "connection refused",
    "connection reset": "connection reset",
    "unexpected EOF": "answer cut short",
    "EOF": "connection closed",
    "broken pipe": "connection closed",
    "server closed idle connection": "connection closed",
}
"""The first that fits counts."""


def reason(error: str) -> str:
    """A short reason for an error of Go's net/http, which the lab's own tool in Rust words likewise: its kind, else its
    first 60 characters without URL and addresses (they hold a port, so that each error would be a reason of its
    own)."""
    text = _REQUEST.sub("", error)
    kind = next((kind for words, kind in _REASONS.items() if words in text), None)
    return kind or _ADDRESSES.sub("", text).strip()[:LONGEST_REASON] or "no reason given"


def pack(plain: Path, path: Path) -> None:
    """Moves a file into a gzipped one."""
    with plain.open("rb") as source, whole(path) as sink, gzip.GzipFile("", "wb", 6, sink) as packed:
        shutil.copyfileobj(source, packed, 1 << 20)
    plain.unlink()


def packed_bytes(path: Path) -> bytes:
    """What a gzipped file holds; raises ParseError for a damaged one."""
    try:
        return gzip.decompress(path.read_bytes())
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ParseError(f"{path.name} is damaged ({error}): measure again.") from error


def rows_below(text: bytes, head: str, tool: str) -> bytes:
    """The lines below the first, which names the columns; raises ParseError for another one."""
    first, _, rows = text.partition(b"\n")
    if first != head.encode():
        raise ParseError(f"This is not {tool}'s file of requests: the first line does not name the columns.")
    return rows


def columns_of(rows: bytes, count: int, separator: str, dtype: DTypeLike, tool: str) -> NDArray[np.generic]:
    """A row for each line of so many numbers; raises ParseError where a line has something else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            numbers = (
                np.fromstring(rows.rstrip(b",\n"), dtype=dtype, sep=separator) if rows else np.empty(0, dtype=dtype)
            )
        return numbers.reshape(rows.count(b"\n"), count)
    except (ValueError, DeprecationWarning) as error:
        raise ParseError(f"{tool}'s file of requests has lines that are no requests: measure again.") from error
