"""Gzipped files of what a tool left, and the columns of numbers in them."""

import gzip
import shutil
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from loomlab.basics.errors import ParseError
from loomlab.records.files import whole


@contextmanager
def packing(path: Path) -> Iterator[gzip.GzipFile]:
    """Takes what the file is to hold; as `whole`."""
    with whole(path) as sink, gzip.GzipFile("", "wb", 6, sink) as packed:
        yield packed


def pack(plain: Path, path: Path) -> None:
    """Moves a file into a gzipped one."""
    with plain.open("rb") as source, packing(path) as packed:
        shutil.copyfileobj(source, packed, 1 << 20)
    plain.unlink()


def packed_bytes(path: Path) -> bytes:
    """What a gzipped file holds; raises ParseError for a damaged one."""
    try:
        return gzip.decompress(path.read_bytes())
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ParseError(f"{path.name} is damaged ({error}): measure again.") from error


def rows_below(text: bytes, head: str, what: str) -> bytes:
    """The lines below the first, which names the columns; raises ParseError for another one."""
    first, _, rows = text.partition(b"\n")
    if first != head.encode():
        raise ParseError(f"These are not {what}: the first line does not name the columns.")
    return rows


def columns_of(rows: bytes, count: int, separator: str, dtype: DTypeLike, what: str) -> NDArray[np.generic]:
    """A row for each line of so many numbers; raises ParseError where a line has something else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            found = np.fromstring(rows.rstrip(b",\n"), dtype=dtype, sep=separator) if rows else np.empty(0, dtype=dtype)
        except ValueError:
            found = np.empty(0, dtype=dtype)
    if len(found) != count * rows.count(b"\n"):
        raise ParseError(f"{what} has lines that are no requests: measure again.")
    return found.reshape(-1, count)
