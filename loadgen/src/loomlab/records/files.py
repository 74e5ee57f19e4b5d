"""Where a run's files lie, reading and writing them, and typed YAML."""

import difflib
import hashlib
import json
import os
import secrets
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, from_json

from loomlab.basics.errors import ParseError, UsageError

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$"
"""Of a file or a service: one word to a shell, and no way out of its folder."""
Name = Annotated[str, Field(pattern=NAME)]
Margin = Annotated[float, Field(ge=0.01, le=0.5)]  # of equivalence, a share
Moment = Annotated[float, Field(ge=0, le=1e11)]  # epoch seconds, up to the year 5138
Counter = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # what a kernel or Prometheus can hold
Figure = Annotated[float, Field(ge=-1e18, le=1e18)]  # of a run: means and squares of such have no overflow
EXTRA = "extra_forbidden"
MOST_BYTES = 2**20  # of a record, which is parsed whole
LARGER = {
    "warmup.json": 2**22,
    **dict.fromkeys(("request.json", "run.json"), 2**24),  # 10,000 requests of a REQUESTS_FILE
    **dict.fromkeys(("host.json", "metrics.json", "order.json", "summary.json"), 2**26),  # an hour; all runs
}
BYTES_PER_VALUE = 24  # of a file as large as may be; the lab writes 20 to 28
MOST_MISTAKES = 1000  # that are told by name
MOST_HASHED = 2**31  # bytes of a run, of which a request takes some 12
SUMS = "SHA256SUMS"
TOOL, HOST = "tool.json", "host.json"  # of each load generator


def checked(check: Callable[[Any], object]) -> AfterValidator:
    """For a value of which this raises no ValueError."""
    return AfterValidator(lambda value: (check(value), value)[1])


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, allow_inf_nan=False)


class RunFiles:
    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.raw = run_dir / "raw"
        self.run = run_dir / "run.json"
        self.request = self.raw / "request.json"
        self.warmup = self.raw / "warmup.json"
        self.backend = self.raw / "backend.json"
        self.about = self.raw / "about.json"
        self.probe = self.raw / "probe.json"
        self.tool = self.raw / TOOL
        self.slices = self.raw / "slices.json"
        self.host = self.raw / HOST
        self.metrics = self.raw / "metrics.json"
        self.memory = self.raw / "memory.json"
        self.container = self.raw / "container.json"
        self.capacity = self.raw / "capacity.json"


def write_json(path: Path, value: BaseModel | dict[str, Any]) -> None:
    """Writes the whole file or nothing, whatever happens: a reader never sees half of it."""
    if isinstance(value, BaseModel):
        text = value.model_dump_json(indent=1, by_alias=True)
    else:
        text = json.dumps(value, indent=1)
    write_text(path, text + "\n")


