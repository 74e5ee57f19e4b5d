"""Gzipped files of what a tool left."""

import gzip
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


def packed_lines(path: Path) -> Iterator[str]:
    """The lines of a gzipped file, with their ends; raises ParseError for a damaged one."""
    try:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="") as lines:
            yield from lines
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ParseError(f"{path.name} is damaged ({error}): measure again.") from error
