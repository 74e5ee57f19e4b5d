"""Where a run's files lie, and reading and writing them."""

import hashlib
import json
import os
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from loomlab.basics.errors import ParseError

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"  # of a file or a service: one word to a shell, and no way out of its folder
Name = Annotated[str, Field(pattern=NAME)]
Margin = Annotated[float, Field(gt=0, le=0.5)]  # of equivalence, a share


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, allow_inf_nan=False)


class RunFiles:
    """The paths below RUN_DIR."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.raw = run_dir / "raw"
        self.run = run_dir / "run.json"
        self.request = self.raw / "request.json"
        self.warmup = self.raw / "warmup.json"
        self.backend = self.raw / "backend.json"
        self.about = self.raw / "about.json"
        self.probe = self.raw / "probe.json"
        self.tool = self.raw / "tool.json"
        self.slices = self.raw / "slices.json"
        self.host = self.raw / "host.json"
        self.metrics = self.raw / "metrics.json"
        self.memory = self.raw / "memory.json"
        self.container = self.raw / "container.json"


def write_json(path: Path, value: BaseModel | dict[str, Any]) -> None:
    """Writes the whole file or nothing, whatever happens: a reader never sees half of it."""
    if isinstance(value, BaseModel):
        text = value.model_dump_json(indent=1, by_alias=True)
    else:
        text = json.dumps(value, indent=1)
    write_text(path, text + "\n")


def write_text(path: Path, text: str) -> None:
    """As `write_json`."""
    with whole(path) as sink:
        sink.write(text.encode("utf-8"))


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path`, or of a link there, once it is on the disk, and leaves nothing else."""
    partial = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
    try:
        with partial.open("xb") as sink:
            yield sink
            sink.flush()
            os.fsync(sink.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def strange(folder: Path) -> str | None:
    """What below it is neither a file nor a folder, in a sentence: who writes through a link writes elsewhere."""
    paths = (parent / name for parent, folders, files in folder.walk() for name in (*folders, *files))
    odd = next((path for path in paths if path.is_symlink() or not (path.is_file() or path.is_dir())), None)
    if odd is None:
        return None
    return (
        f"{folder.name} has {str(odd.relative_to(folder))!r}, which is neither a file nor a folder, so the lab writes "
        "nothing there: remove that, or move the experiment out of results/."
    )


def checksum(folder: Path) -> str:
    """SHA-256 of the names and the contents of all files below the folder."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as source:
            whole.update(f"{path.relative_to(folder)}\0{hashlib.file_digest(source, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()


def read_json(path: Path) -> Any:
    """The parsed file, or None when there is none; raises ParseError when it is not JSON."""
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{path} is damaged: it is not JSON ({error}); measure again.") from error


def read_record[R: BaseModel](path: Path, record: type[R]) -> R | None:
    """The file, or None where there is none; unknown fields are left out, with a warning. Raises ParseError."""
    value = read_json(path)
    if value is None:
        return None
    try:
        return record.model_validate(value)
    except ValidationError as error:
        unknown = _fields(error)
    try:
        known = record.model_validate(value, extra="ignore")
    except ValidationError as error:
        raise ParseError(
            f"{path} is damaged, or of another version of the lab, by {_fields(error)}: use that version, or move its "
            "folder out of results/."
        ) from error
    warnings.warn(f"{path}: left out what this version does not know: {unknown}", stacklevel=2)
    return known


def _fields(error: ValidationError) -> str:
    """The places of its mistakes, without the numbers of items."""
    names = (".".join(part for part in one["loc"] if isinstance(part, str)) for one in error.errors())
    return ", ".join(sorted({name or "the whole" for name in names}))