def write_text(path: Path, text: str) -> None:
    with whole(path) as sink:
        sink.write(text.encode("utf-8"))


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path`, or of a link there, once it is on the disk, and leaves nothing else.

    Raises OSError where a folder on the way is a link."""
    partial = f"{path.name}.{secrets.token_hex(8)}.partial"
    folder = _opened(path.parent)
    try:
        new = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
        with os.fdopen(new, "wb") as sink:
            yield sink
            sink.flush()
            os.fsync(sink.fileno())
        os.replace(partial, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        with suppress(OSError):  # some file systems have no such thing for folders
            os.fsync(folder)
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(partial, dir_fd=folder)
        if isinstance(error, OSError) and error.filename in {None, partial}:  # as of a full disk
            error.filename = str(path)
        raise
    finally:
        os.close(folder)


def _opened(folder: Path) -> int:
    """A descriptor of the folder; OSError where there is none, or a link on the way."""
    here = os.open("/", os.O_PATH)
    for part in (*folder.absolute().parts[1:], "."):
        flags = os.O_RDONLY if part == "." else os.O_PATH
        try:
            inner = os.open(part, flags | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
        except OSError as error:
            error.filename = str(folder)
            raise
        finally:
            os.close(here)
        here = inner
    return here


def settle(folder: Path) -> None:
    """Waits until all below the folder is on the disk, whoever wrote it."""
    for path in [*folder.rglob("*"), folder]:
        if path.is_file() or path.is_dir():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            except OSError:
                if not path.is_dir():  # some file systems have no such thing for folders
                    raise
            finally:
                os.close(descriptor)


def check_links(folder: Path) -> None:
    """Raises UsageError where there is neither a file nor a folder: who follows a link reads or writes elsewhere."""
    paths = (parent / name for parent, folders, files in folder.walk() for name in (*folders, *files))
    if odd := next((path for path in paths if path.is_symlink() or not (path.is_file() or path.is_dir())), None):
        fact = f"{folder.name} has {str(odd.relative_to(folder))!r}, which is neither a file nor a folder"
        raise UsageError(f"{fact}: remove that, or move the experiment out of results/.")


def newest_first(experiments: Iterable[Path]) -> list[Path]:
    """By the time in their names; what is named after the future is somebody else's, and comes last."""
    now = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ~}"
    return sorted(experiments, key=lambda path: (path.name <= now, path.name), reverse=True)


def checksum(folder: Path) -> str:
    """SHA-256 of the names and the contents of all files below the folder, but for what a killed process left. Raises
    ParseError as `_hashed`."""
    whole = hashlib.sha256()
    for path in _hashed(sorted(path for path in folder.rglob("*") if path.suffix != ".partial")):
        whole.update(f"{path.relative_to(folder)}\0{_sha256(path)}\n".encode())
    return whole.hexdigest()


def write_sums(folder: Path, paths: Iterable[Path]) -> None:
    """Writes what `sha256sum --check` of the folder reads; of files that there are not, nothing. Raises ParseError as
    `_hashed`."""
    lines = (f"{_sha256(path)}  {path.relative_to(folder)}\n" for path in _hashed(paths))
    write_text(folder / SUMS, "".join(lines))


def _hashed(paths: Iterable[Path]) -> list[Path]:
    """The files among them; raises ParseError where these are more than runs leave, as one with a hole of terabytes."""
    files = [path for path in paths if path.is_file()]
    sizes = {path: path.stat().st_size for path in files}
    if sum(sizes.values()) > MOST_HASHED:
        largest = max(files, key=lambda path: sizes[path])
        fact = f"{largest} has {sizes[largest]:,} bytes, and all files beside it may have {MOST_HASHED:,}"
        raise ParseError(f"{fact}: remove it, or move the experiment out of results/.")
    return files


def _sha256(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def read_json(path: Path) -> Any:
    """The parsed file, or None when there is none; raises ParseError for what is no JSON, such as NaN, and for more
    than any record of that name has."""
    if not path.is_file():
        return None
    most = LARGER.get(path.name, MOST_BYTES)
    with path.open("rb") as source:
        content = source.read(most + 1)
    if len(content) > most or values_in(content) > most // BYTES_PER_VALUE:
        raise ParseError(f"{path} is damaged: it holds more than any record of that name; measure again.")
    try:
        return from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise ParseError(f"{path} is damaged: it is not JSON ({error}); measure again.") from error


def values_in(content: bytes) -> int:
    """As many values, or so many lists and objects, as a JSON text has at most."""
    return max(content.count(b","), content.count(b"[") + content.count(b"{"))


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
        fact = f"{path} is damaged, or of another version of the lab, by {_fields(error)}"
        raise ParseError(f"{fact}: use that version, or move its folder out of results/.") from error
    # The same words wherever it is read, so that they are said once.
    warnings.warn(f"{path.name}: left out what this version does not know: {unknown}", stacklevel=1)
    return known


def _fields(error: ValidationError) -> str:
    if error.error_count() > MOST_MISTAKES:
        return f"{error.error_count():,} fields"
    names = (".".join(part for part in one["loc"] if isinstance(part, str)) for one in error.errors())
    return ", ".join(sorted({name or "the whole" for name in names}))


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
        aliased = any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader))
        value = None if aliased else yaml.safe_load(text)
    except Exception as error:  # also for values that do not suit their tags
        raise UsageError(f"{file}: this is not YAML ({' '.join(str(error).split())}).") from None
    if aliased:  # a few lines of which may stand for millions
        raise UsageError(f"{file}: it has aliases such as *name: write out what they stand for.")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise UsageError("\n".join(_sentence(mistake, file, union) for mistake in error.errors())) from None


def _sentence(error: ErrorDetails, file: str, union: str) -> str:
    """File, field, value and what is allowed; pydantic puts the name of the model behind that of the field."""
    path = [str(part) for before, part in zip(("", *error["loc"]), error["loc"], strict=False) if before != union]
    name = ".".join(part if part.isprintable() else repr(part) for part in path) or "the file"
    unshown = error["type"] in {"missing", EXTRA} or isinstance(error["input"], dict)
    value = "" if unshown else f" is {error['input']!r:.60}"
    message = "there is no such field; the schema beside the file has all" if error["type"] == EXTRA else error["msg"]
    message = " ".join(message.removeprefix("Value error, ").split()).removesuffix(".")
    return f"{file}, {name}{value}: {message}."
